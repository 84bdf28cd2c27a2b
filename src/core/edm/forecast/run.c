/* Jobs with many candidates are cut into parts, which are jobs of their own with the same
   rows. Some jobs at a time, a batch, are made, worked on by all threads share by share,
   and finished. */
#include <string.h>

#include "core/base/parallel.h"
#include "core/edm/forecast/kind.h"
#include "core/edm/model/shares.h"
#include "core/edm/smap/job.h"

/* ---- one job ----

   Makes jobs and their results, and works on their shares. A share is a block of rows
   that are forecast from, with all thetas: their distances to all rows; block by block of
   these the squared weights, and what they add to the sums of all equations; then for
   each forecast its model, and what the candidates change. Forecasts are in the order of
   thetas, each with the same number of rows, some of which may be of none. */

enum {
    FORECAST_BLOCK = 12 * SYN_SMAP_ROWS, /* forecasts that are made together, */
    FORECAST_ROWS = 8 * SYN_SMAP_ROWS,   /* of so many rows at most */
    FORECAST_OCTETS = 8,                 /* most of a job: longer lists are cut */
    FORECAST_THETAS = 8                  /* most of a job */
};

/* What all jobs of a call have in common. */
typedef struct forecast_call {
    const syn_series *series;
    const syn_forecast_jobs *jobs;
    const syn_forecast_options *options;
    const syn_smap_kind *smap;
    const syn_smap_product *product;
    const syn_forecast_kind *kind;
} forecast_call;

typedef struct forecast_job {
    size_t job;                /* its number, or that of the first, */
    size_t first;              /* and that of its first candidate here */
    uint32_t candidates, octets;
    uint32_t thetas;           /* jobs: that of slot k is job + of[k], */
    uint32_t of[FORECAST_THETAS];
    uint32_t weighed;          /* and the slots from here on have theta 0 */
    uint32_t dims;
    uint32_t n;                /* rows */
    uint32_t block, shares;    /* rows of a share, and how many shares: none where there
                                  are no results */
    uint32_t *row;             /* [n] steps, increasing */
    size_t stride;             /* of rows, a multiple of SYN_SMAP_POINTS */
    double *coordinate;        /* [dims][stride] less their centre */
    syn_smap_terms terms;      /* of the rows: 1, coordinates, effect, less centres */
    double *value;
    double *candidate;         /* [octets][stride][SYN_FORECAST_SIDE] */
    double *error;             /* [thetas][n] without a candidate */
    double *fall;              /* [thetas][octets][n][SYN_FORECAST_SIDE] of the squared
                                  error */
    double *total;             /* [products + sums of octets] over all rows; NULL where no
                                  slot takes its own sums from these */
    syn_arrays memory;
} forecast_job;

/* What a thread needs. */
typedef struct forecast_worker forecast_worker;

/* How many candidates an octet has. */
static uint32_t side_of(const forecast_job *job, uint32_t octet)
{
    uint32_t left = job->candidates - octet * SYN_FORECAST_SIDE;
    return left < SYN_FORECAST_SIDE ? left : SYN_FORECAST_SIDE;
}

/* The sums that an octet has of a forecast, */
static size_t sums_of(const forecast_job *job, uint32_t octet)
{
    return syn_forecast_columns(job->dims, side_of(job, octet));
}

/* and those that all octets before it have. */
static size_t sums_before(const forecast_job *job, uint32_t octet)
{
    return octet * syn_forecast_columns(job->dims, SYN_FORECAST_SIDE);
}

typedef enum phase { BEGIN, MEASURE, WEIGH, SOLVE, END } phase;

struct forecast_worker {
    phase phase;
    uint32_t first, n;          /* rows that are forecast from, */
    uint32_t pitch;             /* and n made a multiple of SYN_SMAP_ROWS */
    size_t point;               /* rows before are done in this phase, */
    uint32_t done;              /* and so are forecasts before */
    syn_smap_near near[FORECAST_ROWS];
    double *to;                 /* [dims][SYN_SMAP_SIDE] points of some forecasts */
    double *distance;           /* [rows][stride] */
    double weight[SYN_SMAP_POINTS];  /* of one forecast */
    double *square;             /* [forecasts][SYN_SMAP_PITCH] squared weights */
    double *equations;          /* [forecasts][products] */
    double *sum;                /* [octets][forecasts][sums of the octet] */
    double *panel;
    syn_forecast_model model;
};

