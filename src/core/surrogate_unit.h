/* One unit of one surrogate, in integers alone, so that host and device run the same
   lines. Random numbers are those of stream `index` at position unit << 32 | block, four
   words a block. Methods that need one word a spike take word j % 4 of block j / 4 for
   spike j of the unit; the others draw one word after the other. */
#ifndef SYN_SURROGATE_UNIT_H
#define SYN_SURROGATE_UNIT_H

#include "core/philox.h"
#include "core/surrogates.h"

SYN_EVERYWHERE void syn_surrogate_words(const syn_surrogate_plan *plan, uint64_t index,
                                        uint32_t unit, uint32_t block, uint32_t word[4])
{
    uint32_t counter[4] = {block, unit, (uint32_t)index, (uint32_t)(index >> 32)};
    uint32_t key[2] = {(uint32_t)plan->options.key, (uint32_t)(plan->options.key >> 32)};
    syn_philox(counter, key, word);
}

/* A word scaled to [0, bound), bound up to 2^32. */
SYN_EVERYWHERE int64_t syn_surrogate_scale(uint32_t word, uint64_t bound)
{
    return (int64_t)(word * bound >> 32);
}

/* `tick` moved by up to `dither` either way, mirrored at the ends of its trial. */
SYN_EVERYWHERE int64_t syn_surrogate_dithered(int64_t tick, int64_t dither, int64_t start,
                                              int64_t stop, uint32_t word)
{
    tick += syn_surrogate_scale(word, 2 * (uint64_t)dither + 1) - dither;
    if (tick < start)
        tick = 2 * start - tick;
    if (tick > stop)
        tick = 2 * stop - tick;
    return tick;
}

/* Dithers the four spikes of a unit that take their words from `block`, or those there
   are; `out` begins with the unit's first spike. */
SYN_EVERYWHERE void syn_surrogate_dither(const syn_surrogate_plan *plan, uint64_t index,
                                         uint32_t unit, uint32_t block, int64_t *out)
{
    const syn_trains *t = &plan->trains;
    uint32_t begin = t->first[unit], n = t->first[unit + 1] - begin, word[4];
    syn_surrogate_words(plan, index, unit, block, word);
    for (uint32_t w = 0; w < 4 && 4 * block + w < n; w++) {
        uint32_t j = 4 * block + w, trial = t->trial[begin + j];
        out[j] = syn_surrogate_dithered(t->tick[begin + j], plan->options.dither,
                                        t->start[trial], t->stop[trial], word[w]);
    }
}

/* Spikes of unit `unit` in surrogate `index`; `out` has room for the unit's spikes and
   gets them as syn_surrogate_ticks() says, `scratch` room for plan->scratch words. */
SYN_EVERYWHERE void syn_surrogate_unit(const syn_surrogate_plan *plan, uint64_t index,
                                       uint32_t unit, int64_t *out, uint32_t *scratch)
{
    const syn_trains *t = &plan->trains;
    uint32_t n = t->first[unit + 1] - t->first[unit];
    (void)scratch;
    for (uint32_t block = 0; block < (n + 3) / 4; block++)
        syn_surrogate_dither(plan, index, unit, block, out);
}

#endif
