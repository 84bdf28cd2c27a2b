/* Simplex projection: the weighted mean of what followed the neighbours. */
#include "core/edm/simplex/simplex.h"

#include <math.h>
#include <string.h>

#include "core/base/arrays.h"
#include "core/base/parallel.h"

/* Puts the weight of each of the nearest first `n` rows in the place of its squared
   distance; `least` is that of the points. */
static void weigh(syn_near *near, uint32_t n, double least)
{
    double nearest = n > 0 ? sqrt(near[0].squared) : 0;
    nearest = nearest > least ? nearest : least;
    for (uint32_t j = 0; j < n; j++)
        near[j].squared = exp(-sqrt(near[j].squared) / nearest);
}

/* The weighted mean of the rows' values; NaN for no row, or where a value is missing. */
static double weighted_mean(const syn_near *near, uint32_t n,
                                       const double *value)
{
    double sum = 0, weights = 0;
    for (uint32_t j = 0; j < n; j++) {
        sum += near[j].squared * value[near[j].row];
        weights += near[j].squared;
    }
    return n > 0 ? sum / weights : NAN;
}

/* Their weighted variance about `mean`. */
static double weighted_variance(const syn_near *near, uint32_t n,
                                           const double *value, double mean)
{
    double sum = 0, weights = 0;
    for (uint32_t j = 0; j < n; j++) {
        double off = value[near[j].row] - mean;
        sum += near[j].squared * off * off;
        weights += near[j].squared;
    }
    return n > 0 ? sum / weights : NAN;
}

typedef struct projection {
    const syn_points *points;
    const syn_targets *targets;
    uint32_t predicted;
    double *prediction, *variance;
} projection;

static void project(void *context, int worker, uint32_t i, uint32_t e, syn_near *near,
                    uint32_t found)
{
    projection *p = context;
    (void)worker;
    (void)e;
    weigh(near, found, p->points->least);
    for (uint32_t t = 0; t < p->targets->n; t++) {
        const double *value = p->targets->value + (size_t)t * p->points->rows;
        size_t at = (size_t)t * p->predicted + i;
        p->prediction[at] = weighted_mean(near, found, value);
        p->variance[at] = weighted_variance(near, found, value, p->prediction[at]);
    }
}

syn_status syn_simplex(const syn_points *points, const syn_rows *library,
                       const syn_rows *predicted, const syn_neighbour_options *options,
                       const syn_targets *targets, const syn_watch *watch,
                       double *prediction, double *variance)
{
    syn_reach from = {*library, NULL}, of = {*predicted, NULL};
    projection p = {points, targets, predicted->n, prediction, variance};
    return syn_each_neighbourhood(points, &from, &of, points->dims, options, watch,
                                  project, &p);
}

/* ---- in all numbers of dimensions ---- */

static void project_step(void *context, int worker, uint32_t i, uint32_t e,
                         syn_near *near, uint32_t found)
{
    projection *p = context;
    (void)worker;
    weigh(near, found, p->points->least);
    p->prediction[(size_t)e * p->predicted + i] =
        weighted_mean(near, found, p->targets->value);
}

syn_status syn_simplex_sweep(const syn_points *points, const syn_reach *library,
                             const syn_reach *predicted,
                             const syn_sweep_options *options, const double *target,
                             const syn_watch *watch, double *prediction)
{
    syn_neighbour_options o = {2, options->exclusion, options->threads,
                               options->vector_bits};
    syn_targets targets = {1, target};
    projection p = {points, &targets, predicted->rows.n, prediction, NULL};
    size_t all = (size_t)(points->dims / options->step) * p.predicted;
    for (size_t i = 0; i < all; i++)
        prediction[i] = NAN;
    return syn_each_neighbourhood(points, library, predicted, options->step, &o, watch,
                                  project_step, &p);
}

/* ---- in state spaces that are made of some of the coordinates each ---- */

/* Pairs of rows up to which a view is the work of one thread, some 50 ms. */
static const double FEW_PAIRS = 1e7;

typedef struct views_job {
    const syn_points *points;
    const syn_rows *library, *predicted;
    const syn_views *views;
    syn_neighbour_options options;
    const double *target;
    const syn_watch *watch;   /* of a view */
    double *prediction;
} views_job;

/* The rows that have all coordinates, in `to`, and their numbers in `at`. */
static syn_rows complete_rows(const syn_points *p, const syn_rows *rows, uint32_t *to,
                              uint32_t *at)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        int all = 1;
        for (uint32_t d = 0; d < p->dims; d++)
            all = all && isfinite(p->coordinate[(size_t)d * p->rows + rows->row[i]]);
        if (!all)
            continue;
        at[n] = i;
        to[n++] = rows->row[i];
    }
    return (syn_rows){n, to};
}

static syn_status predict_view(void *context, size_t view, int worker)
{
    const views_job *j = context;
    const syn_points *all = j->points;
    uint32_t n = j->predicted->n, most = n > j->library->n ? n : j->library->n;
    syn_arrays memory = {0};
    size_t coordinates = (size_t)j->views->dims * all->rows;
    double *coordinate = syn_take(&memory, coordinates, sizeof *coordinate);
    double *prediction = syn_take(&memory, n, sizeof *prediction);
    double *variance = syn_take(&memory, n, sizeof *variance);
    uint32_t *in_library = syn_take(&memory, most, sizeof *in_library);
    uint32_t *in_predicted = syn_take(&memory, n, sizeof *in_predicted);
    uint32_t *at = syn_take(&memory, most, sizeof *at);
    syn_status status = syn_taken(&memory);
    (void)worker;
    if (status == SYN_OK) {
        syn_points p = {.rows = all->rows, .dims = j->views->dims,
                        .coordinate = coordinate, .least = all->least};
        for (uint32_t d = 0; d < p.dims; d++) {
            uint32_t column = j->views->column[view * p.dims + d];
            memcpy(coordinate + (size_t)d * p.rows,
                   all->coordinate + (size_t)column * p.rows, p.rows * sizeof(double));
        }
        syn_rows library = complete_rows(&p, j->library, in_library, at);
        syn_rows predicted = complete_rows(&p, j->predicted, in_predicted, at);
        syn_targets target = {1, j->target};
        double *out = j->prediction + view * n;
        for (uint32_t i = 0; i < n; i++)
            out[i] = NAN;
        if (library.n >= j->options.k)
            status = syn_simplex(&p, &library, &predicted, &j->options, &target, j->watch,
                                 prediction, variance);
        for (uint32_t i = 0; i < predicted.n && library.n >= j->options.k; i++)
            out[at[i]] = prediction[i];
    }
    syn_give_back(&memory);
    return status;
}

syn_status syn_simplex_views(const syn_points *points, const syn_rows *library,
                             const syn_rows *predicted, const syn_views *views,
                             const syn_neighbour_options *options, const double *target,
                             const syn_watch *watch, double *prediction)
{
    views_job j = {points, library, predicted, views, *options, target, NULL, prediction};
    if ((double)library->n * predicted->n <= FEW_PAIRS) {
        j.options.threads = 1;
        return syn_parallel_for(views->n, options->threads, watch, "views", predict_view,
                                &j);
    }
    j.watch = watch;
    for (uint32_t v = 0; v < views->n; v++)
        SYN_TRY(predict_view(&j, v, 0));
    return SYN_OK;
}
