/* The closure engine: patterns root by root, each closed set met once.

   All patterns whose root is one unit lie in the windows that open at its spikes. Masks
   of these windows, one an item, make supports and closures a few instructions; a set is
   extended by an item only if no item that comes before is in all the windows that are
   left (prefix-preserving closure extension: Uno, Kiyomi & Arimura 2004), so no found set
   has to be looked up. Windows without enough units to complete a pattern are left out as
   early as that is known. */
#include "core/patterns/closure/closure.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/masks.h"
#include "core/base/order.h"
#include "core/base/parallel.h"

/* ---- tables and workers ---- */

/* ---- set-up ---- */

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
    syn_node_rules rules = {.options = o, .unit_of = c->unit_of, .item_of = c->item_of,
                            .closed = o->target == SYN_PATTERNS_CLOSED ||
                                      o->target == SYN_PATTERNS_MAXIMAL,
                            .barred = o->target != SYN_PATTERNS_FREQUENT,
                            .maximal = o->target == SYN_PATTERNS_MAXIMAL};
    c->rules = rules;
    const syn_node_kind *kinds[] = SYN_KINDS(&syn_node_kind_any, &syn_node_kind_256,
                                             &syn_node_kind_256, &syn_node_kind_512);
    c->kind = kinds[syn_kind_here(o->vector_bits)];
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
                            uint32_t end, uint32_t *full, syn_node *node)
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
                          uint32_t n, uint32_t *full, syn_node *node)
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
                             const uint32_t *bin, syn_node *node)
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
    syn_node *node =
        syn_budget_grow(budget, w->node, &w->room, w->depth + 1, sizeof *node);
    if (!node)
        return NULL;
    w->node = node;
    return node + w->depth++;
}

void syn_closure_pop(syn_closure_worker *w)
{
    syn_arena_return(&w->space.arena, w->node[--w->depth].mark);
}

enum {
    CHECK_EVERY = 1024,  /* words of masks between two looks at the clock */
    LOADS = 16           /* for each thread, if all were as heavy */
};

/* ---- the search below a root ---- */

/* Keeps the set of a node, if it is a pattern, at its place in the order. */
static syn_status keep_set(const syn_closure *c, syn_node *node, syn_pattern_part *part)
{
    node->kept = 1;
    if (node->hidden || !syn_pattern_passes(c->search->options, node->size, node->units,
                                            node->windows))
        return SYN_OK;
    return syn_pattern_keep(c->search, part, node->size, node->item, node->windows);
}

/* The place of a child. */
static uint32_t place_of(const syn_node *node, uint32_t child)
{
    return node->place[node->barred + (node->child ? node->child[child] : child)];
}

/* One step: the next child of the deepest node, or the node's end. A node's own set comes
   before the children that come after its last item. */
static syn_status step(const syn_closure *c, syn_closure_worker *w,
                       syn_pattern_part *part)
{
    syn_node *node = w->node + w->depth - 1;
    int more = node->next < (w->depth == 1 ? w->end : node->children);
    if (!node->kept && (!more || place_of(node, node->next) > node->last)) {
        SYN_TRY(keep_set(c, node, part));
    }
    if (!more && w->depth > 1)
        syn_closure_pop(w);
    if (!more)
        return SYN_OK;
    syn_node *child = syn_closure_push(w, c->search->budget);
    if (!child)
        return syn_budget_refusal(c->search->budget);
    node = child - 1;  /* the stack may have moved */
    uint32_t k = node->next++;
    /* Goes on with what a new node begins: it is the last of the stack. */
    syn_node_made made = c->kind->child(&c->rules, &w->space, node, k, child);
    syn_status status = SYN_OK;
    if (made == SYN_NODE_FAILED)
        status = w->space.arena.refused;
    else if (made == SYN_NODE_BRANCH)
        return SYN_OK;
    else if (made == SYN_NODE_LEAF)
        status = keep_set(c, child, part);
    syn_closure_pop(w);
    return status;
}

