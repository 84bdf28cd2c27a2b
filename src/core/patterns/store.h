/* Reads found patterns where the search left them, without a copy. */
#ifndef SYN_PATTERNS_STORE_H
#define SYN_PATTERNS_STORE_H

#include "core/patterns/mine.h"

/* The two rows of numbers that patterns are, in the order of syn_patterns. */
typedef enum syn_stored {
    SYN_STORED_ITEMS,       /* of all patterns, one after the other */
    SYN_STORED_OCCURRENCES, /* one for each pattern */
    SYN_STORED_ROWS
} syn_stored;

typedef struct syn_stored_block {
    const syn_pattern_block *block;
    size_t first[SYN_STORED_ROWS];  /* its first item, its first pattern */
    uint32_t size;                  /* of its patterns */
} syn_stored_block;

typedef struct syn_pattern_store {
    syn_patterns patterns;      /* owned */
    size_t n[SYN_STORED_ROWS];  /* items and patterns there are */
    size_t bytes;               /* of all blocks */
    size_t blocks;
    syn_stored_block *block;    /* [blocks + 1] none empty; where the last one ends */
} syn_pattern_store;

/* Takes over what was found, and leaves `patterns` empty; after an error it is as it was
   and `out` is empty. The caller frees with syn_pattern_store_free(). */
syn_status syn_pattern_store_make(syn_pattern_store *out, syn_patterns *patterns);

/* Number `i` of a row, i < n[row]. `*recent`, 0 at first, is the caller's: it remembers
   the block looked at last, so that what is near is found at once. */
uint32_t syn_stored_at(const syn_pattern_store *store, syn_stored row, size_t i,
                       size_t *recent);

/* Copies `n` numbers of a row from number `i` on; i + n <= n[row]. */
void syn_stored_copy(const syn_pattern_store *store, syn_stored row, size_t i, size_t n,
                     int32_t *out, size_t *recent);

void syn_pattern_store_free(syn_pattern_store *store);

#endif
