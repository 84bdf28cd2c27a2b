/* Moves spikes between events. Seen from an event, all the time up to the next one is
   filled from others. So the rate of a unit at a time after events stays, however long
   the times between events are. */
#include "core/assemblies/locked.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/radix.h"
#include "core/base/seek.h"

/* Lays events out as trials are, and puts those of a kind next to each other. */
static syn_status arrange(syn_locked *l, const syn_events *events,
                          const syn_segments *segments)
{
    uint32_t n = l->events, *from;
    SYN_TAKE(l->budget, l->event, (size_t)n + 1);
    SYN_TAKE(l->budget, l->order, (size_t)n + 1);
    SYN_TAKE_ZEROS(l->budget, from, (size_t)events->kinds + 2);
    for (uint32_t e = 0; e < n; e++)
        from[events->kind[e] + 1]++;
    for (uint32_t k = 1; k < events->kinds + 2; k++)
        from[k] += from[k - 1];
    for (uint32_t e = 0; e < n; e++) {
        struct syn_locked_event *here = l->event + e;
        uint32_t kind = (uint32_t)events->kind[e];
        here->first = from[kind];
        here->alike = from[kind + 1] - from[kind];
        int64_t last;
        here->at = syn_segments_laid(segments, (int64_t)events->tick[e], &last);
        here->length = last + 1 - here->at;
        if (e > 0 && here->at - here[-1].at < here[-1].length)
            here[-1].length = here->at - here[-1].at;
    }
    double ticks = 0, unsure = 0;
    for (uint32_t e = 0; e < n; e++) {
        struct syn_locked_event *here = l->event + e;
        here->place = from[events->kind[e]]++;
        l->order[here->place] = e;
        uint32_t others = here->alike > 2 ? here->alike - 1 : 1;
        others = others < SYN_LOCKED_SHIFTS ? others : SYN_LOCKED_SHIFTS;
        ticks += (double)here->length;
        unsure += (double)here->length / others;
    }
    l->unsure = unsure / ticks;
    syn_budget_free(l->budget, from);
    return SYN_OK;
}

/* The event that event e gets spikes from for the time from `offset` ticks after it on:
   in the direction of the shift, the one with more time that is so many such events away;
   e where there is none. `until` is how long that holds. */
static uint32_t source_of(const syn_locked *l, uint32_t e, int64_t shift, int64_t offset,
                          int64_t *until)
{
    const struct syn_locked_event *own = l->event + e;
    int64_t alike = own->alike, at = own->place - own->first, left = llabs(shift);
    uint32_t last = e;
    *until = own->length;
    for (int64_t k = 1; left > 0; k++) {
        /* After a whole turn: again, if there was any. */
        if (k % alike == 0 && last == e)
            return e;
        at = shift > 0 ? (at + 1) % alike : (at + alike - 1) % alike;
        uint32_t from = l->order[own->first + (uint32_t)at];
        if (from == e || l->event[from].length <= offset)
            continue;
        last = from;
        *until = l->event[from].length < *until ? l->event[from].length : *until;
        left--;
    }
    return last;
}

syn_status syn_locked_plan(syn_locked *l, int64_t shift)
{
    l->pieces = 0;
    for (uint32_t e = 0; e < l->events; e++)
        for (int64_t done = 0; done < l->event[e].length;) {
            int64_t end;
            uint32_t from = source_of(l, e, shift, done, &end);
            if (from == e && shift != 0)
                break;
            SYN_GROW(l->budget, l->piece, l->room, l->pieces + 1);
            l->piece[l->pieces++] =
                (syn_locked_piece){.to = e, .from = from, .begin = done, .end = end};
            done = end;
        }
    return SYN_OK;
}

size_t syn_locked_move(const syn_locked *l, syn_train own, int64_t *out)
{
    size_t n = 0;
    for (size_t k = 0; k < l->pieces; k++) {
        const syn_locked_piece *p = l->piece + k;
        int64_t from = l->event[p->from].at;
        size_t i = 0;
        SYN_SEEK(size_t, e, i, own.n, own.tick[e] < from + p->begin);
        for (; i < own.n && own.tick[i] < from + p->end; i++, n++)
            if (out)
                out[n] = own.tick[i] + (l->event[p->to].at - from);
    }
    return n;
}

