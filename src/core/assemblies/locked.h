/* Responses to events: trains in which each event has spikes of other events, at the same
   time after it. They keep how a unit responds, and lose what it does together with
   others beyond that (the shift predictor of Perkel, Gerstein and Moore 1967). */
#ifndef SYN_ASSEMBLIES_LOCKED_H
#define SYN_ASSEMBLIES_LOCKED_H

#include "core/assemblies/segments.h"

/* Shifts of the predictor: by 1, -1, 2, -2, ... events. */
enum { SYN_LOCKED_SHIFTS = 20 };

/* Events of a recording, by time; each trial begins with one at the latest. Spikes are
   exchanged between events of one kind. */
typedef struct syn_events {
    const double *tick;
    const int *kind;   /* [n] from 1 to kinds */
    uint32_t n, kinds;
} syn_events;

/* What an event gets from another: the spikes from `begin` ticks after it to just before
   `end`. */
typedef struct syn_locked_piece {
    uint32_t to, from;
    int64_t begin, end;
} syn_locked_piece;

typedef struct syn_locked {
    uint32_t events;
    struct syn_locked_event {
        int64_t at;      /* tick, trials laid out as in segments */
        int64_t length;  /* ticks up to the next one, or the end of the trial */
        uint32_t place, first, alike;  /* in `order`; the first place of its kind, and how
                                          many of its kind there are */
    } *event;          /* [events] */
    uint32_t *order;   /* [events] by kind, then by time */
    double unsure;     /* one over the different events that spikes come from, on the mean
                          over time */
    syn_locked_piece *piece;  /* [pieces] of the plan, by time */
    size_t pieces, room;

    /* The trains of all units, then those of the predictor: of each unit, all its moved
       spikes. Ticks increase within a train; events, units, tick, first and
       by_unit alone are there. */
    syn_recording both;
    syn_budget *budget;
} syn_locked;

/* SYN_OVER_BUDGET, SYN_NO_MEMORY, SYN_TOO_LARGE. */
syn_status syn_locked_make(syn_locked *out, const syn_events *events,
                           const syn_segments *segments, syn_budget *budget);

/* Plans to give each event the spikes of the one that is `shift` later, or -shift
   earlier, among those of its kind, around the ends of their order. Events count alone
   that have more time up to the next one: so spikes for late times after an event may
   come from another event than those for early times. Nothing comes from the event
   itself, but with a shift of 0. SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_locked_plan(syn_locked *locked, int64_t shift);

/* Moves spikes as planned last. Returns how many there are in `out`, increasing; `out`
   may be NULL, to count them. */
size_t syn_locked_move(const syn_locked *locked, syn_train own, int64_t *out);

/* The train of a unit in the predictor. */
syn_train syn_locked_train(const syn_locked *locked, uint32_t unit);

#endif
