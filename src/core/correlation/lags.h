/* Lag histograms (cross-correlograms) of all pairs of units. */
#ifndef SYN_CORRELATION_LAGS_H
#define SYN_CORRELATION_LAGS_H

#include "core/base/budget.h"
#include "core/spikes/recording.h"

#define SYN_LAG_MOST_BIN 1073741823  /* ticks of a bin: twice that fits 31 bits */

/* Bin k, from -lags to lags, holds the pairs of spikes whose lag is nearest to k * bin
   ticks. A lag half way between two bins goes to the one farther from 0, so that what
   one unit sees in another is what the other sees in it, turned round. */
typedef struct syn_lag_options {
    int64_t bin;    /* from 1 to SYN_LAG_MOST_BIN ticks */
    uint32_t lags;  /* bins on each side of the one around 0 */
    int threads;
} syn_lag_options;

/* Lags below this many ticks are counted, on both sides; trials must be at least as far
   apart. */
static inline int64_t syn_lag_reach(const syn_lag_options *o)
{
    return ((2 * (int64_t)o->lags + 1) * o->bin + 1) / 2;
}

/* Counts pairs of spikes: count[(b * units + a) * (2 * lags + 1) + lags + k] is how many
   there are of a spike of unit a and one of unit b that comes k bins later. A spike makes
   no pair with itself. `recording` needs no more than syn_recording_read() gives, with at
   least syn_lag_reach() between trials. Working memory is counted in `budget`.
   SYN_TOO_LARGE when a count would pass 2^31 - 1; SYN_NO_MEMORY; SYN_OVER_BUDGET;
   SYN_INTERRUPTED. The number of threads changes nothing. */
syn_status syn_lag_histograms(const syn_recording *recording, const syn_lag_options *o,
                              int32_t *count, syn_budget *budget, const syn_watch *watch);

#endif
