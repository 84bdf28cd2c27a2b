#include "core/patterns_kept.h"

#include <stdlib.h>
#include <string.h>

#include "core/patterns.h"

enum { FIRST_SLOTS = 1024 };

static void insert(syn_kept *kept, size_t at, syn_kept_slot new)
{
    while (kept->slot[at].word)
        at = (at + 1) & (kept->slots - 1);
    kept->slot[at] = new;
}

/* From the tag alone, which is all that growing still knows of the hash. */
static size_t place_of(const syn_kept *kept, uint32_t tag)
{
    return (size_t)(tag * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (kept->slots - 1);
}

static syn_status grow(syn_kept *kept)
{
    syn_kept old = *kept;
    kept->slots = old.slots ? 2 * old.slots : FIRST_SLOTS;
    kept->slot = calloc(kept->slots, sizeof *kept->slot);
    if (!kept->slot) {
        *kept = old;
        return SYN_NO_MEMORY;
    }
    for (size_t i = 0; i < old.slots; i++)
        if (old.slot[i].word)
            insert(kept, place_of(kept, old.slot[i].tag), old.slot[i]);
    free(old.slot);
    return SYN_OK;
}

syn_status syn_kept_add(syn_kept *kept, uint64_t hash, uint32_t size,
                        const void *word)
{
    if (4 * (kept->filled + 1) > 3 * kept->slots && grow(kept) != SYN_OK)
        return SYN_NO_MEMORY;
    syn_kept_slot new = {(uint32_t)(hash >> 32), size, word};
    insert(kept, place_of(kept, new.tag), new);
    kept->filled++;
    return SYN_OK;
}

static int is_subset(const uint32_t *item, uint32_t size, const syn_kept_slot *of,
                     size_t width)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < of->size && k < size; i++)
        k += syn_pattern_word(of->word, width, i) == item[k];
    return k == size;
}

int syn_kept_holds(const syn_kept *kept, uint64_t hash, uint32_t size,
                   const uint32_t *item, uint32_t occurrences)
{
    if (kept->slots == 0)
        return 0;
    uint32_t tag = (uint32_t)(hash >> 32);
    size_t at = place_of(kept, tag);
    for (; kept->slot[at].word; at = (at + 1) & (kept->slots - 1)) {
        const syn_kept_slot *s = kept->slot + at;
        if (s->tag == tag && s->size > size &&
            syn_pattern_word(s->word, kept->width, s->size) == occurrences &&
            is_subset(item, size, s, kept->width))
            return 1;
    }
    return 0;
}

void syn_kept_clear(syn_kept *kept)
{
    if (kept->filled > 0)
        memset(kept->slot, 0, kept->slots * sizeof *kept->slot);
    kept->filled = 0;
}

void syn_kept_free(syn_kept *kept)
{
    free(kept->slot);
    memset(kept, 0, sizeof *kept);
}
