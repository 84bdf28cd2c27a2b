/* Lays out trials, cuts them into segments and sorts spikes. A shift within segments
   keeps the intervals between the spikes of a unit, and so its bursts and refractory
   period, and its rate as it changes from segment to segment; as each unit and segment
   has its own, nothing is left of lags between units (trial shifting: Stella et al.
   2022). */
#include "core/assemblies/segments.h"

#include <string.h>

#include "core/base/radix.h"
#include "core/base/seek.h"

/* ---- trials and segments ---- */

static uint32_t pieces(const syn_trains *t, uint32_t trial, int64_t length)
{
    int64_t whole = (t->stop[trial] - t->start[trial] + 1) / length;
    return whole > 0 ? (uint32_t)whole : 1;
}

/* Moves trials apart, and says by how much. */
static void lay_out(syn_segments *s, int64_t apart)
{
    syn_trains *t = &s->trains;
    int64_t end = t->start[0] - apart;
    for (uint32_t k = 0; k < t->trials; k++) {
        int64_t length = t->stop[k] - t->start[k];
        s->opened[k] = end + apart;
        s->later[k] = s->opened[k] - t->start[k];
        t->start[k] = s->opened[k];
        t->stop[k] = s->closed[k] = end = s->opened[k] + length;
    }
    for (uint32_t e = 0; e < t->events; e++)
        t->tick[e] += s->later[t->trial[e]];
}

static syn_status cut(syn_trains *t, int64_t length)
{
    uint64_t segments = 0;
    for (uint32_t k = 0; k < t->trials; k++)
        segments += pieces(t, k, length);
    if (segments > INT32_MAX)
        return SYN_TOO_LARGE;
    int64_t *start, *stop;
    uint32_t *first;
    SYN_ARRAY(&t->memory, start, segments);
    SYN_ARRAY(&t->memory, stop, segments);
    SYN_ARRAY(&t->memory, first, (size_t)t->trials + 1);
    for (uint32_t k = 0; k < t->trials; k++) {
        uint32_t n = pieces(t, k, length), at = first[k];
        int64_t each = (t->stop[k] - t->start[k] + 1) / n;
        for (uint32_t j = 0; j < n; j++) {
            start[at + j] = t->start[k] + j * each;
            stop[at + j] = j + 1 < n ? start[at + j] + each - 1 : t->stop[k];
        }
        first[k + 1] = at + n;
    }
    for (uint32_t e = 0; e < t->events; e++) {
        uint32_t k = t->trial[e], last = first[k + 1] - 1;
        int64_t each = (t->stop[k] - t->start[k] + 1) / (last + 1 - first[k]);
        int64_t at = first[k] + (t->tick[e] - t->start[k]) / each;
        t->trial[e] = at < last ? (uint32_t)at : last;
    }
    t->start = start;
    t->stop = stop;
    t->trials = (uint32_t)segments;
    return SYN_OK;
}

/* ---- making ---- */

/* Makes `recording`: the spikes in the order of time. */
static syn_status arrange(syn_segments *s, syn_budget *budget)
{
    const syn_trains *t = &s->trains;
    syn_recording *r = &s->recording;
    size_t n = (size_t)t->events + 1, units = (size_t)t->units + 1;
    int unit_bits = syn_radix_bits(t->units);
    int tick_bits = syn_radix_bits((uint64_t)(t->stop[t->trials - 1] - t->start[0]) + 1);
    if (unit_bits + tick_bits > 64)
        return SYN_TOO_LARGE;
    *r = (syn_recording){.units = t->units, .events = t->events};
    SYN_TAKE(budget, r->tick, n);
    SYN_TAKE(budget, r->unit, n);
    SYN_TAKE(budget, r->by_unit, n);
    SYN_TAKE(budget, r->first, units);
    uint64_t *key, *other;
    SYN_TAKE(budget, key, n);
    SYN_TAKE(budget, other, n);
    for (uint32_t u = 0; u < t->units; u++)
        for (uint32_t e = t->first[u]; e < t->first[u + 1]; e++)
            key[e] = (uint64_t)(t->tick[e] - t->start[0]) << unit_bits | u;
    const uint64_t *sorted = syn_radix_sort(key, other, t->events, unit_bits, tick_bits);
    memcpy(r->first, t->first, units * sizeof *r->first);
    for (uint32_t e = 0; e < t->events; e++) {
        uint32_t u = (uint32_t)(sorted[e] & (((uint64_t)1 << unit_bits) - 1));
        r->tick[e] = (int64_t)(sorted[e] >> unit_bits) + t->start[0];
        r->unit[e] = u;
        r->by_unit[r->first[u]++] = e;
    }
    memcpy(r->first, t->first, units * sizeof *r->first);
    SYN_GIVE(budget, key, other);
    return SYN_OK;
}

syn_status syn_segments_make(syn_segments *out, const syn_spikes *spikes, int64_t length,
                             int64_t apart, syn_budget *budget, const syn_watch *watch)
{
    *out = (syn_segments){.trials = spikes->trials};
    SYN_TAKE(budget, out->later, spikes->trials);
    SYN_TAKE(budget, out->opened, spikes->trials);
    SYN_TAKE(budget, out->closed, spikes->trials);
    SYN_TRY(syn_trains_make(&out->trains, spikes, watch));
    lay_out(out, apart);
    SYN_TRY(cut(&out->trains, length));
    return arrange(out, budget);
}

syn_train syn_segments_train(const syn_segments *segments, uint32_t unit)
{
    const syn_trains *t = &segments->trains;
    return (syn_train){.tick = t->tick + t->first[unit],
                       .n = t->first[unit + 1] - t->first[unit]};
}

double syn_segments_recorded_ticks(const syn_segments *segments)
{
    double sum = 0;
    for (uint32_t k = 0; k < segments->trials; k++)
        sum += (double)(segments->closed[k] - segments->opened[k] + 1);
    return sum;
}

int64_t syn_segments_tick(const syn_segments *segments, int64_t tick)
{
    uint32_t after = 1;
    SYN_SEEK(uint32_t, k, after, segments->trials, segments->opened[k] <= tick);
    return tick - segments->later[after - 1];
}

int64_t syn_segments_laid(const syn_segments *segments, int64_t tick, int64_t *closed)
{
    uint32_t after = 1;
    SYN_SEEK(uint32_t, k, after, segments->trials,
             segments->opened[k] - segments->later[k] <= tick);
    *closed = segments->closed[after - 1];
    return tick + segments->later[after - 1];
}
