/* A series after the other, each by one thread: its values that are known are put next to
   each other, and looked at step by step, so that long series can be stopped. */
#include "core/edm/model/traits.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/arrays.h"
#include "core/base/hash.h"
#include "core/base/parallel.h"
#include "core/base/simd.h"
#include "core/edm/model/seasons.h"

/* What a thread needs for its series. */
typedef struct worker {
    double *value;      /* [steps + room for lags] values that are known, then zeros */
    syn_run *run;       /* [steps + 1] */
    uint32_t *slot;     /* [slots] one more than a value's index, or 0 */
    uint32_t *times;    /* [steps] how often the value is there */
    double *shared;     /* [lags] sums of products */
    syn_round round;
    uint32_t next;      /* the period, or the row, that is looked at next; 0 before */
    int stage;
} worker;

enum { READ, SEASON, DRIFT };

typedef struct traits_job {
    const syn_series *series;
    const int *first;
    const uint32_t *period;
    size_t slots;       /* a power of 2, at least twice the steps */
    worker *worker;
    syn_traits *traits;
    syn_activity *activity;
    double *out;
    syn_arrays memory;
} traits_job;

/* ---- the values of a series ---- */

/* Lags of the long-run variance, a whole number of registers. */
static uint32_t lags_of(uint32_t n)
{
    double lags = floor(12 * pow(n / 100.0, 0.25));
    return lags < n ? (uint32_t)lags : n - 1;
}

static size_t lag_room(uint32_t n) { return n > 0 ? lags_of(n) + SYN_F64_LANES : 0; }

/* Known values and the largest of their sizes. */
static uint32_t known_values(const double *x, uint32_t steps, double *to, double *size)
{
    uint32_t n = 0;
    *size = 0;
    for (uint32_t i = 0; i < steps; i++)
        if (!isnan(x[i])) {
            to[n++] = x[i];
            *size = fabs(x[i]) > *size ? fabs(x[i]) : *size;
        }
    return n;
}

/* What values of this size differ by where they are one and the same. */
static double rounding_of(double size) { return 8 * DBL_EPSILON * size; }

static int all_alike(const double *x, uint32_t n, double size)
{
    double low = INFINITY, high = -INFINITY, same = rounding_of(size);
    for (uint32_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
        if (high - low > same)
            return 0;
    }
    return n == 0 || high - low <= same;
}

static int is_constant(const double *x, uint32_t n, double size)
{
    return n < SYN_TRAITS_LEAST || all_alike(x, n, size);
}

/* A power of two near `size`, not 0: squares of what is divided by it are numbers. */
static double unit_of(double size)
{
    int exponent;
    frexp(size, &exponent);
    return ldexp(1, exponent - 1);
}

static double mean_of(const double *x, uint32_t n)
{
    double sum = 0, rest = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i];
    double mean = sum / n;
    for (uint32_t i = 0; i < n; i++)
        rest += x[i] - mean;
    return mean + rest / n;
}

/* Divides by `unit` and takes the mean away; gives the sum of squares of what is left. */
static double centre(double *x, uint32_t n, double unit)
{
    double squares = 0;
    for (uint32_t i = 0; i < n; i++)
        x[i] /= unit;
    double mean = mean_of(x, n);
    for (uint32_t i = 0; i < n; i++) {
        x[i] -= mean;
        squares += x[i] * x[i];
    }
    return squares;
}

/* How often the most common value is there. */
static uint32_t most_common(const traits_job *job, worker *w, uint32_t n)
{
    uint32_t most = 0;
    memset(w->slot, 0, job->slots * sizeof *w->slot);
    for (uint32_t i = 0; i < n; i++) {
        double value = w->value[i] + 0.0;  /* -0 is 0 */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        size_t at = (size_t)(syn_hash_more(0, bits) >> 20) & (job->slots - 1);
        while (w->slot[at] > 0 && w->value[w->slot[at] - 1] != value)
            at = (at + 1) & (job->slots - 1);
        if (w->slot[at] == 0) {
            w->slot[at] = i + 1;
            w->times[i] = 0;
        }
        uint32_t times = ++w->times[w->slot[at] - 1];
        most = times > most ? times : most;
    }
    return most;
}

