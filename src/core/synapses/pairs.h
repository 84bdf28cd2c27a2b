/* The scan of many pairs of units on processors. */
#ifndef SYN_SYNAPSES_PAIRS_H
#define SYN_SYNAPSES_PAIRS_H

#include "core/base/budget.h"
#include "core/base/watch.h"
#include "core/synapses/scan.h"

/* Fills tables for these options in memory of the budget. The caller frees, also after
   an error. SYN_NO_MEMORY; SYN_OVER_BUDGET. */
syn_status syn_scan_tables_make(syn_scan_tables *out, const syn_scan_options *o,
                                syn_budget *budget);
void syn_scan_tables_free(syn_scan_tables *tables, syn_budget *budget);

/* Scans one pair: x[side][t] for t from 0 to `lags`. */
void syn_scan_one(const syn_scan_tables *tables, const double *const x[2],
                  syn_scan_pair *out);

/* Results by direction: at 2 * p + side for pair p. Arrays of the caller's; those that
   are NULL are not filled. */
typedef struct syn_scan_columns {
    double *z[2], *count[2], *expected[2], *noise[2];  /* up, down */
    int32_t *lo[2];
    double *spread;  /* by pair */
} syn_scan_columns;

void syn_scan_store(const syn_scan_pair *pair, size_t p, const syn_scan_columns *to);

/* Counts as syn_lag_histograms() gives them, of `lags` bins on each side; those of the
   spikes of b after one of a are at count[(b * units + a) * (2 * lags + 1) + lags +
   k]. */
typedef struct syn_lag_counts {
    const int32_t *count;
    uint32_t units, lags;
} syn_lag_counts;

/* Pairs of units a[p] and b[p], which differ. */
typedef struct syn_unit_pairs {
    size_t n;
    const int32_t *a, *b;
} syn_unit_pairs;

/* The counts of a pair from lag 0 on, which go both ways. */
static inline const int32_t *syn_lag_counts_of(const syn_lag_counts *c, int32_t a,
                                               int32_t b)
{
    size_t length = 2 * (size_t)c->lags + 1;
    return c->count + ((size_t)b * c->units + (size_t)a) * length + c->lags;
}

/* The counts of a pair as a scan takes them: x[side][t] for t from 0 to `lags`. */
static inline void syn_lag_counts_sides(const syn_lag_counts *c, int32_t a, int32_t b,
                                        uint32_t lags,
                                        double x[2][SYN_SCAN_MOST_LAGS + 1])
{
    const int32_t *count = syn_lag_counts_of(c, a, b);
    for (int32_t t = 0; t <= (int32_t)lags; t++) {
        x[0][t] = count[t];
        x[1][t] = count[-t];
    }
}

/* Scans pairs. `counts` have the lags of the tables or more. SYN_INTERRUPTED. */
syn_status syn_scan_pairs(const syn_scan_tables *tables, const syn_lag_counts *counts,
                          const syn_unit_pairs *pairs, const syn_scan_columns *out,
                          int threads, const syn_watch *watch);

#endif
