/* Counts lag histograms, and measures excess in them.

   The counts of a window are compared with those beside it (Stark and Abeles 2009 smooth
   with a hollow kernel to the same end): what changes slowly, the rates of two units
   together among it, is in both. What is left is compared with what all pairs of the
   recording have at that lag and width: a population burst, or an oscillation, gives an
   excess to all of them, of about the same share of what is expected (`common`), and
   what shares differ by (`spread`) is no evidence either. Both are found anew for each
   lag and width, from at most FITTED pairs, by a few steps of a mean and a variance in
   which no pair counts for more than three standard deviations, so that pairs of an
   assembly do not hide themselves. Last, spikes that come in clumps make counts vary
   more than those of Poisson processes: by about the product of both units' own excess
   of variance (`clumps`). */
#include "core/assemblies/pairs.h"

#include <math.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/correlation/lags.h"

enum { FITTED = 400, REFINED = 3 };

static const double BESIDE = 2.0 * SYN_LADDER_BESIDE;  /* widths beside a window */
static const double CLIP = 3;
/* Mean of the square of a standard normal number that is cut at CLIP. */
static const double CLIPPED = 0.9749;

int64_t syn_lagged_reach(const syn_ladder *ladder, int64_t bin)
{
    syn_lag_options o = {.bin = bin, .lags = ladder->margin};
    return syn_lag_reach(&o);
}

/* ---- memory ---- */

static size_t counters(const syn_ladder *l, size_t units)
{
    return units * units * (2 * (size_t)l->margin + 1);
}

double syn_lagged_bytes(const syn_ladder *ladder, double units)
{
    double places = ladder->first[ladder->rungs];
    return units * units * (2.0 * ladder->margin + 1) * sizeof(int32_t) +
           (units * ladder->rungs + 2 * places) * sizeof(double);
}

syn_status syn_lagged_make(syn_lagged *out, const syn_ladder *ladder, int64_t bin,
                          uint32_t units, int threads, syn_budget *budget)
{
    memset(out, 0, sizeof *out);
    out->ladder = *ladder;
    out->bin = bin;
    out->units = units;
    out->threads = threads;
    out->budget = budget;
    size_t places = ladder->first[ladder->rungs];
    int ok = (out->sum = syn_budget_alloc(budget, counters(ladder, units) + 1,
                                          sizeof *out->sum)) &&
             (out->clumps = syn_budget_alloc(budget, (size_t)units * ladder->rungs + 1,
                                             sizeof *out->clumps)) &&
             (out->common = syn_budget_zeros(budget, places, sizeof *out->common)) &&
             (out->spread = syn_budget_zeros(budget, places, sizeof *out->spread));
    return ok ? SYN_OK : syn_budget_refusal(budget);
}

void syn_lagged_free(syn_lagged *pairs)
{
    if (!pairs->budget)
        return;
    syn_budget_free(pairs->budget, pairs->sum);
    syn_budget_free(pairs->budget, pairs->clumps);
    syn_budget_free(pairs->budget, pairs->common);
    syn_budget_free(pairs->budget, pairs->spread);
    memset(pairs, 0, sizeof *pairs);
}

/* ---- one window ---- */

/* Counts of a window and beside it. */
typedef struct sides {
    double in, beside;
} sides;

static const int32_t *sums_of(const syn_lagged *p, uint32_t a, uint32_t b)
{
    size_t length = 2 * (size_t)p->ladder.margin + 1;
    return p->sum + ((size_t)b * p->units + a) * length + p->ladder.margin;
}

/* `sum` of a pair, at lag 0. */
static sides look(const int32_t *sum, int32_t half, int32_t lag)
{
    int32_t width = 2 * half + 1, low = lag - half, high = lag + half, gap = half + 1;
    int32_t far = SYN_LADDER_BESIDE * width;
    return (sides){
        .in = sum[high] - sum[low - 1],
        .beside = (sum[low - gap - 1] - sum[low - gap - far - 1]) +
                  (double)(sum[high + gap + far] - sum[high + gap])};
}

