/* The inner loops over pairs of points, compiled once for each kind of processor. */
#ifndef SYN_EDM_NEIGHBOURS_SCAN_H
#define SYN_EDM_NEIGHBOURS_SCAN_H

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
       within the limit of step e, and nearer[e] for each that comes nearer than that.
       Returns whether any box passed. */
    int (*boxes)(const syn_scan *scan, const double *low, const double *high,
                 uint64_t *pass, uint64_t *nearer);
    /* How many of 64 numbers are at most `limit`. */
    uint32_t (*count)(const double *x, double limit);
} syn_scan_kind;

extern const syn_scan_kind syn_scan_any, syn_scan_256, syn_scan_512;

/* The kind for syn_neighbour_options.vector_bits. */
const syn_scan_kind *syn_scan_fastest(int vector_bits);

/* A number that at least k of x[64] do not exceed, and not many more; at most `high`,
   which k do not exceed. */
static inline double syn_scan_bound(const syn_scan_kind *kind, const double *x,
                                    uint32_t k, double high)
{
    double low = 0;
    for (int i = 0; i < 6; i++) {
        double middle = low + (high - low) / 2;
        if (kind->count(x, middle) >= k)
            high = middle;
        else
            low = middle;
    }
    return high;
}

#endif
