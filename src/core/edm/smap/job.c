/* Makes jobs and their results. Workers take shares of a job, and of each share a block
   of predictions after the other: distances; squared weights and the sums of the
   equations; for each prediction, what solves them for any target; and with this the hat
   matrix, piece by piece, times the targets. The sum of the rows that give coefficients
   is one more row of it. Predictions that rounding may have spoilt have a row that is
   made in a slower way (model.h), from points that are all different: of counts there are
   few. */
#include "core/edm/smap/job.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/parallel.h"

enum { MOST_SHARES = 64 };

/* What rounding may leave of a sum of squares. */
#define MOST_ROUNDING 1e-13

/* ---- a job ---- */

/* Rows of a block, with that of the coefficients. */
static uint32_t rows_of(uint32_t points)
{
    size_t most = SYN_SMAP_BLOCK_BYTES / sizeof(double) / syn_smap_job_stride(points);
    size_t all = syn_smap_padded((size_t)points + 1, SYN_SMAP_ROWS);
    most = most / SYN_SMAP_ROWS * SYN_SMAP_ROWS;
    most = most < SYN_SMAP_MOST_ROWS ? most : SYN_SMAP_MOST_ROWS;
    most = most < all ? most : all;
    return (uint32_t)(most > SYN_SMAP_ROWS ? most : SYN_SMAP_ROWS);
}

/* Whether step t, `by` steps later, is in the series. */
static int inside(uint32_t steps, uint32_t t, int64_t by)
{
    int64_t at = (int64_t)t + by;
    return at >= 0 && at < steps;
}

/* Fills the coordinates at step t; whether all of them are known. */
static int fill_point(const syn_smap_job *j, const syn_smap_pairs_options *o,
                      const double *value, uint32_t t)
{
    uint32_t steps = j->points.rows;
    int known = inside(steps, t, o->Tp);
    for (uint32_t k = 0; k < j->dims; k++) {
        int64_t by = (int64_t)k * o->tau;
        double x = inside(steps, t, by) ? value ? value[(int64_t)t + by] : 0 : NAN;
        j->coordinate[(size_t)k * steps + t] = x;
        known = known && !isnan(x);
    }
    return known;
}

/* Whether all rows are the same point. */
static int all_alike(const syn_smap_job *j)
{
    for (uint32_t k = 0; k < j->dims; k++) {
        const double *x = j->coordinate + (size_t)k * j->points.rows;
        for (uint32_t i = 1; i < j->rows.n; i++)
            if (x[j->row[i]] != x[j->row[0]])
                return 0;
    }
    return 1;
}

static syn_status find_rows(syn_smap_job *j, const syn_smap_pairs_options *o,
                            const double *value)
{
    uint32_t steps = j->points.rows;
    SYN_ARRAY(&j->memory, j->row, steps);
    SYN_ARRAY(&j->memory, j->coordinate, (size_t)j->dims * steps);
    for (uint32_t t = 0; t < steps; t++)
        if (fill_point(j, o, value, t))
            j->row[j->rows.n++] = t;
    j->points.coordinate = j->coordinate;
    j->rows.row = j->row;
    return SYN_OK;
}

/* The target of each row in panels of the product. */
static syn_status make_panels(syn_smap_job *j, int32_t Tp)
{
    const syn_smap_group *g = j->group;
    size_t wide = j->product->wide, steps = j->points.rows;
    double *panels;
    SYN_ARRAY(&j->memory, panels, j->stride * j->columns);
    j->panels = panels;
    for (uint32_t c = 0; c < g->n; c++) {
        const double *y = g->value + (size_t)g->target[c] * steps;
        double *to = panels + c / wide * wide * SYN_SMAP_POINTS + c % wide;
        for (size_t i = 0; i < j->rows.n; i++) {
            double value = y[(int64_t)j->row[i] + Tp] - g->centre[c];
            size_t block = i / SYN_SMAP_POINTS * SYN_SMAP_POINTS * j->columns;
            to[block + i % SYN_SMAP_POINTS * wide] = isnan(value) ? 0 : value;
        }
    }
    return SYN_OK;
}

static syn_status make_terms(syn_smap_job *j)
{
    syn_smap_terms *t = &j->terms;
    double square = 0;
    SYN_TRY(syn_smap_terms_make(t, j->dims + 1, j->rows.n, &j->memory, &j->value));
    SYN_ARRAY(&j->memory, j->centre, t->n);
    SYN_ARRAY(&j->memory, j->centred, j->dims * j->stride);
    for (uint32_t k = 1; k < t->n; k++) {
        double *to = j->centred + (k - 1) * j->stride;
        j->centre[k] = syn_smap_terms_put(
            t, k, j->coordinate + (size_t)(k - 1) * j->points.rows, j->row, j->rows.n, 0,
            j->value);
        for (size_t i = 0; i < j->rows.n; i++) {
            to[i] = j->value[i * t->pitch + k];
            square += k == 1 ? to[i] * to[i] : 0;
        }
    }
    j->size = square > 0 ? sqrt(square / j->rows.n) : 1;
    return SYN_OK;
}

