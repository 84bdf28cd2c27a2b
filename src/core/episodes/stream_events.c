/* The ring of the events of a stream. It doubles when it is full; whoever numbers events
   never sees where they stand. */
#include "core/episodes/stream_events.h"

#include <string.h>

#include "core/base/seek.h"
#include "core/episodes/rows.h"

enum { LEAST_ROOM = 64, MOST_EVENTS = 1 << 28 };

/* ---- memory ---- */

/* An array of the ring moved to one of `room` places of `size` bytes, in the order of
   the ring. NULL when there is no memory for it: the old one stays. */
static void *move_ring(const syn_stream_events *e, void *old, uint32_t room, size_t size)
{
    char *new = syn_budget_alloc(e->budget, room, size);
    for (uint32_t i = e->begin; new && i != e->end; i++)
        memcpy(new + (i & (room - 1)) * size, (char *)old + (i & e->mask) * size, size);
    if (new)
        syn_budget_free(e->budget, old);
    return new;
}

static int move_windows(syn_stream_events *e, uint32_t **bound, uint32_t room)
{
    for (uint32_t k = 0; k < e->intervals; k++) {
        uint32_t *moved = move_ring(e, bound[k], room, sizeof *moved);
        if (!moved)
            return 0;
        bound[k] = moved;
    }
    return 1;
}

/* Arrays that were moved before memory ran out are longer than the others say: nothing
   but freeing them follows. */
static syn_status make_room(syn_stream_events *e, uint32_t room, int table)
{
    int64_t *tick = move_ring(e, e->tick, room, sizeof *tick);
    e->tick = tick ? tick : e->tick;
    uint32_t *unit = move_ring(e, e->unit, room, sizeof *unit);
    e->unit = unit ? unit : e->unit;
    uint32_t *back = move_ring(e, e->back, room, sizeof *back);
    e->back = back ? back : e->back;
    int done = tick && unit && back && move_windows(e, e->open, room) &&
               move_windows(e, e->shut, room);
    if (done && table) {
        uint16_t *next = move_ring(e, e->next, room, e->stride * sizeof *next);
        e->next = next ? next : e->next;
        done = next != NULL;
    }
    if (!done)
        return syn_budget_refusal(e->budget);
    e->room = room;
    e->mask = room - 1;
    return SYN_OK;
}

syn_status syn_stream_events_open(syn_stream_events *e, int table)
{
    e->stride = (size_t)e->intervals * e->units;
    SYN_TAKE_ZEROS(e->budget, e->open, e->intervals);
    SYN_TAKE_ZEROS(e->budget, e->shut, e->intervals);
    SYN_TAKE_ZEROS(e->budget, e->seen, e->units);
    SYN_TAKE_ZEROS(e->budget, e->of, e->units);
    return make_room(e, LEAST_ROOM, table);
}

void syn_stream_events_free(syn_stream_events *e)
{
    for (uint32_t k = 0; k < e->intervals; k++) {
        if (e->open)
            syn_budget_free(e->budget, e->open[k]);
        if (e->shut)
            syn_budget_free(e->budget, e->shut[k]);
    }
    for (uint32_t u = 0; e->of && u < e->units; u++)
        syn_budget_free(e->budget, e->of[u].end);
    SYN_GIVE(e->budget, e->open, e->shut, e->seen, e->of, e->tick, e->unit, e->back,
             e->next);
}

/* ---- ends ---- */

/* What is looked for is near the first end or near the last one, as a rule. */
uint32_t syn_stream_ends_from(const syn_stream_ends *ends, uint32_t event)
{
    uint32_t low = ends->head, step = 1;
    if (low == ends->n || ends->last < event)
        return ends->n;
    if (event <= ends->end[low].event)
        return low;
    if (event - ends->end[low].event < ends->end[ends->n - 1].event - event) {
        SYN_SEEK_NEAR(uint32_t, at, low, ends->n, ends->end[at].event < event);
        return low;
    }
    uint32_t high = ends->n;
    while (high - low > step && ends->end[high - step].event >= event) {
        high -= step;
        step *= 2;
    }
    low = high - low > step ? high - step : low;
    SYN_SEEK(uint32_t, at, low, high, ends->end[at].event < event);
    return low;
}

enum { A_FEW = 8 };

/* Lists are many, and change little: an eighth of them is enough to spare. */
syn_status syn_stream_ends_room(syn_stream_ends *ends, syn_budget *budget, uint32_t n)
{
    uint32_t held = syn_stream_ends_count(ends);
    size_t wanted = (size_t)held + n, room = wanted + wanted / 8 + A_FEW;
    if ((size_t)ends->n + n <= ends->room)
        return SYN_OK;
    syn_stream_end *moved = ends->end;
    if (room > ends->room) {
        SYN_TAKE(budget, moved, room);
        ends->room = room;
    }
    if (held > 0)
        memmove(moved, ends->end + ends->head, held * sizeof *moved);
    if (moved != ends->end)
        syn_budget_free(budget, ends->end);
    ends->end = moved;
    ends->head = 0;
    ends->n = held;
    return SYN_OK;
}

