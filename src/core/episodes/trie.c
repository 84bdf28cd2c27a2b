#include "core/episodes/trie.h"

#include <stdlib.h>
#include <string.h>

/* A node while the tree grows, numbered in the order in which prefixes come. */
typedef struct sprout {
    uint32_t parent;      /* SYN_NO_NODE for a root */
    uint32_t open, shut, unit;
    uint32_t self;
} sprout;

typedef struct growth {
    sprout *sprout;       /* [n] */
    uint32_t n;
    uint32_t *slot;       /* [slots] numbers of sprouts by hash, SYN_NO_NODE for none */
    size_t slots;         /* a power of two */
} growth;

/* ---- bounds ---- */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static size_t steps_of(const syn_episode *episode, size_t n)
{
    size_t steps = 0;
    for (size_t i = 0; i < n; i++)
        steps += episode[i].size - 1;
    return steps;
}

/* The different bounds of all lags, sorted. */
static syn_status find_bounds(const syn_episode *episode, size_t n, syn_trie *out)
{
    size_t all = 0;
    int64_t *bound = malloc((2 * steps_of(episode, n) + 1) * sizeof *bound);
    if (!bound)
        return SYN_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k + 1 < episode[i].size; k++) {
            bound[all++] = episode[i].lag[k].low;
            bound[all++] = episode[i].lag[k].high;
        }
    qsort(bound, all, sizeof *bound, by_size);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || bound[i] != bound[i - 1])
            bound[out->bounds++] = bound[i];
    out->bound = bound;
    return SYN_OK;
}

static uint32_t place_of(const syn_trie *trie, int64_t bound)
{
    const int64_t *found = bsearch(&bound, trie->bound, trie->bounds, sizeof bound,
                                   by_size);
    return (uint32_t)(found - trie->bound);
}

/* ---- growing ---- */

static size_t hash_of(const sprout *s)
{
    uint64_t h = s->parent;
    h = (h ^ s->unit) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 32) ^ s->open) * 0xC2B2AE3D27D4EB4Fu;
    h = (h ^ (h >> 32) ^ s->shut) * 0x9E3779B97F4A7C15u;
    return (size_t)(h ^ (h >> 29));
}

static int same(const sprout *a, const sprout *b)
{
    return a->parent == b->parent && a->unit == b->unit && a->open == b->open &&
           a->shut == b->shut;
}

/* The number of a sprout like `s`, which is added where there is none. */
static uint32_t find_or_add(growth *g, sprout s)
{
    size_t at = hash_of(&s) & (g->slots - 1);
    while (g->slot[at] != SYN_NO_NODE) {
        if (same(&g->sprout[g->slot[at]], &s))
            return g->slot[at];
        at = (at + 1) & (g->slots - 1);
    }
    s.self = g->n;
    g->slot[at] = g->n;
    g->sprout[g->n] = s;
    return g->n++;
}

static syn_status grow(const syn_episode *episode, size_t n, syn_trie *out, growth *g)
{
    size_t most = steps_of(episode, n) + n;
    if (most >= INT32_MAX)
        return SYN_TOO_LARGE;
    g->slots = 16;
    while (g->slots < 2 * most)
        g->slots *= 2;
    g->slot = malloc(g->slots * sizeof *g->slot);
    g->sprout = malloc((most + 1) * sizeof *g->sprout);
    out->node = malloc((n + 1) * sizeof *out->node);
    if (!g->slot || !g->sprout || !out->node)
        return SYN_NO_MEMORY;
    memset(g->slot, 0xff, g->slots * sizeof *g->slot);
    for (size_t i = 0; i < n; i++) {
        const syn_episode *e = &episode[i];
        sprout s = {SYN_NO_NODE, 0, 0, e->unit[0], 0};
        uint32_t node = find_or_add(g, s);
        for (uint32_t k = 1; k < e->size; k++) {
            s.parent = node;
            s.open = place_of(out, e->lag[k - 1].low);
            s.shut = place_of(out, e->lag[k - 1].high);
            s.unit = e->unit[k];
            node = find_or_add(g, s);
        }
        out->node[i] = node;
        out->depth = e->size > out->depth ? e->size : out->depth;
    }
    return SYN_OK;
}

/* ---- numbering ---- */

