/* Peaks: windows of lag histograms whose excess is larger than that of windows around
   them; and where they come from, the recording and its surrogates. */
#ifndef SYN_ASSEMBLIES_PEAKS_H
#define SYN_ASSEMBLIES_PEAKS_H

#include <math.h>

#include "core/assemblies/ladder.h"
#include "core/base/budget.h"
#include "core/base/watch.h"

#ifndef SYN_EVERYWHERE
#define SYN_EVERYWHERE static inline
#endif

enum {
    SYN_PEAK_SCALE = 1024,  /* z is a whole number of parts so small */
    SYN_PEAK_MOST = 30 * SYN_PEAK_SCALE
};

/* A window at a lag of its rung's grid whose z is at least that which was asked for, with
   no larger one on the same rung within half a width (one step at least) of it; where two
   are equal, the one at the lower lag is the peak. */
typedef struct syn_peak {
    int32_t lag;    /* bins, from -lags to lags */
    uint16_t rung;
    int16_t z;      /* in parts of SYN_PEAK_SCALE, at most SYN_PEAK_MOST */
} syn_peak;

/* The peaks of all pairs. Those of a pair a < b, whose lags are those of b after a, are
   peak[first[p]] to peak[first[p + 1] - 1], p = syn_pair_number(a, b), by rung, then by
   lag. */
typedef struct syn_peaks {
    uint32_t units;
    size_t *first;     /* [pairs + 1] */
    syn_peak *peak;
    size_t room;       /* peaks that there is room for */
    syn_budget *budget;
} syn_peaks;

SYN_EVERYWHERE size_t syn_pair_number(uint32_t a, uint32_t b)
{
    return (size_t)b * (b - 1) / 2 + a;
}

SYN_EVERYWHERE size_t syn_pair_count(uint32_t units)
{
    return (size_t)units * (units > 0 ? units - 1 : 0) / 2;
}

/* The units a < b of the pair with this number. */
SYN_EVERYWHERE void syn_pair_units(size_t pair, uint32_t *a, uint32_t *b)
{
    *b = (uint32_t)((1 + sqrt(1 + 8.0 * (double)pair)) / 2);
    while (syn_pair_number(0, *b) > pair)
        --*b;
    while (syn_pair_number(0, *b + 1) <= pair)
        ++*b;
    *a = (uint32_t)(pair - syn_pair_number(0, *b));
}

/* The z of a window in parts of SYN_PEAK_SCALE; z is at least 0. */
SYN_EVERYWHERE int32_t syn_peak_z(double z)
{
    return z >= 30 ? SYN_PEAK_MOST : (int32_t)(z * SYN_PEAK_SCALE + 0.5);
}

/* How many steps of the grid on either side a peak is compared with. */
SYN_EVERYWHERE int32_t syn_peak_reach(const syn_ladder *ladder, uint32_t rung)
{
    uint32_t steps = ladder->half[rung] / ladder->step[rung];
    return steps > 1 ? (int32_t)steps : 1;
}

/* No peaks yet, of `units` units: all of `first` is 0, and peaks are added
   in the order of pairs. The caller keeps the budget for as long, and
   frees, also after an error: SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_peaks_make(syn_peaks *out, uint32_t units, syn_budget *budget);
void syn_peaks_free(syn_peaks *peaks);

/* Where peaks come from. What `self` points to is made and freed by whoever makes the
   source. Lists are made by the call, and freed by the caller with syn_peaks_free(), also
   after an error; they count in the budget that the source was made with. */
typedef struct syn_peak_source {
    void *self;

    /* The peaks of the recording. */
    syn_status (*recording)(void *self, syn_peaks *out, const syn_watch *watch);

    /* The peaks of the surrogates `from`, `from` + 1 and so on: of `n` of them, or of
       fewer where the budget does not have room for so many, but of one at least; `made`
       says of how many. `out` has room for n lists; all of them may be freed, also those
       that were not made. To be called after recording(). */
    syn_status (*surrogates)(void *self, uint64_t from, uint32_t n, syn_peaks *out,
                             uint32_t *made, const syn_watch *watch);
} syn_peak_source;

#endif
