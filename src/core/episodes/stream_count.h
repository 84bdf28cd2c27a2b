/* Lists of the ends of a stream's episodes, and the greedy rule that goes through them
   for all candidates of an episode together. */
#ifndef SYN_EPISODES_STREAM_COUNT_H
#define SYN_EPISODES_STREAM_COUNT_H

#include <stdint.h>

#include "core/episodes/stream_kept.h"

/* Neighbouring ends, in the order of time; `more` come after them. */
typedef struct syn_stream_list {
    const syn_stream_end *end;
    uint32_t n, more;
} syn_stream_list;

/* Whether all ends can be counted from the table of next occurrences, in 16 bits. */
static inline int syn_stream_has_rows(const syn_stream *s)
{
    return s->events.next && s->span + s->events.farthest + 1 < SYN_ROW_REACH;
}

enum { SYN_STREAM_CHUNK = 512 };

/* Some neighbouring ends, numbered from `base`, as the counters of rows take them. */
typedef struct syn_stream_chunk {
    syn_row_end end[SYN_STREAM_CHUNK + 1];
    uint32_t base, n;
    const uint16_t *row;  /* of the first one */
} syn_stream_chunk;

/* The ends from number `i` on: at most `most`, and as many as have rows that do not cross
   the end of the ring, and windows that end within 16 bits from the first start on. */
void syn_stream_take_chunk(const syn_stream *s, const syn_stream_list *list, uint32_t i,
                           uint32_t most, syn_stream_chunk *c);

/* The ends of an episode that is listed, or is a unit, at events from `since` to before
   `until`. */
syn_stream_list syn_stream_list_of(const syn_stream *s, uint32_t id, uint32_t since,
                                   uint32_t until);

/* The ends of an episode that is listed, or is a unit. */
const syn_stream_ends *syn_stream_ends_of(const syn_stream *s, uint32_t id);

/* Appends to the ends of episode `id`, of two or more events, those at events from
   `since` on, which follow ends of its parent at events from `pending` on. `at` has all
   events where they can be: those of its last unit, or the ends of its suffix. */
syn_status syn_stream_list_extend(syn_stream *s, uint32_t id, const syn_stream_ends *at,
                                  uint32_t since, uint32_t pending);

/* Runs the greedy rule through the ends of kept episode `id` in `list`, for its
   candidates from `from` on: adds to count[] what it counts and moves free[] on to the
   event after the last one that it counted. The rule must have stood where free[] says
   when the first of the ends could be followed. Events before `since` have been counted,
   and those from `until` on may be left for later. */
void syn_stream_count(syn_stream *s, uint32_t id, const syn_stream_list *list,
                      uint32_t from, uint32_t since, uint32_t until, uint32_t *count,
                      uint32_t *free);

/* Counts the candidates of `id` that are not counted yet over the whole window. */
void syn_stream_count_new(syn_stream *s, uint32_t id);

#endif
