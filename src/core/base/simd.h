/* Numbers side by side in the registers of the kind of processor that a file is compiled
   for: doubles, syn_f64, floats, syn_f32, and others. They are vectors of the compiler,
   so that the operators of C work on them, also those that compare; what these lack is
   below.

   All kinds give the same bits: no product is fused with a sum unless asked for. */
#ifndef SYN_BASE_SIMD_H
#define SYN_BASE_SIMD_H

#include <math.h>
#include <stdint.h>

#include "core/base/kinds.h"

#if !defined(__GNUC__)
#error "synfire needs a compiler with vector types, such as GCC or Clang"
#endif

#include "core/base/unfused.h"

/* SYN_X86(add_pd) is the name of an intrinsic for the whole of a register; whole numbers
   are SYN_X86_INT to it. */
#if SYN_WIDTH == 512
#include <immintrin.h>
#define SYN_X86(operation) _mm512_##operation
#define SYN_X86_INT __m512i
#elif SYN_WIDTH == 256
#include <immintrin.h>
#define SYN_X86(operation) _mm256_##operation
#define SYN_X86_INT __m256i
#elif defined(__SSE2__)
#include <emmintrin.h>
#define SYN_X86(operation) _mm_##operation
#define SYN_X86_INT __m128i
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Before a loop that runs so often at most, so that arrays of registers are registers. */
#if defined(__clang__)
#define SYN_UNROLL(times) SYN_PRAGMA(unroll times)
#else
#define SYN_UNROLL(times) SYN_PRAGMA(GCC unroll times)
#endif

#define SYN_INLINE static inline __attribute__((always_inline))

enum {
    SYN_REGISTER = SYN_WIDTH > 0 ? SYN_WIDTH / 8 : 16,  /* bytes */
    SYN_F64_LANES = SYN_REGISTER / 8,
    SYN_F32_LANES = SYN_REGISTER / 4,
    SYN_U16_LANES = SYN_REGISTER / 2
};

typedef double syn_f64 __attribute__((vector_size(SYN_REGISTER)));
typedef int64_t syn_i64 __attribute__((vector_size(SYN_REGISTER)));
typedef float syn_f32 __attribute__((vector_size(SYN_REGISTER)));
typedef int32_t syn_i32 __attribute__((vector_size(SYN_REGISTER)));
typedef uint16_t syn_u16 __attribute__((vector_size(SYN_REGISTER)));

/* The same in arrays, wherever they begin. */
typedef double syn_f64_array __attribute__((vector_size(SYN_REGISTER), aligned(8),
                                            may_alias));
typedef float syn_f32_array __attribute__((vector_size(SYN_REGISTER), aligned(4),
                                           may_alias));
typedef uint16_t syn_u16_array __attribute__((vector_size(SYN_REGISTER), aligned(2),
                                              may_alias));

/* ---- doubles ---- */

SYN_INLINE syn_f64 syn_f64_load(const double *from)
{
    return *(const syn_f64_array *)from;
}

SYN_INLINE void syn_f64_store(double *to, syn_f64 a) { *(syn_f64_array *)to = a; }

SYN_INLINE syn_f64 syn_f64_all(double x) { return x - (syn_f64){0}; }

/* from[at[0]], from[at[1]] and so on. */
SYN_INLINE syn_f64 syn_f64_gather(const double *from, const uint32_t *at)
{
#if SYN_WIDTH == 512
    return (syn_f64){from[at[0]], from[at[1]], from[at[2]], from[at[3]],
                     from[at[4]], from[at[5]], from[at[6]], from[at[7]]};
#elif SYN_WIDTH == 256
    return (syn_f64){from[at[0]], from[at[1]], from[at[2]], from[at[3]]};
#else
    return (syn_f64){from[at[0]], from[at[1]]};
#endif
}

/* `a` where the mask is set, 0 elsewhere. */
SYN_INLINE syn_f64 syn_f64_where(syn_i64 mask, syn_f64 a)
{
    return (syn_f64)((syn_i64)a & mask);
}

/* The lesser and the greater; the second one where either is NaN. */
SYN_INLINE syn_f64 syn_f64_min(syn_f64 a, syn_f64 b)
{
#ifdef SYN_X86
    return SYN_X86(min_pd)(a, b);
#else
    return (syn_f64)(((syn_i64)a & (a < b)) | ((syn_i64)b & ~(a < b)));
#endif
}

