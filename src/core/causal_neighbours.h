/* The search of a library for the neighbours of a row, for the lanes of one kind of
   processor. */
#ifndef SYN_CAUSAL_NEIGHBOURS_H
#define SYN_CAUSAL_NEIGHBOURS_H

#include <float.h>

#include "core/causal_lanes.h"
#include "core/causal_search.h"

/* Neighbours of one row in E dimensions, and room for registers that are stored whole. */
typedef struct found {
    uint32_t n;
    float squared[SYN_MAP_NEAREST + 2 * LANES];
    uint32_t column[SYN_MAP_NEAREST + 2 * LANES];
} found;

static uint32_t low_bit(uint64_t word)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(word);
#else
    uint32_t bit = 0;
    while (!(word >> bit & 1))
        bit++;
    return bit;
#endif
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Floats from 0 on are in the order of their bits. */
static float of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* How many of x[0..n-1] are at most `limit`; what follows up to the next multiple of the
   lanes is NaN. */
static uint32_t count_within(const float *x, uint32_t n, float limit)
{
    lanes most = ALL(limit);
    uint32_t within = 0;
    for (uint32_t i = 0; i < n; i += LANES)
        within += HOW_MANY(WITHIN(LOAD(x + i), most));
    return within;
}

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

/* ---- the row that is searched for ---- */

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

static uint32_t apart(const syn_map_search *s, uint32_t column, uint32_t step)
{
    uint32_t other = (uint32_t)s->layout->step[column];
    return other > step ? other - step : step - other;
}

/* Of columns that are equally far, the one with the smaller number comes first. */
static uint32_t tie_order(const syn_map_search *s, uint32_t column, uint32_t step)
{
    return 2 * apart(s, column, step) + ((uint32_t)s->layout->step[column] > step);
}

/* Writes the weights exp(-distance / nearest distance), as shares of their sum. */
static void weigh(const syn_map_search *s, found *f, uint32_t k, syn_map_neighbour *to)
{
    float weight[SYN_MAP_NEAREST];
    lanes least = ALL(INFINITY), most = ALL(FLT_MAX);
    for (uint32_t j = f->n; j < SYN_MAP_NEAREST; j += LANES)
        STORE(f->squared + j, ALL(INFINITY));
    for (uint32_t j = 0; j < f->n; j += LANES)
        least = MIN(least, LOAD(f->squared + j));
    float nearest = sqrtf(least_of(least));
    lanes scale = ALL(-(nearest > s->floor ? nearest : s->floor));
    uint32_t j = 0;
    for (; j < f->n; j += LANES) {
        lanes far = LOAD(f->squared + j);
        STORE(weight + j, WHERE(WITHIN(far, most), exp_lanes(DIV(ROOT(far), scale))));
    }
    for (; j < SYN_MAP_NEAREST; j += LANES)
        STORE(weight + j, ALL(0));
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
    for (uint32_t i = c->n; i % LANES != 0; i++)
        c->squared[i] = NAN;
}

/* The squared distance of the k-th nearest in bits, or a number between it and the next:
   k or more of x[0..n-1] are within `to`, fewer within `from`. */
