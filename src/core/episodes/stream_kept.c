/* Which episodes a stream keeps. The arrays of all episodes with a common suffix change
   together: what a new kid of the suffix adds stands last in each, and where a kid is
   taken out the last one takes its place. */
#include "core/episodes/stream_kept.h"

#include <string.h>

#include "core/base/seek.h"

/* ---- the ring of events ----

   The ring of the events of a stream. It doubles when it is full; whoever numbers events
   never sees where they stand. */

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

/* ---- numbers of episodes ---- */

static syn_status new_number(syn_stream *s, uint32_t *id)
{
    if (s->n_unused > 0) {
        *id = s->unused[--s->n_unused];
    } else {
        size_t n = (size_t)s->n_kept + 1;
        SYN_GROW(&s->budget, s->kept, s->kept_room, n);
        SYN_GROW(&s->budget, s->count, s->count_room, n);
        SYN_GROW(&s->budget, s->touched, s->touched_room, n);
        *id = s->n_kept++;
    }
    memset(&s->kept[*id], 0, sizeof s->kept[*id]);
    s->count[*id] = 0;
    s->kept[*id].used = 1;
    s->kept[*id].user = s->kept[*id].before = s->kept[*id].after = SYN_STREAM_NONE;
    return SYN_OK;
}

static syn_status add_to_level(syn_stream *s, uint32_t id)
{
    size_t size = s->kept[id].size;
    while (s->levels <= size) {
        SYN_GROW(&s->budget, s->level, s->level_room, s->levels + 1);
        memset(&s->level[s->levels++], 0, sizeof *s->level);
    }
    syn_stream_level *level = &s->level[size];
    SYN_GROW(&s->budget, level->kept, level->room, (size_t)level->n + 1);
    s->kept[id].spot = level->n;
    level->kept[level->n++] = id;
    return SYN_OK;
}

static void free_arrays(syn_stream *s, syn_stream_kept *k)
{
    SYN_GIVE(&s->budget, k->kid, k->slot, k->count, k->free, k->node, k->ends.end);
}

/* ---- candidates ---- */

/* Gives an episode the candidates up to place `n` of its suffix. */
static syn_status add_candidates(syn_stream *s, uint32_t id, uint32_t n)
{
    syn_stream_kept *k = &s->kept[id];
    SYN_GROW(&s->budget, k->count, k->count_room, n);
    SYN_GROW(&s->budget, k->free, k->free_room, n);
    SYN_GROW(&s->budget, k->node, k->node_room, n);
    for (uint32_t i = k->n; i < n; i++) {
        k->count[i] = k->free[i] = 0;
        k->node[i] = SYN_STREAM_NONE;
    }
    s->candidates += n - k->n;
    k->n = n;
    s->risen = 1;
    if (s->device)
        s->device->touched(s->device->self, id);
    return SYN_OK;
}

/* Moves the candidates of the last kid to those of the kid at `place`. */
static void take_candidates(syn_stream *s, syn_stream_kept *k, uint32_t place,
                            uint32_t width)
{
    uint32_t from = k->n - width, to = place * width;
    memmove(k->count + to, k->count + from, width * sizeof *k->count);
    memmove(k->free + to, k->free + from, width * sizeof *k->free);
    memmove(k->node + to, k->node + from, width * sizeof *k->node);
    k->n = k->counted = from;
    s->candidates -= width;
    if (s->device)
        s->device->touched(s->device->self, (uint32_t)(k - s->kept));
    if (k->n > 0)
        return;
    syn_budget_free(&s->budget, k->ends.end);
    memset(&k->ends, 0, sizeof k->ends);
    k->listed = 0;
}

/* ---- kids ---- */

static syn_status add_kid(syn_stream *s, uint32_t parent, uint32_t id)
{
    syn_stream_kept *p = &s->kept[parent];
    uint32_t width = syn_stream_kept_width(s, parent);
    SYN_GROW(&s->budget, p->kid, p->kid_room, (size_t)p->kids + 1);
    SYN_GROW(&s->budget, p->slot, p->slot_room, (size_t)p->slots + width);
    s->kept[id].place = p->kids;
    p->kid[p->kids++] = id;
    for (uint32_t k = 0; k < width; k++) {
        uint32_t interval = parent == SYN_STREAM_ROOT ? k : s->kept[id].interval;
        uint32_t slot = interval * s->events.units + s->kept[id].unit;
        if (parent == SYN_STREAM_ROOT)
            s->root_seat[slot] = p->slots;
        p->slot[p->slots++] = slot;
    }
    for (uint32_t user = p->user; user != SYN_STREAM_NONE; user = s->kept[user].after)
        SYN_TRY(add_candidates(s, user, p->slots));
    return SYN_OK;
}

