/* A clock that goes by how much the units of a recording fire: trains that are turned by
   it keep their rates where all others fire more. */
#ifndef SYN_ASSEMBLIES_PACE_H
#define SYN_ASSEMBLIES_PACE_H

#include "core/assemblies/segments.h"

/* Trials are cut into cells of equal lengths, each with one speed of the clock. */
typedef struct syn_pace {
    const syn_segments *segments;
    int64_t cell;      /* ticks of a cell, about */
    size_t cells;
    uint32_t *spikes;  /* [cells] of all units */
    uint32_t *others;  /* [cells] of those that it goes by */
    double *shown;     /* [cells + trials] what it shows, in cells from 0 in each trial,
                          where a cell begins and where the trial ends */
    size_t spikes_room, others_room, shown_room;
    syn_budget *budget;
} syn_pace;

/* Sets the clock by the spikes of all units but those of `n` trains, with cells of `cell`
   ticks, or longer, if there are more than spikes. Its speed is the rate there over the
   mean rate, as far as rates differ by more than Poisson counts do, within bounds.
   SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_pace_set(syn_pace *pace, int64_t cell, const syn_train *without,
                        uint32_t n);

/* Moves the spikes of a train by so many ticks of the clock, around each trial.
   out[own.n] never decreases; two spikes may come to be on one tick. */
void syn_pace_turn(const syn_pace *pace, syn_train own, int64_t by, int64_t *out);

#endif
