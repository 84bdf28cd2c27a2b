/* The spikes of each unit in each segment, in bins from the beginning of the segment:
   what surrogates shift around their segments. */
#ifndef SYN_ASSEMBLIES_BINNED_H
#define SYN_ASSEMBLIES_BINNED_H

#include "core/base/budget.h"
#include "core/base/philox.h"
#include "core/spikes/trains.h"

/* The lag histogram of a surrogate, of b after a, counts each spike of a and each of b in
   the same segment k, of n[k] bins, at every lag from -margin to margin that is
   bin_b + shift_b - bin_a - shift_a modulo n[k]: as the lags go around the segment, a
   pair of spikes may be counted never, once or several times. */
typedef struct syn_binned {
    uint32_t units, segments;
    uint32_t *n;      /* [segments] bins of a segment, the last of which may be partial */
    uint32_t *first;  /* [units * segments + 1] where the spikes of a unit in a segment
                         begin: first[unit * segments + segment] */
    uint32_t *bin;    /* [events] below n of the segment, increasing; spikes of one unit
                         in one bin all count */
} syn_binned;

/* `trains` as of syn_segments: its trials are segments. SYN_OVER_BUDGET, SYN_NO_MEMORY,
   SYN_TOO_LARGE where a segment has 2^31 bins or more. */
syn_status syn_binned_make(syn_binned *out, const syn_trains *trains, int64_t bin,
                           syn_budget *budget);

/* By how many bins a unit is shifted in a segment of n bins. */
SYN_EVERYWHERE uint32_t syn_binned_shift(uint64_t key, uint64_t surrogate, uint32_t unit,
                                         uint32_t segment, uint32_t n)
{
    uint32_t word[4], half[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    uint32_t counter[4] = {segment / 4, unit, (uint32_t)surrogate,
                           (uint32_t)(surrogate >> 32)};
    syn_philox(counter, half, word);
    return (uint32_t)((uint64_t)word[segment % 4] * n >> 32);
}

#endif
