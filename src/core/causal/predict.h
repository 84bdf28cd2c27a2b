/* Prediction of a tile of targets, for the lanes of one kind of processor. */
#ifndef SYN_CAUSAL_PREDICT_H
#define SYN_CAUSAL_PREDICT_H

#include "core/causal/lanes.h"
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
    lanes zero = ALL(0), one = ALL(1);
    lanes n = zero, p = zero, pp = zero, y = zero, yy = zero, py = zero;
    lanes first_p = zero, first_y = zero;
    int begun = 0;
    for (; row < to; row += every) {
        const syn_map_neighbour *near = table->of[E - 1] + (size_t)row * (E + 1);
        if (near->target == SYN_MAP_NOWHERE)
            continue;
        lanes seen = LOAD(tile + (size_t)table->observed[row] * SYN_MAP_TILE);
        lanes told = MUL(ALL(near->weight),
                         LOAD(tile + (size_t)near->target * SYN_MAP_TILE));
        for (uint32_t j = 1; j <= E; j++)
            told = FUSED(ALL(near[j].weight),
                         LOAD(tile + (size_t)near[j].target * SYN_MAP_TILE), told);
        if (missing) {
            flags both = BOTH(WITHIN(told, told), WITHIN(seen, seen));
            flags begin = BOTH(both, WITHIN(n, zero));
            first_p = ADD(first_p, WHERE(begin, told));
            first_y = ADD(first_y, WHERE(begin, seen));
            told = WHERE(both, SUB(told, first_p));
            seen = WHERE(both, SUB(seen, first_y));
            n = ADD(n, WHERE(both, one));
        } else {
            if (!begun) {
                first_p = told;
                first_y = seen;
                begun = 1;
            }
            told = SUB(told, first_p);
            seen = SUB(seen, first_y);
            n = ADD(n, one);
        }
        p = ADD(p, told);
        pp = FUSED(told, told, pp);
        y = ADD(y, seen);
        yy = FUSED(seen, seen, yy);
        py = FUSED(told, seen, py);
    }
    STORE(s->first_p + lane, first_p);
    STORE(s->first_y + lane, first_y);
    STORE(s->n + lane, n);
    STORE(s->p + lane, p);
    STORE(s->pp + lane, pp);
    STORE(s->y + lane, y);
    STORE(s->yy + lane, yy);
    STORE(s->py + lane, py);
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
            PREFETCH(next + (size_t)i * SYN_MAP_TILE);
        for (uint32_t lane = 0; lane < SYN_MAP_TILE; lane += LANES)
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
