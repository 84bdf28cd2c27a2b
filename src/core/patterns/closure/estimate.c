/* How long the closure engine takes, about, found in milliseconds: from some roots it goes
   down to a child drawn at random, from there to one of its children, and so on. What the
   making of a node took counts once for each way that could have been gone instead
   (Knuth 1975, Estimating the efficiency of backtrack programs), so that the sum is right
   on the average. */
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

/* Seconds below a root, going by one way down from child `k`; negative without memory. */
static double descend(const syn_closure *c, syn_closure_worker *w, uint32_t k,
                      uint64_t *drawn)
{
    double seconds = 0, ways = 1;
    syn_node_made made = SYN_NODE_BRANCH;
    while (made == SYN_NODE_BRANCH && w->node[w->depth - 1].children > 0) {
        uint32_t children = w->node[w->depth - 1].children;
        if (w->depth > 1)
            k = (uint32_t)(fraction((*drawn)++) * children);
        ways *= children;
        double took = time_child(c, w, k, &made);
        if (took < 0)
            return -1;
        seconds += ways * took;
    }
    while (w->depth > 1)
        syn_closure_pop(w);
    return seconds;
}

/* Seconds of a root: of making it, and of what is below. Negative without memory. */
static double time_root(const syn_closure *c, syn_closure_worker *w, uint32_t root,
                        uint64_t *drawn)
{
    w->depth = 0;
    syn_node *node = syn_closure_push(w, c->search->budget);
    if (!node)
        return -1;
    double begun = syn_seconds(), below = 0;
    syn_node_made made = syn_closure_root(c, w, root, node);
    double seconds = syn_seconds() - begun;
    if (made == SYN_NODE_FAILED)
        return -1;
    if (made != SYN_NODE_BRANCH)
        return seconds;
    for (uint32_t d = 0; d < DESCENTS && node->children > 0; d++) {
        /* One from each of as many parts of the list: early children have most below. */
        double at = (d + fraction((*drawn)++)) / DESCENTS;
        double took = descend(c, w, (uint32_t)(at * node->children), drawn);
        if (took < 0)
            return -1;
        below += took;
        node = w->node;  /* the stack may have moved */
    }
    return seconds + below / DESCENTS;
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
    double all = 0, sum = 0, begun = syn_seconds();
    for (size_t k = 0; k < search->shares; k++)
        all += search->share[k].work;
    uint32_t roots = 0;
    uint64_t drawn = 0;
    while (status == SYN_OK && all > 0 && roots < ROOTS &&
           (roots == 0 || syn_seconds() < begun + LOOK_SECONDS)) {
        /* Parts of the work in an order that goes all over it. */
        double place = (roots++ * 7 % ROOTS + fraction(drawn++)) / ROOTS;
        const syn_pattern_share *share = share_at(search, place, all);
        double took = time_root(&c, c.worker, share->root, &drawn);
        if (took < 0)
            status = SYN_NO_MEMORY;
        sum += took * all / (share->work * share->of);
    }
    search->out->seconds = roots > 0 ? sum / roots : 0;
    syn_closure_close(&c);
    return status;
}
