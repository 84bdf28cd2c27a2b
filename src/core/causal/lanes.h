/* Floats side by side in the registers of the processor a file is compiled for:
   SYN_MAP_BITS is 512 or 256 for x86-64 with AVX-512 or with AVX2 and FMA, else one float
   at a time. Every kind gives the same bits. */
#ifndef SYN_CAUSAL_LANES_H
#define SYN_CAUSAL_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef SYN_MAP_BITS
#define SYN_MAP_BITS 0
#endif

/* Asks for a line of the cache that will be read soon. */
#if defined(__GNUC__)
#define PREFETCH(from) __builtin_prefetch(from, 0, 2)
#else
#define PREFETCH(from) ((void)(from))
#endif

#if SYN_MAP_BITS == 512

#include <immintrin.h>
enum { LANES = 16 };
typedef __m512 lanes;
typedef __mmask16 flags;
typedef __m512i counts;
#define LOAD(from) _mm512_loadu_ps(from)
#define STORE(to, a) _mm512_storeu_ps(to, a)
#define ALL(x) _mm512_set1_ps(x)
#define ADD(a, b) _mm512_add_ps(a, b)
#define SUB(a, b) _mm512_sub_ps(a, b)
#define MUL(a, b) _mm512_mul_ps(a, b)
#define DIV(a, b) _mm512_div_ps(a, b)
#define MIN(a, b) _mm512_min_ps(a, b)
#define MAX(a, b) _mm512_max_ps(a, b)
#define ROOT(a) _mm512_sqrt_ps(a)
#define FUSED(a, b, c) _mm512_fmadd_ps(a, b, c)
#define WITHIN(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)
#define BELOW(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
#define BEYOND(before, a, b) _mm512_mask_cmp_ps_mask(before, a, b, _CMP_NLE_UQ)
#define EVERY ((flags)0xffff)
#define BOTH(a, b) ((flags)((a) & (b)))
#define SAME(a, b) _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)
#define BITS(a) ((uint64_t)(a))
#define HOW_MANY(a) ((uint32_t)_mm_popcnt_u32(_cvtmask16_u32(a)))
#define WHERE(a, x) _mm512_maskz_mov_ps(a, x)
#define NONE_YET _mm512_setzero_si512()
#define COUNT(n, a) _mm512_mask_add_epi32(n, a, n, _mm512_set1_epi32(1))
#define FEWER(n, k) _mm512_cmplt_epi32_mask(n, _mm512_set1_epi32((int)(k)))
#define POWER(a)                                                                         \
    _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(a), 23))

#elif SYN_MAP_BITS == 256

#include <immintrin.h>
enum { LANES = 8 };
typedef __m256 lanes;
typedef __m256 flags;
typedef __m256i counts;
#define LOAD(from) _mm256_loadu_ps(from)
#define STORE(to, a) _mm256_storeu_ps(to, a)
#define ALL(x) _mm256_set1_ps(x)
#define ADD(a, b) _mm256_add_ps(a, b)
#define SUB(a, b) _mm256_sub_ps(a, b)
#define MUL(a, b) _mm256_mul_ps(a, b)
#define DIV(a, b) _mm256_div_ps(a, b)
#define MIN(a, b) _mm256_min_ps(a, b)
#define MAX(a, b) _mm256_max_ps(a, b)
#define ROOT(a) _mm256_sqrt_ps(a)
#define FUSED(a, b, c) _mm256_fmadd_ps(a, b, c)
#define WITHIN(a, b) _mm256_cmp_ps(a, b, _CMP_LE_OQ)
#define BELOW(a, b) _mm256_cmp_ps(a, b, _CMP_LT_OQ)
#define BEYOND(before, a, b) _mm256_and_ps(before, _mm256_cmp_ps(a, b, _CMP_NLE_UQ))
#define EVERY _mm256_castsi256_ps(_mm256_set1_epi32(-1))
#define BOTH(a, b) _mm256_and_ps(a, b)
#define SAME(a, b) _mm256_cmp_ps(a, b, _CMP_EQ_OQ)
#define BITS(a) ((uint64_t)_mm256_movemask_ps(a))
#define HOW_MANY(a) ((uint32_t)_mm_popcnt_u32((uint32_t)_mm256_movemask_ps(a)))
#define WHERE(a, x) _mm256_and_ps(a, x)
#define NONE_YET _mm256_setzero_si256()
#define COUNT(n, a) _mm256_sub_epi32(n, _mm256_castps_si256(a))
#define FEWER(n, k)                                                                      \
    _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32((int)(k)), n))
#define POWER(a)                                                                         \
    _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a), 23))

#else

