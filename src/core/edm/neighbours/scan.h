/* The inner loops over pairs of points, compiled once for each kind of processor. Points
   come in blocks of SYN_BLOCK. */
#ifndef SYN_EDM_NEIGHBOURS_SCAN_H
#define SYN_EDM_NEIGHBOURS_SCAN_H

#include "core/base/kinds.h"
#include "core/edm/neighbours/blocks.h"

/* Distances of one point to 64 others after each of `E` steps: after step e those in the
   first e * step coordinates. A step has a limit, which is the squared distance above
   which nobody is interested. */
typedef struct syn_scan {
    uint32_t step, E;
    const double *point;  /* [E * step] */
    const double *limit;  /* [E] */
    double most;          /* the largest of them */
} syn_scan;

typedef struct syn_scan_kind {
    /* Compares with a block's coordinates `x`, [dims][64]. pass[e] gets a bit for each
       row within the limit of step e, and where it is not 0, squared[e][row] the distance
       of those rows. Returns whether any row passed. */
    int (*rows)(const syn_scan *scan, const double *x, uint64_t *pass, double *squared);

    /* Compares with a group's boxes, [dims][64]. pass[e] gets a bit for each that comes
       within the limit of step e, and nearer[e] for each that comes nearer than that. */
    void (*boxes)(const syn_scan *scan, const double *low, const double *high,
                  uint64_t *pass, uint64_t *nearer);

    /* How many of 64 numbers are at most `limit`. */
    uint32_t (*count)(const double *x, double limit);

    /* Squared distances of a point to those of `blocks` blocks, `x`: [blocks][dims][64].
       Their last bits differ from kind to kind. */
    void (*rough)(const float *point, uint32_t dims, const float *x, uint32_t blocks,
                  float *squared);

    /* A number that at least k, up to 64, do not exceed, and hardly more; INFINITY where
       that is not found. */
    float (*bound)(const float *x, uint32_t blocks, uint32_t k);

    /* Fills `place` with the places of numbers up to `limit`, in order, unless these are
       more than `most`. Returns how many there are, or more than `most`. */
    uint32_t (*within)(const float *x, uint32_t blocks, float limit, uint32_t most,
                       uint32_t *place);
} syn_scan_kind;

SYN_KIND_TABLES(syn_scan_kind, syn_scan);

#endif
