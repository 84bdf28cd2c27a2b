/* Random numbers of one unit of one surrogate: those of stream `index` at position
   unit << 32 | block, four words a block. Methods that need a fixed number of words for
   each spike take them from the spike's place in this sequence; the others draw one after
   the other. */
#ifndef SYN_SURROGATES_DRAW_H
#define SYN_SURROGATES_DRAW_H

#include "core/base/philox.h"

typedef struct syn_surrogate_draw {
    uint32_t key[2];
    uint64_t index;
    uint32_t unit;
    uint32_t block;    /* the next one */
    uint32_t left;     /* words of `word` not yet given out */
    uint32_t word[4];
} syn_surrogate_draw;

SYN_EVERYWHERE void syn_draw_start(syn_surrogate_draw *draw, uint64_t key, uint64_t index,
                                   uint32_t unit)
{
    draw->key[0] = (uint32_t)key;
    draw->key[1] = (uint32_t)(key >> 32);
    draw->index = index;
    draw->unit = unit;
    draw->block = 0;
    draw->left = 0;
}

/* The four words of a block. */
SYN_EVERYWHERE void syn_draw_block(const syn_surrogate_draw *draw, uint32_t block,
                                   uint32_t word[4])
{
    uint32_t counter[4] = {block, draw->unit, (uint32_t)draw->index,
                           (uint32_t)(draw->index >> 32)};
    syn_philox(counter, draw->key, word);
}

/* The next word. */
SYN_EVERYWHERE uint32_t syn_draw_word(syn_surrogate_draw *draw)
{
    if (draw->left == 0) {
        syn_draw_block(draw, draw->block++, draw->word);
        draw->left = 4;
    }
    return draw->word[4 - draw->left--];
}

/* A word scaled to [0, bound), bound up to 2^32; with a bias of at most bound / 2^32. */
SYN_EVERYWHERE int64_t syn_draw_scale(uint32_t word, uint64_t bound)
{
    return (int64_t)(word * bound >> 32);
}

/* Two words scaled to [0, bound), bound up to 2^63. */
SYN_EVERYWHERE int64_t syn_draw_scale_long(const uint32_t word[2], uint64_t bound)
{
    uint64_t low = (uint32_t)bound, high = bound >> 32;
    uint64_t middle = word[1] * low + (word[0] * low >> 32);
    uint64_t other = word[0] * high + (uint32_t)middle;
    return (int64_t)(word[1] * high + (middle >> 32) + (other >> 32));
}

/* The next number in [0, bound), bound >= 1, without bias (Lemire 2019). */
SYN_EVERYWHERE uint32_t syn_draw_below(syn_surrogate_draw *draw, uint32_t bound)
{
    uint64_t product = (uint64_t)syn_draw_word(draw) * bound;
    if ((uint32_t)product < bound) {
        uint32_t excess = (0 - bound) % bound;
        while ((uint32_t)product < excess)
            product = (uint64_t)syn_draw_word(draw) * bound;
    }
    return (uint32_t)(product >> 32);
}

#endif