static uint32_t exact_bound(const float *x, uint32_t n, uint32_t k, uint32_t from,
                            uint32_t to)
{
    while (to - from > 1) {
        uint32_t middle = from + (to - from) / 2;
        uint32_t within = count_within(x, n, of_bits(middle));
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
    lanes most = ALL(bound);
    for (uint32_t i = 0; i < c->n; i += LANES) {
        lanes far = LOAD(c->squared + i);
        f->n += PACK(BELOW(far, most), far, c->column + i, f->squared + f->n,
                     f->column + f->n);
    }
}

/* Adds `wanted` of the candidates that are exactly so far, those that come first. */
static void add_first(const syn_map_search *s, const candidates *c, float bound,
                      uint32_t wanted, uint32_t step, found *f)
{
    candidates tied = {.n = 0};
    for (uint32_t i = 0; i < c->n; i++) {
        tied.column[tied.n] = c->column[i];
        tied.n += c->squared[i] == bound;
    }
    for (uint32_t i = 0; i < tied.n; i++)
        tied.squared[i] = (float)tie_order(s, tied.column[i], step);
    end_candidates(&tied);
    float last = (float)(2 * s->layout->steps);
    last = of_bits(exact_bound(tied.squared, tied.n, wanted, 0, bits_of(last)));
    for (uint32_t i = 0; i < tied.n; i++)
        if (tied.squared[i] <= last) {
            f->squared[f->n] = bound;
            f->column[f->n++] = tied.column[i];
        }
}

/* Of candidates that are at least k, those that fewer than k are nearer than: more than k
   only where some are equally far. */
static void rank(const candidates *c, uint32_t k, found *f)
{
    for (uint32_t i = 0; i < c->n && f->n <= k; i += LANES) {
        lanes far = LOAD(c->squared + i);
        counts nearer = NONE_YET;
        for (uint32_t j = 0; j < c->n; j++)
            nearer = COUNT(nearer, BELOW(ALL(c->squared[j]), far));
        f->n += PACK(BOTH(FEWER(nearer, k), WITHIN(far, far)), far, c->column + i,
                     f->squared + f->n, f->column + f->n);
    }
}

/* The nearest k of the candidates, all of which are within `limit`; all, of fewer. */
static void nearest(const syn_map_search *s, const candidates *c, uint32_t k, float limit,
                    uint32_t step, found *f)
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
        bound = of_bits(exact_bound(c->squared, c->n, k, 0, bits_of(limit)));
    add_nearer(c, bound, f);
    if (f->n < k)
        add_first(s, c, bound, k - f->n, step, f);
}

static float farthest(const found *f)
{
    float most = 0;
    for (uint32_t j = 0; j < f->n; j++)
        most = f->squared[j] > most ? f->squared[j] : most;
    return most;
}

/* ---- few candidates: those within limits that are known beforehand ---- */

/* Squared distances of the columns in the pool from the row at `place`, when their
   coordinates are in coordinate[0..E-1]. */