/* Cuts so many predictions into shares. */
static void share_out(syn_smap_job *j, uint32_t predictions)
{
    j->predictions = predictions;
    j->blocks = (predictions + j->block - 1) / j->block;
    uint32_t each = (j->blocks + MOST_SHARES - 1) / MOST_SHARES;
    j->shares = (j->blocks + each - 1) / each;
}

static syn_status make_sums(syn_smap_job *j)
{
    j->block = rows_of(j->rows.n) - 1;
    share_out(j, j->rows.n);
    SYN_ARRAY(&j->memory, j->sum, (size_t)j->shares * SYN_SMAP_SUMS * j->columns);
    SYN_ARRAY(&j->memory, j->known, j->shares);
    SYN_ARRAY(&j->memory, j->made, j->shares);
    return SYN_OK;
}

/* `call` for this library. Its target, at each row, is only known or not. */
static syn_status make_call(syn_smap_job *j, const syn_smap_common *common)
{
    uint32_t steps = j->points.rows;
    const double *y = j->group->value + (size_t)j->group->target[0] * steps;
    double *later;
    SYN_ARRAY(&j->memory, later, steps);
    j->call = (syn_smap_call){.points = &j->points, .library = &j->rows,
                              .prediction = &j->rows, .target = later,
                              .options = common->smap, .kind = common->kind,
                              .stride = syn_smap_stride(j->rows.n)};
    for (uint32_t i = 0; i < j->rows.n; i++) {
        double value = y[(int64_t)j->row[i] + common->options->Tp];
        later[j->row[i]] = isnan(value) ? NAN : 0;
        j->call.missing |= isnan(value);
    }
    syn_status status = syn_smap_gather(&j->call);
    j->call.target = NULL;
    return status;
}

syn_status syn_smap_job_make(const syn_smap_common *common, uint32_t i, syn_smap_job *out)
{
    const syn_series *from = common->libraries;
    int none = i >= from->n;
    *out = (syn_smap_job){.group = common->group, .product = common->product,
                          .lanes = common->lanes, .dims = common->options->E};
    out->points = (syn_points){.rows = from->steps, .dims = out->dims};
    out->columns = syn_smap_padded(out->group->n, SYN_SMAP_COLUMNS);
    syn_status status = find_rows(out, common->options,
                                  none ? NULL : from->value + (size_t)i * from->steps);
    out->stride = syn_smap_job_stride(out->rows.n);
    if (status != SYN_OK || (!none && (out->rows.n < 2 || all_alike(out))))
        return status;
    if (!none && common->whole->rows.n == out->rows.n)
        out->panels = common->whole->panels;
    else
        status = make_panels(out, common->options->Tp);
    if (none || status != SYN_OK)
        return status;
    status = make_call(out, common);
    SYN_NEXT(status, make_terms(out));
    SYN_NEXT(status, syn_smap_same_make(&out->call, &out->memory, &out->same));
    SYN_NEXT(status, make_sums(out));
    return status;
}

syn_status syn_smap_job_rest(syn_smap_job *job, const syn_smap_rest *rest)
{
    if (!job->sum)
        return SYN_OK;
    SYN_ARRAY(&job->memory, job->only, rest->n);
    for (uint32_t i = 0; i < rest->n; i++)
        job->only[i] = syn_first_row_from(job->row, job->rows.n, rest->step[i]);
    share_out(job, rest->n);
    for (size_t k = 0; k < SYN_SMAP_SUMS; k++)
        for (size_t c = 0; c < job->group->n; c++)
            job->sum[k * job->columns + c] = rest->sum[k * rest->columns + c];
    job->known[0] = rest->known;
    job->made[0] = rest->made;
    return SYN_OK;
}

void syn_smap_job_free(syn_smap_job *job)
{
    syn_give_back(&job->call.memory);
    syn_give_back(&job->memory);
}

typedef enum phase { BEGIN, WEIGH, SOLVE, PREDICT, ADD } phase;

