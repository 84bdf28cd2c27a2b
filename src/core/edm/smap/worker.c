/* Workers take shares of a job, and of each share a block of predictions after the other:
   distances; squared weights and the sums of the equations; for each prediction, what
   solves them for any target; and with this the hat matrix, piece by piece, times the
   targets. The sum of the rows that give coefficients is one more row of it. Predictions
   that rounding may have spoilt have a row that is made in a slower way
   (exact.h), from points that are all different: of counts there are few. */
#include "core/edm/smap/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/edm/smap/exact.h"
#include "core/edm/smap/normal.h"

typedef enum phase { BEGIN, WEIGH, SOLVE, PREDICT, ADD } phase;

struct syn_smap_worker {
    int busy;
    uint32_t at, end;           /* block, and the first one of the next share */
    uint32_t first, n;          /* predictions of the block */
    phase phase;
    size_t point;               /* points before are done in this phase, */
    uint32_t done;              /* and so are predictions before */
    syn_smap_near *near;        /* [MOST_ROWS] */
    double *from;               /* [dims] the point of a prediction */
    double *distance;           /* [rows][stride] */
    double *square;             /* [stride / SYN_SMAP_POINTS][rows][SYN_SMAP_PITCH]
                                   squared weights, then the hat matrix; its last row is
                                   that of the coefficients */
    double *equations;          /* [rows][products] */
    double *value, *slope;      /* [rows][unknowns] of syn_smap_normal_hat() */
    double *excess;             /* [rows] the sum of a row of the hat matrix, less 1 */
    double excess_slope;        /* and that of the coefficients */
    double *strength;           /* [stride] sum of the rows that give coefficients */
    double *prediction;         /* [rows][columns] */
    double *panel, *solving;    /* for the product and for syn_smap_normal_hat() */
    double *inverse, *gram;     /* [unknowns][unknowns] for syn_smap_normal_refine(), */
    double *turned;             /* and [unknowns][SYN_SMAP_POINTS] points for it */
    double *weight;             /* [stride] for syn_smap_exact_hat(): of points, */
    double *heavy, *count;      /* [stride] of places and how many neighbours each is; */
    double *exact_value, *exact_slope;  /* [stride] what it gives, of places */
    double *small;
    void *exact;
    double *memory;
};

/* ---- memory ---- */

/* Takes `n` doubles from *next, or counts them where there is no memory yet. */
static double *take(double *memory, size_t *next, size_t n)
{
    double *here = memory ? memory + *next : NULL;
    *next += syn_smap_padded(n, SYN_SMAP_PADDING);
    return here;
}

/* Cuts the memory of a worker, which may be NULL; the doubles that it is made of. */
static size_t cut(syn_smap_worker *w, double *memory, uint32_t steps, uint32_t dims,
                  size_t columns)
{
    size_t next = 0, stride = syn_smap_job_stride(steps), unknowns = (size_t)dims + 1;
    size_t products = syn_smap_products((uint32_t)unknowns);
    size_t most = SYN_SMAP_ROWS * stride;
    if (most < SYN_SMAP_BLOCK_BYTES / sizeof(double))
        most = SYN_SMAP_BLOCK_BYTES / sizeof(double);
    if (most > SYN_SMAP_MOST_ROWS * stride)
        most = SYN_SMAP_MOST_ROWS * stride;
    w->from = take(memory, &next, dims);
    w->distance = take(memory, &next, most);
    w->square = take(memory, &next, (most / SYN_SMAP_POINTS + 1) * SYN_SMAP_PITCH);
    w->equations = take(memory, &next, SYN_SMAP_MOST_ROWS * products);
    w->value = take(memory, &next, SYN_SMAP_MOST_ROWS * unknowns);
    w->slope = take(memory, &next, SYN_SMAP_MOST_ROWS * unknowns);
    w->excess = take(memory, &next, SYN_SMAP_MOST_ROWS);
    w->strength = take(memory, &next, stride);
    w->prediction = take(memory, &next, SYN_SMAP_MOST_ROWS * columns);
    w->panel = take(memory, &next, (SYN_SMAP_POINTS + SYN_SMAP_SPARE) * products);
    w->solving = take(memory, &next, syn_smap_normal_room((uint32_t)unknowns));
    w->inverse = take(memory, &next, unknowns * unknowns);
    w->gram = take(memory, &next, unknowns * unknowns);
    w->turned = take(memory, &next, unknowns * SYN_SMAP_POINTS);
    w->weight = take(memory, &next, stride);
    w->heavy = take(memory, &next, stride);
    w->count = take(memory, &next, stride);
    w->exact_value = take(memory, &next, stride);
    w->exact_slope = take(memory, &next, stride);
    w->small = take(memory, &next, 2 * unknowns * (unknowns + 1));
    return next;
}