/* Signed root of the deviance of a share of in / (in + beside) from what is expected,
   with half a count of continuity correction. */
static double deviance(sides s, double common)
{
    double share = (1 + common) / (1 + common + BESIDE);
    double in = s.in - 0.5, beside = s.beside + 0.5, n = in + beside;
    double expected = n * share;
    if (in <= expected)
        return 0;
    double d = in * log(in / expected) + beside * log(beside / (n - expected));
    return d > 0 ? sqrt(2 * d) : 0;
}

/* By how much the variance exceeds that of Poisson counts, of so many expected ones. */
static double inflation(double clumps, double spread, double expected)
{
    return clumps + spread * expected / (1 + 1 / BESIDE);
}

static double judge(sides s, double clumps, double common, double spread)
{
    double expected = s.beside / BESIDE * (1 + common), excess = s.in - expected;
    double base = expected > 0.5 ? expected : 0.5;
    double scale = inflation(clumps, spread, base);
    if (excess <= 0)
        return excess / sqrt(base * (1 + 1 / BESIDE) * scale);
    return deviance(s, common) / sqrt(scale);
}

static double clumps_of(const syn_lagged *p, uint32_t a, uint32_t b, uint32_t rung)
{
    const double *c = p->clumps + (size_t)rung * p->units;
    return c[a] * c[b];
}

syn_lagged_window syn_lagged_look(const syn_lagged *pairs, uint32_t a, uint32_t b,
                              uint32_t rung, int32_t lag)
{
    if (a > b) {
        uint32_t swap = a;
        a = b;
        b = swap;
        lag = -lag;
    }
    uint32_t place = syn_ladder_place(&pairs->ladder, rung, lag);
    sides s = look(sums_of(pairs, a, b), (int32_t)pairs->ladder.half[rung], lag);
    double common = pairs->common[place];
    return (syn_lagged_window){
        .count = s.in, .expected = s.beside / BESIDE * (1 + common),
        .z = judge(s, clumps_of(pairs, a, b, rung), common, pairs->spread[place])};
}

/* ---- clumps ---- */

/* Allan factor of the counts of a unit in windows of `width` ticks: half the mean square
   of what successive counts differ by, over their mean. It is 1 for a Poisson process,
   and slow changes of the rate do not raise it. */
static double allan_factor(const syn_recording *r, const uint32_t *event, uint32_t n,
                           int64_t width)
{
    double squares = 0, before = 0, here = 0;
    int64_t at = INT64_MIN / 4;
    for (uint32_t i = 0; i <= n; i++) {
        int64_t window = i < n ? r->tick[event[i]] / width : at + 3;
        if (window == at) {
            here++;
            continue;
        }
        squares += (here - before) * (here - before);
        if (window > at + 1) {
            squares += here * here;
            here = 0;
        }
        before = here;
        here = 1;
        at = window;
    }
    return n > 0 ? squares / (2.0 * n) : 1;
}

static void find_clumps(syn_lagged *p, const syn_recording *r)
{
    for (uint32_t rung = 0; rung < p->ladder.rungs; rung++) {
        int64_t width = p->bin * syn_ladder_width(&p->ladder, rung);
        for (uint32_t u = 0; u < p->units; u++) {
            double factor = allan_factor(r, r->by_unit + r->first[u],
                                         r->first[u + 1] - r->first[u], width);
            p->clumps[(size_t)rung * p->units + u] = factor > 1 ? factor : 1;
        }
    }
}

/* ---- what is common to pairs ---- */

/* Sums over pairs at a lag and its opposite. */
typedef struct moments {
    double top, bottom;    /* of the change of `common` */
    double squares, pairs; /* of `spread` */
    double variance, scale;
} moments;

static void add_first(moments *m, double excess, double expected, double clumps)
{
    m->top += excess;
    m->bottom += expected;
    m->squares += excess * excess;
    m->pairs += expected * excess;
    m->variance += expected * (1 + 1 / BESIDE) * clumps;
    m->scale += expected * expected;
}

