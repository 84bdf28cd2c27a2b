/* Delay vectors of series, and how well predictions fit observations. */
#ifndef SYN_EDM_MODEL_EMBED_H
#define SYN_EDM_MODEL_EMBED_H

#include "core/edm/model/points.h"

/* The points of all rows, [series][lags][rows]; `missing` beyond the stretch. */
void syn_delay_points(const syn_delays *d, double missing, double *coordinate);

/* How many coordinates of each row there are, from the first on, before one is not a
   number. */
void syn_delay_reach(const syn_delays *d, int *reach);

/* Makes the coordinates of points where they are not made yet, in `made`, which the
   caller frees and which is NULL otherwise. */
syn_status syn_locate_points(syn_points *points, double **made);

/* Puts the points in a measure of their own (core/base/measure.h), by which neighbours
   and their weights are found. Delay vectors are measured by their series, before they
   are made. What is measured lies in `copy`, which the caller frees; it stays NULL where
   measuring would only multiply by a power of two near 1. Then the values stay as they
   are, which saves the time that a copy takes, and `least` is in their unit. */
syn_status syn_measure_points(syn_points *points, void **copy);

/* Of the pairs of finite numbers. NaN where there is none, rho also below 3 pairs or
   where either side is constant to within the rounding of a weighted mean. */
typedef struct syn_fit {
    double rho;   /* Pearson's correlation */
    double mae;   /* mean absolute error */
    double rmse;  /* root mean square error */
    double cae;   /* sum of absolute errors */
    size_t pairs;
} syn_fit;

/* The fit of each column of `predicted`, [columns][n]. */
void syn_fit_columns(const double *observed, const double *predicted, size_t n,
                     size_t columns, int threads, syn_fit *fit);

#endif
