/* Finds the pairs of patterns that share spikes. */
#ifndef SYN_PATTERNS_FOUND_OVERLAPS_H
#define SYN_PATTERNS_FOUND_OVERLAPS_H

#include <stddef.h>
#include <stdint.h>

#include "core/spikes/raster.h"
#include "core/base/status.h"
#include "core/base/watch.h"

/* A pattern of an ordered list, by rank from 0. */
typedef struct syn_ranked_pattern {
    const uint32_t *unit, *lag;  /* [size] lags not decreasing */
    uint32_t size, occurrences;
    uint32_t number;             /* in the list as it came */
    const int64_t *opens;        /* [occurrences] numbers of the bins at which its windows
                                    open, increasing */
} syn_ranked_pattern;

/* Called for patterns `first` and `second`, first < second by rank, where the second may
   occur `shift` bins after the first. */
typedef void syn_overlap_found(void *context, uint32_t first, uint32_t second,
                               int64_t shift);

/* Calls `found` at least once for each two of the `n` patterns and each shift at which
   they share an item and `least` windows or more, and possibly for other pairs and
   shifts. Pairs of two patterns with live[rank] == 0 may be left out; `found` may set
   that to 0.

   An item of a pattern is a set of spikes of its unit, one for each window. Two patterns
   that occur together so often have items of one unit whose sets have as many spikes in
   common. Then they have one in common among those that the fewest sets hold: of c spikes
   the first c - least + 1. So only sets that meet in such a spike are looked at.

   SYN_OVER_BUDGET, SYN_NO_MEMORY, or SYN_INTERRUPTED by the watch. */
syn_status syn_find_overlaps(const syn_ranked_pattern *pattern, uint32_t n,
                             const syn_raster *raster, int64_t least,
                             const uint8_t *live, syn_overlap_found *found, void *context,
                             syn_budget *budget, const syn_watch *watch);

#endif