struct syn_smap_worker {
    int busy;
    uint32_t at, end;           /* block, and the first one of the next share */
    uint32_t first, n;          /* predictions of the block */
    phase phase;
    size_t point;               /* points before are done in this phase, */
    uint32_t done;              /* and so are predictions before */
    uint32_t row[SYN_SMAP_MOST_ROWS];        /* of the predictions, */
    syn_smap_near near[SYN_SMAP_MOST_ROWS];  /* and their neighbours */
    double *from;               /* [dims][rows] points of predictions */
    double *distance;           /* [rows][stride] */
    double *square;             /* [stride / SYN_SMAP_POINTS][rows][SYN_SMAP_PITCH]
                                   squared weights, then the hat matrix; its last row is
                                   that of the coefficients */
    double *equations;          /* [rows][products] */
    double *value, *slope;      /* [rows][unknowns] of syn_smap_hat */
    double *excess;             /* [rows] the sum of a row of the hat matrix, less 1 */
    double excess_slope;        /* and that of the coefficients */
    double *strength;           /* [stride] sum of the rows that give coefficients */
    double *prediction;         /* [rows][columns] */
    double *panel, *solving;    /* for the product and for lanes */
    syn_smap_turned turned;
    double *points;             /* [unknowns][SYN_SMAP_POINTS] points for it */
    double *weight;             /* [stride] for syn_smap_exact_hat(): of points, */
    double *heavy, *count;      /* [stride] of places and how many neighbours each is; */
    double *exact_value, *exact_slope;  /* [stride] what it gives, of places */
    double *small;
    char *exact;
};

/* ---- memory of a worker ---- */