/* ---- memory ---- */

/* For jobs with so many coordinates and octets at most. */
static syn_status worker_make(uint32_t steps, uint32_t dims, uint32_t octets,
                              syn_arrays *memory, forecast_worker **out)
{
    size_t stride = syn_smap_job_stride(steps), all = FORECAST_BLOCK;
    size_t products = syn_smap_products(dims + 2);
    size_t columns = syn_forecast_columns(dims, SYN_FORECAST_SIDE);
    size_t distances = SYN_SMAP_BLOCK_BYTES / sizeof(double);
    if (distances < SYN_SMAP_ROWS * stride)
        distances = SYN_SMAP_ROWS * stride;
    if (distances > FORECAST_ROWS * stride)
        distances = FORECAST_ROWS * stride;
    size_t panel = (SYN_SMAP_POINTS + SYN_SMAP_SPARE) * products;
    if (panel < SYN_SMAP_POINTS * columns)
        panel = SYN_SMAP_POINTS * columns;
    forecast_worker *w;
    SYN_ARRAY(memory, w, 1);
    *out = w;
    SYN_ARRAY(memory, w->to, dims * (size_t)SYN_SMAP_SIDE);
    SYN_ARRAY(memory, w->distance, distances);
    SYN_ARRAY(memory, w->square, all * SYN_SMAP_PITCH);
    SYN_ARRAY(memory, w->equations, all * products);
    SYN_ARRAY(memory, w->sum, octets * all * columns + SYN_SMAP_PADDING);
    SYN_ARRAY(memory, w->panel, panel + 2 * SYN_SMAP_PADDING);
    return SYN_OK;
}

/* ---- steps of a share ---- */

/* The first forecast of a slot. */
static uint32_t slot_at(const forecast_worker *w, uint32_t slot)
{
    return slot * w->pitch;
}

/* The sums of an octet for forecast `at` of so many. */
static double *sums_at(const forecast_job *j, const forecast_worker *w,
                       uint32_t forecasts, uint32_t octet, uint32_t at)
{
    return w->sum + forecasts * sums_before(j, octet) +
           at * sums_of(j, octet);
}

/* Sums of a slot that has no weights begin with those of all rows. */
static void begin_slot(const forecast_job *j, uint32_t slot, forecast_worker *w)
{
    uint32_t all = slot_at(w, j->thetas), at = slot_at(w, slot);
    size_t products = j->terms.products;
    const double *sum = j->total + products;
    for (uint32_t r = at; r < at + w->n; r++) {
        memcpy(w->equations + r * products, j->total, products * sizeof *w->equations);
        for (uint32_t o = 0; o < j->octets; o++)
            memcpy(sums_at(j, w, all, o, r), sum + sums_before(j, o),
                   sums_of(j, o) * sizeof *sum);
    }
}

static void begin_share(const forecast_job *j, uint32_t share, forecast_worker *w)
{
    w->first = share * j->block;
    w->n = j->n - w->first < j->block ? j->n - w->first : j->block;
    w->pitch = (uint32_t)syn_smap_padded(w->n, SYN_SMAP_ROWS);
    uint32_t rows = slot_at(w, j->thetas);
    memset(w->square, 0, rows * (size_t)SYN_SMAP_PITCH * sizeof *w->square);
    memset(w->equations, 0, rows * j->terms.products * sizeof *w->equations);
    memset(w->sum, 0, rows * sums_before(j, j->octets) * sizeof *w->sum);
    for (uint32_t slot = j->weighed; slot < j->thetas; slot++)
        begin_slot(j, slot, w);
    w->phase = MEASURE;
    w->done = 0;
}

