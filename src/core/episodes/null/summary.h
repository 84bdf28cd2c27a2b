/* Statistics of counts in surrogates, for each episode and for all episodes of a size. */
#ifndef SYN_EPISODES_NULL_SUMMARY_H
#define SYN_EPISODES_NULL_SUMMARY_H

#include <stdint.h>

#include "core/base/watch.h"

typedef struct syn_null_data {
    size_t episodes, n;        /* n surrogates, at least 1 */
    const uint32_t *count;     /* [n][episodes] */
    const uint32_t *observed;  /* [episodes] in the recording */
    const uint32_t *size;      /* [episodes] from 1 to `sizes` */
    uint32_t sizes;
    size_t probs;
    const double *prob;        /* [probs] from 0 to 1 */
} syn_null_data;

/* The score of a count c is (c - m) / max(s, 1), with m and s the mean and the standard
   deviation over the surrogates and the recording together: under the null hypothesis
   all n + 1 of them have the same distribution. An s below one occurrence is taken as
   one, as otherwise a rare episode that occurs once could have the largest score. */
typedef struct syn_null_summary {
    double *mean, *sd;         /* [episodes] over surrogates; sd NaN when n is 1 */
    double *score;             /* [episodes] of the observed count */
    uint32_t *reached;         /* [episodes] surrogates that reach `observed` */
    uint32_t *quantile;        /* [probs][episodes] least count that a share p of the
                                  surrogates does not exceed */
    double *maximum;           /* [n][sizes] largest score; minus infinity for none */
} syn_null_summary;

/* Fills the caller's arrays in `out`. SYN_NO_MEMORY, or SYN_INTERRUPTED by the watch. */
syn_status syn_null_summarise(const syn_null_data *data, int threads,
                              const syn_watch *watch, syn_null_summary *out);

#endif
