/* Makes the jobs, whose shares workers take (worker.c), and their results. */
#include "core/edm/forecast/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/edm/smap/job.h"

/* ---- a job ---- */

/* Lists of a job: coordinates or candidates. */
typedef struct list {
    const syn_lagged *at;
    size_t n;
} list;

static list coordinates_of(const syn_forecast_call *c, size_t job)
{
    const size_t *start = c->jobs->coordinate_start + job;
    return (list){c->jobs->coordinate + start[0], start[1] - start[0]};
}

/* All of the job, not just those of a part. */
static list candidates_of(const syn_forecast_call *c, size_t job)
{
    const size_t *start = c->jobs->candidate_start + job;
    return (list){c->jobs->candidate + start[0], start[1] - start[0]};
}

static const double *series_at(const syn_forecast_call *c, uint32_t series)
{
    return c->series->value + (size_t)series * c->series->steps;
}

/* Sets `known` to 0 at the steps from `reach` on at which a series, `by` steps later, is
   not. */
static void mark_missing(const syn_forecast_call *c, uint32_t series, int64_t by,
                         uint32_t *known)
{
    const double *x = series_at(c, series);
    for (uint32_t t = c->options->reach; t + 1 < c->series->steps; t++)
        known[t] &= x[t + by] == x[t + by];
}

static void mark_list(const syn_forecast_call *c, list l, uint32_t *known)
{
    for (size_t k = 0; k < l.n; k++)
        mark_missing(c, l.at[k].series, -(int64_t)l.at[k].lag, known);
}

static syn_status find_rows(const syn_forecast_call *c, syn_forecast_job *j)
{
    uint32_t steps = c->series->steps;
    j->row = syn_take(&j->memory, steps, sizeof *j->row);
    if (!j->row)
        return SYN_NO_MEMORY;
    for (uint32_t t = 0; t < steps; t++)
        j->row[t] = 1;
    mark_missing(c, c->jobs->effect[j->job], 1, j->row);
    mark_list(c, coordinates_of(c, j->job), j->row);
    mark_list(c, candidates_of(c, j->job), j->row);
    for (uint32_t t = c->options->reach; t + 1 < steps; t++)
        if (j->row[t])
            j->row[j->n++] = t;
    return SYN_OK;
}

/* Whether a row has no other beyond the exclusion. */
static int any_alone(const syn_forecast_job *j, uint32_t exclusion)
{
    uint32_t last = j->row[j->n - 1];
    for (uint32_t i = 0; i < j->n; i++)
        if (j->row[i] - j->row[0] <= exclusion && last - j->row[i] <= exclusion)
            return 1;
    return 0;
}

/* Term k of all rows: what a series is `by` steps later, less a number near the mean; of
   a constant, that number is the constant. */
static void fill_term(syn_forecast_job *j, uint32_t k, const double *x, int64_t by)
{
    double first = x[j->row[0] + by], sum = 0;
    for (uint32_t i = 0; i < j->n; i++)
        sum += x[j->row[i] + by] - first;
    double centre = first + sum / j->n;
    for (size_t i = 0; i < j->n; i++)
        j->value[i * j->terms.pitch + k] = x[j->row[i] + by] - centre;
}

static void fill_terms(const syn_forecast_call *c, syn_forecast_job *j)
{
    list of = coordinates_of(c, j->job);
    for (uint32_t k = 0; k < j->dims; k++) {
        double *to = j->coordinate + k * j->stride;
        fill_term(j, k + 1, series_at(c, of.at[k].series), -(int64_t)of.at[k].lag);
        for (size_t i = 0; i < j->n; i++)
            to[i] = j->value[i * j->terms.pitch + k + 1];
    }
    fill_term(j, j->dims + 1, series_at(c, c->jobs->effect[j->job]), 1);
    for (size_t i = 0; i < j->n; i++)
        j->value[i * j->terms.pitch] = 1;
}

