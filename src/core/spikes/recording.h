/* A recording made ready for mining: events in time order, equal ticks grouped, trials
   pulled apart so that no pattern can reach from one into the next. */
#ifndef SYN_SPIKES_RECORDING_H
#define SYN_SPIKES_RECORDING_H

#include "core/spikes/spikes.h"

/* Events are numbered from 0 in time order; one unit has at most one event per tick. */
typedef struct syn_recording {
    uint32_t events;
    uint32_t units;
    int64_t *tick;      /* [events] non-decreasing; true differences within a trial */
    uint32_t *unit;     /* [events] in [0, units) */
    uint32_t *group;    /* [events] the first event on the same tick */
    uint32_t *source;   /* [events] the event's place among the spikes it was made from */
    uint32_t *first;    /* [units + 1] where a unit's events begin in `by_unit` */
    uint32_t *by_unit;  /* [events] event numbers, unit after unit, increasing */
    uint32_t *row;      /* [events] the event's place in `by_unit` */
} syn_recording;

/* Makes a recording of sound spikes, without those of units that have fewer than
   `min_count` of them inside trials. Events of different trials end up more than `reach`
   ticks apart. The caller frees with syn_recording_free(), also after an error.
   SYN_TOO_LARGE from 2^31 - 1 spikes; SYN_INTERRUPTED by the watch. */
syn_status syn_recording_make(syn_recording *out, const syn_spikes *spikes,
                              uint32_t min_count, int64_t reach, int threads,
                              const syn_watch *watch);

/* The same without `source`, which counting does not need, and in two steps: `group`,
   `by_unit` and `row` are NULL until the second. Devices find them sooner themselves. */
syn_status syn_recording_read(syn_recording *out, const syn_spikes *spikes,
                              uint32_t min_count, int64_t reach, int threads,
                              const syn_watch *watch);
syn_status syn_recording_arrange(syn_recording *recording, const syn_watch *watch);

void syn_recording_free(syn_recording *recording);

#endif
