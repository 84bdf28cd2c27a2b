/* Which patterns share items when one is shifted against the other. */
#ifndef SYN_PATTERN_OVERLAPS_H
#define SYN_PATTERN_OVERLAPS_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* A pattern of an ordered list, by rank from 0. */
typedef struct syn_ranked_pattern {
    const uint32_t *unit, *lag;  /* [size] lags not decreasing */
    uint32_t size, occurrences;
    uint32_t number;             /* in the list as it came */
} syn_ranked_pattern;

typedef struct syn_unit_entry {
    uint32_t rank, lag;
} syn_unit_entry;

/* For each unit its items in the patterns of a list that are still to be met. */
typedef struct syn_unit_index {
    const syn_ranked_pattern *pattern;
    uint32_t n, units;
    syn_unit_entry *entry;       /* unit after unit, ranks increasing */
    size_t *from, *to;           /* [units] */
} syn_unit_index;

/* Of `n` patterns, borrowed. The caller frees, also after an error. */
syn_status syn_unit_index_make(syn_unit_index *out, const syn_ranked_pattern *pattern,
                               uint32_t n, uint32_t units);

void syn_unit_index_free(syn_unit_index *index);

/* Leaves out the patterns with live[rank] == 0. */
void syn_unit_index_tidy(syn_unit_index *index, const uint8_t *live);

/* Leaves out the patterns up to `rank` for each of its units. */
void syn_unit_index_pass(syn_unit_index *index, uint32_t rank);

/* `shared` items of pattern `rank` are where some pattern, its spikes `shift` bins
   earlier, has them. */
typedef struct syn_overlap {
    uint32_t rank, shared;
    int64_t shift;
} syn_overlap;

/* The overlaps of one pattern with others, some of the others at a time. */
typedef struct syn_overlaps {
    const syn_unit_index *index;
    const syn_ranked_pattern *pattern;
    uint32_t window, shifts;     /* 2 * window - 1 shifts are possible */
    uint32_t low, at_once;       /* the first rank looked at, and how many are */
    uint32_t *shared;            /* [at_once * shifts] zero between uses */
    uint32_t *touched;           /* [at_once * shifts] those that are not */
    size_t *next;                /* [largest size] where the search for an item goes on */
} syn_overlaps;

/* For patterns of an index, the largest first, with lags below `window`. The caller
   frees, also after an error. */
syn_status syn_overlaps_make(syn_overlaps *out, const syn_unit_index *index,
                             uint32_t window);

void syn_overlaps_free(syn_overlaps *overlaps);

/* Starts to look for the overlaps of pattern `rank` with those in `index`, which may be
   another one of the same list. */
void syn_overlaps_begin(syn_overlaps *overlaps, const syn_unit_index *index,
                        uint32_t rank);

/* Finds more of them; returns how many, 0 at the end. Each one has to be taken. */
uint32_t syn_overlaps_more(syn_overlaps *overlaps);

static inline syn_overlap syn_overlaps_take(syn_overlaps *o, uint32_t i)
{
    uint32_t at = o->touched[i];
    syn_overlap out = {.rank = o->low + at / o->shifts, .shared = o->shared[at],
                       .shift = (int64_t)(at % o->shifts) - (o->window - 1)};
    o->shared[at] = 0;
    return out;
}

#endif
