/* Where peaks come from on processors. */
#ifndef SYN_ASSEMBLIES_SOURCE_H
#define SYN_ASSEMBLIES_SOURCE_H

#include "core/assemblies/binned.h"
#include "core/assemblies/pairs.h"
#include "core/assemblies/peaks.h"
#include "core/assemblies/segments.h"

typedef struct syn_pair_source {
    const syn_lagged *pairs;   /* of the recording; its threads and budget are used */
    const syn_binned *binned;
    uint64_t key;              /* of shifts */
    int32_t least;             /* z of a peak, in parts of SYN_PEAK_SCALE */
    int vector_bits;           /* of registers, at most; 0 for any */
    const uint8_t *only;       /* [pairs] those that have peaks; NULL for all */
    double expected;           /* peaks of a surrogate, about; 0 before the first */
} syn_pair_source;

/* Bytes that the search for groups takes beside lists of so many peaks: each thread has
   those of a rung, a third of them at most, for both orders of a pair. */
static inline double syn_search_bytes(double peaks, int threads)
{
    return threads * peaks / 3 * 2 * sizeof(syn_peak);
}

/* Opens a source of the same peaks elsewhere, such as on GPUs; the caller lets `self` go
   once nobody asks for peaks any more. */
typedef struct syn_peak_place {
    void *self;
    syn_status (*open)(void *self, const syn_pair_source *of, syn_peak_source *out);
} syn_peak_place;

typedef struct syn_ground_options {
    int64_t bin;         /* ticks */
    uint32_t lags;       /* bins */
    uint32_t widest;     /* bins, at least 1 */
    int64_t segment;     /* ticks within which surrogates shift a unit */
    syn_events events;   /* that responses are locked to; none of them: not known */
    uint64_t key;
    int threads;
    int32_t least;       /* z of a peak, in parts of SYN_PEAK_SCALE */
    int vector_bits;     /* of registers, at most; 0 for any */
    const syn_peak_place *elsewhere;  /* where peaks are found; NULL: on processors */
} syn_ground_options;

/* The pairs of a recording, and where their peaks and those of surrogates come from. */
typedef struct syn_ground {
    syn_segments segments;
    syn_locked locked;
    syn_binned binned;
    syn_lagged pairs;
    syn_pair_source made_by;
    syn_peak_source source;
} syn_ground;

/* Widths of 1, 3, 5, 9, 17, 33, ... bins, up to `widest`. Odd ones have a bin in the
   middle, so that a lag and its opposite are treated alike. */
syn_ladder syn_ladder_make(uint32_t lags, uint32_t widest);

/* Segments are cut from `calm`, whose spikes are some of `all`; it may be the same. The
   caller keeps the budget for as long, and frees out->segments.trains, also after an
   error. */
syn_status syn_ground_make(syn_ground *out, const syn_spikes *calm, const syn_spikes *all,
                           const syn_ground_options *options, syn_budget *budget,
                           const syn_watch *watch);

/* The peaks of the recording, found on processors. */
syn_status syn_pair_source_recording(void *self, syn_peaks *out, const syn_watch *watch);

/* The peaks of the recording: those of its source, but those of processors where
   responses to events are known, which no other place knows. */
syn_status syn_ground_recording(syn_ground *ground, syn_peaks *out,
                                const syn_watch *watch);

#endif
