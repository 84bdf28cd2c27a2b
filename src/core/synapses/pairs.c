/* The scan of many pairs of units on processors.

   Nearly all pairs have no strong window, and need the baselines without masks alone.
   These are linear forms of the counts with the same coefficients for all pairs, so that
   the windows of both sides are summed together, a lag after the other. */
#include "core/synapses/pairs.h"

#include <string.h>

#include "core/base/kinds.h"
#include "core/base/parallel.h"
#include "core/synapses/smooth.h"

enum { PAIRS_A_STEP = 64 };  /* some milliseconds where all have strong windows */

/* ---- tables ---- */

/* Weights by distance in half bins; beyond three deviations there are none. */
static syn_status make_weights(double deviation, uint32_t *n, const double **out,
                               syn_budget *budget)
{
    double *weight;
    *n = deviation > 0 ? (uint32_t)(6 * deviation) + 2 : 0;
    SYN_TAKE_ZEROS(budget, weight, *n + 1);
    for (uint32_t i = 0; i < *n; i++)
        weight[i] = exp(-0.5 * (0.5 * i / deviation) * (0.5 * i / deviation));
    *out = weight;
    return SYN_OK;
}

/* Coefficients of window `w`: the fit to counts that are 1 in one bin and 0 elsewhere. */
static void fill_window(const syn_scan_tables *s, uint32_t w, double *const own[2],
                        double *const other[2], double *const noise[2])
{
    double unit[2][SYN_SCAN_MOST_LAGS + 1] = {{0}};
    const double *x[2] = {unit[0], unit[1]};
    const syn_scan_mask none = {{0, 0}, {0, 0}};
    for (uint32_t t = 1; t <= s->lags; t++)
        for (int side = 0; side < 2; side++) {
            unit[side][t] = 1;
            syn_scan_window fit = syn_scan_fit(s, x, &none, 0, w);
            unit[side][t] = 0;
            for (int kind = 0; kind < 2; kind++) {
                double *to = side == 0 ? own[kind] : other[kind];
                to[t * s->stride + w] = fit.expected[kind] / s->width;
                noise[kind][w] = fit.noise[kind];
            }
        }
}

/* Windows at long lags: their own bins less what the slow part has there. */
static void fill_rest(const syn_scan_tables *s, uint32_t k, double deviation, double *own,
                      double *other, double *norm)
{
    double q[2 * SYN_SCAN_MOST_LAGS + 1], sum[2 * SYN_SCAN_MOST_LAGS + 1] = {0};
    uint32_t lags = s->lags, lo = s->rest + k * s->width;
    double squares = 0;
    for (uint32_t t = lo; t < lo + s->width; t++) {
        syn_smooth_coefficients(lags, deviation, (int32_t)t, q + lags);
        for (uint32_t l = 0; l <= 2 * lags; l++)
            sum[l] += (l == lags + t) - q[l];
    }
    for (uint32_t l = 0; l <= 2 * lags; l++)
        squares += sum[l] * sum[l];
    norm[k] = squares / s->width;
    for (uint32_t t = 0; t <= lags; t++) {
        own[t * s->rest_stride + k] = sum[lags + t];
        other[t * s->rest_stride + k] = t > 0 ? sum[lags - t] : 0;
    }
}

static syn_status make_rest(syn_scan_tables *out, const syn_scan_options *o,
                            syn_budget *budget)
{
    if (o->rest == 0 || o->rest > o->lags)
        return SYN_OK;
    out->rest = o->rest;
    out->rests = (o->lags + 1 - o->rest) / o->width;
    out->rest_stride = (out->rests + 7) / 8 * 8;
    double *own, *other, *norm;
    size_t size = ((size_t)o->lags + 1) * out->rest_stride;
    SYN_TAKE_ZEROS(budget, own, size + 1);
    out->own_rest = own;
    SYN_TAKE_ZEROS(budget, other, size + 1);
    out->other_rest = other;
    SYN_TAKE_ZEROS(budget, norm, out->rest_stride + 1);
    out->rest_norm = norm;
    for (uint32_t k = 0; k < out->rests; k++)
        fill_rest(out, k, o->hollow, own, other, norm);
    return SYN_OK;
}

