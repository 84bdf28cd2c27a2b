/* One pass looks at all spikes: whether any is wrong, the first and the last tick, and
   whether they are in order. Those that are not are packed into a word each, time above
   unit, sorted, and unpacked. The memory of the times that come out serves as the second
   array of the sort. */
#include "core/spikes/arrange.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/base/radix.h"

/* What a step found. */
typedef struct span {
    double low, high;
    syn_spikes_fault fault;
    int sorted;
    size_t twice;  /* how many are the one in front of them once more */
} span;

typedef struct work {
    const syn_loose *given;
    const syn_clock *clock;
    span *spans;
    size_t n;
    double low;
    int unit_bits;
    const uint64_t *key;
    uint64_t *packed;
    double *time;
    int *unit;
    int repeats;     /* whether spikes are there twice: then spans come one by one, */
    size_t written;  /* after so many spikes, */
    double before;   /* of which the last is at this tick */
} work;

static double tick_at(const syn_loose *s, size_t i)
{
    return syn_scaled(s->time[i], &s->scale);
}

/* 0 where there is none. */
static int unit_at(const syn_loose *s, size_t i)
{
    int code = s->code[i];
    return code >= 1 && (uint32_t)code <= s->codes ? s->unit[code - 1] : 0;
}

/* ---- looking ---- */

static syn_spikes_fault fault_of(double tick, int unit, const syn_clock *clock)
{
    if (!isfinite(tick))
        return SYN_SPIKES_NOT_FINITE;
    /* From 2^51 on, two ticks may share one double of seconds. */
    if (fabs(tick) >= SYN_MOST_TICK ||
        (fabs(tick) >= SYN_MOST_TICK / 4 &&
         syn_tick_of(syn_seconds_of(tick, clock), clock) != tick))
        return SYN_SPIKES_FAR;
    return unit < 1 ? SYN_SPIKES_UNIT : SYN_SPIKES_SOUND;
}

static syn_status look(void *context, size_t item, int worker)
{
    (void)worker;
    work *w = context;
    const syn_loose *s = w->given;
    size_t from = item * SYN_SPIKES_A_SPAN, to = syn_spikes_end(w->n, item), twice = 0;
    double before = from > 0 ? tick_at(s, from - 1) : -INFINITY;
    int unit_before = from > 0 ? unit_at(s, from - 1) : 0, unsorted = 0;
    span out = {.low = INFINITY, .high = -INFINITY, .fault = SYN_SPIKES_SOUND};
    for (size_t i = from; i < to; i++) {
        double tick = tick_at(s, i);
        int unit = unit_at(s, i);
        if (!(fabs(tick) < SYN_MOST_TICK / 4) || unit < 1) {
            syn_spikes_fault fault = fault_of(tick, unit, w->clock);
            if (fault != SYN_SPIKES_SOUND) {
                out.fault = fault;
                break;
            }
        }
        out.low = tick < out.low ? tick : out.low;
        out.high = tick > out.high ? tick : out.high;
        unsorted |= (tick < before) | ((tick == before) & (unit < unit_before));
        twice += (tick == before) & (unit == unit_before);
        before = tick;
        unit_before = unit;
    }
    out.sorted = !unsorted;
    out.twice = twice;
    w->spans[item] = out;
    return SYN_OK;
}

/* What the steps found together; `low` and `high` stay infinite without spikes. */
static span sum_up(const work *w)
{
    span all = {.low = INFINITY, .high = -INFINITY, .sorted = 1};
    for (size_t k = 0; k < syn_spikes_spans(w->n); k++) {
        const span *one = &w->spans[k];
        if (all.fault == SYN_SPIKES_SOUND)
            all.fault = one->fault;
        all.low = one->low < all.low ? one->low : all.low;
        all.high = one->high > all.high ? one->high : all.high;
        all.sorted &= one->sorted;
        all.twice += one->twice;
    }
    return all;
}

static int tick_bits(const syn_arranged *found)
{
    return found->high >= found->low
               ? syn_radix_bits((uint64_t)(found->high - found->low) + 1)
               : 0;
}

