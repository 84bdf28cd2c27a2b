/* S-maps: each prediction from a linear model of its own, in which near points of the
   library weigh more (Sugihara 1994). */
#ifndef SYN_EDM_SMAP_SMAP_H
#define SYN_EDM_SMAP_SMAP_H

#include "core/edm/neighbours/neighbours.h"

/* How models are made; what comes out differs by rounding alone. */
typedef enum syn_smap_way {
    SYN_SMAP_FASTER,  /* of the two */
    SYN_SMAP_ONE,     /* one at a time */
    SYN_SMAP_MANY     /* many at a time; with lists of neighbours still one */
} syn_smap_way;

typedef struct syn_smap_options {
    uint32_t thetas;
    const double *theta;  /* [thetas] at least 0; 0 weighs all neighbours alike */
    uint32_t k;           /* neighbours: the nearest so many library rows */
    const syn_points *space;  /* in which neighbours are searched and their distances
                                 measured, where they are not all of the library; NULL
                                 for the points themselves */
    uint32_t exclusion;   /* as in syn_neighbour_options */
    double ridge;         /* at least 0: what a unit of squared slopes costs, where the
                             mean squared error costs one */
    double missing;       /* stands for a value that there is not */
    int threads;
    int vector_bits;      /* as in syn_neighbour_options, but the last bits may differ */
    syn_smap_way way;
} syn_smap_options;

/* Where results go: arrays of the caller. */
typedef struct syn_smap_result {
    double *prediction;   /* [thetas][predictions] */
    double *variance;     /* [thetas][predictions] of the neighbours' targets around the
                             prediction, weighted */
    double *coefficient;  /* [thetas][dims + 1][predictions], the intercept first; or
                             NULL */
    double *singular;     /* [thetas][dims + 1][predictions], of the weighted rows with a
                             column of ones (and of the ridge), decreasing; or NULL */
} syn_smap_result;

/* Predicts `target` ([rows], NaN where it is missing) for each prediction row from the
   minimum-norm least squares fit of the neighbours, weighted by
   exp(-theta distance / mean distance); singular values up to
   DBL_EPSILON max(neighbours, unknowns) times the largest count as 0. Neighbours without
   a target count for the mean distance, and are not in the fit. Without neighbours that
   have one all results are missing. */
syn_status syn_smap(const syn_points *points, const syn_rows *library,
                    const syn_rows *prediction, const double *target,
                    const syn_smap_options *options, const syn_watch *watch,
                    const syn_smap_result *out);

#endif
