/* The inner loops of causal maps, compiled once for each kind of processor: the search of
   a library for the neighbours of a row, and the prediction of a tile of targets.

   The search differs from that of core/edm/neighbours in what it searches. Its points are
   the last values of one series, so that a column of values serves all coordinates, and
   places beside each other are points beside each other in time: there is nothing to
   gather, and hardly a box to pass over. And its numbers are floats, whose sums are fused
   as GPUs fuse them. The order of ties and the exclusion are the same. */
#include "core/causal/search.h"

#include <float.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/masks.h"
#include "core/base/measure.h"
#include "core/base/rank.h"
#include "core/base/simd.h"

/* Neighbours of one row in E dimensions, and room for registers that are stored whole. */
typedef struct found {
    uint32_t n;
    float squared[SYN_MAP_NEAREST + 2 * SYN_F32_LANES];
    uint32_t column[SYN_MAP_NEAREST + 2 * SYN_F32_LANES];
} found;

/* How many of x[0..n-1] are at most `limit`; what follows up to the next multiple of the
   lanes is NaN. */
static uint32_t count_within(const float *x, uint32_t n, float limit)
{
    syn_f32 most = syn_f32_all(limit);
    uint32_t within = 0;
    for (uint32_t i = 0; i < n; i += SYN_F32_LANES)
        within += syn_how_many(syn_f32_within(syn_f32_load(x + i), most));
    return within;
}

