/* Builds the tree of one root: the windows that open at the spikes of one unit. Items
   that can be in no pattern with this root are left out first. The items that remain
   get codes by falling frequency, and each window becomes a path of codes. */
#include "core/patterns/fpgrowth/fpgrowth.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(uint32_t bin)
{
    uint64_t h = (bin + UINT64_C(1)) * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 27) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 31;
}

/* ---- items ---- */

static int descending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

syn_status syn_fp_make_level(const syn_fpgrowth *f, syn_fp_worker *w)
{
    syn_budget *budget = f->search->budget;
    SYN_GROW(budget, w->level, w->level_room, (size_t)w->levels + 1);
    return SYN_OK;
}

static int is_guard(const syn_pattern_search *s, uint32_t item, uint32_t rank)
{
    return item < s->raster->units && s->rank[item] < rank;
}

/* Sorts out the items touched by the tally: those that may be in the pattern become
   places at the front of `touched`, returned is how many; guards get the number of their
   bit as code; the others no code. */
static uint32_t sort_out(const syn_fpgrowth *f, syn_fp_worker *w, uint32_t touched,
                         syn_fp_root *root)
{
    const syn_pattern_search *s = f->search;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < touched; i++) {
        uint32_t item = w->tally.touched[i], n = w->tally.count[item];
        int frequent = n >= s->options->min_count;
        int guard = is_guard(s, item, root->rank);
        w->code[item] = SYN_FP_NONE;
        if (frequent && !guard && item != s->ranked[root->rank]) {
            w->tally.touched[kept++] = syn_pattern_place(s, item);
            continue;
        }
        if (frequent && guard && f->look_up)
            w->code[item] = root->guards++;
        w->tally.count[item] = 0;
    }
    qsort(w->tally.touched, kept, sizeof *w->tally.touched, descending);
    return kept;
}

/* The bits of each window: which guards are in it. `all` becomes what they share. */
static void mark_guards(const syn_fpgrowth *f, const syn_fp_worker *w,
                        const syn_fp_root *root, uint64_t *all)
{
    const syn_raster *raster = f->search->raster;
    memset(root->bits, 0, (size_t)root->n * root->words * sizeof *root->bits);
    memset(all, 0xff, root->words * sizeof *all);
    for (uint32_t i = 0; i < root->n && root->words > 0; i++) {
        uint64_t *bits = root->bits + (size_t)i * root->words;
        uint32_t bin = root->bin[i];
        for (uint32_t k = raster->first[bin]; k < raster->first[bin + 1]; k++) {
            uint32_t unit = raster->unit[k], code = w->code[unit];
            if (is_guard(f->search, unit, root->rank) && code != SYN_FP_NONE)
                bits[code / 64] |= UINT64_C(1) << code % 64;
        }
        for (uint32_t k = 0; k < root->words; k++)
            all[k] &= bits[k];
    }
}

syn_status syn_fp_root_open(const syn_fpgrowth *f, syn_fp_worker *w, uint32_t rank,
                            syn_fp_root *root, syn_fp_found *found)
{
    const syn_raster *raster = f->search->raster;
    uint32_t unit = f->search->ranked[rank], from = raster->unit_first[unit];
    memset(root, 0, sizeof *root);
    memset(found, 0, sizeof *found);
    root->rank = rank;
    root->bin = raster->unit_bin + from;
    root->n = raster->unit_first[unit + 1] - from;
    const syn_pattern_search *s = f->search;
    uint32_t touched = syn_bin_windows_tally(&f->windows, &w->tally, root->bin, root->n);
    uint32_t kept = sort_out(f, w, touched, root);
    SYN_RENEW(s->budget, w->pattern, w->pattern_room, (size_t)kept + 1);
    SYN_RENEW(s->budget, w->sorted, w->sorted_room, (size_t)kept + 1);
    syn_fp_push(f, w, s->ranked[root->rank]);
    for (uint32_t i = 0; i < kept; i++) {
        uint32_t item = syn_pattern_item(s, w->tally.touched[i]);
        uint32_t n = w->tally.count[item];
        w->tally.count[item] = 0;
        if (f->absorb && n == root->n) {
            syn_fp_push(f, w, item);
            continue;
        }
        found->has_full |= n == root->n;
        root->steps += n;
        w->code[item] = found->more;
        w->more[found->more++] = item;
    }
    root->words = (root->guards + 63) / 64;
    size_t bytes = root->words * sizeof *root->bits;
    uint64_t *all = syn_arena_take(&w->arena, bytes);
    root->bits = syn_arena_take(&w->arena, root->n * bytes);
    if (!all || !root->bits)
        return w->arena.refused;
    mark_guards(f, w, root, all);
    found->occurrences = root->n;
    found->words = root->words;
    found->shared = all;
    for (uint32_t i = 0; i < root->n; i++)
        found->hash += hash_of(root->bin[i]);
    return SYN_OK;
}

