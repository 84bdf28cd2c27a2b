/* Goes through lists of ends. Candidates are counted as in the window engine: from rows
   of the table of next occurrences where there is one, else by visiting the events of the
   windows. Between the two, and from one call to the next, all that is known of the rule
   is the last event that it counted, which is the same either way. */
#include "core/episodes/stream_count.h"

#include <string.h>

#include "core/base/seek.h"
#include "core/episodes/rows.h"

/* ---- lists ---- */

uint32_t syn_stream_unit_from(const syn_stream *s, uint32_t unit, uint32_t event)
{
    const syn_stream_unit *u = &s->events.of[unit];
    uint32_t low = u->head;
    SYN_SEEK(uint32_t, at, low, u->n, u->end[at].event < event);
    return low;
}

syn_stream_list syn_stream_list_unit(const syn_stream *s, uint32_t unit, uint32_t since,
                                     uint32_t until)
{
    const syn_stream_unit *u = &s->events.of[unit];
    uint32_t first = syn_stream_unit_from(s, unit, since);
    uint32_t last = syn_stream_unit_from(s, unit, until);
    return (syn_stream_list){u->end + first, last - first, s->events.crowd};
}

/* Writes the ends at the events `i` to before `last` of a unit's list: each is the newest
   end of the prefix whose window has opened, if it is still open. How many. */
static uint32_t find_ends(const syn_stream_list *prefix, const syn_interval *interval,
                          const syn_stream_end *event, uint32_t n, syn_stream_end *found)
{
    uint32_t p = 0, ends = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t tick = event[i].tick;
        while (p < prefix->n && prefix->end[p].tick + interval->low < tick)
            p++;
        if (p == 0 || prefix->end[p - 1].tick + interval->high < tick)
            continue;
        found[ends++] = (syn_stream_end){event[i].event, prefix->end[p - 1].start, tick};
    }
    return ends;
}

syn_status syn_stream_list_extend(syn_stream *s, const syn_stream_list *prefix,
                                  uint32_t id, uint32_t pending, uint32_t since,
                                  uint32_t until, syn_stream_list *list)
{
    const syn_stream_kept *k = &s->kept[id];
    syn_stream_list unit = syn_stream_list_unit(s, k->unit, since, until);
    uint32_t room = unit.n + k->n_pending + 1;
    syn_stream_end *end = syn_arena_take(&s->lists, (size_t)room * sizeof *end);
    if (!end)
        return s->lists.refused;
    *list = (syn_stream_list){.end = end};
    for (uint32_t i = 0; i < k->n_pending; i++)
        if (k->pending[i].event >= pending && k->pending[i].event < since &&
            k->pending[i].start >= s->events.begin)
            end[list->n++] = k->pending[i];
    list->n += find_ends(prefix, &s->intervals[k->interval], unit.end, unit.n,
                         end + list->n);
    for (uint32_t i = 0; i < list->n; i++)
        if (end[i].event - end[i].start > list->span)
            list->span = end[i].event - end[i].start;
    return SYN_OK;
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

/* ---- candidates one by one ---- */

/* Counts one candidate through the events of its unit, all over the window. */
static void count_alone(const syn_stream *s, const syn_stream_list *list, uint32_t slot,
                        uint32_t *count, uint32_t *free)
{
    const syn_interval *interval = &s->intervals[slot / s->events.units];
    const syn_stream_unit *u = &s->events.of[slot % s->events.units];
    uint32_t p = 0, n = 0, next = 0;
    for (uint32_t i = u->head; i < u->n; i++) {
        int64_t tick = u->end[i].tick;
        while (p < list->n && list->end[p].tick + interval->low < tick)
            p++;
        if (p == 0 || list->end[p - 1].tick + interval->high < tick ||
            list->end[p - 1].start < next)
            continue;
        n++;
        next = u->end[i].event + 1;
    }
    *count = n;
    *free = next;
}

enum { ROW_STEPS = 8 };  /* steps one by one that take as long as a block of a row */

void syn_stream_count_new(syn_stream *s, uint32_t id, const syn_stream_list *list)
{
    const syn_stream_kept *k = &s->kept[id];
    const uint32_t *slot = s->kept[k->suffix].slot;
    const syn_stream_events *e = &s->events;
    double alone = 0, ends = list->n;
    double together = ends * (e->next ? ROW_STEPS * (double)e->stride / SYN_LANES
                                      : s->options.occupancy * s->options.n_intervals);
    if (list->n == 0)
        return;
    for (uint32_t i = k->counted; i < k->n && alone <= together; i++)
        alone += ends + syn_stream_unit_count(e, slot[i] % e->units);
    if (alone > together)
        syn_stream_count(s, id, list, k->counted, e->begin, e->end, k->count, k->free);
    else
        for (uint32_t i = k->counted; i < k->n; i++)
            count_alone(s, list, slot[i], &k->count[i], &k->free[i]);
}

/* ---- all candidates of an episode ---- */

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
