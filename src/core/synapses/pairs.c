/* The scan of many pairs of units on processors.

   Nearly all pairs have no strong window, and need the baselines without masks alone.
   These are linear forms of the counts with the same coefficients for all pairs, so that
   the windows of both sides are summed together, a lag after the other. */
#include "core/synapses/pairs.h"

#include <string.h>

#include "core/base/kinds.h"
#include "core/base/parallel.h"

enum { PAIRS_A_STEP = 64 };  /* some milliseconds where all have strong windows */

/* ---- tables ---- */

/* Coefficients of window `w`: the fit to counts that are 1 in one bin and 0 elsewhere. */
static void fill_window(const syn_scan_tables *s, uint32_t w)
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
                double *to = side == 0 ? s->own[kind] : s->other[kind];
                to[t * s->stride + w] = fit.expected[kind] / s->width;
                s->noise[kind][w] = fit.noise[kind];
            }
        }
}

/* Windows at long lags: their own bins less what the slow part has there. */
static void fill_rest(const syn_scan_tables *s, uint32_t k, double deviation)
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
    s->rest_norm[k] = squares / s->width;
    for (uint32_t t = 0; t <= lags; t++) {
        s->own_rest[t * s->rest_stride + k] = sum[lags + t];
        s->other_rest[t * s->rest_stride + k] = t > 0 ? sum[lags - t] : 0;
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
    size_t size = ((size_t)o->lags + 1) * out->rest_stride;
    SYN_TAKE_ZEROS(budget, out->own_rest, size + 1);
    SYN_TAKE_ZEROS(budget, out->other_rest, size + 1);
    SYN_TAKE_ZEROS(budget, out->rest_norm, out->rest_stride + 1);
    for (uint32_t k = 0; k < out->rests; k++)
        fill_rest(out, k, o->hollow);
    return SYN_OK;
}

syn_status syn_scan_tables_make(syn_scan_work *work, const syn_scan_options *o)
{
    syn_scan_tables *out = &work->tables;
    uint32_t windows = o->reach + 1 - o->width;
    *out = (syn_scan_tables){.lags = o->lags, .windows = windows, .width = o->width,
                             .guard = o->guard, .pad = o->pad, .mask = o->mask,
                             .stride = (windows + 7) / 8 * 8};
    size_t size = ((size_t)o->lags + 1) * out->stride;
    for (int kind = 0; kind < 2; kind++) {
        /* Beyond three deviations there are no weights. */
        double deviation = kind == 0 ? o->hollow : o->folded;
        uint32_t n = deviation > 0 ? (uint32_t)(6 * deviation) + 2 : 0;
        out->halves[kind] = n;
        SYN_TAKE_ZEROS(&work->budget, out->weight[kind], n + 1);
        for (uint32_t i = 0; i < n; i++)
            out->weight[kind][i] =
                exp(-0.5 * (0.5 * i / deviation) * (0.5 * i / deviation));
        SYN_TAKE_ZEROS(&work->budget, out->own[kind], size);
        SYN_TAKE_ZEROS(&work->budget, out->other[kind], size);
        SYN_TAKE_ZEROS(&work->budget, out->noise[kind], out->stride);
    }
    for (uint32_t w = 0; w < windows; w++)
        fill_window(out, w);
    return make_rest(out, o, &work->budget);
}

/* ---- one pair ---- */

typedef struct one_pair {
    const syn_scan_tables *tables;
    const double *x[2];
    double sum[2][2][SYN_SCAN_MOST_LAGS + 8];  /* [side][hollow or folded] by window, of
                                                  coefficients times counts */
} one_pair;

static void scan_side(const void *context, const syn_scan_mask *mask, int side,
                      syn_scan_best best[2])
{
    const one_pair *p = context;
    const syn_scan_tables *s = p->tables;
    syn_scan_none(best);
    for (uint32_t w = 0; w < s->windows; w++) {
        syn_scan_window fit =
            mask ? syn_scan_fit(s, p->x, mask, side, w)
                 : syn_scan_read(s, p->sum[side][0][w], p->sum[side][1][w], w);
        syn_scan_judge(&fit, syn_scan_count(s, p->x[side], w), w, best);
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

void syn_scan_sides(const syn_scan_work *work, size_t p,
                    double x[2][SYN_SCAN_MOST_LAGS + 1])
{
    const int32_t *count =
        syn_lag_counts_of(&work->counts, work->pairs.a[p], work->pairs.b[p]);
    for (int32_t t = 0; t <= (int32_t)work->tables.lags; t++) {
        x[0][t] = count[t];
        x[1][t] = count[-t];
    }
}

void syn_scan_one(const syn_scan_work *work, double x[2][SYN_SCAN_MOST_LAGS + 1],
                  size_t number)
{
    const syn_scan_tables *s = &work->tables;
    uint32_t n = s->stride;
    one_pair p = {.tables = s, .x = {x[0], x[1]}};
    syn_scan_pair found;
    for (int kind = 0; kind < 2; kind++) {
        memset(p.sum[0][kind], 0, n * sizeof(double));
        memset(p.sum[1][kind], 0, n * sizeof(double));
        /* The folded weights end three deviations from the last window. */
        uint32_t end = s->windows + s->width + s->halves[1] / 2, last = s->lags;
        if (kind == 1)
            last = s->halves[1] == 0 ? 0 : end < last ? end : last;
        for (uint32_t t = 1; t <= last; t++)
            add_lag(n, s->own[kind] + t * n, s->other[kind] + t * n, x[0][t], x[1][t],
                    p.sum[0][kind], p.sum[1][kind]);
    }
    for (int side = 0; side < 2; side++)
        scan_side(&p, NULL, side, found.best[side]);
    syn_scan_hide_strong(s, scan_side, &p, &found);
    found.spread = s->rests > 0 ? spread_of(s, p.x) : 1;
    for (int side = 0; side < 2; side++)
        syn_scan_store(&found, side, number, &work->out);
}

/* ---- many pairs ---- */

static syn_status scan_step(void *context, size_t item, int thread)
{
    (void)thread;
    const syn_scan_work *w = context;
    double x[2][SYN_SCAN_MOST_LAGS + 1];
    size_t end = (item + 1) * PAIRS_A_STEP;
    for (size_t p = item * PAIRS_A_STEP; p < end && p < w->pairs.n; p++) {
        syn_scan_sides(w, p, x);
        syn_scan_one(w, x, p);
    }
    return SYN_OK;
}

syn_status syn_scan_pairs(const syn_scan_work *work)
{
    size_t steps = (work->pairs.n + PAIRS_A_STEP - 1) / PAIRS_A_STEP;
    int worth = 1 + (int)(steps / 4 < 1024 ? steps / 4 : 1024);
    return syn_parallel_for(steps, work->threads < worth ? work->threads : worth,
                            work->watch, "pairs", scan_step, (void *)work);
}
