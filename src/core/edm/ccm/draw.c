/* Draws the rows of a library without replacement. */
#include "core/edm/ccm/ccm.h"

#include <string.h>

#include "core/base/random.h"

void syn_ccm_draw(uint32_t n, uint32_t size, uint32_t sample,
                  const syn_ccm_options *options, unsigned char *chosen)
{
    syn_random rng;
    uint64_t stream = (uint64_t)options->direction << 52 | (uint64_t)size << 21 | sample;
    syn_random_start(&rng, options->key, stream);
    /* Of more than half it is sooner said who is not in. */
    int inverted = size > n / 2;
    if (inverted)
        memset(chosen, 1, n);
    for (uint32_t left = inverted ? n - size : size; left > 0;) {
        uint32_t at = (uint32_t)syn_random_below(&rng, n);
        left -= chosen[at] == inverted;
        chosen[at] = (unsigned char)!inverted;
    }
}
