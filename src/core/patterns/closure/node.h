/* A node of the closure search: a set of items, the windows that hold it, and the items
   that may still be added. */
#ifndef SYN_PATTERNS_CLOSURE_NODE_H
#define SYN_PATTERNS_CLOSURE_NODE_H

#include "core/base/arena.h"
#include "core/patterns/engine.h"

/* Lists begin with items that must not be added, because another branch has them; then
   come those that can be, in increasing place. Masks are bits of the node's windows. */
typedef struct syn_node {
    uint32_t *item;       /* [size] the set, as increasing item numbers */
    uint32_t *unit;       /* [units] the ranks of the units in it */
    uint32_t size, units;
    uint32_t last;        /* the largest place in it */
    uint32_t windows;     /* windows that hold it, as far as they can lead to a pattern */
    uint32_t words;       /* of a mask, at least 1 */
    uint32_t barred;      /* items that must not be added */
    uint32_t listed;      /* all items in the list */
    uint32_t *place;      /* [listed] */
    uint64_t *mask;       /* [listed][words] */
    uint64_t *row;        /* [words * 64][stride] the masks turned, or NULL */
    size_t stride;
    uint32_t children;    /* of the open ones, those that can lead to a pattern */
    uint32_t *child;      /* [children] where they stand among the open; NULL: all do */
    uint64_t *reach;      /* [children][words] their windows that can, or NULL for all */
    uint32_t next;        /* child to visit next */
    int kept;             /* whether the set itself has been passed */
    int hidden;           /* whether it must not be kept: a larger set has its windows */
    syn_arena_mark mark;  /* the arena before this node */
} syn_node;

/* How a search goes on below a node. */
typedef struct syn_node_rules {
    const syn_pattern_options *options;
    const uint32_t *unit_of;  /* [places] the rank of its unit */
    const uint32_t *item_of;  /* [places] */
    int closed;   /* items that all windows hold are taken, or end a branch, at once */
    int barred;   /* whether items that must not be added matter */
    int maximal;  /* whether those that share enough windows matter */
} syn_node_rules;

/* What a worker uses over and over, for lists as long as those of its root. */
typedef struct syn_node_space {
    syn_arena arena;
    uint32_t *full;       /* [listed + 1] places of items that all windows hold */
    uint32_t *place;      /* [listed] */
    uint64_t *mask;       /* [listed] of one word */
    uint32_t *index;      /* [windows] numbers of windows */
    uint64_t *frequent;   /* [stride] a bit for each item listed */
    uint64_t *all;        /* [stride] */
    uint64_t *set;        /* [words] windows */
    uint64_t *left;       /* [words + 1] a mask, compressed */
    uint64_t *reached;    /* [SYN_MOST_AHEAD + 2][words] */
} syn_node_space;

enum { SYN_MOST_AHEAD = 16 };  /* items a look ahead goes on for */

/* Takes room for a root of `listed` items in `windows` windows from the arena. */
syn_status syn_node_space_make(syn_node_space *space, size_t listed, size_t windows);

typedef enum syn_node_made {
    SYN_NODE_NONE,    /* nothing to find there */
    SYN_NODE_LEAF,    /* the set alone: nothing to add */
    SYN_NODE_BRANCH,
    SYN_NODE_FAILED   /* no memory */
} syn_node_made;

/* The search is compiled once for each kind of processor; all give the same. */
typedef struct syn_node_kind {
    /* Finishes a root whose windows and list are there, with the `n` items at
       space->full as its set. */
    syn_node_made (*root)(const syn_node_rules *rules, syn_node_space *space, size_t n,
                          syn_node *node);

    /* Makes child number `k` of `parent`, with memory from the arena from `mark` of `out`
       on. Of a leaf only the set, `windows` and `hidden` are filled. */
    syn_node_made (*child)(const syn_node_rules *rules, syn_node_space *space,
                           syn_node *parent, uint32_t k, syn_node *out);
} syn_node_kind;

extern const syn_node_kind syn_node_kind_any, syn_node_kind_256, syn_node_kind_512;

#endif