/* Makes the root unless it is there from the share before. */
static syn_status need_root(const syn_closure *c, syn_closure_worker *w, uint32_t root)
{
    if (w->depth == 1 && w->root == root)
        return SYN_OK;
    w->depth = 0;
    syn_node *node = syn_closure_push(w, c->search->budget);
    if (!node)
        return syn_budget_refusal(c->search->budget);
    w->root = root;
    w->made = syn_closure_root(c, w, root, node);
    return w->made == SYN_NODE_FAILED ? w->space.arena.refused : SYN_OK;
}

/* Sets out on a share: some of the root's children. The first takes the root alone where
   it has none, and else the root's set goes to the share in whose children its place
   is. */
static syn_status begin_share(const syn_closure *c, syn_closure_worker *w,
                              syn_pattern_share s, syn_pattern_part *part)
{
    syn_status status = need_root(c, w, s.root);
    syn_node *root = w->node;
    if (status != SYN_OK || w->made == SYN_NODE_NONE)
        return status;
    if (w->made == SYN_NODE_LEAF)
        return s.number == 0 ? keep_set(c, root, part) : SYN_OK;
    uint32_t first = 0;  /* child after the root's set */
    while (first < root->children && place_of(root, first) < root->last)
        first++;
    root->next = (uint32_t)((uint64_t)root->children * s.number / s.of);
    w->end = (uint32_t)((uint64_t)root->children * (s.number + 1) / s.of);
    int is_last = s.number + 1 == s.of;
    root->kept = !(first >= root->next && (first < w->end || is_last));
    w->busy = 1;
    return SYN_OK;
}

static syn_status mine_load(void *context, size_t item, int id)
{
    const syn_closure *c = context;
    syn_closure_worker *w = c->worker + id;
    const syn_closure_load *l = c->load + item;
    double deadline = syn_seconds() + SYN_SLICE_SECONDS;
    while (w->at < l->n) {
        /* Goes on with a share, or sets out on it, until it is done or it is late. */
        const syn_pattern_share *share = l->share[w->at];
        syn_pattern_part *part = c->search->out->part + (share - c->search->share);
        syn_status status = SYN_OK;
        if (!w->busy)
            status = begin_share(c, w, *share, part);
        size_t words = 0;
        while (status == SYN_OK && w->busy) {
            words += w->node[w->depth - 1].words;
            status = step(c, w, part);
            w->busy = w->depth > 1 || w->node->next < w->end || !w->node->kept;
            if (words < CHECK_EVERY)
                continue;
            words = 0;
            if (syn_seconds() > deadline)
                break;
        }
        part->done = status == SYN_OK && !w->busy;
        SYN_TRY(status);
        w->at += !w->busy;
        if (w->at < l->n && syn_seconds() > deadline)
            return SYN_UNFINISHED;
    }
    w->at = 0;
    return SYN_OK;
}

/* Puts shares of a root together to loads that are still light enough to end together:
   who takes a load has to make its root. */
static syn_status load_shares(syn_closure *c)
{
    const syn_pattern_search *s = c->search;
    double all = 0;
    for (size_t k = 0; k < s->shares; k++)
        all += s->share[k].work;
    double most = all / LOADS / s->options->threads, work = 0;
    SYN_TAKE(s->budget, c->load, s->shares + 1);
    int same = 0;  /* whether the load before can take the share */
    for (size_t k = 0; k < s->shares; k++) {
        const syn_pattern_share *share = s->order[k];
        if (s->out->part[share - s->share].done) {
            same = 0;
            continue;
        }
        same = same && share->root == s->order[k - 1]->root;
        if (!same || work + share->work > most) {
            syn_closure_load new = {s->order + k, 0};
            c->load[c->loads++] = new;
            work = 0;
        }
        c->load[c->loads - 1].n++;
        work += share->work;
        same = 1;
    }
    return SYN_OK;
}

syn_status syn_patterns_closure(syn_pattern_search *search)
{
    syn_closure c = {.search = search};
    syn_status status = syn_closure_open(&c);
    SYN_NEXT(status, load_shares(&c));
    SYN_NEXT(status, syn_parallel_for(c.loads, search->options->threads, search->watch,
                                      "units", mine_load, &c));
    syn_closure_close(&c);
    return status;
}
