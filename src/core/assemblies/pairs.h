/* How far the coincidences of two units at a lag, within a width, exceed what the lags
   beside it, and all other pairs, let expect. */
#ifndef SYN_ASSEMBLIES_PAIRS_H
#define SYN_ASSEMBLIES_PAIRS_H

#include "core/assemblies/ladder.h"
#include "core/assemblies/locked.h"
#include "core/correlation/lags.h"

/* The spikes of a recording, unit after unit, made ready for counting. Bins of lags are
   those of syn_lag_options. */
typedef struct syn_timed {
    syn_lag_options options;
    uint32_t units;
    uint32_t *first;   /* [units + 1] */
    int64_t *tick;     /* [events] increasing within a unit */
    uint32_t *place;   /* [events] twice a tick over twice a bin, modulo 2^32 */
    int32_t *phase;    /* [events] the remainder of that division */
    int shift;         /* time is cut into pieces of 2^shift ticks */
    uint32_t pieces;
    int64_t start;     /* the first tick of all */
    uint32_t *from;    /* [units * (pieces + 1)] the first spike of a unit in a piece */
} syn_timed;

/* Counts the lags of b after a, from -lags to lags, as running sums: sum[k] has those of
   all bins up to it, for k up to 2 * lags; there is room for one more. SYN_TOO_LARGE
   where they pass 2^31 - 1, or nearly so. */
syn_status syn_timed_sums(const syn_timed *timed, uint32_t a, uint32_t b, int32_t *sum);

/* Lag histograms of pairs, and what makes their excess comparable. A histogram is counted
   when it is first asked for, and kept until its room is needed for another: so a look is
   for one thread at a time. */
typedef struct syn_lagged {
    syn_ladder ladder;
    int64_t bin;      /* ticks of a bin */
    uint32_t units;
    int threads;
    syn_timed timed;
    syn_locked *locked;  /* NULL where responses to events are not known */
    syn_timed moved;  /* of locked->both */
    double *clumps;   /* [rungs * units] how much more the counts of a unit vary than
                         those of a Poisson process, at least 1 */
    double *common;   /* [places] excess that pairs have on the whole, as a share; of few
                         or independent pairs what the ends of trials make of it */
    double *spread;   /* [places] variance of this share over pairs, and its own */
    struct syn_lagged_store *store;
    syn_budget *budget;
} syn_lagged;

/* Room for pairs of `units` units, of which `most` histograms are kept at most; `locked`
   or NULL. The caller keeps it and the budget, whose end frees the room, for as long:
   SYN_OVER_BUDGET or SYN_NO_MEMORY. */
syn_status syn_lagged_make(syn_lagged *out, const syn_ladder *ladder, int64_t bin,
                           uint32_t units, syn_locked *locked, int threads, size_t most,
                           syn_budget *budget);

/* Takes the spikes of `recording`, as of syn_segments, with trials at least
   syn_lagged_reach() ticks apart, and finds what is common to pairs; `trials` says how
   long they are. SYN_TOO_LARGE where the lags of a pair are more than 2^31 - 1. */
syn_status syn_lagged_count(syn_lagged *pairs, const syn_recording *recording,
                           const syn_spikes *trials, const syn_watch *watch);

/* Makes pairs of the same units in other trials: `to`, where `pairs` had `from`. Clumps
   and the common share of pairs are copied from `pairs`, and the share is corrected for
   the new ends of trials. The store keeps `most` histograms at most. Errors and memory
   are those of syn_lagged_make(). */
syn_status syn_lagged_again(syn_lagged *out, const syn_lagged *pairs, size_t most,
                            const syn_recording *recording, syn_locked *locked,
                            const syn_spikes *from, const syn_spikes *to,
                            syn_budget *budget);
int64_t syn_lagged_reach(const syn_ladder *ladder, int64_t bin);

/* Entries of the running sums of a pair, one more than syn_timed_sums() fills; after
   those of its histogram come those of its predictor, where responses are known. */
static inline size_t syn_lagged_length(const syn_lagged *p)
{
    return (2 * (size_t)p->ladder.margin + 2) * (p->locked ? 2 : 1);
}

/* The running sums of a < b. SYN_TOO_LARGE. */
syn_status syn_lagged_sums(const syn_lagged *pairs, uint32_t a, uint32_t b, int32_t *sum);

/* Lag 0 of the predictor, of the running sums from lag 0 of a pair; or NULL. */
static inline const int32_t *syn_lagged_predicted(const syn_lagged *p, const int32_t *sum)
{
    return p->locked ? sum + 2 * (size_t)p->ladder.margin + 2 : NULL;
}

/* By how much the variance of counts is larger, as the predictor is itself counted: by
   one over the events that its spikes come from, and as much again, as a ratio of counts
   is skewed. With the one alone there are a tenth more peaks than in surrogates, with
   both a tenth less. */
static inline double syn_lagged_unsure(const syn_lagged *p)
{
    return p->locked ? 1 + 2 * p->locked->unsure : 1;
}

/* Coincidences of b after a in a window, and what is expected of them. */
typedef struct syn_lagged_window {
    double count, expected;
    double z;  /* of the excess; standard normal, about, without any */
} syn_lagged_window;

/* `lag` from -ladder.lags to ladder.lags; a and b differ. */
syn_lagged_window syn_lagged_look(const syn_lagged *pairs, uint32_t a, uint32_t b,
                              uint32_t rung, int32_t lag);

/* Adds 1 to passing[k], for k below n, where z of the window at lag from + k * step may
   be above `z`, 1 at least. */
void syn_lagged_may_pass(const syn_lagged *pairs, uint32_t a, uint32_t b, uint32_t rung,
                         int32_t from, int32_t step, int32_t n, double z,
                         uint8_t *passing);

/* Counts, with all threads, the histograms of units[n] with all others: then these may be
   looked at by several threads at once, until another one is looked at. Without room for
   so many `*kept` is 0. SYN_OVER_BUDGET, SYN_NO_MEMORY, SYN_INTERRUPTED. */
syn_status syn_lagged_keep(const syn_lagged *pairs, const uint32_t *unit, uint32_t n,
                           int *kept, const syn_watch *watch);

#endif
