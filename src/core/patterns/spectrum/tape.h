/* A raster as bits, a row of units for each bin: the items of a window are a stretch of
   it, so nothing has to be put together to count them. */
#ifndef SYN_PATTERNS_SPECTRUM_TAPE_H
#define SYN_PATTERNS_SPECTRUM_TAPE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/budget.h"
#include "core/spikes/raster.h"

/* All zero, except for `budget`, is an empty tape. Only units in enough bins are on it,
   numbered by rank: those in fewest bins first. Gaps as long as a window are cut to that.
   Item lag * 64 * words + unit of the window that opens at bin b is bit `unit` of bin
   b + lag. */
typedef struct syn_tape {
    uint32_t units, window;
    size_t words;        /* of a bin */
    uint64_t *bits;      /* [bins][words], and a window and a block more, empty */
    uint32_t *first;     /* [units + 1] where a unit's bins begin in `at` */
    uint32_t *at;        /* bins in which a unit fires, increasing */
    uint32_t *rank;      /* [units of the raster] */
    size_t rooms[4];     /* words of bits, first, at and rank */
    syn_budget *budget;  /* what they are taken from */
} syn_tape;

/* Makes it the tape of `raster`, of its units in at least `min_count` bins, for windows
   of `window` bins; memory is used again. The caller frees with syn_tape_free(), also
   after an error: SYN_OVER_BUDGET or SYN_NO_MEMORY. */
syn_status syn_tape_fill(syn_tape *tape, const syn_raster *raster, uint32_t window,
                         uint32_t min_count);

void syn_tape_free(syn_tape *tape);

#endif
