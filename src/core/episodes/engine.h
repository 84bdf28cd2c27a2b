/* The interface between the level-wise search and the engines that count for it. */
#ifndef SYN_EPISODES_ENGINE_H
#define SYN_EPISODES_ENGINE_H

#include "core/base/arena.h"
#include "core/episodes/mine.h"

/* The candidates that extend one parent: they mirror the children of its suffix. */
typedef struct syn_candidates {
    size_t n;
    const uint32_t *unit;
    const uint32_t *interval;  /* non-decreasing */
} syn_candidates;

typedef struct syn_miner syn_miner;

/* One way of counting. Items are what the driver hands to threads; counting one means
   calling syn_miner_keep() for all that belongs to it. A long item may return
   SYN_UNFINISHED, as a step of syn_parallel_for(). All memory is from miner->budget. */
typedef struct syn_engine {
    syn_status (*open)(void **self, syn_miner *miner);
    syn_status (*begin_level)(void *self, size_t *items);
    syn_status (*count)(void *self, size_t item, int worker);
    void (*close)(void *self);
    int shrinks;  /* whether it takes less memory on fewer threads, or when frugal */
    int by_ends;  /* whether counting goes through the ends of episodes alone, so that it
                     may be over before other threads are there */
} syn_engine;

extern const syn_engine syn_engine_state;
extern const syn_engine syn_engine_two_pass;
extern const syn_engine syn_engine_window;
extern const syn_engine syn_engine_batch;

typedef struct syn_finding {
    uint32_t candidate, count;
} syn_finding;

/* The findings of one call of syn_miner_keep(). */
typedef struct syn_run {
    const syn_finding *found;
    uint32_t n;
} syn_run;

/* What one worker found in the level being counted. */
typedef struct syn_findings {
    syn_arena found;
    size_t n;
    uint64_t candidates, eliminated;
    uint32_t *count;  /* scratch for the counts of one parent's candidates */
    size_t count_room;
} syn_findings;

struct syn_miner {
    const syn_recording *recording;
    const syn_mine_options *options;
    const syn_watch *watch;
    syn_episodes *episodes;
    syn_budget budget;    /* of all that is held while mining, the levels included */
    int workers;          /* at most options->threads, fewer once memory was short */
    int frugal;           /* memory was short: nothing is kept only to save time */
    size_t size;          /* of the candidates being counted, at least 2 */
    uint32_t *pair_unit, *pair_interval;  /* the candidates of every parent at size 2 */
    size_t pairs;
    syn_findings *findings;  /* [options->threads] */
    syn_run *run;            /* findings by slot */
};

/* How many threads going through the ends of the episodes of a level is worth, at most
   miner->workers. */
int syn_miner_threads(const syn_miner *miner, const syn_episode_level *level);

/* The candidates of parent `parent`, an episode of size miner->size - 1. */
syn_candidates syn_miner_candidates(const syn_miner *miner, uint32_t parent);

/* The worker's memory for the counts of `n` candidates. A repeated call leaves the counts
   as they are. NULL without memory: the budget says why. */
uint32_t *syn_miner_counts(syn_miner *miner, int worker, size_t n);

/* Keeps the frequent ones of `n` of a parent's candidates, from number `begin` on. An
   engine calls this once for each parent, or once for each of its intervals; `slot` is
   parent * intervals, plus the interval in the second case. Counts of candidates that
   options->distinct_units refuses become 0. */
syn_status syn_miner_keep(syn_miner *miner, int worker, size_t slot, size_t begin,
                          uint32_t *count, size_t n);

/* Finds where the children of each episode of `below` begin in `level`. */
void syn_episode_children(syn_episode_level *below, const syn_episode_level *level);

/* The units and intervals of episode `node` of level `level` (from 0): unit[level + 1],
   interval[level]. */
void syn_episode_spell(const syn_episodes *episodes, size_t level, uint32_t node,
                       uint32_t *unit, uint32_t *interval);

#endif
