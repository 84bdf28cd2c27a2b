/* The interface between the search by FP-growth and the trees of its roots. */
#ifndef SYN_PATTERNS_FPGROWTH_FPGROWTH_H
#define SYN_PATTERNS_FPGROWTH_FPGROWTH_H

#include "core/base/arena.h"
#include "core/patterns/fpgrowth/tree.h"
#include "core/patterns/engine.h"
#include "core/patterns/fpgrowth/kept.h"
#include "core/patterns/windows.h"

/* A tree being worked on. */
typedef struct syn_fp_level {
    syn_fptree tree;
    uint32_t left;         /* entries that are still to extend the pattern */
    uint32_t size;         /* of the pattern that the tree belongs to */
    syn_arena_mark mark;   /* before the tree */
} syn_fp_level;

typedef struct syn_fp_worker {
    syn_arena arena;
    syn_tally tally;
    syn_kept kept;
    uint32_t *code;        /* [items] */
    uint32_t *more;        /* [items] those that could extend the pattern, by code */
    uint32_t *seen;        /* [units] how often each is in the pattern */
    uint32_t *pattern;     /* the items so far, as they came, the root first */
    uint32_t *sorted;      /* the same, increasing */
    syn_fp_level *level;   /* [level_room] */
    uint32_t size, distinct, levels;
    size_t pattern_room, sorted_room, level_room;
    syn_pattern_part *part;  /* of the root */
    int busy;              /* with a root that is not finished */
    char apart[64];        /* workers write to no cache line of each other's */
} syn_fp_worker;

typedef struct syn_fpgrowth {
    syn_pattern_search *search;
    syn_bin_windows windows;
    size_t roots;
    const syn_pattern_share **root;  /* [roots] the first share of each, as ordered */
    int absorb;            /* items in all windows are added without branching */
    int look_up;           /* the table decides which sets are closed, else the windows */
    syn_fp_worker *worker; /* [threads] */
} syn_fpgrowth;

/* What is known of the pattern when it is found. */
typedef struct syn_fp_found {
    uint32_t occurrences;
    uint32_t more;         /* items that could extend it */
    int has_full;          /* one of them is in all of its windows */
    uint64_t hash;         /* of its windows */
    uint32_t words;
    const uint64_t *shared;  /* [words] not zero: all hold a root of lower rank */
} syn_fp_found;

/* The windows that a unit opens. */
typedef struct syn_fp_root {
    const uint32_t *bin;   /* [n] */
    uint32_t n;
    uint32_t rank;
    uint32_t guards;       /* units of lower rank at lag 0 that could be in all windows */
    uint32_t words;        /* for as many bits */
    uint64_t *bits;        /* [n * words] the guards in each window */
    size_t steps;          /* items of the tree in all windows */
} syn_fp_root;

static inline void syn_fp_push(const syn_fpgrowth *f, syn_fp_worker *w, uint32_t item)
{
    w->pattern[w->size++] = item;
    w->distinct += w->seen[item % f->search->raster->units]++ == 0;
}

/* Makes the unit of a rank, which is frequent, the pattern, with the items that are in
   all of its windows if these are absorbed. Others that are frequent go to w->more, and
   get their codes, by falling frequency. */
syn_status syn_fp_root_open(const syn_fpgrowth *f, syn_fp_worker *w, uint32_t rank,
                            syn_fp_root *root, syn_fp_found *found);

/* Room for one level more than there are. */
syn_status syn_fp_make_level(const syn_fpgrowth *f, syn_fp_worker *w);

/* Makes the tree of these others the first level. */
syn_status syn_fp_root_build(const syn_fpgrowth *f, syn_fp_worker *w,
                             const syn_fp_root *root, uint32_t entries);

#endif