syn_status syn_smap_worker_make(uint32_t steps, uint32_t dims, size_t columns,
                                syn_arrays *memory, syn_smap_worker **out)
{
    size_t stride = syn_smap_job_stride(steps), unknowns = (size_t)dims + 1;
    size_t products = syn_smap_products((uint32_t)unknowns);
    size_t most = SYN_SMAP_ROWS * stride;
    if (most < SYN_SMAP_BLOCK_BYTES / sizeof(double))
        most = SYN_SMAP_BLOCK_BYTES / sizeof(double);
    if (most > SYN_SMAP_MOST_ROWS * stride)
        most = SYN_SMAP_MOST_ROWS * stride;
    const size_t rows = SYN_SMAP_MOST_ROWS;
    syn_smap_worker *w;
    SYN_ARRAY(memory, w, 1);
    *out = w;
    SYN_ARRAY(memory, w->from, dims * rows);
    SYN_ARRAY(memory, w->distance, most);
    SYN_ARRAY(memory, w->square, (most / SYN_SMAP_POINTS + 1) * SYN_SMAP_PITCH);
    SYN_ARRAY(memory, w->equations, rows * products);
    SYN_ARRAY(memory, w->value, rows * unknowns);
    SYN_ARRAY(memory, w->slope, rows * unknowns);
    SYN_ARRAY(memory, w->excess, rows);
    SYN_ARRAY(memory, w->strength, stride);
    SYN_ARRAY(memory, w->prediction, rows * columns);
    SYN_ARRAY(memory, w->panel, (SYN_SMAP_POINTS + SYN_SMAP_SPARE) * products);
    SYN_ARRAY(memory, w->solving, syn_smap_lanes_room((uint32_t)unknowns));
    SYN_ARRAY(memory, w->turned.inverse, unknowns * unknowns);
    SYN_ARRAY(memory, w->turned.gram, unknowns * unknowns);
    SYN_ARRAY(memory, w->turned.scale, unknowns);
    SYN_ARRAY(memory, w->points, unknowns * SYN_SMAP_POINTS);
    SYN_ARRAY(memory, w->weight, stride);
    SYN_ARRAY(memory, w->heavy, stride);
    SYN_ARRAY(memory, w->count, stride);
    SYN_ARRAY(memory, w->exact_value, stride);
    SYN_ARRAY(memory, w->exact_slope, stride);
    SYN_ARRAY(memory, w->small, 2 * unknowns * (unknowns + 1));
    SYN_ARRAY(memory, w->exact, syn_smap_exact_room(stride, dims));
    return SYN_OK;
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

static void begin_block(const syn_smap_job *j, syn_smap_worker *w)
{
    w->first = w->at * j->block;
    uint32_t left = j->predictions - w->first;
    w->n = left < j->block ? left : j->block;
    for (uint32_t r = 0; r < w->n; r++)
        w->row[r] = j->row[prediction_at(j, w, r)];
    syn_smap_measure(&j->call, w->row, w->n, j->stride, w->distance, w->from, w->near);
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
    /* All places, as the neighbours of prediction r. */
    int few = j->same.n > 0;
    syn_smap_near near = {
        .dims = j->dims, .stride = few ? j->same.stride : j->call.stride,
        .coordinate = few ? j->same.coordinate : j->call.side_by_side,
        .target = w->count,  /* which nobody asks for */
        .end = {few ? j->same.n : j->rows.n}, .n = w->near[r].n};
    uint32_t places = near.end[0];
    gather_places(j, w, r, places);
    syn_point_at(&j->points, w->row[r], j->dims, w->from);
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

/* Solves the equations of a prediction that lanes refuse through turned ones; 0 where
   these are not good enough either. */
static int solve_turned(const syn_smap_job *j, syn_smap_worker *w, uint32_t r,
                        const syn_smap_equations *e, const syn_smap_hat *hat)
{
    size_t unknowns = e->unknowns;
    if (!j->lanes->turn(e, &w->turned))
        return 0;
    memset(w->turned.gram, 0, unknowns * unknowns * sizeof *w->turned.gram);
    for (size_t from = 0; from < j->rows.n; from += SYN_SMAP_POINTS)
        j->product->turn(j->centred + from, j->stride, j->dims, w->turned.inverse,
                         square_at(j, w, from) + r * (size_t)SYN_SMAP_PITCH, w->points,
                         w->turned.gram);
    return syn_smap_refine(e, &w->turned, hat);
}

/* Solves the equations of the next predictions for any target. */
static void solve_next(const syn_smap_job *j, syn_smap_worker *w)
{
    const double *from[SYN_SMAP_LANES];
    uint32_t first = w->done, unknowns = j->dims + 1, left = w->n - first;
    syn_smap_equations e = {.unknowns = unknowns,
                            .rows = left < SYN_SMAP_LANES ? left : SYN_SMAP_LANES,
                            .sum = w->equations + first * j->terms.products,
                            .stride = j->terms.products, .centre = j->centre,
                            .ridge = j->call.options->ridge, .room = w->solving};
    syn_smap_hat hat = {from, j->size, w->value + first * (size_t)unknowns,
                        w->slope + first * (size_t)unknowns};
    for (uint32_t l = 0; l < e.rows; l++)
        from[l] = j->value + prediction_at(j, w, first + l) * j->terms.pitch + 1;
    uint32_t solved = j->lanes->hat(&e, &hat);
    for (uint32_t l = 0, rows = e.rows; l < rows; l++) {
        uint32_t r = w->done++;
        w->excess[r] = 0;
        if (solved >> l & 1)
            continue;
        size_t at = l * (size_t)unknowns;
        syn_smap_hat one = {from + l, j->size, hat.value + at, hat.slope + at};
        e.rows = 1;
        e.sum = w->equations + r * j->terms.products;
        if (w->near[r].n > 0 && solve_turned(j, w, r, &e, &one))
            continue;
        memset(one.value, 0, unknowns * sizeof *one.value);
        memset(one.slope, 0, unknowns * sizeof *one.slope);
        one.value[0] = 1;
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

/* ---- results ---- */

/* NaN below three predictions, and where they or the target vary by no more than
   rounding. */
static double correlation(const double *sum, double n, double centre)
{
    double p = sum[SYN_SMAP_PP] - sum[SYN_SMAP_P] * sum[SYN_SMAP_P] / n;
    double y = sum[SYN_SMAP_YY] - sum[SYN_SMAP_Y] * sum[SYN_SMAP_Y] / n;
    double rounding = 8 * DBL_EPSILON * centre, least = n * rounding * rounding;
    if (!(n >= 3 && y > least && y > MOST_ROUNDING * sum[SYN_SMAP_YY] && p > least &&
          p > MOST_ROUNDING * sum[SYN_SMAP_PP] && p > MOST_ROUNDING * MOST_ROUNDING * y))
        return NAN;
    double rho = (sum[SYN_SMAP_PY] - sum[SYN_SMAP_P] * sum[SYN_SMAP_Y] / n) /
                 (sqrt(p) * sqrt(y));
    return rho > 1 ? 1 : rho < -1 ? -1 : rho;
}

void syn_smap_sums_finish(const syn_smap_group *group, const double *sum, size_t columns,
                          double known, double made, double *rho, double *strength)
{
    for (uint32_t c = 0; c < group->n; c++) {
        double of[SYN_SMAP_SUMS];
        uint32_t target = group->target[c];
        for (size_t k = 0; k < SYN_SMAP_SUMS; k++)
            of[k] = sum[k * columns + c];
        rho[target] = correlation(of, known, group->centre[c]);
        strength[target] = made > 0 ? of[SYN_SMAP_STRENGTH] / made : NAN;
    }
}

void syn_smap_job_finish(syn_smap_job *j, double *rho, double *strength)
{
    double known = 0, made = 0;
    size_t all = SYN_SMAP_SUMS * j->columns;
    for (uint32_t s = 0; s < j->shares; s++) {
        known += j->known[s];
        made += j->made[s];
        for (size_t k = 0; s > 0 && k < all; k++)
            j->sum[k] += j->sum[s * all + k];
    }
    if (j->shares > 0)
        syn_smap_sums_finish(j->group, j->sum, j->columns, known, made, rho, strength);
}
