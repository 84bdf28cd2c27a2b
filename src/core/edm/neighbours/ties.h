/* Blocks whose rows are no nearer than the farthest neighbour so far, but perhaps as
   near. Among rows that are equally near, those are wanted that come first in the order
   of ties. So such blocks are put aside until all nearer rows are known, and then only
   those are searched that have a row which comes early enough. A constant series has
   nothing but these. */
#ifndef SYN_EDM_NEIGHBOURS_TIES_H
#define SYN_EDM_NEIGHBOURS_TIES_H

#include "core/base/rank.h"
#include "core/edm/neighbours/blocks.h"
#include "core/edm/neighbours/nearest.h"
#include "core/edm/neighbours/neighbours.h"

typedef struct syn_ties {
    double at;        /* the squared distance of all of them */
    uint32_t from;    /* the first group that has some, */
    int any;          /* if there are any */
    uint64_t *tied;   /* [groups] a bit for each block, from `from` on */
} syn_ties;

static inline void syn_ties_start(syn_ties *ties)
{
    ties->at = -1;
    ties->any = 0;
}

/* Puts the blocks of a group aside, as near as `limit`. To be called for one group after
   the other, also where there are no such blocks; the limit never rises. */
static inline void syn_ties_put(syn_ties *ties, uint32_t group, uint64_t tied,
                                double limit)
{
    if (limit != ties->at) {
        ties->at = limit;
        ties->from = group;
        ties->any = 0;
    }
    ties->tied[group] = tied;
    ties->any |= tied != 0;
}

/* Searches the blocks that matter by visit(context, block), which offers their rows to
   `list` and may take them out of other ties. `from` is the place of the prediction row
   in the order of ties. */
static inline void syn_ties_visit(syn_ties *ties, const syn_blocks *b, uint32_t from,
                                  syn_nearest *list,
                                  void (*visit)(void *context, uint32_t block),
                                  void *context)
{
    if (!ties->any)
        return;
    if (list->n >= list->k)
        syn_nearest_cut(list);
    if (list->last.squared < ties->at)
        return;
    for (uint32_t g = ties->from; g < b->groups; g++)
        for (uint64_t left = ties->tied[g]; left; left &= left - 1) {
            uint32_t block = g * SYN_BLOCK + (uint32_t)__builtin_ctzll(left);
            const uint32_t *shuffled = b->shuffled + (size_t)block * SYN_BLOCK;
            if (list->last.squared <= ties->at &&
                syn_least_after(shuffled, SYN_BLOCK, from) > list->last.rank)
                continue;
            visit(context, block);
            if (list->n >= list->k)
                syn_nearest_cut(list);
        }
}

/* Where a search begins: the block of the row itself and, if all there are left out,
   those of the rows before and after. */
typedef struct syn_starts {
    uint32_t n, block[3];
} syn_starts;

/* Adds a block; returns whether it is a new one. */
static inline int syn_starts_add(syn_starts *starts, uint32_t block)
{
    if (block == SYN_NO_ROW)
        return 0;
    for (uint32_t i = 0; i < starts->n; i++)
        if (starts->block[i] == block)
            return 0;
    starts->block[starts->n++] = block;
    return 1;
}

/* Those of a group. */
static inline uint64_t syn_starts_of(const syn_starts *starts, uint32_t group)
{
    uint64_t out = 0;
    for (uint32_t i = 0; i < starts->n; i++)
        if (starts->block[i] / SYN_BLOCK == group)
            out |= (uint64_t)1 << starts->block[i] % SYN_BLOCK;
    return out;
}

#endif
