/* Cuts the search for patterns into shares, which can be mined separately and put
   together. */
#ifndef SYN_PATTERNS_SHARES_H
#define SYN_PATTERNS_SHARES_H

#include "core/spikes/raster.h"

/* Some of the patterns of a root: it is cut into `of` shares, this is number `number`. */
typedef struct syn_pattern_share {
    uint32_t root;       /* rank of the unit */
    uint32_t number, of;
    double work;         /* about how much, in any unit */
} syn_pattern_share;

typedef struct syn_pattern_shares {
    size_t n;
    syn_pattern_share *share;  /* [n] in the order of the patterns they find */
} syn_pattern_shares;

/* The shares of a search in windows of `window` bins, for units in at least `min_count`
   of them; they depend on nothing else. The caller frees `out` with
   syn_pattern_shares_free(), also after an error. */
syn_status syn_pattern_cut(const syn_raster *raster, uint32_t window, uint32_t min_count,
                           syn_pattern_shares *out);

void syn_pattern_shares_free(syn_pattern_shares *shares);

#endif
