/* Goes through lists of ends. Candidates are counted as in the window engine: from rows
   of the table of next occurrences where there is one, else by visiting the events of the
   windows. Between the two, and from one call to the next, all that is known of the rule
   is the last event that it counted, which is the same either way. */
#include "core/episodes/stream_count.h"

#include <string.h>

#include "core/episodes/rows.h"

/* ---- lists ---- */

const syn_stream_ends *syn_stream_ends_of(const syn_stream *s, uint32_t id)
{
    const syn_stream_kept *k = &s->kept[id];
    return k->size == 1 ? &s->events.of[k->unit] : &k->ends;
}

syn_stream_list syn_stream_list_of(const syn_stream *s, uint32_t id, uint32_t since,
                                   uint32_t until)
{
    const syn_stream_ends *ends = syn_stream_ends_of(s, id);
    uint32_t first = syn_stream_ends_from(ends, since), last = ends->n;
    if (until != s->events.end)
        last = syn_stream_ends_from(ends, until);
    return (syn_stream_list){ends->end + first, last - first, ends->n - last};
}

/* The first event beyond one bound of an interval, from event `event` on. */
static inline uint32_t beyond(const syn_stream_events *e, const uint32_t *bound,
                              uint32_t event)
{
    return event + bound[event & e->mask];
}

/* Each end is at an event whose newest end of the prefix, among those whose window has
   opened, is still open. */
syn_status syn_stream_list_extend(syn_stream *s, uint32_t id, const syn_stream_ends *at,
                                  uint32_t first, const syn_stream_list *prefix)
{
    const syn_stream_events *e = &s->events;
    syn_stream_kept *k = &s->kept[id];
    const uint32_t *open = e->open[k->interval], *shut = e->shut[k->interval];
    const syn_stream_end *from = prefix->end;
    if (first == at->n || prefix->n == 0)
        return SYN_OK;
    SYN_TRY(syn_stream_ends_room(&k->ends, &s->budget, at->n - first));
    uint32_t p = 0, opens = beyond(e, open, from[0].event), shuts = 0, start = 0;
    for (uint32_t i = first; i < at->n; i++) {
        uint32_t event = at->end[i].event;
        while (opens <= event) {
            shuts = beyond(e, shut, from[p].event);
            start = from[p].start;
            opens = ++p < prefix->n ? beyond(e, open, from[p].event) : UINT32_MAX;
        }
        if (event >= shuts)
            continue;
        k->ends.end[k->ends.n++] = (syn_stream_end){event, start};
        s->span = event - start > s->span ? event - start : s->span;
    }
    syn_stream_ends_note(&k->ends);
    return SYN_OK;
}

/* ---- counting from the table ---- */

void syn_stream_take_chunk(const syn_stream *s, const syn_stream_list *list, uint32_t i,
                           uint32_t most, syn_stream_chunk *c)
{
    const syn_stream_events *e = &s->events;
    uint32_t first = list->end[i].event, before_turn = e->room - (first & e->mask);
    uint32_t reach = SYN_ROW_REACH - 1 - e->farthest;
    c->base = list->end[i].start;
    c->row = e->next + (first & e->mask) * e->stride;
    for (c->n = 0; c->n < most && i + c->n < list->n; c->n++) {
        const syn_stream_end *end = &list->end[i + c->n];
        if (end->event - first >= before_turn || end->event - c->base >= reach)
            return;
        c->end[c->n] = (syn_row_end){end->event - first, (uint16_t)(end->start - c->base),
                                     (uint16_t)(end->event - c->base + 1)};
    }
}

/* ---- counting by visits ---- */

