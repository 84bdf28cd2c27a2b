/* Sums of places are made a stretch of rows at a time: while the place does not begin
   anew, rows and places are next to each other in memory. */
#include "core/edm/model/seasons.h"

#include <math.h>
#include <string.h>

#include "core/base/simd.h"

static void count_run(uint32_t *count, uint32_t place, uint32_t n, uint32_t period)
{
    uint32_t times = n / period, rest = n % period;
    for (uint32_t i = 0; times > 0 && i < period; i++)
        count[i] += times;
    for (uint32_t i = 0; i < rest; i++)
        count[place + i < period ? place + i : place + i - period]++;
}

/* From the sums of a period to those of its half. */
static void fold(syn_places *of, uint32_t half_period)
{
    for (int half = 0; half < 2; half++)
        for (uint32_t i = 0; i < half_period; i++) {
            of->sum[half][i] += of->sum[half][half_period + i];
            of->count[half][i] += of->count[half][half_period + i];
        }
}

/* By how much of the sum of squares each half is nearer to the means of the other half
   than to the mean of all. */
static double share_of(const syn_places *of, uint32_t period, double squares)
{
    double change = 0;
    while (period > 0 && of->count[0][period - 1] + of->count[1][period - 1] == 0)
        period--;
    for (uint32_t i = 0; i < period; i++) {
        /* A place that one half lacks is one of which nothing is known. */
        if (of->count[0][i] == 0 || of->count[1][i] == 0)
            return 0;
        double n0 = of->count[0][i], n1 = of->count[1][i];
        double s0 = of->sum[0][i], s1 = of->sum[1][i];
        double m0 = s0 / n0, m1 = s1 / n1;
        change += n0 * m1 * m1 - 2 * s0 * m1 + n1 * m0 * m0 - 2 * s1 * m0;
    }
    return squares > 0 ? -change / squares : 0;
}

void syn_season_shares(syn_round *round, uint32_t period)
{
    syn_places places;
    const double *value = round->value;
    memset(&places, 0, sizeof places);
    for (uint32_t r = 0; r < round->runs; r++) {
        int half = r >= round->early;
        uint32_t place = round->run[r].place % period, left = round->run[r].n;
        count_run(places.count[half], place, left, period);
        while (left > 0) {
            uint32_t n = period - place < left ? period - place : left;
            double *to = places.sum[half] + place;
            uint32_t i = 0;
            for (; i + SYN_F64_LANES <= n; i += SYN_F64_LANES)
                syn_f64_store(to + i, syn_f64_load(to + i) + syn_f64_load(value + i));
            for (; i < n; i++)
                to[i] += value[i];
            value += n;
            left -= n;
            place = 0;
        }
    }
    round->share[period] = share_of(&places, period, round->squares);
    while (period % 2 == 0 && period > 2) {
        period /= 2;
        fold(&places, period);
        round->share[period] = share_of(&places, period, round->squares);
    }
}

uint32_t syn_season_best(const syn_round *round, double *explained)
{
    uint32_t best = 0, longest = syn_season_longest(round->n);
    *explained = 0;
    for (uint32_t period = 2; period <= longest; period++) {
        double chance = 6 * sqrt(period) / round->n;
        double enough = fmax(*explained + SYN_SEASON_AHEAD, chance);
        if (round->share[period] > enough) {
            best = period;
            *explained = round->share[period];
        }
    }
    return best;
}