syn_status syn_scan_tables_make(syn_scan_tables *out, const syn_scan_options *o,
                                syn_budget *budget)
{
    uint32_t windows = o->reach + 1 - o->width;
    *out = (syn_scan_tables){.lags = o->lags, .windows = windows, .width = o->width,
                             .guard = o->guard, .pad = o->pad, .mask = o->mask,
                             .stride = (windows + 7) / 8 * 8};
    SYN_TRY(make_weights(o->hollow, &out->hollow_halves, &out->hollow, budget));
    SYN_TRY(make_weights(o->folded, &out->folded_halves, &out->folded, budget));
    size_t size = ((size_t)o->lags + 1) * out->stride;
    double *own[2], *other[2], *noise[2];
    SYN_TAKE_ZEROS(budget, own[0], size);
    out->own_hollow = own[0];
    SYN_TAKE_ZEROS(budget, other[0], size);
    out->other_hollow = other[0];
    SYN_TAKE_ZEROS(budget, own[1], size);
    out->own_folded = own[1];
    SYN_TAKE_ZEROS(budget, other[1], size);
    out->other_folded = other[1];
    SYN_TAKE_ZEROS(budget, noise[0], out->stride);
    out->noise_hollow = noise[0];
    SYN_TAKE_ZEROS(budget, noise[1], out->stride);
    out->noise_folded = noise[1];
    for (uint32_t w = 0; w < windows; w++)
        fill_window(out, w, own, other, noise);
    return make_rest(out, o, budget);
}

void syn_scan_tables_free(syn_scan_tables *t, syn_budget *budget)
{
    SYN_GIVE(budget, (void *)t->hollow, (void *)t->folded, (void *)t->own_hollow,
             (void *)t->other_hollow, (void *)t->own_folded, (void *)t->other_folded,
             (void *)t->noise_hollow, (void *)t->noise_folded, (void *)t->own_rest,
             (void *)t->other_rest, (void *)t->rest_norm);
}

/* ---- one pair ---- */

typedef struct one_pair {
    const syn_scan_tables *tables;
    const double *x[2];
    const double *expected[2][2];  /* [side][hollow or folded] by window, without masks */
} one_pair;

static void scan_side(const void *context, const syn_scan_mask *mask, int side,
                      syn_scan_best *up, syn_scan_best *down)
{
    const one_pair *p = context;
    const syn_scan_tables *s = p->tables;
    for (uint32_t w = 0; w < s->windows; w++) {
        syn_scan_window fit = {s->noise_hollow[w] > 0, s->noise_folded[w] > 0,
                               {p->expected[side][0][w], p->expected[side][1][w]},
                               {s->noise_hollow[w], s->noise_folded[w]}};
        if (mask)
            fit = syn_scan_fit(s, p->x, mask, side, w);
        syn_scan_best more, fewer;
        double count = syn_scan_count(s, p->x[side], w);
        syn_scan_judge(&fit, count, w, &more, &fewer);
        if (w == 0) {
            *up = more;
            *down = fewer;
            continue;
        }
        syn_scan_keep_up(up, &more);
        syn_scan_keep_down(down, &fewer);
    }
}

/* Adds two coefficients times counts to the windows of both sides. */
static void add_lag(uint32_t n, const double *own, const double *other, double a,
                    double b, double *to_a, double *to_b)
{
    SYN_SIMD()
    for (uint32_t w = 0; w < n; w++) {
        to_a[w] += own[w] * a + other[w] * b;
        to_b[w] += own[w] * b + other[w] * a;
    }
}

static double spread_of(const syn_scan_tables *s, const double *const x[2])
{
    double beside[2][SYN_SCAN_MOST_LAGS + 8], sum = 0;
    uint32_t n = s->rest_stride;
    memset(beside[0], 0, n * sizeof(double));
    memset(beside[1], 0, n * sizeof(double));
    for (uint32_t t = 0; t <= s->lags; t++)
        add_lag(n, s->own_rest + t * n, s->other_rest + t * n, x[0][t], x[1][t],
                beside[0], beside[1]);
    for (uint32_t k = 0; k < s->rests; k++)
        for (int side = 0; side < 2; side++) {
            double count = syn_scan_count(s, x[side], s->rest - 1 + k * s->width);
            sum += syn_scan_beside(s, k, count, beside[side][k]);
        }
    return sum / (2.0 * s->rests);
}