/* Returns for each slot the position of its candidate. */
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
        if (i + 1 < list->n + list->more) {  /* later events are the next end's */
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

/* ---- candidates one by one ---- */

/* Counts one candidate over the window: it can end only where what it ends with, one
   event shorter, does. */
static void count_alone(const syn_stream *s, const syn_stream_list *list, uint32_t slot,
                        const syn_stream_ends *at, uint32_t *count, uint32_t *free)
{
    const syn_stream_events *e = &s->events;
    const uint32_t *open = e->open[slot / e->units], *shut = e->shut[slot / e->units];
    uint32_t p = 0, n = 0, next = 0;
    for (uint32_t i = at->head; i < at->n; i++) {
        uint32_t event = at->end[i].event;
        while (p < list->n && beyond(e, open, list->end[p].event) <= event)
            p++;
        if (p == 0 || beyond(e, shut, list->end[p - 1].event) <= event ||
            list->end[p - 1].start < next)
            continue;
        n++;
        next = event + 1;
    }
    *count = n;
    *free = next;
}

/* Where candidate `i` can end: at the ends of the episode that it ends with, or at events
   of its unit while those are not listed. */
static const syn_stream_ends *may_end(const syn_stream *s, uint32_t id, uint32_t i)
{
    uint32_t suffix = s->kept[id].suffix;
    uint32_t end = s->kept[suffix].kid[i / syn_stream_kept_width(s, suffix)];
    return s->kept[end].listed ? &s->kept[end].ends : &s->events.of[s->kept[end].unit];
}

enum { ROW_STEPS = 8 };  /* steps one by one that take as long as a row of the table */

/* Whether counting new candidates together takes less than doing so one by one. */
static int together_pays(const syn_stream *s, uint32_t id, double ends)
{
    const syn_stream_kept *k = &s->kept[id];
    double alone = 0;
    double together = ends * (s->events.next ? ROW_STEPS : s->options.occupancy *
                                                           s->options.n_intervals);
    for (uint32_t i = k->counted; i < k->n && alone <= together; i++)
        alone += ends + syn_stream_ends_count(may_end(s, id, i));
    return alone > together;
}

void syn_stream_count_new(syn_stream *s, uint32_t id)
{
    const syn_stream_kept *k = &s->kept[id];
    const uint32_t *slot = s->kept[k->suffix].slot;
    uint32_t begin = s->events.begin, end = s->events.end;
    syn_stream_list list = syn_stream_list_of(s, id, begin, end);
    if (list.n == 0)
        return;
    if (together_pays(s, id, list.n))
        syn_stream_count(s, id, &list, k->counted, begin, end, k->count, k->free);
    else
        for (uint32_t i = k->counted; i < k->n; i++)
            count_alone(s, &list, slot[i], may_end(s, id, i), &k->count[i], &k->free[i]);
}

/* ---- all candidates of an episode ---- */

void syn_stream_count(syn_stream *s, uint32_t id, const syn_stream_list *list,
                      uint32_t from, uint32_t since, uint32_t until, uint32_t *count,
                      uint32_t *free)
{
    const syn_stream_kept *k = &s->kept[id];
    if (list->n == 0 || from >= k->n)
        return;
    if (syn_stream_has_rows(s)) {
        syn_stream_chunk c;
        for (uint32_t i = 0; i < list->n; i += c.n) {
            syn_stream_take_chunk(s, list, i, SYN_STREAM_CHUNK, &c);
            /* Counts a chunk for the candidates from `from` on. What is free beyond the
               chunk's last start is as good as free nowhere in it. */
            const uint32_t *slot = s->kept[k->suffix].slot;
            for (uint32_t i = from; i < k->n; i++) {
                uint32_t ahead = free[i] > c.base ? free[i] - c.base : 0;
                s->lane_free[slot[i]] = ahead < UINT16_MAX ? (uint16_t)ahead : UINT16_MAX;
                s->lane_hits[slot[i]] = 0;
                s->block[slot[i] / SYN_LANES] = 1;
            }
            for (uint32_t first = 0; first < s->events.stride; first += SYN_LANES) {
                syn_row_chains lanes = {.block = c.row + first,
                                        .stride = s->events.stride,
                                        .free = s->lane_free + first,
                                        .hits = s->lane_hits + first};
                if (s->block[first / SYN_LANES])
                    s->follow_rows(&lanes, c.end, c.n);
                s->block[first / SYN_LANES] = 0;
            }
            for (uint32_t i = from; i < k->n; i++) {
                uint32_t hits = s->lane_hits[slot[i]];
                count[i] += hits;
                free[i] = hits > 0 ? c.base + s->lane_free[slot[i]] : free[i];
            }
        }
        return;
    }
    const uint32_t *seat = take_seats(s, k->suffix);
    for (uint32_t i = 0; i < s->options.n_intervals; i++)
        visit_interval(s, list, i, seat + (size_t)i * s->events.units, from, since,
                       until, count, free);
    leave_seats(s, k->suffix);
}
