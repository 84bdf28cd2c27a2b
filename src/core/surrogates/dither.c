/* Uniform dithering with vector registers. The Philox cipher makes the random numbers of
   16 blocks side by side, and these move the spikes. Included by the files for each kind
   of processor; without them it is compiled for any. */
#include "core/surrogates/dither.h"

#ifndef SYN_DITHER_KIND
#define SYN_DITHER_KIND syn_dither_any
#define SYN_DITHER_ANY
#endif

/* Blocks side by side, each number in 64 bits, as products need them. */
enum { LANES = 16 };

/* What syn_philox() makes of counters side by side, in place. */
static inline void philox(uint64_t c[4][LANES], const uint32_t key[2])
{
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        for (int l = 0; l < LANES; l++) {
            uint64_t p0 = (c[0][l] & 0xFFFFFFFFu) * 0xD2511F53u;
            uint64_t p1 = (c[2][l] & 0xFFFFFFFFu) * 0xCD9E8D57u;
            c[0][l] = (p1 >> 32) ^ c[1][l] ^ k0;
            c[1][l] = p1 & 0xFFFFFFFFu;
            c[2][l] = (p0 >> 32) ^ c[3][l] ^ k1;
            c[3][l] = p0 & 0xFFFFFFFFu;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

void SYN_DITHER_KIND(const syn_surrogate_train *s, int64_t *out)
{
    int64_t dither = s->plan->options.dither;
    uint32_t block = 0;
    for (; 4 * (block + LANES) <= s->n; block += LANES) {
        uint64_t word[4][LANES];
        for (uint32_t l = 0; l < LANES; l++) {
            word[0][l] = block + l;
            word[1][l] = s->draw.unit;
            word[2][l] = (uint32_t)s->draw.index;
            word[3][l] = s->draw.index >> 32;
        }
        philox(word, s->draw.key);
        for (uint32_t l = 0, j = 4 * block; l < LANES; l++)
            for (int w = 0; w < 4; w++, j++)
                out[j] = syn_surrogate_dithered(
                    s->tick[j], dither, syn_surrogate_start(s, j),
                    syn_surrogate_stop(s, j), (uint32_t)word[w][l]);
    }
    for (; 4 * block < s->n; block++)
        syn_surrogate_dither(s, block, out);
}

#ifdef SYN_DITHER_ANY

syn_dither_kind *syn_dither_fastest(int vector_bits)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if ((vector_bits == 0 || vector_bits >= 512) && __builtin_cpu_supports("avx512f"))
        return syn_dither_512;
    if ((vector_bits == 0 || vector_bits >= 256) && __builtin_cpu_supports("avx2"))
        return syn_dither_256;
#endif
    (void)vector_bits;
    return syn_dither_any;
}

#endif
