/* Finds closed patterns that are the end of another pattern. */
#ifndef SYN_PATTERNS_FOUND_SHIFTED_H
#define SYN_PATTERNS_FOUND_SHIFTED_H

#include <stdint.h>

#include "core/base/watch.h"

/* Patterns one after the other, sizes increasing; borrowed. */
typedef struct syn_pattern_runs {
    const int32_t *item;         /* lag * units + unit, increasing within a pattern */
    const int32_t *occurrences;  /* of each pattern */
    size_t runs;
    const int32_t *size;         /* [runs] increasing, at least 1 */
    const double *n;             /* [runs] whole: how many patterns have that size */
    int32_t units;               /* at least 1 */
} syn_pattern_runs;

/* Sets drop[p] to 1 for each pattern p that some other contains, both shifted so that
   their last items meet, and that has as many occurrences; to 0 for the others.

   The patterns are closed, or closed among those of up to some size, and all that share a
   filter on size and occurrences. Then one in such a place is all that the other holds
   from some lag on: that has at least as many occurrences as the other, and at most as
   many as its part. So only ends have to be looked up. SYN_TOO_LARGE from 2^31
   patterns. */
syn_status syn_patterns_shifted(const syn_pattern_runs *patterns, const syn_watch *watch,
                                uint8_t *drop);

#endif
