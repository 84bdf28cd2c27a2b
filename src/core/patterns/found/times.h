/* Finds the windows in which given spike patterns occur. */
#ifndef SYN_PATTERNS_FOUND_TIMES_H
#define SYN_PATTERNS_FOUND_TIMES_H

#include "core/spikes/raster.h"

/* Patterns one after the other, pattern p of `size[p]` items, the first of them at lag 0.
   An item is a unit of the raster, UINT32_MAX for one that never fires, at a lag. */
typedef struct syn_pattern_list {
    size_t n;
    const uint32_t *size;   /* [n] */
    const uint32_t *unit;   /* [sum of sizes] */
    const uint32_t *lag;    /* [sum of sizes], bins; below the window of the raster */
} syn_pattern_list;

typedef struct syn_pattern_windows {
    size_t n, room;
    uint32_t *bin;    /* [n] kept bins at which windows open, pattern after pattern */
    uint32_t *count;  /* [patterns] how many of them are of each */
    syn_budget *budget;  /* what both are taken from */
} syn_pattern_windows;

/* The windows that hold each pattern, increasing; fastest when patterns that begin with
   the same items follow each other. The caller keeps the budget for as long, and frees
   `out` with syn_pattern_windows_free(), also after an error. SYN_TOO_LARGE when there
   are more than `most`, SYN_OVER_BUDGET, SYN_NO_MEMORY, or SYN_INTERRUPTED by the watch.
   */
syn_status syn_find_windows(const syn_raster *raster, const syn_pattern_list *patterns,
                            size_t most, syn_budget *budget, const syn_watch *watch,
                            syn_pattern_windows *out);

void syn_pattern_windows_free(syn_pattern_windows *windows);

#endif
