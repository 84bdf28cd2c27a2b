/* Spikes of two units around lag 0, beside a line in |lag|. */
#include "core/synapses/centre.h"

#include "core/base/parallel.h"

enum { PAIRS_A_STEP = 4096 };

typedef struct work {
    const syn_scan_work *scan;
    const syn_centre_options *o;
    const syn_centre_columns *out;
    double mean, spread;  /* of |lag| where the line is fitted; sum of squares */
} work;

/* Coefficient of the bins at |lag| t for the sum of the line over lags of up to
   `near`. */
static double coefficient(const work *w, double t, double near)
{
    double bins = 2 * near + 1, sum = near * (near + 1);
    double n = 2.0 * (w->o->to - w->o->from + 1);
    return bins / n + (sum - bins * w->mean) * (t - w->mean) / w->spread;
}

static void centre_pair(const work *w, size_t p)
{
    const syn_centre_options *o = w->o;
    const int32_t *c = syn_lag_counts_of(&w->scan->counts, w->scan->pairs.a[p],
                                         w->scan->pairs.b[p]);
    int32_t near = (int32_t)o->near, same = (int32_t)o->same;
    double bins = 2.0 * near + 1, count = 0, close = 0, line = 0, all = 0, noise = 0;
    for (int32_t t = -near; t <= near; t++)
        count += c[t];
    for (int32_t t = -same; t <= same; t++)
        close += c[t];
    for (int32_t t = (int32_t)o->from; t <= (int32_t)o->to; t++) {
        double q = coefficient(w, t, near), both = (double)c[t] + c[-t];
        line += q * both;
        all += both;
        noise += 2 * q * q / bins;
    }
    double least = 0.5 * bins * all / (2.0 * (o->to - o->from + 1));
    double expected = line > least ? line : least;
    expected = expected > 1e-3 ? expected : 1e-3;
    double half = (count > 0 ? count * log(count / expected) : 0) - (count - expected);
    double root = half > 0 ? sqrt(2 * half / (1 + noise)) : 0;
    double around = 0;
    for (int32_t t = (int32_t)o->to + 1; t <= (int32_t)w->scan->counts.lags; t++)
        around += (double)c[t] + c[-t];
    w->out->around[p] = bins * around / (2.0 * (w->scan->counts.lags - o->to));
    w->out->z[p] = count >= expected ? root : -root;
    w->out->count[p] = count;
    w->out->expected[p] = expected;
    w->out->same[p] = close - expected * (2.0 * same + 1) / bins;
}

static syn_status centre_step(void *context, size_t item, int thread)
{
    (void)thread;
    const work *w = context;
    size_t end = (item + 1) * PAIRS_A_STEP;
    for (size_t p = item * PAIRS_A_STEP; p < end && p < w->scan->pairs.n; p++)
        centre_pair(w, p);
    return SYN_OK;
}

syn_status syn_centre_pairs(const syn_scan_work *scan, const syn_centre_options *o,
                            const syn_centre_columns *out)
{
    work w = {scan, o, out, 0.5 * ((double)o->from + o->to), 0};
    for (uint32_t t = o->from; t <= o->to; t++)
        w.spread += 2 * (t - w.mean) * (t - w.mean);
    size_t steps = (scan->pairs.n + PAIRS_A_STEP - 1) / PAIRS_A_STEP;
    return syn_parallel_for(steps, steps > 1 ? scan->threads : 1, scan->watch, "pairs",
                            centre_step, &w);
}
