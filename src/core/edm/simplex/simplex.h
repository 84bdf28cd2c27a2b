/* Simplex projection (Sugihara and May 1990): a prediction is the mean of what followed
   the nearest neighbours, weighted by how near these are. */
#ifndef SYN_EDM_SIMPLEX_SIMPLEX_H
#define SYN_EDM_SIMPLEX_SIMPLEX_H

#include "core/edm/neighbours/neighbours.h"

/* One or more series, each with a value for every row of the data: what is predicted from
   a point at that row. NaN where it is missing. */
typedef struct syn_targets {
    uint32_t n;
    const double *value;  /* [n][rows] */
} syn_targets;

/* Predicts every target at every prediction row from the same neighbours: their mean with
   weights exp(-distance / nearest distance), the nearest distance being at least `least`
   of the points. The variance is that of the neighbours about the prediction, with the
   same weights. Both are NaN where there is no neighbour, or where one that is used has
   no target.
   `prediction` and `variance` have room for [targets][prediction rows]. */
syn_status syn_simplex(const syn_points *points, const syn_rows *library,
                       const syn_rows *predicted, const syn_neighbour_options *options,
                       const syn_targets *targets, const syn_watch *watch,
                       double *prediction, double *variance);

typedef struct syn_sweep_options {
    uint32_t step;       /* coordinates that each E adds, at least 1 */
    uint32_t exclusion;  /* as in syn_neighbour_options, and so are the next two */
    int threads;
    int vector_bits;
} syn_sweep_options;

/* syn_simplex() with E + 1 neighbours in the first `step` * E coordinates, for all E from
   1 to dims / step in one pass over the pairs of rows. `prediction` has room for
   [dims / step][prediction rows]; NaN also where a row does not reach so far. */
syn_status syn_simplex_sweep(const syn_points *points, const syn_reach *library,
                             const syn_reach *predicted,
                             const syn_sweep_options *options, const double *target,
                             const syn_watch *watch, double *prediction);

/* State spaces that are made of some of the coordinates each. */
typedef struct syn_views {
    uint32_t n, dims;
    const uint32_t *column;  /* [n][dims] which coordinates */
} syn_views;

/* syn_simplex() of one target in each view. Other than there, coordinates may be missing:
   a view has those rows of `library` and `predicted` that have all coordinates of it.
   `prediction` has room for [views][prediction rows]; NaN also for rows that are not in
   the view, and for a view whose library has fewer than k rows. */
syn_status syn_simplex_views(const syn_points *points, const syn_rows *library,
                             const syn_rows *predicted, const syn_views *views,
                             const syn_neighbour_options *options, const double *target,
                             const syn_watch *watch, double *prediction);

#endif
