/* How far the coincidences of two units at a lag, within a width, exceed what the lags
   beside it, and all other pairs, let expect. */
#ifndef SYN_ASSEMBLIES_PAIRS_H
#define SYN_ASSEMBLIES_PAIRS_H

#include <stdint.h>

#include "core/assemblies/ladder.h"
#include "core/base/budget.h"
#include "core/base/watch.h"
#include "core/spikes/recording.h"

/* Lag histograms of all pairs and what makes their excess comparable. */
typedef struct syn_lagged {
    syn_ladder ladder;
    int64_t bin;      /* ticks of a bin */
    uint32_t units;
    int threads;
    int32_t *sum;     /* [units * units * (2 * margin + 1)] counts of a lag and all lower
                         ones, of unit a and b at b * units + a; a < b alone are made */
    double *clumps;   /* [rungs * units] how much more the counts of a unit vary than
                         those of a Poisson process, at least 1 */
    double *common;   /* [places] excess that pairs have on the whole, as a share */
    double *spread;   /* [places] variance of this share over pairs */
    syn_budget *budget;
} syn_lagged;

/* The best lag of a pair on a rung: by how many bins the second unit comes after the
   first. */
typedef struct syn_lagged_peak {
    float z;      /* 0 where no lag has an excess */
    int32_t lag;
} syn_lagged_peak;

/* Room for pairs of `units` units. The caller keeps the budget for as long, and frees
   with syn_lagged_free(), also after an error: SYN_OVER_BUDGET or SYN_NO_MEMORY. */
syn_status syn_lagged_make(syn_lagged *out, const syn_ladder *ladder, int64_t bin,
                          uint32_t units, int threads, syn_budget *budget);
void syn_lagged_free(syn_lagged *pairs);

/* Bytes that syn_lagged_make() takes. */
double syn_lagged_bytes(const syn_ladder *ladder, double units);

/* Counts the lags in `recording`, with trials at least syn_lagged_reach() ticks apart,
   and finds what is common to pairs. SYN_TOO_LARGE where a count passes 2^31 - 1. */
syn_status syn_lagged_count(syn_lagged *pairs, const syn_recording *recording,
                           const syn_watch *watch);
int64_t syn_lagged_reach(const syn_ladder *ladder, int64_t bin);

/* Coincidences of b after a in a window, and what is expected of them. */
typedef struct syn_lagged_window {
    double count, expected;
    double z;  /* of the excess; standard normal, about, without any */
} syn_lagged_window;

/* `lag` from -ladder.lags to ladder.lags; a and b differ. */
syn_lagged_window syn_lagged_look(const syn_lagged *pairs, uint32_t a, uint32_t b,
                              uint32_t rung, int32_t lag);

/* Running sums of the histogram of a < b, lag 0; they stay until a few others were asked
   for. */
const int32_t *syn_lagged_sums(const syn_lagged *pairs, uint32_t a, uint32_t b);

/* The best lag of each pair on each rung: of b after a at
   peak[(rung * units + a) * units + b]. */
syn_status syn_lagged_best(const syn_lagged *pairs, syn_lagged_peak *peak,
                           const syn_watch *watch);

#endif
