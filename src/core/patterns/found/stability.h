/* The stability of patterns: how much of a pattern depends on single spikes or windows.
   */
#ifndef SYN_PATTERNS_FOUND_STABILITY_H
#define SYN_PATTERNS_FOUND_STABILITY_H

#include "core/patterns/found/times.h"

typedef struct syn_stability_options {
    uint32_t window;      /* bins */
    uint64_t subsets;     /* drawn for each pattern, at least 1; where there are no more
                             than that, all of them are looked at */
    uint64_t key;         /* of the random numbers */
    int threads;
} syn_stability_options;

/* A pattern is a concept: its items, and the windows that hold them all; `windows` are
   those of each pattern of the list. Sets, unless they are NULL,

     intensional[p]  to the share of the subsets of its items that no other window holds;
     extensional[p]  to the share of the subsets of its windows that have no other item in
                     common.

   Every window holds the empty subset of items, and the empty subset of windows has all
   items in common. Subsets are drawn with replacement, each as likely as any other, from
   stream 2 p (items) or 2 p + 1 (windows), the first 32 members by the first word.

   Where many threads do not fit in the budget together, fewer go on. SYN_OVER_BUDGET when
   one does not; SYN_TOO_LARGE when units * window passes 2^31 - 1, SYN_NO_MEMORY, or
   SYN_INTERRUPTED by the watch. */
syn_status syn_pattern_stability(const syn_raster *raster, const syn_pattern_list *list,
                                 const syn_pattern_windows *windows,
                                 const syn_stability_options *options,
                                 syn_budget *budget, const syn_watch *watch,
                                 double *intensional, double *extensional);

#endif
