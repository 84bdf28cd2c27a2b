/* The search of a library for the neighbours of a row, for the lanes of one kind of
   processor. */
#ifndef SYN_CAUSAL_NEIGHBOURS_H
#define SYN_CAUSAL_NEIGHBOURS_H

#include <float.h>

#include "core/causal/nearest.h"

/* ---- few candidates: those within limits that are known beforehand ---- */

/* A number that at least k of x[0..n-1] are within, no more than one in 2^-fine of it
   above the least such. `guess` is where to look first. Infinite when there is none. */
static float small_bound(const float *x, uint32_t n, uint32_t k, float guess)
{
    enum { FINE = 1 << 18, COARSE = 1 << 21 };
    uint32_t most = bits_of(FLT_MAX), high = bits_of(guess), low;
    if (high <= most && count_within(x, n, guess) >= k) {
        for (uint32_t by = COARSE;; by *= 2) {
            low = high > by ? high - by : 0;
            if (count_within(x, n, of_bits(low)) < k)
                break;
            high = low;
            if (high == 0)
                return 0;
        }
    } else {
        low = high <= most ? high : 0;
        for (uint32_t by = COARSE;; by *= 2) {
            high = most - low > by ? low + by : most;
            if (count_within(x, n, of_bits(high)) >= k)
                break;
            low = high;
            if (low == most)
                return INFINITY;
        }
    }
    while (high - low > FINE) {
        uint32_t middle = low + (high - low) / 2;
        if (count_within(x, n, of_bits(middle)) >= k)
            high = middle;
        else
            low = middle;
    }
    return of_bits(high);
}

/* Squared distances of the columns in the pool from the row at `place`, when their
   coordinates are in coordinate[0..E-1]. */
static void measure_pool(syn_map_search *s, const float *coordinate, const float *first,
                    uint32_t place)
{
    for (uint32_t i = 0; i < s->n; i += SYN_F32_LANES) {
        syn_f32 sum = syn_f32_load(first + i);
        for (uint32_t e = 0; e < s->E; e++) {
            syn_f32 off = syn_f32_load(coordinate + e * SYN_MAP_STRIDE + i) -
                          syn_f32_all(s->x[place - e]);
            sum = syn_f32_fused(off, off, sum);
            syn_f32_store(s->squared + e * SYN_MAP_STRIDE + i, sum);
        }
    }
}

/* Where the columns of the pool have gone since the row before tells how near the nearest
   columns are at least: trajectories that were close most often still are. */
static void known_limits(syn_map_search *s, uint32_t place)
{
    float first[SYN_MAP_STRIDE];
    if (place != s->at + 1) {
        for (uint32_t e = 0; e < s->E; e++)
            s->limit[e] = s->wanted[e] ? INFINITY : -1;
        return;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        s->coordinate[i] = s->x[s->pool[i] + 1];
        first[i] = s->start[s->pool[i] + 1];
    }
    for (uint32_t i = s->n; i % SYN_F32_LANES != 0; i++) {
        s->coordinate[i] = 0;
        first[i] = NAN;
    }
    measure_pool(s, s->coordinate, first, place);
    for (uint32_t e = 0; e < s->E; e++)
        if (s->wanted[e])
            s->limit[e] = small_bound(s->squared + e * SYN_MAP_STRIDE, s->n, e + 2,
                                      s->limit[e]);
}

#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#define BEGIN(v)                                                                         \
    syn_f32 s##v = syn_f32_load(start + v * SYN_F32_LANES);                              \
    syn_flags out##v = SYN_EVERY_FLAG;
#define TERM(v)                                                                          \
    {                                                                                    \
        syn_f32 off = syn_f32_load(x + v * SYN_F32_LANES) - at;                          \
        s##v = syn_f32_fused(off, off, s##v);                                            \
        out##v = syn_f32_beyond(out##v, s##v, limit);                                    \
    }
#define JOIN(v) | (uint64_t)(syn_flag_bits(out##v) ^ ALL_BITS) << (v * SYN_F32_LANES)

enum {
    COLUMNS = 4 * SYN_F32_LANES,  /* whose sums stay in registers */
    ALL_BITS = (1 << SYN_F32_LANES) - 1
};

