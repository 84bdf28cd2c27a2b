/* The closure engine: patterns root by root, each closed set met once.

   All patterns whose root is one unit lie in the windows that open at its spikes. Masks
   of these windows, one an item, make supports and closures a few instructions; a set is
   extended by an item only if no item that comes before is in all the windows that are
   left (prefix-preserving closure extension: Uno, Kiyomi & Arimura 2004), so no found set
   has to be looked up. Windows without enough units to complete a pattern are left out as
   early as that is known. */
#include <stdlib.h>

#include "core/base/hash.h"
#include "core/base/masks.h"
#include "core/base/order.h"
#include "core/base/parallel.h"
#include "core/patterns/closure/node.h"
#include "core/patterns/windows.h"

/* What one worker has under way. */
typedef struct closure_worker {
    syn_node_space space;
    syn_node *node;       /* [room] the nodes from the root down */
    size_t depth, room;
    uint32_t *count;      /* [places] zero between roots */
    uint32_t *touched;    /* [places] places seen in the root's windows */
    uint32_t root;        /* the unit whose root is the first node */
    syn_node_made made;   /* what became of that */
    size_t at;            /* the share of the load that is under way, or comes next */
    int busy;             /* a share is under way */
    uint32_t end;         /* where it ends among the root's children */
} closure_worker;

/* Shares of one root, one after the other, that one worker takes. */
typedef struct closure_load {
    const syn_pattern_share *const *share;  /* [n] */
    size_t n;
} closure_load;

typedef struct closure {
    syn_pattern_search *search;
    syn_node_rules rules;
    const syn_node_kind *kind;
    uint32_t places;
    uint32_t *unit_of, *item_of;  /* [places] */
    uint32_t *rank_of;            /* [events] the ranks of the units in the bins */
    syn_bin_windows windows;
    closure_worker *worker; /* [threads] */
    closure_load *load;     /* [loads] */
    size_t loads;
} closure;

/* ---- tables and workers ---- */

/* ---- set-up ---- */

/* Fills `c`, whose search is given, for options->threads workers. The caller closes it,
   also after an error. */
static syn_status closure_open(closure *c)
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
    c->rules = (syn_node_rules){.options = o, .unit_of = c->unit_of,
                                .item_of = c->item_of,
                                .closed = o->target == SYN_PATTERNS_CLOSED ||
                                          o->target == SYN_PATTERNS_MAXIMAL,
                                .barred = o->target != SYN_PATTERNS_FREQUENT,
                                .maximal = o->target == SYN_PATTERNS_MAXIMAL};
    const syn_node_kind *kinds[] = SYN_KINDS(&syn_node_kind_any, &syn_node_kind_256,
                                             &syn_node_kind_256, &syn_node_kind_512);
    c->kind = kinds[syn_kind_here(o->vector_bits)];
    return SYN_OK;
}

