/* The season of a series: the period whose means of places in one half of the rows
   predict the other half best. The place of a row is how many rows of its segment come
   before it, and rows whose places differ by whole periods are alike. */
#ifndef SYN_EDM_MODEL_SEASONS_H
#define SYN_EDM_MODEL_SEASONS_H

#include <stdint.h>

enum { SYN_SEASON_MOST = 100 };  /* rows of a period */

/* Rows whose values follow each other, and whose places do. */
typedef struct syn_run {
    uint32_t place, n;
} syn_run;

/* The sums and numbers of the values of each place, in both halves of the rows. */
typedef struct syn_places {
    double sum[2][SYN_SEASON_MOST];
    uint32_t count[2][SYN_SEASON_MOST];
} syn_places;

/* A series whose season is looked for. */
typedef struct syn_round {
    const double *value;   /* [n] those that are known, less their mean */
    uint32_t n;
    const syn_run *run;    /* [runs] of these values; the first `early` of them are the
                              first half of the rows, n / 2 */
    uint32_t runs, early;
    double squares;        /* sum of the squared values */
    double share[SYN_SEASON_MOST + 1];  /* of the squares, by period */
} syn_round;

/* Periods from 2 to this are looked at: those that come round four times. */
static inline uint32_t syn_season_longest(uint32_t n)
{
    return n / 4 < SYN_SEASON_MOST ? n / 4 : SYN_SEASON_MOST;
}

/* Fills `share` for one period, and for its half, the half of that and so on, as long as
   these are whole: their sums follow from those of the period. */
void syn_season_shares(syn_round *round, uint32_t period);

/* The best period once all shares are known, 0 where there is none, and what it explains.
   By chance a period of p in n rows explains about 2 sqrt(p) / n at most; three times
   that counts. A longer period has to explain SYN_SEASON_AHEAD more. */
#define SYN_SEASON_AHEAD 0.02
uint32_t syn_season_best(const syn_round *round, double *explained);

#endif
