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

#endif