static void add_refined(moments *m, double excess, double expected, double clumps,
                        double common, double spread)
{
    double variance = expected * (1 + 1 / BESIDE) * clumps * (1 + common) +
                      spread * expected * expected;
    double deviation = sqrt(variance), u = (excess - common * expected) / deviation;
    u = u > CLIP ? CLIP : u < -CLIP ? -CLIP : u;
    m->top += u * expected / deviation;
    m->bottom += expected * expected / variance;
    m->squares += u * u;
    m->pairs += 1;
    m->variance += variance;
    m->scale += expected * expected;
}

static void settle_first(const moments *m, double *common, double *spread)
{
    if (m->bottom <= 0 || m->scale <= 0)
        return;
    double c = m->top / m->bottom;
    double squares = m->squares - 2 * c * m->pairs + c * c * m->scale;
    *common = c;
    *spread = squares > m->variance ? (squares - m->variance) / m->scale : 0;
}

static void settle_refined(const moments *m, double *common, double *spread)
{
    if (m->bottom <= 0 || m->scale <= 0)
        return;
    *common += m->top / m->bottom;
    *common = *common > -0.9 ? *common : -0.9;
    double change = m->squares / (m->pairs * CLIPPED) - 1;
    *spread += change * m->variance / m->scale;
    *spread = *spread > 0 ? *spread : 0;
}

/* Common excess and spread of one rung; m has a place for each lag from 0 on, and the
   lags beside it, up to a width away, are taken together. */
static void fit_rung(syn_lagged *p, uint32_t rung, uint32_t every, moments *m)
{
    const syn_ladder *l = &p->ladder;
    int32_t reach = (int32_t)l->reach[rung], step = (int32_t)l->step[rung];
    int32_t half = (int32_t)l->half[rung];
    double *common = p->common + l->first[rung] + reach;
    double *spread = p->spread + l->first[rung] + reach;
    for (int round = 0; round <= REFINED; round++) {
        memset(m, 0, ((size_t)reach + 1) * sizeof *m);
        uint32_t pair = 0;
        for (uint32_t b = 1; b < p->units; b++)
            for (uint32_t a = 0; a < b; a++) {
                if (pair++ % every)
                    continue;
                const int32_t *sum = sums_of(p, a, b);
                double clumps = clumps_of(p, a, b, rung);
                for (int32_t k = -reach; k <= reach; k++) {
                    sides s = look(sum, half, k * step);
                    double expected = s.beside / BESIDE;
                    if (expected <= 0)
                        continue;
                    double excess = s.in - expected;
                    moments *here = m + (k < 0 ? -k : k);
                    if (round == 0)
                        add_first(here, excess, expected, clumps);
                    else
                        add_refined(here, excess, expected, clumps, common[k], spread[k]);
                }
            }
        for (int32_t k = 0; k <= reach; k++) {
            if (round == 0)
                settle_first(m + k, common + k, spread + k);
            else
                settle_refined(m + k, common + k, spread + k);
            common[-k] = common[k];
            spread[-k] = spread[k];
        }
    }
}

/* ---- counting ---- */

typedef struct fitting {
    syn_lagged *pairs;
    uint32_t every;
    moments *moments;  /* [threads * (lags + 1)] */
} fitting;

static syn_status fit_one(void *context, size_t item, int worker)
{
    const fitting *f = context;
    fit_rung(f->pairs, (uint32_t)item, f->every,
             f->moments + (size_t)worker * (f->pairs->ladder.lags + 1));
    return SYN_OK;
}

