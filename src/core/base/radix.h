/* Sorting by some bits of 64-bit keys. */
#ifndef SYN_BASE_RADIX_H
#define SYN_BASE_RADIX_H

#include <stdint.h>

#include "core/base/watch.h"

/* Bits that the numbers below `bound` have. */
static inline int syn_radix_bits(uint64_t bound)
{
    int bits = 0;
    for (uint64_t most = bound > 0 ? bound - 1 : 0; most > 0; most >>= 1)
        bits++;
    return bits;
}

/* Sorts `n` keys, fewer than 2^32, by their bits from `low` on, `bits` of them; keys that
   agree in these keep their order. `other` has room for as many keys. Returns where the
   sorted ones are: `key` or `other`. */
uint64_t *syn_radix_sort(uint64_t *key, uint64_t *other, size_t n, int low, int bits);

/* The same for many keys, by their lowest `bits`, by several threads. `*key` becomes
   where the sorted ones are. SYN_INTERRUPTED by the watch; SYN_NO_MEMORY. */
syn_status syn_radix_sort_shared(uint64_t **key, uint64_t *other, size_t n, int bits,
                                 int threads, const syn_watch *watch);

#endif
