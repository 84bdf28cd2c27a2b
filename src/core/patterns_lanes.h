/* How many more items the windows of a node hold, lane by lane: lane j is the windows with
   at least j of the items that come later. Included, like masks.h, by files compiled for
   each kind of processor. */
#ifndef SYN_PATTERNS_LANES_H
#define SYN_PATTERNS_LANES_H

#include "core/masks.h"
#include "core/patterns_maxima_node.h"

/* The lanes j in which `mask` shares need[j] or more windows with lane j and `more`, as
   bits; masks of `words` words, lanes one after the other. No need is below `least`, and
   a lane holds no window that the one before it does not. */
static inline unsigned syn_lanes_alive(const uint64_t *mask, const uint64_t *more,
                                       const uint64_t *lane, size_t words,
                                       const uint64_t *need, uint64_t least)
{
    unsigned alive = 0;
    for (unsigned j = 0; j < SYN_LANES; j++) {
        uint64_t n = 0;
        for (size_t w = 0; w < words; w++)
            n += syn_bits(mask[w] & more[w] & lane[j * words + w]);
        if (n < least)
            break;
        alive |= (unsigned)(n >= need[j]) << j;
    }
    return alive;
}

/* One more item comes later: that of `mask`. */
static inline void syn_lanes_deepen(const uint64_t *mask, uint64_t *lane, size_t words)
{
    for (size_t j = SYN_LANES - 1; j > 0; j--)
        for (size_t w = 0; w < words; w++)
            lane[j * words + w] |= lane[(j - 1) * words + w] & mask[w];
}

#if SYN_MASKS == 512
/* The same for masks of one word, with all lanes in a register. */
static inline unsigned syn_word_lanes_alive(uint64_t mask, __m512i lanes, __m512i need)
{
    __m512i both = _mm512_and_si512(_mm512_set1_epi64((long long)mask), lanes);
    return _mm512_cmpge_epu64_mask(_mm512_popcnt_epi64(both), need);
}

static inline __m512i syn_word_lanes_deepen(uint64_t mask, __m512i lanes)
{
    __m512i before = _mm512_alignr_epi64(lanes, lanes, 7);  /* lane 0 stays full */
    return _mm512_or_si512(
        lanes, _mm512_maskz_and_epi64(0xfe, before,
                                      _mm512_set1_epi64((long long)mask)));
}
#endif

#endif
