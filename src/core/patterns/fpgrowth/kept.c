/* A hash table of the patterns kept so far. The hash of a pattern's windows says where
   to look, and the items themselves then decide. */
#include "core/patterns/fpgrowth/kept.h"

#include <string.h>

enum { FIRST_SLOTS = 1024 };

static size_t after(const syn_kept *kept, size_t at)
{
    return at + 1 < kept->slots ? at + 1 : 0;
}

/* Slots are in the order of tags, about, however many there are. */
static size_t place_of(const syn_kept *kept, uint32_t tag)
{
    return (size_t)((uint64_t)tag * kept->slots >> 32);
}

static void insert(syn_kept *kept, syn_kept_slot new)
{
    size_t at = place_of(kept, new.tag);
    while (kept->slot[at].words)
        at = after(kept, at);
    kept->slot[at] = new;
}

static syn_status grow(syn_kept *kept)
{
    syn_kept old = *kept;
    kept->slots = old.slots ? old.slots / 2 * 3 : FIRST_SLOTS;
    kept->slot = syn_budget_zeros(kept->budget, kept->slots, sizeof *kept->slot);
    if (!kept->slot) {
        *kept = old;
        return syn_budget_refusal(kept->budget);
    }
    for (size_t i = 0; i < old.slots; i++)
        if (old.slot[i].words)
            insert(kept, old.slot[i]);
    syn_budget_free(kept->budget, old.slot);
    return SYN_OK;
}

syn_status syn_kept_add(syn_kept *kept, uint64_t hash, uint32_t size, const void *words)
{
    syn_status status = SYN_OK;
    if (4 * (kept->filled + 1) > 3 * kept->slots)
        status = grow(kept);
    if (status != SYN_OK)
        return status;
    syn_kept_slot new = {(uint32_t)(hash >> 32), size, words};
    insert(kept, new);
    kept->filled++;
    return SYN_OK;
}

static int is_subset(const uint32_t *item, uint32_t size, const syn_kept_slot *of,
                     size_t width)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < of->size && k < size; i++)
        k += syn_word_of(of->words, width, i) == item[k];
    return k == size;
}

int syn_kept_holds(const syn_kept *kept, uint64_t hash, uint32_t size,
                   const uint32_t *item, uint32_t occurrences)
{
    if (kept->slots == 0)
        return 0;
    uint32_t tag = (uint32_t)(hash >> 32);
    size_t at = place_of(kept, tag);
    for (; kept->slot[at].words; at = after(kept, at)) {
        const syn_kept_slot *s = kept->slot + at;
        if (s->tag == tag && s->size > size &&
            syn_word_of(s->words, kept->width, s->size) == occurrences &&
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
    syn_budget_free(kept->budget, kept->slot);
    kept->slot = NULL;
    kept->slots = kept->filled = 0;
}
