/* What the statistic of scan.h gives where there is no connection. */
#ifndef SYN_SYNAPSES_NULL_H
#define SYN_SYNAPSES_NULL_H

#include "core/synapses/pairs.h"

/* No synapse acts at lags of some ten milliseconds, and noise there has the same causes
   as at short lags: few spikes, bursts, rhythms. So what the counts at long lags differ
   by from their slow part is set on the slow part of the short lags, which keeps its
   height and its shape. The differences are scaled by the square root of the slow parts.

   For `shift` bins, lag t > 0 gets the difference from lag t + shift, and lag t <= 0 that
   from t - shift. Counts below 0 become 0.

   Scans what each pair becomes at each of `shifts` shifts, each of which plus the lags
   of the scan is at most that of the counts: `out` has pairs.n * shifts pairs, those of
   pair p from p * shifts on. SYN_NO_MEMORY; SYN_OVER_BUDGET; SYN_INTERRUPTED. */
syn_status syn_null_pairs(syn_scan_work *work, const int *shift, uint32_t shifts);

#endif
