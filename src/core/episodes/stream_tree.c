/* Trees of a stream: how they are written and compared. */
#include "core/episodes/stream_tree.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/episodes/engine.h"
#include "core/episodes/stream_kept.h"

void syn_stream_write_tree(const syn_stream *s, int *field, double *serial)
{
    size_t n = s->n_kept;
    memset(field, 0, SYN_TREE_FIELDS * n * sizeof *field);
    memset(serial, 0, n * sizeof *serial);
    for (uint32_t id = 1; id < n; id++) {
        const syn_stream_kept *k = &s->kept[id];
        if (!k->used)
            continue;
        field[id] = (int)k->size;
        field[n + id] = (int)k->unit;
        field[2 * n + id] = (int)k->interval;
        field[3 * n + id] = (int)k->parent;
        field[4 * n + id] = (int)k->suffix;
        serial[id] = (double)k->serial;
    }
}

syn_stream_tree syn_stream_tree_of(uint32_t n, const int *field, const double *serial)
{
    return (syn_stream_tree){.n = n, .size = field, .unit = field + n,
                             .interval = field + 2 * (size_t)n,
                             .parent = field + 3 * (size_t)n,
                             .suffix = field + 4 * (size_t)n, .serial = serial};
}

static int is_below(int value, uint32_t bound) { return (uint32_t)value < bound; }

static int is_part(const syn_stream_shown *s, uint32_t id, int part)
{
    const int *size = s->tree.size;
    if (!is_below(part, s->tree.n))
        return 0;
    return size[id] == 1 || (size[part] == size[id] - 1 &&
                             (syn_stream_is_shown(s, (uint32_t)part) ||
                              !syn_stream_is_shown(s, id)));
}

int syn_stream_shown_sound(const syn_stream_shown *s, uint32_t units, uint32_t intervals)
{
    const syn_stream_tree *t = &s->tree;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->size[i] != 0 &&
            (t->size[i] < 0 || !is_below(t->unit[i], units) ||
             !is_below(t->interval[i], intervals) || !is_part(s, i, t->parent[i]) ||
             !is_part(s, i, t->suffix[i])))
            return 0;
    return 1;
}

static uint32_t count_shown(const syn_stream_shown *s)
{
    uint32_t n = 0;
    for (uint32_t id = 0; id < s->tree.n; id++)
        n += (uint32_t)syn_stream_is_shown(s, id);
    return n;
}

syn_stream_tally syn_stream_compare(const syn_stream_shown *before,
                                    const syn_stream_shown *now)
{
    syn_stream_tally t = {.shown = count_shown(now)};
    if (before == NULL) {
        t.come = t.shown;
        return t;
    }
    int same_tree = before->tree.size == now->tree.size;
    uint32_t both = 0;
    for (uint32_t id = 0; id < now->tree.n && id < before->tree.n; id++) {
        if (!syn_stream_is_shown(now, id) || !syn_stream_is_shown(before, id) ||
            (!same_tree && before->tree.serial[id] != now->tree.serial[id]))
            continue;
        both++;
        t.risen += now->count[id] > before->count[id];
        t.fallen += now->count[id] < before->count[id];
    }
    t.come = t.shown - both;
    t.gone = count_shown(before) - both;
    return t;
}

/* ---- episodes ----

   What a stream has found, as levels of episodes in the order of the search, and the
   episodes that are strongest. */

/* ---- levels ---- */

typedef struct listing {
    const syn_stream_shown *shown;
    const syn_stream_tree *tree;
    syn_episodes *out;
    uint32_t *of_size;   /* [tree.n] the numbers of frequent episodes, size after size */
    size_t *begin;       /* [sizes + 2] where those of a size begin */
    size_t sizes;
    uint32_t *place;     /* [tree.n] place in the level */
    uint32_t *id;        /* [tree.n] the episodes of all levels so far, */
    size_t ids;          /* how many */
} listing;

static uint64_t rank_of(const syn_stream_tree *t, uint32_t id)
{
    return (uint64_t)t->interval[id] << 32 | (uint64_t)t->unit[id];
}

/* Those with the same parent by interval and unit. They are few, or nearly in order. */
static void sort_siblings(const syn_stream_tree *t, uint32_t *id, size_t n)
{
    for (size_t gap = n / 2; gap > 0; gap /= 2)
        for (size_t j = gap; j < n; j++) {
            uint32_t own = id[j];
            size_t i = j;
            uint64_t rank = rank_of(t, own);
            for (; i >= gap && rank < rank_of(t, id[i - gap]); i -= gap)
                id[i] = id[i - gap];
            id[i] = own;
        }
}