void syn_stream_ends_drop(syn_stream_ends *ends, uint32_t begin)
{
    if (ends->n == ends->head || ends->start >= begin)
        return;
    while (ends->head < ends->n && ends->end[ends->head].start < begin)
        ends->head++;
    syn_stream_ends_note(ends);
}

void syn_stream_ends_renumber(syn_stream_ends *ends, uint32_t by)
{
    for (uint32_t i = ends->head; i < ends->n; i++) {
        ends->end[i].event -= by;
        ends->end[i].start -= by;
    }
    syn_stream_ends_note(ends);
}

/* ---- events that come ---- */

static syn_status append_to_unit(syn_stream_events *e, uint32_t unit, uint32_t event)
{
    syn_stream_ends *u = &e->of[unit];
    SYN_TRY(syn_stream_ends_room(u, e->budget, 1));
    u->end[u->n++] = (syn_stream_end){event, syn_stream_group(e, event)};
    syn_stream_ends_note(u);
    return SYN_OK;
}

syn_status syn_stream_events_append(syn_stream_events *e, size_t n, const double *tick,
                                    const int *unit)
{
    size_t held = e->end - e->begin;
    uint32_t room = e->room;
    if (n > MOST_EVENTS || held + n > MOST_EVENTS)
        return SYN_TOO_LARGE;
    while (held + n > room)
        room *= 2;
    syn_status status = room > e->room ? make_room(e, room, e->next != NULL) : SYN_OK;
    for (size_t i = 0; status == SYN_OK && i < n; i++) {
        uint32_t at = e->end & e->mask, before = (e->end - 1) & e->mask;
        e->tick[at] = (int64_t)tick[i];
        e->unit[at] = (uint32_t)unit[i] - 1;
        e->back[at] = 0;
        if (e->end > e->begin && e->tick[before] == e->tick[at])
            e->back[at] = e->back[before] + 1;
        status = append_to_unit(e, e->unit[at], e->end);
        e->end++;
    }
    return status;
}

uint32_t syn_stream_pending(const syn_stream_events *e, uint32_t event)
{
    int64_t tick = syn_stream_tick(e, event);
    while (event > e->begin && tick - syn_stream_tick(e, event - 1) <= e->reach)
        event--;
    return event;
}

/* ---- windows ---- */

void syn_stream_fill(syn_stream_events *e, uint32_t from)
{
    for (uint32_t k = 0; k < e->intervals; k++) {
        uint32_t open = from, shut = from;
        for (uint32_t i = from; i < e->end; i++) {
            int64_t tick = syn_stream_tick(e, i);
            while (open < e->end && syn_stream_tick(e, open) - tick <= e->interval[k].low)
                open++;
            while (shut < e->end &&
                   syn_stream_tick(e, shut) - tick <= e->interval[k].high)
                shut++;
            e->open[k][i & e->mask] = open - i;
            e->shut[k][i & e->mask] = shut - i;
            if (shut - i > e->farthest)
                e->farthest = shut - i;
        }
    }
    if (e->next && e->farthest >= SYN_ROW_REACH) {  /* beyond 16 bits, from now on */
        syn_budget_free(e->budget, e->next);
        e->next = NULL;
    }
    for (uint32_t k = 0; e->next && k < e->intervals; k++) {
        /* Going back in time, an event that enters the window is the first of its unit.
           */
        uint32_t entered = e->end, *next = e->seen;
        memset(next, 0xff, e->units * sizeof *next);
        for (uint32_t i = e->end; i-- > from;) {
            uint32_t at = i & e->mask, open = i + e->open[k][at],
                     shut = i + e->shut[k][at];
            uint16_t *row = e->next + at * e->stride + (size_t)k * e->units;
            while (entered > open) {
                entered--;
                next[e->unit[entered & e->mask]] = entered;
            }
            for (uint32_t u = 0; u < e->units; u++)
                row[u] = next[u] < shut ? (uint16_t)(next[u] - i) : 0;
        }
    }
}

/* ---- events that go ---- */

uint32_t syn_stream_cut(const syn_stream_events *e, int64_t cut)
{
    uint32_t event = e->begin;
    while (event < e->end && syn_stream_tick(e, event) <= cut)
        event++;
    return event;
}

void syn_stream_drop(syn_stream_events *e, uint32_t begin)
{
    for (uint32_t u = 0; u < e->units; u++)
        syn_stream_ends_drop(&e->of[u], begin);
    e->begin = begin;
}

void syn_stream_renumber(syn_stream_events *e, uint32_t by)
{
    e->begin -= by;
    e->end -= by;
    for (uint32_t u = 0; u < e->units; u++)
        syn_stream_ends_renumber(&e->of[u], by);
}
