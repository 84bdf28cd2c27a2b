/* Builds FP-trees. Paths are sorted and inserted one after the other, so that those
   that begin alike share nodes; counts, hashes and bits then go up to the root. A
   conditional tree is built in the same way from the paths above the nodes of one
   entry. */
#include "core/patterns/fpgrowth/tree.h"

#include <string.h>

enum { FEW = 16 };  /* paths that insertion sorts faster than merging does */

double syn_fptree_bytes(uint32_t entries, uint32_t words, size_t steps, size_t paths)
{
    double bits = 8.0 * words;
    return entries * (24 + bits) + (double)steps * (28 + bits) +
           (double)paths * (8 + 2.0 * sizeof(syn_fp_path));
}

/* ---- building ---- */

static syn_status take_tree(syn_fptree *t, syn_arena *arena, uint32_t entries,
                            uint32_t words, size_t steps, size_t paths)
{
    /* One piece: conditional trees are many and mostly small. */
    size_t wide = (entries + steps) * (1 + (size_t)words);
    size_t narrow = 3 * (size_t)entries + 4 * steps + 2 * paths;
    uint64_t *piece = syn_arena_take(arena, wide * sizeof *piece + narrow * 4);
    if (!piece)
        return arena->refused;
    t->entries = entries;
    t->words = words;
    t->nodes = t->runs = 0;
    t->hash = piece;
    t->shared = t->hash + entries;
    t->node_hash = t->shared + (size_t)entries * words;
    t->node_shared = t->node_hash + steps;
    t->item = (uint32_t *)(piece + wide);
    t->count = t->item + entries;
    t->head = t->count + entries;
    t->next = t->head + entries;
    t->entry = t->next + steps;
    t->run = t->entry + steps;
    t->node_count = t->run + steps;
    t->begin = t->node_count + steps;
    t->above = t->begin + paths;
    return SYN_OK;
}

static int comes_before(const syn_fp_path *a, const syn_fp_path *b)
{
    uint32_t length = a->length < b->length ? a->length : b->length;
    for (uint32_t k = 0; k < length; k++)
        if (a->entry[k] != b->entry[k])
            return a->entry[k] < b->entry[k];
    return a->length < b->length;
}

static void sort_few(syn_fp_path *path, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (!comes_before(path + i, path + i - 1))
            continue;
        syn_fp_path moved = path[i];
        size_t k = i;
        do
            path[k] = path[k - 1];
        while (--k > 0 && comes_before(&moved, path + k - 1));
        path[k] = moved;
    }
}

/* Paths in the order of their entries; `spare` is as large as `path`. */
static void sort_paths(syn_fp_path *path, size_t n, syn_fp_path *spare)
{
    if (n <= FEW) {
        sort_few(path, n);
        return;
    }
    size_t half = n / 2;
    sort_paths(path, half, spare);
    sort_paths(path + half, n - half, spare);
    if (!comes_before(path + half, path + half - 1))
        return;
    memcpy(spare, path, half * sizeof *path);
    size_t a = 0, b = half, to = 0;
    while (a < half && b < n)
        path[to++] = comes_before(path + b, spare + a) ? path[b++] : spare[a++];
    memcpy(path + to, spare + a, (half - a) * sizeof *path);
}

static uint32_t common_length(const syn_fp_path *a, const syn_fp_path *b)
{
    uint32_t length = a->length < b->length ? a->length : b->length, k = 0;
    while (k < length && a->entry[k] == b->entry[k])
        k++;
    return k;
}

static void add_to_node(syn_fptree *t, uint32_t node, uint32_t count, uint64_t hash,
                        const uint64_t *shared)
{
    t->node_count[node] += count;
    t->node_hash[node] += hash;
    for (uint32_t w = 0; w < t->words; w++)
        t->node_shared[(size_t)node * t->words + w] &= shared[w];
}

