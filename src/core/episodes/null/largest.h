/* The largest count of each size in surrogates of a recording, found while the caller
   does other things. */
#ifndef SYN_EPISODES_NULL_LARGEST_H
#define SYN_EPISODES_NULL_LARGEST_H

#include "core/episodes/mine.h"
#include "core/surrogates/surrogates.h"

typedef struct syn_largest syn_largest;

typedef struct syn_largest_options {
    syn_surrogate_options surrogate;
    const syn_interval *intervals;
    uint32_t n_intervals;
    uint32_t min_count;
    uint32_t max_size;
    int distinct_units;
    uint32_t n;           /* surrogates, numbers 0 to n - 1 of the key */
    int threads;
    size_t max_memory;    /* bytes that all threads may hold together */
} syn_largest_options;

/* Takes copies of the spikes and options, and begins. `out` is to be freed, also after an
   error. SYN_OVER_BUDGET, SYN_NO_MEMORY, or SYN_INTERRUPTED by the watch. */
syn_status syn_largest_start(syn_largest **out, const syn_spikes *spikes,
                            const syn_largest_options *options, const syn_watch *watch);

/* Waits until all surrogates are mined. As syn_mine_episodes() and syn_surrogate_list();
   after SYN_INTERRUPTED the work goes on, and can be waited for again. */
syn_status syn_largest_wait(syn_largest *largest, const syn_watch *watch);

/* When it is done: the largest size that any surrogate has, and the largest count of a
   size, from 1, in a surrogate; 0 where nothing of it occurs `min_count` times. */
uint32_t syn_largest_sizes(const syn_largest *largest);
uint32_t syn_largest_count(const syn_largest *largest, uint32_t surrogate, uint32_t size);

/* Whether this process began it; see syn_background_is_here(). */
int syn_largest_is_here(const syn_largest *largest);

/* NULL is allowed. */
void syn_largest_free(syn_largest *largest);

#endif