static void take_kid(syn_stream *s, uint32_t parent, uint32_t place)
{
    syn_stream_kept *p = &s->kept[parent];
    uint32_t width = syn_stream_kept_width(s, parent), last = p->kid[--p->kids];
    p->slots -= width;
    for (uint32_t k = 0; k < width; k++) {
        uint32_t *slot = &p->slot[place * width + k];
        if (parent == SYN_STREAM_ROOT)
            s->root_seat[*slot] = SYN_STREAM_NONE;
        *slot = p->slot[p->slots + k];
        if (parent == SYN_STREAM_ROOT && place < p->kids)
            s->root_seat[*slot] = place * width + k;
    }
    p->kid[place] = last;
    s->kept[last].place = place;
    if (s->device)
        s->device->moved(s->device->self, s, parent, p->slots, place * width, width);
    for (uint32_t user = p->user; user != SYN_STREAM_NONE; user = s->kept[user].after)
        take_candidates(s, &s->kept[user], place, width);
}

/* ---- episodes with a common suffix ---- */

static void link_to_suffix(syn_stream *s, uint32_t id)
{
    syn_stream_kept *k = &s->kept[id], *suffix = &s->kept[k->suffix];
    k->after = suffix->user;
    if (suffix->user != SYN_STREAM_NONE)
        s->kept[suffix->user].before = id;
    suffix->user = id;
}

static void unlink_from_suffix(syn_stream *s, uint32_t id)
{
    const syn_stream_kept *k = &s->kept[id];
    if (k->after != SYN_STREAM_NONE)
        s->kept[k->after].before = k->before;
    if (k->before != SYN_STREAM_NONE)
        s->kept[k->before].after = k->after;
    else if (s->kept[k->suffix].user == id)
        s->kept[k->suffix].user = k->after;
}

/* ---- in and out ---- */

syn_status syn_stream_kept_open(syn_stream *s)
{
    uint32_t root;
    size_t slots = s->events.stride;
    SYN_TAKE(&s->budget, s->root_seat, slots + 1);
    SYN_TAKE(&s->budget, s->seat, slots + 1);
    SYN_TAKE_ZEROS(&s->budget, s->lane_free, slots + 1);
    SYN_TAKE_ZEROS(&s->budget, s->lane_hits, slots + 1);
    SYN_TAKE_ZEROS(&s->budget, s->block, slots / SYN_LANES + 1);
    SYN_TAKE_ZEROS(&s->budget, s->came, s->events.units + 1);
    memset(s->root_seat, 0xff, slots * sizeof *s->root_seat);
    memset(s->seat, 0xff, slots * sizeof *s->seat);
    return new_number(s, &root);
}

syn_status syn_stream_kept_enter(syn_stream *s, uint32_t parent, uint32_t unit,
                          uint32_t interval, uint32_t suffix)
{
    uint32_t id;
    SYN_TRY(new_number(s, &id));
    syn_stream_kept *k = &s->kept[id];
    k->unit = unit;
    k->interval = interval;
    k->parent = parent;
    k->suffix = suffix;
    k->size = s->kept[parent].size + 1;
    k->serial = ++s->version;
    if (k->size > 1) {
        uint32_t candidate = syn_stream_kept_candidate(s, id);
        s->kept[parent].node[candidate] = id;
        s->count[id] = s->kept[parent].count[candidate];
    } else {
        s->count[id] = syn_stream_unit_count(&s->events, unit);
    }
    syn_status status = add_to_level(s, id);
    SYN_NEXT(status, add_kid(s, parent, id));
    if (status != SYN_OK || s->kept[id].size == s->options.max_size)
        return status;
    status = add_candidates(s, id, s->kept[suffix].slots);
    link_to_suffix(s, id);
    return status;
}

syn_status syn_stream_kept_leave(syn_stream *s, uint32_t id)
{
    syn_stream_kept *k = &s->kept[id];
    SYN_GROW(&s->budget, s->unused, s->unused_room, (size_t)s->n_unused + 1);
    if (k->size > 1)
        s->kept[k->parent].node[syn_stream_kept_candidate(s, id)] = SYN_STREAM_NONE;
    unlink_from_suffix(s, id);
    take_kid(s, k->parent, k->place);
    syn_stream_level *level = &s->level[s->kept[id].size];
    uint32_t last = level->kept[--level->n], spot = s->kept[id].spot;
    level->kept[spot] = last;
    s->kept[last].spot = spot;
    s->candidates -= k->n;
    if (s->device)
        s->device->left(s->device->self, id);
    free_arrays(s, k);
    memset(k, 0, sizeof *k);
    s->count[id] = 0;
    s->version++;
    s->unused[s->n_unused++] = id;
    return SYN_OK;
}

syn_status syn_stream_step_to(syn_stream *s, uint32_t id, uint32_t first)
{
    SYN_GROW(&s->budget, s->step, s->step_room, s->n_steps + 1);
    s->step[s->n_steps++] = (syn_stream_step){id, first};
    return SYN_OK;
}

void syn_stream_kept_note(syn_stream *s)
{
    const syn_stream_kept *root = &s->kept[SYN_STREAM_ROOT];
    for (uint32_t i = 0; i < root->kids; i++)
        s->count[root->kid[i]] =
            syn_stream_unit_count(&s->events, s->kept[root->kid[i]].unit);
    for (uint32_t t = 0; t < s->n_touched; t++) {
        syn_stream_kept *k = &s->kept[s->touched[t]];
        k->touched = 0;
        for (uint32_t i = 0; i < k->n; i++)
            if (k->node[i] != SYN_STREAM_NONE)
                s->count[k->node[i]] = k->count[i];
    }
    s->n_touched = 0;
}