static syn_status fill(syn_fptree *t, syn_arena *arena, syn_fp_path *path, size_t paths)
{
    syn_arena_mark mark = syn_arena_here(arena);
    uint32_t *at;
    syn_fp_path *spare;
    SYN_ARENA(arena, at, t->entries);
    SYN_ARENA(arena, spare, paths);
    sort_paths(path, paths, spare);
    /* Inserts sorted paths; for now only the nodes where they end have counts. Sorted,
       each shares its beginning with the one before if with any: at[k] is the node of
       step k. */
    for (size_t i = 0; i < paths; i++) {
        const syn_fp_path *p = path + i;
        uint32_t shared = i == 0 ? 0 : common_length(p - 1, p);
        if (shared < p->length && (i == 0 || shared < p[-1].length)) {
            t->begin[t->runs] = t->nodes;
            t->above[t->runs++] = shared > 0 ? at[shared - 1] : SYN_FP_NONE;
        }
        for (uint32_t k = shared; k < p->length; k++) {
            uint32_t node = t->nodes++;
            at[k] = node;
            t->entry[node] = p->entry[k];
            t->run[node] = t->runs - 1;
            t->node_count[node] = 0;
            t->node_hash[node] = 0;
            for (uint32_t w = 0; w < t->words; w++)
                t->node_shared[(size_t)node * t->words + w] = UINT64_MAX;
        }
        add_to_node(t, at[p->length - 1], p->count, p->hash, p->shared);
    }
    /* Hands what nodes have up to the root, and to the header table. */
    uint32_t words = t->words;
    memset(t->hash, 0, t->entries * sizeof *t->hash);
    memset(t->count, 0, t->entries * sizeof *t->count);
    memset(t->head, 0xff, t->entries * sizeof *t->head);
    memset(t->shared, 0xff, (size_t)t->entries * words * sizeof *t->shared);
    for (uint32_t v = t->nodes; v-- > 0;) {
        uint32_t e = t->entry[v];
        const uint64_t *shared = t->node_shared + (size_t)v * words;
        t->next[v] = t->head[e];
        t->head[e] = v;
        t->count[e] += t->node_count[v];
        t->hash[e] += t->node_hash[v];
        for (uint32_t w = 0; w < words; w++)
            t->shared[(size_t)e * words + w] &= shared[w];
        uint32_t run = t->run[v];
        uint32_t parent = v > t->begin[run] ? v - 1 : t->above[run];
        if (parent != SYN_FP_NONE)
            add_to_node(t, parent, t->node_count[v], t->node_hash[v], shared);
    }
    syn_arena_return(arena, mark);
    return SYN_OK;
}

syn_status syn_fptree_build(syn_fptree *out, syn_arena *arena, uint32_t entries,
                            uint32_t words, syn_fp_path *path, size_t paths, size_t steps)
{
    SYN_TRY(take_tree(out, arena, entries, words, steps, paths));
    return fill(out, arena, path, paths);
}

/* ---- conditional trees ---- */

void syn_fptree_count(const syn_fptree *t, uint32_t entry, uint32_t *count)
{
    for (uint32_t v = t->head[entry]; v != SYN_FP_NONE; v = t->next[v]) {
        uint32_t n = t->node_count[v], run = t->run[v], end = v;
        for (;;) {
            for (uint32_t u = t->begin[run]; u < end; u++)
                count[t->entry[u]] += n;
            uint32_t above = t->above[run];
            if (above == SYN_FP_NONE)
                break;
            run = t->run[above];
            end = above + 1;
        }
    }
}

/* Writes the codes above node `v`, from the last to the first, to before `to`, where one
   word more than needed must be free; returns where they begin. */
static uint32_t *write_up(const syn_fptree *t, uint32_t v, const uint32_t *code,
                          uint32_t *to)
{
    uint32_t run = t->run[v], end = v;
    for (;;) {
        for (uint32_t u = end; u-- > t->begin[run];) {
            uint32_t c = code[t->entry[u]];
            to[-1] = c;
            to -= c != SYN_FP_NONE;
        }
        uint32_t above = t->above[run];
        if (above == SYN_FP_NONE)
            return to;
        run = t->run[above];
        end = above + 1;
    }
}

syn_status syn_fptree_project(syn_fptree *out, syn_arena *arena, const syn_fptree *tree,
                              uint32_t entry, const uint32_t *code, uint32_t entries,
                              size_t steps)
{
    /* Nodes come in the order of their paths, so there is little to sort. */
    size_t most = tree->count[entry] < steps ? tree->count[entry] : steps, paths = 0;
    SYN_TRY(take_tree(out, arena, entries, tree->words, steps, most));
    syn_arena_mark mark = syn_arena_here(arena);
    syn_fp_path *path;
    uint32_t *word;
    SYN_ARENA(arena, path, most);
    SYN_ARENA(arena, word, steps + 1);
    uint32_t *to = word + steps + 1;
    for (uint32_t v = tree->head[entry]; v != SYN_FP_NONE; v = tree->next[v]) {
        uint32_t *end = to;
        to = write_up(tree, v, code, to);
        if (to == end)
            continue;
        syn_fp_path *p = path + paths++;
        p->entry = to;
        p->length = (uint32_t)(end - to);
        p->count = tree->node_count[v];
        p->hash = tree->node_hash[v];
        p->shared = tree->node_shared + (size_t)v * tree->words;
    }
    syn_status status = fill(out, arena, path, paths);
    syn_arena_return(arena, mark);
    return status;
}
