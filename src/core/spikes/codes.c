/* A table with open addresses that doubles when a quarter of it is full. */
#include "core/spikes/codes.h"

#include <string.h>

#include "core/base/hash.h"
#include "core/base/memory.h"

enum { FIRST_ROOM = 1 << 10 };

/* Where the number of a key is, or would be. */
static size_t slot_of(const syn_codes *c, uint64_t key)
{
    size_t at = (size_t)(syn_hash_more(0, key) >> 16) & (c->slots - 1);
    while (c->slot[at] && c->key[c->slot[at] - 1] != key)
        at = (at + 1) & (c->slots - 1);
    return at;
}

static syn_status grow(syn_codes *c)
{
    size_t room = c->room > 0 ? 2 * c->room : FIRST_ROOM;
    uint64_t *key = realloc(c->key, room * sizeof *key);
    if (!key)
        return SYN_NO_MEMORY;
    c->key = key;
    uint32_t *slot;
    SYN_NEW_ZEROS(slot, 4 * room);
    free(c->slot);
    c->slot = slot;
    c->room = room;
    c->slots = 4 * room;
    for (size_t k = 0; k < c->n; k++)
        slot[slot_of(c, key[k])] = (uint32_t)k + 1;
    return SYN_OK;
}

syn_status syn_codes_add(syn_codes *c, size_t n, const uint64_t *key, int *code)
{
    for (size_t i = 0; i < n; i++) {
        SYN_TRY(c->n == c->room ? grow(c) : SYN_OK);
        size_t at = slot_of(c, key[i]);
        if (!c->slot[at]) {
            if (c->n >= INT32_MAX)
                return SYN_TOO_LARGE;
            c->key[c->n++] = key[i];
            c->slot[at] = (uint32_t)c->n;
        }
        code[i] = (int)c->slot[at];
    }
    return SYN_OK;
}

void syn_codes_free(syn_codes *c)
{
    SYN_FREE(c->key, c->slot);
    memset(c, 0, sizeof *c);
}

/* ---- names ----

   A table with open addresses: a slot holds the number of a name, 0 when it is free. */

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
