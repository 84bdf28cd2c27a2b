/* Lag histograms of a pair of units in many surrogates at once. */
#ifndef SYN_ASSEMBLIES_CIRCULAR_H
#define SYN_ASSEMBLIES_CIRCULAR_H

#include "core/assemblies/binned.h"
#include "core/assemblies/lanes.h"

enum { SYN_CIRCULAR_ROWS = 32 };  /* rows added together at most */

/* One thread's room, and how far it is with a pair. */
typedef struct syn_circular {
    const syn_binned *binned;
    const syn_lanes *lanes;
    uint64_t key;
    uint32_t margin;
    size_t length;     /* counts of a histogram, and some beyond them */
    uint64_t from;     /* the first surrogate */
    uint32_t n;        /* surrogates */

    /* rows of counts that are still to be added */
    uint8_t *cell;     /* [room] */
    size_t room, used;
    uint8_t *twice;    /* [2 * longest row] */
    uint32_t rows;
    uint32_t most;     /* a count of all rows together is at most this */
    const uint8_t *row[SYN_CIRCULAR_ROWS];
    uint32_t *start;   /* [SYN_CIRCULAR_ROWS * n] where a surrogate begins in a row */

    /* histograms, each as syn_lanes.add() has it */
    uint16_t *sum;     /* [n * length] */
    uint32_t bound;    /* a count in `sum` is at most this */
    uint32_t *wide;    /* [n * length] what did not fit there; NULL while all did */
    int any_wide;      /* whether there is anything in it */

    uint32_t *word;    /* [2 * 4 * n] random numbers of both units for four segments */
    uint32_t *lag;     /* [length / 64] lags of few pairs of spikes */
    uint32_t segment;  /* the next one of an unfinished pair */
    uint32_t surrogate; /* and the next one in it */
    int begun;         /* whether these are set */
    syn_budget *budget;
} syn_circular;

/* Room for `n` surrogates at a time, and lags up to `margin` bins. The caller keeps what
   is pointed to for as long. SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_circular_make(syn_circular *out, const syn_binned *binned,
                             const syn_lanes *lanes, uint64_t key, uint32_t margin,
                             uint32_t n, syn_budget *budget);

/* Bytes that syn_circular_make() takes for each surrogate, and for any number of them. */
double syn_circular_bytes(uint32_t margin, uint32_t n);

/* Counts the lags of b after a in surrogates `from` to `from` + n - 1. SYN_UNFINISHED
   after some 50 ms: to be called again with the same pair. */
syn_status syn_circular_count(syn_circular *circular, uint32_t a, uint32_t b,
                              uint64_t from);

/* Running sums of the histogram of surrogate `from` + i, from lag -margin to margin.
   SYN_TOO_LARGE where they pass 2^31 - 1. */
syn_status syn_circular_sums(const syn_circular *circular, uint32_t i, int32_t *sum);

#endif
