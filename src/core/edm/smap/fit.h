/* The inner loops of S-maps, which reduce a weighted least squares problem to a small
   one. */
#ifndef SYN_EDM_SMAP_FIT_H
#define SYN_EDM_SMAP_FIT_H

#include "core/base/arrays.h"
#include "core/base/kinds.h"
#include "core/edm/smap/near.h"

/* What a worker uses for one prediction after the other. */
typedef struct syn_smap_space {
    double *weight;    /* [stride], the largest is 1 */
    double *block;     /* [unknowns + 1][block_stride] */
    double *triangle;  /* [unknowns][unknowns + 1] */
    double *factor;    /* [2][unknowns + 1] */
    size_t block_rows, block_stride, block_top;
} syn_smap_space;

/* Makes a space for points to `stride` in `dims` dimensions; whether there is memory for
   it, `memory` says. */
void syn_smap_space_make(syn_smap_space *space, size_t stride, uint32_t dims,
                         syn_arrays *memory);

/* Compiled once for each kind of processor. */
typedef struct syn_smap_kind {
    /* The distances of the first `n` points from `from`, and of fewer than
       SYN_SMAP_PADDING more. */
    void (*measure)(syn_smap_near *near, const double *from, uint32_t n);

    /* The same of points `from` .. `from` + `n` - 1 for `rows` predictions of the same
       library, a multiple of SYN_SMAP_SIDE; `to`: [dims][rows] their points. */
    void (*measure_many)(const syn_smap_near *near, uint32_t rows, const double *to,
                         size_t from, size_t n);

    /* Fills `n`, `mean` and `least` from the parts. */
    void (*survey)(syn_smap_near *near);

    /* The weights w = exp(rate (least - distance)) of the neighbours, 0 where the target
       is missing, and the triangle R | c whose least squares problem R b = c is that of
       w (1, coordinates) b = w target, with `ridge` times the neighbours' sum of w^2
       times the sum of squares of all of b but its first added to the squares. */
    void (*reduce)(const syn_smap_near *near, double rate, double ridge,
                   syn_smap_space *space);

    /* The weighted mean square distance of the neighbours' targets from `value`. */
    double (*spread)(const syn_smap_near *near, const double *weight, double value);
} syn_smap_kind;

SYN_KIND_TABLES(syn_smap_kind, syn_smap_kind);

#endif