enum { LANES = 1 };
typedef float lanes;
typedef int flags;
typedef uint32_t counts;
#define LOAD(from) (*(from))
#define STORE(to, a) (*(to) = (a))
#define ALL(x) (x)
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ROOT(a) sqrtf(a)
#define FUSED(a, b, c) fmaf(a, b, c)
#define WITHIN(a, b) ((a) <= (b))
#define BELOW(a, b) ((a) < (b))
#define BEYOND(before, a, b) ((before) & !((a) <= (b)))
#define EVERY 1
#define BOTH(a, b) ((a) & (b))
#define SAME(a, b) ((a) == (b))
#define BITS(a) ((uint64_t)(a))
#define HOW_MANY(a) ((uint32_t)(a))
#define WHERE(a, x) ((a) ? (x) : 0.0f)
#define NONE_YET 0
#define COUNT(n, a) ((n) + (uint32_t)(a))
#define FEWER(n, k) ((n) < (k))
static inline float power(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    bits <<= 23;
    memcpy(&a, &bits, sizeof a);
    return a;
}
#define POWER(a) power(a)

#endif

/* Packs the flagged lanes of a, and the numbers that belong to them, one after the other;
   may write a whole register. Returns how many. */
static inline uint32_t PACK(flags in, lanes a, const uint32_t *number, float *to,
                            uint32_t *numbers)
{
#if SYN_MAP_BITS == 512
    _mm512_storeu_ps(to, _mm512_maskz_compress_ps(in, a));
    _mm512_storeu_si512(numbers,
                        _mm512_maskz_compress_epi32(in, _mm512_loadu_si512(number)));
    return HOW_MANY(in);
#else
    float each[LANES];
    uint32_t n = 0;
    STORE(each, a);
    uint64_t bits = BITS(in);
    for (uint32_t i = 0; i < LANES; i++) {
        to[n] = each[i];
        numbers[n] = number[i];
        n += bits >> i & 1;
    }
    return n;
#endif
}

static inline float least_of(lanes a)
{
    float each[LANES];
    STORE(each, a);
    for (uint32_t half = LANES / 2; half > 0; half /= 2)
        for (uint32_t i = 0; i < half; i++)
            each[i] = each[i] < each[i + half] ? each[i] : each[i + half];
    return each[0];
}

/* The sum of x[0..31], in an order that is the same for all lanes: halves are added to
   each other until one is left. */
static inline float sum_of_32(const float *x)
{
#if SYN_MAP_BITS == 512
    return _mm512_reduce_add_ps(ADD(LOAD(x), LOAD(x + 16)));
#elif SYN_MAP_BITS == 256
    lanes eight = ADD(ADD(LOAD(x), LOAD(x + 16)), ADD(LOAD(x + 8), LOAD(x + 24)));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight),
                             _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
#else
    float sum[16];
    for (uint32_t i = 0; i < 16; i++)
        sum[i] = x[i] + x[i + 16];
    for (uint32_t half = 8; half > 0; half /= 2)
        for (uint32_t i = 0; i < half; i++)
            sum[i] += sum[i + half];
    return sum[0];
#endif
}

/* Takes x[place] to x[place + 3] of each of four places: the last goes to to[0..3], the
   one before to to[stride..stride + 3], ... */
static inline void transpose(const float *x, const uint32_t *place, float *to,
                             uint32_t stride)
{
#if SYN_MAP_BITS
    __m128 a = _mm_loadu_ps(x + place[0]), b = _mm_loadu_ps(x + place[1]);
    __m128 c = _mm_loadu_ps(x + place[2]), d = _mm_loadu_ps(x + place[3]);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(to, d);
    _mm_storeu_ps(to + stride, c);
    _mm_storeu_ps(to + 2 * stride, b);
    _mm_storeu_ps(to + 3 * stride, a);
#else
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t i = 0; i < 4; i++)
            to[k * stride + i] = x[place[i] + 3 - k];
#endif
}

/* exp(x) for x up to 0, to some 1e-7 of it; below -87, 0. With n the whole number
   nearest x / log 2, it is 2^n times the Taylor series at the rest, of size 0.35 at
   most. */
static inline lanes exp_lanes(lanes x)
{
    /* Added to this, a number is rounded to a whole one that stands in the lowest bits,
       with the bias that the exponent of a float has. */
    lanes shift = ALL(12582912.0f + 127);
    flags some = WITHIN(ALL(-87), x);
    x = MAX(x, ALL(-87));
    lanes shifted = FUSED(x, ALL(1.44269504f), shift);
    lanes n = SUB(shifted, shift);
    /* log 2 in two parts: products with the first one are exact. */
    lanes rest = FUSED(n, ALL(-0.693359375f), x);
    rest = FUSED(n, ALL(2.12194440e-4f), rest);
    lanes sum = ALL(1.0f / 5040);
    sum = FUSED(sum, rest, ALL(1.0f / 720));
    sum = FUSED(sum, rest, ALL(1.0f / 120));
    sum = FUSED(sum, rest, ALL(1.0f / 24));
    sum = FUSED(sum, rest, ALL(1.0f / 6));
    sum = FUSED(sum, rest, ALL(0.5f));
    sum = FUSED(sum, rest, ALL(1.0f));
    sum = FUSED(sum, rest, ALL(1.0f));
    return WHERE(some, MUL(sum, POWER(shifted)));
}

#endif