static int in_order(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Roots last, as their parent is the largest number. */
static int by_parent(const void *a, const void *b)
{
    const sprout *x = a, *y = b;
    int order = in_order(x->parent, y->parent);
    order = order ? order : in_order(x->open, y->open);
    order = order ? order : in_order(x->shut, y->shut);
    return order ? order : in_order(x->unit, y->unit);
}

static syn_status allocate(syn_trie *t)
{
    size_t bytes = ((size_t)t->nodes + 2) * sizeof(uint32_t);
    uint32_t **array[] = {&t->unit, &t->level, &t->open, &t->shut,
                          &t->after, &t->child, &t->of, &t->root};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
        *array[i] = malloc(bytes);
        if (!*array[i])
            return SYN_NO_MEMORY;
    }
    return SYN_OK;
}

/* Where each sprout's children begin among the sorted ones; roots begin at first[n]. */
static void index_children(const sprout *sorted, uint32_t n, uint32_t *first)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i <= n; i++) {
        while (at < n && sorted[at].parent < i)
            at++;
        first[i] = at;
    }
}

/* Numbers the nodes from the roots down: `stack` holds sorted sprouts that wait, the next
   one last, and `number` becomes the node of each sprout. */
static void number_nodes(const sprout *sorted, const uint32_t *first, uint32_t n,
                         uint32_t *stack, uint32_t *number, syn_trie *t)
{
    uint32_t waiting = 0, nodes = 0;
    for (uint32_t i = n; i-- > first[n];)
        stack[waiting++] = i;
    while (waiting > 0) {
        const sprout *s = &sorted[stack[--waiting]];
        uint32_t node = nodes++;
        number[s->self] = node;
        t->unit[node] = s->unit;
        t->open[node] = s->open;
        t->shut[node] = s->shut;
        t->level[node] = s->parent == SYN_NO_NODE ? 0 : t->level[number[s->parent]] + 1;
        if (s->parent == SYN_NO_NODE)
            t->root[t->roots++] = node;
        for (uint32_t i = first[s->self + 1]; i-- > first[s->self];)
            stack[waiting++] = i;
    }
}

/* The children of each node, and where what is below it ends. */
static void link_nodes(const sprout *sorted, const uint32_t *first,
                       const uint32_t *number, const uint32_t *sprout_of, syn_trie *t)
{
    uint32_t at = 0;
    for (uint32_t node = 0; node < t->nodes; node++) {
        uint32_t s = sprout_of[node];
        t->child[node] = at;
        for (uint32_t i = first[s]; i < first[s + 1]; i++)
            t->of[at++] = number[sorted[i].self];
    }
    t->child[t->nodes] = at;
    for (uint32_t node = t->nodes; node-- > 0;) {
        uint32_t end = t->child[node + 1];
        t->after[node] = end > t->child[node] ? t->after[t->of[end - 1]] : node + 1;
    }
}

static syn_status number_all(growth *g, size_t episodes, syn_trie *out)
{
    size_t room = (size_t)g->n + 2;
    uint32_t *work = malloc(3 * room * sizeof *work);
    uint32_t *first = work, *number = work + room, *other = work + 2 * room;
    out->nodes = g->n;
    syn_status status = allocate(out);
    if (status == SYN_OK && !work)
        status = SYN_NO_MEMORY;
    if (status == SYN_OK) {
        qsort(g->sprout, g->n, sizeof *g->sprout, by_parent);
        index_children(g->sprout, g->n, first);
        number_nodes(g->sprout, first, g->n, other, number, out);
        for (uint32_t s = 0; s < g->n; s++)
            other[number[s]] = s;
        link_nodes(g->sprout, first, number, other, out);
        for (size_t i = 0; i < episodes; i++)
            out->node[i] = number[out->node[i]];
    }
    free(work);
    return status;
}

syn_status syn_trie_make(const syn_episode *episode, size_t n, syn_trie *out)
{
    growth g = {0};
    memset(out, 0, sizeof *out);
    syn_status status = find_bounds(episode, n, out);
    if (status == SYN_OK)
        status = grow(episode, n, out, &g);
    if (status == SYN_OK)
        status = number_all(&g, n, out);
    free(g.sprout);
    free(g.slot);
    return status;
}

void syn_trie_free(syn_trie *t)
{
    free(t->bound);
    free(t->unit);
    free(t->level);
    free(t->open);
    free(t->shut);
    free(t->after);
    free(t->child);
    free(t->of);
    free(t->root);
    free(t->node);
    memset(t, 0, sizeof *t);
}
