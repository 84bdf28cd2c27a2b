/* The closure engine's tables and workers, and the node of a root: the windows that open
   at the spikes of a unit, and the items that are in enough of them. */
#include "core/patterns/closure/closure.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/masks.h"
#include "core/base/order.h"

/* ---- set-up ---- */

static const syn_node_kind *fastest_kind(int vector_bits)
{
    const syn_node_kind *kinds[] = SYN_KINDS(&syn_node_kind_any, &syn_node_kind_256,
                                             &syn_node_kind_256, &syn_node_kind_512);
    return kinds[syn_kind_here(vector_bits)];
}

syn_status syn_closure_open(syn_closure *c)
{
    const syn_raster *raster = c->search->raster;
    const syn_pattern_options *o = c->search->options;
    size_t threads = (size_t)o->threads;
    syn_budget *b = c->search->budget;
    SYN_TRY(syn_bin_windows_measure(&c->windows, raster, o->window, b));
    size_t places = c->places = c->windows.items;
    SYN_TAKE(b, c->unit_of, places + 1);
    SYN_TAKE(b, c->item_of, places + 1);
    SYN_TAKE(b, c->rank_of, (size_t)raster->events + 1);
    SYN_TAKE_ZEROS(b, c->worker, threads);
    for (size_t w = 0; w < threads; w++) {
        c->worker[w].space.arena.limit = SIZE_MAX;
        c->worker[w].space.arena.budget = b;
        SYN_TAKE_ZEROS(b, c->worker[w].count, places + 1);
        SYN_TAKE(b, c->worker[w].touched, places + 1);
    }
    for (uint32_t p = 0; p < c->places; p++) {
        c->item_of[p] = syn_pattern_item(c->search, p);
        c->unit_of[p] = c->search->rank[c->item_of[p] % raster->units];
    }
    for (uint32_t e = 0; e < raster->events; e++)
        c->rank_of[e] = c->search->rank[raster->unit[e]];
    syn_node_rules rules = {.options = o, .unit_of = c->unit_of,
                            .item_of = c->item_of,
                            .closed = o->target == SYN_PATTERNS_CLOSED ||
                                      o->target == SYN_PATTERNS_MAXIMAL,
                            .barred = o->target != SYN_PATTERNS_FREQUENT,
                            .maximal = o->target == SYN_PATTERNS_MAXIMAL};
    c->rules = rules;
    c->kind = fastest_kind(o->vector_bits);
    return SYN_OK;
}

void syn_closure_close(syn_closure *c)
{
    syn_budget *b = c->search->budget;
    for (int w = 0; c->worker && w < c->search->options->threads; w++) {
        syn_arena_free(&c->worker[w].space.arena);
        SYN_GIVE(b, c->worker[w].node, c->worker[w].count, c->worker[w].touched);
    }
    SYN_GIVE(b, c->worker, c->load, c->unit_of, c->item_of, c->rank_of);
    syn_bin_windows_free(&c->windows);
}

/* ---- the root of a unit ---- */

/* Calls VISIT for each item, as `place`, in the window that opens at kept bin `b`. */
#define EACH_ITEM(C, B, VISIT)                                                           \
    do {                                                                                 \
        const syn_raster *raster_ = (C)->search->raster;                                 \
        uint32_t lags_ = (C)->search->options->window - 1, bin_ = (B);                   \
        for (uint32_t e = raster_->first[bin_]; e < raster_->first[bin_ + 1]; e++) {     \
            uint32_t place = (C)->rank_of[e];                                            \
            VISIT                                                                        \
        }                                                                                \
        for (uint32_t b_ = bin_ + 1; b_ < (C)->windows.end[bin_]; b_++) {                \
            uint32_t base_ = raster_->units - 1 +                                        \
                             (uint32_t)(raster_->number[b_] - raster_->number[bin_]);    \
            for (uint32_t e = raster_->first[b_]; e < raster_->first[b_ + 1]; e++) {     \
                uint32_t place = base_ + (C)->rank_of[e] * lags_;                        \
                VISIT                                                                    \
            }                                                                            \
        }                                                                                \
    } while (0)

/* Leaves in `touched` the places that are in at least `least` of the windows, in order;
   the counts of the others are zero again. Returns how many. */
static uint32_t frequent_places(const syn_closure *c, syn_closure_worker *w,
                                uint32_t seen)
{
    uint32_t least = c->search->options->min_count, kept = 0;
    if (c->places / 16 < seen) {  /* sooner looked through than sorted */
        for (uint32_t p = 0; p < c->places; p++) {
            if (w->count[p] >= least)
                w->touched[kept++] = p;
            else
                w->count[p] = 0;
        }
        return kept;
    }
    for (uint32_t i = 0; i < seen; i++) {
        uint32_t p = w->touched[i];
        if (w->count[p] >= least)
            w->touched[kept++] = p;
        else
            w->count[p] = 0;
    }
    qsort(w->touched, kept, sizeof *w->touched, syn_by_number);
    return kept;
}

