/* Empirical dynamic modelling: delay vectors and their nearest neighbours. */
#ifndef SYN_EDM_EDM_H
#define SYN_EDM_EDM_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/seek.h"
#include "core/base/status.h"
#include "core/base/watch.h"

/* Points in a reconstructed state space, one a row of the data. Rows that are named as
   library or prediction have all their coordinates; others may hold NaN. */
typedef struct syn_points {
    uint32_t rows;
    uint32_t dims;
    const double *coordinate;  /* [dims][rows] */
    double least;  /* distance that the nearest neighbour has in weights: no less */
} syn_points;

/* Rows of the data, increasing. */
typedef struct syn_rows {
    uint32_t n;
    const uint32_t *row;
} syn_rows;

/* The first of `n` increasing rows that is `from` or later; `n` where none is. */
static inline uint32_t syn_first_row_from(const uint32_t *row, uint32_t n, uint64_t from)
{
    uint32_t low = 0;
    SYN_SEEK(uint32_t, at, low, n, row[at] < from);
    return low;
}

typedef struct syn_neighbour_options {
    uint32_t k;          /* neighbours wanted, at least 1 */
    uint32_t exclusion;  /* library rows at most this far from the prediction's are left
                            out; with 0 still the row itself */
    int threads;
    int vector_bits;     /* 0: the widest registers this processor has; 256 or 512 for no
                            wider ones than that, 1 for portable C. All give the same. */
} syn_neighbour_options;

/* The nearest library rows of each prediction row, ordered by squared distance (the terms
   added in the order of the coordinates), then as they follow the prediction row in a
   fixed shuffle (core/base/rank.h). */
typedef struct syn_neighbours {
    uint32_t n, k;
    uint32_t *found;     /* [n] how many there are, fewer than k in a small library */
    uint32_t *row;       /* [n][k] */
    double *distance;    /* [n][k] Euclidean */
} syn_neighbours;

/* Searches blocks of 64 library rows that lie near each other, and passes over a block
   when the box around it is farther than the k-th neighbour so far. That never loses to a
   search without boxes, so there is no other: with 20,000 rows of noisy series it takes a
   tenth of the time in one coordinate, a fifth in five, and 90 % in twenty. Rows whose
   squared distance is beyond the range of a double are not found.
   The caller frees `out` with syn_neighbours_free(), also after an error. */
syn_status syn_find_neighbours(const syn_points *points, const syn_rows *library,
                               const syn_rows *prediction,
                               const syn_neighbour_options *options,
                               const syn_watch *watch, syn_neighbours *out);

void syn_neighbours_free(syn_neighbours *neighbours);

#endif
