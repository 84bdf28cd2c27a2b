/* The interface between the search for patterns and its engines. */
#ifndef SYN_PATTERNS_ENGINE_H
#define SYN_PATTERNS_ENGINE_H

#include "core/patterns/mine.h"

/* ---- shares of a search, which can be mined separately and put together ---- */

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

/* ---- the search ---- */

typedef struct syn_pattern_search {
    const syn_raster *raster;
    const syn_pattern_options *options;
    syn_budget *budget;
    const syn_watch *watch;   /* also ends the search when it will hold too much */
    uint32_t *rank;           /* [units] */
    uint32_t *ranked;         /* [units] the unit of each rank */
    uint8_t *idle;            /* [units] 1 for a rank that is the root of no pattern: a
                                 unit of lower rank fires in the same bins */
    syn_pattern_shares cut;   /* all shares there are */
    const syn_pattern_share *share;  /* [shares] those to be mined, each a part */
    size_t shares;
    const syn_pattern_share **order;  /* [shares] those with most work first, so that
                                         threads end at about the same time */
    syn_patterns *out;
} syn_pattern_search;

/* One way of searching. Fills those of search->out->part, one a share, that are not done,
   so that the patterns stand in the order that syn_patterns describes, and says which are
   done then. An engine may give all patterns of a root to its first share. */
typedef syn_status syn_pattern_mine(syn_pattern_search *search);

syn_pattern_mine syn_patterns_closure;
syn_pattern_mine syn_patterns_fpgrowth;
syn_pattern_mine syn_patterns_estimate;

/* Where an item comes in the order of the search, from 0; sets are compared by that. */
static inline uint32_t syn_pattern_place(const syn_pattern_search *search, uint32_t item)
{
    uint32_t units = search->raster->units;
    uint32_t rank = search->rank[item % units], lag = item / units;
    return lag == 0 ? rank : units + rank * (search->options->window - 1) + lag - 1;
}

/* The item at a place. */
static inline uint32_t syn_pattern_item(const syn_pattern_search *search, uint32_t place)
{
    uint32_t units = search->raster->units;
    if (place < units)
        return search->ranked[place];
    place -= units;
    uint32_t lags = search->options->window - 1;
    return (place % lags + 1) * units + search->ranked[place / lags];
}

/* Whether a set of so many items of so many different units, found so often, passes the
   filters. */
static inline int syn_pattern_passes(const syn_pattern_options *o, uint32_t size,
                                     uint32_t units, uint32_t occurrences)
{
    return size >= o->min_spikes && size <= o->max_spikes && units >= o->min_units &&
           occurrences <= o->max_count;
}

/* Room for `n` patterns of `size` items at the end of `part`, to be filled by the caller:
   for each its items, increasing, and then its occurrences, in words of
   search->out->width bytes. SYN_OVER_BUDGET or SYN_NO_MEMORY. */
syn_status syn_pattern_room(syn_pattern_search *search, syn_pattern_part *part,
                            uint32_t size, size_t n, void **room);

/* Adds a pattern to the end of `part`; `item` is increasing. SYN_OVER_BUDGET or
   SYN_NO_MEMORY. */
syn_status syn_pattern_keep(syn_pattern_search *search, syn_pattern_part *part,
                            uint32_t size, const uint32_t *item, uint32_t occurrences);

#endif
