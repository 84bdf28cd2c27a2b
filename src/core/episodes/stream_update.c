/* One update of a stream: what came is counted at the back, what went no longer at the
   front, and then episodes are kept that have become frequent, and kept no longer that
   have become clearly rarer. */

#include <stdlib.h>
#include <string.h>

#include "core/episodes/stream_kept.h"

/* ---- opening and closing ---- */

/* Whether the table of next occurrences pays, by the rule of the window engine: a row
   costs about as much as visiting two events for each block of lanes, and it may take
   half of the memory. The ring may be twice as long as what it holds. */
static int table_pays(const syn_stream *s)
{
    double blocks = (double)(s->events.units / SYN_LANES);
    double row = 2.0 * s->events.units * s->options.n_intervals;
    return 2 * blocks <= s->options.occupancy + 4 &&
           2 * s->options.events * row <= (double)s->options.max_memory / 2;
}

static syn_status open_stream(syn_stream *s, const syn_stream_options *options)
{
    uint32_t n = options->n_intervals;
    s->options = *options;
    s->budget.limit = options->max_memory;
    s->follow_rows = syn_follow_rows_fastest(0);
    s->span = options->units;  /* no more are on a tick */
    SYN_TAKE(&s->budget, s->intervals, n);
    memcpy(s->intervals, options->intervals, n * sizeof *s->intervals);
    s->options.intervals = s->intervals;
    s->events = (syn_stream_events){.budget = &s->budget, .interval = s->intervals,
                                    .intervals = n};
    s->events.units = (options->units / SYN_LANES + 1) * SYN_LANES;
    for (uint32_t k = 0; k < n; k++)
        if (s->intervals[k].high > s->events.reach)
            s->events.reach = s->intervals[k].high;
    syn_status status = syn_stream_events_open(&s->events, !s->device && table_pays(s));
    return status == SYN_OK ? syn_stream_kept_open(s) : status;
}

static int own_device(syn_stream *s, const syn_stream_device *device)
{
    if (!device)
        return 1;
    s->device = malloc(sizeof *device);
    if (s->device)
        *s->device = *device;
    return s->device != NULL;
}

syn_stream *syn_stream_open(const syn_stream_options *options)
{
    syn_stream *s = calloc(1, sizeof *s);
    if (s && own_device(s, options->device) && open_stream(s, options) == SYN_OK)
        return s;
    if (options->device && !(s && s->device))
        options->device->close(options->device->self);
    syn_stream_free(s);
    return NULL;
}

void syn_stream_free(syn_stream *s)
{
    if (!s)
        return;
    if (s->device)
        s->device->close(s->device->self);
    free(s->device);
    syn_budget_end(&s->budget);
    free(s);
}

/* ---- what is kept ---- */

/* Candidates that an update counts ahead of time, about: a device takes as long for many
   as for few. */
enum { AHEAD = 16, AHEAD_ON_DEVICE = 1024 };

/* Whether something may be kept that is too rare by now. */
static int may_let_go(const syn_stream *s)
{
    uint32_t least = syn_stream_least_kept(s);
    for (uint32_t u = 0; u < s->events.units && !s->fallen; u++)
        if (s->root_seat[u] != SYN_STREAM_NONE &&
            syn_stream_unit_count(&s->events, u) < least)
            return 1;
    return s->fallen;
}

static syn_status let_go(syn_stream *s)
{
    uint32_t least = syn_stream_least_kept(s);
    if (!may_let_go(s))
        return SYN_OK;
    s->fallen = 0;
    /* Longer ones first: what is kept may not lose what it contains. */
    for (size_t size = s->levels; size-- > 1;) {
        syn_stream_level *level = &s->level[size];
        for (uint32_t i = level->n; i-- > 0;)
            if (s->count[level->kept[i]] < least)
                SYN_TRY(syn_stream_kept_leave(s, level->kept[i]));
    }
    return SYN_OK;
}

/* Whether a unit may extend an episode: not to itself where units must be distinct. What
   comes twice in the middle does so at the ends of something shorter. */
static int may_extend(const syn_stream *s, uint32_t id, uint32_t unit)
{
    if (!s->options.distinct_units)
        return 1;
    while (s->kept[id].size > 1)
        id = s->kept[id].parent;
    return s->kept[id].unit != unit;
}

static syn_status take_in_candidates(syn_stream *s, uint32_t id)
{
    syn_status status = SYN_OK;
    uint32_t suffix = s->kept[id].suffix, width = syn_stream_kept_width(s, suffix);
    uint32_t ahead = syn_stream_least_ahead(s);
    s->kept[id].changed = 0;
    for (uint32_t i = 0; i < s->kept[id].n && status == SYN_OK; i++) {
        uint32_t count = s->kept[id].count[i];
        if (count < ahead || s->kept[id].node[i] != SYN_STREAM_NONE)
            continue;
        uint32_t slot = s->kept[suffix].slot[i], unit = slot % s->events.units;
        if (!may_extend(s, id, unit))
            continue;
        if (count < s->min_count && s->ahead == 0) {
            s->kept[id].changed = s->later = 1;  /* another time */
            continue;
        }
        size_t more = s->candidates;
        status = syn_stream_kept_enter(s, id, unit, slot / s->events.units,
                                       s->kept[suffix].kid[i / width]);
        more = s->candidates - more;
        if (count < s->min_count)
            s->ahead = s->ahead > more ? s->ahead - more : 0;
    }
    return status;
}

