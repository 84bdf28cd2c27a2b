/* Goes through lists of ends. Candidates are counted as in the window engine: from rows
   of the table of next occurrences where there is one, else by visiting the events of the
   windows. Between the two, and from one call to the next, all that is known of the rule
   is the last event that it counted, which is the same either way. */
#include "core/episodes/stream_count.h"

#include <string.h>

#include "core/base/seek.h"
#include "core/episodes/rows.h"

/* ---- lists ---- */

syn_status syn_stream_list_open(syn_stream *s, syn_stream_list *list, uint32_t n)
{
    list->n = list->span = 0;
    list->end = syn_arena_take(&s->lists, ((size_t)n + 1) * sizeof *list->end);
    return list->end ? SYN_OK : s->lists.refused;
}

void syn_stream_list_add(syn_stream_list *list, uint32_t event, uint32_t start)
{
    syn_stream_end *end = &list->end[list->n++];
    end->event = event;
    end->start = start;
    if (event - start > list->span)
        list->span = event - start;
}

uint32_t syn_stream_unit_from(const syn_stream *s, uint32_t unit, uint32_t event)
{
    const syn_stream_unit *u = &s->events.of[unit];
    uint32_t low = u->head;
    SYN_SEEK(uint32_t, at, low, u->n, u->event[at] < event);
    return low;
}

void syn_stream_list_unit(const syn_stream *s, uint32_t unit, uint32_t since,
                          uint32_t until, syn_stream_list *list)
{
    const syn_stream_unit *u = &s->events.of[unit];
    uint32_t i = syn_stream_unit_from(s, unit, since);
    for (; i < u->n && u->event[i] < until; i++)
        syn_stream_list_add(list, u->event[i], syn_stream_group(&s->events, u->event[i]));
}

void syn_stream_list_extend(const syn_stream *s, const syn_stream_list *prefix,
                            uint32_t id, uint32_t since, uint32_t until,
                            syn_stream_list *list)
{
    const syn_stream_events *e = &s->events;
    const syn_stream_kept *k = &s->kept[id];
    const syn_stream_unit *u = &e->of[k->unit];
    const uint32_t *open = e->open[k->interval], *shut = e->shut[k->interval];
    uint32_t p = 0, i = syn_stream_unit_from(s, k->unit, since);
    if (prefix->n == 0)
        return;
    for (; i < u->n && u->event[i] < until; i++) {
        uint32_t event = u->event[i], end;
        /* The newest end of the prefix whose window has opened. */
        while (p < prefix->n) {
            end = prefix->end[p].event;
            if (end + open[end & e->mask] > event)
                break;
            p++;
        }
        if (p == 0)
            continue;
        end = prefix->end[p - 1].event;
        if (event < end + shut[end & e->mask])
            syn_stream_list_add(list, event, prefix->end[p - 1].start);
    }
}

/* ---- counting from the table ---- */

enum { CHUNK = 512 };  /* ends given to the counter at a time */

/* Some neighbouring ends, numbered from `base`, as the counter of rows takes them. */
typedef struct chunk {
    syn_row_end end[CHUNK];
    uint32_t base, n;
    const uint16_t *row;  /* of the first one */
} chunk;

/* The ends from number `i` on: as many as fit, whose rows do not cross the end of the
   ring, and whose windows end within 16 bits from the first start on. */
static void take_chunk(const syn_stream *s, const syn_stream_list *list, uint32_t i,
                       chunk *c)
{
    const syn_stream_events *e = &s->events;
    uint32_t first = list->end[i].event, before_turn = e->room - (first & e->mask);
    uint32_t most = SYN_ROW_REACH - 1 - e->farthest;
    c->base = list->end[i].start;
    c->row = e->next + (first & e->mask) * e->stride;
    for (c->n = 0; c->n < CHUNK && i + c->n < list->n; c->n++) {
        const syn_stream_end *end = &list->end[i + c->n];
        if (end->event - first >= before_turn || end->event - c->base >= most)
            return;
        c->end[c->n] = (syn_row_end){end->event - first, (uint16_t)(end->start - c->base),
                                     (uint16_t)(end->event - c->base + 1)};
    }
}