syn_smap_worker *syn_smap_worker_make(uint32_t steps, uint32_t dims, size_t columns)
{
    syn_smap_worker *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    size_t room = cut(w, NULL, steps, dims, columns);
    w->memory = calloc(room, sizeof *w->memory);
    w->near = calloc(SYN_SMAP_MOST_ROWS, sizeof *w->near);
    w->exact = malloc(syn_smap_exact_room(syn_smap_job_stride(steps), dims));
    if (!w->memory || !w->near || !w->exact) {
        syn_smap_worker_free(w);
        return NULL;
    }
    cut(w, w->memory, steps, dims, columns);
    return w;
}

void syn_smap_worker_free(syn_smap_worker *worker)
{
    if (!worker)
        return;
    free(worker->memory);
    free(worker->near);
    free(worker->exact);
    free(worker);
}

/* ---- steps of a block ---- */

/* Which of the job's rows prediction r of the block is of. */
static uint32_t prediction_at(const syn_smap_job *j, const syn_smap_worker *w, uint32_t r)
{
    return j->only ? j->only[w->first + r] : w->first + r;
}

/* Squared weights of points from `from` on, for all predictions of the block. */
static double *square_at(const syn_smap_job *j, const syn_smap_worker *w, size_t from)
{
    size_t rows = (size_t)j->block + 1;
    return w->square + from / SYN_SMAP_POINTS * rows * SYN_SMAP_PITCH;
}

static void measure_row(const syn_smap_job *j, syn_smap_worker *w, uint32_t r)
{
    uint32_t row = j->row[prediction_at(j, w, r)];
    w->near[r] = syn_smap_whole(&j->call, w->distance + r * j->stride);
    syn_smap_point(&j->call, row, w->from);
    j->call.kind->measure(&w->near[r], w->from, j->rows.n);
    syn_smap_leave_out(&j->call, row, &w->near[r]);
}

static void begin_block(const syn_smap_job *j, syn_smap_worker *w)
{
    uint32_t left;
    w->first = w->at * j->block;
    left = j->predictions - w->first;
    w->n = left < j->block ? left : j->block;
    for (uint32_t r = 0; r < w->n; r++)
        measure_row(j, w, r);
    memset(w->equations, 0, syn_smap_padded(w->n, SYN_SMAP_ROWS) * j->terms.products *
                                sizeof *w->equations);
    memset(w->strength, 0, j->stride * sizeof *w->strength);
    memset(w->prediction, 0, syn_smap_padded(w->n + 1, SYN_SMAP_ROWS) * j->columns *
                                 sizeof *w->prediction);
    w->excess_slope = 0;
    w->phase = WEIGH;
    w->point = 0;
}

/* Weights of the next points, and what they add to the equations. */
static void weigh_points(const syn_smap_job *j, syn_smap_worker *w)
{
    size_t left = j->rows.n - w->point;
    size_t n = left < SYN_SMAP_POINTS ? left : SYN_SMAP_POINTS;
    double *square = square_at(j, w, w->point);
    for (uint32_t r = 0; r < w->n; r++) {
        const syn_smap_near *near = &w->near[r];
        j->product->weigh(near, syn_smap_rate(&j->call, near, 0), w->point, n, w->weight,
                          square + r * (size_t)SYN_SMAP_PITCH);
    }
    j->product->multiply(&j->terms, w->point, n, square,
                         (uint32_t)syn_smap_padded(w->n, SYN_SMAP_ROWS), w->panel,
                         w->equations);
    w->point += n;
    if (w->point == j->rows.n) {
        w->phase = SOLVE;
        w->done = 0;
    }
}

/* Which place point i is: a number of those that differ, where there are few of them. */
static uint32_t place_of(const syn_smap_job *j, size_t i)
{
    return j->same.n > 0 ? j->same.of[i] : (uint32_t)i;
}

