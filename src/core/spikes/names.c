/* A table with open addresses: a slot holds the number of a name, 0 when it is free. */
#include "core/spikes/names.h"

#include <string.h>

#include "core/base/hash.h"

size_t syn_names_slots(size_t most)
{
    size_t slots = 16;
    while (slots < 2 * most)
        slots *= 2;
    return slots;
}

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = length, word;
    for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = syn_hash_more(hash, word);
    }
    word = 0;
    memcpy(&word, text, length);
    return syn_hash_more(hash, word);
}

uint32_t syn_names_add(syn_names *names, const char *text, size_t length)
{
    size_t at = (size_t)hash_of(text, length) & (names->slots - 1);
    for (; names->slot[at]; at = (at + 1) & (names->slots - 1)) {
        const syn_name *known = &names->name[names->slot[at] - 1];
        if (known->length == length && memcmp(known->text, text, length) == 0)
            return names->slot[at];
    }
    names->name[names->n] = (syn_name){text, length};
    names->slot[at] = (uint32_t)++names->n;
    return names->slot[at];
}