/* Cuts known values into runs, and at the half. */
static void find_runs(const double *x, const int *first, uint32_t steps, worker *w)
{
    uint32_t known = 0, half = w->round.n / 2;
    int begin = 1;
    w->round.runs = w->round.early = 0;
    for (uint32_t i = 0; i < steps; i++) {
        begin |= i > 0 && first[i] != first[i - 1];
        if (isnan(x[i])) {
            begin = 1;
            continue;
        }
        if (known == half) {
            begin = 1;
            w->round.early = w->round.runs;
        }
        if (begin)
            w->run[w->round.runs++] = (syn_run){i + 1 - (uint32_t)first[i], 0};
        w->run[w->round.runs - 1].n++;
        known++;
        begin = 0;
    }
}

/* ---- drift ---- */

/* Adds the products of values with later ones, from row `w->next` on, for a while. */
static void add_products(worker *w, uint32_t n, uint32_t lags)
{
    uint32_t end = n - w->next > 1 << 14 ? w->next + (1 << 14) : n;
    for (uint32_t i = w->next; i < end; i++) {
        syn_f64 value = syn_f64_all(w->value[i]);
        for (uint32_t k = 0; k < lags; k += SYN_F64_LANES)
            syn_f64_store(w->shared + k, syn_f64_load(w->shared + k) +
                                             value * syn_f64_load(w->value + i + 1 + k));
    }
    w->next = end;
}

/* Does a series come back to where it was (Kwiatkowski et al. 1992)? The mean square of
   its sums over n times its long-run variance, by Bartlett's weights. A regular series
   may have almost none of that: then a hundredth of its variance is taken. */
static double drift_of(const worker *w, uint32_t n, uint32_t lags)
{
    double weighed = 0, sum = 0, squares = 0;
    for (uint32_t k = 0; k < lags; k++)
        weighed += (1 - (k + 1.0) / (lags + 1.0)) * w->shared[k];
    double long_run = fmax(w->round.squares + 2 * weighed, w->round.squares / 100);
    for (uint32_t i = 0; i < n; i++) {
        sum += w->value[i];
        squares += sum * sum;
    }
    return squares / (n * long_run);
}

/* ---- traits ---- */

static void read_series(const traits_job *job, size_t item, worker *w)
{
    const double *x = job->series->value + item * job->series->steps;
    syn_traits *out = job->traits + item;
    double size;
    *out = (syn_traits){.known = known_values(x, job->series->steps, w->value, &size)};
    uint32_t n = out->known;
    out->constant = is_constant(w->value, n, size);
    if (out->constant)
        return;
    out->repeated = (double)most_common(job, w, n) / n;
    w->round.squares = centre(w->value, n, unit_of(size));
    w->round.value = w->value;
    w->round.run = w->run;
    w->round.n = n;
    find_runs(x, job->first, job->series->steps, w);
    memset(w->value + n, 0, lag_room(n) * sizeof *w->value);
    memset(w->shared, 0, lag_room(n) * sizeof *w->shared);
    w->stage = SEASON;
    /* Shorter periods follow from those whose half is too long to be looked at. */
    w->next = syn_season_longest(n) / 2 + 1;
}

/* One step of what is to be done for a series; 0 once that is all. */
static int look_on(const traits_job *job, size_t item, worker *w)
{
    syn_traits *out = job->traits + item;
    uint32_t n = out->known;
    if (w->stage == READ) {
        read_series(job, item, w);
        return !out->constant;
    }
    if (w->stage == SEASON) {
        if (w->next <= syn_season_longest(n)) {
            syn_season_shares(&w->round, w->next++);
            return 1;
        }
        out->period = syn_season_best(&w->round, &out->explained);
        w->stage = DRIFT;
        w->next = 0;
        return 1;
    }
    add_products(w, n, lags_of(n));
    if (w->next < n)
        return 1;
    out->drift = drift_of(w, n, lags_of(n));
    return 0;
}

