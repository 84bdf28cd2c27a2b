/* What single series are like: do they repeat values, go round, drift. And series in
   standard units. */
#ifndef SYN_EDM_MODEL_TRAITS_H
#define SYN_EDM_MODEL_TRAITS_H

#include "core/base/watch.h"
#include "core/edm/model/series.h"

enum { SYN_TRAITS_LEAST = 8 };  /* values without which a series counts as constant */

typedef struct syn_traits {
    uint32_t known;    /* values that are not missing */
    int constant;      /* fewer than SYN_TRAITS_LEAST are known, or all are the same to
                          within the rounding of a mean; then all that follows is 0 */
    uint32_t period;   /* of the season, see seasons.h; 0 without one */
    double explained;  /* share of the variance that the season predicts */
    double drift;      /* see syn_drift() */
    double repeated;   /* share of the most common value */
} syn_traits;

/* What a series must have before a map says anything of it. */
typedef struct syn_activity {
    int constant;      /* no two values differ by more than the rounding of a mean */
    uint32_t events;   /* where more than half of the values are one and the same: how
                          often the series goes furthest from that, and back; else
                          INT32_MAX */
    uint32_t memory;   /* the lag at which its autocorrelation first is below 1 / e, or a
                          tenth of its rows; 0 where it is constant */
} syn_activity;

/* The activity of each series, as below. */
syn_status syn_activity_find(const syn_series *series, int threads,
                             const syn_watch *watch, syn_activity *out);

/* The traits of each series. `first` [steps] is the first row of the segment of each row,
   from 1, so at most one more than its index. Threads change no digit. SYN_NO_MEMORY;
   SYN_INTERRUPTED. */
syn_status syn_traits_find(const syn_series *series, const int *first, int threads,
                           const syn_watch *watch, syn_traits *out);

/* Each series less its mean, over its standard deviation, in `out` [n][steps]; what is
   missing stays as it is. A constant is 0 in all rows. */
syn_status syn_standard_units(const syn_series *series, int threads,
                              const syn_watch *watch, double *out);

/* For each row of each series the mean of the values at its place in the period, in `out`
   [n][steps]; NaN for a place without any. `period` [n] is from 1, for the mean of all,
   to SYN_SEASON_MOST. */
syn_status syn_season_means(const syn_series *series, const int *first,
                            const uint32_t *period, int threads, const syn_watch *watch,
                            double *out);

#endif
