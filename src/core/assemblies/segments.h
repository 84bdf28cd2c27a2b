/* A recording cut into segments, within which surrogates shift each unit by itself. */
#ifndef SYN_ASSEMBLIES_SEGMENTS_H
#define SYN_ASSEMBLIES_SEGMENTS_H

#include "core/base/budget.h"
#include "core/spikes/recording.h"
#include "core/spikes/trains.h"

/* The trials of a recording one after the other, `apart` ticks and more between them, cut
   into segments of equal lengths; and its spikes in the order of time. */
typedef struct syn_segments {
    syn_trains trains;       /* trials are segments */
    syn_recording recording; /* events, units, tick, unit, first, by_unit; no more */
    int64_t *later;          /* [trials] by how many ticks spikes of a trial were moved */
    int64_t *opened;         /* [trials] the first tick of a trial, moved, */
    int64_t *closed;         /* and its last one */
    uint32_t trials;         /* of the recording */
} syn_segments;

/* Ticks of spikes, increasing. */
typedef struct syn_train {
    const int64_t *tick;
    size_t n;
} syn_train;

/* Segments of a trial have equal lengths, of about `length` ticks. The end of the
   budget frees all but `trains`, which the caller frees, also after an error:
   SYN_OVER_BUDGET, SYN_NO_MEMORY, SYN_TOO_LARGE, SYN_INTERRUPTED. */
syn_status syn_segments_make(syn_segments *out, const syn_spikes *spikes, int64_t length,
                             int64_t apart, syn_budget *budget, const syn_watch *watch);

/* The spikes of a unit of the recording. */
syn_train syn_segments_train(const syn_segments *segments, uint32_t unit);

/* Ticks in all trials. */
double syn_segments_recorded_ticks(const syn_segments *segments);

/* Where a tick of `recording` was in the spikes that segments were made from. */
int64_t syn_segments_tick(const syn_segments *segments, int64_t tick);

/* The other way round, of a tick in a trial; and the last tick of that trial. */
int64_t syn_segments_laid(const syn_segments *segments, int64_t tick, int64_t *closed);

#endif
