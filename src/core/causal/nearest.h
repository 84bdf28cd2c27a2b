/* The nearest of candidates and their weights, for the lanes of one kind of processor. */
#ifndef SYN_CAUSAL_NEAREST_H
#define SYN_CAUSAL_NEAREST_H

#include <float.h>

#include "core/causal/lanes.h"
#include "core/causal/search.h"
#include "core/base/masks.h"

/* Neighbours of one row in E dimensions, and room for registers that are stored whole. */
typedef struct found {
    uint32_t n;
    float squared[SYN_MAP_NEAREST + 2 * LANES];
    uint32_t column[SYN_MAP_NEAREST + 2 * LANES];
} found;

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

#endif
