/* The maxima of surrogates: for each size of patterns, how often the most frequent
   pattern of each surrogate occurs. */
#ifndef SYN_PATTERNS_SPECTRUM_SPECTRUM_H
#define SYN_PATTERNS_SPECTRUM_SPECTRUM_H

#include "core/patterns/mine.h"
#include "core/surrogates/surrogates.h"

typedef struct syn_spectrum_options {
    const syn_surrogate_plan *plan;
    int64_t width;                       /* ticks of a bin */
    const syn_pattern_options *patterns; /* engine and shares mean nothing; the target is
                                            closed or closed within */
    int by_duration;                     /* maxima of each duration apart */
    uint64_t first;                      /* number of the first surrogate */
    uint32_t n;
    const uint8_t *only;                 /* [n] which of them; NULL for all */
} syn_spectrum_options;

/* The maxima of one surrogate: most[d * sizes + k] is the largest number of occurrences
   of its patterns of at least min_spikes + k items, and of duration d where durations
   are counted separately; 0 where there is no such pattern. */
typedef struct syn_spectrum_row {
    uint32_t sizes;
    uint32_t *most;      /* NULL without a pattern */
} syn_spectrum_row;

typedef struct syn_spectrum {
    uint32_t n, durations;  /* durations: 1, or the bins of a window */
    syn_spectrum_row *row;  /* [n] */
    size_t peak_memory;     /* most bytes that the budget held */
} syn_spectrum;

/* Makes each surrogate, bins it and mines it; what comes of it depends on its number
   alone. All memory is taken from the plan's budget, what is found too; fewer threads
   than there are may be used to keep to it. The caller frees with syn_spectrum_free(),
   also after an error. SYN_OVER_BUDGET when one surrogate is too much; SYN_TOO_LARGE when
   units * window passes 2^31 - 1, or beyond the limits of core/surrogates/raster.h. */
syn_status syn_spectrum_make(const syn_spectrum_options *options, const syn_watch *watch,
                             syn_spectrum *out);

/* The largest number of sizes of a row. */
uint32_t syn_spectrum_sizes(const syn_spectrum *spectrum);

void syn_spectrum_free(syn_spectrum *spectrum);

#endif
