/* Library points gathered for the search: blocks of rows that lie near each other, and
   the boxes around them. */
#ifndef SYN_EDM_NEIGHBOURS_BLOCKS_H
#define SYN_EDM_NEIGHBOURS_BLOCKS_H

#include "core/base/arrays.h"
#include "core/edm/model/points.h"

enum { SYN_BLOCK = 64 };  /* rows of a block, and boxes of a group */

#define SYN_NO_ROW UINT32_MAX

typedef struct syn_blocks {
    uint32_t dims, blocks, groups;
    uint32_t *row;    /* [blocks][64] rows of the data, SYN_NO_ROW after the last */
    uint32_t *place;  /* [rows of the data] where it is in `row`, SYN_NO_ROW if nowhere */
    uint32_t *shuffled;  /* [blocks][64] the places of each block's rows in the order of
                            ties (core/base/rank.h), sorted; the last one again and again
                            where there are fewer */
    uint32_t *home;   /* [rows of the data] the block of the library row that is next in
                         time, SYN_NO_ROW if there is none */
    double *x;        /* [blocks][dims][64] coordinates, infinite where there is none */
    double *low;      /* [groups][dims][64] the box around each block; after the last */
    double *high;     /* block empty boxes, infinitely far from everything */
} syn_blocks;

/* Gathers `library`. Of its row i, the coordinates from steps[i] * step on are taken to
   be infinite. */
syn_status syn_blocks_make(const syn_points *points, const syn_reach *library,
                           uint32_t step, syn_arrays *memory, syn_blocks *out);

#endif