void syn_scan_one(const syn_scan_tables *s, const double *const x[2], syn_scan_pair *out)
{
    enum { MOST = SYN_SCAN_MOST_LAGS + 8 };
    double sum[2][2][MOST];
    uint32_t n = s->stride;
    one_pair p = {s, {x[0], x[1]}, {{sum[0][0], sum[0][1]}, {sum[1][0], sum[1][1]}}};
    for (int side = 0; side < 2; side++)
        for (int kind = 0; kind < 2; kind++)
            memset(sum[side][kind], 0, n * sizeof(double));
    /* Weights end three deviations from the last window. */
    uint32_t end = s->windows + s->width + s->folded_halves / 2;
    for (uint32_t t = 1; t <= s->lags; t++)
        add_lag(n, s->own_hollow + t * n, s->other_hollow + t * n, x[0][t], x[1][t],
                sum[0][0], sum[1][0]);
    for (uint32_t t = 1; t <= s->lags && t <= end && s->folded_halves > 0; t++)
        add_lag(n, s->own_folded + t * n, s->other_folded + t * n, x[0][t], x[1][t],
                sum[0][1], sum[1][1]);
    for (int side = 0; side < 2; side++)
        for (int kind = 0; kind < 2; kind++)
            for (uint32_t w = 0; w < n; w++)
                sum[side][kind][w] *= s->width;
    for (int side = 0; side < 2; side++)
        scan_side(&p, NULL, side, &out->up[side], &out->down[side]);
    syn_scan_hide_strong(s, scan_side, &p, out);
    out->spread = s->rests > 0 ? spread_of(s, x) : 1;
}

void syn_scan_store(const syn_scan_pair *pair, size_t p, const syn_scan_columns *to)
{
    for (int sign = 0; sign < 2; sign++)
        for (int side = 0; side < 2; side++) {
            const syn_scan_best *best = sign == 0 ? &pair->up[side] : &pair->down[side];
            size_t at = 2 * p + (size_t)side;
            if (to->z[sign])
                to->z[sign][at] = best->z;
            if (to->count[sign])
                to->count[sign][at] = best->count;
            if (to->expected[sign])
                to->expected[sign][at] = best->expected;
            if (to->noise[sign])
                to->noise[sign][at] = best->noise;
            if (to->lo[sign])
                to->lo[sign][at] = (int32_t)best->lo;
        }
    if (to->spread)
        to->spread[p] = pair->spread;
}

/* ---- many pairs ---- */

typedef struct work {
    const syn_scan_tables *tables;
    const syn_lag_counts *counts;
    const syn_unit_pairs *pairs;
    const syn_scan_columns *out;
} work;

static syn_status scan_step(void *context, size_t item, int thread)
{
    (void)thread;
    const work *w = context;
    double x[2][SYN_SCAN_MOST_LAGS + 1];
    const double *sides[2] = {x[0], x[1]};
    size_t end = (item + 1) * PAIRS_A_STEP;
    for (size_t p = item * PAIRS_A_STEP; p < end && p < w->pairs->n; p++) {
        syn_lag_counts_sides(w->counts, w->pairs->a[p], w->pairs->b[p], w->tables->lags,
                             x);
        syn_scan_pair found;
        syn_scan_one(w->tables, sides, &found);
        syn_scan_store(&found, p, w->out);
    }
    return SYN_OK;
}

syn_status syn_scan_pairs(const syn_scan_tables *tables, const syn_lag_counts *counts,
                          const syn_unit_pairs *pairs, const syn_scan_columns *out,
                          int threads, const syn_watch *watch)
{
    work w = {tables, counts, pairs, out};
    size_t steps = (pairs->n + PAIRS_A_STEP - 1) / PAIRS_A_STEP;
    int worth = 1 + (int)(steps / 4 < 1024 ? steps / 4 : 1024);
    return syn_parallel_for(steps, threads < worth ? threads : worth, watch, "pairs",
                            scan_step, &w);
}
