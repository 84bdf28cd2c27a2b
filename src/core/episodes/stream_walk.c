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

static syn_status go_back(syn_stream *s, uint32_t id, came c)
{
    syn_status status = SYN_OK;
    if (s->kept[id].size > 1)
        status = syn_stream_list_extend(s, id, &s->events.of[s->kept[id].unit], c.since,
                                        c.pending);
    if (status != SYN_OK)
        return status;
    syn_stream_list list = syn_stream_list_of(s, id, c.pending, s->events.end);
    if (list.n > 0) {
        syn_stream_kept *k = &s->kept[id];
        syn_stream_count(s, id, &list, 0, c.since, s->events.end, k->count, k->free);
        k->changed = 1;
        syn_stream_kept_touch(s, id);
        note_latest(s, id);
    }
    for (uint32_t i = 0; i < s->kept[id].kids && status == SYN_OK; i++) {
        uint32_t kid = s->kept[id].kid[i];
        if (s->kept[kid].n > 0 && (list.n > 0 || s->kept[kid].latest > c.pending))
            status = go_back(s, kid, c);
    }
    return status;
}

syn_status syn_stream_walk_back(syn_stream *s, uint32_t since)
{
    syn_status status = SYN_OK;
    came c = {since, syn_stream_pending(&s->events, since)};
    for (uint32_t i = 0; i < s->kept[SYN_STREAM_ROOT].kids && status == SYN_OK; i++) {
        uint32_t id = s->kept[SYN_STREAM_ROOT].kid[i];
        if (s->kept[id].n == 0)
            continue;
        status = go_back(s, id, c);
        if (status == SYN_OK)
            status = syn_stream_look_up(s);
    }
    return status;
}

/* ---- candidates that are new ---- */

/* Lists all ends of an episode in the window. */
static syn_status list_whole(syn_stream *s, uint32_t id)
{
    uint32_t begin = s->events.begin, suffix = s->kept[id].suffix;
    if (s->kept[id].size == 1 || s->kept[id].listed)
        return SYN_OK;
    syn_stream_ends *own = &s->kept[id].ends;
    s->scratch.head = s->scratch.n = 0;
    *own = s->scratch;
    syn_status status =
        syn_stream_list_extend(s, id, syn_stream_ends_of(s, suffix), begin, begin);
    s->scratch = *own;
    memset(own, 0, sizeof *own);
    if (status == SYN_OK)
        status = syn_stream_ends_room(own, &s->budget, s->scratch.n);
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

static syn_status count_new(syn_stream *s, uint32_t id)
{
    syn_stream_kept *k = &s->kept[id];
    syn_stream_count_new(s, id);
    s->anew += k->n - k->counted;
    k->counted = k->n;
    k->changed = 1;
    return syn_stream_look_up(s);
}

syn_status syn_stream_walk_whole(syn_stream *s, size_t size)
{
    const syn_stream_level *level = &s->level[size];
    syn_status status = SYN_OK;
    for (uint32_t i = 0; i < level->n && status == SYN_OK; i++)
        if (s->kept[level->kept[i]].n > 0)
            status = list_whole(s, level->kept[i]);
    for (uint32_t i = 0; i < level->n && status == SYN_OK; i++)
        if (s->kept[level->kept[i]].counted < s->kept[level->kept[i]].n)
            status = count_new(s, level->kept[i]);
    return status;
}
