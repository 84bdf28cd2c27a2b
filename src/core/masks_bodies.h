/* The inner loops of masks.c, compiled once for each kind of processor: TARGET says what
   the compiler may use, KIND(name) gives each copy its name. What has instructions of its
   own on a processor is WITH_BMI2 or WITH_AVX512. */

#include "core/masks.h"

#include <string.h>

#ifndef KIND
#define TARGET
#define KIND(name) name##_portable
#define WITH_BMI2 0
#define WITH_AVX512 0
#endif

/* ---- rows ---- */

typedef uint64_t KIND(block) __attribute__((vector_size(8 * SYN_ROW_WORDS)));

/* Adds three bits everywhere: *sum, which becomes the sum, and two more. */
TARGET static inline __attribute__((always_inline)) void
KIND(add)(KIND(block) *sum, const KIND(block) *a, const KIND(block) *b,
          KIND(block) *carry)
{
    KIND(block) half = *sum ^ *a;
    *carry = (*sum & *a) | (half & *b);
    *sum = half ^ *b;
}

/* Row `i` of those chosen, empty past the end; `all` forgets what it lacks. */
TARGET static inline __attribute__((always_inline)) void
KIND(take)(KIND(block) *out, const uint64_t *row, size_t stride, const uint32_t *index,
           size_t i, size_t n, KIND(block) *all)
{
    const KIND(block) none = {0};
    *out = none;
    if (i >= n)
        return;
    memcpy(out, row + index[i] * stride, sizeof *out);
    *all &= *out;
}

/* Counters of all bits of a block at once: bit k of a count in plane[k]. They start at
   2^planes - least, so a carry out of the highest plane says that `least` is reached. */
TARGET static inline __attribute__((always_inline)) void
KIND(count_block)(const uint64_t *row, size_t stride, const uint32_t *index, size_t n,
                  uint32_t least, int planes, uint64_t *frequent, uint64_t *full)
{
    const KIND(block) none = {0};
    KIND(block) plane[31], reached = none, all = ~none;
    uint32_t begin = (1u << planes) - least;
    for (int k = 0; k < planes; k++)
        plane[k] = begin >> k & 1 ? ~none : none;
    for (size_t i = 0; i < n; i += 4) {
        KIND(block) r0, r1, r2, r3, two, twos, carry;
        KIND(take)(&r0, row, stride, index, i, n, &all);
        KIND(take)(&r1, row, stride, index, i + 1, n, &all);
        KIND(take)(&r2, row, stride, index, i + 2, n, &all);
        KIND(take)(&r3, row, stride, index, i + 3, n, &all);
        KIND(add)(&plane[0], &r0, &r1, &two);
        KIND(add)(&plane[0], &r2, &r3, &twos);
        KIND(add)(&plane[1], &two, &twos, &carry);
        for (int k = 2; k < planes; k++) {
            KIND(block) sum = plane[k] ^ carry;
            carry &= plane[k];
            plane[k] = sum;
        }
        reached |= carry;
    }
    memcpy(frequent, &reached, sizeof reached);
    memcpy(full, &all, sizeof all);
}

TARGET static inline void KIND(count_rows)(const uint64_t *row, size_t stride,
                                           const uint32_t *index, size_t n,
                                           uint32_t least, uint64_t *frequent,
                                           uint64_t *full)
{
    int planes = 2;
    while (planes < 31 && 1u << planes < least)
        planes++;
    for (size_t w = 0; w < stride; w += SYN_ROW_WORDS) {
        /* A constant number of planes stays in registers. */
#define PLANES(N)                                                                        \
    case N:                                                                              \
        KIND(count_block)(row + w, stride, index, n, least, N, frequent + w, full + w);  \
        break;
        switch (planes) {
            PLANES(2)
            PLANES(3)
            PLANES(4)
            PLANES(5)
            PLANES(6)
            PLANES(7)
        default:
            KIND(count_block)(row + w, stride, index, n, least, planes, frequent + w,
                              full + w);
        }
#undef PLANES
    }
}

/* ---- masks of any length ---- */

TARGET static inline uint32_t KIND(shared)(const uint64_t *a, const uint64_t *b,
                                           size_t words)
{
    uint32_t n = 0;
    for (size_t w = 0; w < words; w++)
        n += syn_bits(a[w] & b[w]);
    return n;
}

/* The bits of `word` at the set bits of `set`, brought together at the low end. */
TARGET static inline uint64_t KIND(extract)(uint64_t word, uint64_t set)
{
#if WITH_BMI2
    return _pext_u64(word, set);
#else
    uint64_t out = 0;
    for (uint64_t bit = 1; set; set &= set - 1, bit <<= 1)
        if (word & set & (0 - set))
            out |= bit;
    return out;
#endif
}

TARGET static inline void KIND(compress)(const uint64_t *mask, const uint64_t *set,
                                         size_t words, uint64_t *to)
{
    uint32_t filled = 0;
    uint64_t *out = to;
    *out = 0;
    for (size_t w = 0; w < words; w++) {
        uint64_t bits = KIND(extract)(mask[w], set[w]);
        *out |= bits << filled;
        uint32_t more = filled + syn_bits(set[w]);
        if (more >= 64) {
            *++out = filled > 0 ? bits >> (64 - filled) : 0;
            more -= 64;
        }
        filled = more;
    }
}

/* ---- masks of one word ---- */

TARGET static inline int KIND(any_holds)(const uint64_t *mask, size_t n, uint64_t set)
{
    size_t i = 0;
#if WITH_AVX512
    __m512i sets = _mm512_set1_epi64((long long)set);
    for (; i + 8 <= n; i += 8) {
        __m512i lacking = _mm512_andnot_si512(_mm512_loadu_si512(mask + i), sets);
        if (_mm512_testn_epi64_mask(lacking, lacking))
            return 1;
    }
#endif
    for (; i < n; i++)
        if (!(set & ~mask[i]))
            return 1;
    return 0;
}

TARGET static inline size_t KIND(keep)(syn_narrow_list from, size_t n, uint64_t set,
                                       uint32_t least, syn_narrow_list to, uint32_t *full,
                                       size_t *n_full)
{
    size_t kept = 0, i = 0;
#if WITH_AVX512
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
        __m256i places = _mm256_maskz_loadu_epi32(there, from.place + i);
        uint32_t n_now = syn_bits(kept_now);
        __mmask8 low = (__mmask8)((1u << n_now) - 1);
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

static const syn_mask_kind KIND(kind) = {KIND(any_holds), KIND(keep), KIND(count_rows),
                                         KIND(shared), KIND(compress)};

#undef TARGET
#undef KIND
#undef WITH_BMI2
#undef WITH_AVX512
