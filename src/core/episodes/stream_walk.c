/* The walks for events that came, and for candidates that are counted for the first time.
   A walk goes from an episode to those that it begins, whose ends follow from its own. */
#include <string.h>

#include "core/episodes/stream_kept.h"

/* What a walk will need is fetched so many steps ahead. */
enum { AHEAD = 6 };

/* ---- lists of ends ----

   Goes through lists of ends. Candidates are counted as in the window engine: from rows
   of the table of next occurrences where there is one, else by visiting the events of the
   windows. Between the two, and from one call to the next, all that is known of the rule
   is the last event that it counted, which is the same either way. */

/* Neighbouring ends, in the order of time; `more` come after them. */
typedef struct stream_list {
    const syn_stream_end *end;
    uint32_t n, more;
} stream_list;

/* Whether all ends can be counted from the table of next occurrences, in 16 bits. */
static inline int stream_has_rows(const syn_stream *s)
{
    return s->events.next && s->span + s->events.farthest + 1 < SYN_ROW_REACH;
}

enum { STREAM_CHUNK = 512 };

/* Some neighbouring ends, numbered from `base`, as the counters of rows take them. */
typedef struct stream_chunk {
    syn_row_end end[STREAM_CHUNK];
    uint32_t base, n;
    const uint16_t *row;  /* of the first one */
} stream_chunk;

/* ---- lists ---- */

/* The ends of an episode that is listed, or is a unit. */
static const syn_stream_ends *stream_ends_of(const syn_stream *s, uint32_t id)
{
    const syn_stream_kept *k = &s->kept[id];
    return k->size == 1 ? &s->events.of[k->unit] : &k->ends;
}

/* The ends of an episode that is listed, or is a unit, at events from `since` to before
   `until`. */
static stream_list stream_list_of(const syn_stream *s, uint32_t id, uint32_t since,
                                  uint32_t until)
{
    const syn_stream_ends *ends = stream_ends_of(s, id);
    uint32_t first = syn_stream_ends_from(ends, since), last = ends->n;
    if (until != s->events.end)
        last = syn_stream_ends_from(ends, until);
    return (stream_list){ends->end + first, last - first, ends->n - last};
}

/* The first event beyond one bound of an interval, from event `event` on. */
static inline uint32_t beyond(const syn_stream_events *e, const uint32_t *bound,
                              uint32_t event)
{
    return event + bound[event & e->mask];
}

/* Appends to the ends of episode `id`, of two or more events, those that are at ends of
   `at` from number `first` on and follow ends of its parent in `prefix`. `at` has all
   events where they can be: those of its last unit, or the ends of its suffix.
   Each end is at an event whose newest end of the prefix, among those whose window has
   opened, is still open. */
static syn_status stream_list_extend(syn_stream *s, uint32_t id,
                                     const syn_stream_ends *at, uint32_t first,
                                     const stream_list *prefix)
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

/* The ends from number `i` on: at most STREAM_CHUNK, and as many as have rows that do not
   cross the end of the ring, and windows that end within 16 bits from the first start
   on. */
