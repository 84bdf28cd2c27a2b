/* Computes the distances of one point to others, and which of these are small.
   Coordinates of 64 points lie side by side, so that vector registers add up the
   squares. */
#include "core/edm/neighbours/scan.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/masks.h"
#include "core/base/simd.h"

enum { TILE = 8 * SYN_F64_LANES };  /* rows whose sums stay in registers */

#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define ZERO(v) syn_f64 s##v = syn_f64_all(0);
#define LESS(a, b) syn_f64_min(a, b)
#define LEAST                                                                            \
    LESS(LESS(LESS(s0, s1), LESS(s2, s3)), LESS(LESS(s4, s5), LESS(s6, s7)))
#define BITS(v) | syn_f64_within(s##v, limit) << (v * SYN_F64_LANES)
#define KEEP(v) syn_f64_store(kept + v * SYN_F64_LANES, s##v);

#define ADD_ROWS(v)                                                                      \
    {                                                                                    \
        syn_f64 apart = syn_f64_load(x + v * SYN_F64_LANES) - at;                        \
        s##v += apart * apart;                                                           \
    }

static int tile_rows(const syn_scan *scan, const double *x, uint32_t first,
                     uint64_t *pass, double *squared)
{
    const double *point = scan->point;
    syn_f64 most = syn_f64_all(scan->most);
    int any = 0;
    EACH(ZERO)
    for (uint32_t e = 0; e < scan->E; e++) {
        for (uint32_t j = 0; j < scan->step; j++, x += SYN_BLOCK) {
            syn_f64 at = syn_f64_all(*point++);
            EACH(ADD_ROWS)
        }
        syn_f64 limit = syn_f64_all(scan->limit[e]), least = LEAST;
        if (syn_f64_within(least, limit)) {
            uint64_t bits = 0 EACH(BITS);
            double *kept = squared + (size_t)e * SYN_BLOCK + first;
            pass[e] |= bits << first;
            EACH(KEEP)
            any = 1;
        } else if (!syn_f64_within(least, most)) {
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

/* Bits of the boxes at the limit or beyond. */
#define EQUAL_OR_BEYOND(v) | syn_f64_within(limit, s##v) << (v * SYN_F64_LANES)
#define TILE_BITS (~(uint64_t)0 >> (SYN_BLOCK - TILE))

#define ADD_BOXES(v)                                                                     \
    {                                                                                    \
        syn_f64 below = syn_f64_load(low + v * SYN_F64_LANES) - at;                      \
        syn_f64 above = at - syn_f64_load(high + v * SYN_F64_LANES);                     \
        syn_f64 apart = syn_f64_max(syn_f64_max(below, above), zero);                    \
        s##v += apart * apart;                                                           \
    }

static void tile_boxes(const syn_scan *scan, const double *low, const double *high,
                       uint32_t first, uint64_t *pass, uint64_t *nearer)
{
    const double *point = scan->point;
    syn_f64 most = syn_f64_all(scan->most), zero = syn_f64_all(0);
    EACH(ZERO)
    for (uint32_t e = 0; e < scan->E; e++) {
        for (uint32_t j = 0; j < scan->step; j++) {
            syn_f64 at = syn_f64_all(*point++);
            EACH(ADD_BOXES)
            low += SYN_BLOCK;
            high += SYN_BLOCK;
        }
        syn_f64 limit = syn_f64_all(scan->limit[e]), least = LEAST;
        if (syn_f64_within(least, limit)) {
            uint64_t bits = 0 EACH(BITS);
            pass[e] |= bits << first;
            bits = 0 EACH(EQUAL_OR_BEYOND);
            nearer[e] |= (pass[e] >> first & ~bits & TILE_BITS) << first;
        } else if (!syn_f64_within(least, most)) {
            break;
        }
    }
}

static void scan_boxes(const syn_scan *scan, const double *low, const double *high,
                       uint64_t *pass, uint64_t *nearer)
{
    memset(pass, 0, scan->E * sizeof *pass);
    memset(nearer, 0, scan->E * sizeof *nearer);
    for (uint32_t first = 0; first < SYN_BLOCK; first += TILE)
        tile_boxes(scan, low + first, high + first, first, pass, nearer);
}

static uint32_t scan_count(const double *x, double limit)
{
    syn_i64 n = {0};
    for (uint32_t i = 0; i < SYN_BLOCK; i += SYN_F64_LANES)
        n -= syn_f64_load(x + i) <= limit;
    return syn_i64_sum(n);
}

#undef EACH
#undef BITS
#undef EQUAL_OR_BEYOND
#undef TILE_BITS

/* ---- a few thousand points, for small libraries ---- */

enum {
    /* Points whose sums stay in registers as floats, of which more need not be. */
    WIDE_ROUGH = TILE < SYN_BLOCK / 2 ? 2 * TILE : SYN_BLOCK,
    ROUGH_SUMS = WIDE_ROUGH / SYN_F32_LANES
};

static void square_roughly(const float *point, uint32_t dims, const float *x,
                           uint32_t blocks, float *squared)
{
    for (uint32_t b = 0; b < blocks; b++, x += (size_t)dims * SYN_BLOCK)
        for (uint32_t first = 0; first < SYN_BLOCK; first += WIDE_ROUGH) {
            const float *from = x + first;
            syn_f32 sum[ROUGH_SUMS];
            SYN_UNROLL(8)
            for (int v = 0; v < ROUGH_SUMS; v++)
                sum[v] = syn_f32_all(0);
            for (uint32_t d = 0; d < dims; d++, from += SYN_BLOCK) {
                syn_f32 at = syn_f32_all(point[d]);
                SYN_UNROLL(8)
                for (int v = 0; v < ROUGH_SUMS; v++) {
                    syn_f32 apart = syn_f32_load(from + v * SYN_F32_LANES) - at;
#if SYN_WIDTH
                    sum[v] = syn_f32_fused(apart, apart, sum[v]);
#else
                    sum[v] += apart * apart;
#endif
                }
            }
            SYN_UNROLL(8)
            for (int v = 0; v < ROUGH_SUMS; v++)
                syn_f32_store(squared + v * SYN_F32_LANES, sum[v]);
            squared += WIDE_ROUGH;
        }
}

/* Of 64 numbers, the least of every 64th: those to which k are, nearly the k-th. */
static float find_bound(const float *x, uint32_t blocks, uint32_t k)
{
    enum { SETS = SYN_BLOCK / SYN_F32_LANES, HALVINGS = 7 };
    syn_f32 least[SETS], lowest = syn_f32_all(INFINITY), highest = syn_f32_all(0);
    uint32_t finite = 0;
    for (int v = 0; v < SETS; v++) {
        least[v] = syn_f32_all(INFINITY);
        for (uint32_t b = 0; b < blocks; b++)
            least[v] = syn_f32_min(least[v], syn_f32_load(x + (size_t)b * SYN_BLOCK +
                                                          v * SYN_F32_LANES));
        syn_flags some = syn_f32_within(least[v], syn_f32_all(FLT_MAX));
        finite += syn_how_many(some);
        lowest = syn_f32_min(lowest, least[v]);
        highest = syn_f32_max(highest, syn_f32_where(some, least[v]));
    }
    float high = -syn_f32_least(-highest);
    uint32_t from = syn_float_bits(syn_f32_least(lowest)), to = syn_float_bits(high);
    for (int i = 0; i < HALVINGS && finite >= k; i++) {
        uint32_t amid = from + (to - from) / 2, n = 0;
        float middle = syn_bits_float(amid);
        for (int v = 0; v < SETS; v++)
            n += syn_how_many(syn_f32_within(least[v], syn_f32_all(middle)));
        if (n >= k) {
            high = middle;
            to = amid;
        } else {
            from = amid;
        }
    }
    return finite >= k ? high : INFINITY;
}

static uint32_t find_within(const float *x, uint32_t blocks, float limit, uint32_t most,
                            uint32_t *place)
{
    syn_f32 within = syn_f32_all(limit);
    uint32_t n = 0;
    for (uint32_t b = 0; b < blocks; b++, x += SYN_BLOCK) {
        uint64_t bits = 0;
        SYN_UNROLL(16)
        for (uint32_t i = 0; i < SYN_BLOCK; i += SYN_F32_LANES)
            bits |= (uint64_t)syn_flag_bits(syn_f32_within(syn_f32_load(x + i), within))
                    << i;
        for (; bits; bits &= bits - 1) {
            if (n == most)
                return most + 1;
            place[n++] = b * SYN_BLOCK + syn_low_bit(bits);
        }
    }
    return n;
}

SYN_KIND_TABLE(syn_scan_kind, syn_scan) = {scan_rows,      scan_boxes, scan_count,
                                           square_roughly, find_bound, find_within};