static void closure_close(closure *c)
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
static uint32_t frequent_places(const closure *c, closure_worker *w, uint32_t seen)
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
static uint32_t count_places(const closure *c, closure_worker *w, const uint32_t *bin,
                             uint32_t n)
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
static uint32_t list_places(const closure *c, closure_worker *w, uint32_t begin,
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
static uint32_t list_root(const closure *c, closure_worker *w, uint32_t root, uint32_t n,
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
static syn_status fill_masks(const closure *c, closure_worker *w, const uint32_t *bin,
                             syn_node *node)
{
    size_t words = node->words, room = (node->listed + 1) * words;
    uint64_t *mask;
    SYN_ARENA(&w->space.arena, mask, room);
    memset(mask, 0, room * sizeof *mask);
    for (uint32_t i = 0; i < node->windows && node->listed > 0; i++) {
        uint64_t bit = (uint64_t)1 << i % 64, *at = mask + i / 64;
        EACH_ITEM(c, bin[i], at[w->count[place] * words] |= bit;);
    }
    node->mask = mask + words;
    return SYN_OK;
}

/* Leaves in `touched` the places that matter for a root, as frequent_places() does. */
static uint32_t touch_places(const closure *c, closure_worker *w, uint32_t root,
                             const uint32_t *bin, uint32_t n)
{
    if (c->search->options->max_spikes > 1 || c->rules.closed)
        return frequent_places(c, w, count_places(c, w, bin, n));
    /* The unit by itself: whether others fire with it does not matter. */
    w->touched[0] = root;
    w->count[root] = n;
    return 1;
}

/* Makes the node of the unit with rank `root`, in a worker's arena, which is emptied. */
static syn_node_made closure_root(const closure *c, closure_worker *w, uint32_t root,
                                  syn_node *node)
{
    const syn_raster *raster = c->search->raster;
    uint32_t unit = c->search->ranked[root];
    const uint32_t *bin = raster->unit_bin + raster->unit_first[unit];
    memset(node, 0, sizeof *node);
    syn_arena_clear(&w->space.arena);
    node->mark = syn_arena_here(&w->space.arena);
    node->windows = syn_bins_of(raster, unit);
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

/* Room for one more node on a worker's stack, NULL without memory; and the end of the
   deepest one. */
static syn_node *closure_push(closure_worker *w, syn_budget *budget)
{
    if (!syn_budget_grow_at(budget, &w->node, &w->room, w->depth + 1, sizeof *w->node))
        return NULL;
    return w->node + w->depth++;
}

static void closure_pop(closure_worker *w)
{
    syn_arena_return(&w->space.arena, w->node[--w->depth].mark);
}

enum {
    CHECK_EVERY = 1024,  /* words of masks between two looks at the clock */
    LOADS = 16           /* for each thread, if all were as heavy */
};

/* ---- the search below a root ---- */

/* Keeps the set of a node, if it is a pattern, at its place in the order. */
static syn_status keep_set(const closure *c, syn_node *node, syn_pattern_part *part)
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
static syn_status step(const closure *c, closure_worker *w, syn_pattern_part *part)
{
    syn_node *node = w->node + w->depth - 1;
    int more = node->next < (w->depth == 1 ? w->end : node->children);
    if (!node->kept && (!more || place_of(node, node->next) > node->last)) {
        SYN_TRY(keep_set(c, node, part));
    }
    if (!more && w->depth > 1)
        closure_pop(w);
    if (!more)
        return SYN_OK;
    syn_node *child = closure_push(w, c->search->budget);
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
    closure_pop(w);
    return status;
}

/* Makes the root unless it is there from the share before. */
static syn_status need_root(const closure *c, closure_worker *w, uint32_t root)
{
    if (w->depth == 1 && w->root == root)
        return SYN_OK;
    w->depth = 0;
    syn_node *node = closure_push(w, c->search->budget);
    if (!node)
        return syn_budget_refusal(c->search->budget);
    w->root = root;
    w->made = closure_root(c, w, root, node);
    return w->made == SYN_NODE_FAILED ? w->space.arena.refused : SYN_OK;
}

/* Sets out on a share: some of the root's children. The first takes the root alone where
   it has none, and else the root's set goes to the share in whose children its place
   is. */
static syn_status begin_share(const closure *c, closure_worker *w, syn_pattern_share s,
                              syn_pattern_part *part)
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
    const closure *c = context;
    closure_worker *w = c->worker + id;
    const closure_load *l = c->load + item;
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
static syn_status load_shares(closure *c)
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
            c->load[c->loads++] = (closure_load){s->order + k, 0};
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
    closure c = {.search = search};
    syn_status status = closure_open(&c);
    SYN_NEXT(status, load_shares(&c));
    SYN_NEXT(status, syn_parallel_for(c.loads, search->options->threads, search->watch,
                                      "units", mine_load, &c));
    closure_close(&c);
    return status;
}

/* ---- how long it takes ----

   How long the closure engine takes, about, found in milliseconds: from some roots it
   goes down to a child drawn at random, from there to one of its children, and so on.
   What the making of a node took counts once for each way that could have been gone
   instead (Knuth 1975, Estimating the efficiency of backtrack programs), so that the sum
   is right on the average. */

enum {
    ROOTS = 16,    /* looked at, the same one perhaps again; */
    DESCENTS = 8,  /* from each of them; */
    TIMES = 3      /* that a node is made */
};

static const double LOOK_SECONDS = 0.005;  /* after which no other root is begun */
static const double NODE_SECONDS = 2e-8;  /* of a node, beside making it, measured */

/* A number in [0, 1): the n-th of a fixed sequence. */
static double fraction(uint64_t n)
{
    uint64_t hash = syn_hash_more(syn_hash_more(0x5bd1e995, n), n + 1);
    return (double)(hash >> 11) / 9007199254740992.0;
}

/* Seconds that child `k` of the deepest node takes to be made; it is the deepest then,
   and *made what became of it. The shortest of some times, as the first fills the
   processor's caches, and others may be held up. Negative without memory. */
static double time_child(const closure *c, closure_worker *w, uint32_t k,
                         syn_node_made *made)
{
    syn_node *child = closure_push(w, c->search->budget);
    double best = 1;
    for (int time = 0; child && time < TIMES; time++) {
        if (time > 0)
            syn_arena_return(&w->space.arena, child->mark);
        double begun = syn_seconds();
        *made = c->kind->child(&c->rules, &w->space, child - 1, k, child);
        double took = syn_seconds() - begun;
        best = took < best ? took : best;
        if (*made == SYN_NODE_FAILED)
            return -1;
    }
    return child ? best + NODE_SECONDS : -1;
}

/* Adds to *children the seconds of a root's children, going by its child `k`, and to
   *below those of what is below them, going by one way down from it. */
static syn_status descend(const closure *c, closure_worker *w, uint32_t k,
                          uint64_t *drawn, double *children_seconds, double *below)
{
    double ways = 1;
    syn_node_made made = SYN_NODE_BRANCH;
    while (made == SYN_NODE_BRANCH && w->node[w->depth - 1].children > 0) {
        uint32_t children = w->node[w->depth - 1].children;
        if (w->depth > 1)
            k = (uint32_t)(fraction((*drawn)++) * children);
        ways *= children;
        double took = time_child(c, w, k, &made);
        if (took < 0)
            return SYN_NO_MEMORY;
        *(w->depth == 2 ? children_seconds : below) += ways * took;
    }
    while (w->depth > 1)
        closure_pop(w);
    return SYN_OK;
}

/* Adds seconds of a root, times `weight`: of making it and its children, and of what is
   below them. */
static syn_status time_root(const closure *c, closure_worker *w, uint32_t root,
                            double weight, uint64_t *drawn, syn_patterns *out)
{
    w->depth = 0;
    syn_node *node = closure_push(w, c->search->budget);
    if (!node)
        return SYN_NO_MEMORY;
    double took[2], children = 0, below = 0;
    syn_node_made made = SYN_NODE_NONE;
    for (int time = 0; time < 2; time++) {
        double begun = syn_seconds();
        made = closure_root(c, w, root, node);
        took[time] = syn_seconds() - begun;
    }
    out->seconds += weight * (took[0] < took[1] ? took[0] : took[1]);
    syn_status status = made == SYN_NODE_FAILED ? SYN_NO_MEMORY : SYN_OK;
    uint32_t descents = made == SYN_NODE_BRANCH && node->children > 0 ? DESCENTS : 0;
    for (uint32_t d = 0; d < descents && status == SYN_OK; d++) {
        /* One from each of as many parts of the list: early children have most below. The
           stack may have moved. */
        double at = (d + fraction((*drawn)++)) / DESCENTS * w->node->children;
        status = descend(c, w, (uint32_t)at, drawn, &children, &below);
    }
    out->seconds += weight * children / DESCENTS;
    out->seconds_below += weight * below / DESCENTS;
    return status;
}

/* The share that `place` of all work, in [0, 1), falls into, or the last one. */
static const syn_pattern_share *share_at(const syn_pattern_search *s, double place,
                                         double all)
{
    const syn_pattern_share *share = s->share;
    for (double work = place * all; share + 1 < s->share + s->shares; share++) {
        work -= share->work;
        if (work < 0)
            break;
    }
    return share;
}

syn_status syn_patterns_estimate(syn_pattern_search *search)
{
    closure c = {.search = search};
    syn_status status = closure_open(&c);
    double all = 0, begun = syn_seconds();
    for (size_t k = 0; k < search->shares; k++)
        all += search->share[k].work;
    uint32_t roots = 0;
    uint64_t drawn = 0;
    while (status == SYN_OK && all > 0 && roots < ROOTS &&
           (roots == 0 || syn_seconds() < begun + LOOK_SECONDS)) {
        /* Parts of the work in an order that goes all over it. */
        double place = (roots++ * 7 % ROOTS + fraction(drawn++)) / ROOTS;
        const syn_pattern_share *share = share_at(search, place, all);
        status = time_root(&c, c.worker, share->root, all / (share->work * share->of),
                           &drawn, search->out);
    }
    search->out->seconds /= roots > 0 ? roots : 1;
    search->out->seconds_below /= roots > 0 ? roots : 1;
    closure_close(&c);
    return status;
}
