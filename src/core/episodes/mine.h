/* Mines all frequent serial episodes, counted by their non-overlapped occurrences. */
#ifndef SYN_EPISODES_MINE_H
#define SYN_EPISODES_MINE_H

#include "core/spikes/recording.h"

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

/* The lag between two neighbouring events of an episode: low < lag <= high, in ticks. */
typedef struct syn_interval {
    int64_t low, high;
} syn_interval;

typedef enum syn_episode_engine {
    SYN_ENGINE_STATE,     /* a state machine per episode with waiting lists */
    SYN_ENGINE_TWO_PASS,  /* a cheap upper bound first, the state machine for survivors */
    SYN_ENGINE_WINDOW,    /* all symbols of a (prefix, interval) in one pass */
    SYN_ENGINE_COUNTER    /* what options->counter does with each candidate */
} syn_episode_engine;

typedef struct syn_mine_options {
    const syn_interval *intervals;
    uint32_t n_intervals;
    uint32_t min_count;   /* at least 1 */
    uint32_t max_size;    /* largest number of events in an episode, at least 1 */
    int distinct_units;   /* only episodes in which no unit comes twice */
    syn_episode_engine engine;
    const syn_counter *counter;  /* of SYN_ENGINE_COUNTER, which takes one thread */
    int threads;
    size_t max_memory;    /* bytes the mining may hold, results included */
    size_t of_episode;    /* bytes that the caller will hold for each episode besides */
} syn_mine_options;

/* The frequent episodes of one size. An episode is its prefix (an episode of the size
   below) and one more unit; `suffix` is the episode without its first unit. Sorted by
   (parent, interval, unit). */
typedef struct syn_episode_level {
    size_t n;
    uint32_t *parent;    /* [n] in the level below */
    uint32_t *suffix;    /* [n] in the level below */
    uint32_t *unit;      /* [n] last unit */
    uint32_t *interval;  /* [n] interval before the last unit */
    uint32_t *count;     /* [n] non-overlapped occurrences */
    uint32_t *child;     /* [n + 1] where its children begin in the level above */
    uint64_t candidates; /* how many were counted */
    uint64_t eliminated; /* how many the upper bound of the two-pass engine removed */
} syn_episode_level;

typedef struct syn_episodes {
    size_t n_levels;
    syn_episode_level *level;  /* [n_levels], level[k] holds size k + 1 */
    size_t peak_memory;        /* most bytes held at a time */
} syn_episodes;

/* All episodes of `recording` that occur at least `min_count` times. The caller frees
   `out` with syn_episodes_free(), also after an error. SYN_OVER_BUDGET when they do not
   fit in `max_memory`. Work that lacks memory goes on with less of it, and then on fewer
   threads, down to one: whether a search succeeds does not depend on `threads`. */
syn_status syn_mine_episodes(const syn_recording *recording,
                             const syn_mine_options *options, const syn_watch *watch,
                             syn_episodes *out);

void syn_episodes_free(syn_episodes *episodes);

/* Room for `n` episodes of one size. An error leaves nothing allocated. */
syn_status syn_episode_level_make(syn_episode_level *level, size_t n);

void syn_episode_level_free(syn_episode_level *level);

/* Appends a level of `n` episodes. An error leaves the others as they were. */
syn_status syn_episodes_append(syn_episodes *episodes, size_t n);

/* Takes away the last level if it has no episode and nothing was counted for it: then it
   only says that nothing of that size is frequent. */
void syn_episodes_end(syn_episodes *episodes);

/* For each episode of level `k` (from 0): 1 when a frequent episode one longer contains
   it, 2 when one of those has the same count; else 0. */
void syn_episodes_contained(const syn_episodes *episodes, size_t k, uint8_t *flag);

#endif