/* The frequent episodes by size. */
static syn_status sort_by_size(listing *l)
{
    const syn_stream_tree *t = l->tree;
    for (uint32_t i = 0; i < t->n; i++)
        if (syn_stream_is_shown(l->shown, i) && (size_t)t->size[i] > l->sizes)
            l->sizes = (size_t)t->size[i];
    SYN_NEW_ZEROS(l->begin, l->sizes + 3);
    for (uint32_t i = 0; i < t->n; i++)
        if (syn_stream_is_shown(l->shown, i))
            l->begin[t->size[i] + 2]++;
    for (size_t k = 2; k < l->sizes + 3; k++)
        l->begin[k] += l->begin[k - 1];
    for (uint32_t i = 0; i < t->n; i++)
        if (syn_stream_is_shown(l->shown, i))
            l->of_size[l->begin[t->size[i] + 1]++] = i;
    return SYN_OK;
}

/* How many candidates a search counts that has found the levels up to the last one. */
static uint64_t candidates_of(const listing *l, uint32_t intervals)
{
    const syn_episodes *e = l->out;
    const syn_episode_level *parents = &e->level[e->n_levels - 1];
    uint64_t n = 0;
    if (e->n_levels == 1)
        return (uint64_t)parents->n * parents->n * intervals;
    const uint32_t *child = e->level[e->n_levels - 2].child;
    for (size_t i = 0; i < parents->n; i++)
        n += child[parents->suffix[i] + 1] - child[parents->suffix[i]];
    return n;
}

/* Brings the frequent episodes of a size into the order of their parents, whose child[]
   gets where the children of each begin. */
static syn_status sort_by_parent(const listing *l, syn_episode_level *below, uint32_t *id,
                                 size_t n)
{
    uint32_t *from;
    SYN_NEW(from, n + 1);
    memcpy(from, id, n * sizeof *from);
    memset(below->child, 0, (below->n + 1) * sizeof *below->child);
    for (size_t i = 0; i < n; i++)
        below->child[l->place[l->tree->parent[from[i]]] + 1]++;
    for (size_t i = 0; i < below->n; i++)
        below->child[i + 1] += below->child[i];
    for (size_t i = 0; i < n; i++)
        id[below->child[l->place[l->tree->parent[from[i]]]]++] = from[i];
    for (size_t i = below->n; i > 0; i--)
        below->child[i] = below->child[i - 1];
    below->child[0] = 0;
    for (size_t i = 0; i < below->n; i++)
        sort_siblings(l->tree, id + below->child[i],
                      below->child[i + 1] - below->child[i]);
    free(from);
    return SYN_OK;
}

static syn_status list_level(listing *l, size_t size, uint64_t candidates)
{
    size_t n = size <= l->sizes ? l->begin[size + 1] - l->begin[size] : 0;
    uint32_t *id = l->of_size + (size <= l->sizes ? l->begin[size] : 0);
    syn_status status = SYN_OK;
    /* Adds a level for them. */
    syn_episodes *e = l->out;
    syn_episode_level *grown = realloc(e->level, (e->n_levels + 1) * sizeof *grown);
    if (!grown)
        return SYN_NO_MEMORY;
    e->level = grown;
    SYN_TRY(syn_episode_level_make(&grown[e->n_levels], n));
    grown[e->n_levels++].candidates = candidates;
    syn_episode_level *level = &e->level[e->n_levels - 1];
    if (size == 1)
        sort_siblings(l->tree, id, n);
    else
        status = sort_by_parent(l, level - 1, id, n);
    for (size_t i = 0; i < n && status == SYN_OK; i++) {
        const syn_stream_tree *t = l->tree;
        int alone = t->size[id[i]] == 1;
        level->unit[i] = (uint32_t)t->unit[id[i]];
        level->count[i] = (uint32_t)l->shown->count[id[i]];
        level->interval[i] = (uint32_t)t->interval[id[i]];
        level->parent[i] = alone ? 0 : l->place[t->parent[id[i]]];
        level->suffix[i] = alone ? 0 : l->place[t->suffix[id[i]]];
        l->place[id[i]] = (uint32_t)i;
        l->id[l->ids++] = id[i];
    }
    return status;
}

static syn_status list_levels(listing *l, const syn_stream_names *names)
{
    syn_status status = sort_by_size(l);
    SYN_NEXT(status, list_level(l, 1, names->units));
    while (status == SYN_OK && l->out->level[l->out->n_levels - 1].n > 0 &&
           l->out->n_levels < names->max_size)
        status = list_level(l, l->out->n_levels + 1, candidates_of(l, names->intervals));
    /* As in a search, an empty level stays where something was counted for it. */
    size_t last = l->out->n_levels;
    if (status == SYN_OK && l->out->level[last - 1].n == 0 &&
        l->out->level[last - 1].candidates == 0)
        syn_episode_level_free(&l->out->level[--l->out->n_levels]);
    return status;
}

