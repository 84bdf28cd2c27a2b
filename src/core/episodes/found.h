/* Found episodes as a table shows them: which of them, in which order, and the sequences
   of units and of intervals that many of them share. */
#ifndef SYN_EPISODES_FOUND_H
#define SYN_EPISODES_FOUND_H

#include "core/base/arrays.h"
#include "core/episodes/mine.h"

/* Leaves out the others, and all sizes after the first that is left without an episode:
   the same table, to the last count, as of a search with options->distinct_units.
   Candidates stay as they were counted. After an error `episodes` can only be freed. */
syn_status syn_episodes_distinct(syn_episodes *episodes, const syn_watch *watch);

/* Sequence 0 is the empty one; all others come after the sequence they extend. */
typedef struct syn_sequences {
    size_t n;          /* different sequences, the empty one included */
    uint32_t *before;  /* [n] the sequence without its last */
    uint32_t *last;    /* [n] its last unit or interval */
    uint32_t **of;     /* [levels][level's n] the sequence of each episode */
} syn_sequences;

/* order[k][i] is the i-th episode of level k to be shown. Names compare unit by unit and
   interval by interval, each by its rank among all. `units` and `intervals` get the
   sequences of all episodes, unless they are NULL; the episode of a single unit has the
   empty sequence of intervals. SYN_TOO_LARGE from 2^31 - 1 episodes on. What comes out is
   in `memory`. */
syn_status syn_episodes_order(const syn_episodes *episodes, const uint32_t *unit_rank,
                              const uint32_t *interval_rank, int threads,
                              const syn_watch *watch, syn_arrays *memory,
                              uint32_t ***order, syn_sequences *units,
                              syn_sequences *intervals);

#endif