/* Counts a chunk for the candidates from `from` on whose lanes stand in the block that
   begins at `first`. What is free beyond the chunk's last start is as good as free
   nowhere in it. */
static void count_chunk(const syn_stream *s, const syn_stream_kept *k, const chunk *c,
                        uint32_t first, uint32_t from, uint32_t *count, uint32_t *free)
{
    const uint32_t *slot = s->kept[k->suffix].slot;
    syn_row_chains lanes = {.block = c->row + first, .stride = s->events.stride};
    int any = 0;
    for (uint32_t i = from; i < k->n; i++) {
        if (slot[i] - first >= SYN_LANES)
            continue;
        uint32_t ahead = free[i] > c->base ? free[i] - c->base : 0;
        lanes.free[slot[i] - first] = ahead < UINT16_MAX ? (uint16_t)ahead : UINT16_MAX;
        any = 1;
    }
    if (!any)
        return;
    s->follow_rows(&lanes, c->end, c->n);
    for (uint32_t i = from; i < k->n; i++) {
        uint32_t lane = slot[i] - first;
        if (lane >= SYN_LANES || lanes.hits[lane] == 0)
            continue;
        count[i] += lanes.hits[lane];
        free[i] = c->base + lanes.free[lane];
    }
}

static void count_by_rows(const syn_stream *s, const syn_stream_kept *k,
                          const syn_stream_list *list, uint32_t from, uint32_t *count,
                          uint32_t *free)
{
    chunk c;
    for (uint32_t i = 0; i < list->n; i += c.n) {
        take_chunk(s, list, i, &c);
        for (uint32_t first = 0; first < s->events.stride; first += SYN_LANES)
            count_chunk(s, k, &c, first, from, count, free);
    }
}

/* ---- counting by visits ---- */

/* For each slot the place of its candidate. */
static const uint32_t *take_seats(syn_stream *s, uint32_t suffix)
{
    const syn_stream_kept *k = &s->kept[suffix];
    if (suffix == SYN_STREAM_ROOT)
        return s->root_seat;
    for (uint32_t i = 0; i < k->slots; i++)
        s->seat[k->slot[i]] = i;
    return s->seat;
}

static void leave_seats(syn_stream *s, uint32_t suffix)
{
    const syn_stream_kept *k = &s->kept[suffix];
    for (uint32_t i = 0; suffix != SYN_STREAM_ROOT && i < k->slots; i++)
        s->seat[k->slot[i]] = SYN_STREAM_NONE;
}

static void visit_interval(const syn_stream *s, const syn_stream_list *list,
                           uint32_t interval, const uint32_t *seat, uint32_t from,
                           uint32_t since, uint32_t until, uint32_t *count,
                           uint32_t *free)
{
    const syn_stream_events *e = &s->events;
    const uint32_t *open = e->open[interval], *shut = e->shut[interval];
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t end = list->end[i].event, start = list->end[i].start;
        uint32_t a = end + open[end & e->mask], b = end + shut[end & e->mask];
        if (i + 1 < list->n) {  /* later events are the next end's */
            uint32_t next = list->end[i + 1].event;
            next += open[next & e->mask];
            b = next < b ? next : b;
        }
        a = a < since ? since : a;
        b = b > until ? until : b;
        for (uint32_t j = a; j < b; j++) {
            uint32_t place = seat[e->unit[j & e->mask]];
            if (place == SYN_STREAM_NONE || place < from || start < free[place])
                continue;
            count[place]++;
            free[place] = j + 1;
        }
    }
}

void syn_stream_count(syn_stream *s, uint32_t id, const syn_stream_list *list,
                      uint32_t from, uint32_t since, uint32_t until, uint32_t *count,
                      uint32_t *free)
{
    const syn_stream_kept *k = &s->kept[id];
    if (list->n == 0 || from >= k->n)
        return;
    if (s->events.next && list->span + s->events.farthest + 1 < SYN_ROW_REACH) {
        count_by_rows(s, k, list, from, count, free);
        return;
    }
    const uint32_t *seat = take_seats(s, k->suffix);
    for (uint32_t i = 0; i < s->options.n_intervals; i++)
        visit_interval(s, list, i, seat + (size_t)i * s->events.units, from, since,
                       until, count, free);
    leave_seats(s, k->suffix);
}
