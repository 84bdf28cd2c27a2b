/* Computes the distances of one point to 64 others. Coordinates of the 64 points lie
   side by side, so that vector registers add up the squares. Compiled once for each
   kind of processor. */
#include "core/edm/neighbours/scan.h"

#include <string.h>

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

static int tile_boxes(const syn_scan *scan, const double *low, const double *high,
                      uint32_t first, uint64_t *pass, uint64_t *nearer)
{
    const double *point = scan->point;
    syn_f64 most = syn_f64_all(scan->most), zero = syn_f64_all(0);
    int any = 0;
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
            any = 1;
        } else if (!syn_f64_within(least, most)) {
            break;
        }
    }
    return any;
}

static int scan_boxes(const syn_scan *scan, const double *low, const double *high,
                      uint64_t *pass, uint64_t *nearer)
{
    int any = 0;
    memset(pass, 0, scan->E * sizeof *pass);
    memset(nearer, 0, scan->E * sizeof *nearer);
    for (uint32_t first = 0; first < SYN_BLOCK; first += TILE)
        any |= tile_boxes(scan, low + first, high + first, first, pass, nearer);
    return any;
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

const syn_scan_kind SYN_KIND_NAME(syn_scan) = {scan_rows, scan_boxes, scan_count};

#if SYN_WIDTH == 0
const syn_scan_kind *syn_scan_fastest(int vector_bits)
{
    const syn_scan_kind *kinds[] =
        SYN_KINDS(&syn_scan_any, &syn_scan_256, &syn_scan_512, &syn_scan_512);
    return kinds[syn_kind_here(vector_bits)];
}
#endif
