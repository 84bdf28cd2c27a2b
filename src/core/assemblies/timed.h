/* The lag histogram of one pair of units of a recording. */
#ifndef SYN_ASSEMBLIES_TIMED_H
#define SYN_ASSEMBLIES_TIMED_H

#include "core/correlation/lags.h"

/* The spikes of a recording, unit after unit, made ready for counting. Bins of lags are
   those of syn_lag_options. */
typedef struct syn_timed {
    syn_lag_options options;
    uint32_t units;
    uint32_t *first;   /* [units + 1] */
    int64_t *tick;     /* [events] increasing within a unit */
    uint32_t *place;   /* [events] twice a tick over twice a bin, modulo 2^32, */
    int32_t *phase;    /* [events] and what is left of it */
    int shift;         /* time is cut into pieces of 2^shift ticks */
    uint32_t pieces;
    int64_t start;     /* the first tick of all */
    uint32_t *from;    /* [units * (pieces + 1)] the first spike of a unit in a piece */
    syn_budget *budget;
} syn_timed;

/* `recording` as of syn_segments, with syn_lag_reach() ticks between trials. The caller
   keeps the budget for as long, and frees, also after an error: SYN_OVER_BUDGET,
   SYN_NO_MEMORY. */
syn_status syn_timed_make(syn_timed *out, const syn_recording *recording,
                          const syn_lag_options *options, syn_budget *budget);
void syn_timed_free(syn_timed *timed);

/* Counts the lags of b after a, from -lags to lags, as running sums: sum[k] has those of
   all bins up to it, for k up to 2 * lags; there is room for one more. SYN_TOO_LARGE
   where they pass 2^31 - 1, or nearly so. */
syn_status syn_timed_sums(const syn_timed *timed, uint32_t a, uint32_t b, int32_t *sum);

#endif
