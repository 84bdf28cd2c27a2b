/* What a stream has found, as levels of episodes in the order of the search. */
#include <stdlib.h>
#include <string.h>

#include "core/episodes/engine.h"
#include "core/episodes/stream_kept.h"

typedef struct listing {
    const syn_stream *stream;
    syn_episodes *out;
    uint32_t *number;    /* [n_kept] place in the level */
    uint32_t *id;        /* [n_kept] the episodes of all levels so far, */
    size_t ids, parents; /* how many, and where those of the last level begin */
    uint32_t *row;       /* kids of one episode */
} listing;

static int is_frequent(const syn_stream *s, uint32_t id)
{
    return syn_stream_kept_count(s, id) >= s->min_count;
}

static uint64_t rank_of(const syn_stream *s, uint32_t id)
{
    return (uint64_t)s->kept[id].interval << 32 | s->kept[id].unit;
}

/* The frequent kids of an episode by interval and unit; how many. */
static uint32_t frequent_kids(listing *l, uint32_t parent)
{
    const syn_stream_kept *p = &l->stream->kept[parent];
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->kids; i++)
        if (is_frequent(l->stream, p->kid[i]))
            l->row[n++] = p->kid[i];
    for (uint32_t gap = n / 2; gap > 0; gap /= 2)
        for (uint32_t j = gap; j < n; j++) {
            uint32_t id = l->row[j], i = j;
            uint64_t rank = rank_of(l->stream, id);
            for (; i >= gap && rank < rank_of(l->stream, l->row[i - gap]); i -= gap)
                l->row[i] = l->row[i - gap];
            l->row[i] = id;
        }
    return n;
}

static void write_episode(listing *l, syn_episode_level *level, uint32_t i, uint32_t id)
{
    const syn_stream_kept *k = &l->stream->kept[id];
    level->unit[i] = k->unit;
    level->count[i] = syn_stream_kept_count(l->stream, id);
    level->interval[i] = k->interval;
    level->parent[i] = k->size > 1 ? l->number[k->parent] : 0;
    level->suffix[i] = k->size > 1 ? l->number[k->suffix] : 0;
    l->number[id] = i;
}

/* How many candidates a search counts that has found the levels up to the last one. */
static uint64_t candidates_of(const listing *l)
{
    const syn_episodes *e = l->out;
    const syn_episode_level *parents = &e->level[e->n_levels - 1];
    uint64_t n = 0;
    if (e->n_levels == 1)
        return (uint64_t)parents->n * parents->n * l->stream->options.n_intervals;
    const uint32_t *child = e->level[e->n_levels - 2].child;
    for (size_t i = 0; i < parents->n; i++)
        n += child[parents->suffix[i] + 1] - child[parents->suffix[i]];
    return n;
}

static syn_status add_level(listing *l, size_t n, uint64_t candidates)
{
    syn_episodes *e = l->out;
    syn_episode_level *grown = realloc(e->level, (e->n_levels + 1) * sizeof *grown);
    if (!grown)
        return SYN_NO_MEMORY;
    e->level = grown;
    syn_status status = syn_episode_level_make(&grown[e->n_levels], n);
    if (status != SYN_OK)
        return status;
    grown[e->n_levels++].candidates = candidates;
    return SYN_OK;
}

/* The level above the last one: what extends the episodes id[0] makes id[1]. */
static syn_status list_next(listing *l)
{
    syn_episodes *e = l->out;
    size_t n = 0, parents = e->level[e->n_levels - 1].n;
    const uint32_t *parent = l->id + l->parents;
    for (size_t i = 0; i < parents; i++)
        n += frequent_kids(l, parent[i]);
    syn_status status = add_level(l, n, candidates_of(l));
    if (status != SYN_OK)
        return status;
    syn_episode_level *below = &e->level[e->n_levels - 2], *level = below + 1;
    uint32_t at = 0;
    l->parents = l->ids;
    for (size_t i = 0; i < parents; i++) {
        uint32_t kids = frequent_kids(l, parent[i]);
        below->child[i] = at;
        for (uint32_t j = 0; j < kids; j++, at++) {
            write_episode(l, level, at, l->row[j]);
            l->id[l->ids++] = l->row[j];
        }
    }
    below->child[parents] = at;
    return SYN_OK;
}

static syn_status list_levels(listing *l, uint32_t units)
{
    uint32_t n = frequent_kids(l, SYN_STREAM_ROOT);
    syn_status status = add_level(l, n, units);
    for (uint32_t i = 0; i < n && status == SYN_OK; i++) {
        write_episode(l, &l->out->level[0], i, l->row[i]);
        l->id[l->ids++] = l->row[i];
    }
    while (status == SYN_OK && l->out->level[l->out->n_levels - 1].n > 0 &&
           l->out->n_levels < l->stream->options.max_size)
        status = list_next(l);
    /* As in a search, an empty level stays where something was counted for it. */
    size_t last = l->out->n_levels;
    if (status == SYN_OK && l->out->level[last - 1].n == 0 &&
        l->out->level[last - 1].candidates == 0)
        syn_episode_level_free(&l->out->level[--l->out->n_levels]);
    return status;
}

syn_status syn_stream_episodes(const syn_stream *s, uint32_t units, syn_episodes *out,
                               uint32_t **id)
{
    size_t bytes = ((size_t)s->n_kept + 1) * sizeof(uint32_t);
    memset(out, 0, sizeof *out);
    listing l = {.stream = s, .out = out, .number = malloc(bytes), .id = malloc(bytes),
                 .row = malloc(bytes)};
    syn_status status = SYN_NO_MEMORY;
    if (l.number && l.id && l.row)
        status = list_levels(&l, units);
    free(l.number);
    free(l.row);
    if (id)
        *id = l.id;
    else
        free(l.id);
    out->peak_memory = s->budget.most;
    return status;
}

uint32_t syn_stream_ids(const syn_stream *s) { return s->n_kept; }

uint64_t syn_stream_serial(const syn_stream *s, uint32_t id)
{
    return s->kept[id].serial;
}
