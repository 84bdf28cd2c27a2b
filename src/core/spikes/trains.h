/* Spike trains unit after unit: what surrogates are made from. */
#ifndef SYN_SPIKES_TRAINS_H
#define SYN_SPIKES_TRAINS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"

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
} syn_trains;

/* Takes `n` events sorted by tick. Units and trials are numbered from `from` on, and
   events with a smaller number are left out; without trials, `trial` is NULL. Ticks are
   whole numbers below 2^53 in size. The caller frees, also after an error. SYN_TOO_LARGE
   from 2^31 - 1 events. */
syn_status syn_trains_make(syn_trains *out, size_t n, const double *tick, const int *unit,
                           const int *trial, int from, uint32_t units, uint32_t trials,
                           const double *start, const double *stop);

void syn_trains_free(syn_trains *trains);

/* Bytes that trains of so many events, units and trials hold. */
double syn_trains_bytes(double events, double units, double trials);

#endif
