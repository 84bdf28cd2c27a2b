/* Linear forecasts: how well an effect is forecast one step ahead by least squares from
   the past of itself and its causes, and what each cause adds (Granger 1969). */
#ifndef SYN_EDM_FORECAST_LINEAR_H
#define SYN_EDM_FORECAST_LINEAR_H

#include "core/base/watch.h"
#include "core/edm/model/series.h"

/* Job i forecasts series effect[i] from `order` steps of itself and of its causes,
   cause[k] for k from cause_start[i] to cause_start[i + 1] - 1, and from one step of its
   clocks. */
typedef struct syn_linear_jobs {
    size_t n;
    const uint32_t *effect;      /* [n] */
    const size_t *cause_start;   /* [n + 1] from 0, not decreasing */
    const uint32_t *cause;
    const size_t *clock_start;   /* [n + 1] from 0, not decreasing */
    const uint32_t *clock;
    const double *enough; /* [n] errors from which on there are no results; or NULL */
} syn_linear_jobs;

typedef struct syn_linear_options {
    uint32_t least, most;  /* orders that are tried, from 1 */
    int threads;
    int vector_bits;       /* as in syn_neighbour_options */
} syn_linear_options;

/* NaN where there is none. The caller owns the arrays. */
typedef struct syn_linear_tests {
    double *error;  /* [jobs] mean squared error, each row left out of its own fit */
    double *order;  /* [jobs] */
    double *free;   /* [jobs] degrees of freedom of the residuals */
    double *f;      /* [causes] F of all steps of the cause together, */
    double *delay;  /* and the step whose coefficient is farthest from 0, from 1 */
    double *missed; /* [jobs][steps] by how much each step is above its forecast, each row
                       left out of its own fit; or NULL */
} syn_linear_tests;

/* The rows are the steps from `most` - 1 on whose next step is in the series, with the
   effect there, and all steps of all series up to the highest order, known. The order is
   that with the lowest BIC (Schwarz 1978) among orders with three rows or more for each
   regressor. A job whose least order has fewer rows, or whose regressors depend on each
   other, has no results. */
syn_status syn_linear(const syn_series *series, const syn_linear_jobs *jobs,
                      const syn_linear_options *options, const syn_watch *watch,
                      const syn_linear_tests *out);

#endif
