/* The episodes that a stream keeps, and the candidates that it counts.

   An episode is kept from when it is frequent until it has become clearly rarer. What is
   kept may be part of longer episodes: a candidate is counted when the episodes that it
   begins and ends with, one event shorter, are both kept. So all kept episodes with a
   common suffix have the same candidates: what extends the suffix, its kids, in their
   order. A candidate is thus a place among the kids of a suffix, and each kept episode
   has arrays in that order. The empty episode, SYN_STREAM_ROOT, is the suffix of single
   units; each of its kids stands there once for every interval. */
#ifndef SYN_EPISODES_STREAM_KEPT_H
#define SYN_EPISODES_STREAM_KEPT_H

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/episodes/rows.h"
#include "core/episodes/stream.h"

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

enum { SYN_STREAM_ROOT = 0 };
#define SYN_STREAM_NONE UINT32_MAX

typedef struct syn_stream_kept {
    uint32_t unit, interval;  /* the last event and the interval before it */
    uint32_t size;
    uint64_t serial;          /* the version that began with it */
    uint32_t parent, suffix;
    uint32_t place;           /* among the kids of its parent */
    uint32_t spot;            /* among those of its size */
    uint32_t user, before, after;  /* the first one that has this as its suffix; its
                                      neighbours among those with the same suffix */
    uint32_t *kid, kids;      /* [kids] kept episodes that extend it by an event */
    uint32_t *slot, slots;    /* [slots] interval * units + unit of each place, which is a
                                 kid or, of the root, a kid and an interval */
    size_t kid_room, slot_room;
    /* Its candidates, a place of its suffix each. */
    uint32_t n, counted;      /* those from `counted` on are not counted yet */
    uint32_t *count;          /* [n] */
    uint32_t *free;           /* [n] the event after the last one that was counted */
    uint32_t *node;           /* [n] the kept episode, or SYN_STREAM_NONE */
    size_t count_room, free_room, node_room;
    syn_stream_ends ends;     /* of two or more events, while it has candidates */
    uint8_t listed;           /* whether `ends` holds them */
    uint32_t latest;          /* the event after the last end of it or of what is below */
    uint8_t used;             /* whether this is an episode */
    uint8_t changed;          /* its counts may have risen */
    uint8_t touched;          /* its counts may be others than before the update */
} syn_stream_kept;

/* An episode that a walk comes to, and where those ends of its parent begin that matter
   to it. */
typedef struct syn_stream_step {
    uint32_t id, first;
} syn_stream_step;

typedef struct syn_stream_level {
    uint32_t *kept, n;
    size_t room;
} syn_stream_level;

struct syn_stream {
    syn_budget budget;
    syn_stream_options options;
    syn_interval *intervals;
    syn_stream_events events;
    syn_stream_kept *kept;           /* [n_kept] of [kept_room]; 0 is the root */
    uint32_t n_kept;
    size_t kept_room;
    uint32_t *unused;         /* [n_unused] numbers to be used again */
    uint32_t n_unused;
    size_t unused_room;
    uint32_t *count;          /* [n_kept] of [count_room] their counts; behind those of
                                 the candidates until syn_stream_kept_note() */
    size_t count_room;
    uint32_t *touched;        /* [n_touched] episodes that are */
    uint32_t n_touched;
    size_t touched_room;
    uint64_t version;         /* how many episodes came in or went out */
    syn_stream_level *level;  /* [levels] by size; [0] is empty */
    size_t levels, level_room;
    uint32_t *root_seat;      /* [stride] the place of a slot among those of the root */
    uint32_t *seat;           /* [stride] the same for another suffix, while it is used */
    syn_follow_rows *follow_rows;
    uint32_t span;            /* most events from a start to its end so far */
    /* [stride] While an episode is counted: what is free for each lane, and what it has
       counted; and the blocks of lanes with candidates. */
    uint16_t *lane_free, *lane_hits;
    uint8_t *block;           /* [stride / SYN_LANES] */
    struct syn_stream_step *step;  /* [n_steps] of a walk */
    size_t n_steps, step_room;
    uint32_t *came;           /* [units] where the ends of each begin that came */
    uint32_t *chain[4];       /* [chain_room] counts and free events of two chains */
    size_t chain_room[4];
    syn_stream_ends scratch;  /* for making a list */
    uint32_t min_count;
    size_t ahead;             /* candidates that may still be counted ahead of time */
    size_t candidates, anew;
    syn_stream_device *device;  /* that counts; NULL for the core */
    uint8_t fallen, risen;    /* whether something kept may be too rare now, and whether
                                 a candidate may have become frequent */
    uint8_t later;            /* whether a candidate waits for another update */
    const syn_watch *watch;   /* of the update that runs */
    double polled;
};

