/* Sets of units in bins: binned spike trains, or the transactions of a market basket. */
#ifndef SYN_SPIKES_RASTER_H
#define SYN_SPIKES_RASTER_H

#include "core/base/arrays.h"
#include "core/base/budget.h"
#include "core/base/seek.h"
#include "core/spikes/spikes.h"

/* Bins are kept when they hold at least one unit, and each unit at most once. The window
   of length w that opens at kept bin b holds what lies in the kept bins from b on whose
   `number` is below number[b] + w: it ends early where the data or a trial ends. */
typedef struct syn_raster {
    uint32_t units;
    uint32_t bins;         /* kept bins */
    uint32_t events;
    int64_t *number;       /* [bins] increasing; windows do not reach across trials */
    int64_t *opens;        /* [bins] a bin's first tick; NULL for sets */
    uint32_t *first;       /* [bins + 1] where a bin's units begin in `unit` */
    uint32_t *unit;        /* [events] in [0, units), increasing within a bin */
    uint32_t *unit_first;  /* [units + 1] where a unit's bins begin in `unit_bin` */
    uint32_t *unit_bin;    /* [events] kept bins, unit after unit, increasing */
    syn_budget *budget;    /* what its memory is counted in, or NULL */
    size_t held;           /* bytes counted there */
    uint64_t *mark;        /* [units / 64 + 1] zero between bins that are filled */
    syn_arrays memory;
} syn_raster;

/* Bins sound spikes: bin k holds ticks from start + k * width on, counted from the start
   of their trial. Bins of different trials are numbered at least `window` apart. `budget`
   is what the memory is to be counted in, and kept for as long; NULL for none. The caller
   frees with syn_raster_free(), also after an error. SYN_TOO_LARGE from 2^31 - 1 spikes,
   or when bin numbers would pass 2^62; SYN_OVER_BUDGET; SYN_INTERRUPTED by the watch. */
syn_status syn_raster_bin(syn_raster *out, const syn_spikes *spikes, int64_t width,
                          int64_t window, syn_budget *budget, const syn_watch *watch);

/* Makes each of `n` sets a bin, with its place as the number; set s is item[first[s]] up
   to item[first[s + 1]], items in [0, items) in any order, repeats allowed. Empty sets
   are not kept. Freed, and limited, as above. */
syn_status syn_raster_sets(syn_raster *out, size_t n, const size_t *first,
                           const uint32_t *item, uint32_t items, syn_budget *budget);

/* An empty raster with room for `events` events of `units` units, and, when `timed`, for
   when bins open. Counted and freed as above. */
syn_status syn_raster_allocate(syn_raster *out, size_t events, uint32_t units, int timed,
                               syn_budget *budget);

/* Finishes a raster whose bins are filled, except first[bins]: fills that, `unit_first`
   and `unit_bin`. */
void syn_raster_index(syn_raster *raster);

void syn_raster_free(syn_raster *raster);

/* The kept bin after the last one in the window of length `window` opened at kept bin
   `bin`; `end` is that of an earlier bin, or 0. */
static inline uint32_t syn_raster_window_end(const syn_raster *r, uint32_t bin,
                                             int64_t window, uint32_t end)
{
    /* Less than to subtract: a window may be longer than bin numbers are large. */
    while (end < r->bins && r->number[end] - r->number[bin] < window)
        end++;
    return end;
}

/* The first of bin[from] .. bin[n - 1], kept bins in order, whose number is `number` or
   more, else `n`; near `from` as a rule. */
static inline uint32_t syn_raster_seek(const syn_raster *r, const uint32_t *bin,
                                       uint32_t from, uint32_t n, int64_t number)
{
    SYN_SEEK_NEAR(uint32_t, at, from, n, r->number[bin[at]] < number);
    return from;
}

#endif
