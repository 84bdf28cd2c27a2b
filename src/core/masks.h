/* Sets of windows as bit masks: the inner loops of the closure search. */
#ifndef SYN_MASKS_H
#define SYN_MASKS_H

#include <stddef.h>
#include <stdint.h>

enum { SYN_ROW_WORDS = 8 };  /* rows of bits are whole blocks of as many words */

/* Masks of at most 64 windows, and the places of the items they belong to. */
typedef struct syn_narrow_list {
    uint64_t *mask;
    uint32_t *place;
} syn_narrow_list;

typedef struct syn_mask_kind {
    /* Whether one of n masks holds all of `set`. */
    int (*any_holds)(const uint64_t *mask, size_t n, uint64_t set);

    /* Appends mask & set, with its place, of those of n masks in `from` that share at
       least `least` windows with `set`; returns how many. Those that hold all of it go,
       unless `full` is NULL, to full[*n_full] (places) instead. `to` has room for n; it
       may be where `from` is, or before it in the same arrays. */
    size_t (*keep)(syn_narrow_list from, size_t n, uint64_t set, uint32_t least,
                   syn_narrow_list to, uint32_t *full, size_t *n_full);

    /* For each bit of a row: whether at least `least` of `n` rows have it, and whether
       all have. row + index[i] * stride is row i, frequent and full are rows of `stride`
       words, a multiple of SYN_ROW_WORDS. */
    void (*count_rows)(const uint64_t *row, size_t stride, const uint32_t *index,
                       size_t n, uint32_t least, uint64_t *frequent, uint64_t *full);

    /* How many windows of `words` words two masks share. */
    uint32_t (*shared)(const uint64_t *a, const uint64_t *b, size_t words);

    /* The bits of `words` words of `mask` at the set bits of `set`, brought together at
       the low end of `to`, which has room for as many bits as `set` and one word more. */
    void (*compress)(const uint64_t *mask, const uint64_t *set, size_t words,
                     uint64_t *to);
} syn_mask_kind;

/* Implementations, from the portable one up; NULL where this processor or compiler has
   none of that kind. All give the same. */
enum { SYN_MASKS_PORTABLE, SYN_MASKS_256, SYN_MASKS_512, SYN_MASKS_KINDS };

const syn_mask_kind *syn_masks_of(int kind);

/* The fastest one that this processor can run. */
const syn_mask_kind *syn_masks_fastest(void);

/* The bits of an n x m matrix turned: bit i of row[j * stride ...] is bit j of mask i,
   with masks of `words` words; fills `bits` rows of stride * 64 >= n bits. */
void syn_masks_turn(const uint64_t *mask, size_t n, size_t words, uint64_t *row,
                    size_t bits, size_t stride);

static inline uint32_t syn_bits(uint64_t word)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_popcountll(word);
#else
    uint32_t n = 0;
    for (; word; word &= word - 1)
        n++;
    return n;
#endif
}

/* The place of the lowest bit of a word that has one. */
static inline uint32_t syn_low_bit(uint64_t word)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(word);
#else
    return syn_bits((word & (0 - word)) - 1);
#endif
}

#endif