/* Below this count an episode is kept no longer: a little below min_count, so that one
   whose count goes up and down there is not counted over the whole window each time. */
static inline uint32_t syn_stream_least_kept(const syn_stream *s)
{
    return s->min_count - s->min_count / 16;
}

/* From this count on an episode may be kept before it is frequent. Many become frequent
   with one burst of the recording; counting what they bring ahead of time, a few in each
   update, keeps updates short. The first update takes in all of them. */
static inline uint32_t syn_stream_least_ahead(const syn_stream *s)
{
    return s->min_count - s->min_count / 64;
}

/* The places of one kid among the slots of `suffix`. */
static inline uint32_t syn_stream_kept_width(const syn_stream *s, uint32_t suffix)
{
    return suffix == SYN_STREAM_ROOT ? s->options.n_intervals : 1;
}

/* The place of a kept episode of two or more events among its parent's candidates. */
static inline uint32_t syn_stream_kept_candidate(const syn_stream *s, uint32_t id)
{
    const syn_stream_kept *k = &s->kept[id];
    uint32_t place = s->kept[k->suffix].place;
    return k->size == 2 ? place * s->options.n_intervals + k->interval : place;
}

/* To be called when counts of an episode's candidates have changed. */
static inline void syn_stream_kept_touch(syn_stream *s, uint32_t id)
{
    if (s->kept[id].touched)
        return;
    s->kept[id].touched = 1;
    s->touched[s->n_touched++] = id;
}

/* Adds a step to a walk. */
syn_status syn_stream_step_to(syn_stream *s, uint32_t id, uint32_t first);

/* Brings the counts of the kept episodes up to date. */
void syn_stream_kept_note(syn_stream *s);

/* Makes the root. */
syn_status syn_stream_kept_open(syn_stream *s);

/* Keeps the episode that extends `parent`; `suffix` is the root for a single unit. Its
   candidates, and those it brings to others, are there and not counted yet. */
syn_status syn_stream_kept_enter(syn_stream *s, uint32_t parent, uint32_t unit,
                          uint32_t interval, uint32_t suffix);

/* Keeps an episode no longer. Nothing that is kept may contain it, and all candidates
   must be counted. */
syn_status syn_stream_kept_leave(syn_stream *s, uint32_t id);

/* ---- the three walks of an update through the kept episodes ---- */

/* Counts what ends at the events from `since` on, which were appended. */
syn_status syn_stream_walk_back(syn_stream *s, uint32_t since);

/* Counts no longer what starts before event `begin`, which is where the window will
   begin. */
syn_status syn_stream_walk_front(syn_stream *s, uint32_t begin);

/* Counts over the whole window what is not counted yet of the episodes of one size. */
syn_status syn_stream_walk_whole(syn_stream *s, size_t size);

/* Polls the watch now and then. */
static inline syn_status syn_stream_look_up(syn_stream *s)
{
    double now = syn_seconds();
    if (now - s->polled < SYN_SLICE_SECONDS)
        return SYN_OK;
    s->polled = now;
    return syn_poll(s->watch, "stream", 0, 0);
}

#endif