/* The sum of x[0..31]: halves are added to each other until one is left. */
static float sum_of_32(const float *x)
{
    typedef float four __attribute__((vector_size(16)));
    four a[8];
    memcpy(a, x, sizeof a);
    four sum = ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* Writes the weights exp(-distance / nearest distance), as shares of their sum. */
static void weigh(const syn_map_search *s, found *f, uint32_t k, syn_map_neighbour *to)
{
    float weight[SYN_MAP_NEAREST];
    syn_f32 least = syn_f32_all(INFINITY);
    for (uint32_t j = f->n; j < SYN_MAP_NEAREST; j += SYN_F32_LANES)
        syn_f32_store(f->squared + j, syn_f32_all(INFINITY));
    for (uint32_t j = 0; j < f->n; j += SYN_F32_LANES)
        least = syn_f32_min(least, syn_f32_load(f->squared + j));
    const float floor = (float)SYN_LEAST_DISTANCE;
    float nearest = sqrtf(syn_f32_least(least));
    syn_f32 scale = syn_f32_all(-(nearest > floor ? nearest : floor));
    uint32_t j = 0;
    for (; j < f->n; j += SYN_F32_LANES) {
        syn_f32 far = syn_f32_load(f->squared + j);
        syn_f32_store(weight + j, syn_f32_exp(syn_f32_sqrt(far) / scale));
    }
    for (; j < SYN_MAP_NEAREST; j += SYN_F32_LANES)
        syn_f32_store(weight + j, syn_f32_all(0));
    float share = 1 / sum_of_32(weight);
    for (j = 0; j < f->n; j++) {
        to[j].target = (uint32_t)(s->layout->step[f->column[j]] + s->Tp);
        to[j].weight = weight[j] * share;
    }
    for (; j < k; j++)
        to[j] = (syn_map_neighbour){to[0].target, 0};
}

static void put_found(const syn_map_search *s, found *f, uint32_t e, syn_map_table *table,
                      uint32_t row)
{
    uint32_t k = e + 2;
    syn_map_neighbour *to = table->of[e] + (size_t)row * k;
    if (f->n > 0) {
        weigh(s, f, k, to);
        return;
    }
    for (uint32_t j = 0; j < k; j++)
        to[j] = (syn_map_neighbour){SYN_MAP_NOWHERE, 0};
}

/* ---- the nearest of candidates ---- */

/* Candidates for the neighbours in one E; up to the next multiple of the lanes, what
   follows is NaN. */
typedef struct candidates {
    uint32_t n;
    float squared[SYN_MAP_STRIDE];
    uint32_t column[SYN_MAP_STRIDE];
} candidates;

static void end_candidates(candidates *c)
{
    for (uint32_t i = c->n; i % SYN_F32_LANES != 0; i++)
        c->squared[i] = NAN;
}

/* The squared distance of the k-th nearest in bits, or a number between it and the next:
   k or more of x[0..n-1] are within `to`, fewer within `from`. */
static uint32_t exact_bound(const float *x, uint32_t n, uint32_t k, uint32_t from,
                            uint32_t to)
{
    while (to - from > 1) {
        uint32_t middle = from + (to - from) / 2;
        uint32_t within = count_within(x, n, syn_bits_float(middle));
        if (within < k)
            from = middle;
        else
            to = middle;
        if (within == k)
            break;
    }
    return to;
}

/* Adds all candidates that are nearer than `bound`, fewer than a row's neighbours. */
static void add_nearer(const candidates *c, float bound, found *f)
{
    syn_f32 most = syn_f32_all(bound);
    for (uint32_t i = 0; i < c->n; i += SYN_F32_LANES) {
        syn_f32 far = syn_f32_load(c->squared + i);
        f->n += syn_f32_pack(syn_f32_below(far, most), far, c->column + i,
                             f->squared + f->n, f->column + f->n);
    }
}

/* Of columns that are equally far, those that come first in the order of ties. */
typedef struct lowest {
    uint32_t n, wanted;
    uint32_t from;     /* the place of the row in that order */
    uint32_t rank[SYN_MAP_NEAREST];
    uint32_t *column;  /* [wanted] */
} lowest;

static void offer_column(const syn_map_search *s, lowest *l, uint32_t column)
{
    uint32_t rank = syn_rank_after((uint32_t)s->layout->step[column], l->from);
    if (l->n == l->wanted && rank > l->rank[l->n - 1])
        return;
    uint32_t j = l->n < l->wanted ? l->n++ : l->n - 1;
    for (; j > 0 && rank < l->rank[j - 1]; j--) {
        l->rank[j] = l->rank[j - 1];
        l->column[j] = l->column[j - 1];
    }
    l->rank[j] = rank;
    l->column[j] = column;
}

/* Adds the columns of a list, all of which are `bound` away, to what has been found. */
static void add_lowest(const lowest *l, float bound, found *f)
{
    for (uint32_t j = 0; j < l->n; j++)
        f->squared[f->n++] = bound;
}

/* Of candidates that are at least k, those that fewer than k are nearer than: more than k
   only where some are equally far. */
static void rank(const candidates *c, uint32_t k, found *f)
{
    for (uint32_t i = 0; i < c->n && f->n <= k; i += SYN_F32_LANES) {
        syn_f32 far = syn_f32_load(c->squared + i);
        syn_i32 nearer = {0};
        for (uint32_t j = 0; j < c->n; j++) {
            syn_f32 other = syn_f32_all(c->squared[j]);
            nearer = syn_i32_count(nearer, syn_f32_below(other, far));
        }
        syn_flags in = syn_i32_below(nearer, (int32_t)k) & syn_f32_within(far, far);
        f->n += syn_f32_pack(in, far, c->column + i, f->squared + f->n, f->column + f->n);
    }
}

/* The nearest k of the candidates, all of which are within `limit`; all, of fewer. */
static void nearest(const syn_map_search *s, const candidates *c, uint32_t k, float limit,
                    uint32_t from, found *f)
{
    enum { FEW = 48 };
    f->n = 0;
    if (c->n <= k) {
        add_nearer(c, INFINITY, f);
        return;
    }
    if (c->n <= FEW) {
        rank(c, k, f);
        if (f->n == k)
            return;
        f->n = 0;
    }
    float bound = 0;
    if (count_within(c->squared, c->n, 0) < k)
        bound = syn_bits_float(
            exact_bound(c->squared, c->n, k, 0, syn_float_bits(limit)));
    add_nearer(c, bound, f);
    if (f->n < k) {
        /* Adds those of the candidates that are exactly so far, until there are k. */
        lowest l = {.wanted = k - f->n, .from = from, .column = f->column + f->n};
        for (uint32_t i = 0; i < c->n; i++)
            if (c->squared[i] == bound)
                offer_column(s, &l, c->column[i]);
        add_lowest(&l, bound, f);
    }
}

static float farthest(const found *f)
{
    float most = 0;
    for (uint32_t j = 0; j < f->n; j++)
        most = f->squared[j] > most ? f->squared[j] : most;
    return most;
}

/* ---- few candidates: those within limits that are known beforehand ---- */

/* A number that at least k of x[0..n-1] are within, no more than one in 2^-fine of it
   above the least such. `guess` is where to look first. Infinite when there is none. */
static float small_bound(const float *x, uint32_t n, uint32_t k, float guess)
{
    enum { FINE = 1 << 18, COARSE = 1 << 21 };
    uint32_t most = syn_float_bits(FLT_MAX), high = syn_float_bits(guess), low;
    if (high <= most && count_within(x, n, guess) >= k) {
        for (uint32_t by = COARSE;; by *= 2) {
            low = high > by ? high - by : 0;
            if (count_within(x, n, syn_bits_float(low)) < k)
                break;
            high = low;
            if (high == 0)
                return 0;
        }
    } else {
        low = high <= most ? high : 0;
        for (uint32_t by = COARSE;; by *= 2) {
            high = most - low > by ? low + by : most;
            if (count_within(x, n, syn_bits_float(high)) >= k)
                break;
            low = high;
            if (low == most)
                return INFINITY;
        }
    }
    while (high - low > FINE) {
        uint32_t middle = low + (high - low) / 2;
        if (count_within(x, n, syn_bits_float(middle)) >= k)
            high = middle;
        else
            low = middle;
    }
    return syn_bits_float(high);
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
    uint32_t from = syn_float_bits(low);
    uint32_t to = syn_float_bits(high < FLT_MAX ? high : FLT_MAX);
    if (columns_within(s, low) >= k)
        return low;
    uint32_t within = columns_within(s, syn_bits_float(to));
    if (within > SYN_MAP_POOL && columns_within(s, syn_bits_float(to - 1)) < k)
        return syn_bits_float(to);
    while (within > SYN_MAP_POOL && to - from > 1) {
        uint32_t middle = from + (to - from) / 2;
        uint32_t n = columns_within(s, syn_bits_float(middle));
        if (n < k) {
            from = middle;
        } else {
            to = middle;
            within = n;
        }
    }
    return syn_bits_float(to);
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
    collect_columns(s, bound > 0 ? syn_bits_float(syn_float_bits(bound) - 1) : -1, c);
    f->n = 0;
    add_nearer(c, bound, f);
    /* Adds columns that are exactly so far, those first in the order of ties, until
       there are k. */
    lowest l = {.wanted = k - f->n, .from = from, .column = f->column + f->n};
    for (uint32_t p = s->layout->lead; l.wanted > 0 && p < s->layout->places; p++)
        if (s->sum[p] == bound)
            offer_column(s, &l, p);
    add_lowest(&l, bound, f);
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
    if (!search_pool(s, place, table, row)) {
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
            /* The pool gives the limits of the next row. */
            for (uint32_t j = 0; j < f.n; j++)
                if (s->seen[f.column[j]] != s->turn) {
                    s->seen[f.column[j]] = s->turn;
                    s->pool[s->n++] = f.column[j];
                }
        }
        gather_pool(s);
    }
    s->at = place;
    table->observed[row] = (uint32_t)((int32_t)step + s->Tp);
    exclude(s, step, 0);
}

