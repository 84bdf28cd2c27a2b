/* Workers take shares of a job, and of each share a block of predictions after the other:
   distances; squared weights and the sums of the equations; for each prediction, what
   solves them for any target; and with this the hat matrix, piece by piece, times the
   targets. The sum of the rows that give coefficients is one more row of it. Predictions
   that rounding may have spoilt have a row that is made in a slower way
   (smap_exact.h), from points that are all different: of counts there are few. */
#include "core/edm/smap_job.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/edm/smap_exact.h"
#include "core/edm/smap_normal.h"

enum {
    BLOCK_BYTES = 3 << 20,      /* of distances, if rows are few enough */
    MOST_ROWS = 16 * SYN_SMAP_ROWS,
    MOST_SHARES = 64
};

/* What rounding may leave of a sum of squares. */
#define MOST_ROUNDING 1e-13

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
    double *excess;             /* [rows] what a row of the hat matrix sums up to, less 1 */
    double excess_slope;        /* and that of the coefficients */
    double *strength;           /* [stride] sum of the rows that give coefficients */
    double *prediction;         /* [rows][columns] */
    double *panel, *solving;    /* for the product and for syn_smap_normal_hat() */
    double *weight;             /* [stride] for syn_smap_exact_hat(): of points, */
    double *heavy, *count;      /* [stride] and of places and how many neighbours each is; */
    double *exact_value, *exact_slope;  /* [stride] what it gives, of places */
    double *small;
    void *exact;
    double *memory;
};

/* ---- memory ---- */

