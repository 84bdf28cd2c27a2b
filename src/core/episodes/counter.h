/* The interface through which a GPU counts for the level-wise search: it gets candidates
   of one size and counts each of them. */
#ifndef SYN_EPISODES_COUNTER_H
#define SYN_EPISODES_COUNTER_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/base/watch.h"

typedef struct syn_candidate_batch {
    uint32_t size;             /* events of each candidate, at least 2 */
    size_t n;                  /* candidates, at least 1 */
    const uint32_t *unit;      /* [size][n] */
    const uint32_t *interval;  /* [size - 1][n] rows of the search's intervals */
} syn_candidate_batch;

typedef struct syn_counter {
    /* Fills count[n] (exact, or 0 for one ruled out as below min_count) and adds to
       *eliminated how many an upper bound ruled out. Polls `watch` at least every
       100 ms. */
    syn_status (*count)(void *self, const syn_candidate_batch *batch,
                        const syn_watch *watch, uint32_t *count, uint64_t *eliminated);
    void *self;
    size_t most;               /* candidates it takes at a time */
} syn_counter;

#endif
