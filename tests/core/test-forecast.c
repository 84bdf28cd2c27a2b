/* Conditional forecasts: threads, lists before and after, and registers of any width give
   the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/edm/forecast/forecast.h"

enum { SERIES = 7, STEPS = 170, JOBS = 12, REACH = 3, MOST_CANDIDATES = 70 };

/* Jobs, in room for as many as there may be; their results. */
typedef struct work {
    double value[SERIES * STEPS];
    syn_series series;
    uint32_t effect[JOBS];
    double theta[JOBS];
    size_t coordinate_start[JOBS + 1], candidate_start[JOBS + 1];
    syn_lagged coordinate[JOBS * SYN_FORECAST_MOST], candidate[JOBS * MOST_CANDIDATES];
    syn_forecast_jobs jobs;
} work;

typedef struct results {
    uint32_t rows[JOBS];
    double error[JOBS], gain[JOBS * MOST_CANDIDATES], t[JOBS * MOST_CANDIDATES];
    double missed[JOBS * STEPS];
} results;

/* Noise, a sum of others, rare spikes, a constant; now and then a value is missing. */
static void draw_series(work *w)
{
    for (int t = 0; t < STEPS; t++) {
        double *x = w->value + t;
        for (int i = 0; i < SERIES; i++)
            x[i * STEPS] = 4 * (draw_share() - 0.5);
        x[3 * STEPS] = x[0] + x[STEPS];
        x[4 * STEPS] = draw(30) == 0 ? 5 : -0.2;
        x[5 * STEPS] = 0;
    }
    for (int i = 0; i < 4; i++)
        w->value[2 * STEPS + draw(STEPS)] = NAN;
    w->series = (syn_series){SERIES, STEPS, w->value};
}

static size_t draw_list(syn_lagged *list, size_t from, uint32_t n)
{
    for (size_t i = from; i < from + n; i++)
        list[i] = (syn_lagged){draw(SERIES), draw(REACH + 1)};
    return from + n;
}

/* Every third job is the one before with another theta. */
static void draw_jobs(work *w)
{
    static const double theta[] = {0, 0.5, 2, 8, 60};
    static const uint32_t candidates[] = {0, 1, 3, 8, 13, MOST_CANDIDATES};
    w->coordinate_start[0] = w->candidate_start[0] = 0;
    for (int i = 0; i < JOBS; i++) {
        size_t *c = w->coordinate_start + i, *k = w->candidate_start + i;
        int same = i % 3 == 2;
        w->effect[i] = same ? w->effect[i - 1] : draw(SERIES);
        w->theta[i] = theta[draw(5)];
        c[1] = draw_list(w->coordinate, c[0], 1 + draw(SYN_FORECAST_MOST));
        k[1] = draw_list(w->candidate, k[0], candidates[draw(6)]);
        if (!same)
            continue;
        c[1] = 2 * c[0] - c[-1];
        k[1] = 2 * k[0] - k[-1];
        memcpy(w->coordinate + c[0], w->coordinate + c[-1],
               (c[1] - c[0]) * sizeof *w->coordinate);
        memcpy(w->candidate + k[0], w->candidate + k[-1],
               (k[1] - k[0]) * sizeof *w->candidate);
    }
    w->jobs = (syn_forecast_jobs){JOBS, w->effect, w->theta, w->coordinate_start,
                                  w->coordinate, w->candidate_start, w->candidate};
}

static void run(const work *w, const syn_forecast_jobs *jobs, uint32_t exclusion,
                int threads, int bits, results *to)
{
    syn_forecast_options options = {REACH, exclusion, threads, bits};
    syn_forecasts out = {to->rows, to->error, to->gain, to->t, to->missed};
    memset(to, 0, sizeof *to);
    CHECK(syn_forecast(&w->series, jobs, &options, NULL, &out) == SYN_OK);
}

/* The largest difference of `n` numbers by one more than their size. */
static double difference(const double *a, const double *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(a[i]) != isnan(b[i]))
            return INFINITY;
        if (!isnan(a[i]))
            most = fmax(most, fabs(a[i] - b[i]) / (1 + fabs(b[i])));
    }
    return most;
}

/* Each job by itself gives what it gives among others. */
static void check_alone(const work *w, uint32_t exclusion, const results *all)
{
    static results one;
    for (int i = 0; i < JOBS; i++) {
        size_t c = w->coordinate_start[i], k = w->candidate_start[i];
        size_t n = w->candidate_start[i + 1] - k;
        size_t coordinates[] = {0, w->coordinate_start[i + 1] - c}, candidates[] = {0, n};
        syn_forecast_jobs job = {1, w->effect + i, w->theta + i, coordinates,
                                 w->coordinate + c, candidates, w->candidate + k};
        run(w, &job, exclusion, 1, 0, &one);
        CHECK(one.rows[0] == all->rows[i]);
        CHECK(memcmp(one.error, all->error + i, sizeof *one.error) == 0);
        CHECK(memcmp(one.missed, all->missed + i * STEPS, STEPS * sizeof *one.missed) == 0);
        CHECK(memcmp(one.gain, all->gain + k, n * sizeof *one.gain) == 0);
        CHECK(memcmp(one.t, all->t + k, n * sizeof *one.t) == 0);
    }
}

/* The error of a job is the mean square of what its forecasts miss. */
static void check_missed(const results *all)
{
    for (int i = 0; i < JOBS; i++) {
        double sum = 0;
        uint32_t rows = 0;
        for (int t = 0; t < STEPS; t++) {
            double missed = all->missed[i * STEPS + t];
            sum += isnan(missed) ? 0 : missed * missed;
            rows += !isnan(missed);
        }
        CHECK(rows == (isnan(all->error[i]) ? 0 : all->rows[i]));
        CHECK(rows == 0 || fabs(sum / rows - all->error[i]) <= 1e-12 * all->error[i]);
    }
}

static void check_ways(uint32_t exclusion)
{
    static work w;
    static results first, other;
    draw_series(&w);
    draw_jobs(&w);
    size_t all = w.candidate_start[JOBS];
    run(&w, &w.jobs, exclusion, 1, 0, &first);
    run(&w, &w.jobs, exclusion, TEST_THREADS, 0, &other);
    CHECK(memcmp(&first, &other, sizeof first) == 0);
    check_alone(&w, exclusion, &first);
    check_missed(&first);
    static const int bits[] = {1, 256, 512};
    for (int k = 0; k < 3; k++) {
        run(&w, &w.jobs, exclusion, TEST_THREADS, bits[k], &other);
        CHECK(memcmp(first.rows, other.rows, sizeof first.rows) == 0);
        CHECK(difference(other.error, first.error, JOBS) < 1e-8);
        CHECK(difference(other.missed, first.missed, JOBS * STEPS) < 1e-8);
        CHECK(difference(other.gain, first.gain, all) < 1e-6);
        CHECK(difference(other.t, first.t, all) < 1e-5);
    }
}

void test_forecast(void)
{
    check_ways(0);
    check_ways(5);
    check_ways(50);
    check_ways(90);
}