static void stream_take_chunk(const syn_stream *s, const stream_list *list, uint32_t i,
                              stream_chunk *c)
{
    const syn_stream_events *e = &s->events;
    uint32_t first = list->end[i].event, before_turn = e->room - (first & e->mask);
    uint32_t reach = SYN_ROW_REACH - 1 - e->farthest;
    c->base = list->end[i].start;
    c->row = e->next + (first & e->mask) * e->stride;
    for (c->n = 0; c->n < STREAM_CHUNK && i + c->n < list->n; c->n++) {
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

static void visit_interval(const syn_stream *s, const stream_list *list,
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

/* ---- all candidates of an episode ---- */

/* Runs the greedy rule through the ends of kept episode `id` in `list`, for its
   candidates from `from` on: adds to count[] what it counts and moves free[] on to the
   event after the last one that it counted. The rule must have stood where free[] says
   when the first of the ends could be followed. Events before `since` have been counted,
   and those from `until` on may be left for later. */
static void stream_count(syn_stream *s, uint32_t id, const stream_list *list,
                         uint32_t from, uint32_t since, uint32_t until, uint32_t *count,
                         uint32_t *free)
{
    const syn_stream_kept *k = &s->kept[id];
    if (list->n == 0 || from >= k->n)
        return;
    if (stream_has_rows(s)) {
        stream_chunk c;
        for (uint32_t i = 0; i < list->n; i += c.n) {
            stream_take_chunk(s, list, i, &c);
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

/* ---- candidates one by one ---- */

/* Counts one candidate over the window: it can end only where what it ends with, one
   event shorter, does. */
static void count_alone(const syn_stream *s, const stream_list *list, uint32_t slot,
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

/* Counts the candidates of `id` that are not counted yet over the whole window. */
static void stream_count_new(syn_stream *s, uint32_t id)
{
    const syn_stream_kept *k = &s->kept[id];
    const uint32_t *slot = s->kept[k->suffix].slot;
    uint32_t begin = s->events.begin, end = s->events.end;
    stream_list list = stream_list_of(s, id, begin, end);
    if (list.n == 0)
        return;
    if (together_pays(s, id, list.n))
        stream_count(s, id, &list, k->counted, begin, end, k->count, k->free);
    else
        for (uint32_t i = k->counted; i < k->n; i++)
            count_alone(s, &list, slot[i], may_end(s, id, i), &k->count[i], &k->free[i]);
}

/* An episode is gone through as long as something below it has ends that events to come
   may follow. */
static void note_latest(syn_stream *s, uint32_t id)
{
    const syn_stream_ends *ends = &s->kept[id].ends;
    uint32_t latest = ends->n > ends->head ? ends->last + 1 : 0;
    for (; id != SYN_STREAM_ROOT && s->kept[id].latest < latest; id = s->kept[id].parent)
        s->kept[id].latest = latest;
}

/* Begins a walk with the single units. */
static syn_status set_out(syn_stream *s)
{
    const syn_stream_kept *root = &s->kept[SYN_STREAM_ROOT];
    s->n_steps = 0;
    for (uint32_t i = 0; i < root->kids; i++)
        if (s->kept[root->kid[i]].n > 0)
            SYN_TRY(syn_stream_step_to(s, root->kid[i], 0));
    return SYN_OK;
}

/* ---- events that came ---- */

/* Lists the ends of the episode of a step at the events from `since` on, which came, and
   counts what extends it. `pending` is the first event that they may follow. */
static syn_status go_back(syn_stream *s, syn_stream_step step, uint32_t since,
                          uint32_t pending)
{
    uint32_t id = step.id, parent = s->kept[id].parent;
    if (s->kept[id].size > 1) {
        const syn_stream_ends *ends = stream_ends_of(s, parent);
        stream_list prefix = {ends->end + step.first, ends->n - step.first, 0};
        uint32_t unit = s->kept[id].unit;
        SYN_TRY(stream_list_extend(s, id, &s->events.of[unit], s->came[unit], &prefix));
    }
    stream_list list = stream_list_of(s, id, pending, s->events.end);
    syn_stream_kept *k = &s->kept[id];
    if (list.n > 0) {
        stream_count(s, id, &list, 0, since, s->events.end, k->count, k->free);
        k->changed = 1;
        syn_stream_kept_touch(s, id);
        note_latest(s, id);
    }
    uint32_t first = stream_ends_of(s, id)->n - list.n;
    for (uint32_t i = 0; i < k->kids; i++) {
        const syn_stream_kept *kid = &s->kept[k->kid[i]];
        if (kid->n > 0 && (list.n > 0 || kid->latest > pending))
            SYN_TRY(syn_stream_step_to(s, k->kid[i], first));
    }
    return SYN_OK;
}

/* Lists are far apart in memory. */
static void fetch_tail(const syn_stream *s, size_t at)
{
    if (at >= s->n_steps)
        return;
    const syn_stream_kept *k = &s->kept[s->step[at].id];
    if (k->ends.n > 0)
        __builtin_prefetch(&k->ends.end[k->ends.n - 1]);
    __builtin_prefetch(k->count);
    __builtin_prefetch(k->free);
}

syn_status syn_stream_walk_back(syn_stream *s, uint32_t since)
{
    syn_status status = set_out(s);
    uint32_t pending = syn_stream_pending(&s->events, since);
    for (uint32_t u = 0; u < s->events.units; u++)
        s->came[u] = syn_stream_ends_from(&s->events.of[u], since);
    for (size_t at = 0; at < s->n_steps && status == SYN_OK; at++) {
        fetch_tail(s, at + AHEAD);
        status = go_back(s, s->step[at], since, pending);
        SYN_NEXT(status, syn_stream_look_up(s));
    }
    return status;
}

/* ---- candidates that are new ---- */

/* Lists all ends of an episode in the window. */
static syn_status list_whole(syn_stream *s, uint32_t id)
{
    const syn_stream_ends *at = stream_ends_of(s, s->kept[id].suffix);
    if (s->kept[id].size == 1 || s->kept[id].listed)
        return SYN_OK;
    syn_stream_ends *own = &s->kept[id].ends;
    s->scratch.head = s->scratch.n = 0;
    *own = s->scratch;
    stream_list prefix =
        stream_list_of(s, s->kept[id].parent, s->events.begin, s->events.end);
    syn_status status = stream_list_extend(s, id, at, at->head, &prefix);
    s->scratch = *own;
    memset(own, 0, sizeof *own);
    SYN_TRY(status);
    SYN_TRY(syn_stream_ends_room(own, &s->budget, s->scratch.n));
    if (s->scratch.n > 0)
        memcpy(own->end, s->scratch.end, s->scratch.n * sizeof *own->end);
    own->n = s->scratch.n;
    syn_stream_ends_note(own);
    s->kept[id].listed = 1;
    note_latest(s, id);
    return syn_stream_look_up(s);
}

syn_status syn_stream_walk_whole(syn_stream *s, size_t size)
{
    const syn_stream_level *level = &s->level[size];
    for (uint32_t i = 0; i < level->n; i++)
        if (s->kept[level->kept[i]].n > 0)
            SYN_TRY(list_whole(s, level->kept[i]));
    for (uint32_t i = 0; i < level->n; i++)
        if (s->kept[level->kept[i]].counted < s->kept[level->kept[i]].n) {
            syn_stream_kept *k = &s->kept[level->kept[i]];
            stream_count_new(s, level->kept[i]);
            s->anew += k->n - k->counted;
            k->counted = k->n;
            k->changed = 1;
            SYN_TRY(syn_stream_look_up(s));
        }
    return SYN_OK;
}

/* ---- events that go ----

   The walk for events that go. Two chains of counts start at the front, one from the old
   beginning of the window and one from the new one. Once they agree on what is free, they
   are the same from there on: for most episodes that is soon after what goes. */

/* The start of the first end in the list that events to come may follow. Ends before
   number `i` only are of interest: UINT32_MAX where it is none of them. */
static uint32_t pending_start(const stream_list *list, uint32_t i, uint32_t pending)
{
    uint32_t start = UINT32_MAX;
    while (i > 0 && list->end[i - 1].event >= pending)
        start = list->end[--i].start;
    return start;
}

/* Ends in which most chains meet: fewer without a table, where each end costs a visit to
   every event of its windows. */
enum { FIRST_ENDS = 16, FIRST_VISITED = 2 };

enum { TOLD, TFREE, BOLD, BFREE };  /* chains from the old beginning and from the new */

/* Whether the chains are the same for whatever starts from `start` on. */
static int have_met(const syn_stream *s, uint32_t n, uint32_t start)
{
    const uint32_t *a = s->chain[TFREE], *b = s->chain[BFREE];
    int apart = 0;
    for (uint32_t i = 0; i < n; i++)
        apart |= a[i] != b[i] && (a[i] > start || b[i] > start);
    return !apart;
}

/* Takes from the counts of all candidates what the old chains count more than those from
   event `begin` on. Where chains do not meet, the new one is the one to go on with; ends
   from event `pending` on will be gone through again. */
static syn_status uncount(syn_stream *s, uint32_t id, const stream_list *list,
                          uint32_t begin, uint32_t pending)
{
    syn_stream_kept *k = &s->kept[id];
    uint32_t i, since = s->events.begin, until = s->events.end;
    /* Chains that have counted nothing. */
    for (int c = 0; c < 4; c++) {
        SYN_GROW(&s->budget, s->chain[c], s->chain_room[c], k->n);
        memset(s->chain[c], 0, k->n * sizeof **s->chain);
    }
    for (uint32_t c = 0; c < k->n; c++)
        s->chain[BFREE][c] = begin;
    uint32_t most = stream_has_rows(s) ? FIRST_ENDS : FIRST_VISITED;
    for (i = 0; i < list->n; most *= 4) {
        stream_list some = {list->end + i, list->n - i, 0};
        if (some.n > most)
            some = (stream_list){some.end, most, some.n - most};
        stream_count(s, id, &some, 0, since, until, s->chain[TOLD], s->chain[TFREE]);
        stream_count(s, id, &some, 0, since, until, s->chain[BOLD], s->chain[BFREE]);
        i += some.n;
        uint32_t start = pending_start(list, i, pending);
        if (i < list->n && list->end[i].start < start)
            start = list->end[i].start;
        if (i < list->n && have_met(s, k->n, start))
            break;
    }
    for (uint32_t c = 0; c < k->n; c++)
        k->count[c] -= s->chain[TOLD][c] - s->chain[BOLD][c];
    if (i == list->n)
        memcpy(k->free, s->chain[BFREE], k->n * sizeof *k->free);
    return SYN_OK;
}

/* ---- the walk ---- */

static syn_status go_front(syn_stream *s, uint32_t id, uint32_t begin, uint32_t pending)
{
    const syn_stream_ends *ends = stream_ends_of(s, id);
    if (ends->n == ends->head || ends->start >= begin)
        return SYN_OK;  /* nor does anything go of what it begins */
    stream_list list = {ends->end + ends->head, ends->n - ends->head, 0};
    syn_stream_kept_touch(s, id);
    syn_status status = uncount(s, id, &list, begin, pending);
    for (uint32_t i = 0; i < s->kept[id].kids && status == SYN_OK; i++) {
        const syn_stream_kept *kid = &s->kept[s->kept[id].kid[i]];
        if (kid->n > 0 && kid->ends.n > kid->ends.head && kid->ends.start < begin)
            status = syn_stream_step_to(s, s->kept[id].kid[i], 0);
    }
    return status;
}

/* Lists are far apart in memory. */
static void fetch_head(const syn_stream *s, size_t at)
{
    if (at >= s->n_steps)
        return;
    const syn_stream_kept *k = &s->kept[s->step[at].id];
    if (k->ends.n > k->ends.head) {
        __builtin_prefetch(&k->ends.end[k->ends.head]);
        __builtin_prefetch(&k->ends.end[k->ends.head + 8]);
    }
    __builtin_prefetch(k->count);
}

syn_status syn_stream_walk_front(syn_stream *s, uint32_t begin)
{
    uint32_t pending = syn_stream_pending(&s->events, s->events.end - 1);
    syn_status status = set_out(s);
    for (size_t at = 0; at < s->n_steps && status == SYN_OK; at++) {
        fetch_head(s, at + AHEAD);
        status = go_front(s, s->step[at].id, begin, pending);
        SYN_NEXT(status, syn_stream_look_up(s));
    }
    /* Ends that start before the new beginning are none any more. */
    for (uint32_t i = 0; i < s->n_touched; i++)
        syn_stream_ends_drop(&s->kept[s->touched[i]].ends, begin);
    return status;
}
