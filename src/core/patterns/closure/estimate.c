/* How long the closure engine takes, about, found in milliseconds: from some roots it
   goes down to a child drawn at random, from there to one of its children, and so on.
   What the making of a node took counts once for each way that could have been gone
   instead (Knuth 1975, Estimating the efficiency of backtrack programs), so that the sum
   is right on the average. */
#include "core/base/hash.h"
#include "core/base/parallel.h"
#include "core/patterns/closure/closure.h"

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
static double time_child(const syn_closure *c, syn_closure_worker *w, uint32_t k,
                         syn_node_made *made)
{
    syn_node *child = syn_closure_push(w, c->search->budget);
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
static syn_status descend(const syn_closure *c, syn_closure_worker *w, uint32_t k,
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
        syn_closure_pop(w);
    return SYN_OK;
}

/* Adds seconds of a root, times `weight`: of making it and its children, and of what is
   below them. */
static syn_status time_root(const syn_closure *c, syn_closure_worker *w, uint32_t root,
                            double weight, uint64_t *drawn, syn_patterns *out)
{
    w->depth = 0;
    syn_node *node = syn_closure_push(w, c->search->budget);
    if (!node)
        return SYN_NO_MEMORY;
    double took[2], children = 0, below = 0;
    syn_node_made made = SYN_NODE_NONE;
    for (int time = 0; time < 2; time++) {
        double begun = syn_seconds();
        made = syn_closure_root(c, w, root, node);
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
    syn_closure c = {.search = search};
    syn_status status = syn_closure_open(&c);
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
    syn_closure_close(&c);
    return status;
}