static syn_status take_in_units(syn_stream *s)
{
    for (uint32_t u = 0; u < s->events.units; u++)
        if (syn_stream_unit_count(&s->events, u) >= s->min_count &&
            s->root_seat[u] == SYN_STREAM_NONE)
            SYN_TRY(syn_stream_kept_enter(s, SYN_STREAM_ROOT, u, 0, SYN_STREAM_ROOT));
    return SYN_OK;
}

/* Size after size, as what is kept of one size brings candidates of the next. */
static syn_status take_in(syn_stream *s, int all)
{
    syn_status status = take_in_units(s);
    s->ahead = all ? SIZE_MAX : s->device ? AHEAD_ON_DEVICE : AHEAD;
    if (!all && !s->risen)
        return status;
    s->later = 0;
    for (size_t size = 1; size < s->levels && status == SYN_OK; size++) {
        status = s->device ? s->device->count(s->device->self, s, size)
                           : syn_stream_walk_whole(s, size);
        for (uint32_t i = 0; i < s->level[size].n && status == SYN_OK; i++) {
            uint32_t id = s->level[size].kept[i];
            if (all || s->kept[id].changed)
                status = take_in_candidates(s, id);
        }
    }
    s->risen = s->later;
    return status;
}

/* ---- an update ---- */

/* Numbers of events fit in 32 bits for ever. */
static syn_status renumber(syn_stream *s)
{
    uint32_t by = s->events.begin & ~s->events.mask;
    if (s->events.begin / 2 < s->events.room)
        return SYN_OK;
    syn_stream_renumber(&s->events, by);
    if (s->device)
        return s->device->renumber(s->device->self, s, by);
    for (uint32_t id = 0; id < s->n_kept; id++) {
        syn_stream_kept *k = &s->kept[id];
        for (uint32_t i = 0; i < k->n; i++)
            k->free[i] = k->free[i] > by ? k->free[i] - by : 0;
        k->latest = k->latest > by ? k->latest - by : 0;
        syn_stream_ends_renumber(&k->ends, by);
    }
    return SYN_OK;
}

static syn_status append(syn_stream *s, const syn_stream_block *block)
{
    uint32_t since = s->events.end;
    syn_status status =
        syn_stream_events_append(&s->events, block->n, block->tick, block->unit);
    if (status != SYN_OK || block->n == 0)
        return status;
    syn_stream_fill(&s->events, syn_stream_pending(&s->events, since));
    return syn_stream_walk_back(s, since);
}

static syn_status drop(syn_stream *s, int64_t cut)
{
    uint32_t begin = syn_stream_cut(&s->events, cut);
    if (begin == s->events.begin)
        return SYN_OK;
    syn_status status = syn_stream_walk_front(s, begin);
    syn_stream_drop(&s->events, begin);
    return status;
}

static syn_status move_on_device(syn_stream *s, const syn_stream_block *block,
                                 int64_t cut, int all)
{
    uint32_t since = s->events.end;
    syn_status status = SYN_OK;
    SYN_TRY(syn_stream_events_append(&s->events, block->n, block->tick, block->unit));
    uint32_t begin = syn_stream_cut(&s->events, cut);
    if (block->n > 0 || begin > s->events.begin || all)
        status = s->device->move(s->device->self, s, since, begin, all);
    syn_stream_drop(&s->events, begin);
    return status;
}

syn_status syn_stream_update(syn_stream *s, const syn_stream_block *block, int64_t cut,
                             uint32_t min_count, const syn_watch *watch)
{
    int all = min_count < s->min_count || s->events.end == s->events.begin;
    /* A device reports risen and fallen counts; without a device, both are assumed. */
    s->fallen |= !s->device || min_count > s->min_count;
    s->risen |= !s->device;
    s->min_count = min_count;
    s->watch = watch;
    s->polled = syn_seconds();
    syn_status status;
    if (s->device) {
        status = move_on_device(s, block, cut, all);
    } else {
        status = append(s, block);
        SYN_NEXT(status, drop(s, cut));
    }
    if (status == SYN_OK) {
        syn_stream_kept_note(s);
        status = let_go(s);
    }
    SYN_NEXT(status, take_in(s, all));
    SYN_NEXT(status, renumber(s));
    s->watch = NULL;
    return status;
}

syn_stream_report syn_stream_about(const syn_stream *s)
{
    return (syn_stream_report){
        .events = s->events.end - s->events.begin,
        .kept = s->n_kept - s->n_unused - 1, .candidates = s->candidates,
        .anew = s->anew, .held = s->budget.held, .most = s->budget.most};
}

const char *syn_stream_reason(const syn_stream *s)
{
    return s->device ? s->device->reason : "";
}

uint32_t syn_stream_ids(const syn_stream *s) { return s->n_kept; }

uint64_t syn_stream_version(const syn_stream *s) { return s->version; }

const uint32_t *syn_stream_counts(const syn_stream *s) { return s->count; }