syn_status syn_stream_episodes(const syn_stream_shown *shown,
                               const syn_stream_names *names, syn_episodes *out,
                               uint32_t **id)
{
    size_t bytes = ((size_t)shown->tree.n + 1) * sizeof(uint32_t);
    memset(out, 0, sizeof *out);
    listing l = {.shown = shown, .tree = &shown->tree, .out = out,
                 .of_size = malloc(bytes), .place = malloc(bytes), .id = malloc(bytes)};
    syn_status status = SYN_NO_MEMORY;
    if (l.of_size && l.place && l.id)
        status = list_levels(&l, names);
    SYN_FREE(l.of_size, l.place, l.begin);
    if (id)
        *id = l.id;
    else
        free(l.id);
    return status;
}

/* ---- the strongest ---- */

typedef struct strong {
    const syn_stream_shown *shown;
    const syn_stream_names *names;
    uint32_t *id;    /* those looked at */
    uint64_t *by;    /* how many events each accounts for */
} strong;

/* The unit and the interval before it of event `at` of an episode, ranked. */
static uint64_t event_rank(const strong *s, uint32_t id, int at)
{
    const syn_stream_tree *t = &s->shown->tree;
    while (t->size[id] - 1 > at)
        id = (uint32_t)t->parent[id];
    uint64_t interval = at > 0 ? (uint64_t)s->names->interval_rank[t->interval[id]] : 0;
    return interval << 32 | (uint64_t)s->names->unit_rank[t->unit[id]];
}

/* Whether `a` is the stronger one or, where they are equally strong, stands first in the
   table. */
static int is_stronger(const strong *s, uint64_t a_by, uint32_t a, uint64_t b_by,
                       uint32_t b)
{
    const int *size = s->shown->tree.size;
    if (a_by != b_by)
        return a_by > b_by;
    if (size[a] != size[b])
        return size[a] < size[b];
    for (int at = 0; at < size[a]; at++) {
        uint64_t x = event_rank(s, a, at), y = event_rank(s, b, at);
        if (x != y)
            return x < y;
    }
    return 0;
}

static void swap(strong *s, uint32_t i, uint32_t j)
{
    uint32_t id = s->id[i];
    uint64_t by = s->by[i];
    s->id[i] = s->id[j];
    s->by[i] = s->by[j];
    s->id[j] = id;
    s->by[j] = by;
}

/* Restores the heap of the first `n`, whose strongest stands at 0, from place `i` on. */
static void sift(strong *s, uint32_t i, uint32_t n)
{
    for (;;) {
        uint32_t best = i;
        for (uint32_t kid = 2 * i + 1; kid <= 2 * i + 2 && kid < n; kid++)
            if (is_stronger(s, s->by[kid], s->id[kid], s->by[best], s->id[best]))
                best = kid;
        if (best == i)
            return;
        swap(s, i, best);
        i = best;
    }
}

/* Whether more than half of the units of an episode are taken already; takes them if
   not. */
static int shares_units(const syn_stream_tree *t, uint32_t id, uint8_t *taken)
{
    uint32_t own = 0, known = 0;
    for (uint32_t e = id;; e = (uint32_t)t->parent[e]) {
        int again = 0;  /* a unit counts once */
        for (uint32_t f = id; f != e && !again; f = (uint32_t)t->parent[f])
            again = t->unit[f] == t->unit[e];
        own += !again;
        known += !again && taken[t->unit[e]];
        if (t->size[e] == 1)
            break;
    }
    if (2 * known > own)
        return 1;
    for (uint32_t e = id;; e = (uint32_t)t->parent[e]) {
        taken[t->unit[e]] = 1;
        if (t->size[e] == 1)
            return 0;
    }
}

static uint32_t take_strongest(strong *s, uint32_t n, uint32_t most, uint32_t looks,
                               uint8_t *taken, uint32_t *out)
{
    uint32_t found = 0;
    for (uint32_t i = n / 2; i-- > 0;)
        sift(s, i, n);
    for (; n > 0 && looks > 0 && found < most; looks--) {
        if (!shares_units(&s->shown->tree, s->id[0], taken))
            out[found++] = s->id[0];
        swap(s, 0, --n);
        sift(s, 0, n);
    }
    return found;
}

syn_status syn_stream_strongest(const syn_stream_shown *shown,
                                const syn_stream_names *names, uint32_t most,
                                uint32_t looks, uint32_t *out, uint32_t *n)
{
    const syn_stream_tree *t = &shown->tree;
    strong s = {shown, names, malloc((t->n + 1) * sizeof *s.id),
                malloc((t->n + 1) * sizeof *s.by)};
    uint8_t *taken = calloc(names->units + 1, 1);
    uint32_t held = 0;
    for (uint32_t id = 0; s.id && s.by && id < t->n; id++)
        if (t->size[id] > 1 && syn_stream_is_shown(shown, id)) {
            s.id[held] = id;
            s.by[held++] = (uint64_t)t->size[id] * (uint64_t)shown->count[id];
        }
    int made = s.id && s.by && taken;
    *n = made ? take_strongest(&s, held, most, looks, taken, out) : 0;
    SYN_FREE(s.id, s.by, taken);
    return made ? SYN_OK : SYN_NO_MEMORY;
}