/* Distances of the next forecasts. */
static void measure_some(const forecast_call *c, const forecast_job *j,
                         forecast_worker *w)
{
    uint32_t left = w->n - w->done, n = left < SYN_SMAP_SIDE ? left : SYN_SMAP_SIDE;
    for (uint32_t r = w->done; r < w->done + n; r++) {
        uint32_t i = w->first + r;
        /* The library of row i: all rows but those within the exclusion. */
        uint64_t step = j->row[i], exclusion = c->options->exclusion;
        uint64_t from = step > exclusion ? step - exclusion : 0;
        w->near[r] = (syn_smap_near){
            .dims = j->dims,
            .stride = j->stride,
            .coordinate = j->coordinate,
            .distance = (w->distance + r * j->stride),
            .begin = {0, syn_first_row_from(j->row, j->n, step + exclusion + 1)},
            .end = {syn_first_row_from(j->row, j->n, from), j->n}};
        for (uint32_t k = 0; k < j->dims; k++)
            w->to[k * n + (r - w->done)] = j->coordinate[k * j->stride + i];
    }
    if (j->weighed > 0) {
        c->smap->measure(w->near + w->done, n, w->to, 0, j->n);
        for (uint32_t r = w->done; r < w->done + n; r++)
            c->smap->survey(&w->near[r]);
    }
    w->done += n;
    if (w->done == w->n) {
        w->phase = WEIGH;
        w->point = 0;
    }
}

/* Puts -1 where row `near` leaves out one of the next points, and 0 elsewhere; whether it
   leaves out any. */
static int weigh_left_out(const syn_smap_near *near, size_t from, double *square)
{
    size_t i = near->end[0] > from ? near->end[0] : from, end = from + SYN_SMAP_POINTS;
    end = near->begin[1] < end ? near->begin[1] : end;
    memset(square, 0, SYN_SMAP_POINTS * sizeof *square);
    for (size_t at = i; at < end; at++)
        square[at - from] = -1;
    return i < end;
}

/* What squared weights of points from `from` on add to the sums of `all` forecasts, of
   which the first `some` have weights. */
static void add_points(const forecast_call *c, const forecast_job *j,
                       forecast_worker *w, size_t from, uint32_t some, uint32_t all)
{
    size_t left = j->n - from, n = left < SYN_SMAP_POINTS ? left : SYN_SMAP_POINTS;
    c->product->multiply(&j->terms, from, n, w->square, some, w->panel, w->equations);
    for (uint32_t o = 0; o < j->octets; o++) {
        c->kind->fill(&j->terms, j->candidate + o * j->stride * SYN_FORECAST_SIDE,
                      side_of(j, o), from, w->panel);
        c->product->add(w->panel, sums_of(j, o), w->square, some,
                        sums_at(j, w, all, o, 0));
    }
}

static void weigh_points(const forecast_call *c, const forecast_job *j,
                         forecast_worker *w)
{
    size_t left = j->n - w->point, n = left < SYN_SMAP_POINTS ? left : SYN_SMAP_POINTS;
    /* Squared weights of the next `n` points for all forecasts; how many of these
       have any. */
    int any = 0;
    for (uint32_t slot = 0; slot < j->thetas; slot++) {
        double *square = w->square + slot_at(w, slot) * (size_t)SYN_SMAP_PITCH;
        double theta = c->jobs->theta[j->job + j->of[slot]];
        for (uint32_t r = 0; r < w->n; r++, square += SYN_SMAP_PITCH)
            if (slot < j->weighed)
                c->product->weigh(&w->near[r],
                                  w->near[r].mean > 0
                                      ? fmin(theta / w->near[r].mean, 1e300) : 0,
                                  w->point, n, w->weight, square);
            else
                any |= weigh_left_out(&w->near[r], w->point, square);
    }
    uint32_t some = slot_at(w, any ? j->thetas : j->weighed);
    if (some > 0)
        add_points(c, j, w, w->point, some, slot_at(w, j->thetas));
    w->point += n;
    if (w->point == j->n) {
        w->phase = SOLVE;
        w->done = 0;
    }
}