static void fill_candidates(const syn_forecast_call *c, syn_forecast_job *j)
{
    for (uint32_t k = 0; k < j->candidates; k++) {
        syn_lagged of = c->jobs->candidate[j->first + k];
        const double *x = series_at(c, of.series);
        double *to = j->candidate +
                     k / SYN_FORECAST_SIDE * j->stride * SYN_FORECAST_SIDE +
                     k % SYN_FORECAST_SIDE;
        for (size_t i = 0; i < j->n; i++)
            to[i * SYN_FORECAST_SIDE] = x[j->row[i] - of.lag];
    }
}

/* The doubles of each array of the job. */
typedef struct sizes {
    size_t coordinate, value, candidate, error, fall, total;
} sizes;

static sizes sizes_of(const syn_forecast_job *j)
{
    size_t side = (size_t)j->octets * SYN_FORECAST_SIDE;
    return (sizes){j->dims * j->stride, j->stride * j->terms.pitch + SYN_SMAP_PADDING,
                   side * j->stride, (size_t)j->thetas * j->n, j->thetas * side * j->n,
                   j->terms.products + syn_forecast_before(j, j->octets)};
}

/* Numbers that follow from those of rows, coordinates and candidates. */
static void shape(syn_forecast_job *j)
{
    j->octets = (j->candidates + SYN_FORECAST_SIDE - 1) / SYN_FORECAST_SIDE;
    j->stride = syn_smap_job_stride(j->n);
    j->terms.n = j->dims + 2;
    j->terms.pitch = syn_smap_padded(j->terms.n, SYN_SMAP_PADDING);
    j->terms.products = syn_smap_products(j->terms.n);
}

static syn_status take_memory(syn_forecast_job *j)
{
    sizes s = sizes_of(j);
    j->coordinate = syn_take(&j->memory, s.coordinate, sizeof *j->coordinate);
    j->value = syn_take(&j->memory, s.value, sizeof *j->value);
    j->candidate = syn_take(&j->memory, s.candidate, sizeof *j->candidate);
    j->error = syn_take(&j->memory, s.error, sizeof *j->error);
    j->fall = syn_take(&j->memory, s.fall, sizeof *j->fall);
    j->terms.value = j->value;
    return syn_taken(&j->memory);
}

/* Gives slots to the thetas, those of 0 last. */
static void order_thetas(const syn_forecast_call *c, syn_forecast_job *j)
{
    const double *theta = c->jobs->theta + j->job;
    uint32_t slot = 0;
    for (int zero = 0; zero < 2; zero++) {
        for (uint32_t k = 0; k < j->thetas; k++)
            if ((theta[k] == 0) == zero)
                j->of[slot++] = k;
        j->weighed = zero ? j->weighed : slot;
    }
}

/* Whether the fourth power of any value is so large beside the sum over all rows that the
   sum, less it, has lost digits that the ridge needs. */
static int any_far(const syn_forecast_job *j, const double *value, size_t n)
{
    double most = sqrt(sqrt(100.0 * j->n));
    for (size_t i = 0; i < n; i++)
        if (fabs(value[i]) > most)
            return 1;
    return 0;
}

/* Where all rows weigh the same, few are left out and none is far from the others, sums
   over all others are those over all rows less a few. */
static syn_status make_total(const syn_forecast_call *c, syn_forecast_job *j,
                             syn_forecast_worker *worker)
{
    sizes s = sizes_of(j);
    order_thetas(c, j);
    if (4.0 * c->options->exclusion + 2 > j->n || any_far(j, j->value, s.value) ||
        any_far(j, j->candidate, s.candidate))
        j->weighed = j->thetas;
    if (j->weighed == j->thetas)
        return SYN_OK;
    j->total = syn_take(&j->memory, s.total, sizeof *j->total);
    if (!j->total)
        return SYN_NO_MEMORY;
    syn_forecast_job_total(c, j, worker);
    return SYN_OK;
}

