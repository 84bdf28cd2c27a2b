/* Uniform dithering with vector registers. The Philox cipher makes the random numbers of
   16 blocks side by side, and these move the spikes. Compiled once for each kind of
   processor (see base/kinds.h). */
#include "core/surrogates/dither.h"

/* Blocks side by side, each number in 64 bits, as products need them. */
enum { BLOCKS = 16 };

/* What syn_philox() makes of counters side by side, in place. */
static inline void philox(uint64_t c[4][BLOCKS], const uint32_t key[2])
{
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        for (int l = 0; l < BLOCKS; l++) {
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

void SYN_KIND_NAME(syn_dither)(const syn_surrogate_train *s, int64_t *out)
{
    int64_t dither = s->plan->options.dither;
    uint32_t block = 0;
    for (; 4 * (block + BLOCKS) <= s->n; block += BLOCKS) {
        uint64_t word[4][BLOCKS];
        for (uint32_t l = 0; l < BLOCKS; l++) {
            word[0][l] = block + l;
            word[1][l] = s->draw.unit;
            word[2][l] = (uint32_t)s->draw.index;
            word[3][l] = s->draw.index >> 32;
        }
        philox(word, s->draw.key);
        for (uint32_t l = 0, j = 4 * block; l < BLOCKS; l++)
            for (int w = 0; w < 4; w++, j++)
                out[j] = syn_surrogate_dithered(
                    s->tick[j], dither, syn_surrogate_start(s, j),
                    syn_surrogate_stop(s, j), (uint32_t)word[w][l]);
    }
    for (; 4 * block < s->n; block++)
        syn_surrogate_dither(s, block, out);
}

#if SYN_WIDTH == 0
syn_dither_kind *syn_dither_fastest(int vector_bits)
{
    syn_dither_kind *kinds[] =
        SYN_KINDS(syn_dither_any, syn_dither_256, syn_dither_512, syn_dither_512);
    return kinds[syn_kind_here(vector_bits)];
}
#endif
