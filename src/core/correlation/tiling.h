/* Spikes of one unit that have a spike of another nearby, for all pairs of units. */
#ifndef SYN_CORRELATION_TILING_H
#define SYN_CORRELATION_TILING_H

#include "core/base/budget.h"
#include "core/spikes/recording.h"

/* near[b * units + a] is how many spikes of unit a have one of unit b at most `reach`
   ticks away, on either side. `recording` comes from syn_recording_make(), with trials
   more than `reach` apart. Working memory is counted in `budget`. SYN_NO_MEMORY;
   SYN_OVER_BUDGET; SYN_INTERRUPTED. */
syn_status syn_tiling_near(const syn_recording *recording, int64_t reach, int threads,
                           int32_t *near, syn_budget *budget, const syn_watch *watch);

#endif
