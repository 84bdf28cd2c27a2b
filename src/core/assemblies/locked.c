/* Moves spikes between events. */
#include "core/assemblies/locked.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/seek.h"

void syn_locked_free(syn_locked *l)
{
    SYN_GIVE(l->budget, l->at, l->closed, l->place, l->order, l->first, l->alike,
             l->both.tick, l->both.first, l->both.by_unit);
    memset(l, 0, sizeof *l);
}

/* Lays events out as trials are, and puts those of a kind next to each other. */
static syn_status arrange(syn_locked *l, const syn_events *events,
                          const syn_segments *segments)
{
    uint32_t n = l->events, *from;
    SYN_TAKE(l->budget, l->at, (size_t)n + 1);
    SYN_TAKE(l->budget, l->closed, (size_t)n + 1);
    SYN_TAKE(l->budget, l->place, (size_t)n + 1);
    SYN_TAKE(l->budget, l->order, (size_t)n + 1);
    SYN_TAKE(l->budget, l->first, (size_t)n + 1);
    SYN_TAKE(l->budget, l->alike, (size_t)n + 1);
    SYN_TAKE_ZEROS(l->budget, from, (size_t)events->kinds + 2);
    for (uint32_t e = 0; e < n; e++)
        from[events->kind[e] + 1]++;
    for (uint32_t k = 1; k < events->kinds + 2; k++)
        from[k] += from[k - 1];
    for (uint32_t e = 0; e < n; e++) {
        uint32_t kind = (uint32_t)events->kind[e];
        l->first[e] = from[kind];
        l->alike[e] = from[kind + 1] - from[kind];
        l->at[e] = syn_segments_laid(segments, (int64_t)events->tick[e], &l->closed[e]);
    }
    for (uint32_t e = 0; e < n; e++) {
        l->place[e] = from[events->kind[e]]++;
        l->order[l->place[e]] = e;
    }
    syn_budget_free(l->budget, from);
    return SYN_OK;
}

static int rising(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static size_t move(const syn_locked *l, syn_train own, int64_t shift, int64_t *out)
{
    size_t n = 0;
    uint32_t next = 0;  /* the event after a spike */
    for (size_t i = 0; i < own.n; i++) {
        SYN_SEEK_NEAR(uint32_t, e, next, l->events, l->at[e] <= own.tick[i]);
        if (next == 0)
            continue;
        uint32_t e = next - 1;
        int64_t alike = l->alike[e], by = (l->place[e] - l->first[e] + shift) % alike;
        uint32_t to = l->order[l->first[e] + (uint32_t)(by < 0 ? by + alike : by)];
        int64_t tick = l->at[to] + (own.tick[i] - l->at[e]);
        if (to != e && tick <= l->closed[to])
            out[n++] = tick;
    }
    return n;
}

size_t syn_locked_move(const syn_locked *locked, syn_train own, int64_t shift,
                       int64_t *out)
{
    size_t n = move(locked, own, shift, out);
    qsort(out, n, sizeof *out, rising);
    return n;
}

/* Fills `both`. */
static syn_status predict(syn_locked *l, const syn_segments *segments)
{
    uint32_t units = segments->trains.units, own = segments->trains.events;
    size_t most = (size_t)own * (SYN_LOCKED_SHIFTS + 1);
    syn_recording *r = &l->both;
    if (most >= INT32_MAX)
        return SYN_TOO_LARGE;
    SYN_TAKE(l->budget, r->tick, most + 1);
    SYN_TAKE(l->budget, r->by_unit, most + 1);
    SYN_TAKE_ZEROS(l->budget, r->first, 2 * (size_t)units + 1);
    r->units = 2 * units;
    memcpy(r->first, segments->trains.first, (units + 1) * sizeof *r->first);
    memcpy(r->tick, segments->trains.tick, own * sizeof *r->tick);
    size_t n = own;
    for (uint32_t u = 0; u < units; u++) {
        size_t from = n;
        for (int k = 0; k < SYN_LOCKED_SHIFTS; k++)
            n += move(l, syn_segments_train(segments, u),
                      k % 2 ? -(k / 2 + 1) : k / 2 + 1, r->tick + n);
        qsort(r->tick + from, n - from, sizeof *r->tick, rising);
        r->first[units + u + 1] = (uint32_t)n;
    }
    r->events = (uint32_t)n;
    for (uint32_t i = 0; i < r->events; i++)
        r->by_unit[i] = i;
    return SYN_OK;
}

syn_status syn_locked_make(syn_locked *out, const syn_events *events,
                           const syn_segments *segments, syn_budget *budget)
{
    *out = (syn_locked){.events = events->n, .budget = budget};
    SYN_TRY(arrange(out, events, segments));
    return predict(out, segments);
}

syn_train syn_locked_train(const syn_locked *locked, uint32_t unit)
{
    const syn_recording *r = &locked->both;
    const uint32_t *first = r->first + r->units / 2 + unit;
    return (syn_train){.tick = r->tick + first[0], .n = first[1] - first[0]};
}
