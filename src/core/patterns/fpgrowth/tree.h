/* FP-trees: transactions that begin alike share the nodes of their beginnings.

   A tree has a header table whose entries are numbered from the one nearest to the root;
   a path from the root goes through increasing entries. Every transaction has a count, a
   hash and a set of bits. What a node or an entry has of them goes for all transactions
   that pass through it: the sum of the counts, the sum of the hashes (so sets of entries
   in the same transactions have the same), the bits that all share. */
#ifndef SYN_PATTERNS_FPGROWTH_TREE_H
#define SYN_PATTERNS_FPGROWTH_TREE_H

#include <stdint.h>

#include "core/base/arena.h"

#define SYN_FP_NONE UINT32_MAX

/* Nodes that follow each other from the root down without a branch to an earlier node are
   a run, and stand next to each other: going up is mostly reading backwards. */
typedef struct syn_fptree {
    uint32_t entries;      /* of the header table */
    uint32_t words;        /* of a set of bits */
    uint32_t nodes, runs;
    uint32_t *item;        /* [entries] what the caller calls them */
    uint64_t *hash;        /* [entries] */
    uint64_t *shared;      /* [entries * words] */
    uint32_t *count;       /* [entries] */
    uint32_t *head;        /* [entries] an entry's first node */
    uint32_t *next;        /* [nodes] the entry's next node, or SYN_FP_NONE */
    uint32_t *entry;       /* [nodes] */
    uint32_t *run;         /* [nodes] */
    uint32_t *node_count;  /* [nodes] */
    uint64_t *node_hash;   /* [nodes] */
    uint64_t *node_shared; /* [nodes * words] */
    uint32_t *begin;       /* [runs] a run's first node */
    uint32_t *above;       /* [runs] the node above that, or SYN_FP_NONE at the root */
} syn_fptree;

/* A transaction, or several with the same entries. */
typedef struct syn_fp_path {
    uint32_t *entry;       /* [length] increasing */
    uint32_t length;
    uint32_t count;
    uint64_t hash;
    const uint64_t *shared;  /* [words] */
} syn_fp_path;

/* Bytes that a tree with so many entries, words and steps (the lengths of all paths added
   up) takes at most, what is needed to build it included. */
double syn_fptree_bytes(uint32_t entries, uint32_t words, size_t steps, size_t paths);

/* The tree of `paths` paths with `steps` steps in all, below 2^32 - 1. All memory comes
   from the arena. Sorts the paths. `item` is left to the caller. */
syn_status syn_fptree_build(syn_fptree *out, syn_arena *arena, uint32_t entries,
                            uint32_t words, syn_fp_path *path, size_t paths,
                            size_t steps);

/* Adds to count[e], for each entry e < `entry`, the transactions with both. */
void syn_fptree_count(const syn_fptree *tree, uint32_t entry, uint32_t *count);

/* The conditional tree of `entry`: the transactions that hold it, cut down to the entries
   above it that have a code. code[e] numbers them from 0 in increasing order, or is
   SYN_FP_NONE; there are `entries` of these, in `steps` transactions when added up. */
syn_status syn_fptree_project(syn_fptree *out, syn_arena *arena, const syn_fptree *tree,
                              uint32_t entry, const uint32_t *code, uint32_t entries,
                              size_t steps);

#endif
