/* Prediction of a tile of targets, for the lanes of one kind of processor. */
#ifndef SYN_CAUSAL_PREDICT_H
#define SYN_CAUSAL_PREDICT_H

#include "core/base/simd.h"
#include "core/causal/search.h"

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
                            uint32_t to, uint32_t every, const float *tile, int missing,
                            uint32_t lane, stretch *s)
{
    syn_f32 zero = syn_f32_all(0), one = syn_f32_all(1);
    syn_f32 n = zero, p = zero, pp = zero, y = zero, yy = zero, py = zero;
    syn_f32 first_p = zero, first_y = zero;
    int begun = 0;
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
        if (missing) {
            syn_flags both =
                syn_f32_within(estimate, estimate) & syn_f32_within(seen, seen);
            syn_flags begin = both & syn_f32_within(n, zero);
            first_p += syn_f32_where(begin, estimate);
            first_y += syn_f32_where(begin, seen);
            estimate = syn_f32_where(both, estimate - first_p);
            seen = syn_f32_where(both, seen - first_y);
            n += syn_f32_where(both, one);
        } else {
            if (!begun) {
                first_p = estimate;
                first_y = seen;
                begun = 1;
            }
            estimate -= first_p;
            seen -= first_y;
            n += one;
        }
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

static inline void predict_rows(const syn_map_table *table, uint32_t E, uint32_t every,
                                const float *tile, const float *next, int missing,
                                syn_map_sums *sums)
{
    for (uint32_t row = 0; row < table->rows; row += STRETCH * every) {
        uint32_t left = table->rows - row;
        uint32_t to = left < STRETCH * every ? table->rows : row + STRETCH * every;
        stretch s;
        for (uint32_t i = row; next && i < to; i += every)
            __builtin_prefetch(next + (size_t)i * SYN_MAP_TILE, 0, 2);
        for (uint32_t lane = 0; lane < SYN_MAP_TILE; lane += SYN_F32_LANES)
            sum_rows(table, E, row, to, every, tile + lane, missing, lane, &s);
        add_stretch(&s, sums);
    }
}

static void predict_tile(const syn_map_table *table, uint32_t E, uint32_t every,
                         const float *tile, const float *next, int missing,
                         syn_map_sums *sums)
{
    if (missing)
        predict_rows(table, E, every, tile, next, 1, sums);
    else
        predict_rows(table, E, every, tile, next, 0, sums);
}

#endif
