/* Conditional forecasts: how well an effect is forecast one step ahead from its own past
   and that of other series, and how much better with one more series, the candidate. */
#ifndef SYN_EDM_FORECAST_FORECAST_H
#define SYN_EDM_FORECAST_FORECAST_H

#include <math.h>

#include "core/base/watch.h"
#include "core/edm/model/series.h"

/* What squared coefficients cost, as a share of the sum of squared weights. */
#define SYN_FORECAST_RIDGE 1e-6

/* What rounding and the ridge may leave of the spread of differences between squared
   errors, as a share of the mean squared error. */
#define SYN_FORECAST_SPREAD 1e-5

enum { SYN_FORECAST_MOST = 24 };  /* coordinates of a job */

/* The value of a series `lag` steps before. */
typedef struct syn_lagged {
    uint32_t series, lag;
} syn_lagged;

/* Job i forecasts series effect[i] from the coordinates coordinate_start[i] ..
   coordinate_start[i + 1] - 1, 1 to SYN_FORECAST_MOST of them, and tries as many
   candidates as it has, each by itself; there may be none. */
typedef struct syn_forecast_jobs {
    size_t n;
    const uint32_t *effect;         /* [n] */
    const double *theta;            /* [n] at least 0 */
    const size_t *coordinate_start; /* [n + 1] from 0, increasing */
    const syn_lagged *coordinate;
    const size_t *candidate_start;  /* [n + 1] from 0, not decreasing */
    const syn_lagged *candidate;
} syn_forecast_jobs;

typedef struct syn_forecast_options {
    uint32_t reach;      /* no lag is larger, and no row is an earlier step, so that jobs
                            with other lags have the same rows */
    uint32_t exclusion;  /* rows at most so many steps away are left out of a fit; with 0
                            still the row itself */
    int threads;
    int vector_bits;     /* as in syn_neighbour_options, but the last bits may differ */
} syn_forecast_options;

/* NaN where there is none. The caller owns the arrays. */
typedef struct syn_forecasts {
    uint32_t *rows;  /* [jobs] steps that are forecast from */
    double *error;   /* [jobs] mean squared error without a candidate */
    double *missed;  /* NULL, or [jobs][steps]: of each step that is forecast, by how much
                        it is above its forecast without a candidate */
    double *gain;    /* [candidates] by how much less the error would be with the
                        candidate if its coefficients were known, as a share of that
                        without */
    double *t;       /* [candidates] the mean of the same, by its standard error */
} syn_forecasts;

/* The rows of a job are the steps t from `reach` on whose next step is in the series,
   with all coordinates, all candidates and the effect at t + 1 known. Each row i is
   forecast from all others beyond the exclusion, whose distances d are those of their
   coordinates and whose squared errors weigh w^2 with w = exp(-theta d / mean distance);
   where all distances are 0, w is 1. The least squares fit of the effect by 1 and the
   coordinates, with SYN_FORECAST_RIDGE times the sum of w^2 times the squares of all
   coefficients but that of 1, leaves the error e0; that with the candidate x and x^2 as
   two more regressors, e1. Candidates change no distance. Then with D = e0 (e0 - e1),
   whose mean is by how much the squared error would fall if the coefficients of the
   candidate were known (Harvey, Leybourne and Newbold 1998),
     error = mean of e0^2,  gain = sum of D / sum of e0^2,
     t = mean of D / sqrt(V / rows),
   and V the long-run variance of D with the weights of Bartlett (Newey and West 1987) for
   syn_forecast_lags(rows) lags, as though rows had no gaps. Where sqrt(V) is not above
   SYN_FORECAST_SPREAD times the error, the candidate changes nothing: t is 0. Where all
   errors e0 are 0 there is no gain.
   A job has no results with fewer rows than syn_forecast_least(), or where a row has no
   other beyond the exclusion. Results depend neither on other jobs nor on threads. */
syn_status syn_forecast(const syn_series *series, const syn_forecast_jobs *jobs,
                        const syn_forecast_options *options, const syn_watch *watch,
                        const syn_forecasts *out);

/* The rows without which a job has no results. */
static inline uint32_t syn_forecast_least(uint32_t coordinates)
{
    return 4 * (coordinates + 2);
}

/* The lags that count for V. */
static inline uint32_t syn_forecast_lags(uint32_t rows)
{
    return (uint32_t)floor(4 * pow(rows / 100.0, 2.0 / 9));
}

#endif