static void measure(syn_map_search *s, const float *coordinate, const float *first,
                    uint32_t place)
{
    for (uint32_t i = 0; i < s->n; i += LANES) {
        lanes sum = LOAD(first + i);
        for (uint32_t e = 0; e < s->E; e++) {
            lanes off = SUB(LOAD(coordinate + e * SYN_MAP_STRIDE + i),
                            ALL(s->x[place - e]));
            sum = FUSED(off, off, sum);
            STORE(s->squared + e * SYN_MAP_STRIDE + i, sum);
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
    for (uint32_t i = s->n; i % LANES != 0; i++) {
        s->coordinate[i] = 0;
        first[i] = NAN;
    }
    measure(s, s->coordinate, first, place);
    for (uint32_t e = 0; e < s->E; e++)
        if (s->wanted[e])
            s->limit[e] = small_bound(s->squared + e * SYN_MAP_STRIDE, s->n, e + 2,
                                      s->limit[e]);
}

#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#define BEGIN(v)                                                                         \
    lanes s##v = LOAD(start + v * LANES);                                                \
    flags out##v = EVERY;
#define TERM(v)                                                                          \
    {                                                                                    \
        lanes off = SUB(LOAD(x + v * LANES), at);                                        \
        s##v = FUSED(off, off, s##v);                                                    \
        out##v = BEYOND(out##v, s##v, limit);                                            \
    }
#define JOIN(v) | (BITS(out##v) ^ BITS(EVERY)) << (v * LANES)

enum { WIDE = 4 * LANES };  /* columns whose sums stay in registers */

/* A bit for each of the columns from `column` on that is within any limit. */
static uint64_t scan_columns(const syn_map_search *s, const float *row, uint32_t column)
{
    const float *start = s->start + column, *x = s->x + column;
    EACH(BEGIN)
    for (uint32_t e = 0; e < s->E; e++, x--) {
        lanes at = ALL(*(row - e)), limit = ALL(s->limit[e]);
        EACH(TERM)
    }
    return 0 EACH(JOIN);
}

/* Puts all columns that are within any limit into the pool; returns whether it holds
   them. */
static int fill_pool(syn_map_search *s, uint32_t place)
{
    uint32_t n = 0;
    for (uint32_t column = s->layout->lead; column < s->layout->places; column += WIDE) {
        uint64_t bits = scan_columns(s, s->x + place, column);
        for (; bits; bits &= bits - 1)
            s->pool[n++] = column + low_bit(bits);
        if (n > SYN_MAP_POOL)
            return 0;
    }
    s->n = n;
    return 1;
}

/* Coordinates of the columns in the pool, from coordinate[1] on: for the next row they
   will be one further. Four at a time, up to three of them more than there are. */
static void gather_pool(syn_map_search *s)
{
    for (uint32_t i = s->n; i % LANES != 0 || i % 4 != 0; i++)
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
    lanes most = ALL(s->limit[e]);
    to->n = 0;
    for (uint32_t i = 0; i < s->n; i += LANES) {
        lanes far = LOAD(squared + i);
        to->n += PACK(WITHIN(far, most), far, s->pool + i, to->squared + to->n,
                      to->column + to->n);
    }
    end_candidates(to);
}

/* Returns 0 when there are too many candidates. */
static int search_pool(syn_map_search *s, uint32_t place, syn_map_table *table,
                       uint32_t row)
{
    candidates c;
    found f;
    uint32_t step = (uint32_t)s->layout->step[place];
    if (!fill_pool(s, place))
        return 0;
    gather_pool(s);
    float first[SYN_MAP_STRIDE];
    for (uint32_t i = 0; i < s->n + LANES; i++)
        first[i] = i < s->n ? 0 : NAN;
    measure(s, s->coordinate + SYN_MAP_STRIDE, first, place);
    for (uint32_t e = 0; e < s->E; e++) {
        if (!s->wanted[e])
            continue;
        collect_pooled(s, e, &c);
        nearest(s, &c, e + 2, s->limit[e], step, &f);
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
    lanes at = ALL(s->x[place - e]);
    for (uint32_t p = s->layout->lead; p < s->layout->places; p += LANES) {
        lanes off = SUB(LOAD(s->x + p - e), at);
        STORE(s->sum + p, FUSED(off, off, LOAD(from + p)));
    }
}

static void collect_columns(const syn_map_search *s, float limit, candidates *to)
{
    lanes most = ALL(limit);
    to->n = 0;
    for (uint32_t p = s->layout->lead; p < s->layout->places; p += LANES)
        for (uint64_t bits = BITS(WITHIN(LOAD(s->sum + p), most)); bits;
             bits &= bits - 1) {
            uint32_t column = p + low_bit(bits);
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

/* Adds columns that are exactly so far, the nearest in time first, until there are k. */
static void add_tied(const syn_map_search *s, float bound, uint32_t k, uint32_t step,
                     found *f)
{
    uint32_t steps = s->layout->steps;
    for (uint32_t on = 1; f->n < k && (on <= step || on < steps - step); on++)
        for (int later = 0; later < 2 && f->n < k; later++) {
            if (later ? on >= steps - step : on > step)
                continue;
            uint32_t p = s->place[later ? step + on : step - on];
            if (s->sum[p] == bound) {
                f->squared[f->n] = bound;
                f->column[f->n++] = p;
            }
        }
}

/* The nearest k of all columns. */
static void nearest_columns(const syn_map_search *s, uint32_t k, float bound,
                            uint32_t step, candidates *c, found *f)
{
    if (columns_within(s, bound) <= SYN_MAP_POOL) {
        collect_columns(s, bound, c);
        nearest(s, c, k, bound, step, f);
        return;
    }
    collect_columns(s, bound > 0 ? of_bits(bits_of(bound) - 1) : -1, c);
    f->n = 0;
    add_nearer(c, bound, f);
    add_tied(s, bound, k, step, f);
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
    uint32_t step = (uint32_t)s->layout->step[place];
    s->n = 0;
    s->turn++;
    for (uint32_t e = 0; e < s->E; e++) {
        add_terms(s, place, e);
        if (!s->wanted[e])
            continue;
        float bound = bound_columns(s, e + 2, low, s->limit[e]);
        nearest_columns(s, e + 2, bound, step, &c, &f);
        s->limit[e] = low = farthest(&f);
        put_found(s, &f, e, table, row);
        pool_found(s, &f);
    }
    gather_pool(s);
}

/* ---- a row ---- */

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

#endif
