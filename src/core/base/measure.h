/* Series in a measure of their own, in which distances do not depend on the unit that
   the user took, and numbers that were rounded alike are equally far apart. */
#ifndef SYN_BASE_MEASURE_H
#define SYN_BASE_MEASURE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* The least distance to the nearest neighbour in the weights of neighbours, in measured
   values: about a millionth of how far values lie from their mean. */
#define SYN_LEAST_DISTANCE 1e-6

/* A value x of a series with an `origin` becomes the whole number nearest to
   (x - origin) / step, or x itself if `step` is 0, times `scale`, a power of two. */
typedef struct syn_measure {
    double step, scale;
} syn_measure;

/* The measure that `series` of `n` values have in common; `origin` gets the least value
   of each or, where they lie on no grid, about their mean. What is not finite is passed
   over.

   Where all values lie on a grid of at most 2^20 steps, as counts and rounded numbers do,
   measured values are whole numbers of steps; where there are thousands, these over a
   power of two. Elsewhere values are multiplied by the power of two that brings their
   mean distance from the mean of their series, as some hundred values tell it, to between
   0.5 and 1. That changes no digit. */
syn_measure syn_measure_of(const double *const *value, uint32_t series, size_t n,
                           double *origin);

static inline double syn_measured(const syn_measure *m, double origin, double x)
{
    return (m->step > 0 ? nearbyint((x - origin) / m->step) : x) * m->scale;
}

#endif