/* A bit for each of the columns from `column` on that is within any limit. */
static uint64_t scan_columns(const syn_map_search *s, const float *row, uint32_t column)
{
    const float *start = s->start + column, *x = s->x + column;
    EACH(BEGIN)
    for (uint32_t e = 0; e < s->E; e++, x--) {
        syn_f32 at = syn_f32_all(*(row - e)), limit = syn_f32_all(s->limit[e]);
        EACH(TERM)
    }
    return 0 EACH(JOIN);
}

/* Puts all columns that are within any limit into the pool; returns whether it holds
   them. */
static int fill_pool(syn_map_search *s, uint32_t place)
{
    uint32_t n = 0;
    for (uint32_t column = s->layout->lead; column < s->layout->places;
         column += COLUMNS) {
        uint64_t bits = scan_columns(s, s->x + place, column);
        for (; bits; bits &= bits - 1)
            s->pool[n++] = column + syn_low_bit(bits);
        if (n > SYN_MAP_POOL)
            return 0;
    }
    s->n = n;
    return 1;
}

/* Takes x[place] to x[place + 3] of each of four places: the last goes to to[0..3], the
   one before to to[stride..stride + 3], ... */
static inline void transpose(const float *x, const uint32_t *place, float *to,
                             uint32_t stride)
{
#if defined(__SSE2__)
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

/* Coordinates of the columns in the pool, from coordinate[1] on: for the next row they
   will be one further. Four at a time, up to three of them more than there are. */
static void gather_pool(syn_map_search *s)
{
    for (uint32_t i = s->n; i % SYN_F32_LANES != 0 || i % 4 != 0; i++)
        s->pool[i] = s->layout->lead;
    for (uint32_t i = 0; i < s->n; i += 4)
        for (uint32_t e = 0; e < s->E; e += 4)
            transpose(s->x - e - 3, s->pool + i,
                      s->coordinate + (e + 1) * SYN_MAP_STRIDE + i, SYN_MAP_STRIDE);
}

/* The candidates in one E: those of the pool that are within its limit. */
static void collect_pooled(const syn_map_search *s, uint32_t e, candidates *to)
{
    const float *squared = s->squared + e * SYN_MAP_STRIDE;
    syn_f32 most = syn_f32_all(s->limit[e]);
    to->n = 0;
    for (uint32_t i = 0; i < s->n; i += SYN_F32_LANES) {
        syn_f32 far = syn_f32_load(squared + i);
        to->n += syn_f32_pack(syn_f32_within(far, most), far, s->pool + i,
                              to->squared + to->n, to->column + to->n);
    }
    end_candidates(to);
}

/* Returns 0 when there are too many candidates. */
static int search_pool(syn_map_search *s, uint32_t place, syn_map_table *table,
                       uint32_t row)
{
    candidates c;
    found f;
    uint32_t from = syn_row_rank((uint32_t)s->layout->step[place]);
    if (!fill_pool(s, place))
        return 0;
    gather_pool(s);
    float first[SYN_MAP_STRIDE];
    for (uint32_t i = 0; i < s->n + SYN_F32_LANES; i++)
        first[i] = i < s->n ? 0 : NAN;
    measure_pool(s, s->coordinate + SYN_MAP_STRIDE, first, place);
    for (uint32_t e = 0; e < s->E; e++) {
        if (!s->wanted[e])
            continue;
        collect_pooled(s, e, &c);
        nearest(s, &c, e + 2, s->limit[e], from, &f);
        s->limit[e] = farthest(&f);
        put_found(s, &f, e, table, row);
    }
    return 1;
}

/* ---- any number of candidates: a dimension after the other ---- */

/* How many columns are at most so far; and fewer than that, so near. */
static uint32_t columns_within(const syn_map_search *s, float limit)
{
    return count_within(s->sum + s->layout->lead, s->layout->places - s->layout->lead,
                        limit);
}

/* Adds the terms of coordinate e to the squared distances of all columns. */
static void add_terms(syn_map_search *s, uint32_t place, uint32_t e)
{
    const float *from = e > 0 ? s->sum : s->start;
    syn_f32 at = syn_f32_all(s->x[place - e]);
    for (uint32_t p = s->layout->lead; p < s->layout->places; p += SYN_F32_LANES) {
        syn_f32 off = syn_f32_load(s->x + p - e) - at;
        syn_f32_store(s->sum + p, syn_f32_fused(off, off, syn_f32_load(from + p)));
    }
}

static void collect_columns(const syn_map_search *s, float limit, candidates *to)
{
    syn_f32 most = syn_f32_all(limit);
    to->n = 0;
    for (uint32_t p = s->layout->lead; p < s->layout->places; p += SYN_F32_LANES)
        for (uint64_t bits =
                 syn_flag_bits(syn_f32_within(syn_f32_load(s->sum + p), most));
             bits; bits &= bits - 1) {
            uint32_t column = p + syn_low_bit(bits);
            to->squared[to->n] = s->sum[column];
            to->column[to->n++] = column;
        }
    end_candidates(to);
}

/* A squared distance that k columns are within, and not too many for a pool unless fewer
   than k are below it. None of the k nearest is below `low`, and k are within `high`
   unless that is infinite. */
static float bound_columns(const syn_map_search *s, uint32_t k, float low, float high)
{
    uint32_t from = bits_of(low), to = bits_of(high < FLT_MAX ? high : FLT_MAX);
    if (columns_within(s, low) >= k)
        return low;
    uint32_t within = columns_within(s, of_bits(to));
    if (within > SYN_MAP_POOL && columns_within(s, of_bits(to - 1)) < k)
        return of_bits(to);
    while (within > SYN_MAP_POOL && to - from > 1) {
        uint32_t middle = from + (to - from) / 2, n = columns_within(s, of_bits(middle));
        if (n < k) {
            from = middle;
        } else {
            to = middle;
            within = n;
        }
    }
    return of_bits(to);
}

/* Adds columns that are exactly so far, those first in the order of ties, until there are
   k. */
static void add_tied(const syn_map_search *s, float bound, uint32_t k, uint32_t from,
                     found *f)
{
    lowest l = {.wanted = k - f->n, .from = from, .column = f->column + f->n};
    for (uint32_t p = s->layout->lead; l.wanted > 0 && p < s->layout->places; p++)
        if (s->sum[p] == bound)
            offer_column(s, &l, p);
    add_lowest(&l, bound, f);
}

/* The nearest k of all columns. */
static void nearest_columns(const syn_map_search *s, uint32_t k, float bound,
                            uint32_t from, candidates *c, found *f)
{
    if (columns_within(s, bound) <= SYN_MAP_POOL) {
        collect_columns(s, bound, c);
        nearest(s, c, k, bound, from, f);
        return;
    }
    collect_columns(s, bound > 0 ? of_bits(bits_of(bound) - 1) : -1, c);
    f->n = 0;
    add_nearer(c, bound, f);
    add_tied(s, bound, k, from, f);
}

/* Puts the neighbours of one E into the pool, for the limits of the next row. */
static void pool_found(syn_map_search *s, const found *f)
{
    for (uint32_t j = 0; j < f->n; j++)
        if (s->seen[f->column[j]] != s->turn) {
            s->seen[f->column[j]] = s->turn;
            s->pool[s->n++] = f->column[j];
        }
}

static void search_columns(syn_map_search *s, uint32_t place, syn_map_table *table,
                           uint32_t row)
{
    candidates c;
    found f;
    float low = 0;
    uint32_t from = syn_row_rank((uint32_t)s->layout->step[place]);
    s->n = 0;
    s->turn++;
    for (uint32_t e = 0; e < s->E; e++) {
        add_terms(s, place, e);
        if (!s->wanted[e])
            continue;
        float bound = bound_columns(s, e + 2, low, s->limit[e]);
        nearest_columns(s, e + 2, bound, from, &c, &f);
        s->limit[e] = low = farthest(&f);
        put_found(s, &f, e, table, row);
        pool_found(s, &f);
    }
    gather_pool(s);
}

/* ---- a row ---- */

/* Library points too near in time are not to be found, or may be found again. */
static void exclude(syn_map_search *s, uint32_t step, int out)
{
    uint32_t from = step > s->exclusion ? step - s->exclusion : 0;
    uint32_t last = s->layout->steps - 1;
    uint32_t to = last - step > s->exclusion ? step + s->exclusion : last;
    for (uint32_t t = from; t <= to; t++) {
        uint32_t p = s->place[t];
        s->start[p] = out ? NAN : s->library[p];
    }
}

static void find_neighbours(syn_map_search *s, uint32_t place, syn_map_table *table,
                            uint32_t row)
{
    uint32_t step = (uint32_t)s->layout->step[place];
    exclude(s, step, 1);
    known_limits(s, place);
    if (!search_pool(s, place, table, row))
        search_columns(s, place, table, row);
    s->at = place;
    table->observed[row] = (uint32_t)((int32_t)step + s->Tp);
    exclude(s, step, 0);
}

#undef EACH

#endif
