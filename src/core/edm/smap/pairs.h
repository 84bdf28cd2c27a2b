/* S-maps between all pairs of many series: how well the delay vectors of each library
   predict each target, and how strongly the target answers to the library. */
#ifndef SYN_EDM_SMAP_PAIRS_H
#define SYN_EDM_SMAP_PAIRS_H

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

enum { SYN_SMAP_TARGETS = 2048 };  /* most of a group */

/* Targets that are known at the same steps. */
typedef struct syn_smap_group {
    uint32_t n;
    const uint32_t *target;     /* [n] their numbers */
    const double *value;        /* of syn_series: [all targets][steps] */
    double *centre;             /* [n] near their means; a constant itself */
} syn_smap_group;

/* Targets in an order in which those of a group come one after the other. */
typedef struct syn_smap_order {
    uint32_t *target;   /* [targets] their numbers, */
    uint32_t *pattern;  /* [targets] and a number for the steps at which they are known */
} syn_smap_order;

/* Free with syn_smap_order_free(), also after an error. */
syn_status syn_smap_order_make(const syn_series *targets, syn_smap_order *out);

void syn_smap_order_free(syn_smap_order *order);

/* The group from place `first` of the order on, which uses `targets` and `order`. Free
   with syn_smap_group_free(), also after an error. */
syn_status syn_smap_group_make(const syn_series *targets, const syn_smap_order *order,
                               uint32_t first, syn_smap_group *out);

void syn_smap_group_free(syn_smap_group *group);

/* Sums over predictions whose target is known, a number for each target. Targets and
   predictions are less the targets' centres. */
typedef enum syn_smap_sum {
    SYN_SMAP_P, SYN_SMAP_PP, SYN_SMAP_Y, SYN_SMAP_YY, SYN_SMAP_PY,
    SYN_SMAP_STRENGTH,          /* the sum of coefficients, over all predictions */
    SYN_SMAP_SUMS
} syn_smap_sum;

/* Skill and strength of all targets of the group, at the places of their numbers, from
   sums [SYN_SMAP_SUMS][columns] over all predictions, `made`, and those whose target is
   known. */
void syn_smap_sums_finish(const syn_smap_group *group, const double *sum, size_t columns,
                          double known, double made, double *rho, double *strength);

/* What is left of a library, where all other predictions were made elsewhere. */
typedef struct syn_smap_rest {
    uint32_t library, n;
    const uint32_t *step;       /* [n] rows that are left, increasing */
    const double *sum;          /* [SYN_SMAP_SUMS][columns] of all others, */
    size_t columns;
    uint32_t known, made;       /* and how many these are */
} syn_smap_rest;

/* Makes the predictions that are left of some libraries, and with them their results for
   a group of targets, as syn_smap_pairs_make() does. */
syn_status syn_smap_pairs_rest(const syn_series *libraries, const syn_series *targets,
                               const syn_smap_pairs_options *options,
                               const syn_smap_group *group, const syn_smap_rest *rest,
                               uint32_t n, const syn_watch *watch,
                               const syn_smap_pairs *out);

#endif
