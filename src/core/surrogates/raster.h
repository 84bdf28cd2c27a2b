/* Surrogates in bins, one after the other in the same memory. */
#ifndef SYN_SURROGATES_RASTER_H
#define SYN_SURROGATES_RASTER_H

#include "core/spikes/raster.h"
#include "core/surrogates/surrogates.h"

/* One for each thread. */
typedef struct syn_surrogate_binner {
    const syn_trains *trains;
    int64_t width, window;
    uint64_t *base;      /* [trials + 1] the first bin of a trial, counted over all */
    uint64_t *key;       /* [events] bin << unit_bits | unit */
    uint64_t *other;     /* [events] */
    int unit_bits, bin_bits;
    syn_raster raster;   /* of the last surrogate */
    syn_budget *budget;  /* what all this is taken from */
} syn_surrogate_binner;

/* Bins of `width` ticks from the start of each trial on; those of different trials are
   numbered at least `window` apart. `trains` and `budget` are to be kept for as long. The
   caller frees with syn_surrogate_binner_free(), also after an error. SYN_OVER_BUDGET,
   SYN_NO_MEMORY, or SYN_TOO_LARGE for so many bins and units that a pair of them does not
   fit 63 bits. */
syn_status syn_surrogate_binner_make(syn_surrogate_binner *out, const syn_trains *trains,
                                     int64_t width, int64_t window, syn_budget *budget);

void syn_surrogate_binner_free(syn_surrogate_binner *binner);

/* Makes binner->raster what syn_raster_bin() makes of the spikes, with ticks `tick` as
   syn_surrogate_ticks() gives them. It stays until the next call; do not free it. */
void syn_surrogate_raster(syn_surrogate_binner *binner, const int64_t *tick);

#endif
