/* A hash of words, one after the other: to find things, not to tell them apart. */
#ifndef SYN_BASE_HASH_H
#define SYN_BASE_HASH_H

#include <stdint.h>

/* The hash of what `hash` is of, and one word more. */
static inline uint64_t syn_hash_more(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

#endif
