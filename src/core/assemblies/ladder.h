/* The widths and lags at which pairs of units are compared: a ladder of widths, each
   about twice the one before, and for each width lags that are a quarter of it apart. */
#ifndef SYN_ASSEMBLIES_LADDER_H
#define SYN_ASSEMBLIES_LADDER_H

#include <stdint.h>

enum {
    SYN_LADDER_RUNGS = 16,  /* widths at most */
    SYN_LADDER_BESIDE = 2   /* a window is compared with as many widths on each side */
};

/* All lengths are in bins of the lag histograms. A window of rung r at lag k covers the
   bins from k - half to k + half. What it would hold by chance is told from the bins
   beside it: on each side SYN_LADDER_BESIDE widths, from half a width away on. */
typedef struct syn_ladder {
    uint32_t lags;                         /* lags from -lags to lags are looked at */
    uint32_t rungs;
    uint32_t half[SYN_LADDER_RUNGS];       /* a width is 2 * half + 1 bins */
    uint32_t step[SYN_LADDER_RUNGS];       /* bins from one lag to the next */
    uint32_t reach[SYN_LADDER_RUNGS];      /* lags on each side of 0 */
    uint32_t first[SYN_LADDER_RUNGS + 1];  /* places of earlier rungs: one a lag */
    uint32_t margin;                       /* bins that histograms have on each side */
} syn_ladder;

static inline uint32_t syn_ladder_width(const syn_ladder *l, uint32_t rung)
{
    return 2 * l->half[rung] + 1;
}

/* Place of a lag, in bins, among all places: that of the nearest one on the rung. */
static inline uint32_t syn_ladder_place(const syn_ladder *l, uint32_t rung, int32_t lag)
{
    int32_t step = (int32_t)l->step[rung], reach = (int32_t)l->reach[rung];
    int32_t k = (lag + (lag < 0 ? -step : step) / 2) / step;
    k = k > reach ? reach : k < -reach ? -reach : k;
    return l->first[rung] + (uint32_t)(k + reach);
}

#endif
