/* The models of several predictions from their normal equations, side by side. */
#ifndef SYN_EDM_SMAP_LANES_H
#define SYN_EDM_SMAP_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/kinds.h"

enum { SYN_SMAP_LANES = 8 };  /* predictions at a time */

/* The doubles that one call takes. */
size_t syn_smap_lanes_room(uint32_t unknowns);

/* Compiled once for each kind of processor. */
typedef struct syn_smap_lanes {
    /* What syn_smap_normal() finds for each of `rows` predictions, up to SYN_SMAP_LANES,
       whose `sum`s are `stride` apart: `fit` and, unless NULL, `singular`, both
       [SYN_SMAP_LANES][unknowns]. Returns a bit for each prediction that has both now;
       the others are to be made by syn_smap_normal(), which is slower but also finds
       singular values of equations that nearly depend on each other. */
    uint32_t (*solve)(uint32_t unknowns, const double *sum, size_t stride, uint32_t rows,
                      const double *centre, double ridge, double *room, double *fit,
                      double *singular);
} syn_smap_lanes;

SYN_KIND_TABLES(syn_smap_lanes, syn_smap_lanes);

#endif
