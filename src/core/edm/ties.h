/* Blocks whose rows are no nearer than the farthest neighbour so far, but perhaps as
   near. Among rows that are equally near, those nearest in time are wanted. So such
   blocks are put aside until all nearer rows are known, and then searched from the
   prediction row outwards in time. A constant series has nothing but these. */
#ifndef SYN_EDM_TIES_H
#define SYN_EDM_TIES_H

#include "core/edm/blocks.h"
#include "core/edm/nearest.h"
#include "core/edm/search.h"

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

/* Rows between a prediction row and the rows of a block, at least. */
static inline uint32_t syn_block_apart(const syn_blocks *b, uint32_t block, uint32_t row)
{
    if (row < b->first[block])
        return b->first[block] - row;
    return row > b->last[block] ? row - b->last[block] : 0;
}

/* Takes out a block that has rows at most `within` from `row`, of `*group` or later ones,
   which becomes its group; SYN_NO_ROW if there is none. */
static inline uint32_t syn_ties_take(syn_ties *ties, const syn_blocks *b, uint32_t row,
                                     uint64_t within, uint32_t *group)
{
    for (; *group < b->groups; ++*group)
        for (uint64_t left = ties->tied[*group]; left; left &= left - 1) {
            uint32_t block = *group * SYN_BLOCK + (uint32_t)__builtin_ctzll(left);
            if (syn_block_apart(b, block, row) <= within) {
                ties->tied[*group] &= ~(left & (0 - left));
                return block;
            }
        }
    return SYN_NO_ROW;
}

/* Rows between `row` and the nearest rows of all these blocks, at least. */
static inline uint32_t syn_ties_apart(const syn_ties *ties, const syn_blocks *b,
                                      uint32_t row)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t g = ties->from; g < b->groups; g++)
        for (uint64_t left = ties->tied[g]; left; left &= left - 1) {
            uint32_t block = g * SYN_BLOCK + (uint32_t)__builtin_ctzll(left);
            uint32_t apart = syn_block_apart(b, block, row);
            least = apart < least ? apart : least;
        }
    return least;
}

/* Searches the blocks that matter by visit(context, block), which offers their rows to
   `list` and may take them out of other ties. */
static inline void syn_ties_visit(syn_ties *ties, const syn_blocks *b, uint32_t row,
                                  uint32_t rows, syn_nearest *list,
                                  void (*visit)(void *context, uint32_t block),
                                  void *context)
{
    if (!ties->any)
        return;
    if (list->n >= list->k)
        syn_nearest_cut(list);
    if (list->last.squared < ties->at)
        return;
    uint64_t nearest = syn_ties_apart(ties, b, row);
    if (list->last.apart < nearest)
        return;
    for (uint64_t more = SYN_BLOCK, within = nearest; within < rows; more *= 4) {
        within = nearest + more;
        uint32_t group = ties->from, block;
        while ((block = syn_ties_take(ties, b, row, within, &group)) != SYN_NO_ROW)
            visit(context, block);
        if (list->n >= list->k)
            syn_nearest_cut(list);
        if (list->last.apart <= within)
            return;
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
