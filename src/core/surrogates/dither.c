/* Uniform dithering with vector registers. The Philox cipher makes the random numbers of
   16 blocks side by side, and these move the spikes. Compiled once for each kind of
   processor (see base/kinds.h). */
#include "core/surrogates/dither.h"

#include "core/base/philox_lanes.h"

void SYN_KIND_NAME(syn_dither)(const syn_surrogate_train *s, int64_t *out)
{
    int64_t dither = s->plan->options.dither;
    uint32_t block = 0;
    for (; 4 * (block + SYN_PHILOX_LANES) <= s->n; block += SYN_PHILOX_LANES) {
        uint64_t word[4][SYN_PHILOX_LANES];
        for (uint32_t l = 0; l < SYN_PHILOX_LANES; l++) {
            word[0][l] = block + l;
            word[1][l] = s->draw.unit;
            word[2][l] = (uint32_t)s->draw.index;
            word[3][l] = s->draw.index >> 32;
        }
        syn_philox_lanes(word, s->draw.key);
        for (uint32_t l = 0, j = 4 * block; l < SYN_PHILOX_LANES; l++)
            for (int w = 0; w < 4; w++, j++)
                out[j] = syn_surrogate_dithered(
                    s->tick[j], dither, syn_surrogate_start(s, j),
                    syn_surrogate_stop(s, j), (uint32_t)word[w][l]);
    }
    for (; 4 * block < s->n; block++)
        syn_surrogate_dither(s, block, out);
}

#if SYN_WIDTH == 0
SYN_FASTEST(syn_dither_kind, syn_dither)
#endif
