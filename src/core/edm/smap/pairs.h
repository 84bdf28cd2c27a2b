/* S-maps between all pairs of many series: how well the delay vectors of each library
   predict each target, and how strongly the target answers to the library. */
#ifndef SYN_EDM_SMAP_PAIRS_H
#define SYN_EDM_SMAP_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/base/watch.h"
#include "core/edm/model/series.h"

typedef struct syn_smap_pairs_options {
    uint32_t E;           /* coordinates of a delay vector, at least 1 */
    int32_t tau;          /* steps from a coordinate to the next, not 0; below 0 into the
                             past */
    int32_t Tp;           /* steps from a delay vector to what it predicts */
    uint32_t exclusion;   /* library rows at most so many steps away are left out; with 0
                             still the row itself */
    double theta;         /* at least 0: see syn_smap_options */
    double ridge;         /* as there */
    int threads;
    int vector_bits;      /* as in syn_neighbour_options, but the last bits may differ */
} syn_smap_pairs_options;

/* Both [libraries][targets]; NaN where there is none. */
typedef struct syn_smap_pairs {
    double *rho;       /* correlation of predictions and target, over the steps that have
                          both; none below three of them, nor where predictions or target
                          are constant */
    double *strength;  /* mean over all predictions of the coefficient of the library's
                          present value, the partial derivative of the target by it */
} syn_smap_pairs;

/* The rows of a library are the steps t with all coordinates t, t + tau, ... known and
   t + Tp within the series. Each row predicts each target at t + Tp by syn_smap() from
   all other rows beyond the exclusion, as the two series would be given to it alone: rows
   whose target is missing count for the mean distance and are not in the fit. A library
   whose rows are all the same point has no results, nor has one without two rows.
   `libraries` and `targets` have as many steps. The caller owns the arrays of `out`.
   Their numbers depend neither on the other libraries and targets nor on threads. */
syn_status syn_smap_pairs_make(const syn_series *libraries, const syn_series *targets,
                               const syn_smap_pairs_options *options,
                               const syn_watch *watch, const syn_smap_pairs *out);

#endif
