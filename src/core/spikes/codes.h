/* Numbers for things that are met again and again, such as the units of spikes: what is
   told apart by 64 bits gets a number from 1, in the order in which it comes. */
#ifndef SYN_SPIKES_CODES_H
#define SYN_SPIKES_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"

/* All 0 at first. The caller frees with syn_codes_free(), also after an error. */
typedef struct syn_codes {
    uint64_t *key;   /* [n] the distinct keys */
    uint32_t *slot;  /* [slots] the number of a key, 0 where there is none */
    size_t n, room, slots;
} syn_codes;

/* The number of each of `n` keys. SYN_TOO_LARGE beyond 2^31 - 1 distinct ones. */
syn_status syn_codes_add(syn_codes *codes, size_t n, const uint64_t *key, int *code);

void syn_codes_free(syn_codes *codes);

typedef struct syn_name {
    const char *text;
    size_t length;
} syn_name;

/* The distinct names so far, `n` of them, in the order in which they came. The memory is
   the caller's: `name` has room for all that will come, and `slot` for twice as many, a
   power of two, all 0 at first. Texts are not copied. */
typedef struct syn_names {
    syn_name *name;
    uint32_t *slot;
    size_t slots, n;
} syn_names;

/* How many slots `most` names need. */
size_t syn_names_slots(size_t most);

/* The number of a name, counted from 1; a new one if it was not there. */
uint32_t syn_names_add(syn_names *names, const char *text, size_t length);

#endif
