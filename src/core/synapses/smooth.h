/* The slow part of a correlogram. */
#ifndef SYN_SYNAPSES_SMOOTH_H
#define SYN_SYNAPSES_SMOOTH_H

#include <stdint.h>

#include "core/base/budget.h"

/* Parabolas are fitted around each lag from -lags to lags, by weighted least squares with
   a Gaussian in lag, and read at that lag. Near the ends the fit has one side alone. */
typedef struct syn_smoother {
    uint32_t lags;
    uint32_t stride;
    /* Coefficients for sums and differences of the two sides: row l has those that the
       bins l and -l have at the lags from 0 on. */
    double *even, *odd;  /* [(lags + 1) * stride] */
} syn_smoother;

/* Coefficients q[-lags .. lags] of all bins for the fit at lag `at`, which may be below
   0. */
void syn_smooth_coefficients(uint32_t lags, double deviation, int32_t at, double *q);

/* `deviation` of the Gaussian, in bins. SYN_NO_MEMORY; SYN_OVER_BUDGET. */
syn_status syn_smoother_make(syn_smoother *out, uint32_t lags, double deviation,
                             syn_budget *budget);

/* Smooths x[-lags .. lags] into out[-lags .. lags]; both point to lag 0. `room` has
   2 * stride doubles. A correlogram that is turned round gives the same, turned round. */
void syn_smooth(const syn_smoother *smoother, const double *x, double *out, double *room);

#endif
