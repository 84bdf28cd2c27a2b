/* Makes a surrogate and puts its events in time order. Tick and unit of each spike are
   packed into one key, and the keys are sorted. For each bound of a lag, two pointers
   then find the first event beyond it. */
#include "core/episodes/null/line.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/base/radix.h"

/* ---- the layout ---- */

syn_status syn_line_layout_make(const syn_surrogate_plan *plan, const int64_t *bound,
                                uint32_t bounds, syn_line_layout *out)
{
    const syn_trains *t = &plan->trains;
    int64_t reach = bounds > 0 ? bound[bounds - 1] : 0;
    *out = (syn_line_layout){.plan = plan, .events = t->events, .units = t->units,
                             .bounds = bounds, .bound = bound,
                             .unit_bits = (unsigned)syn_radix_bits(t->units)};
    SYN_NEW(out->shift, (size_t)t->trials + 1);
    out->span = 1;
    /* Places the trials one after the other. SYN_TOO_LARGE when the line has 2^62 ticks.
       */
    int64_t at = 0, most = (int64_t)1 << 62;
    for (uint32_t i = 0; i < t->trials; i++) {
        int64_t length = t->stop[i] - t->start[i];
        if (length >= most - at || reach >= most - at - length - 1)
            return SYN_TOO_LARGE;
        out->shift[i] = at - t->start[i];
        out->span += (double)length;
        at += length + reach + 1;
    }
    out->tick_bits = (unsigned)syn_radix_bits((uint64_t)at);
    /* A bound is added to a key. */
    if (out->tick_bits + out->unit_bits + 1 > 63)
        return SYN_TOO_LARGE;
    return SYN_OK;
}

void syn_line_layout_free(syn_line_layout *layout)
{
    free(layout->shift);
    memset(layout, 0, sizeof *layout);
}

/* ---- room ---- */

size_t syn_line_bytes(const syn_line_layout *layout)
{
    size_t of_event = 2 * sizeof(uint64_t) + sizeof(int64_t) + 3 * sizeof(uint32_t) +
                      layout->bounds * sizeof(uint32_t);
    return layout->events * of_event + layout->units * 2 * sizeof(uint32_t) +
           layout->plan->scratch * sizeof(uint32_t);
}

syn_status syn_line_make(const syn_line_layout *layout, syn_line_room *out)
{
    size_t events = (size_t)layout->events + 1, units = (size_t)layout->units + 1;
    syn_line *line = &out->line;
    memset(out, 0, sizeof *out);
    line->units = layout->units;
    SYN_ARRAY(&out->memory, out->key, events);
    SYN_ARRAY(&out->memory, out->spare, events);
    SYN_ARRAY(&out->memory, out->scratch, layout->plan->scratch);
    SYN_ARRAY(&out->memory, line->tick, events);
    SYN_ARRAY(&out->memory, line->unit, events);
    SYN_ARRAY(&out->memory, line->row, events);
    SYN_ARRAY(&out->memory, line->by_unit, events);
    SYN_ARRAY(&out->memory, line->first, units);
    SYN_ARRAY(&out->memory, line->last, units);
    SYN_ARRAY(&out->memory, line->beyond, layout->bounds);
    for (uint32_t b = 0; b < layout->bounds; b++)
        SYN_ARRAY(&out->memory, line->beyond[b], events);
    return SYN_OK;
}

void syn_line_free(syn_line_room *room)
{
    syn_give_back(&room->memory);
    memset(room, 0, sizeof *room);
}

/* ---- filling it ---- */

int syn_line_fill(const syn_line_layout *layout, uint64_t index, uint32_t step,
                  syn_line_room *room)
{
    enum { KEYS, SORTED, NUMBERED, BOUNDS };
    if (step == KEYS) {
        /* The keys of all spikes, unit after unit. */
        const syn_trains *t = &layout->plan->trains;
        const int64_t *tick = room->line.tick;
        syn_surrogate_ticks(layout->plan, index, room->line.tick, room->scratch);
        for (uint32_t u = 0; u < t->units; u++)
            for (uint32_t i = t->first[u]; i < t->first[u + 1]; i++)
                room->key[i] = (uint64_t)(tick[i] + layout->shift[t->trial[i]])
                                   << layout->unit_bits |
                               u;
    } else if (step == SORTED) {
        /* By tick; those on one tick stay in the order of their units. */
        uint64_t *sorted = syn_radix_sort(room->key, room->spare, layout->events,
                                          (int)layout->unit_bits, (int)layout->tick_bits);
        if (sorted == room->spare) {
            room->spare = room->key;
            room->key = sorted;
        }
    } else if (step == NUMBERED) {
        /* Numbers the events; a unit's repeats on one tick are one event. */
        uint64_t mask = ((uint64_t)1 << layout->unit_bits) - 1, before = UINT64_MAX;
        syn_line *line = &room->line;
        uint32_t n = 0;
        memcpy(line->first, layout->plan->trains.first,
               layout->units * sizeof *line->first);
        memcpy(line->last, line->first, layout->units * sizeof *line->last);
        for (uint32_t i = 0; i < layout->events; i++) {
            uint64_t key = room->key[i];
            uint32_t unit = (uint32_t)(key & mask);
            if (key == before)
                continue;
            before = key;
            line->tick[n] = (int64_t)(key >> layout->unit_bits);
            line->unit[n] = unit;
            line->row[n] = line->last[unit]++;
            line->by_unit[line->row[n]] = n;
            n++;
        }
        line->events = n;
        line->tick[n] = INT64_MAX;
    } else {
        /* One bound at a step: its two numbers only move forward, and no event is beyond
           the end of the line. */
        const syn_line *line = &room->line;
        uint32_t b = step - BOUNDS, far = 0;
        for (uint32_t event = 0; event < line->events; event++) {
            while (line->tick[far] - line->tick[event] <= layout->bound[b])
                far++;
            line->beyond[b][line->row[event]] = far;
        }
    }
    return step >= NUMBERED && step + 1 - BOUNDS >= room->bounds;
}
