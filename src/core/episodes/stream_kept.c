/* Which episodes a stream keeps. The arrays of all episodes with a common suffix change
   together: what a new kid of the suffix adds stands last in each, and where a kid is
   taken out the last one takes its place. */
#include "core/episodes/stream_kept.h"

#include <string.h>

/* Room for `n` things of one more array of an episode or of the stream. */
#define GROW(s, array, room, n)                                                          \
    grow(s, (void **)&(array), &(room), n, sizeof *(array))

static int grow(syn_stream *s, void **array, size_t *room, size_t n, size_t size)
{
    void *grown = syn_budget_grow(&s->budget, *array, room, n, size);
    *array = grown ? grown : *array;
    return grown != NULL;
}

/* ---- numbers of episodes ---- */

static syn_status new_number(syn_stream *s, uint32_t *id)
{
    if (s->n_unused > 0) {
        *id = s->unused[--s->n_unused];
    } else {
        size_t n = (size_t)s->n_kept + 1;
        if (!GROW(s, s->kept, s->kept_room, n) || !GROW(s, s->count, s->count_room, n) ||
            !GROW(s, s->touched, s->touched_room, n))
            return syn_budget_refusal(&s->budget);
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
        if (!GROW(s, s->level, s->level_room, s->levels + 1))
            return syn_budget_refusal(&s->budget);
        memset(&s->level[s->levels++], 0, sizeof *s->level);
    }
    syn_stream_level *level = &s->level[size];
    if (!GROW(s, level->kept, level->room, (size_t)level->n + 1))
        return syn_budget_refusal(&s->budget);
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
    if (!GROW(s, k->count, k->count_room, n) || !GROW(s, k->free, k->free_room, n) ||
        !GROW(s, k->node, k->node_room, n))
        return syn_budget_refusal(&s->budget);
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
    if (!GROW(s, p->kid, p->kid_room, (size_t)p->kids + 1) ||
        !GROW(s, p->slot, p->slot_room, (size_t)p->slots + width))
        return syn_budget_refusal(&s->budget);
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
    SYN_TAKE_ZEROS(&s->budget, s->lane, slots + 1);
    SYN_TAKE_ZEROS(&s->budget, s->block, slots / SYN_LANES + 1);
    SYN_TAKE_ZEROS(&s->budget, s->came, s->events.units + 1);
    memset(s->root_seat, 0xff, slots * sizeof *s->root_seat);
    memset(s->seat, 0xff, slots * sizeof *s->seat);
    return new_number(s, &root);
}

void syn_stream_kept_free(syn_stream *s)
{
    for (uint32_t id = 0; id < s->n_kept; id++)
        if (s->kept[id].used)
            free_arrays(s, &s->kept[id]);
    for (size_t k = 0; k < s->levels; k++)
        syn_budget_free(&s->budget, s->level[k].kept);
    SYN_GIVE(&s->budget, s->kept, s->count, s->touched, s->unused, s->level, s->lane_free,
             s->lane_hits, s->lane, s->block, s->came, s->step, s->root_seat, s->seat);
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
    if (!GROW(s, s->unused, s->unused_room, (size_t)s->n_unused + 1))
        return syn_budget_refusal(&s->budget);
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
    if (!GROW(s, s->step, s->step_room, s->n_steps + 1))
        return syn_budget_refusal(&s->budget);
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
