/* The events in the window of a stream. They are numbered as they come, and stand in a
   ring: event e at place e & mask of each array. */
#ifndef SYN_EPISODES_STREAM_EVENTS_H
#define SYN_EPISODES_STREAM_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/budget.h"
#include "core/episodes/mine.h"

/* An end of an episode, and the latest start that leads to it, as the first event on its
   tick. */
typedef struct syn_stream_end {
    uint32_t event, start;
} syn_stream_end;

/* The ends of an episode in the window, in the order of time: from end[head] to before
   end[n]. Those of a unit alone are its events. */
typedef struct syn_stream_ends {
    syn_stream_end *end;
    size_t room;
    uint32_t head, n;
    uint32_t start, last;  /* the first start and the last event, where there are ends:
                              most updates need no more, and lists are far apart */
} syn_stream_ends;

typedef struct syn_stream_events {
    syn_budget *budget;
    const syn_interval *interval;
    uint32_t intervals;
    uint32_t units;       /* room for so many, whole blocks of lanes */
    int64_t reach;        /* the longest lag */
    uint32_t room, mask;  /* places, a power of two, and one less */
    uint32_t begin, end;  /* the events in the window: begin <= e < end */
    int64_t *tick;
    uint32_t *unit;
    uint32_t *back;       /* how many events before it are on its tick */
    uint32_t **open;      /* [intervals] how far the first event beyond the low bound */
    uint32_t **shut;      /* [intervals] is, and that beyond the high one */
    uint32_t farthest;    /* farthest event of any window so far */
    uint16_t *next;       /* [room][intervals][units] the table of next occurrences as in
                             table.h; NULL when windows are visited instead */
    size_t stride;        /* intervals * units */
    uint32_t *seen;       /* [units] for filling the table */
    syn_stream_ends *of;  /* [units] */
} syn_stream_events;

static inline int64_t syn_stream_tick(const syn_stream_events *e, uint32_t event)
{
    return e->tick[event & e->mask];
}

/* The first event on the tick of an event: what starts are compared by. */
static inline uint32_t syn_stream_group(const syn_stream_events *e, uint32_t event)
{
    return event - e->back[event & e->mask];
}

/* How many ends there are. */
static inline uint32_t syn_stream_ends_count(const syn_stream_ends *ends)
{
    return ends->n - ends->head;
}

static inline uint32_t syn_stream_unit_count(const syn_stream_events *e, uint32_t unit)
{
    return syn_stream_ends_count(&e->of[unit]);
}

/* To be called when ends were added or taken away. */
static inline void syn_stream_ends_note(syn_stream_ends *ends)
{
    if (ends->n == ends->head)
        return;
    ends->start = ends->end[ends->head].start;
    ends->last = ends->end[ends->n - 1].event;
}

/* Takes away the ends that start before event `begin`. */
void syn_stream_ends_drop(syn_stream_ends *ends, uint32_t begin);

/* Where the ends at events from `event` on begin. */
uint32_t syn_stream_ends_from(const syn_stream_ends *ends, uint32_t event);

/* Room for `n` more ends; those before the head make place first. */
syn_status syn_stream_ends_room(syn_stream_ends *ends, syn_budget *budget, uint32_t n);

/* Numbers events lower by `by`, at most the first start. */
void syn_stream_ends_renumber(syn_stream_ends *ends, uint32_t by);

/* `e` must be zero except for the fields down to `reach`. With a table when `table`. */
syn_status syn_stream_events_open(syn_stream_events *e, int table);
void syn_stream_events_free(syn_stream_events *e);

/* Appends `n` events, units from 1. */
syn_status syn_stream_events_append(syn_stream_events *e, size_t n, const double *tick,
                                    const int *unit);

/* The first event whose windows hold `event` or a later one. */
uint32_t syn_stream_pending(const syn_stream_events *e, uint32_t event);

/* Finds the windows of the events from `from` on, and what occurs first in them. */
void syn_stream_fill(syn_stream_events *e, uint32_t from);

/* The first event after tick `cut`; the window begins there once they are dropped. */
uint32_t syn_stream_cut(const syn_stream_events *e, int64_t cut);
void syn_stream_drop(syn_stream_events *e, uint32_t begin);

/* Numbers events lower by `by`, a multiple of the room. */
void syn_stream_renumber(syn_stream_events *e, uint32_t by);

#endif