/* All places, as the neighbours of prediction r. */
static syn_smap_near all_places(const syn_smap_job *j, const syn_smap_worker *w,
                                uint32_t r)
{
    int few = j->same.n > 0;
    return (syn_smap_near){
        .dims = j->dims, .stride = few ? j->same.stride : j->call.stride,
        .coordinate = few ? j->same.coordinate : j->call.side_by_side,
        .target = w->count,  /* which nobody asks for */
        .end = {few ? j->same.n : j->rows.n}, .n = w->near[r].n};
}

/* Fills the weights of prediction r: of points, and of all points in a place together. */
static void gather_places(const syn_smap_job *j, syn_smap_worker *w, uint32_t r,
                          uint32_t places)
{
    const syn_smap_near *near = &w->near[r];
    double rate = syn_smap_rate(&j->call, near, 0);
    for (size_t from = 0; from < j->rows.n; from += SYN_SMAP_POINTS) {
        size_t left = j->rows.n - from;
        size_t n = left < SYN_SMAP_POINTS ? left : SYN_SMAP_POINTS;
        j->product->weigh(near, rate, from, n, w->weight + from,
                          square_at(j, w, from) + r * (size_t)SYN_SMAP_PITCH);
    }
    memset(w->heavy, 0, places * sizeof *w->heavy);
    memset(w->count, 0, places * sizeof *w->count);
    for (uint32_t i = 0; i < j->rows.n; i++)
        if (w->weight[i] > 0) {
            w->heavy[place_of(j, i)] = w->weight[i];
            w->count[place_of(j, i)]++;
        }
    for (uint32_t i = 0; i < places; i++)
        w->heavy[i] *= sqrt(w->count[i]);
}

/* The row of the hat matrix of a prediction whose equations are not good enough, in place
   of its weights. */
static void solve_exactly(const syn_smap_job *j, syn_smap_worker *w, uint32_t r)
{
    double sum = 0;
    syn_smap_near near = all_places(j, w, r);
    uint32_t places = near.end[0];
    gather_places(j, w, r, places);
    syn_smap_point(&j->call, j->row[prediction_at(j, w, r)], w->from);
    memset(w->exact_value, 0, places * sizeof *w->exact_value);
    memset(w->exact_slope, 0, places * sizeof *w->exact_slope);
    syn_smap_exact_hat(&near, w->heavy, j->call.options->ridge, w->from, w->exact,
                       w->small, w->exact_value, w->exact_slope);
    for (uint32_t i = 0; i < places; i++) {
        sum += w->exact_value[i];
        w->excess_slope += w->exact_slope[i];
        if (w->count[i] > 0) {
            w->exact_value[i] /= w->count[i];
            w->exact_slope[i] /= w->count[i];
        }
    }
    w->excess[r] = sum - 1;
    for (size_t i = 0; i < j->rows.n; i++) {
        int used = w->weight[i] > 0;
        double *hat = square_at(j, w, i) + r * (size_t)SYN_SMAP_PITCH;
        hat[i % SYN_SMAP_POINTS] = used ? w->exact_value[place_of(j, i)] : 0;
        w->strength[i] += used ? w->exact_slope[place_of(j, i)] : 0;
    }
}

/* Solves the equations of a prediction for any target, in one of two ways; 0 where
   neither is good enough. */
static int solve_equations(const syn_smap_job *j, syn_smap_worker *w, uint32_t r,
                           double *value, double *slope)
{
    uint32_t unknowns = j->dims + 1;
    const double *sum = w->equations + r * j->terms.products;
    const double *at = j->value + prediction_at(j, w, r) * j->terms.pitch + 1;
    double ridge = j->call.options->ridge;
    if (syn_smap_normal_hat(unknowns, sum, j->centre, ridge, at, j->size, w->solving,
                            value, slope))
        return 1;
    if (!syn_smap_normal_turn(unknowns, sum, j->centre, ridge, w->solving, w->inverse))
        return 0;
    memset(w->gram, 0, (size_t)unknowns * unknowns * sizeof *w->gram);
    for (size_t from = 0; from < j->rows.n; from += SYN_SMAP_POINTS)
        j->product->turn(j->centred + from, j->stride, j->dims, w->inverse,
                         square_at(j, w, from) + r * (size_t)SYN_SMAP_PITCH, w->turned,
                         w->gram);
    return syn_smap_normal_refine(unknowns, sum, j->centre, ridge, w->inverse, w->gram,
                                  at, j->size, w->solving, value, slope);
}

