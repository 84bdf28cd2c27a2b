/* The walks for events that came, and for candidates that are counted for the first time.
   A walk goes from an episode to those that it begins, and makes the list of the ends of
   each from that of the one before. */
#include "core/episodes/stream_walk.h"

#include <string.h>

syn_status syn_stream_keep_pending(syn_stream *s, uint32_t id,
                                   const syn_stream_list *list)
{
    const syn_stream_events *e = &s->events;
    syn_stream_kept *k = &s->kept[id];
    int64_t last = syn_stream_tick(e, e->end - 1);
    uint32_t first = list->n;
    while (first > 0 && last - syn_stream_tick(e, list->end[first - 1].event) <= e->reach)
        first--;
    uint32_t n = list->n - first;
    syn_stream_end *grown =
        syn_budget_grow(&s->budget, k->pending, &k->pending_room, n, sizeof *grown);
    if (!grown)
        return syn_budget_refusal(&s->budget);
    memcpy(grown, list->end + first, n * sizeof *grown);
    k->pending = grown;
    k->n_pending = n;
    if (list->n > 0 && list->end[list->n - 1].event >= k->latest)
        k->latest = list->end[list->n - 1].event + 1;
    return SYN_OK;
}

void syn_stream_want(syn_stream *s, uint32_t id)
{
    for (; id != SYN_STREAM_ROOT && !s->kept[id].wanted; id = s->kept[id].parent)
        s->kept[id].wanted = 1;
}

/* ---- events that came ---- */

static syn_status go_back(syn_stream *s, uint32_t id, const syn_stream_list *prefix,
                          uint32_t since, uint32_t pending);

/* The ends of `id` that events from `since` on may follow, those at such events
   included. The list of a single unit is not kept from one update to the next. */
static syn_status list_back(syn_stream *s, uint32_t id, const syn_stream_list *prefix,
                            uint32_t since, uint32_t pending, syn_stream_list *list)
{
    const syn_stream_kept *k = &s->kept[id];
    uint32_t first = k->size == 1 ? pending : since;
    uint32_t come = s->events.of[k->unit].n - syn_stream_unit_from(s, k->unit, first);
    syn_status status = syn_stream_list_open(s, list, come + k->n_pending);
    if (status != SYN_OK)
        return status;
    if (k->size == 1) {
        syn_stream_list_unit(s, k->unit, first, s->events.end, list);
        return SYN_OK;
    }
    for (uint32_t i = 0; i < k->n_pending; i++)
        if (k->pending[i].event >= pending && k->pending[i].start >= s->events.begin)
            syn_stream_list_add(list, k->pending[i].event, k->pending[i].start);
    syn_stream_list_extend(s, prefix, id, since, s->events.end, list);
    return SYN_OK;
}

static syn_status go_back_below(syn_stream *s, uint32_t id, const syn_stream_list *list,
                                uint32_t since, uint32_t pending)
{
    syn_status status = SYN_OK;
    for (uint32_t i = 0; i < s->kept[id].kids && status == SYN_OK; i++) {
        uint32_t kid = s->kept[id].kid[i];
        if (s->kept[kid].n == 0 || (list->n == 0 && s->kept[kid].latest <= pending))
            continue;
        status = go_back(s, kid, list, since, pending);
        if (s->kept[kid].latest > s->kept[id].latest)
            s->kept[id].latest = s->kept[kid].latest;
    }
    return status;
}

static syn_status go_back(syn_stream *s, uint32_t id, const syn_stream_list *prefix,
                          uint32_t since, uint32_t pending)
{
    syn_arena_mark mark = syn_arena_here(&s->lists);
    syn_stream_list list;
    syn_status status = list_back(s, id, prefix, since, pending, &list);
    if (status == SYN_OK && list.n > 0) {
        syn_stream_kept *k = &s->kept[id];
        syn_stream_count(s, id, &list, 0, since, s->events.end, k->count, k->free);
        k->changed = 1;
    }
    if (status == SYN_OK)
        status = syn_stream_keep_pending(s, id, &list);
    if (status == SYN_OK)
        status = go_back_below(s, id, &list, since, pending);
    syn_arena_return(&s->lists, mark);
    return status;
}

syn_status syn_stream_walk_back(syn_stream *s, uint32_t since)
{
    syn_status status = SYN_OK;
    uint32_t pending = syn_stream_pending(&s->events, since);
    for (uint32_t i = 0; i < s->kept[SYN_STREAM_ROOT].kids && status == SYN_OK; i++) {
        uint32_t id = s->kept[SYN_STREAM_ROOT].kid[i];
        if (s->kept[id].n == 0)
            continue;
        status = go_back(s, id, NULL, since, pending);
        if (status == SYN_OK)
            status = syn_stream_look_up(s);
    }
    return status;
}

/* ---- candidates that are new ---- */

static syn_status go_whole(syn_stream *s, uint32_t id, const syn_stream_list *prefix);

static syn_status go_whole_below(syn_stream *s, uint32_t id, const syn_stream_list *list)
{
    syn_status status = SYN_OK;
    for (uint32_t i = 0; i < s->kept[id].kids && status == SYN_OK; i++)
        if (s->kept[s->kept[id].kid[i]].wanted)
            status = go_whole(s, s->kept[id].kid[i], list);
    return status;
}

/* Counts the candidates of an episode that are new. */
static syn_status count_new(syn_stream *s, uint32_t id, const syn_stream_list *list)
{
    syn_stream_kept *k = &s->kept[id];
    if (k->counted == k->n)
        return SYN_OK;
    syn_stream_count(s, id, list, k->counted, s->events.begin, s->events.end, k->count,
                     k->free);
    s->anew += k->n - k->counted;
    k->counted = k->n;
    k->changed = 1;
    return syn_stream_keep_pending(s, id, list);
}

static syn_status go_whole(syn_stream *s, uint32_t id, const syn_stream_list *prefix)
{
    syn_arena_mark mark = syn_arena_here(&s->lists);
    syn_stream_list list;
    uint32_t unit = s->kept[id].unit;
    s->kept[id].wanted = 0;
    syn_status status =
        syn_stream_list_open(s, &list, syn_stream_unit_count(&s->events, unit));
    if (status == SYN_OK) {
        if (prefix)
            syn_stream_list_extend(s, prefix, id, s->events.begin, s->events.end, &list);
        else
            syn_stream_list_unit(s, unit, s->events.begin, s->events.end, &list);
        status = count_new(s, id, &list);
    }
    if (status == SYN_OK)
        status = syn_stream_look_up(s);
    if (status == SYN_OK)
        status = go_whole_below(s, id, &list);
    syn_arena_return(&s->lists, mark);
    return status;
}

syn_status syn_stream_walk_whole(syn_stream *s, size_t size)
{
    const syn_stream_level *level = &s->level[size];
    int any = 0;
    for (uint32_t i = 0; i < level->n; i++) {
        const syn_stream_kept *k = &s->kept[level->kept[i]];
        if (k->counted == k->n)
            continue;
        syn_stream_want(s, level->kept[i]);
        any = 1;
    }
    syn_status status = SYN_OK;
    for (uint32_t i = 0; any && i < s->kept[SYN_STREAM_ROOT].kids && status == SYN_OK;
         i++) {
        uint32_t id = s->kept[SYN_STREAM_ROOT].kid[i];
        if (s->kept[id].wanted)
            status = go_whole(s, id, NULL);
    }
    return status;
}
