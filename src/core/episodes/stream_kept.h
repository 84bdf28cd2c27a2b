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

#include <stddef.h>
#include <stdint.h>

#include "core/base/budget.h"
#include "core/episodes/rows.h"
#include "core/episodes/stream.h"
#include "core/episodes/stream_events.h"

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
    syn_meet_rows *meet_rows;
    uint32_t span;            /* most events from a start to its end so far */
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

/* Brings the counts of the kept episodes up to date. */
void syn_stream_kept_note(syn_stream *s);

/* Makes the root. */
syn_status syn_stream_kept_open(syn_stream *s);
void syn_stream_kept_free(syn_stream *s);

/* Keeps the episode that extends `parent`; `suffix` is the root for a single unit. Its
   candidates, and those it brings to others, are there and not counted yet. */
syn_status syn_stream_kept_enter(syn_stream *s, uint32_t parent, uint32_t unit,
                          uint32_t interval, uint32_t suffix);

/* Keeps an episode no longer. Nothing that is kept may contain it, and all candidates
   must be counted. */
syn_status syn_stream_kept_leave(syn_stream *s, uint32_t id);

#endif
