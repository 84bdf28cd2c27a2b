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
    k->n_pending = 0;
    if (list->n == 0)
        return SYN_OK;
    if (list->end[list->n - 1].event >= k->latest)
        k->latest = list->end[list->n - 1].event + 1;
    if (k->size == 1)  /* a unit's events are there anyway */
        return SYN_OK;
    uint32_t first = list->n;
    int64_t last = syn_stream_tick(e, e->end - 1);
    while (first > 0 && last - list->end[first - 1].tick <= e->reach)
        first--;
    uint32_t n = list->n - first;
    syn_stream_end *grown =
        syn_budget_grow(&s->budget, k->pending, &k->pending_room, n, sizeof *grown);
    if (!grown)
        return syn_budget_refusal(&s->budget);
    memcpy(grown, list->end + first, n * sizeof *grown);
    k->pending = grown;
    k->n_pending = n;
    return SYN_OK;
}

/* An episode is gone through as long as something below it has pending ends. */
static void note_latest(syn_stream *s, uint32_t id, uint32_t kid)
{
    if (s->kept[kid].latest > s->kept[id].latest)
        s->kept[id].latest = s->kept[kid].latest;
}

void syn_stream_want(syn_stream *s, uint32_t id)
{
    for (; id != SYN_STREAM_ROOT && !s->kept[id].wanted; id = s->kept[id].parent)
        s->kept[id].wanted = 1;
}

/* ---- events that came ---- */

static syn_status go_back(syn_stream *s, uint32_t id, const syn_stream_list *prefix,
                          uint32_t since, uint32_t pending);

static syn_status go_back_below(syn_stream *s, uint32_t id, const syn_stream_list *list,
                                uint32_t since, uint32_t pending)
{
    syn_status status = SYN_OK;
    for (uint32_t i = 0; i < s->kept[id].kids && status == SYN_OK; i++) {
        uint32_t kid = s->kept[id].kid[i];
        if (s->kept[kid].n == 0 || (list->n == 0 && s->kept[kid].latest <= pending))
            continue;
        status = go_back(s, kid, list, since, pending);
        note_latest(s, id, kid);
    }
    return status;
}

static syn_status go_back(syn_stream *s, uint32_t id, const syn_stream_list *prefix,
                          uint32_t since, uint32_t pending)
{
    syn_arena_mark mark = syn_arena_here(&s->lists);
    uint32_t end = s->events.end;
    syn_stream_list list = {0};
    syn_status status = SYN_OK;
    if (prefix)
        status = syn_stream_list_extend(s, prefix, id, pending, since, end, &list);
    else
        list = syn_stream_list_unit(s, s->kept[id].unit, pending, end);
    if (status == SYN_OK && list.n > 0) {
        syn_stream_kept *k = &s->kept[id];
        syn_stream_count(s, id, &list, 0, since, end, k->count, k->free);
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
    for (uint32_t i = 0; i < s->kept[id].kids && status == SYN_OK; i++) {
        uint32_t kid = s->kept[id].kid[i];
        if (!s->kept[kid].wanted)
            continue;
        status = go_whole(s, kid, list);
        note_latest(s, id, kid);
    }
    return status;
}

/* Counts the candidates of an episode that are new. */
static syn_status count_new(syn_stream *s, uint32_t id, const syn_stream_list *list)
{
    syn_stream_kept *k = &s->kept[id];
    if (k->counted == k->n)
        return SYN_OK;
    syn_stream_count_new(s, id, list);
    s->anew += k->n - k->counted;
    k->counted = k->n;
    k->changed = 1;
    return syn_stream_keep_pending(s, id, list);
}

static syn_status go_whole(syn_stream *s, uint32_t id, const syn_stream_list *prefix)
{
    syn_arena_mark mark = syn_arena_here(&s->lists);
    uint32_t begin = s->events.begin, end = s->events.end;
    syn_stream_list list = {0};
    syn_status status = SYN_OK;
    s->kept[id].wanted = 0;
    if (prefix)
        status = syn_stream_list_extend(s, prefix, id, end, begin, end, &list);
    else
        list = syn_stream_list_unit(s, s->kept[id].unit, begin, end);
    if (status == SYN_OK)
        status = count_new(s, id, &list);
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