/* Fills A from its upper half, row after row, and b, which ends each. */
static void take_equations(const double *sum, syn_forecast_model *m, double *b)
{
    for (uint32_t i = 0; i < m->n; i++) {
        for (uint32_t k = i; k < m->n; k++)
            m->lower[k * m->n + i] = *sum++;
        b[i] = *sum++;
    }
    m->ridge = SYN_FORECAST_RIDGE * m->lower[0];
    for (uint32_t i = 1; i < m->n; i++)
        m->lower[i * m->n + i] += m->ridge;
}

/* A = L L' in place. */
static void factorise(syn_forecast_model *m)
{
    uint32_t n = m->n;
    for (uint32_t i = 0; i < n; i++) {
        double *row = m->lower + i * n;
        for (uint32_t k = 0; k <= i; k++) {
            const double *other = m->lower + k * n;
            double left = row[k];
            for (uint32_t l = 0; l < k; l++)
                left -= row[l] * other[l];
            row[k] = k < i ? left * other[k] : 1 / sqrt(left);
        }
    }
}

/* Solves L z = s in place. */
static void substitute(const syn_forecast_model *m, double *s)
{
    for (uint32_t i = 0; i < m->n; i++) {
        for (uint32_t k = 0; k < i; k++)
            s[i] -= m->lower[i * m->n + k] * s[k];
        s[i] *= m->lower[i * m->n + i];
    }
}

/* The model without a candidate. `value`: terms of the row that is forecast from. */
static void fit_model(const double *sum, const double *value, uint32_t dims,
                      syn_forecast_model *m)
{
    m->n = dims + 1;
    take_equations(sum, m, m->effect);
    factorise(m);
    substitute(m, m->effect);
    memcpy(m->from, value, m->n * sizeof *m->from);
    substitute(m, m->from);
    m->error = value[m->n];
    for (uint32_t i = 0; i < m->n; i++)
        m->error -= m->effect[i] * m->from[i];
}

/* Forecasts from row r of the share as in a slot. */
static void solve_slot(const forecast_call *c, forecast_job *j,
                       forecast_worker *w, uint32_t slot, uint32_t r)
{
    uint32_t all = slot_at(w, j->thetas), at = slot_at(w, slot) + r;
    size_t i = w->first + r;
    double *fall = j->fall + (size_t)slot * j->octets * j->n * SYN_FORECAST_SIDE;
    fit_model(w->equations + at * j->terms.products, j->value + i * j->terms.pitch,
              j->dims, &w->model);
    j->error[(size_t)slot * j->n + i] = w->model.error;
    for (uint32_t o = 0; o < j->octets; o++)
        c->kind->try_octet(&w->model, sums_at(j, w, all, o, at), side_of(j, o),
                           j->candidate + (o * j->stride + i) * SYN_FORECAST_SIDE,
                           fall + (o * (size_t)j->n + i) * SYN_FORECAST_SIDE);
}

static void solve_next(const forecast_call *c, forecast_job *j,
                       forecast_worker *w)
{
    uint32_t r = w->done++;
    for (uint32_t slot = 0; slot < j->thetas; slot++)
        solve_slot(c, j, w, slot, r);
    if (w->done == w->n)
        w->phase = END;
}

