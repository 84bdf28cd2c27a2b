/* The order in which library rows at equal distance from a point count as its
   neighbours: a fixed shuffle of all rows. Files for CUDA define SYN_EVERYWHERE as a
   function for both before they include this one.

   The order must know nothing about time. Of counts, rounded numbers and silent stretches
   many rows are at equal distance; if the nearest in time came first, any library would
   predict every slow target. */
#ifndef SYN_BASE_RANK_H
#define SYN_BASE_RANK_H

#include <stdint.h>

#ifndef SYN_EVERYWHERE
#define SYN_EVERYWHERE static inline
#endif

/* The place of row number `row`, from 0, in the shuffle. No two rows have the same: each
   step can be undone (multipliers and shifts are those of lowbias32, Wellons 2018). */
SYN_EVERYWHERE uint32_t syn_row_rank(uint32_t row)
{
    row = (row ^ row >> 16) * 0x7feb352du;
    row = (row ^ row >> 15) * 0x846ca68bu;
    return row ^ row >> 16;
}

#endif
