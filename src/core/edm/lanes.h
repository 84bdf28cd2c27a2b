/* Doubles side by side in the registers of the processor a file is compiled for:
   SYN_LANE_BITS is 512 or 256 for x86-64 with AVX-512 or AVX2, else what every processor
   has. The arithmetic operators work on them. */
#ifndef SYN_EDM_LANES_H
#define SYN_EDM_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef SYN_LANE_BITS
#define SYN_LANE_BITS 0
#endif
#if SYN_LANE_BITS
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Before a loop that runs so often at most, so that arrays of lanes stay in registers. */
#if defined(__GNUC__) && !defined(__clang__)
#define SYN_UNROLL_4 _Pragma("GCC unroll 4")
#define SYN_UNROLL_12 _Pragma("GCC unroll 12")
#else
#define SYN_UNROLL_4
#define SYN_UNROLL_12
#endif

enum { SYN_MOST_LANES = 8 };  /* of any processor: what arrays are padded to */

#if SYN_LANE_BITS == 512

typedef __m512d syn_lanes;
enum { SYN_LANES = 8 };
static inline syn_lanes syn_lanes_load(const double *x) { return _mm512_loadu_pd(x); }
static inline void syn_lanes_store(double *x, syn_lanes a) { _mm512_storeu_pd(x, a); }
static inline syn_lanes syn_lanes_all(double x) { return _mm512_set1_pd(x); }
static inline syn_lanes syn_lanes_sqrt(syn_lanes a) { return _mm512_sqrt_pd(a); }
static inline syn_lanes syn_lanes_max(syn_lanes a, syn_lanes b)
{
    return _mm512_max_pd(a, b);
}
static inline syn_lanes syn_lanes_min(syn_lanes a, syn_lanes b)
{
    return _mm512_min_pd(a, b);
}
static inline syn_lanes syn_lanes_exponent(syn_lanes a)
{
    return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_castpd_si512(a), 52));
}

#elif SYN_LANE_BITS == 256

typedef __m256d syn_lanes;
enum { SYN_LANES = 4 };
static inline syn_lanes syn_lanes_load(const double *x) { return _mm256_loadu_pd(x); }
static inline void syn_lanes_store(double *x, syn_lanes a) { _mm256_storeu_pd(x, a); }
static inline syn_lanes syn_lanes_all(double x) { return _mm256_set1_pd(x); }
static inline syn_lanes syn_lanes_sqrt(syn_lanes a) { return _mm256_sqrt_pd(a); }
static inline syn_lanes syn_lanes_max(syn_lanes a, syn_lanes b)
{
    return _mm256_max_pd(a, b);
}
static inline syn_lanes syn_lanes_min(syn_lanes a, syn_lanes b)
{
    return _mm256_min_pd(a, b);
}
static inline syn_lanes syn_lanes_exponent(syn_lanes a)
{
    return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(a), 52));
}

#elif defined(__SSE2__)

typedef __m128d syn_lanes;
enum { SYN_LANES = 2 };
static inline syn_lanes syn_lanes_load(const double *x) { return _mm_loadu_pd(x); }
static inline void syn_lanes_store(double *x, syn_lanes a) { _mm_storeu_pd(x, a); }
static inline syn_lanes syn_lanes_all(double x) { return _mm_set1_pd(x); }
static inline syn_lanes syn_lanes_sqrt(syn_lanes a) { return _mm_sqrt_pd(a); }
static inline syn_lanes syn_lanes_max(syn_lanes a, syn_lanes b)
{
    return _mm_max_pd(a, b);
}
static inline syn_lanes syn_lanes_min(syn_lanes a, syn_lanes b)
{
    return _mm_min_pd(a, b);
}
static inline syn_lanes syn_lanes_exponent(syn_lanes a)
{
    return _mm_castsi128_pd(_mm_slli_epi64(_mm_castpd_si128(a), 52));
}

#else

typedef double syn_lanes;
enum { SYN_LANES = 1 };
static inline syn_lanes syn_lanes_load(const double *x) { return *x; }
static inline void syn_lanes_store(double *x, syn_lanes a) { *x = a; }
static inline syn_lanes syn_lanes_all(double x) { return x; }
static inline syn_lanes syn_lanes_sqrt(syn_lanes a) { return sqrt(a); }
static inline syn_lanes syn_lanes_max(syn_lanes a, syn_lanes b) { return a > b ? a : b; }
static inline syn_lanes syn_lanes_min(syn_lanes a, syn_lanes b) { return a < b ? a : b; }
static inline syn_lanes syn_lanes_exponent(syn_lanes a)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    bits <<= 52;
    memcpy(&a, &bits, sizeof a);
    return a;
}

#endif

static inline double syn_lanes_sum(syn_lanes a)
{
    double each[SYN_LANES], sum = 0;
    syn_lanes_store(each, a);
    for (int i = 0; i < SYN_LANES; i++)
        sum += each[i];
    return sum;
}

static inline double syn_lanes_least(syn_lanes a)
{
    double each[SYN_LANES];
    syn_lanes_store(each, a);
    double least = each[0];
    for (int i = 1; i < SYN_LANES; i++)
        least = each[i] < least ? each[i] : least;
    return least;
}

/* exp(x) for x up to 0, to some 2e-16 of it; below -708, exp(-708). With n the whole
   number nearest x / log 2, it is 2^n times the Taylor series at the rest, of size 0.35
   at most. */
static inline syn_lanes syn_lanes_exp(syn_lanes x)
{
    static const double series[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                    1.0 / 362880,    1.0 / 40320,    1.0 / 5040,
                                    1.0 / 720,       1.0 / 120,      1.0 / 24,
                                    1.0 / 6,         0.5,            1.0, 1.0};
    /* Added to this, a number is rounded to a whole one that stands in the lowest bits,
       with the bias that the exponent of a double has. */
    const double shift = 6755399441055744.0 + 1023;
    x = syn_lanes_max(x, syn_lanes_all(-708));
    syn_lanes shifted = x * syn_lanes_all(1.4426950408889634) + syn_lanes_all(shift);
    syn_lanes n = shifted - syn_lanes_all(shift);
    /* log 2 in two parts: products with the first one are exact. */
    syn_lanes rest = x - n * syn_lanes_all(0.693147180369123816490);
    rest = rest - n * syn_lanes_all(1.90821492927058770002e-10);
    syn_lanes sum = syn_lanes_all(series[0]);
    SYN_UNROLL_12
    for (int i = 1; i < 13; i++)
        sum = sum * rest + syn_lanes_all(series[i]);
    return sum * syn_lanes_exponent(shifted);
}

#endif
