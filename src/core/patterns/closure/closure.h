/* What the parts of the closure engine share: its workers, and the roots they begin
   with. */
#ifndef SYN_PATTERNS_CLOSURE_CLOSURE_H
#define SYN_PATTERNS_CLOSURE_CLOSURE_H

#include "core/patterns/closure/node.h"
#include "core/patterns/windows.h"

/* What one worker has under way. */
typedef struct syn_closure_worker {
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
} syn_closure_worker;

/* Shares of one root, one after the other, that one worker takes. */
typedef struct syn_closure_load {
    const syn_pattern_share *const *share;  /* [n] */
    size_t n;
} syn_closure_load;

typedef struct syn_closure {
    syn_pattern_search *search;
    syn_node_rules rules;
    const syn_node_kind *kind;
    uint32_t places;
    uint32_t *unit_of, *item_of;  /* [places] */
    uint32_t *rank_of;            /* [events] the ranks of the units in the bins */
    syn_bin_windows windows;
    syn_closure_worker *worker;   /* [threads] */
    syn_closure_load *load;       /* [loads] */
    size_t loads;
} syn_closure;

/* Fills `c`, whose search is given, for options->threads workers. The caller closes it,
   also after an error. */
syn_status syn_closure_open(syn_closure *c);

void syn_closure_close(syn_closure *c);

/* Makes the node of the unit with rank `root`, in a worker's arena, which is emptied. */
syn_node_made syn_closure_root(const syn_closure *c, syn_closure_worker *w, uint32_t root,
                               syn_node *node);

/* Room for one more node on a worker's stack, NULL without memory; and the end of the
   deepest one. */
syn_node *syn_closure_push(syn_closure_worker *w, syn_budget *budget);
void syn_closure_pop(syn_closure_worker *w);

#endif