static syn_status fit(syn_lagged *p, const syn_watch *watch)
{
    size_t places = p->ladder.first[p->ladder.rungs];
    memset(p->common, 0, places * sizeof *p->common);
    memset(p->spread, 0, places * sizeof *p->spread);
    uint64_t all = (uint64_t)p->units * (p->units - 1) / 2;
    fitting f = {.pairs = p, .every = (uint32_t)((all + FITTED - 1) / FITTED)};
    size_t room = (size_t)p->threads * (p->ladder.lags + 1);
    f.moments = syn_budget_alloc(p->budget, room, sizeof *f.moments);
    if (!f.moments)
        return syn_budget_refusal(p->budget);
    f.every = f.every > 0 ? f.every : 1;
    syn_status status =
        syn_parallel_for(p->ladder.rungs, p->threads, watch, "widths", fit_one, &f);
    syn_budget_free(p->budget, f.moments);
    return status;
}

/* Counts become running sums, for pairs of a unit with earlier ones. */
static syn_status sum_unit(void *context, size_t item, int worker)
{
    const syn_lagged *p = context;
    (void)worker;
    size_t length = 2 * (size_t)p->ladder.margin + 1;
    for (size_t a = 0; a < item; a++) {
        int32_t *sum = p->sum + (item * p->units + a) * length;
        int64_t total = 0;
        for (size_t k = 0; k < length; k++) {
            total += sum[k];
            sum[k] = (int32_t)total;
        }
        if (total > INT32_MAX)
            return SYN_TOO_LARGE;
    }
    return SYN_OK;
}

syn_status syn_lagged_count(syn_lagged *pairs, const syn_recording *recording,
                           const syn_watch *watch)
{
    syn_lag_options o = {.bin = pairs->bin, .lags = pairs->ladder.margin,
                         .threads = pairs->threads};
    syn_status status =
        syn_lag_histograms(recording, &o, pairs->sum, pairs->budget, watch);
    if (status == SYN_OK)
        status = syn_parallel_for(pairs->units, pairs->threads, watch, "units", sum_unit,
                                  pairs);
    if (status != SYN_OK)
        return status;
    find_clumps(pairs, recording);
    return fit(pairs, watch);
}

/* ---- the best window of each pair ---- */

typedef struct scan {
    const syn_lagged *pairs;
    syn_lagged_peak *peak;
} scan;

/* Windows without an excess that could beat the best one so far are passed over before
   the logarithms: the deviance is below the square of excess over its deviation. */
static void scan_pair(const syn_lagged *p, uint32_t a, uint32_t b, syn_lagged_peak *peak)
{
    const syn_ladder *l = &p->ladder;
    const int32_t *sum = sums_of(p, a, b);
    *peak = (syn_lagged_peak){.a = a, .b = b};
    for (uint32_t rung = 0; rung < l->rungs; rung++) {
        int32_t reach = (int32_t)l->reach[rung], step = (int32_t)l->step[rung];
        int32_t half = (int32_t)l->half[rung];
        const double *common = p->common + l->first[rung] + reach;
        const double *spread = p->spread + l->first[rung] + reach;
        double clumps = clumps_of(p, a, b, rung);
        for (int32_t k = -reach; k <= reach; k++) {
            sides s = look(sum, half, k * step);
            double expected = s.beside / BESIDE * (1 + common[k]);
            double excess = s.in - expected, base = expected > 0.5 ? expected : 0.5;
            if (s.in < 2 || excess <= 0)
                continue;
            double scale = inflation(clumps, spread[k], base);
            double bar = peak->z * peak->z * base * scale;
            if (excess * excess <= bar)
                continue;
            double z = judge(s, clumps, common[k], spread[k]);
            if (z > peak->z) {
                peak->z = z;
                peak->rung = rung;
                peak->lag = k * step;
            }
        }
    }
}

static syn_status scan_unit(void *context, size_t item, int worker)
{
    const scan *s = context;
    (void)worker;
    for (uint32_t a = 0; a < item; a++)
        scan_pair(s->pairs, a, (uint32_t)item, s->peak + item * s->pairs->units + a);
    return SYN_OK;
}

syn_status syn_lagged_best(const syn_lagged *pairs, syn_lagged_peak *peak,
                          const syn_watch *watch)
{
    scan s = {.pairs = pairs, .peak = peak};
    return syn_parallel_for(pairs->units, pairs->threads, watch, "units", scan_unit, &s);
}
