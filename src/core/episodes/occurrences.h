/* Where a given episode occurs. Counting alone does without the links between the events
   of an occurrence that are made here: see given.h. */
#ifndef SYN_EPISODES_OCCURRENCES_H
#define SYN_EPISODES_OCCURRENCES_H

#include "core/episodes/mine.h"

/* An episode of `size` events: unit[size] and the lags between them, lag[size - 1]. */
typedef struct syn_episode {
    uint32_t size;
    const uint32_t *unit;
    const syn_interval *lag;
} syn_episode;

typedef enum syn_occurrence_kind {
    SYN_NONOVERLAPPED,  /* the greedy set that attains the count, each as late as it can
                           start */
    SYN_ALL             /* every occurrence, by its last event, then by those before it */
} syn_occurrence_kind;

typedef struct syn_occurrences {
    size_t n, room;
    uint32_t *event;  /* [n][size] event numbers */
} syn_occurrences;

/* The occurrences of one episode; the caller frees `out` with syn_occurrences_free(),
   also after an error. SYN_TOO_LARGE when there are more than `most`. */
syn_status syn_find_occurrences(const syn_recording *recording,
                                const syn_episode *episode, syn_occurrence_kind kind,
                                size_t most, const syn_watch *watch,
                                syn_occurrences *out);

void syn_occurrences_free(syn_occurrences *occurrences);

#endif
