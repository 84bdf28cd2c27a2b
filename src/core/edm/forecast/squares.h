/* The inner loops of least squares with many regressors, compiled once for each kind of
   processor. All kinds give the same bits. */
#ifndef SYN_EDM_FORECAST_SQUARES_H
#define SYN_EDM_FORECAST_SQUARES_H

#include <stdint.h>

#include "core/base/kinds.h"

enum {
    SYN_SQUARES_LANES = 8,     /* numbers of the widest register */
    SYN_SQUARES_TOGETHER = 4,  /* rows whose products are added together */
    SYN_SQUARES_TILE = 16      /* rows whose forecasts are judged together */
};

/* A matrix with rows of so many numbers that registers do not reach beyond them. */
static inline uint32_t syn_squares_pitch(uint32_t columns)
{
    return (columns + SYN_SQUARES_LANES - 1) / SYN_SQUARES_LANES * SYN_SQUARES_LANES;
}

/* All matrices but tiles have rows of `pitch` numbers, and what is on the other side of
   the diagonal may be anything. */
typedef struct syn_squares_kind {
    /* Adds the products of the columns of SYN_SQUARES_TOGETHER rows `x` to the upper half
       of `sum`, [columns][pitch]. */
    void (*add)(const double *x, uint32_t columns, uint32_t pitch, double *sum);

    /* Turns the upper half of `sum` into its Cholesky factor. Returns how many columns
       come before the first of which the others leave less than `least` of its square;
       the last column is not asked for that. `square`: [columns], of which the values are
       anything. */
    uint32_t (*factorise)(double *sum, uint32_t columns, uint32_t pitch, double least,
                          double *square);

    /* The lower half of the inverse of the transpose of the factor's first `n`
       columns. */
    void (*invert)(const double *factor, uint32_t n, uint32_t pitch, double *inverse);

    /* Of each row of a tile `x`, [n][SYN_SQUARES_TILE], the squared length of `inverse`
       times the row. */
    void (*lengths)(const double *inverse, uint32_t n, uint32_t pitch, const double *x,
                    double *length);
} syn_squares_kind;

SYN_KIND_TABLES(syn_squares_kind, syn_squares_kind);

#endif