syn_status syn_spikes_survey(syn_arranged *out, const syn_loose *given,
                             const syn_clock *clock, int threads, const syn_watch *watch)
{
    work w = {.given = given, .clock = clock, .n = given->n};
    SYN_NEW(w.spans, syn_spikes_spans(w.n) + 1);
    syn_status status =
        syn_parallel_for(syn_spikes_spans(w.n), threads, watch, "spikes", look, &w);
    if (status == SYN_OK) {
        span all = sum_up(&w);
        out->fault = all.fault;
        out->sorted = all.sorted;
        out->low = all.low;
        out->high = all.high;
        out->wide = !all.sorted && tick_bits(out) + syn_radix_bits(given->units) > 64;
        out->n = given->n - (all.sorted ? all.twice : 0);
    }
    free(w.spans);
    return status;
}

/* ---- sorting ---- */

static syn_status pack(void *context, size_t item, int worker)
{
    (void)worker;
    work *w = context;
    for (size_t i = item * SYN_SPIKES_A_SPAN; i < syn_spikes_end(w->n, item); i++) {
        uint64_t tick = (uint64_t)(tick_at(w->given, i) - w->low);
        w->packed[i] = tick << w->unit_bits | (uint64_t)(unit_at(w->given, i) - 1);
    }
    return SYN_OK;
}

/* How many keys in each step are the one in front of them. */
static syn_status count_twice(void *context, size_t item, int worker)
{
    (void)worker;
    work *w = context;
    size_t twice = 0, from = item > 0 ? item * SYN_SPIKES_A_SPAN : 1;
    for (size_t i = from; i < syn_spikes_end(w->n, item); i++)
        twice += w->key[i] == w->key[i - 1];
    w->spans[item].twice = twice;
    return SYN_OK;
}

/* ---- writing ---- */

/* Writes the spikes of a span, each once: those given, or those of the sorted keys. */
static syn_status write_span(void *context, size_t item, int worker)
{
    (void)worker;
    work *w = context;
    uint64_t below = ((uint64_t)1 << w->unit_bits) - 1;
    size_t from = item * SYN_SPIKES_A_SPAN, at = w->repeats ? w->written : from;
    for (size_t i = from; i < syn_spikes_end(w->n, item); i++) {
        double tick;
        int unit;
        if (w->key) {
            uint64_t key;  /* from memory that may since hold times */
            memcpy(&key, w->key + i, sizeof key);
            tick = (double)(key >> w->unit_bits) + w->low;
            unit = (int)(key & below) + 1;
        } else {
            tick = tick_at(w->given, i);
            unit = unit_at(w->given, i);
        }
        if (w->repeats) {
            if (at > 0 && w->before == tick && w->unit[at - 1] == unit)
                continue;
            w->before = tick;
        }
        w->time[at] = syn_seconds_of(tick, w->clock);
        w->unit[at++] = unit;
    }
    if (w->repeats)
        w->written = at;
    return SYN_OK;
}

static syn_status sort(work *w, syn_arranged *found, int threads, const syn_watch *watch,
                       uint64_t *spare)
{
    size_t spans = syn_spikes_spans(w->n);
    w->low = found->low;
    w->unit_bits = syn_radix_bits(w->given->units);
    w->packed = spare;
    SYN_TRY(syn_parallel_for(spans, threads, watch, "spikes", pack, w));
    SYN_TRY(syn_radix_sort_shared(&spare, (uint64_t *)(void *)w->time, w->n,
                                  tick_bits(found) + w->unit_bits, threads, watch));
    w->key = spare;
    SYN_TRY(syn_parallel_for(spans, threads, watch, "spikes", count_twice, w));
    for (size_t k = 0; k < spans; k++)
        found->n -= w->spans[k].twice;
    return SYN_OK;
}

syn_status syn_spikes_arrange(syn_arranged *found, const syn_loose *given,
                              const syn_clock *clock, int threads, const syn_watch *watch,
                              uint64_t *spare, double *time, int *unit)
{
    work w = {.given = given, .clock = clock, .n = given->n, .time = time, .unit = unit};
    syn_status status = SYN_OK;
    if (!found->sorted) {
        SYN_NEW(w.spans, syn_spikes_spans(w.n));
        status = sort(&w, found, threads, watch, spare);
        free(w.spans);
    }
    w.repeats = found->n < w.n;
    SYN_NEXT(status, syn_parallel_for(syn_spikes_spans(w.n), w.repeats ? 1 : threads,
                                      watch, "spikes", write_span, &w));
    return status;
}
