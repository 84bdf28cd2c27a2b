/* Draws random numbers. A stream is the sequence of blocks that the Philox cipher makes
   of (position, stream) under a key. Numbers below a bound and uniform numbers are made
   of these words. */
#include "core/base/random.h"

void syn_random_start(syn_random *rng, uint64_t key, uint64_t stream)
{
    rng->key[0] = (uint32_t)key;
    rng->key[1] = (uint32_t)(key >> 32);
    rng->stream = stream;
    rng->position = 0;
    rng->left = 0;
}

void syn_random_skip(syn_random *rng, uint64_t n)
{
    /* A number takes two of the four words of a block. */
    rng->position += n / 2;
    if (n % 2 == 1)
        (void)syn_random_uniform(rng);
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