syn_status syn_forecast_job_make(const syn_forecast_call *call, syn_forecast_job *j,
                                 syn_forecast_worker *worker)
{
    j->dims = (uint32_t)coordinates_of(call, j->job).n;
    syn_status status = find_rows(call, j);
    if (status != SYN_OK || j->n < syn_forecast_least(j->dims) ||
        any_alone(j, call->options->exclusion))
        return status;
    shape(j);
    status = take_memory(j);
    if (status != SYN_OK)
        return status;
    fill_terms(call, j);
    fill_candidates(call, j);
    j->block = syn_forecast_block(j->n, j->thetas);
    j->shares = (j->n + j->block - 1) / j->block;
    return make_total(call, j, worker);
}

size_t syn_forecast_job_room(const syn_forecast_call *call, const syn_forecast_job *job)
{
    syn_forecast_job most = *job;
    most.dims = (uint32_t)coordinates_of(call, job->job).n;
    most.n = call->series->steps;
    shape(&most);
    sizes s = sizes_of(&most);
    return most.n + s.coordinate + s.value + s.candidate + s.error + s.fall + s.total;
}

/* ---- results ---- */

static double t_of(double mean, double variance, double error, uint32_t rows)
{
    double least = SYN_FORECAST_SPREAD * error;
    if (isnan(variance))
        return NAN;
    return variance > least * least ? mean / sqrt(variance / rows) : 0;
}

/* Results of the candidates of an octet. */
static void finish_octet(const syn_forecast_call *call, const syn_forecast_job *j,
                         double *fall, uint32_t side, double error, double *gain,
                         double *t)
{
    double mean[SYN_FORECAST_SIDE], variance[SYN_FORECAST_SIDE];
    call->kind->assess(fall, j->n, syn_forecast_lags(j->n), mean, variance);
    for (uint32_t k = 0; k < side; k++) {
        gain[k] = error > 0 ? mean[k] / error : NAN;
        t[k] = t_of(mean[k], variance[k], error, j->n);
    }
}

/* Parts of a job, which have some of its candidates each, may be finished at the same
   time: the first of them alone writes what they have in common. */
static int is_first_part(const syn_forecast_call *call, const syn_forecast_job *j)
{
    return j->first == call->jobs->candidate_start[j->job];
}

/* Results of the job in a slot. */
static void finish_slot(const syn_forecast_call *call, const syn_forecast_job *j,
                        uint32_t slot, const syn_forecasts *out)
{
    size_t job = j->job + j->of[slot], first = j->first + j->of[slot] * j->candidates;
    double *fall = j->fall + (size_t)slot * j->octets * j->n * SYN_FORECAST_SIDE, sum = 0;
    const double *error = j->error + (size_t)slot * j->n;
    for (uint32_t i = 0; i < j->n; i++)
        sum += error[i] * error[i];
    if (is_first_part(call, j))
        out->error[job] = sum / j->n;
    for (uint32_t o = 0; o < j->octets; o++, fall += (size_t)j->n * SYN_FORECAST_SIDE) {
        finish_octet(call, j, fall, syn_forecast_side(j, o), sum / j->n,
                     out->gain + first, out->t + first);
        first += SYN_FORECAST_SIDE;
    }
}

void syn_forecast_job_finish(const syn_forecast_call *call, const syn_forecast_job *j,
                             const syn_forecasts *out)
{
    for (uint32_t k = 0; k < j->thetas && is_first_part(call, j); k++) {
        out->rows[j->job + k] = j->n;
        out->error[j->job + k] = NAN;
    }
    for (size_t k = 0; k < (size_t)j->candidates * j->thetas; k++)
        out->gain[j->first + k] = out->t[j->first + k] = NAN;
    for (uint32_t slot = 0; slot < j->thetas && j->shares > 0; slot++)
        finish_slot(call, j, slot, out);
}
