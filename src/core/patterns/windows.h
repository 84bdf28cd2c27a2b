/* The windows of a raster: which hold an item, and what they hold, item by item. */
#ifndef SYN_PATTERNS_WINDOWS_H
#define SYN_PATTERNS_WINDOWS_H

#include "core/spikes/raster.h"

/* How many bins a unit fires in; 0 for UINT32_MAX, one that never does. */
static inline uint32_t syn_bins_of(const syn_raster *raster, uint32_t unit)
{
    return unit == UINT32_MAX ? 0
                              : raster->unit_first[unit + 1] - raster->unit_first[unit];
}

/* Copies of the windows that open at from[n], increasing, those in which `unit` fires at
   `lag`, to `to`, which may be `from`; returns how many. */
uint32_t syn_windows_with(const syn_raster *raster, const uint32_t *from, uint32_t n,
                          uint32_t unit, uint32_t lag, uint32_t *to);

typedef struct syn_bin_windows {
    const syn_raster *raster;
    uint32_t *end;         /* [bins] the kept bin after the window's last */
    uint32_t items;        /* there can be */
    uint32_t longest;      /* items in a window */
    syn_budget *budget;    /* what memory is taken from, for tallies too */
} syn_bin_windows;

/* The caller keeps the budget for as long, and frees with syn_bin_windows_free(), also
   after an error: SYN_TOO_LARGE when units * window passes 2^31 - 1, SYN_OVER_BUDGET or
   SYN_NO_MEMORY. */
syn_status syn_bin_windows_measure(syn_bin_windows *out, const syn_raster *raster,
                                   uint32_t window, syn_budget *budget);

void syn_bin_windows_free(syn_bin_windows *windows);

/* The items of the window opened at `bin`, increasing, to item[longest]; returns their
   number. */
uint32_t syn_bin_windows_read(const syn_bin_windows *windows, uint32_t bin,
                              uint32_t *item);

/* What counting items needs, for one thread. */
typedef struct syn_tally {
    uint32_t *count;       /* [items] zero between uses */
    uint32_t *touched;     /* [items] those counted */
    uint32_t *item;        /* [longest] of a window */
    uint32_t *bin;         /* [bins] a list of windows */
    syn_budget *budget;
} syn_tally;

/* The caller frees with syn_tally_free(), also after an error. */
syn_status syn_tally_start(syn_tally *out, const syn_bin_windows *windows);

void syn_tally_free(syn_tally *tally);

/* Counts the items of the `n` windows opened at bin[]; returns how many different ones
   there are, in `touched`. The caller sets their counts back to zero. */
uint32_t syn_bin_windows_tally(const syn_bin_windows *windows, syn_tally *tally,
                               const uint32_t *bin, uint32_t n);

/* Whether an item outside of item[size] is in at least `least` of the windows that hold
   it all, which are no fewer; the first of these items is at lag 0. */
int syn_bin_windows_superset(const syn_bin_windows *windows, syn_tally *tally,
                             const uint32_t *item, uint32_t size, uint32_t least);

#endif
