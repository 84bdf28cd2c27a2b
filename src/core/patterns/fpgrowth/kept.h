/* Finds whether a pattern that is already kept contains another one and has the same
   windows. */
#ifndef SYN_PATTERNS_FPGROWTH_KEPT_H
#define SYN_PATTERNS_FPGROWTH_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/budget.h"
#include "core/patterns/mine.h"
#include "core/base/status.h"

typedef struct syn_kept_slot {
    uint32_t tag;          /* of the hash */
    uint32_t size;
    const void *words;     /* items, increasing, then occurrences; NULL: a free slot */
} syn_kept_slot;

/* All zero, except for `width` and `budget`, is an empty table. */
typedef struct syn_kept {
    syn_kept_slot *slot;   /* [slots], below 2^32 */
    size_t slots, filled;
    size_t width;          /* of the words, as in syn_patterns */
    syn_budget *budget;    /* what the slots are taken from */
} syn_kept;

/* Adds a pattern whose windows hash to `hash`; `words` must stay where they
   are. SYN_OVER_BUDGET or SYN_NO_MEMORY. */
syn_status syn_kept_add(syn_kept *kept, uint64_t hash, uint32_t size, const void *words);

/* Whether one that was added holds all of item[size], which is increasing, and more, with
   the same occurrences. The hash only finds it: no collision can make this wrong. */
int syn_kept_holds(const syn_kept *kept, uint64_t hash, uint32_t size,
                   const uint32_t *item, uint32_t occurrences);

/* Forgets all patterns, keeps the memory. */
void syn_kept_clear(syn_kept *kept);

/* Forgets all patterns and frees the memory. */
void syn_kept_free(syn_kept *kept);

#endif
