/* The scan of many pairs of units on processors. */
#ifndef SYN_SYNAPSES_PAIRS_H
#define SYN_SYNAPSES_PAIRS_H

#include "core/base/budget.h"
#include "core/base/watch.h"
#include "core/synapses/scan.h"
#include "core/synapses/smooth.h"

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

/* What is looked at, and where the results go. The end of the budget frees the tables and
   the smoother, and all else that the functions that take this hold. */
typedef struct syn_scan_work {
    syn_budget budget;
    syn_scan_tables tables;
    syn_smoother smoother;  /* of the lags of `counts` */
    syn_lag_counts counts;  /* of the lags of the tables or more */
    syn_unit_pairs pairs;
    syn_scan_columns out;
    int threads;
    const syn_watch *watch;
} syn_scan_work;

/* Fills the tables for these options. SYN_NO_MEMORY; SYN_OVER_BUDGET. */
syn_status syn_scan_tables_make(syn_scan_work *work, const syn_scan_options *o);

/* The counts of a pair from lag 0 on, which go both ways. */
static inline const int32_t *syn_lag_counts_of(const syn_lag_counts *c, int32_t a,
                                               int32_t b)
{
    size_t length = 2 * (size_t)c->lags + 1;
    return c->count + ((size_t)b * c->units + (size_t)a) * length + c->lags;
}

/* The counts of a pair as a scan takes them: x[side][t] for t from 0 to the lags of the
   tables. */
void syn_scan_sides(const syn_scan_work *work, size_t p,
                    double x[2][SYN_SCAN_MOST_LAGS + 1]);

/* Scans such counts, and stores what was found as that of pair p. */
void syn_scan_one(const syn_scan_work *work, double x[2][SYN_SCAN_MOST_LAGS + 1],
                  size_t p);

/* Scans all pairs. SYN_INTERRUPTED. */
syn_status syn_scan_pairs(const syn_scan_work *work);

#endif
