/* Counts the lags of one pair. For each spike of the first unit, the spikes of the second
   within reach are a run that moves on with it. A bin needs no division: where twice a
   tick is q * 2 bin + phase, the bin from one tick to another is the difference of their
   q, or one less where the later phase is the smaller one (see correlation/lags.c). */
#include "core/assemblies/timed.h"

#include <string.h>

enum { TOGETHER = 256 };  /* places worked out at a time */

void syn_timed_free(syn_timed *t)
{
    if (!t->budget)
        return;
    syn_budget_free(t->budget, t->first);
    syn_budget_free(t->budget, t->tick);
    syn_budget_free(t->budget, t->place);
    syn_budget_free(t->budget, t->phase);
    memset(t, 0, sizeof *t);
}

syn_status syn_timed_make(syn_timed *out, const syn_recording *recording,
                          const syn_lag_options *options, syn_budget *budget)
{
    size_t n = (size_t)recording->events + 1, units = recording->units;
    *out = (syn_timed){.options = *options, .units = recording->units, .budget = budget};
    int ok = (out->first = syn_budget_alloc(budget, units + 1, sizeof *out->first)) &&
             (out->tick = syn_budget_alloc(budget, n, sizeof *out->tick)) &&
             (out->place = syn_budget_alloc(budget, n, sizeof *out->place)) &&
             (out->phase = syn_budget_alloc(budget, n, sizeof *out->phase));
    if (!ok)
        return syn_budget_refusal(budget);
    memcpy(out->first, recording->first, (units + 1) * sizeof *out->first);
    int64_t width = 2 * options->bin;
    for (uint32_t i = 0; i < recording->events; i++) {
        int64_t tick = out->tick[i] = recording->tick[recording->by_unit[i]];
        int64_t place = 2 * tick / width, phase = 2 * tick % width;
        place -= phase < 0;
        out->place[i] = (uint32_t)(uint64_t)place;
        out->phase[i] = (int32_t)(phase < 0 ? phase + width : phase);
    }
    return SYN_OK;
}

/* Counts the lags to spikes `from` to `to` - 1, all of them on one side; a lag half way
   between two bins goes to the one farther from 0, so `before` is 1 for lags below 0. */
static void count_run(const syn_timed *t, uint32_t from, uint32_t to, uint32_t zero,
                      int32_t phase, int before, int32_t *count)
{
    phase += before;
    while (from < to) {
        uint32_t at[TOGETHER], n = to - from < TOGETHER ? to - from : TOGETHER;
        const uint32_t *place = t->place + from;
        const int32_t *later = t->phase + from;
        for (uint32_t j = 0; j < n; j++)
            at[j] = place[j] - zero - (later[j] < phase);
        for (uint32_t j = 0; j < n; j++)
            count[at[j]]++;
        from += n;
    }
}

syn_status syn_timed_sums(const syn_timed *t, uint32_t a, uint32_t b, int32_t *sum)
{
    const int64_t *tick = t->tick;
    int64_t reach = syn_lag_reach(&t->options), bin = t->options.bin, total = 0;
    uint32_t lags = t->options.lags, end = t->first[b + 1];
    uint32_t low = t->first[b], middle = low, high = low;
    memset(sum, 0, (2 * (size_t)lags + 1) * sizeof *sum);
    for (uint32_t i = t->first[a]; i < t->first[a + 1]; i++) {
        while (low < end && tick[low] <= tick[i] - reach)
            low++;
        while (middle < end && tick[middle] < tick[i])
            middle++;
        while (high < end && tick[high] < tick[i] + reach)
            high++;
        /* Bin 0 begins half a bin before the spike. */
        int32_t phase = t->phase[i] - (int32_t)bin;
        uint32_t zero = t->place[i] - (phase < 0) - lags;
        phase += phase < 0 ? 2 * (int32_t)bin : 0;
        count_run(t, low, middle, zero, phase, 1, sum);
        count_run(t, middle, high, zero, phase, 0, sum);
        total += high - low;
        if (total > INT32_MAX)
            return SYN_TOO_LARGE;
    }
    for (size_t k = 1; k <= 2 * (size_t)lags; k++)
        sum[k] += sum[k - 1];
    return SYN_OK;
}
