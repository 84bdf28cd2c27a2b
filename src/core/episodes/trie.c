/* Makes a tree of episodes. The episodes are sorted by their events from the first one
   on, so that those that begin alike follow each other. Going through them, each begins
   new nodes where it parts with the one before: nodes come in the order in which trie.h
   numbers them. */
#include "core/episodes/trie.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

#define NO_NODE UINT32_MAX

static int in_order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* ---- bounds ---- */

static int by_size(const void *a, const void *b)
{
    return in_order(*(const int64_t *)a, *(const int64_t *)b);
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
    int64_t *bound;
    SYN_NEW(bound, 2 * steps_of(episode, n) + 1);
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

/* ---- the order of episodes ---- */

/* Compares event `k` of two episodes, and the lag before it. */
static int compare_events(const syn_episode *a, const syn_episode *b, uint32_t k)
{
    int order = k > 0 ? in_order(a->lag[k - 1].low, b->lag[k - 1].low) : 0;
    if (order == 0 && k > 0)
        order = in_order(a->lag[k - 1].high, b->lag[k - 1].high);
    return order ? order : in_order(a->unit[k], b->unit[k]);
}

/* How many events two episodes have in common from the first one on. */
static uint32_t shared_events(const syn_episode *a, const syn_episode *b)
{
    uint32_t k = 0, most = a->size < b->size ? a->size : b->size;
    while (k < most && compare_events(a, b, k) == 0)
        k++;
    return k;
}

static int by_events(const void *a, const void *b)
{
    const syn_episode *x = *(const syn_episode *const *)a;
    const syn_episode *y = *(const syn_episode *const *)b;
    uint32_t k = shared_events(x, y);
    if (k < x->size && k < y->size)
        return compare_events(x, y, k);
    return in_order(x->size, y->size);
}

/* ---- nodes ---- */

static syn_status allocate(syn_trie *t, size_t n)
{
    size_t bytes = ((size_t)t->nodes + 2) * sizeof(uint32_t);
    uint32_t **array[] = {&t->unit, &t->level, &t->open, &t->shut,
                          &t->after, &t->child, &t->of, &t->root};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
        *array[i] = malloc(bytes);
        if (!*array[i])
            return SYN_NO_MEMORY;
    }
    SYN_NEW(t->node, n + 1);
    return SYN_OK;
}

/* Lists the children of each node by a counting sort, and finds where its descendants
   end. */
static void link_nodes(const uint32_t *parent, syn_trie *t)
{
    memset(t->child, 0, ((size_t)t->nodes + 2) * sizeof *t->child);
    for (uint32_t node = 0; node < t->nodes; node++)
        if (parent[node] != NO_NODE)
            t->child[parent[node] + 2]++;
    for (uint32_t node = 0; node < t->nodes; node++)
        t->child[node + 2] += t->child[node + 1];
    for (uint32_t node = 0; node < t->nodes; node++)
        if (parent[node] != NO_NODE)
            t->of[t->child[parent[node] + 1]++] = node;
    for (uint32_t node = t->nodes; node-- > 0;) {
        uint32_t end = t->child[node + 1];
        t->after[node] = end > t->child[node] ? t->after[t->of[end - 1]] : node + 1;
    }
}

syn_status syn_trie_make(const syn_episode *episode, size_t n, syn_trie *out)
{
    memset(out, 0, sizeof *out);
    const syn_episode **sorted = malloc((n + 1) * sizeof *sorted);
    uint32_t *parent = NULL, *way = NULL;
    syn_status status = sorted ? find_bounds(episode, n, out) : SYN_NO_MEMORY;
    if (status == SYN_OK) {
        for (size_t i = 0; i < n; i++)
            sorted[i] = &episode[i];
        qsort(sorted, n, sizeof *sorted, by_events);
        /* Counts the nodes of sorted episodes. */
        size_t nodes = 0;
        for (size_t i = 0; i < n; i++) {
            nodes += sorted[i]->size -
                     (i > 0 ? shared_events(sorted[i - 1], sorted[i]) : 0);
            out->depth = sorted[i]->size > out->depth ? sorted[i]->size : out->depth;
        }
        out->nodes = (uint32_t)nodes;
        status = nodes < INT32_MAX ? SYN_OK : SYN_TOO_LARGE;
    }
    SYN_NEXT(status, allocate(out, n));
    if (status == SYN_OK) {
        parent = malloc(((size_t)out->nodes + 1) * sizeof *parent);
        way = malloc(((size_t)out->depth + 1) * sizeof *way);
        status = parent && way ? SYN_OK : SYN_NO_MEMORY;
    }
    if (status == SYN_OK) {
        /* Each episode begins new nodes where it parts with the one before. way[k] is the
           node of the first k + 1 events; parent[] gets the parent of each node. */
        uint32_t node = 0;
        for (size_t i = 0; i < n; i++) {
            const syn_episode *e = sorted[i];
            for (uint32_t k = i > 0 ? shared_events(sorted[i - 1], e) : 0; k < e->size;
                 k++) {
                out->unit[node] = e->unit[k];
                out->level[node] = k;
                out->open[node] = k > 0 ? place_of(out, e->lag[k - 1].low) : 0;
                out->shut[node] = k > 0 ? place_of(out, e->lag[k - 1].high) : 0;
                parent[node] = k > 0 ? way[k - 1] : NO_NODE;
                if (k == 0)
                    out->root[out->roots++] = node;
                way[k] = node++;
            }
            out->node[e - episode] = way[e->size - 1];
        }
        link_nodes(parent, out);
    }
    SYN_FREE(sorted, parent, way);
    return status;
}

void syn_trie_free(syn_trie *t)
{
    SYN_FREE(t->bound, t->unit, t->level, t->open, t->shut, t->after, t->child, t->of,
             t->root, t->node);
    memset(t, 0, sizeof *t);
}