static void solve_next(const syn_smap_job *j, syn_smap_worker *w)
{
    uint32_t r = w->done++, unknowns = j->dims + 1;
    double *value = w->value + r * (size_t)unknowns;
    double *slope = w->slope + r * (size_t)unknowns;
    w->excess[r] = 0;
    if (w->near[r].n == 0 || !solve_equations(j, w, r, value, slope)) {
        memset(value, 0, unknowns * sizeof *value);
        memset(slope, 0, unknowns * sizeof *slope);
        value[0] = 1;
        if (w->near[r].n > 0)
            solve_exactly(j, w, r);
    }
    if (w->done == w->n) {
        w->phase = PREDICT;
        w->point = 0;
    }
}

/* The next columns of the hat matrix, times the targets of these points. */
static void predict_points(const syn_smap_job *j, syn_smap_worker *w)
{
    size_t unknowns = (size_t)j->dims + 1;
    double *square = square_at(j, w, w->point);
    for (uint32_t r = 0; r < w->n; r++)
        j->product->hat(j->centred + w->point, j->stride, j->dims,
                        w->value + r * unknowns, w->slope + r * unknowns,
                        square + r * (size_t)SYN_SMAP_PITCH, w->strength + w->point);
    memcpy(square + w->n * (size_t)SYN_SMAP_PITCH, w->strength + w->point,
           SYN_SMAP_POINTS * sizeof *w->strength);
    j->product->add(j->panels + w->point * j->columns, j->columns, square,
                    (uint32_t)syn_smap_padded(w->n + 1, SYN_SMAP_ROWS), w->prediction);
    w->point += SYN_SMAP_POINTS;
    if (w->point >= j->rows.n)
        w->phase = ADD;
}

/* Adds a prediction, and what was observed, to the sums of all targets. */
static void add_prediction(const syn_smap_job *j, size_t i, const double *prediction,
                           double excess, double *sum)
{
    size_t wide = j->product->wide, columns = j->columns;
    const double *y = j->panels + i / SYN_SMAP_POINTS * SYN_SMAP_POINTS * columns +
                      i % SYN_SMAP_POINTS * wide;
    for (size_t c = 0; c < j->group->n; c++) {
        double p = prediction[c] + excess * j->group->centre[c];
        double seen = y[c / wide * wide * SYN_SMAP_POINTS + c % wide];
        sum[SYN_SMAP_P * columns + c] += p;
        sum[SYN_SMAP_PP * columns + c] += p * p;
        sum[SYN_SMAP_Y * columns + c] += seen;
        sum[SYN_SMAP_YY * columns + c] += seen * seen;
        sum[SYN_SMAP_PY * columns + c] += p * seen;
    }
}

static void add_block(syn_smap_job *j, syn_smap_worker *w, uint32_t share)
{
    const double *known = j->call.missing
                              ? j->call.side_by_side + (j->dims + 1) * j->call.stride
                              : NULL;
    double *sum = j->sum + (size_t)share * SYN_SMAP_SUMS * j->columns;
    for (uint32_t r = 0; r < w->n; r++) {
        size_t i = prediction_at(j, w, r);
        if (w->near[r].n == 0)
            continue;
        j->made[share]++;
        if (known && !(known[i] > 0))
            continue;
        j->known[share]++;
        add_prediction(j, i, w->prediction + r * j->columns, w->excess[r], sum);
    }
    const double *strength = w->prediction + w->n * j->columns;
    for (size_t c = 0; c < j->group->n; c++)
        sum[SYN_SMAP_STRENGTH * j->columns + c] +=
            strength[c] + w->excess_slope * j->group->centre[c];
    w->phase = BEGIN;
    w->at++;
}

syn_status syn_smap_job_work(syn_smap_job *j, uint32_t share, syn_smap_worker *w)
{
    double started = syn_seconds();
    uint32_t each = (j->blocks + j->shares - 1) / j->shares;
    if (!w->busy) {
        w->busy = 1;
        w->phase = BEGIN;
        w->at = share * each;
        w->end = w->at + each < j->blocks ? w->at + each : j->blocks;
    }
    while (w->at < w->end) {
        switch (w->phase) {
        case BEGIN: begin_block(j, w); break;
        case WEIGH: weigh_points(j, w); break;
        case SOLVE: solve_next(j, w); break;
        case PREDICT: predict_points(j, w); break;
        case ADD: add_block(j, w, share); break;
        }
        if (w->at < w->end && syn_seconds() - started > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
    }
    w->busy = 0;
    return SYN_OK;
}
