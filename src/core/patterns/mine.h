/* Mines all spike patterns (SPADE) or frequent itemsets.

   An item is a unit at a lag: lag * units + unit, with lags in bins from the opening of a
   window. A pattern is a set of items with at least one at lag 0; its occurrences are the
   windows that hold it all. With windows of one bin these are frequent itemsets. */
#ifndef SYN_PATTERNS_MINE_H
#define SYN_PATTERNS_MINE_H

#include "core/spikes/raster.h"

typedef enum syn_pattern_engine {
    SYN_PATTERNS_CLOSURE,  /* closed sets only, root by root, in window masks */
    SYN_PATTERNS_FPGROWTH, /* the published method: FP-trees, filter while collecting */
    SYN_PATTERNS_ESTIMATE  /* no patterns, but about how long the first takes */
} syn_pattern_engine;

typedef enum syn_pattern_target {
    SYN_PATTERNS_CLOSED,         /* no larger set has the same occurrences */
    SYN_PATTERNS_CLOSED_WITHIN,  /* none of at most max_spikes items has */
    SYN_PATTERNS_MAXIMAL,        /* no larger set is frequent */
    SYN_PATTERNS_FREQUENT        /* all */
} syn_pattern_target;

typedef struct syn_pattern_options {
    uint32_t window;       /* bins, at least 1 */
    uint32_t min_spikes;   /* items of a pattern, at least 1 */
    uint32_t max_spikes;   /* UINT32_MAX for no limit */
    uint32_t min_units;    /* different units of a pattern */
    uint32_t min_count;      /* windows, at least 1 */
    uint32_t max_count;      /* UINT32_MAX for no limit */
    syn_pattern_engine engine;
    syn_pattern_target target;
    size_t share_begin;    /* of the shares in core/patterns/engine.h, those mined */
    size_t share_end;      /* SIZE_MAX for all from the first on */
    int threads;
    size_t max_memory;     /* bytes that whoever mines may hold, results included */
    int vector_bits;       /* widest registers the closure engine may use; 0 for any */
} syn_pattern_options;

/* The order of units: fewest events first, then by number. The root of a pattern is its
   unit at lag 0 with the lowest rank. Fills rank[units]; the caller owns it. */
syn_status syn_pattern_ranks(const syn_raster *raster, uint32_t *rank);

/* Patterns of one size, one after the other: the items, increasing, then the occurrences.
   So a pattern of `size` items takes size + 1 words; the room * (size + 1) words of a
   block follow it. */
typedef struct syn_pattern_block {
    struct syn_pattern_block *next;
    size_t patterns, room;
} syn_pattern_block;

/* Word `i` from `words` on; `width` as in syn_patterns. */
static inline uint32_t syn_word_of(const void *words, size_t width, size_t i)
{
    return width == sizeof(uint16_t) ? ((const uint16_t *)words)[i]
                                     : ((const uint32_t *)words)[i];
}

/* Word `i` of a block. */
static inline uint32_t syn_pattern_word(const syn_pattern_block *block, size_t width,
                                        size_t i)
{
    return syn_word_of(block + 1, width, i);
}

typedef struct syn_pattern_chain {
    syn_pattern_block *head, *tail;
    size_t patterns;
    uint32_t size;
} syn_pattern_chain;

/* What one part of the search found, by size. */
typedef struct syn_pattern_part {
    uint32_t chains, room;     /* chains there are, none empty, and can be */
    syn_pattern_chain *chain;  /* by increasing size */
    double weight;             /* about what share of the work it is, in any unit */
    int done;
} syn_pattern_part;

/* What was found, in the order of sizes, then parts, then chains. That order is the same
   for all engines and any number of threads: within a size, patterns are sorted by their
   items in search order, that is by the rank of the root, then item by item: first those
   at lag 0 by the rank of the unit, then the others by the rank of the unit, then lag. */
typedef struct syn_patterns {
    size_t parts;
    syn_pattern_part *part;
    size_t width;              /* bytes of a word: 2 where that is enough, else 4 */
    size_t n;                  /* patterns */
    size_t peak_memory;        /* most bytes that the budget held at a time */
    double done;               /* share of the search done, about, also after an error */
    double seconds;            /* by SYN_PATTERNS_ESTIMATE: of SYN_PATTERNS_CLOSURE
                                  with one thread for roots and their children, */
    double seconds_below;      /* and for what is below these */
    uint32_t advice;           /* after SYN_OVER_BUDGET: a min_count that does, or 0 */
} syn_patterns;

struct syn_pattern_search;

/* Who mines on devices: fills parts as an engine does (core/patterns/engine.h), and may
   leave some that are not done. */
typedef struct syn_pattern_device {
    syn_status (*mine)(void *self, struct syn_pattern_search *search);
    void *self;
} syn_pattern_device;

/* All patterns of `raster`, by `device` and, where it leaves something or is NULL, by the
   engine of the options. All memory is taken from `budget`, whose limit is max_memory;
   where many threads do not fit in it together, fewer go on. What is found stays counted
   there. The caller frees `out` with syn_patterns_free(), also after an error.
   SYN_OVER_BUDGET when one thread does not fit with what is found, or that is very
   unlikely to going by the first seconds; SYN_TOO_LARGE when units * window passes
   2^31 - 1. */
syn_status syn_mine_patterns(const syn_raster *raster, const syn_pattern_options *options,
                             const syn_pattern_device *device, syn_budget *budget,
                             const syn_watch *watch, syn_patterns *out);

/* The chain of a size, or NULL. */
syn_pattern_chain *syn_pattern_chain_of(const syn_pattern_part *part, uint32_t size);

/* How many patterns there are of each size: fills count[sizes], size k + 1 at k, and
   returns the largest size found; `count` may be NULL to ask for that alone. */
uint32_t syn_patterns_sizes(const syn_patterns *patterns, size_t *count);

void syn_patterns_free(syn_patterns *patterns);

#endif
