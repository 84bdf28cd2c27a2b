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
    uint32_t *id;        /* [n] the frequent episodes, level after level */
    uint32_t *spare;     /* [n] while they are sorted */
    size_t n, listed;    /* how many there are, and stand in levels */
    int *place, *under;  /* [tree.n] the place in the level, and that of the parent */
} listing;

/* Sorts `n` episodes by their keys, which are below `bound`; equal ones keep their order. */
static syn_status sort_by(const listing *l, const int *key, size_t bound, uint32_t *id,
                          size_t n)
{
    size_t *begin;
    SYN_NEW_ZEROS(begin, bound + 1);
    for (size_t i = 0; i < n; i++)
        begin[key[id[i]] + 1]++;
    for (size_t k = 0; k < bound; k++)
        begin[k + 1] += begin[k];
    for (size_t i = 0; i < n; i++)
        l->spare[begin[key[id[i]]]++] = id[i];
    memcpy(id, l->spare, n * sizeof *id);
    free(begin);
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

/* Adds the level of the episodes of the next size. */
static syn_status list_level(listing *l, uint64_t candidates)
{
    const syn_stream_tree *t = l->tree;
    size_t size = l->out->n_levels + 1, n = 0;
    uint32_t *id = l->id + l->listed;
    while (l->listed < l->n && (size_t)t->size[l->id[l->listed]] == size) {
        l->listed++;
        n++;
    }
    SYN_TRY(syn_episodes_append(l->out, n));
    syn_episode_level *level = &l->out->level[size - 1];
    level->candidates = candidates;
    for (size_t i = 0; size > 1 && i < n; i++)
        l->under[id[i]] = l->place[t->parent[id[i]]];
    if (size > 1)
        SYN_TRY(sort_by(l, l->under, level[-1].n, id, n));
    for (size_t i = 0; i < n; i++) {
        level->unit[i] = (uint32_t)t->unit[id[i]];
        level->count[i] = (uint32_t)l->shown->count[id[i]];
        level->interval[i] = (uint32_t)t->interval[id[i]];
        level->parent[i] = size > 1 ? (uint32_t)l->under[id[i]] : 0;
        level->suffix[i] = size > 1 ? (uint32_t)l->place[t->suffix[id[i]]] : 0;
        l->place[id[i]] = (int)i;
    }
    if (size > 1)
        syn_episode_children(level - 1, level);
    return SYN_OK;
}

static syn_status list_levels(listing *l, const syn_stream_names *names)
{
    const syn_stream_tree *t = l->tree;
    int sizes = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (syn_stream_is_shown(l->shown, i)) {
            l->id[l->n++] = i;
            sizes = t->size[i] > sizes ? t->size[i] : sizes;
        }
    SYN_TRY(sort_by(l, t->unit, names->units, l->id, l->n));
    SYN_TRY(sort_by(l, t->interval, names->intervals, l->id, l->n));
    SYN_TRY(sort_by(l, t->size, (size_t)sizes + 1, l->id, l->n));
    SYN_TRY(list_level(l, names->units));
    while (l->out->level[l->out->n_levels - 1].n > 0 && l->out->n_levels < names->max_size)
        SYN_TRY(list_level(l, candidates_of(l, names->intervals)));
    syn_episodes_end(l->out);
    return SYN_OK;
}

syn_status syn_stream_episodes(const syn_stream_shown *shown,
                               const syn_stream_names *names, syn_episodes *out,
                               uint32_t **id)
{
    size_t n = (size_t)shown->tree.n + 1;
    memset(out, 0, sizeof *out);
    listing l = {.shown = shown, .tree = &shown->tree, .out = out,
                 .id = malloc(n * sizeof *l.id), .spare = malloc(n * sizeof *l.spare),
                 .place = malloc(n * sizeof *l.place),
                 .under = malloc(n * sizeof *l.under)};
    syn_status status = SYN_NO_MEMORY;
    if (l.id && l.spare && l.place && l.under)
        status = list_levels(&l, names);
    SYN_FREE(l.spare, l.place, l.under);
    *id = l.id;
    return status;
}

/* ---- the strongest ---- */

/* An episode, and how many events it accounts for. */
typedef struct strength {
    uint64_t by;
    uint32_t id;
} strength;

typedef struct strong {
    const syn_stream_shown *shown;
    const syn_stream_names *names;
    strength *of;    /* the episodes looked at */
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
static int is_stronger(const strong *s, strength a, strength b)
{
    const int *size = s->shown->tree.size;
    if (a.by != b.by)
        return a.by > b.by;
    if (size[a.id] != size[b.id])
        return size[a.id] < size[b.id];
    for (int at = 0; at < size[a.id]; at++) {
        uint64_t x = event_rank(s, a.id, at), y = event_rank(s, b.id, at);
        if (x != y)
            return x < y;
    }
    return 0;
}

static void swap(strong *s, uint32_t i, uint32_t j)
{
    strength before = s->of[i];
    s->of[i] = s->of[j];
    s->of[j] = before;
}

/* Restores the heap of the first `n`, whose strongest stands at 0, from place `i` on. */
static void sift(strong *s, uint32_t i, uint32_t n)
{
    for (;;) {
        uint32_t best = i;
        for (uint32_t kid = 2 * i + 1; kid <= 2 * i + 2 && kid < n; kid++)
            if (is_stronger(s, s->of[kid], s->of[best]))
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
        if (!shares_units(&s->shown->tree, s->of[0].id, taken))
            out[found++] = s->of[0].id;
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
    strong s = {shown, names, malloc((t->n + 1) * sizeof *s.of)};
    uint8_t *taken = calloc(names->units + 1, 1);
    uint32_t held = 0;
    for (uint32_t id = 0; s.of && id < t->n; id++)
        if (t->size[id] > 1 && syn_stream_is_shown(shown, id))
            s.of[held++] =
                (strength){(uint64_t)t->size[id] * (uint64_t)shown->count[id], id};
    int made = s.of && taken;
    *n = made ? take_strongest(&s, held, most, looks, taken, out) : 0;
    SYN_FREE(s.of, taken);
    return made ? SYN_OK : SYN_NO_MEMORY;
}