SYN_INLINE syn_f64 syn_f64_max(syn_f64 a, syn_f64 b)
{
#ifdef SYN_X86
    return SYN_X86(max_pd)(a, b);
#else
    return (syn_f64)(((syn_i64)a & (a > b)) | ((syn_i64)b & ~(a > b)));
#endif
}

SYN_INLINE syn_f64 syn_f64_sqrt(syn_f64 a)
{
#if defined(SYN_X86)
    return SYN_X86(sqrt_pd)(a);
#elif defined(__aarch64__)
    return vsqrtq_f64(a);
#else
    return (syn_f64){sqrt(a[0]), sqrt(a[1])};
#endif
}

/* a * b + c, rounded once on those kinds that can do so in one step. */
SYN_INLINE syn_f64 syn_f64_fused(syn_f64 a, syn_f64 b, syn_f64 c)
{
#if SYN_WIDTH
    return SYN_X86(fmadd_pd)(a, b, c);
#elif defined(__aarch64__)
    return vfmaq_f64(c, a, b);
#else
    return a * b + c;
#endif
}

/* The same for one number. */
SYN_INLINE double syn_fused(double a, double b, double c)
{
#if SYN_WIDTH || defined(__aarch64__)
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* A bit for each lane in which a <= b. */
SYN_INLINE uint64_t syn_f64_within(syn_f64 a, syn_f64 b)
{
#if SYN_WIDTH == 512
    return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
#elif defined(SYN_X86)
    return (uint64_t)SYN_X86(movemask_pd)((syn_f64)(a <= b));
#else
    syn_i64 mask = a <= b;
    return (uint64_t)((mask[0] & 1) | (mask[1] & 2));
#endif
}

SYN_INLINE double syn_f64_sum(syn_f64 a)
{
    double sum = 0;
    SYN_UNROLL(8)
    for (int i = 0; i < SYN_F64_LANES; i++)
        sum += a[i];
    return sum;
}

SYN_INLINE double syn_f64_least(syn_f64 a)
{
    double least = a[0];
    SYN_UNROLL(8)
    for (int i = 1; i < SYN_F64_LANES; i++)
        least = a[i] < least ? a[i] : least;
    return least;
}

/* exp(x) for x up to 0, to about one unit in the last place; below -708, exp(-708). With
   n the whole number nearest x / log 2, it is 2^n times the Taylor series at the rest, of
   size 0.35 at most. With `fused`, sums are as in syn_f64_fused(), and the series is a
   term shorter. */
SYN_INLINE syn_f64 syn_f64_exp(syn_f64 x, int fused)
{
    static const double series[] = {
        1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
        1.0 / 40320,      1.0 / 5040,      1.0 / 720,      1.0 / 120,     1.0 / 24,
        1.0 / 6,          0.5,             1.0,            1.0};
    /* Added to this, a number is rounded to a whole one that stands in the lowest bits,
       with the bias that the exponent of a double has. */
    const syn_f64 shift = syn_f64_all(6755399441055744.0 + 1023);
    const syn_f64 per_log2 = syn_f64_all(1.4426950408889634);
    /* log 2 in two parts: products with the first one are exact. */
    const syn_f64 high = syn_f64_all(-0.693147180369123816490);
    const syn_f64 low = syn_f64_all(-1.90821492927058770002e-10);
    x = syn_f64_max(syn_f64_all(-708), x);  /* NaN stays */
    syn_f64 shifted = fused ? syn_f64_fused(x, per_log2, shift) : x * per_log2 + shift;
    syn_f64 n = shifted - shift;
    syn_f64 rest = fused ? syn_f64_fused(n, high, x) : n * high + x;
    rest = fused ? syn_f64_fused(n, low, rest) : n * low + rest;
    syn_f64 sum = syn_f64_all(series[fused]);
    SYN_UNROLL(13)
    for (int i = fused + 1; i < 14; i++)
        sum = fused ? syn_f64_fused(sum, rest, syn_f64_all(series[i]))
                    : sum * rest + syn_f64_all(series[i]);
    return sum * (syn_f64)((syn_i64)shifted << 52);
}

SYN_INLINE uint32_t syn_i64_sum(syn_i64 n)
{
    int64_t sum = 0;
    SYN_UNROLL(8)
    for (int i = 0; i < SYN_F64_LANES; i++)
        sum += n[i];
    return (uint32_t)sum;
}

/* ---- floats ---- */

SYN_INLINE syn_f32 syn_f32_load(const float *from)
{
    return *(const syn_f32_array *)from;
}

SYN_INLINE void syn_f32_store(float *to, syn_f32 a) { *(syn_f32_array *)to = a; }

SYN_INLINE syn_f32 syn_f32_all(float x) { return x - (syn_f32){0}; }

/* As for doubles. */
SYN_INLINE syn_f32 syn_f32_min(syn_f32 a, syn_f32 b)
{
#ifdef SYN_X86
    return SYN_X86(min_ps)(a, b);
#else
    return (syn_f32)(((syn_i32)a & (a < b)) | ((syn_i32)b & ~(a < b)));
#endif
}

SYN_INLINE syn_f32 syn_f32_max(syn_f32 a, syn_f32 b)
{
#ifdef SYN_X86
    return SYN_X86(max_ps)(a, b);
#else
    return (syn_f32)(((syn_i32)a & (a > b)) | ((syn_i32)b & ~(a > b)));
#endif
}

SYN_INLINE syn_f32 syn_f32_sqrt(syn_f32 a)
{
#if defined(SYN_X86)
    return SYN_X86(sqrt_ps)(a);
#elif defined(__aarch64__)
    return vsqrtq_f32(a);
#else
    return (syn_f32){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
#endif
}

/* a * b + c, rounded once on every kind. */
SYN_INLINE syn_f32 syn_f32_fused(syn_f32 a, syn_f32 b, syn_f32 c)
{
#if SYN_WIDTH
    return SYN_X86(fmadd_ps)(a, b, c);
#elif defined(__aarch64__)
    return vfmaq_f32(c, a, b);
#else
    return (syn_f32){fmaf(a[0], b[0], c[0]), fmaf(a[1], b[1], c[1]),
                     fmaf(a[2], b[2], c[2]), fmaf(a[3], b[3], c[3])};
#endif
}

SYN_INLINE float syn_f32_least(syn_f32 a)
{
    float each[SYN_F32_LANES];
    syn_f32_store(each, a);
    for (int half = SYN_F32_LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            each[i] = each[i] < each[i + half] ? each[i] : each[i + half];
    return each[0];
}

/* ---- flags of floats: masks as wide as they are, or bits where there are registers for
   these ---- */

#if SYN_WIDTH == 512
typedef __mmask16 syn_flags;
#define SYN_EVERY_FLAG ((syn_flags)0xffff)
#else
typedef syn_i32 syn_flags;
#define SYN_EVERY_FLAG (~(syn_flags){0})
#endif

/* Where a <= b. */
SYN_INLINE syn_flags syn_f32_within(syn_f32 a, syn_f32 b)
{
#if SYN_WIDTH == 512
    return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
#else
    return a <= b;
#endif
}

SYN_INLINE syn_flags syn_f32_below(syn_f32 a, syn_f32 b)
{
#if SYN_WIDTH == 512
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
#else
    return a < b;
#endif
}

/* Of the flags `before`, those where a <= b does not hold. */
SYN_INLINE syn_flags syn_f32_beyond(syn_flags before, syn_f32 a, syn_f32 b)
{
#if SYN_WIDTH == 512
    return _mm512_mask_cmp_ps_mask(before, a, b, _CMP_NLE_UQ);
#else
    return before & ~(a <= b);
#endif
}

/* `a` at the flags, 0 elsewhere. */
SYN_INLINE syn_f32 syn_f32_where(syn_flags flags, syn_f32 a)
{
#if SYN_WIDTH == 512
    return _mm512_maskz_mov_ps(flags, a);
#else
    return (syn_f32)((syn_i32)a & flags);
#endif
}

SYN_INLINE uint32_t syn_flag_bits(syn_flags flags)
{
#if SYN_WIDTH == 512
    return flags;
#elif defined(SYN_X86)
    return (uint32_t)SYN_X86(movemask_ps)((syn_f32)flags);
#else
    return (uint32_t)((flags[0] & 1) | (flags[1] & 2) | (flags[2] & 4) | (flags[3] & 8));
#endif
}

SYN_INLINE uint32_t syn_how_many(syn_flags flags)
{
#if SYN_WIDTH
    return (uint32_t)_mm_popcnt_u32(syn_flag_bits(flags));
#elif defined(SYN_X86)
    return (uint32_t)(0x4332322132212110 >> 4 * syn_flag_bits(flags) & 15);
#else
    return (uint32_t)-(flags[0] + flags[1] + flags[2] + flags[3]);
#endif
}

/* Counts one more at the flags. */
SYN_INLINE syn_i32 syn_i32_count(syn_i32 n, syn_flags flags)
{
#if SYN_WIDTH == 512
    return (syn_i32)_mm512_mask_add_epi32((__m512i)n, flags, (__m512i)n,
                                          _mm512_set1_epi32(1));
#else
    return n - flags;
#endif
}

SYN_INLINE syn_flags syn_i32_below(syn_i32 n, int32_t k)
{
#if SYN_WIDTH == 512
    return _mm512_cmplt_epi32_mask((__m512i)n, _mm512_set1_epi32(k));
#else
    return n < k;
#endif
}

/* Packs the flagged lanes of a, and the numbers that belong to them, one after the other;
   may write a whole register. Returns how many. */
SYN_INLINE uint32_t syn_f32_pack(syn_flags flags, syn_f32 a, const uint32_t *number,
                                 float *to, uint32_t *numbers)
{
#if SYN_WIDTH == 512
    _mm512_storeu_ps(to, _mm512_maskz_compress_ps(flags, a));
    _mm512_storeu_si512(numbers,
                        _mm512_maskz_compress_epi32(flags, _mm512_loadu_si512(number)));
    return syn_how_many(flags);
#else
    uint32_t n = 0, bits = syn_flag_bits(flags);
    float each[SYN_F32_LANES];
    syn_f32_store(each, a);
    for (uint32_t i = 0; i < SYN_F32_LANES; i++) {
        to[n] = each[i];
        numbers[n] = number[i];
        n += bits >> i & 1;
    }
    return n;
#endif
}

/* exp(x) for x up to 0, to some 1e-7 of it; below -87, 0. As for doubles. */
SYN_INLINE syn_f32 syn_f32_exp(syn_f32 x)
{
    static const float series[] = {1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24,
                                   1.0f / 6,    0.5f,       1.0f,       1.0f};
    const syn_f32 shift = syn_f32_all(12582912.0f + 127), least = syn_f32_all(-87);
    syn_flags some = syn_f32_within(least, x);
    x = syn_f32_max(x, least);
    syn_f32 shifted = syn_f32_fused(x, syn_f32_all(1.44269504f), shift);
    syn_f32 n = shifted - shift;
    syn_f32 rest = syn_f32_fused(n, syn_f32_all(-0.693359375f), x);
    rest = syn_f32_fused(n, syn_f32_all(2.12194440e-4f), rest);
    syn_f32 sum = syn_f32_all(series[0]);
    SYN_UNROLL(7)
    for (int i = 1; i < 8; i++)
        sum = syn_f32_fused(sum, rest, syn_f32_all(series[i]));
    return syn_f32_where(some, sum * (syn_f32)((syn_i32)shifted << 23));
}

/* ---- whole numbers of 16 bits ---- */

SYN_INLINE syn_u16 syn_u16_load(const uint16_t *from)
{
    return *(const syn_u16_array *)from;
}

SYN_INLINE void syn_u16_store(uint16_t *to, syn_u16 a) { *(syn_u16_array *)to = a; }

SYN_INLINE syn_u16 syn_u16_all(uint16_t x) { return (syn_u16){0} + x; }

/* a - b, or 0 where b is the greater. */
SYN_INLINE syn_u16 syn_u16_less(syn_u16 a, syn_u16 b)
{
#ifdef SYN_X86
    return (syn_u16)SYN_X86(subs_epu16)((SYN_X86_INT)a, (SYN_X86_INT)b);
#elif defined(__aarch64__)
    return vqsubq_u16(a, b);
#else
    return (a - b) & (syn_u16)(a > b);
#endif
}

#endif