/* ---- the tree ---- */

/* Paths before they have their steps. */
typedef struct layout {
    syn_fp_path *path;     /* [n] */
    size_t *first;         /* [entries + 2] where the windows of each entry begin */
    uint32_t *window;      /* [steps] windows, entry after entry */
    uint32_t *step;        /* [steps] of all paths */
} layout;

/* Codes of the window's items that are entries, into w->tally.item. */
static uint32_t read_codes(const syn_fpgrowth *f, syn_fp_worker *w,
                           const syn_fp_root *root, uint32_t i)
{
    uint32_t *item = w->tally.item, codes = 0;
    uint32_t items = syn_bin_windows_read(&f->windows, root->bin[i], item);
    for (uint32_t k = 0; k < items; k++) {
        uint32_t code = w->code[item[k]];
        if (code != SYN_FP_NONE && !is_guard(f->search, item[k], root->rank))
            item[codes++] = code;
    }
    return codes;
}

/* Entries are handed to windows in their order, so that no path has to be sorted. */
static void lay_paths(const syn_fpgrowth *f, syn_fp_worker *w, const syn_fp_root *root,
                      uint32_t entries, const layout *l)
{
    memset(l->first, 0, ((size_t)entries + 2) * sizeof *l->first);
    uint32_t *step = l->step;
    for (uint32_t i = 0; i < root->n; i++) {
        uint32_t codes = read_codes(f, w, root, i);
        for (uint32_t k = 0; k < codes; k++)
            l->first[w->tally.item[k] + 2]++;
        syn_fp_path path = {step, 0, 1, hash_of(root->bin[i]),
                            root->bits + (size_t)i * root->words};
        l->path[i] = path;
        step += codes;
    }
    for (uint32_t e = 0; e < entries; e++)
        l->first[e + 2] += l->first[e + 1];
    for (uint32_t i = 0; i < root->n; i++) {
        uint32_t codes = read_codes(f, w, root, i);
        for (uint32_t k = 0; k < codes; k++)
            l->window[l->first[w->tally.item[k] + 1]++] = i;
    }
    for (uint32_t e = 0; e < entries; e++)
        for (size_t k = l->first[e]; k < l->first[e + 1]; k++) {
            syn_fp_path *path = l->path + l->window[k];
            path->entry[path->length++] = e;
        }
}

syn_status syn_fp_root_build(const syn_fpgrowth *f, syn_fp_worker *w,
                             const syn_fp_root *root, uint32_t entries)
{
    double bytes = syn_fptree_bytes(entries, root->words, root->steps, root->n) +
                   (double)root->steps * 2 * sizeof(uint32_t);
    if (bytes > (double)f->search->budget->limit || root->steps >= SYN_FP_NONE)
        return SYN_OVER_BUDGET;
    syn_arena *a = &w->arena;
    layout l = {
        syn_arena_take(a, root->n * sizeof *l.path),
        syn_arena_take(a, ((size_t)entries + 2) * sizeof *l.first),
        syn_arena_take(a, root->steps * sizeof *l.window),
        syn_arena_take(a, root->steps * sizeof *l.step),
    };
    if (!l.path || !l.first || !l.window || !l.step)
        return a->refused;
    SYN_TRY(syn_fp_make_level(f, w));
    lay_paths(f, w, root, entries, &l);
    size_t paths = 0;  /* that have steps; these move to the front */
    for (size_t i = 0; i < root->n; i++)
        if (l.path[i].length > 0)
            l.path[paths++] = l.path[i];
    syn_fp_level *top = w->level;
    SYN_TRY(syn_fptree_build(&top->tree, a, entries, root->words, l.path, paths,
                             root->steps));
    memcpy(top->tree.item, w->more, entries * sizeof *w->more);
    top->left = entries;
    top->size = w->size;
    top->mark = syn_arena_here(a);
    w->levels = 1;
    return SYN_OK;
}
