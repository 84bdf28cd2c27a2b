/* Delay vectors of series, and how well predictions fit observations. */
#ifndef SYN_EDM_MODEL_EMBED_H
#define SYN_EDM_MODEL_EMBED_H

#include "core/edm/model/points.h"

/* Series side by side, in stretches of rows that follow each other in time. */
typedef struct syn_stretches {
    uint32_t rows, series;
    const double *const *value;  /* [series] of [rows] */
    const int *first, *last;     /* [rows] of the stretch of each row, from 1 */
} syn_stretches;

/* The points of all rows: each series' values `lag` rows later, one lag after the other;
   `missing` beyond the stretch. `coordinate` has room for [series][lags][rows]. `reach`
   gets how many coordinates of each row there are, from the first on, before one is not a
   number. */
void syn_delay_points(const syn_stretches *s, const double *lag, uint32_t lags,
                      double missing, double *coordinate, int *reach);

/* Puts the points in a measure of their own (core/base/measure.h), by which neighbours
   and their weights are found. The measured coordinates lie in `copy`, which the caller
   frees; it stays NULL where measuring would only multiply by a power of two near 1. Then
   the coordinates stay as they are, which saves the time that a copy takes, and `least`
   is in their unit. */
syn_status syn_measure_points(syn_points *points, int threads, double **copy);

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