static size_t padded(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static size_t stride_of(uint32_t points)
{
    return padded(syn_smap_stride(points), SYN_SMAP_POINTS);
}

/* Rows of a block, with that of the coefficients. */
static uint32_t rows_of(uint32_t points)
{
    size_t most = BLOCK_BYTES / sizeof(double) / stride_of(points);
    size_t all = padded((size_t)points + 1, SYN_SMAP_ROWS);
    most = most / SYN_SMAP_ROWS * SYN_SMAP_ROWS;
    most = most < MOST_ROWS ? most : MOST_ROWS;
    most = most < all ? most : all;
    return (uint32_t)(most > SYN_SMAP_ROWS ? most : SYN_SMAP_ROWS);
}

static size_t products_of(uint32_t unknowns)
{
    return padded((size_t)unknowns * (unknowns + 1) / 2, SYN_SMAP_COLUMNS);
}

/* Takes `n` doubles from *next, or counts them where there is no memory yet. */
static double *take(double *memory, size_t *next, size_t n)
{
    double *here = memory ? memory + *next : NULL;
    *next += padded(n, SYN_SMAP_PADDING);
    return here;
}

/* Cuts the memory of a worker, which may be NULL; the doubles that it is made of. */
static size_t cut(syn_smap_worker *w, double *memory, uint32_t steps, uint32_t dims,
                  size_t columns)
{
    size_t next = 0, stride = stride_of(steps), unknowns = (size_t)dims + 1;
    size_t products = products_of((uint32_t)unknowns), most = SYN_SMAP_ROWS * stride;
    if (most < BLOCK_BYTES / sizeof(double))
        most = BLOCK_BYTES / sizeof(double);
    if (most > MOST_ROWS * stride)
        most = MOST_ROWS * stride;
    w->from = take(memory, &next, dims);
    w->distance = take(memory, &next, most);
    w->square = take(memory, &next, most / SYN_SMAP_POINTS * SYN_SMAP_PITCH + SYN_SMAP_PITCH);
    w->equations = take(memory, &next, MOST_ROWS * products);
    w->value = take(memory, &next, MOST_ROWS * unknowns);
    w->slope = take(memory, &next, MOST_ROWS * unknowns);
    w->excess = take(memory, &next, MOST_ROWS);
    w->strength = take(memory, &next, stride);
    w->prediction = take(memory, &next, MOST_ROWS * columns);
    w->panel = take(memory, &next, (SYN_SMAP_POINTS + SYN_SMAP_SPARE) * products);
    w->solving = take(memory, &next, syn_smap_normal_room((uint32_t)unknowns));
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
    w->near = calloc(MOST_ROWS, sizeof *w->near);
    w->exact = malloc(syn_smap_exact_room(stride_of(steps), dims));
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

/* ---- a job ---- */

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
    j->row = malloc((size_t)steps * sizeof *j->row + 1);
    j->coordinate = malloc((size_t)j->dims * steps * sizeof *j->coordinate + 1);
    if (!j->row || !j->coordinate)
        return SYN_NO_MEMORY;
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
    j->panel = calloc(j->stride * j->columns, sizeof *j->panel);
    if (!j->panel)
        return SYN_NO_MEMORY;
    for (uint32_t c = 0; c < g->n; c++) {
        const double *y = g->value + (size_t)g->target[c] * steps;
        double *to = j->panel + c / wide * wide * SYN_SMAP_POINTS + c % wide;
        for (size_t i = 0; i < j->rows.n; i++) {
            double value = y[(int64_t)j->row[i] + Tp] - g->centre[c];
            size_t block = i / SYN_SMAP_POINTS * SYN_SMAP_POINTS * j->columns;
            to[block + i % SYN_SMAP_POINTS * wide] = isnan(value) ? 0 : value;
        }
    }
    return SYN_OK;
}

/* A number near the mean of the rows' coordinate k; of a constant, that. */
static double centre_of(const syn_smap_job *j, uint32_t k)
{
    const double *x = j->coordinate + (size_t)k * j->points.rows;
    double first = x[j->row[0]], sum = 0;
    for (uint32_t i = 0; i < j->rows.n; i++)
        sum += x[j->row[i]] - first;
    return first + sum / j->rows.n;
}

static syn_status make_terms(syn_smap_job *j)
{
    syn_smap_terms *t = &j->terms;
    double square = 0;
    t->n = j->dims + 1;
    t->pitch = padded(t->n, SYN_SMAP_PADDING);
    t->products = products_of(t->n);
    j->value = calloc(j->rows.n * t->pitch + SYN_SMAP_PADDING, sizeof *j->value);
    j->centre = calloc(t->n, sizeof *j->centre);
    j->centred = calloc(j->dims * j->stride, sizeof *j->centred);
    t->value = j->value;
    if (!j->value || !j->centre || !j->centred)
        return SYN_NO_MEMORY;
    for (uint32_t k = 0; k < t->n; k++) {
        j->centre[k] = k > 0 ? centre_of(j, k - 1) : 0;
        for (size_t i = 0; i < j->rows.n; i++) {
            double x = 1;
            if (k > 0) {
                const double *of = j->coordinate + (size_t)(k - 1) * j->points.rows;
                x = of[j->row[i]] - j->centre[k];
                j->centred[(k - 1) * j->stride + i] = x;
            }
            j->value[i * t->pitch + k] = x;
            square += k == 1 ? x * x : 0;
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

/* A row while they are ordered by their points. */
typedef struct point {
    const double *coordinate;  /* [dims][stride] from this row's first on */
    size_t stride;
    uint32_t dims, number;
} point;

static int compare_points(const void *a, const void *b)
{
    const point *x = a, *y = b;
    for (uint32_t k = 0; k < x->dims; k++) {
        double one = x->coordinate[k * x->stride], other = y->coordinate[k * x->stride];
        if (one != other)
            return one < other ? -1 : 1;
    }
    return 0;
}

/* Finds which points are the same. */
static syn_status find_places(syn_smap_job *j)
{
    const syn_smap_call *s = &j->call;
    point *all = malloc(j->rows.n * sizeof *all);
    j->place_of = malloc(j->rows.n * sizeof *j->place_of);
    j->place = malloc(j->dims * j->stride * sizeof *j->place);
    if (all && j->place_of && j->place) {
        for (uint32_t i = 0; i < j->rows.n; i++)
            all[i] = (point){s->side_by_side + i, s->stride, j->dims, i};
        qsort(all, j->rows.n, sizeof *all, compare_points);
        for (uint32_t i = 0; i < j->rows.n; i++) {
            if (i == 0 || compare_points(&all[i - 1], &all[i]) != 0) {
                for (uint32_t k = 0; k < j->dims; k++)
                    j->place[k * j->stride + j->places] = all[i].coordinate[k * s->stride];
                j->places++;
            }
            j->place_of[all[i].number] = j->places - 1;
        }
    }
    syn_status status = all && j->place_of && j->place ? SYN_OK : SYN_NO_MEMORY;
    free(all);
    return status;
}

static syn_status make_sums(syn_smap_job *j)
{
    j->block = rows_of(j->rows.n) - 1;
    share_out(j, j->rows.n);
    j->sum = calloc((size_t)j->shares * SYN_SMAP_SUMS * j->columns, sizeof *j->sum);
    j->known = calloc(j->shares, sizeof *j->known);
    j->made = calloc(j->shares, sizeof *j->made);
    return j->sum && j->known && j->made ? SYN_OK : SYN_NO_MEMORY;
}

/* Whether the targets are known at each step. */
static const double *any_target(const syn_smap_group *g, uint32_t steps)
{
    return g->value + (size_t)g->target[0] * steps;
}

/* `call` for this library. Its target, at each row, is only known or not. */
static syn_status make_call(syn_smap_job *j, const syn_smap_common *common)
{
    uint32_t steps = j->points.rows;
    const double *y = any_target(j->group, steps);
    double *later = malloc((size_t)steps * sizeof *later);
    if (!later)
        return SYN_NO_MEMORY;
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
    free(later);
    return status;
}

syn_status syn_smap_job_make(const syn_smap_common *common, uint32_t i, syn_smap_job *out)
{
    const syn_series *from = common->libraries;
    int none = i >= from->n;
    *out = (syn_smap_job){.group = common->group, .product = common->product,
                          .dims = common->options->E};
    out->points = (syn_points){from->steps, out->dims, NULL};
    out->columns = padded(out->group->n, SYN_SMAP_COLUMNS);
    syn_status status = find_rows(out, common->options,
                                  none ? NULL : from->value + (size_t)i * from->steps);
    out->stride = stride_of(out->rows.n);
    if (status != SYN_OK || (!none && (out->rows.n < 2 || all_alike(out))))
        return status;
    if (!none && common->whole->rows.n == out->rows.n)
        out->panels = common->whole->panels;
    else
        status = make_panels(out, common->options->Tp);
    if (out->panel)
        out->panels = out->panel;
    if (none || status != SYN_OK)
        return status;
    status = make_call(out, common);
    if (status == SYN_OK)
        status = make_terms(out);
    if (status == SYN_OK)
        status = find_places(out);
    if (status == SYN_OK)
        status = make_sums(out);
    return status;
}

syn_status syn_smap_job_rest(syn_smap_job *job, const syn_smap_rest *rest)
{
    if (!job->sum)
        return SYN_OK;
    job->only = malloc((size_t)rest->n * sizeof *job->only + 1);
    if (!job->only)
        return SYN_NO_MEMORY;
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
    free(job->only);
    free(job->row);
    free(job->coordinate);
    free(job->call.side_by_side);
    free(job->value);
    free(job->centre);
    free(job->centred);
    free(job->place_of);
    free(job->place);
    free(job->panel);
    free(job->sum);
    free(job->known);
    free(job->made);
}

/* ---- steps of a block ---- */

/* Which of the job's rows prediction r of the block is of. */
static uint32_t place_of(const syn_smap_job *j, const syn_smap_worker *w, uint32_t r)
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
    uint32_t row = j->row[place_of(j, w, r)];
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
    memset(w->equations, 0, padded(w->n, SYN_SMAP_ROWS) * j->terms.products *
                                sizeof *w->equations);
    memset(w->strength, 0, j->stride * sizeof *w->strength);
    memset(w->prediction, 0, padded(w->n + 1, SYN_SMAP_ROWS) * j->columns *
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
                         (uint32_t)padded(w->n, SYN_SMAP_ROWS), w->panel, w->equations);
    w->point += n;
    if (w->point == j->rows.n) {
        w->phase = SOLVE;
        w->done = 0;
    }
}

/* Neighbours of prediction r as places, with the weight of all that are there in
   `heavy`. */
static syn_smap_near gather_places(const syn_smap_job *j, syn_smap_worker *w, uint32_t r)
{
    const syn_smap_near *near = &w->near[r];
    syn_smap_near places = {.dims = j->dims, .stride = j->stride, .coordinate = j->place,
                            .target = j->place, .end = {j->places}, .n = near->n};
    double rate = syn_smap_rate(&j->call, near, 0);
    for (size_t from = 0; from < j->rows.n; from += SYN_SMAP_POINTS) {
        size_t left = j->rows.n - from, n = left < SYN_SMAP_POINTS ? left : SYN_SMAP_POINTS;
        j->product->weigh(near, rate, from, n, w->weight + from,
                          square_at(j, w, from) + r * (size_t)SYN_SMAP_PITCH);
    }
    memset(w->heavy, 0, j->places * sizeof *w->heavy);
    memset(w->count, 0, j->places * sizeof *w->count);
    for (uint32_t i = 0; i < j->rows.n; i++)
        if (w->weight[i] > 0) {
            w->heavy[j->place_of[i]] = w->weight[i];
            w->count[j->place_of[i]]++;
        }
    for (uint32_t i = 0; i < j->places; i++)
        w->heavy[i] *= sqrt(w->count[i]);
    return places;
}

/* The row of the hat matrix of a prediction whose equations are not good enough, in place
   of its weights. */
static void solve_exactly(const syn_smap_job *j, syn_smap_worker *w, uint32_t r)
{
    double sum = 0;
    syn_smap_near places = gather_places(j, w, r);
    syn_smap_point(&j->call, j->row[w->first + r], w->from);
    memset(w->exact_value, 0, j->places * sizeof *w->exact_value);
    memset(w->exact_slope, 0, j->places * sizeof *w->exact_slope);
    syn_smap_exact_hat(&places, w->heavy, j->call.options->ridge, w->from, w->exact,
                       w->small, w->exact_value, w->exact_slope);
    for (uint32_t i = 0; i < j->places; i++) {
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
        double *hat = square_at(j, w, i) + r * (size_t)SYN_SMAP_PITCH + i % SYN_SMAP_POINTS;
        *hat = used ? w->exact_value[j->place_of[i]] : 0;
        w->strength[i] += used ? w->exact_slope[j->place_of[i]] : 0;
    }
}

static void solve_next(const syn_smap_job *j, syn_smap_worker *w)
{
    uint32_t r = w->done++, unknowns = j->dims + 1;
    double *value = w->value + r * (size_t)unknowns;
    double *slope = w->slope + r * (size_t)unknowns;
    const double *at = j->value + place_of(j, w, r) * j->terms.pitch + 1;
    w->excess[r] = 0;
    int found = w->near[r].n > 0 &&
                syn_smap_normal_hat(unknowns, w->equations + r * j->terms.products,
                                    j->centre, j->call.options->ridge, at, j->size,
                                    w->solving, value, slope);
    if (!found) {
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
                    (uint32_t)padded(w->n + 1, SYN_SMAP_ROWS), w->prediction);
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
        size_t i = place_of(j, w, r);
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
