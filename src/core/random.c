#include "core/random.h"

#define ROUNDS 10

void syn_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

void syn_random_start(syn_random *rng, uint64_t key, uint64_t stream)
{
    rng->key[0] = (uint32_t)key;
    rng->key[1] = (uint32_t)(key >> 32);
    rng->stream = stream;
    rng->position = 0;
    rng->left = 0;
}

uint32_t syn_random_bits(syn_random *rng)
{
    if (rng->left == 0) {
        /* Position and stream fill the counter, so streams of one key never overlap. */
        uint32_t counter[4] = {(uint32_t)rng->position, (uint32_t)(rng->position >> 32),
                               (uint32_t)rng->stream, (uint32_t)(rng->stream >> 32)};
        syn_philox(counter, rng->key, rng->block);
        rng->position++;
        rng->left = 4;
    }
    return rng->block[4 - rng->left--];
}

static uint64_t bits64(syn_random *rng)
{
    uint64_t low = syn_random_bits(rng);
    return low | (uint64_t)syn_random_bits(rng) << 32;
}

double syn_random_uniform(syn_random *rng)
{
    /* Adding half a step to avoid 0 would round the largest value up to 1. */
    uint64_t steps;
    do
        steps = bits64(rng) >> 11;
    while (steps == 0);
    return (double)steps * (1.0 / 9007199254740992.0);
}

uint64_t syn_random_below(syn_random *rng, uint64_t bound)
{
    /* The first 2^64 mod bound values would make small results too likely. */
    uint64_t excess = (0 - bound) % bound;
    uint64_t bits;
    do
        bits = bits64(rng);
    while (bits < excess);
    return bits % bound;
}
