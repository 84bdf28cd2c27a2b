/* Points in a state space, such as delay vectors, and rows of the data. */
#ifndef SYN_EDM_MODEL_POINTS_H
#define SYN_EDM_MODEL_POINTS_H

#include "core/base/seek.h"
#include "core/base/watch.h"

/* Delay vectors: series side by side, in stretches of rows that follow each other, each
   series `lag` rows later for one lag after the other. */
typedef struct syn_delays {
    uint32_t rows, series, lags;
    const double *const *value;  /* [series] of [rows] */
    const double *lag;           /* whole numbers */
    const int *first, *last;     /* [rows] of the stretch of each row, from 1 */
} syn_delays;

/* Points in a reconstructed state space, one a row of the data. Rows that are named as
   library or prediction have all their coordinates; others may hold NaN. */
typedef struct syn_points {
    uint32_t rows;
    uint32_t dims;
    const double *coordinate;  /* [dims][rows]; NULL where they are not made yet */
    const syn_delays *delays;  /* of which they can be made; may be NULL */
    double least;  /* distance that the nearest neighbour has in weights: no less */
} syn_points;

/* Rows of the data, increasing. */
typedef struct syn_rows {
    uint32_t n;
    const uint32_t *row;
} syn_rows;

/* Rows whose points reach different distances back. */
typedef struct syn_reach {
    syn_rows rows;
    const uint32_t *steps;  /* [rows.n] the largest E at which the row may be used: its
                               first `step` * E coordinates are finite. NULL where all
                               rows may be used at all E */
} syn_reach;

/* The first of `n` increasing rows that is `from` or later; `n` where none is. */
static inline uint32_t syn_first_row_from(const uint32_t *row, uint32_t n, uint64_t from)
{
    uint32_t low = 0;
    SYN_SEEK(uint32_t, at, low, n, row[at] < from);
    return low;
}

/* Rows between a library row and a prediction row. */
static inline uint32_t syn_rows_apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* The first `dims` coordinates of `row`. */
static inline void syn_point_at(const syn_points *points, uint32_t row, uint32_t dims,
                                double *point)
{
    for (uint32_t d = 0; d < dims; d++)
        point[d] = points->coordinate[(size_t)d * points->rows + row];
}

#endif
