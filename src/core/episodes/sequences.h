/* Splits episodes into a sequence of units and a sequence of intervals and numbers these:
   many episodes have the same sequence, which R then holds once. */
#ifndef SYN_EPISODES_SEQUENCES_H
#define SYN_EPISODES_SEQUENCES_H

#include <stddef.h>
#include <stdint.h>

#include "core/episodes/mine.h"

/* Sequence 0 is the empty one; all others come after the sequence they extend. */
typedef struct syn_sequences {
    size_t n;          /* different sequences, the empty one included */
    uint32_t *before;  /* [n] the sequence without its last */
    uint32_t *last;    /* [n] its last unit or interval */
    uint32_t **of;     /* [levels][level's n] the sequence of each episode */
} syn_sequences;

typedef enum syn_sequence_kind {
    SYN_UNITS,     /* one for each event */
    SYN_INTERVALS  /* one fewer: the empty sequence for single units */
} syn_sequence_kind;

/* The sequences of all episodes, whose units or intervals are below `symbols`. Polls
   `watch` once a level. SYN_TOO_LARGE from 2^31 - 1 episodes on. The caller frees `out`
   with syn_sequences_free(), also after an error. */
syn_status syn_number_sequences(const syn_episodes *episodes, syn_sequence_kind kind,
                                uint32_t symbols, const syn_watch *watch,
                                syn_sequences *out);

void syn_sequences_free(const syn_episodes *episodes, syn_sequences *sequences);

#endif
