/* The order in which library rows at equal distance from a prediction row count as its
   neighbours: that in which they follow it in a fixed shuffle of all rows, which goes on
   at its beginning. Files for CUDA define SYN_EVERYWHERE as a function for both before
   they include this one.

   The order must know nothing about time. Of counts, rounded numbers and silent stretches
   many rows are at equal distance; if the nearest in time came first, any library would
   predict every slow target. And it must differ from one prediction row to the next: if
   the same few rows stood for all that are alike, chance would decide what they
   predict. */
#ifndef SYN_BASE_RANK_H
#define SYN_BASE_RANK_H

#include "core/base/seek.h"

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

/* How far `row` comes after a prediction row whose place is `from`: 0 for that itself. */
SYN_EVERYWHERE uint32_t syn_rank_after(uint32_t row, uint32_t from)
{
    return syn_row_rank(row) - from;
}

/* The least of n places in the order after `from`; they are sorted, and at least one. */
SYN_EVERYWHERE uint32_t syn_least_after(const uint32_t *place, uint32_t n, uint32_t from)
{
    uint32_t low = 0;
    SYN_SEEK(uint32_t, at, low, n, place[at] < from);
    return place[low < n ? low : 0] - from;
}

#endif