static int64_t shift_of(int k)
{
    return k % 2 ? -(k / 2 + 1) : k / 2 + 1;
}

/* Sorts the trains of the predictor. */
static syn_status sort_moved(const syn_locked *l, const syn_segments *segments)
{
    const syn_recording *r = &l->both;
    uint32_t units = r->units / 2, most = 0;
    int64_t start = segments->opened[0];
    int64_t last = segments->closed[segments->trials - 1];
    for (uint32_t u = units; u < r->units; u++) {
        uint32_t n = r->first[u + 1] - r->first[u];
        most = n > most ? n : most;
    }
    uint64_t *key;
    SYN_TAKE(l->budget, key, 2 * (size_t)most + 1);
    for (uint32_t u = units; u < r->units; u++) {
        uint32_t n = r->first[u + 1] - r->first[u];
        int64_t *tick = r->tick + r->first[u];
        for (uint32_t i = 0; i < n; i++)
            key[i] = (uint64_t)(tick[i] - start);
        const uint64_t *sorted = syn_radix_sort(
            key, key + most, n, 0, syn_radix_bits((uint64_t)(last - start) + 1));
        for (uint32_t i = 0; i < n; i++)
            tick[i] = (int64_t)sorted[i] + start;
    }
    syn_budget_free(l->budget, key);
    return SYN_OK;
}

/* Fills `both`. `end` has room for as many numbers as there are units. */
static syn_status predict(syn_locked *l, const syn_segments *segments, size_t *end)
{
    uint32_t units = segments->trains.units, own = segments->trains.events;
    syn_recording *r = &l->both;
    size_t n = own;
    r->units = 2 * units;
    SYN_TAKE_ZEROS(l->budget, r->first, 2 * (size_t)units + 1);
    memcpy(r->first, segments->trains.first, (units + 1) * sizeof *r->first);
    for (int k = 0; k < SYN_LOCKED_SHIFTS; k++) {
        SYN_TRY(syn_locked_plan(l, shift_of(k)));
        for (uint32_t u = 0; u < units; u++)
            end[u] += syn_locked_move(l, syn_segments_train(segments, u), NULL);
    }
    for (uint32_t u = 0; u < units; u++) {
        size_t first = n;
        n += end[u];
        end[u] = first;
        if (n >= INT32_MAX)
            return SYN_TOO_LARGE;
        r->first[units + u + 1] = (uint32_t)n;
    }
    r->events = (uint32_t)n;
    SYN_TAKE(l->budget, r->tick, n + 1);
    SYN_TAKE(l->budget, r->by_unit, n + 1);
    memcpy(r->tick, segments->trains.tick, own * sizeof *r->tick);
    for (int k = 0; k < SYN_LOCKED_SHIFTS; k++) {
        SYN_TRY(syn_locked_plan(l, shift_of(k)));
        for (uint32_t u = 0; u < units; u++)
            end[u] += syn_locked_move(l, syn_segments_train(segments, u),
                                      r->tick + end[u]);
    }
    SYN_TRY(sort_moved(l, segments));
    for (uint32_t i = 0; i < r->events; i++)
        r->by_unit[i] = i;
    return SYN_OK;
}

syn_status syn_locked_make(syn_locked *out, const syn_events *events,
                           const syn_segments *segments, syn_budget *budget)
{
    *out = (syn_locked){.events = events->n, .budget = budget};
    SYN_TRY(arrange(out, events, segments));
    size_t *end;
    SYN_TAKE_ZEROS(budget, end, (size_t)segments->trains.units + 1);
    SYN_TRY(predict(out, segments, end));
    syn_budget_free(budget, end);
    return SYN_OK;
}

syn_train syn_locked_train(const syn_locked *locked, uint32_t unit)
{
    const syn_recording *r = &locked->both;
    const uint32_t *first = r->first + r->units / 2 + unit;
    return (syn_train){.tick = r->tick + first[0], .n = first[1] - first[0]};
}