/* Goes on with share `share`, SYN_UNFINISHED if there is more to do. */
static syn_status job_work(const forecast_call *c, forecast_job *j, uint32_t share,
                           forecast_worker *w)
{
    double started = syn_seconds();
    while (w->phase != END) {
        switch (w->phase) {
        case BEGIN: begin_share(j, share, w); break;
        case MEASURE: measure_some(c, j, w); break;
        case WEIGH: weigh_points(c, j, w); break;
        case SOLVE: solve_next(c, j, w); break;
        case END: break;
        }
        if (w->phase != END && syn_seconds() - started > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
    }
    w->phase = BEGIN;
    return SYN_OK;
}

/* ---- a job ---- */

/* Lists of a job: coordinates or candidates. */
typedef struct list {
    const syn_lagged *at;
    size_t n;
} list;

static list coordinates_of(const forecast_call *c, size_t job)
{
    const size_t *start = c->jobs->coordinate_start + job;
    return (list){c->jobs->coordinate + start[0], start[1] - start[0]};
}

/* All of the job, not just those of a part. */
static list candidates_of(const forecast_call *c, size_t job)
{
    const size_t *start = c->jobs->candidate_start + job;
    return (list){c->jobs->candidate + start[0], start[1] - start[0]};
}

static const double *series_at(const forecast_call *c, uint32_t series)
{
    return c->series->value + (size_t)series * c->series->steps;
}

/* Sets `known` to 0 at the steps from `reach` on at which a series, `by` steps later, is
   not. */
static void mark_missing(const forecast_call *c, uint32_t series, int64_t by,
                         uint32_t *known)
{
    const double *x = series_at(c, series);
    for (uint32_t t = c->options->reach; t + 1 < c->series->steps; t++)
        known[t] &= x[t + by] == x[t + by];
}

static void mark_list(const forecast_call *c, list l, uint32_t *known)
{
    for (size_t k = 0; k < l.n; k++)
        mark_missing(c, l.at[k].series, -(int64_t)l.at[k].lag, known);
}

static syn_status find_rows(const forecast_call *c, forecast_job *j)
{
    uint32_t steps = c->series->steps;
    SYN_ARRAY(&j->memory, j->row, steps);
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
static int any_alone(const forecast_job *j, uint32_t exclusion)
{
    uint32_t last = j->row[j->n - 1];
    for (uint32_t i = 0; i < j->n; i++)
        if (j->row[i] - j->row[0] <= exclusion && last - j->row[i] <= exclusion)
            return 1;
    return 0;
}

static void fill_candidates(const forecast_call *c, forecast_job *j)
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

/* Whether the fourth power of any value is so large beside the sum over all rows that the
   sum, less it, has lost digits that the ridge needs. */
static int any_far(const forecast_job *j, const double *value, size_t n)
{
    double most = sqrt(sqrt(100.0 * j->n));
    for (size_t i = 0; i < n; i++)
        if (fabs(value[i]) > most)
            return 1;
    return 0;
}

/* Where all rows weigh the same, few are left out and none is far from the others, sums
   over all others are those over all rows less a few. */
static syn_status make_total(const forecast_call *c, forecast_job *j,
                             forecast_worker *worker)
{
    /* Gives slots to the thetas, those of 0 last. */
    const double *theta = c->jobs->theta + j->job;
    uint32_t slot = 0;
    for (int zero = 0; zero < 2; zero++) {
        for (uint32_t k = 0; k < j->thetas; k++)
            if ((theta[k] == 0) == zero)
                j->of[slot++] = k;
        j->weighed = zero ? j->weighed : slot;
    }
    size_t products = j->terms.products;
    if (4.0 * c->options->exclusion + 2 > j->n ||
        any_far(j, j->value, j->n * j->terms.pitch) ||
        any_far(j, j->candidate, j->octets * SYN_FORECAST_SIDE * j->stride))
        j->weighed = j->thetas;
    if (j->weighed == j->thetas)
        return SYN_OK;
    SYN_ARRAY(&j->memory, j->total, products + sums_before(j, j->octets));
    const uint32_t all = SYN_SMAP_ROWS;
    double *sum = j->total + products;
    memset(worker->square, 0, all * (size_t)SYN_SMAP_PITCH * sizeof *worker->square);
    memset(worker->equations, 0, all * products * sizeof *worker->equations);
    memset(worker->sum, 0, all * sums_before(j, j->octets) * sizeof *worker->sum);
    for (size_t i = 0; i < SYN_SMAP_POINTS; i++)
        worker->square[i] = 1;
    for (size_t from = 0; from < j->n; from += SYN_SMAP_POINTS)
        add_points(c, j, worker, from, all, all);
    memcpy(j->total, worker->equations, products * sizeof *j->total);
    for (uint32_t o = 0; o < j->octets; o++)
        memcpy(sum + sums_before(j, o), sums_at(j, worker, all, o, 0),
               sums_of(j, o) * sizeof *sum);
    return SYN_OK;
}

/* Makes the job `out` of which `job`, `first`, `candidates` and `thetas` are given. Its
   memory is to be given back, also after an error. */
static syn_status job_make(const forecast_call *call, forecast_job *j,
                           forecast_worker *worker)
{
    j->dims = (uint32_t)coordinates_of(call, j->job).n;
    syn_status status = find_rows(call, j);
    if (status != SYN_OK || j->n < syn_forecast_least(j->dims) ||
        any_alone(j, call->options->exclusion))
        return status;
    j->octets = (j->candidates + SYN_FORECAST_SIDE - 1) / SYN_FORECAST_SIDE;
    j->stride = syn_smap_job_stride(j->n);
    size_t side = (size_t)j->octets * SYN_FORECAST_SIDE;
    SYN_ARRAY(&j->memory, j->coordinate, j->dims * j->stride);
    SYN_TRY(syn_smap_terms_make(&j->terms, j->dims + 2, j->stride, &j->memory,
                                &j->value));
    SYN_ARRAY(&j->memory, j->candidate, side * j->stride);
    SYN_ARRAY(&j->memory, j->error, (size_t)j->thetas * j->n);
    SYN_ARRAY(&j->memory, j->fall, j->thetas * side * j->n);
    list of = coordinates_of(call, j->job);
    for (uint32_t k = 0; k < j->dims; k++) {
        double *to = j->coordinate + k * j->stride;
        syn_smap_terms_put(&j->terms, k + 1, series_at(call, of.at[k].series), j->row,
                           j->n, -(int64_t)of.at[k].lag, j->value);
        for (size_t i = 0; i < j->n; i++)
            to[i] = j->value[i * j->terms.pitch + k + 1];
    }
    syn_smap_terms_put(&j->terms, j->dims + 1,
                       series_at(call, call->jobs->effect[j->job]), j->row, j->n, 1,
                       j->value);
    fill_candidates(call, j);
    /* The rows of a share. */
    size_t most = SYN_SMAP_BLOCK_BYTES / sizeof(double) / syn_smap_job_stride(j->n);
    most = most < FORECAST_ROWS ? most : FORECAST_ROWS;
    most = most < FORECAST_BLOCK / j->thetas ? most : FORECAST_BLOCK / j->thetas;
    most = most / SYN_SMAP_ROWS * SYN_SMAP_ROWS;
    j->block = (uint32_t)(most > SYN_SMAP_ROWS ? most : SYN_SMAP_ROWS);
    j->shares = (j->n + j->block - 1) / j->block;
    return make_total(call, j, worker);
}

/* The doubles that such a job takes, about. */
static size_t job_room(const forecast_call *call, const forecast_job *j)
{
    size_t side = syn_smap_padded(j->candidates, SYN_FORECAST_SIDE);
    size_t coordinates = coordinates_of(call, j->job).n;
    return call->series->steps *
           (2 * coordinates + SYN_SMAP_PADDING + side + j->thetas * (side + 1));
}

/* ---- results ---- */

/* Results of the candidates of an octet. */
static void finish_octet(const forecast_call *call, const forecast_job *j,
                         double *fall, uint32_t side, double error, double *gain,
                         double *t)
{
    double mean[SYN_FORECAST_SIDE], variance[SYN_FORECAST_SIDE];
    call->kind->assess(fall, j->n, syn_forecast_lags(j->n), mean, variance);
    for (uint32_t k = 0; k < side; k++) {
        gain[k] = error > 0 ? mean[k] / error : NAN;
        double least = SYN_FORECAST_SPREAD * error;
        t[k] = variance[k] > least * least ? mean[k] / sqrt(variance[k] / j->n) : 0;
        if (isnan(variance[k]))
            t[k] = NAN;
    }
}

/* Parts of a job, which have some of its candidates each, may be finished at the same
   time: the first of them alone writes what they have in common. */
static int is_first_part(const forecast_call *call, const forecast_job *j)
{
    return j->first == call->jobs->candidate_start[j->job];
}

/* Results of the job in a slot. */
static void finish_slot(const forecast_call *call, const forecast_job *j,
                        uint32_t slot, const syn_forecasts *out)
{
    size_t job = j->job + j->of[slot], first = j->first + j->of[slot] * j->candidates;
    double *fall = j->fall + (size_t)slot * j->octets * j->n * SYN_FORECAST_SIDE, sum = 0;
    const double *error = j->error + (size_t)slot * j->n;
    for (uint32_t i = 0; i < j->n; i++)
        sum += error[i] * error[i];
    if (is_first_part(call, j)) {
        out->error[job] = sum / j->n;
        for (uint32_t i = 0; out->missed && i < j->n; i++)
            out->missed[job * call->series->steps + j->row[i] + 1] = error[i];
    }
    for (uint32_t o = 0; o < j->octets; o++, fall += (size_t)j->n * SYN_FORECAST_SIDE) {
        finish_octet(call, j, fall, side_of(j, o), sum / j->n,
                     out->gain + first, out->t + first);
        first += SYN_FORECAST_SIDE;
    }
}

enum {
    BATCH_BYTES = 64 << 20,  /* of jobs, and one more */
    BATCH_JOBS = 1024
};

/* The jobs that are worked on. */
typedef struct batch {
    const forecast_call *call;
    const syn_watch *watch;
    const syn_forecasts *out;
    int threads;
    forecast_worker **worker;  /* [threads] */
    uint32_t n;
    forecast_job *job;         /* [BATCH_JOBS] */
    uint32_t *begin;               /* [BATCH_JOBS + 1] the first share of each */
    size_t next, candidate;        /* the job that comes next, and its first candidate */
    size_t from, to;               /* jobs that were done when a loop began, and those
                                      that are when it ends */
    syn_arrays memory;
} batch;

/* ---- batches ---- */

/* Whether jobs i and i + 1 have the same list. */
static int same_list(const syn_lagged *list, const size_t *start, size_t i)
{
    size_t n = start[i + 1] - start[i];
    const syn_lagged *one = list + start[i], *next = list + start[i + 1];
    return start[i + 2] - start[i + 1] == n &&
           (n == 0 || memcmp(one, next, n * sizeof *list) == 0);
}

/* The next jobs that differ in theta alone, or the next part of a job. */
static forecast_job next_part(batch *b)
{
    const syn_forecast_jobs *jobs = b->call->jobs;
    const size_t most = FORECAST_OCTETS * SYN_FORECAST_SIDE;
    size_t i = b->next, end = jobs->candidate_start[i + 1], left = end - b->candidate;
    forecast_job part = {.job = i, .first = b->candidate, .thetas = 1,
                             .candidates = (uint32_t)(left < most ? left : most)};
    b->candidate += part.candidates;
    if (b->candidate < end)
        return part;
    while (part.candidates == end - jobs->candidate_start[part.job] && ++i < jobs->n &&
           part.thetas < FORECAST_THETAS && jobs->effect[i - 1] == jobs->effect[i] &&
           same_list(jobs->coordinate, jobs->coordinate_start, i - 1) &&
           same_list(jobs->candidate, jobs->candidate_start, i - 1))
        part.thetas++;
    b->next = part.job + part.thetas;
    b->candidate = jobs->candidate_start[b->next];
    return part;
}

static void fill_batch(batch *b)
{
    size_t doubles = 0;
    for (b->n = 0; b->n < BATCH_JOBS && b->next < b->call->jobs->n &&
                   doubles < BATCH_BYTES / sizeof(double); b->n++) {
        b->job[b->n] = next_part(b);
        doubles += job_room(b->call, &b->job[b->n]);
    }
}

static int pass_on(void *data, const char *stage, double done, double total)
{
    const batch *b = data;
    double part = total > 0 ? done / total * (double)(b->to - b->from) : 0;
    return syn_poll(b->watch, stage, (double)b->from + part,
                    (double)b->call->jobs->n) != SYN_OK;
}

static syn_status make(void *context, size_t item, int worker)
{
    const batch *b = context;
    return job_make(b->call, &b->job[item], b->worker[worker]);
}

static syn_status work(void *context, size_t item, int worker)
{
    const batch *b = context;
    uint32_t i = syn_job_of_share(b->begin, b->n, item);
    return job_work(b->call, &b->job[i], (uint32_t)item - b->begin[i], b->worker[worker]);
}

static syn_status finish(void *context, size_t item, int worker)
{
    const batch *b = context;
    (void)worker;
    /* Puts what all shares have found where it belongs. */
    const forecast_job *j = &b->job[item];
    for (uint32_t k = 0; k < j->thetas && is_first_part(b->call, j); k++) {
        b->out->rows[j->job + k] = j->n;
        b->out->error[j->job + k] = NAN;
        for (uint32_t t = 0; b->out->missed && t < b->call->series->steps; t++)
            b->out->missed[(j->job + k) * b->call->series->steps + t] = NAN;
    }
    for (size_t k = 0; k < (size_t)j->candidates * j->thetas; k++)
        b->out->gain[j->first + k] = b->out->t[j->first + k] = NAN;
    for (uint32_t slot = 0; slot < j->thetas && j->shares > 0; slot++)
        finish_slot(b->call, j, slot, b->out);
    return SYN_OK;
}

/* One loop of a batch, after which jobs up to `to` are done. */
static syn_status loop(batch *b, size_t items, size_t to, syn_body *body)
{
    syn_watch part = {pass_on, b};
    b->to = to;
    syn_status status = syn_parallel_for(items, b->threads, &part, "jobs", body, b);
    b->from = to;
    return status;
}

static syn_status run_batch(batch *b)
{
    fill_batch(b);
    syn_status status = loop(b, b->n, b->from, make);
    for (uint32_t i = 0; i < b->n; i++)
        b->begin[i + 1] = b->begin[i] + b->job[i].shares;
    SYN_NEXT(status, loop(b, b->begin[b->n], b->next, work));
    SYN_NEXT(status, loop(b, b->n, b->next, finish));
    for (uint32_t i = 0; i < b->n; i++)
        syn_give_back(&b->job[i].memory);
    return status;
}

/* ---- the call ---- */

static syn_status take_memory(batch *b)
{
    const syn_forecast_jobs *jobs = b->call->jobs;
    size_t dims = 1, octets = 0;
    for (size_t i = 0; i < jobs->n; i++) {
        size_t d = jobs->coordinate_start[i + 1] - jobs->coordinate_start[i];
        size_t m = jobs->candidate_start[i + 1] - jobs->candidate_start[i];
        size_t o = (m + SYN_FORECAST_SIDE - 1) / SYN_FORECAST_SIDE;
        dims = d > dims ? d : dims;
        octets = o > octets ? o : octets;
    }
    octets = octets < FORECAST_OCTETS ? octets : FORECAST_OCTETS;
    SYN_ARRAY(&b->memory, b->job, BATCH_JOBS);
    SYN_ARRAY(&b->memory, b->begin, BATCH_JOBS + 1);
    SYN_ARRAY(&b->memory, b->worker, (size_t)b->threads);
    for (int i = 0; i < b->threads; i++)
        SYN_TRY(worker_make(b->call->series->steps, (uint32_t)dims,
                                   (uint32_t)octets, &b->memory,
                            &b->worker[i]));
    return SYN_OK;
}

syn_status syn_forecast(const syn_series *series, const syn_forecast_jobs *jobs,
                        const syn_forecast_options *options, const syn_watch *watch,
                        const syn_forecasts *out)
{
    int bits = options->vector_bits;
    forecast_call call = {.series = series, .jobs = jobs, .options = options,
                              .smap = syn_smap_kind_fastest(bits),
                              .product = syn_smap_product_fastest(bits),
                              .kind = syn_forecast_kind_fastest(bits)};
    batch b = {.call = &call, .watch = watch, .out = out,
               .threads = options->threads > 1 ? options->threads : 1};
    syn_status status = take_memory(&b);
    while (status == SYN_OK && b.next < jobs->n)
        status = run_batch(&b);
    syn_give_back(&b.memory);
    return status;
}
