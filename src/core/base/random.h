/* Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011): a value depends on
   (key, stream, position) alone, so any number of threads or devices draws the same. */
#ifndef SYN_BASE_RANDOM_H
#define SYN_BASE_RANDOM_H

#include "core/base/philox.h"

typedef struct syn_random {
    uint32_t key[2];
    uint64_t stream;    /* which independent sequence: a unit, a surrogate, a sample */
    uint64_t position;  /* blocks of four words drawn so far */
    uint32_t block[4];
    int left;           /* words of `block` not yet given out */
} syn_random;

/* The generator at the beginning of stream `stream` of key `key`. */
void syn_random_start(syn_random *rng, uint64_t key, uint64_t stream);

/* Passes over the first `n` numbers that syn_random_uniform() would give; to be called
   before any is drawn. */
void syn_random_skip(syn_random *rng, uint64_t n);

/* 32 uniform bits. */
uint32_t syn_random_bits(syn_random *rng);

/* Uniform on the open interval (0, 1), 53 bits. */
double syn_random_uniform(syn_random *rng);

/* Uniform integer in [0, bound), bound >= 1, without bias. */
uint64_t syn_random_below(syn_random *rng, uint64_t bound);

#endif
