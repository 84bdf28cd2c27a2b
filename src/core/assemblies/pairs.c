/* Counts lag histograms, and measures excess in them.

   The counts of a window are compared with those beside it (Stark and Abeles 2009 smooth
   with a hollow kernel to the same end): what changes slowly, the rates of two units
   together among it, is in both. What is left is compared with what all pairs of the
   recording have at that lag and width: a population burst, or an oscillation, gives an
   excess to all of them, of about the same share of what is expected (`common`), and
   what shares differ by (`spread`) is no evidence either. Both are found anew for each
   lag and width, from at most FITTED pairs, by a few steps of a mean and a variance in
   which no pair counts for more than two standard deviations, so that pairs of an
   assembly do not hide themselves. Last, spikes that come in clumps make counts vary
   more than those of Poisson processes: by about the product of both units' own excess
   of variance (`clumps`). */
#include "core/assemblies/pairs.h"

#include <string.h>

#include "core/assemblies/excess.h"
#include "core/base/parallel.h"
#include "core/correlation/lags.h"

enum { FITTED = 150 };  /* pairs at most */

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

const int32_t *syn_lagged_sums(const syn_lagged *p, uint32_t a, uint32_t b)
{
    size_t length = 2 * (size_t)p->ladder.margin + 1;
    return p->sum + ((size_t)b * p->units + a) * length + p->ladder.margin;
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
    syn_sides s =
        syn_sides_look(syn_lagged_sums(pairs, a, b), (int32_t)pairs->ladder.half[rung], lag);
    syn_excess_scale e = {.clumps = clumps_of(pairs, a, b, rung),
                          .common = pairs->common[place],
                          .spread = pairs->spread[place]};
    return (syn_lagged_window){.count = s.in, .expected = syn_excess_expected(s, e),
                               .z = syn_excess_z(s, e)};
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

typedef struct fitting {
    syn_lagged *pairs;
    uint32_t every;               /* one of so many pairs is looked at */
    const int32_t **sum;          /* [threads * FITTED] */
    double *clumps;               /* [threads * FITTED] */
    syn_excess_moments *moments;  /* [threads * (2 * lags + 1)] */
} fitting;

static syn_status fit_rung(void *context, size_t item, int worker)
{
    const fitting *f = context;
    syn_lagged *p = f->pairs;
    const syn_ladder *l = &p->ladder;
    uint32_t rung = (uint32_t)item, pair = 0;
    const int32_t **sum = f->sum + (size_t)worker * FITTED;
    double *clumps = f->clumps + (size_t)worker * FITTED;
    syn_excess_many many = {.sum = sum, .clumps = clumps, .mirrored = 1};
    for (uint32_t b = 1; b < p->units; b++)
        for (uint32_t a = 0; a < b; a++, pair++) {
            if (pair % f->every || many.n == FITTED)
                continue;
            sum[many.n] = syn_lagged_sums(p, a, b);
            clumps[many.n++] = clumps_of(p, a, b, rung);
        }
    uint32_t middle = l->first[rung] + l->reach[rung];
    syn_excess_fit(l, rung, &many, p->common + middle, p->spread + middle,
                   f->moments + (size_t)worker * (2 * l->lags + 1));
    return SYN_OK;
}

static syn_status fit(syn_lagged *p, const syn_watch *watch)
{
    uint64_t all = (uint64_t)p->units * (p->units - 1) / 2;
    fitting f = {.pairs = p, .every = (uint32_t)((all + FITTED - 1) / FITTED)};
    f.every = f.every > 0 ? f.every : 1;
    size_t threads = (size_t)p->threads;
    int ok = (f.sum = syn_budget_alloc(p->budget, threads * FITTED, sizeof *f.sum)) &&
             (f.clumps = syn_budget_alloc(p->budget, threads * FITTED,
                                          sizeof *f.clumps)) &&
             (f.moments = syn_budget_alloc(p->budget, threads * (2 * p->ladder.lags + 1),
                                           sizeof *f.moments));
    syn_status status = ok ? syn_parallel_for(p->ladder.rungs, p->threads, watch,
                                              "widths", fit_rung, &f)
                           : syn_budget_refusal(p->budget);
    syn_budget_free(p->budget, f.sum);
    syn_budget_free(p->budget, f.clumps);
    syn_budget_free(p->budget, f.moments);
    return status;
}

/* ---- counting ---- */

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

static syn_lagged_peak scan_rung(const syn_lagged *p, uint32_t a, uint32_t b,
                                 uint32_t rung)
{
    const syn_ladder *l = &p->ladder;
    int32_t reach = (int32_t)l->reach[rung], step = (int32_t)l->step[rung];
    const int32_t *sum = syn_lagged_sums(p, a, b);
    const double *common = p->common + l->first[rung] + reach;
    const double *spread = p->spread + l->first[rung] + reach;
    syn_excess_scale e = {.clumps = clumps_of(p, a, b, rung)};
    syn_lagged_peak peak = {0};
    for (int32_t k = -reach; k <= reach; k++) {
        syn_sides s = syn_sides_look(sum, (int32_t)l->half[rung], k * step);
        e.common = common[k];
        e.spread = spread[k];
        if (!syn_excess_may_pass(s, e, (double)peak.z * peak.z))
            continue;
        float z = (float)syn_excess_z(s, e);
        if (z > peak.z)
            peak = (syn_lagged_peak){.z = z, .lag = k * step};
    }
    return peak;
}

static syn_status scan_unit(void *context, size_t item, int worker)
{
    const scan *s = context;
    size_t units = s->pairs->units;
    (void)worker;
    for (uint32_t a = 0; a < item; a++)
        for (uint32_t r = 0; r < s->pairs->ladder.rungs; r++) {
            syn_lagged_peak peak = scan_rung(s->pairs, a, (uint32_t)item, r);
            syn_lagged_peak *of = s->peak + r * units * units;
            of[a * units + item] = peak;
            peak.lag = -peak.lag;
            of[item * units + a] = peak;
        }
    return SYN_OK;
}

syn_status syn_lagged_best(const syn_lagged *pairs, syn_lagged_peak *peak,
                           const syn_watch *watch)
{
    scan s = {.pairs = pairs, .peak = peak};
    return syn_parallel_for(pairs->units, pairs->threads, watch, "units", scan_unit, &s);
}
