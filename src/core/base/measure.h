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

/* A value x of a series that starts at `origin` becomes (x - origin) / step, made a whole
   number if `step` is not 0, times `scale`, a power of two. */
typedef struct syn_measure {
    double step, scale;
} syn_measure;

/* The measure that `series` of `n` values have in common; `origin` gets one number for
   each. What is not finite is passed over.

   Where all values lie on a grid of at most 2^20 steps, as counts and rounded numbers do,
   measured values are whole numbers of steps; where there are thousands, these over a
   power of two. Elsewhere values are multiplied by the power of two that makes the mean
   distance from the mean of their series a number from 0.5 to 1, which changes no digit. */
syn_measure syn_measure_of(const double *const *value, uint32_t series, size_t n,
                           double *origin);

static inline double syn_measured(const syn_measure *m, double origin, double x)
{
    return (m->step > 0 ? nearbyint((x - origin) / m->step) : x) * m->scale;
}

#endif
