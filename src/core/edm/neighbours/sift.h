/* The nearest rows of a library that is so small that all its distances are computed. */
#ifndef SYN_EDM_NEIGHBOURS_SIFT_H
#define SYN_EDM_NEIGHBOURS_SIFT_H

#include "core/edm/neighbours/nearest.h"
#include "core/edm/neighbours/scan.h"

/* A small library. Coordinates are also kept as floats, less their centre and scaled so
   that none is beyond 1: rough distances, in half the time, tell which few rows may be
   among the nearest. */
typedef struct syn_sift {
    const syn_scan_kind *kind;
    syn_blocks blocks;
    uint32_t rows;      /* of the data */
    double *centre;     /* [dims] */
    double scale;       /* 0 where distances of all rows are the same, or infinite */
    float *x;           /* [blocks][dims][64] */
} syn_sift;

/* What a worker uses over and over. */
typedef struct syn_sieve {
    float *point;       /* [dims] */
    float *rough;       /* [blocks][64] squared distances, */
    double *squared;    /* [blocks][64] and precise ones */
    uint32_t *place;    /* [room of the list] places of rows that are near */
    double *near;       /* [room of the list] and their squared distances */
} syn_sieve;

/* Up to so many rows, distances to all take less time than a search among boxes around
   blocks of them. */
enum { SYN_SIFT_ROWS = 2048 };

/* Gathers a library. */
syn_status syn_sift_make(const syn_points *points, const syn_rows *library,
                         int vector_bits, syn_arrays *memory, syn_sift *out);

/* Makes room for lists of the nearest `k`. */
syn_status syn_sieve_make(const syn_sift *sift, uint32_t k, syn_arrays *memory,
                          syn_sieve *out);

/* Fills the list, which has been started, with the rows nearest to a point and perhaps a
   few more. Rows at most `exclusion` from `row` are left out. */
void syn_sift_row(const syn_sift *sift, const double *point, uint32_t row,
                  uint32_t exclusion, syn_sieve *sieve, syn_nearest *list);

#endif