/* Counts the items in the root's windows; returns how many places it touched. */
static uint32_t count_places(const syn_closure *c, syn_closure_worker *w,
                             const uint32_t *bin, uint32_t n)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < n; i++)
        EACH_ITEM(c, bin[i], {
            w->touched[seen] = place;
            seen += w->count[place]++ == 0;
        });
    return seen;
}

/* Lists the touched places from `begin` up to `end`: those in all windows go to `full`
   instead where sets are closed; returns how many. Leaves in count[] where a place stands
   in the list, from 1. */
static uint32_t list_places(const syn_closure *c, syn_closure_worker *w, uint32_t begin,
                            uint32_t end,
                            uint32_t *full, syn_node *node)
{
    uint32_t joined = 0;
    for (uint32_t k = begin; k < end; k++) {
        uint32_t place = w->touched[k];
        int joins = c->rules.closed && w->count[place] == node->windows;
        w->count[place] = 0;
        if (joins) {
            full[joined++] = place;
        } else {
            node->place[node->listed] = place;
            w->count[place] = ++node->listed;
        }
    }
    return joined;
}

/* Lists the `n` touched places but the root's own. The set goes to `full`; returns its
   size, 0 when it belongs to another root. */
static uint32_t list_root(const syn_closure *c, syn_closure_worker *w, uint32_t root,
                          uint32_t n,
                          uint32_t *full, syn_node *node)
{
    uint32_t before = 0;
    while (w->touched[before] < root)
        before++;
    full[0] = root;
    if (c->rules.barred && list_places(c, w, 0, before, full + 1, node) > 0)
        return 0;
    node->barred = node->listed;
    for (uint32_t k = 0; !c->rules.barred && k < before; k++)
        w->count[w->touched[k]] = 0;
    w->count[root] = 0;
    return 1 + list_places(c, w, before + 1, n, full + 1, node);
}

/* The masks, with one more in front for what is not listed. */
static syn_status fill_masks(const syn_closure *c, syn_closure_worker *w,
                             const uint32_t *bin,
                             syn_node *node)
{
    size_t words = node->words, bytes = (node->listed + 1) * words * sizeof(uint64_t);
    uint64_t *mask = syn_arena_take(&w->space.arena, bytes);
    if (!mask)
        return SYN_NO_MEMORY;
    memset(mask, 0, bytes);
    for (uint32_t i = 0; i < node->windows && node->listed > 0; i++) {
        uint64_t bit = (uint64_t)1 << i % 64, *at = mask + i / 64;
        EACH_ITEM(c, bin[i], at[w->count[place] * words] |= bit;);
    }
    node->mask = mask + words;
    return SYN_OK;
}

/* Leaves in `touched` the places that matter for a root, as frequent_places() does. */
static uint32_t touch_places(const syn_closure *c, syn_closure_worker *w, uint32_t root,
                             const uint32_t *bin, uint32_t n)
{
    if (c->search->options->max_spikes > 1 || c->rules.closed)
        return frequent_places(c, w, count_places(c, w, bin, n));
    /* The unit by itself: whether others fire with it does not matter. */
    w->touched[0] = root;
    w->count[root] = n;
    return 1;
}

syn_node_made syn_closure_root(const syn_closure *c, syn_closure_worker *w, uint32_t root,
                               syn_node *node)
{
    const syn_raster *raster = c->search->raster;
    uint32_t unit = c->search->ranked[root];
    const uint32_t *bin = raster->unit_bin + raster->unit_first[unit];
    memset(node, 0, sizeof *node);
    syn_arena_clear(&w->space.arena);
    node->mark = syn_arena_here(&w->space.arena);
    node->windows = raster->unit_first[unit + 1] - raster->unit_first[unit];
    node->words = (node->windows + 63) / 64;
    if (node->windows < c->search->options->min_count || c->search->idle[root])
        return SYN_NODE_NONE;
    uint32_t n = touch_places(c, w, root, bin, node->windows);
    syn_node_made made = SYN_NODE_FAILED;
    node->place = syn_arena_take(&w->space.arena, n * sizeof *node->place);
    if (node->place && syn_node_space_make(&w->space, n, node->windows) == SYN_OK) {
        uint32_t size = list_root(c, w, root, n, w->space.full, node);
        if (size == 0)
            made = SYN_NODE_NONE;
        else if (fill_masks(c, w, bin, node) == SYN_OK)
            made = c->kind->root(&c->rules, &w->space, size, node);
    }
    for (uint32_t k = 0; k < n; k++)
        w->count[w->touched[k]] = 0;
    return made;
}

/* ---- the stack of a worker ---- */

syn_node *syn_closure_push(syn_closure_worker *w, syn_budget *budget)
{
    syn_node *node = syn_budget_grow(budget, w->node, &w->room, w->depth + 1,
                                     sizeof *node);
    if (!node)
        return NULL;
    w->node = node;
    return node + w->depth++;
}

void syn_closure_pop(syn_closure_worker *w)
{
    syn_arena_return(&w->space.arena, w->node[--w->depth].mark);
}
