/* Sets of windows as bit masks: the inner loops of the closure search. They are inlined
   into files that are compiled once for each kind of processor. */
#ifndef SYN_BASE_MASKS_H
#define SYN_BASE_MASKS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/kinds.h"

#if SYN_WIDTH
#include <immintrin.h>
#endif

/* Set bits of a word. */
static inline uint32_t syn_bits(uint64_t word)
{
#if SYN_WIDTH
    return (uint32_t)_mm_popcnt_u64(word);
#else
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(word * 0x0101010101010101u >> 56);
#endif
}

/* The number of the lowest set bit of a word that has one. */
static inline uint32_t syn_low_bit(uint64_t word)
{
    return (uint32_t)__builtin_ctzll(word);
}

/* The bits of `word` at the set bits of `set`, brought together at the low end. */
static inline uint64_t syn_extract(uint64_t word, uint64_t set)
{
#if SYN_WIDTH
    return _pext_u64(word, set);
#else
    uint64_t out = 0;
    for (uint64_t bit = 1; set; set &= set - 1, bit <<= 1)
        out |= word & set & (0 - set) ? bit : 0;
    return out;
#endif
}

/* ---- masks of one word ---- */

/* Masks of at most 64 windows, and the places of the items they belong to. */
typedef struct syn_narrow_list {
    uint64_t *mask;
    uint32_t *place;
} syn_narrow_list;

/* Whether one of `n` masks holds all of `set`. */
static inline int syn_any_holds(const uint64_t *mask, size_t n, uint64_t set)
{
    uint64_t holds = 0;
    SYN_SIMD(reduction(| : holds))
    for (size_t i = 0; i < n; i++)
        holds |= (uint64_t)!(set & ~mask[i]);
    return holds != 0;
}

/* Appends mask & set, with its place, of those of `n` masks in `from` that share at least
   `least` windows with `set`; returns how many. Those that hold all of it go, unless
   `full` is NULL, to full[*n_full] (places) instead. `to` has room for n; it may be where
   `from` is, or before it in the same arrays. */
static inline size_t syn_keep(syn_narrow_list from, size_t n, uint64_t set,
                              uint32_t least, syn_narrow_list to, uint32_t *full,
                              size_t *n_full)
{
    size_t kept = 0, i = 0;
#if SYN_COUNTS
    __m512i sets = _mm512_set1_epi64((long long)set);
    __m512i least_of = _mm512_set1_epi64((long long)least);
    for (; i < n; i += 8) {
        __mmask8 there = n - i >= 8 ? 0xff : (__mmask8)((1u << (n - i)) - 1);
        __m512i both = _mm512_and_si512(_mm512_maskz_loadu_epi64(there, from.mask + i),
                                        sets);
        __mmask8 kept_now = _mm512_mask_cmpge_epu64_mask(
            there, _mm512_popcnt_epi64(both), least_of);
        if (!kept_now)
            continue;
        if (full) {
            __mmask8 holds = _mm512_mask_cmpeq_epi64_mask(kept_now, both, sets);
            kept_now = (__mmask8)(kept_now & ~holds);
            for (unsigned left = holds; left; left &= left - 1)
                full[(*n_full)++] = from.place[i + syn_low_bit(left)];
        }
        uint32_t n_now = syn_bits(kept_now);
        __mmask8 low = (__mmask8)((1u << n_now) - 1);
        __m256i places = _mm256_maskz_loadu_epi32(there, from.place + i);
        /* Compressing in a register first: straight to memory is slow on some. */
        _mm512_mask_storeu_epi64(to.mask + kept, low,
                                 _mm512_maskz_compress_epi64(kept_now, both));
        _mm256_mask_storeu_epi32(to.place + kept, low,
                                 _mm256_maskz_compress_epi32(kept_now, places));
        kept += n_now;
    }
#endif
    for (; i < n; i++) {
        uint64_t both = from.mask[i] & set;
        if (full && both == set) {
            full[(*n_full)++] = from.place[i];
            continue;
        }
        to.mask[kept] = both;
        to.place[kept] = from.place[i];
        kept += syn_bits(both) >= least;
    }
    return kept;
}

/* ---- masks of any length ---- */

