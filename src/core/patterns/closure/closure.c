/* The closure engine: patterns root by root, each closed set met once.

   All patterns whose root is one unit lie in the windows that open at its spikes. Masks
   of these windows, one an item, make supports and closures a few instructions; a set is
   extended by an item only if no item that comes before is in all the windows that are
   left (prefix-preserving closure extension: Uno, Kiyomi & Arimura 2004), so no found set
   has to be looked up. Windows without enough units to complete a pattern are left out as
   early as that is known. */

#include "core/base/parallel.h"
#include "core/patterns/closure/closure.h"

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
                              syn_pattern_share s,
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
