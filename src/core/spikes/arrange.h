/* Spikes as they come, in any order and any unit of time, made into those of a recording:
   on its clock, by time and then by unit, each once. */
#ifndef SYN_SPIKES_ARRANGE_H
#define SYN_SPIKES_ARRANGE_H

#include "core/spikes/spikes.h"

typedef struct syn_loose {
    size_t n;            /* below 2^32 */
    const double *time;  /* [n] */
    const int *code;     /* [n] from 1 to `codes`: what stands for a unit */
    const int *unit;     /* [codes] the unit from 1 to `units`; below 1 for none */
    uint32_t codes, units;
    syn_scale scale;     /* from times to ticks */
} syn_loose;

typedef struct syn_arranged {
    syn_spikes_fault fault;  /* of NOT_FINITE, FAR, UNIT; any of them, the first first */
    int sorted;              /* whether they came by time, then by unit */
    int wide;                /* whether time and unit are together too wide to sort */
    double low, high;        /* the first and the last tick */
    size_t n;                /* how many there are, each once: known when sorted */
} syn_arranged;

/* Checks them and looks at their order. SYN_INTERRUPTED by the watch. */
syn_status syn_spikes_survey(syn_arranged *out, const syn_loose *given,
                             const syn_clock *clock, int threads, const syn_watch *watch);

/* Writes them to `time`, in seconds of the clock, and `unit`, which have room for all
   `n`, after a survey that `found` no fault and nothing wide, and sets `found->n`.
   `spare` has room for `n`, or is NULL for spikes that came sorted. SYN_INTERRUPTED by
   the watch. */
syn_status syn_spikes_arrange(syn_arranged *found, const syn_loose *given,
                              const syn_clock *clock, int threads, const syn_watch *watch,
                              uint64_t *spare, double *time, int *unit);

#endif
