/* Lists of the ends of a stream's episodes, and the greedy rule that goes through them
   for all candidates of an episode together. */
#ifndef SYN_EPISODES_STREAM_COUNT_H
#define SYN_EPISODES_STREAM_COUNT_H

#include <stdint.h>

#include "core/episodes/stream_kept.h"

/* Ends in the order of time; `span` is the most events from a start to its end. */
typedef struct syn_stream_list {
    const syn_stream_end *end;
    uint32_t n, span;
} syn_stream_list;

/* The ends of a single unit at events from `since` to before `until`. */
syn_stream_list syn_stream_list_unit(const syn_stream *s, uint32_t unit, uint32_t since,
                                     uint32_t until);

/* Where a unit's events from `event` on begin in its list. */
uint32_t syn_stream_unit_from(const syn_stream *s, uint32_t unit, uint32_t event);

/* The ends of kept episode `id`, which extends the prefix by an event: of its pending
   ones those from `pending` on, if there are any, and then those at events from `since`
   to before `until`. In the stream's arena; SYN_OVER_BUDGET or SYN_NO_MEMORY. */
syn_status syn_stream_list_extend(syn_stream *s, const syn_stream_list *prefix,
                                  uint32_t id, uint32_t pending, uint32_t since,
                                  uint32_t until, syn_stream_list *list);

/* Runs the greedy rule through the ends of kept episode `id` in `list`, for its
   candidates from `from` on: adds to count[] what it counts and moves free[] on to the
   event after the last one that it counted. The rule must have stood where free[] says
   when the first of the ends could be followed. Events before `since` have been counted,
   and those from `until` on may be left for later. */
void syn_stream_count(syn_stream *s, uint32_t id, const syn_stream_list *list,
                      uint32_t from, uint32_t since, uint32_t until, uint32_t *count,
                      uint32_t *free);

/* Counts the candidates of `id` that are not counted yet over the whole window, where
   `list` has its ends. */
void syn_stream_count_new(syn_stream *s, uint32_t id, const syn_stream_list *list);

#endif
