/* A recording without its population bursts. */
#ifndef SYN_ASSEMBLIES_CALM_H
#define SYN_ASSEMBLIES_CALM_H

#include "core/assemblies/locked.h"

/* The spikes that remain, and how much was left out. */
typedef struct syn_calm {
    syn_spikes spikes;  /* those of the recording, which the caller keeps; */
    int *trial;         /* but the spikes that are left out are in no trial */
    double steps, left_out;  /* steps of time there are, and those in bursts */
    double *burst;           /* [2 * bursts] first tick of each, and that after it */
    size_t bursts;           /* stretches of such steps, in the order of time */
} syn_calm;

/* Leaves out all spikes of steps of `step` ticks in which a population burst is under
   way, beyond what `events` bring about; there may be none. SYN_OVER_BUDGET,
   SYN_NO_MEMORY, SYN_TOO_LARGE, SYN_INTERRUPTED. */
syn_status syn_calm_make(syn_calm *out, const syn_spikes *spikes,
                         const syn_events *events, int64_t step, syn_budget *budget,
                         const syn_watch *watch);

#endif
