/* Spike trains unit after unit: what surrogates are made from. */
#ifndef SYN_SPIKES_TRAINS_H
#define SYN_SPIKES_TRAINS_H

#include "core/base/arrays.h"
#include "core/spikes/spikes.h"

/* The spikes inside trials; without trials all are in trial 0. */
typedef struct syn_trains {
    uint32_t units;
    uint32_t events;     /* below 2^31 - 1 */
    uint32_t trials;     /* at least 1 */
    uint32_t *first;     /* [units + 1] where a unit's spikes begin */
    int64_t *tick;       /* [events] increasing within a unit */
    uint32_t *trial;     /* [events] non-decreasing within a unit */
    int64_t *start;      /* [trials] first tick of a trial, increasing */
    int64_t *stop;       /* [trials] last tick that is the trial's own */
    syn_arrays memory;
} syn_trains;

/* Takes sound spikes. The caller frees, also after an error. SYN_TOO_LARGE from 2^31 - 1
   spikes; SYN_INTERRUPTED by the watch. */
syn_status syn_trains_make(syn_trains *out, const syn_spikes *spikes,
                           const syn_watch *watch);

void syn_trains_free(syn_trains *trains);

/* Bytes that trains of so many events, units and trials hold. */
double syn_trains_bytes(double events, double units, double trials);

#endif
