/* The nearest of candidates and their weights, for the lanes of one kind of processor. */
#ifndef SYN_CAUSAL_NEAREST_H
#define SYN_CAUSAL_NEAREST_H

#include "core/base/measure.h"
#include "core/base/rank.h"
#include "core/base/simd.h"
#include "core/causal/search.h"
#include "core/base/masks.h"

/* Neighbours of one row in E dimensions, and room for registers that are stored whole. */
typedef struct found {
    uint32_t n;
    float squared[SYN_MAP_NEAREST + 2 * SYN_F32_LANES];
    uint32_t column[SYN_MAP_NEAREST + 2 * SYN_F32_LANES];
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

/* Adds those of the candidates that are exactly so far, until there are k. */
static void add_first(const syn_map_search *s, const candidates *c, float bound,
                      uint32_t k, uint32_t from, found *f)
{
    lowest l = {.wanted = k - f->n, .from = from, .column = f->column + f->n};
    for (uint32_t i = 0; i < c->n; i++)
        if (c->squared[i] == bound)
            offer_column(s, &l, c->column[i]);
    add_lowest(&l, bound, f);
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
        bound = of_bits(exact_bound(c->squared, c->n, k, 0, bits_of(limit)));
    add_nearer(c, bound, f);
    if (f->n < k)
        add_first(s, c, bound, k, from, f);
}

static float farthest(const found *f)
{
    float most = 0;
    for (uint32_t j = 0; j < f->n; j++)
        most = f->squared[j] > most ? f->squared[j] : most;
    return most;
}

#endif
