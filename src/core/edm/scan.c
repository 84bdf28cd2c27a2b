/* Computes the distances of one point to 64 others. Coordinates of the 64 points lie
   side by side, so that vector registers add up the squares. Compiled once for each
   kind of processor. */
#include "core/edm/scan.h"

#include <string.h>

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

#define KEEP_ALL(v) syn_f64_store(squared + v * SYN_F64_LANES, s##v);

static void scan_all(const double *point, uint32_t dims, const double *from,
                     uint32_t blocks, double *squared)
{
    for (uint32_t b = 0; b < blocks; b++, from += (size_t)dims * SYN_BLOCK)
        for (uint32_t first = 0; first < SYN_BLOCK; first += TILE, squared += TILE) {
            const double *x = from + first;
            EACH(ZERO)
            for (uint32_t d = 0; d < dims; d++, x += SYN_BLOCK) {
                syn_f64 at = syn_f64_all(point[d]);
                EACH(ADD_ROWS)
            }
            EACH(KEEP_ALL)
        }
}

static void scan_least(const double *x, uint32_t blocks, double *least)
{
    for (uint32_t i = 0; i < SYN_BLOCK; i += SYN_F64_LANES) {
        syn_f64 some = syn_f64_all(INFINITY);
        for (uint32_t b = 0; b < blocks; b++)
            some = syn_f64_min(some, syn_f64_load(x + (size_t)b * SYN_BLOCK + i));
        syn_f64_store(least + i, some);
    }
}

static syn_split scan_split(const double *x, uint32_t blocks, double limit)
{
    syn_f64 most = syn_f64_all(limit), none = syn_f64_all(INFINITY);
    syn_f64 largest = syn_f64_all(0), next = none;
    syn_i64 n = {0};
    for (size_t i = 0; i < (size_t)blocks * SYN_BLOCK; i += SYN_F64_LANES) {
        syn_f64 here = syn_f64_load(x + i);
        syn_i64 in = here <= most;
        n -= in;
        largest = syn_f64_max(largest, syn_f64_where(in, here));
        next = syn_f64_min(next, syn_f64_where(~in, here) + syn_f64_where(in, none));
    }
    return (syn_split){syn_i64_sum(n), -syn_f64_least(-largest), syn_f64_least(next)};
}

static uint32_t scan_within(const double *x, uint32_t blocks, double limit, uint32_t most,
                            uint32_t *place)
{
    syn_f64 within = syn_f64_all(limit);
    uint32_t n = 0;
    for (uint32_t b = 0; b < blocks; b++, x += SYN_BLOCK) {
        uint64_t bits = 0;
        for (uint32_t i = 0; i < SYN_BLOCK; i += SYN_F64_LANES)
            bits |= syn_f64_within(syn_f64_load(x + i), within) << i;
        for (; bits; bits &= bits - 1) {
            if (n == most)
                return most + 1;
            place[n++] = b * SYN_BLOCK + syn_low_bit(bits);
        }
    }
    return n;
}

#undef EACH
#undef KEEP_ALL
#undef BITS
#undef EQUAL_OR_BEYOND
#undef TILE_BITS

const syn_scan_kind SYN_KIND_NAME(syn_scan) = {
    scan_rows, scan_boxes, scan_all, scan_least, scan_split, scan_within, scan_count};

#if SYN_WIDTH == 0
const syn_scan_kind *syn_scan_fastest(int vector_bits)
{
    const syn_scan_kind *kinds[] =
        SYN_KINDS(&syn_scan_any, &syn_scan_256, &syn_scan_512, &syn_scan_512);
    return kinds[syn_kind_here(vector_bits)];
}
#endif