/* The windows of a mask of `words` words. */
static inline uint32_t syn_set_bits(const uint64_t *mask, size_t words)
{
    uint32_t n = 0;
    for (size_t w = 0; w < words; w++)
        n += syn_bits(mask[w]);
    return n;
}

/* The windows that two masks of `words` words share. */
static inline uint32_t syn_shared(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint32_t n = 0;
    for (size_t w = 0; w < words; w++)
        n += syn_bits(a[w] & b[w]);
    return n;
}

/* The numbers of the windows of a mask, increasing, to `index`; returns how many. */
static inline uint32_t syn_index_bits(const uint64_t *mask, size_t words, uint32_t *index)
{
    uint32_t n = 0;
    for (size_t w = 0; w < words; w++)
        for (uint64_t left = mask[w]; left; left &= left - 1)
            index[n++] = (uint32_t)w * 64 + syn_low_bit(left);
    return n;
}

/* Adds one item, whose windows are `mask`, to the masks number 0 to `depth`, which stand
   one after the other. Mask j holds the windows with at least j of the items added so
   far; mask 0 holds all windows. */
static inline void syn_deepen(uint64_t *masks, size_t depth, const uint64_t *mask,
                              size_t words)
{
    for (size_t j = depth; j > 0; j--)
        for (size_t w = 0; w < words; w++)
            masks[j * words + w] |= masks[(j - 1) * words + w] & mask[w];
}

/* The bits of `mask` at the set bits of `set`, brought together at the low end of `to`,
   which has room for one word more than it takes. */
static inline void syn_compress(const uint64_t *mask, const uint64_t *set, size_t words,
                                uint64_t *to)
{
    uint32_t filled = 0;
    *to = 0;
    for (size_t w = 0; w < words; w++) {
        uint64_t bits = syn_extract(mask[w], set[w]);
        *to |= bits << filled;
        uint32_t more = filled + syn_bits(set[w]);
        if (more >= 64) {
            *++to = filled > 0 ? bits >> (64 - filled) : 0;
            more -= 64;
        }
        filled = more;
    }
}

/* Words of a set of at most 64 windows that hold some, and where in one word they go. */
typedef struct syn_set_word {
    uint64_t bits;
    uint32_t word, shift;
} syn_set_word;

/* Fills part[64] from a set of `words` words; returns how many parts there are. */
static inline uint32_t syn_split_set(const uint64_t *set, uint32_t words,
                                     syn_set_word *part)
{
    uint32_t n = 0, shift = 0;
    for (uint32_t w = 0; w < words && shift < 64; w++) {
        if (!set[w])
            continue;
        part[n].bits = set[w];
        part[n].word = w;
        part[n++].shift = shift;
        shift += syn_bits(set[w]);
    }
    return n;
}

/* syn_compress() for such a set. */
static inline uint64_t syn_extract_parts(const uint64_t *mask, const syn_set_word *part,
                                         uint32_t parts)
{
    uint64_t word = 0;
    for (uint32_t k = 0; k < parts; k++)
        word |= syn_extract(mask[part[k].word], part[k].bits) << part[k].shift;
    return word;
}

/* ---- rows ---- */

enum { SYN_ROW_WORDS = 8 };  /* rows are whole blocks of as many words */

/* Words of a row with a bit for each of `bits` items. */
static inline size_t syn_row_words(size_t bits)
{
    return (bits / (64 * SYN_ROW_WORDS) + 1) * SYN_ROW_WORDS;
}

/* In the widest registers there are; the compiler does the rest. */
enum { SYN_BLOCK_WORDS = SYN_WIDTH == 512 ? 8 : 4 };
typedef uint64_t syn_block __attribute__((vector_size(8 * SYN_BLOCK_WORDS)));

/* Adds three bits everywhere: *sum, which becomes the sum, and two more. */
static inline void syn_add_bits(syn_block *sum, const syn_block *a, const syn_block *b,
                                syn_block *carry)
{
    syn_block half = *sum ^ *a;
    *carry = (*sum & *a) | (half & *b);
    *sum = half ^ *b;
}