#undef EACH

/* ---- predictions ---- */

enum { STRETCH = 16 };  /* rows that are summed up in floats */

/* syn_map_sums in floats, of what predictions and observations are above the first ones,
   so that constants add up to nothing. */
typedef struct stretch {
    float first_p[SYN_MAP_TILE], first_y[SYN_MAP_TILE];
    float n[SYN_MAP_TILE], p[SYN_MAP_TILE], pp[SYN_MAP_TILE], y[SYN_MAP_TILE],
        yy[SYN_MAP_TILE], py[SYN_MAP_TILE];
} stretch;

static void add_stretch(const stretch *s, syn_map_sums *to)
{
    for (int i = 0; i < SYN_MAP_TILE; i++) {
        double n = s->n[i], p = s->p[i], y = s->y[i];
        double from_p = s->first_p[i], from_y = s->first_y[i];
        to->n[i] += n;
        to->p[i] += p + n * from_p;
        to->pp[i] += s->pp[i] + from_p * (2 * p + n * from_p);
        to->y[i] += y + n * from_y;
        to->yy[i] += s->yy[i] + from_y * (2 * y + n * from_y);
        to->py[i] += s->py[i] + from_y * p + from_p * (y + n * from_y);
    }
}

/* Rows `row` to below `to` of the targets in the lanes of `tile`. */
static inline void sum_rows(const syn_map_table *table, uint32_t E, uint32_t row,
                            uint32_t to, uint32_t every, const float *tile, uint32_t lane,
                            stretch *s)
{
    syn_f32 zero = syn_f32_all(0), one = syn_f32_all(1);
    syn_f32 n = zero, p = zero, pp = zero, y = zero, yy = zero, py = zero;
    syn_f32 first_p = zero, first_y = zero;
    for (; row < to; row += every) {
        const syn_map_neighbour *near = table->of[E - 1] + (size_t)row * (E + 1);
        if (near->target == SYN_MAP_NOWHERE)
            continue;
        syn_f32 seen = syn_f32_load(tile + (size_t)table->observed[row] * SYN_MAP_TILE);
        syn_f32 estimate = syn_f32_all(near->weight) *
                           syn_f32_load(tile + (size_t)near->target * SYN_MAP_TILE);
        for (uint32_t j = 1; j <= E; j++)
            estimate = syn_f32_fused(
                syn_f32_all(near[j].weight),
                syn_f32_load(tile + (size_t)near[j].target * SYN_MAP_TILE), estimate);
        syn_flags both =
            syn_f32_within(estimate, estimate) & syn_f32_within(seen, seen);
        syn_flags begin = both & syn_f32_within(n, zero);
        first_p += syn_f32_where(begin, estimate);
        first_y += syn_f32_where(begin, seen);
        estimate = syn_f32_where(both, estimate - first_p);
        seen = syn_f32_where(both, seen - first_y);
        n += syn_f32_where(both, one);
        p += estimate;
        pp = syn_f32_fused(estimate, estimate, pp);
        y += seen;
        yy = syn_f32_fused(seen, seen, yy);
        py = syn_f32_fused(estimate, seen, py);
    }
    syn_f32_store(s->first_p + lane, first_p);
    syn_f32_store(s->first_y + lane, first_y);
    syn_f32_store(s->n + lane, n);
    syn_f32_store(s->p + lane, p);
    syn_f32_store(s->pp + lane, pp);
    syn_f32_store(s->y + lane, y);
    syn_f32_store(s->yy + lane, yy);
    syn_f32_store(s->py + lane, py);
}

static void predict_tile(const syn_map_table *table, uint32_t E, uint32_t every,
                         const float *tile, syn_map_sums *sums)
{
    for (uint32_t row = 0; row < table->rows; row += STRETCH * every) {
        uint32_t left = table->rows - row;
        uint32_t to = left < STRETCH * every ? table->rows : row + STRETCH * every;
        stretch s;
        for (uint32_t lane = 0; lane < SYN_MAP_TILE; lane += SYN_F32_LANES)
            sum_rows(table, E, row, to, every, tile + lane, lane, &s);
        add_stretch(&s, sums);
    }
}

SYN_KIND_TABLE(syn_map_kind, syn_map) = {find_neighbours, predict_tile};
