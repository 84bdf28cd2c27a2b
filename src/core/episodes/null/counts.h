/* Counts of many episodes in many surrogates of a recording: what chance alone gives. */
#ifndef SYN_EPISODES_NULL_COUNTS_H
#define SYN_EPISODES_NULL_COUNTS_H

#include "core/episodes/null/line.h"

typedef struct syn_null_options {
    uint64_t first;       /* number of the first surrogate */
    size_t n;             /* surrogates */
    int threads;
    size_t max_memory;    /* bytes to work in, `count` not included */
} syn_null_options;

/* count[s * episodes + i] = non-overlapped occurrences of the episode i that `trie` was
   made of in surrogate first + s of the layout's plan. The layout has the bounds of the
   tree. SYN_OVER_BUDGET when a surrogate and the lists of its prefixes do not fit. */
syn_status syn_null_counts(const syn_line_layout *layout, const syn_trie *trie,
                           size_t episodes, const syn_null_options *options,
                           const syn_watch *watch, uint32_t *count);

#endif