/* Counts four rows; adds the carry out of the highest plane to `reached`. */
static inline __attribute__((always_inline)) void
syn_count_four(syn_block *plane, int planes, const syn_block *a, const syn_block *b,
               const syn_block *c, const syn_block *d, syn_block *reached)
{
    syn_block two, twos, carry;
    syn_add_bits(&plane[0], a, b, &two);
    syn_add_bits(&plane[0], c, d, &twos);
    syn_add_bits(&plane[1], &two, &twos, &carry);
    for (int k = 2; k < planes; k++) {
        syn_block sum = plane[k] ^ carry;
        carry &= plane[k];
        plane[k] = sum;
    }
    *reached |= carry;
}

/* Counters of all bits of a block at once: bit k of a count is in plane[k]. They start at
   2^planes - least, so a carry out of the highest plane says that `least` is reached. */
static inline __attribute__((always_inline)) void
syn_count_block(const uint64_t *row, size_t stride, const uint32_t *index, size_t n,
                uint32_t least, int planes, uint64_t *frequent, uint64_t *full)
{
    const syn_block none = {0};
    syn_block plane[31], reached = none, all = ~none;
    uint32_t begin = (1u << planes) - least;
    for (int k = 0; k < planes; k++)
        plane[k] = begin >> k & 1 ? ~none : none;
    size_t i = 0;
    syn_block a, b, c, d;
    for (; i + 4 <= n; i += 4) {
        memcpy(&a, row + index[i] * stride, sizeof a);
        memcpy(&b, row + index[i + 1] * stride, sizeof b);
        memcpy(&c, row + index[i + 2] * stride, sizeof c);
        memcpy(&d, row + index[i + 3] * stride, sizeof d);
        all &= a & b & c & d;
        syn_count_four(plane, planes, &a, &b, &c, &d, &reached);
    }
    for (; i < n; i++) {
        memcpy(&a, row + index[i] * stride, sizeof a);
        all &= a;
        syn_count_four(plane, planes, &a, &none, &none, &none, &reached);
    }
    memcpy(frequent, &reached, sizeof reached);
    memcpy(full, &all, sizeof all);
}

/* For each bit of a row: whether at least `least` of `n` rows have it, and whether all
   have. Row i begins at row + index[i] * stride; of each `words` words are counted, a
   multiple of SYN_ROW_WORDS, which fill frequent and full. */
static inline void syn_count_rows_of_bits(const uint64_t *row, size_t stride,
                                          size_t words, const uint32_t *index, size_t n,
                                          uint32_t least, uint64_t *frequent,
                                          uint64_t *full)
{
    int planes = 2;
    while (planes < 31 && 1u << planes < least)
        planes++;
    for (size_t w = 0; w < words; w += SYN_BLOCK_WORDS) {
        /* A constant number of planes stays in registers. */
#define PLANES(N)                                                                        \
    case N:                                                                              \
        syn_count_block(row + w, stride, index, n, least, N, frequent + w, full + w);    \
        break;
        switch (planes) {
            PLANES(2)
            PLANES(3)
            PLANES(4)
            PLANES(5)
            PLANES(6)
            PLANES(7)
        default:
            syn_count_block(row + w, stride, index, n, least, planes, frequent + w,
                            full + w);
        }
#undef PLANES
    }
}

/* Turns a square of 64 x 64 bits about its diagonal, exchanging ever smaller squares. */
static inline void syn_turn_square(uint64_t *square)
{
    uint64_t low = 0x00000000ffffffffu;
    for (unsigned half = 32; half > 0; half >>= 1, low ^= low << half)
        for (unsigned k = 0; k < 64; k = (k + half + 1) & ~half) {
            uint64_t change = ((square[k] >> half) ^ square[k + half]) & low;
            square[k] ^= change << half;
            square[k + half] ^= change;
        }
}

/* Turns `n` masks of `words` words into words * 64 rows of `stride` words: bit i of row j
   is bit j of mask i. */
static inline void syn_turn(const uint64_t *mask, size_t n, size_t words, uint64_t *row,
                            size_t stride)
{
    for (size_t s = 0; s < stride; s++)
        for (size_t w = 0; w < words; w++) {
            uint64_t square[64];
            for (size_t i = 0; i < 64; i++)
                square[i] = s * 64 + i < n ? mask[(s * 64 + i) * words + w] : 0;
            if (s * 64 < n)
                syn_turn_square(square);
            for (size_t j = 0; j < 64; j++)
                row[(w * 64 + j) * stride + s] = square[j];
        }
}

#endif
