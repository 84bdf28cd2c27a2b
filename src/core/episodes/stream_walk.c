/* The walks for events that came, and for candidates that are counted for the first time.
   A walk goes from an episode to those that it begins, whose ends follow from its own. */
#include "core/episodes/stream_walk.h"

#include <string.h>

/* An episode is gone through as long as something below it has ends that events to come
   may follow. */
static void note_latest(syn_stream *s, uint32_t id)
{
    const syn_stream_ends *ends = &s->kept[id].ends;
    uint32_t latest = ends->n > ends->head ? ends->last + 1 : 0;
    for (; id != SYN_STREAM_ROOT && s->kept[id].latest < latest; id = s->kept[id].parent)
        s->kept[id].latest = latest;
}

/* ---- events that came ---- */

/* The events that came, and the first one that they may follow. */
typedef struct came {
    uint32_t since, pending;
} came;

/* Lists the ends that came of the episode of a step, and counts what extends it. */
static syn_status go_back(syn_stream *s, syn_stream_step step, came c)
{
    uint32_t id = step.id, parent = s->kept[id].parent;
    syn_status status = SYN_OK;
    if (s->kept[id].size > 1) {
        const syn_stream_ends *ends = syn_stream_ends_of(s, parent);
        syn_stream_list prefix = {ends->end + step.first, ends->n - step.first, 0};
        uint32_t unit = s->kept[id].unit;
        status = syn_stream_list_extend(s, id, &s->events.of[unit], s->came[unit],
                                        &prefix);
    }
    if (status != SYN_OK)
        return status;
    syn_stream_list list = syn_stream_list_of(s, id, c.pending, s->events.end);
    syn_stream_kept *k = &s->kept[id];
    if (list.n > 0) {
        syn_stream_count(s, id, &list, 0, c.since, s->events.end, k->count, k->free);
        k->changed = 1;
        syn_stream_kept_touch(s, id);
        note_latest(s, id);
    }
    uint32_t first = syn_stream_ends_of(s, id)->n - list.n;
    for (uint32_t i = 0; i < k->kids && status == SYN_OK; i++) {
        const syn_stream_kept *kid = &s->kept[k->kid[i]];
        if (kid->n > 0 && (list.n > 0 || kid->latest > c.pending))
            status = syn_stream_step_to(s, k->kid[i], first);
    }
    return status;
}

/* Lists are far apart in memory. */
static void fetch_tail(const syn_stream *s, size_t at)
{
    if (at >= s->n_steps)
        return;
    const syn_stream_kept *k = &s->kept[s->step[at].id];
    if (k->ends.n > 0)
        SYN_STREAM_FETCH(&k->ends.end[k->ends.n - 1]);
    SYN_STREAM_FETCH(k->count);
    SYN_STREAM_FETCH(k->free);
}

syn_status syn_stream_walk_back(syn_stream *s, uint32_t since)
{
    const syn_stream_kept *root = &s->kept[SYN_STREAM_ROOT];
    syn_status status = SYN_OK;
    came c = {since, syn_stream_pending(&s->events, since)};
    for (uint32_t u = 0; u < s->events.units; u++)
        s->came[u] = syn_stream_ends_from(&s->events.of[u], since);
    s->n_steps = 0;
    for (uint32_t i = 0; i < root->kids && status == SYN_OK; i++)
        if (s->kept[root->kid[i]].n > 0)
            status = syn_stream_step_to(s, root->kid[i], 0);
    for (size_t at = 0; at < s->n_steps && status == SYN_OK; at++) {
        fetch_tail(s, at + SYN_STREAM_AHEAD);
        status = go_back(s, s->step[at], c);
        SYN_NEXT(status, syn_stream_look_up(s));
    }
    return status;
}

/* ---- candidates that are new ---- */

/* Lists all ends of an episode in the window. */
static syn_status list_whole(syn_stream *s, uint32_t id)
{
    const syn_stream_ends *at = syn_stream_ends_of(s, s->kept[id].suffix);
    if (s->kept[id].size == 1 || s->kept[id].listed)
        return SYN_OK;
    syn_stream_ends *own = &s->kept[id].ends;
    s->scratch.head = s->scratch.n = 0;
    *own = s->scratch;
    syn_stream_list prefix = syn_stream_list_of(s, s->kept[id].parent, s->events.begin,
                                                s->events.end);
    syn_status status = syn_stream_list_extend(s, id, at, at->head, &prefix);
    s->scratch = *own;
    memset(own, 0, sizeof *own);
    SYN_NEXT(status, syn_stream_ends_room(own, &s->budget, s->scratch.n));
    if (status != SYN_OK)
        return status;
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
            syn_stream_count_new(s, level->kept[i]);
            s->anew += k->n - k->counted;
            k->counted = k->n;
            k->changed = 1;
            SYN_TRY(syn_stream_look_up(s));
        }
    return SYN_OK;
}
