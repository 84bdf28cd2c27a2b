/* What the other inputs of a unit explain of its correlograms. */
#ifndef SYN_SYNAPSES_EXPLAIN_H
#define SYN_SYNAPSES_EXPLAIN_H

#include "core/synapses/pairs.h"

/* Directions that seem to be connections, from[l] to to[l], with their best windows. */
typedef struct syn_scan_links {
    size_t n;
    const int32_t *from, *to, *lo;
    const double *count, *expected, *z;  /* of the window */
} syn_scan_links;

typedef struct syn_explain_options {
    const double *spikes;    /* [units] */
    uint32_t reach;          /* last bin of any window */
    uint32_t before, after;  /* bins that a peak may have beyond its window */
    double clear;            /* |z| from which a peak itself is the kernel of its link */
} syn_explain_options;

/* By direction, as in syn_scan_columns: the unit that explains most of what the window of
   this link has, or -1, and how many spikes it explains there. */
typedef struct syn_explained {
    int32_t *via;
    double *spikes;
} syn_explained;

/* Where A fires before K, and K drives C, C fires after A. If a spike of K adds h(l)
   spikes of C at lag l, the correlogram of A and C has at lag t the sum over l of h(l)
   times the one of A and K at t - l. Of that the part counts that changes fast: what
   is left of the correlogram of A and K without its slow part. (The slow part would
   lower the baseline of A and C, and leave its noise.) The sum over all links into C
   but the one from A is taken away, in both directions of the pair, and the rest is
   scanned.

   h is the peak of the link itself where that is clear, else a box of its window.
   Counts have the lags of the tables. SYN_NO_MEMORY; SYN_OVER_BUDGET; SYN_INTERRUPTED. */
syn_status syn_explain_pairs(syn_scan_work *work, const syn_scan_links *links,
                             const syn_explain_options *o,
                             const syn_explained *explained);

#endif