static syn_status find_traits(void *context, size_t item, int thread)
{
    const traits_job *job = context;
    worker *w = job->worker + thread;
    double started = syn_seconds();
    while (look_on(job, item, w))
        if (syn_seconds() - started > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
    w->stage = READ;
    return SYN_OK;
}

static syn_status make_workers(traits_job *job, int threads)
{
    syn_arrays *memory = &job->memory;
    size_t steps = job->series->steps, lags = lag_room((uint32_t)steps);
    SYN_ARRAY(memory, job->worker, (size_t)threads);
    for (int i = 0; i < threads; i++) {
        worker *w = &job->worker[i];
        SYN_ARRAY(memory, w->value, steps + lags + SYN_F64_LANES);
        SYN_ARRAY(memory, w->run, steps + 1);
        SYN_ARRAY(memory, w->slot, job->slots);
        SYN_ARRAY(memory, w->times, steps);
        SYN_ARRAY(memory, w->shared, lags);
    }
    return SYN_OK;
}

/* Looks at all series, with what that takes for each thread. */
static syn_status look_at_all(traits_job *job, int threads, const syn_watch *watch,
                              syn_body *look)
{
    threads = threads > 1 ? threads : 1;
    syn_status status = make_workers(job, threads);
    SYN_NEXT(status,
             syn_parallel_for(job->series->n, threads, watch, "series", look, job));
    syn_give_back(&job->memory);
    return status;
}

syn_status syn_traits_find(const syn_series *series, const int *first, int threads,
                           const syn_watch *watch, syn_traits *out)
{
    traits_job job = {.series = series, .first = first, .slots = 2, .traits = out};
    while (job.slots / 2 < series->steps)
        job.slots *= 2;
    return look_at_all(&job, threads, watch, find_traits);
}

/* ---- activity ---- */

/* The value of more than half of all, NaN without one: every other value has an
   opponent among those that are it (Boyer and Moore). */
static double usual_value(const double *x, uint32_t n, double same)
{
    double usual = NAN;
    uint32_t ahead = 0, times = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (ahead == 0)
            usual = x[i];
        ahead += fabs(x[i] - usual) <= same ? 1 : -1;
    }
    for (uint32_t i = 0; i < n; i++)
        times += fabs(x[i] - usual) <= same;
    return times > n / 2 ? usual : NAN;
}

static uint32_t events_of(const double *x, uint32_t n, double same)
{
    double usual = usual_value(x, n, same), before = 0;
    uint32_t events = 0;
    int away = 0;
    if (isnan(usual))
        return INT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        double off = fabs(x[i] - usual);
        events += away && off < before - same;
        away = off > before + same || (away && off >= before - same);
        before = off;
    }
    return events + (uint32_t)away;
}

/* Gaps count as the mean. */
static uint32_t memory_of(double *x, uint32_t steps, uint32_t n, double unit)
{
    double sum = 0, squares = 0, over_unit = 1 / unit;
    memset(x + steps, 0, SYN_F64_LANES * sizeof *x);
    for (uint32_t i = 0; i < steps; i++) {
        x[i] *= over_unit;
        sum += isnan(x[i]) ? 0 : x[i];
    }
    double mean = sum / n;
    for (uint32_t i = 0; i < steps; i++) {
        x[i] = isnan(x[i]) ? 0 : x[i] - mean;
        squares += x[i] * x[i];
    }
    for (uint32_t lag = 1; lag < steps / 10; lag++) {
        syn_f64 sum = syn_f64_all(0);
        double shared = 0;
        for (uint32_t i = 0; i + lag < steps; i += SYN_F64_LANES)
            sum += syn_f64_load(x + i) * syn_f64_load(x + i + lag);
        for (int k = 0; k < SYN_F64_LANES; k++)
            shared += sum[k];
        if (shared < exp(-1) * squares)
            return lag;
    }
    return steps / 10;
}

