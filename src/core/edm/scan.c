#include "core/edm/scan.h"

#include <string.h>

/* All kinds must add up the same distances: no product may be fused with a sum. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

/* The files that include this one name their own kind. */
#ifndef SYN_SCAN_KIND
#define SYN_SCAN_KIND syn_scan_any
#define SYN_SCAN_BITS 0
#endif

#if SYN_SCAN_BITS == 512

#include <immintrin.h>
enum { LANES = 8 };
typedef __m512d vector;
#define LOAD(from) _mm512_load_pd(from)
#define STORE(to, a) _mm512_storeu_pd(to, a)
#define ALL(x) _mm512_set1_pd(x)
#define ADD(a, b) _mm512_add_pd(a, b)
#define SUB(a, b) _mm512_sub_pd(a, b)
#define MUL(a, b) _mm512_mul_pd(a, b)
#define MIN(a, b) _mm512_min_pd(a, b)
#define MAX(a, b) _mm512_max_pd(a, b)
#define WITHIN(a, b) ((uint64_t)_mm512_cmp_pd_mask(a, b, _CMP_LE_OQ))
#define LANE_COUNT(bits) ((uint32_t)_mm_popcnt_u64(bits))

#elif SYN_SCAN_BITS == 256

#include <immintrin.h>
enum { LANES = 4 };
typedef __m256d vector;
#define LOAD(from) _mm256_load_pd(from)
#define STORE(to, a) _mm256_storeu_pd(to, a)
#define ALL(x) _mm256_set1_pd(x)
#define ADD(a, b) _mm256_add_pd(a, b)
#define SUB(a, b) _mm256_sub_pd(a, b)
#define MUL(a, b) _mm256_mul_pd(a, b)
#define MIN(a, b) _mm256_min_pd(a, b)
#define MAX(a, b) _mm256_max_pd(a, b)
#define WITHIN(a, b) ((uint64_t)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LE_OQ)))
#define LANE_COUNT(bits) ((uint32_t)_mm_popcnt_u64(bits))

#elif defined(__SSE2__)

#include <emmintrin.h>
enum { LANES = 2 };
typedef __m128d vector;
#define LOAD(from) _mm_load_pd(from)
#define STORE(to, a) _mm_storeu_pd(to, a)
#define ALL(x) _mm_set1_pd(x)
#define ADD(a, b) _mm_add_pd(a, b)
#define SUB(a, b) _mm_sub_pd(a, b)
#define MUL(a, b) _mm_mul_pd(a, b)
#define MIN(a, b) _mm_min_pd(a, b)
#define MAX(a, b) _mm_max_pd(a, b)
#define WITHIN(a, b) ((uint64_t)_mm_movemask_pd(_mm_cmple_pd(a, b)))
#define LANE_COUNT(bits) ((uint32_t)(0x2110 >> 4 * (bits) & 3))

#else

enum { LANES = 1 };
typedef double vector;
#define LOAD(from) (*(from))
#define STORE(to, a) (*(to) = (a))
#define ALL(x) (x)
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define WITHIN(a, b) ((uint64_t)((a) <= (b)))
#define LANE_COUNT(bits) ((uint32_t)(bits))

#endif

enum { TILE = 8 * LANES };  /* rows whose sums stay in registers */

#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define ZERO(v) vector s##v = ALL(0.0);
#define LEAST                                                                            \
    MIN(MIN(MIN(s0, s1), MIN(s2, s3)), MIN(MIN(s4, s5), MIN(s6, s7)))
#define BITS(v) | WITHIN(s##v, limit) << (v * LANES)
#define KEEP(v) STORE(kept + v * LANES, s##v);

#define ADD_ROWS(v)                                                                      \
    {                                                                                    \
        vector apart = SUB(LOAD(x + v * LANES), at);                                     \
        s##v = ADD(s##v, MUL(apart, apart));                                             \
    }

static int tile_rows(const syn_scan *scan, const double *x, uint32_t first,
                     uint64_t *pass, double *squared)
{
    const double *point = scan->point;
    vector most = ALL(scan->most);
    int any = 0;
    EACH(ZERO)
    for (uint32_t e = 0; e < scan->E; e++) {
        for (uint32_t j = 0; j < scan->step; j++, x += SYN_BLOCK) {
            vector at = ALL(*point++);
            EACH(ADD_ROWS)
        }
        vector limit = ALL(scan->limit[e]), least = LEAST;
        if (WITHIN(least, limit)) {
            uint64_t bits = 0 EACH(BITS);
            double *kept = squared + (size_t)e * SYN_BLOCK + first;
            pass[e] |= bits << first;
            EACH(KEEP)
            any = 1;
        } else if (!WITHIN(least, most)) {
            break;
        }
    }
    return any;
}

static int scan_rows(const syn_scan *scan, const double *x, uint64_t *pass,
                     double *squared)
{
    int any = 0;
    memset(pass, 0, scan->E * sizeof *pass);
    for (uint32_t first = 0; first < SYN_BLOCK; first += TILE)
        any |= tile_rows(scan, x + first, first, pass, squared);
    return any;
}

#define ADD_BOXES(v)                                                                     \
    {                                                                                    \
        vector below = SUB(LOAD(low + v * LANES), at);                                   \
        vector above = SUB(at, LOAD(high + v * LANES));                                  \
        vector apart = MAX(MAX(below, above), zero);                                     \
        s##v = ADD(s##v, MUL(apart, apart));                                             \
    }

static uint64_t tile_boxes(const syn_scan *scan, const double *low, const double *high)
{
    const double *point = scan->point;
    vector most = ALL(scan->most), zero = ALL(0.0);
    uint64_t bits = 0;
    EACH(ZERO)
    for (uint32_t e = 0; e < scan->E; e++) {
        for (uint32_t j = 0; j < scan->step; j++) {
            vector at = ALL(*point++);
            EACH(ADD_BOXES)
            low += SYN_BLOCK;
            high += SYN_BLOCK;
        }
        vector limit = ALL(scan->limit[e]), least = LEAST;
        if (WITHIN(least, limit))
            bits = bits EACH(BITS);
        else if (!WITHIN(least, most))
            break;
    }
    return bits;
}

static uint64_t scan_boxes(const syn_scan *scan, const double *low, const double *high)
{
    uint64_t bits = 0;
    for (uint32_t first = 0; first < SYN_BLOCK; first += TILE)
        bits |= tile_boxes(scan, low + first, high + first) << first;
    return bits;
}

#define COUNT_LANES(v) n += LANE_COUNT(WITHIN(LOAD(x + v * LANES), most));

static uint32_t scan_count(const double *x, double limit)
{
    vector most = ALL(limit);
    uint32_t n = 0;
    for (uint32_t first = 0; first < SYN_BLOCK; first += TILE, x += TILE) {
        EACH(COUNT_LANES)
    }
    return n;
}

const syn_scan_kind SYN_SCAN_KIND = {scan_rows, scan_boxes, scan_count};

#if SYN_SCAN_BITS == 0
const syn_scan_kind *syn_scan_fastest(int vector_bits)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if ((vector_bits == 0 || vector_bits >= 512) && __builtin_cpu_supports("avx512f"))
        return &syn_scan_512;
    if ((vector_bits == 0 || vector_bits >= 256) && __builtin_cpu_supports("avx2"))
        return &syn_scan_256;
#endif
    (void)vector_bits;
    return &syn_scan_any;
}
#endif
