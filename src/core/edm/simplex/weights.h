/* Weights of neighbours in simplex projection. */
#ifndef SYN_EDM_SIMPLEX_WEIGHTS_H
#define SYN_EDM_SIMPLEX_WEIGHTS_H

#include <math.h>

#include "core/edm/neighbours/nearest.h"

/* Puts the weight of each of the nearest first `n` rows in the place of its squared
   distance; `least` is that of the points. */
static inline void syn_weigh(syn_near *near, uint32_t n, double least)
{
    double nearest = n > 0 ? sqrt(near[0].squared) : 0;
    nearest = nearest > least ? nearest : least;
    for (uint32_t j = 0; j < n; j++)
        near[j].squared = exp(-sqrt(near[j].squared) / nearest);
}

/* The weighted mean of the rows' values; NaN for no row, or where a value is missing. */
static inline double syn_weighted_mean(const syn_near *near, uint32_t n,
                                       const double *value)
{
    double sum = 0, weights = 0;
    for (uint32_t j = 0; j < n; j++) {
        sum += near[j].squared * value[near[j].row];
        weights += near[j].squared;
    }
    return n > 0 ? sum / weights : NAN;
}

/* Their weighted variance about `mean`. */
static inline double syn_weighted_variance(const syn_near *near, uint32_t n,
                                           const double *value, double mean)
{
    double sum = 0, weights = 0;
    for (uint32_t j = 0; j < n; j++) {
        double off = value[near[j].row] - mean;
        sum += near[j].squared * off * off;
        weights += near[j].squared;
    }
    return n > 0 ? sum / weights : NAN;
}

#endif