static syn_status find_activity(void *context, size_t item, int thread)
{
    const traits_job *job = context;
    uint32_t steps = job->series->steps;
    const double *x = job->series->value + item * steps;
    double *room = job->worker[thread].value, size;
    uint32_t n = known_values(x, steps, room, &size);
    syn_activity *out = job->activity + item;
    *out = (syn_activity){.constant = all_alike(room, n, size)};
    if (out->constant)
        return SYN_OK;
    out->events = events_of(room, n, rounding_of(size));
    memcpy(room, x, steps * sizeof *room);
    out->memory = memory_of(room, steps, n, unit_of(size));
    return SYN_OK;
}

syn_status syn_activity_find(const syn_series *series, int threads,
                             const syn_watch *watch, syn_activity *out)
{
    traits_job job = {.series = series, .activity = out};
    return look_at_all(&job, threads, watch, find_activity);
}

/* ---- standard units ---- */

static syn_status standardise(void *context, size_t item, int thread)
{
    const traits_job *job = context;
    uint32_t steps = job->series->steps;
    const double *x = job->series->value + item * steps;
    double *out = job->out + item * steps, size;
    (void)thread;
    uint32_t n = known_values(x, steps, out, &size);
    if (is_constant(out, n, size)) {
        memset(out, 0, steps * sizeof *out);
        return SYN_OK;
    }
    double spread = sqrt(centre(out, n, unit_of(size)) / (n - 1));
    /* From the last row on, as values stand before their rows. */
    for (uint32_t i = steps; i-- > 0;)
        out[i] = isnan(x[i]) ? x[i] : out[--n] / spread;
    return SYN_OK;
}

syn_status syn_standard_units(const syn_series *series, int threads,
                              const syn_watch *watch, double *out)
{
    traits_job job = {.series = series, .out = out};
    return syn_parallel_for(series->n, threads, watch, "series", standardise, &job);
}

/* ---- season ---- */

static uint32_t place_at(const traits_job *job, uint32_t row, uint32_t period)
{
    return (row + 1 - (uint32_t)job->first[row]) % period;
}

/* Means of all places; once more for what rounding has left. */
static void place_means(const traits_job *job, const double *x, uint32_t period,
                        double *mean)
{
    double left[SYN_SEASON_MOST];
    uint32_t count[SYN_SEASON_MOST];
    memset(mean, 0, period * sizeof *mean);
    for (int pass = 0; pass < 2; pass++) {
        memset(left, 0, sizeof left);
        memset(count, 0, sizeof count);
        for (uint32_t i = 0; i < job->series->steps; i++)
            if (!isnan(x[i])) {
                uint32_t place = place_at(job, i, period);
                left[place] += x[i] - mean[place];
                count[place]++;
            }
        for (uint32_t i = 0; i < period; i++)
            mean[i] += left[i] / count[i];
    }
}

static syn_status spread_means(void *context, size_t item, int thread)
{
    const traits_job *job = context;
    uint32_t steps = job->series->steps, period = job->period[item];
    double mean[SYN_SEASON_MOST];
    (void)thread;
    place_means(job, job->series->value + item * steps, period, mean);
    for (uint32_t i = 0; i < steps; i++)
        job->out[item * steps + i] = mean[place_at(job, i, period)];
    return SYN_OK;
}

syn_status syn_season_means(const syn_series *series, const int *first,
                            const uint32_t *period, int threads, const syn_watch *watch,
                            double *out)
{
    traits_job job = {.series = series, .first = first, .period = period, .out = out};
    return syn_parallel_for(series->n, threads, watch, "series", spread_means, &job);
}
