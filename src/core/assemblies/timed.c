/* Counts the lags of one pair. For each spike of the first unit, the spikes of the second
   within reach are some pieces of time, and what these have beyond is counted in a place
   of its own: so there is nothing to decide about each spike. A bin needs no division:
   where twice a tick is q * 2 bin + phase, the bin from one tick to another is the
   difference of their q, or one less where the later phase is the smaller one (see
   correlation/lags.c). */
#include "core/assemblies/timed.h"

#include <string.h>

enum {
    PIECES = 8,        /* of time in the reach of a lag */
    A_SPIKE = 2,       /* pieces for each spike, at most, */
    A_UNIT = 16,       /* and for each unit */
    LONGEST = 1 << 30  /* bins of a piece: fewer than half of 2^32 */
};

void syn_timed_free(syn_timed *t)
{
    if (!t->budget)
        return;
    SYN_GIVE(t->budget, t->first, t->tick, t->place, t->phase, t->from);
    memset(t, 0, sizeof *t);
}

/* Chooses how long pieces are, and finds where they begin. */
static syn_status cut(syn_timed *t, int64_t length)
{
    int64_t reach = syn_lag_reach(&t->options);
    double most = (double)A_SPIKE * t->first[t->units] + (double)A_UNIT * t->units;
    while (((int64_t)PIECES << t->shift < reach ||
            (double)(length >> t->shift) * t->units > most) &&
           (int64_t)1 << t->shift < t->options.bin * LONGEST)
        t->shift++;
    t->pieces = (uint32_t)(length >> t->shift) + 1;
    size_t row = (size_t)t->pieces + 1;
    SYN_TAKE(t->budget, t->from, t->units * row);
    for (uint32_t u = 0; u < t->units; u++) {
        uint32_t i = t->first[u], *from = t->from + u * row;
        for (uint32_t k = 0; k < t->pieces; k++) {
            while (i < t->first[u + 1] && (t->tick[i] - t->start) >> t->shift < k)
                i++;
            from[k] = i;
        }
        from[t->pieces] = t->first[u + 1];
    }
    return SYN_OK;
}

syn_status syn_timed_make(syn_timed *out, const syn_recording *recording,
                          const syn_lag_options *options, syn_budget *budget)
{
    size_t n = (size_t)recording->events + 1, units = recording->units;
    *out = (syn_timed){.options = *options, .units = recording->units, .budget = budget};
    SYN_TAKE(budget, out->first, units + 1);
    SYN_TAKE(budget, out->tick, n);
    SYN_TAKE(budget, out->place, n);
    SYN_TAKE(budget, out->phase, n);
    memcpy(out->first, recording->first, (units + 1) * sizeof *out->first);
    int64_t width = 2 * options->bin;
    for (uint32_t i = 0; i < recording->events; i++) {
        int64_t tick = out->tick[i] = recording->tick[recording->by_unit[i]];
        int64_t place = 2 * tick / width, phase = 2 * tick % width;
        place -= phase < 0;
        out->place[i] = (uint32_t)(uint64_t)place;
        out->phase[i] = (int32_t)(phase < 0 ? phase + width : phase);
    }
    if (recording->events == 0)
        return cut(out, 0);
    out->start = recording->tick[0];
    return cut(out, recording->tick[recording->events - 1] - out->start);
}

/* Counts the lags from a spike to all of a run. A lag half way between two bins is in the
   upper one; where it is below 0 it belongs to the lower one, which is farther from 0. */
static void count_run(const syn_timed *t, uint32_t spike, uint32_t from, uint32_t to,
                      int32_t *count)
{
    const uint32_t *place = t->place;
    const int32_t *later = t->phase;
    uint32_t lags = t->options.lags, beyond = 2 * lags + 1;
    /* Bin 0 begins half a bin before the spike. */
    int32_t bin = (int32_t)t->options.bin, phase = t->phase[spike] - bin;
    uint32_t zero = t->place[spike] - (phase < 0) - lags;
    phase += phase < 0 ? 2 * bin : 0;
    for (uint32_t j = from; j < to; j++) {
        uint32_t at = place[j] - zero - (later[j] < phase);
        at -= (later[j] == phase) & (at <= lags);
        count[at < beyond ? at : beyond]++;
    }
}

syn_status syn_timed_sums(const syn_timed *t, uint32_t a, uint32_t b, int32_t *sum)
{
    int64_t reach = syn_lag_reach(&t->options), total = 0;
    size_t beyond = 2 * (size_t)t->options.lags + 1;
    const uint32_t *from = t->from + b * ((size_t)t->pieces + 1);
    memset(sum, 0, (beyond + 1) * sizeof *sum);
    for (uint32_t i = t->first[a]; i < t->first[a + 1]; i++) {
        int64_t at = t->tick[i] - t->start, low = (at - reach) >> t->shift;
        int64_t high = ((at + reach) >> t->shift) + 1;
        uint32_t first = from[low > 0 ? low : 0];
        uint32_t last = from[high < t->pieces ? high : t->pieces];
        total += last - first;
        if (total > INT32_MAX)
            return SYN_TOO_LARGE;
        count_run(t, i, first, last, sum);
    }
    for (size_t k = 1; k < beyond; k++)
        sum[k] += sum[k - 1];
    return SYN_OK;
}
