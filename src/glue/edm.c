/* Nearest neighbours and simplex projection for R. All entries take

     points   double matrix, rows of the data x coordinates; NA where a point leaves the
              data, but finite at the rows in use. Or delay vectors, as r_edm_points()
              takes them: a GPU makes these itself, and for the CPU they are made outside
              of R's heap, which would keep them after the call and be collected more
              often for it
     lib      integer, the rows (from 1, increasing) that may be neighbours
     pred     integer, the rows (from 1, increasing) to predict
     options  a list: see each entry

   and return a `synfire_status` for finish_status() when they did not end well. Options
   have `gpus`, too: see glue_option_gpus().

   r_edm_neighbours(points, lib, pred, list(k, exclusion, threads))
     list(row = integer, distance = double), both length(pred) x k: the nearest rows in
     the order of core/edm/neighbours/neighbours.h, and how far they are; NA after the
     last in a small library

   r_edm_simplex(points, lib, pred, targets, list(k, exclusion, threads))
     targets: double matrix, rows of the data x series; at row t what a point at row t
     predicts, that is the series at t + Tp; NA where missing
     list(predictions = double, variance = double), both length(pred) x series; NA where
     there is no neighbour, or where one of the neighbours has no target

   r_edm_sweep(points, lib, lib_E, pred, pred_E, target,
               list(step, exclusion, at, observed, threads))
     points: the coordinates that E = 1 needs come first (`step` of them: as many as there
     are columns), then those that E = 2 adds, and so on; E_max = ncol(points) / step
     lib_E, pred_E: integer, as long as lib and pred, from 0 to E_max: the largest E at
     which the row may be used; the coordinates it needs up to there are finite
     target: double, one series as in `targets`
     predictions are those of r_edm_simplex() with k = E + 1, and there are none where
     pred_E is smaller than E
     at, observed: integer and double, as long as each other: which of `pred` (from 1) is
     compared with which value
     double, E_max: the correlation of predictions and values, NA where there is none. In
     tests, without `observed`, a double matrix of predictions, length(pred) x E_max

   r_edm_views(points, lib, pred, views, target, list(k, exclusion, threads))
     coordinates may be missing anywhere; views: integer matrix, coordinates (from 1) of a
     view x views
     double matrix, length(pred) x views: r_edm_simplex() in the coordinates of each view,
     with the rows that have them; NA also where the view's library has fewer than k */
#include "glue/edm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/pages.h"
#include "core/edm/model/embed.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/watch.h"
#include "gpu/edm/simplex/simplex.h"

static void free_pointer(void *held)
{
    free(*(void **)held);
}

static syn_delays read_delays(SEXP delays)
{
    SEXP values = glue_option(delays, "values"), lags = glue_option(delays, "lags");
    SEXP first = glue_option(delays, "first"), last = glue_option(delays, "last");
    require(TYPEOF(values) == VECSXP, "values");
    R_xlen_t rows = Rf_xlength(numbers(first, INTSXP, 0, "first")), n = XLENGTH(values);
    require(rows <= INT_MAX && n <= INT_MAX, "values");
    numbers(last, INTSXP, rows, "last");
    int n_lags = Rf_length(numbers(lags, REALSXP, 0, "lags"));
    require((double)n * n_lags <= INT_MAX, "lags");
    const int *to = INTEGER(last);
    for (R_xlen_t i = 0; i < rows;) {
        require(INTEGER(first)[i] == i + 1, "first");
        int end = (int)within(to[i], i + 1, rows, "last"), same = 1;
        for (; i < end; i++)
            same &= to[i] == end;
        require(same, "last");
    }
    const double **value = (const double **)R_alloc((size_t)n + 1, sizeof *value);
    for (R_xlen_t i = 0; i < n; i++)
        value[i] = REAL(numbers(VECTOR_ELT(values, i), REALSXP, rows, "values"));
    return (syn_delays){(uint32_t)rows, (uint32_t)n, (uint32_t)n_lags, value, REAL(lags),
                        INTEGER(first), INTEGER(last)};
}

syn_points glue_points(SEXP points)
{
    if (TYPEOF(points) != VECSXP) {
        numbers(points, REALSXP, 0, "points");
        require(Rf_isMatrix(points) && Rf_ncols(points) >= 1, "points");
        return (syn_points){.rows = (uint32_t)Rf_nrows(points),
                            .dims = (uint32_t)Rf_ncols(points),
                            .coordinate = REAL(points)};
    }
    syn_delays *d = (syn_delays *)R_alloc(1, sizeof *d);
    *d = read_delays(points);
    require(d->series * d->lags >= 1, "points");
    return (syn_points){.rows = d->rows, .dims = d->series * d->lags, .delays = d};
}

static syn_points require_memory(syn_points points, syn_status status)
{
    if (status == SYN_NO_MEMORY)
        glue_no_memory((double)points.rows * points.dims * sizeof(double));
    require(status == SYN_OK, "points");
    return points;
}

/* Copies are outside of R's heap, as delay vectors are. */
syn_points glue_measured(glue_owner *own, syn_points points)
{
    void **copy = glue_hold(own, sizeof *copy, free_pointer);
    syn_status status = syn_measure_points(&points, copy);
    return require_memory(points, status);
}

syn_points glue_located(glue_owner *own, syn_points points)
{
    double **made = glue_hold(own, sizeof *made, free_pointer);
    syn_status status = syn_locate_points(&points, made);
    return require_memory(points, status);
}

double *glue_columns(glue_owner *own, size_t n, size_t columns)
{
    size_t bytes = (n * columns + 1) * sizeof(double);
    double **room = glue_hold(own, sizeof *room, free_pointer);
    *room = syn_large_malloc(bytes);
    if (!*room)
        glue_no_memory((double)bytes);
    return *room;
}

syn_points glue_points_for(glue_owner *own, syn_points points, const syn_gpu_call *gpu)
{
    points = glue_measured(own, points);
    return gpu->n == 0 ? glue_located(own, points) : points;
}

/* Rows from 0, in memory that R frees after the call. */
syn_rows glue_rows_of(SEXP rows, uint32_t all)
{
    R_xlen_t n = Rf_xlength(numbers(rows, INTSXP, 0, "rows"));
    require(n <= (R_xlen_t)all, "rows");
    uint32_t *row = (uint32_t *)R_alloc((size_t)n + 1, sizeof *row);
    const int *from = INTEGER(rows);
    int increase = n == 0 || (from[0] >= 1 && (uint32_t)from[n - 1] <= all);
    for (R_xlen_t i = 1; i < n; i++)
        increase &= from[i - 1] < from[i];
    require(increase, "rows");
    for (R_xlen_t i = 0; i < n; i++)
        row[i] = (uint32_t)from[i] - 1;
    return (syn_rows){.n = (uint32_t)n, .row = row};
}

/* How many coordinates of each row there are, where they are those of delay vectors. */
static const int *reach_of(const syn_points *p)
{
    if (!p->delays)
        return NULL;
    int *reach = (int *)R_alloc((size_t)p->rows + 1, sizeof *reach);
    syn_delay_reach(p->delays, reach);
    return reach;
}

/* A coordinate after the other, as they lie in memory; of a row those before steps[i] *
   step, or all where `steps` is NULL. `reach`: see reach_of(). */
static void require_finite(const syn_points *p, const int *reach, const syn_rows *rows,
                           const uint32_t *steps, uint32_t step)
{
    int there = 1;
    for (uint32_t i = 0; reach && i < rows->n; i++)
        there &= reach[rows->row[i]] >= (int)(steps ? steps[i] * step : p->dims);
    require(there, "coordinates");
    if (reach)
        return;
    for (uint32_t d = 0; d < p->dims; d++) {
        const double *x = p->coordinate + (size_t)d * p->rows;
        int all = 1;
        for (uint32_t i = 0; i < rows->n; i++)
            all &= isfinite(x[rows->row[i]]) || (steps && d >= steps[i] * step);
        require(all, "coordinates");
    }
}

static syn_rows read_finite_rows(SEXP rows, const syn_points *points, const int *reach)
{
    syn_rows out = glue_rows_of(rows, points->rows);
    require_finite(points, reach, &out, NULL, 0);
    return out;
}

static syn_reach read_reach(SEXP rows, SEXP steps, const syn_points *points,
                            const int *reach, uint32_t step)
{
    syn_reach out = {.rows = glue_rows_of(rows, points->rows)};
    numbers(steps, INTSXP, 0, "reach of rows");
    require(Rf_xlength(steps) == (R_xlen_t)out.rows.n, "reach of rows");
    out.steps = (const uint32_t *)INTEGER(steps);
    int there = 1;
    for (uint32_t i = 0; i < out.rows.n; i++)
        there &= out.steps[i] <= points->dims / step;
    require(there, "reach of rows");
    require_finite(points, reach, &out.rows, out.steps, step);
    return out;
}

static uint32_t read_exclusion(SEXP options)
{
    return (uint32_t)glue_option_int(options, "exclusion", 0, INT32_MAX);
}

static syn_neighbour_options read_options(SEXP options)
{
    return (syn_neighbour_options){
        .k = (uint32_t)glue_option_int(options, "k", 1, INT32_MAX),
        .exclusion = read_exclusion(options), .threads = glue_option_threads(options),
        .vector_bits = glue_option_vector_bits(options)};
}

void glue_nan_to_na(double *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ISNAN(value[i]))
            value[i] = NA_REAL;
}

syn_series glue_series(SEXP x, uint32_t least, const char *what)
{
    require(TYPEOF(x) == REALSXP && Rf_isMatrix(x) && (uint32_t)Rf_nrows(x) >= least,
            what);
    return (syn_series){(uint32_t)Rf_ncols(x), (uint32_t)Rf_nrows(x), REAL(x)};
}

/* ---- neighbours ---- */

static void release(void *held)
{
    syn_neighbours_free(held);
}

/* How far two rows are apart in the units of R's points. */
static double distance_of(const syn_points *p, uint32_t a, uint32_t b)
{
    double sum = 0;
    for (uint32_t d = 0; d < p->dims; d++) {
        const double *x = p->coordinate + (size_t)d * p->rows;
        sum += (x[a] - x[b]) * (x[a] - x[b]);
    }
    return sqrt(sum);
}

static SEXP neighbours_list(const syn_neighbours *found, const syn_points *points,
                            const syn_rows *predicted)
{
    const char *fields[] = {"row", "distance", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    size_t n = found->n, k = found->k;
    SET_VECTOR_ELT(out, 0, Rf_allocMatrix(INTSXP, (int)n, (int)k));
    SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, (int)n, (int)k));
    int *row = INTEGER(VECTOR_ELT(out, 0));
    double *distance = REAL(VECTOR_ELT(out, 1));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++) {
            int there = j < found->found[i];
            row[j * n + i] = there ? (int)found->row[i * k + j] + 1 : NA_INTEGER;
            distance[j * n + i] =
                there ? distance_of(points, found->row[i * k + j], predicted->row[i])
                      : NA_REAL;
        }
    UNPROTECT(1);
    return out;
}

SEXP r_edm_neighbours(glue_owner *own, SEXP points, SEXP lib, SEXP pred, SEXP options)
{
    syn_points p = glue_located(own, glue_points(points));
    const int *reach = reach_of(&p);
    syn_rows library = read_finite_rows(lib, &p, reach);
    syn_rows predicted = read_finite_rows(pred, &p, reach);
    syn_neighbour_options o = read_options(options);
    syn_gpu_call gpu = glue_option_gpus(options);
    syn_neighbours *found = glue_hold(own, sizeof *found, release);
    gpu.watch = glue_watch(own, "Finding neighbours");
    syn_points m = glue_points_for(own, p, &gpu);
    syn_status status =
        gpu.n == 0 ? syn_find_neighbours(&m, &library, &predicted, &o, gpu.watch, found)
                    : syn_gpu_find_neighbours(&m, &library, &predicted, &o, &gpu, found);
    return status == SYN_OK ? neighbours_list(found, &p, &predicted)
                            : glue_status_because(status, NA_REAL, NA_REAL, gpu.reason);
}

/* ---- projection ---- */

SEXP r_edm_simplex(glue_owner *own, SEXP points, SEXP lib, SEXP pred, SEXP targets,
                   SEXP options)
{
    syn_points p = glue_points(points);
    const int *reach = reach_of(&p);
    syn_rows library = read_finite_rows(lib, &p, reach);
    syn_rows predicted = read_finite_rows(pred, &p, reach);
    syn_neighbour_options o = read_options(options);
    numbers(targets, REALSXP, 0, "targets");
    syn_targets t = {.n = Rf_isMatrix(targets) ? (uint32_t)Rf_ncols(targets) : 1,
                     .value = REAL(targets)};
    require(Rf_xlength(targets) == (R_xlen_t)p.rows * t.n, "targets");

    const char *fields[] = {"predictions", "variance", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    for (int i = 0; i < 2; i++)
        SET_VECTOR_ELT(out, i, Rf_allocMatrix(REALSXP, (int)predicted.n, (int)t.n));
    double *prediction = REAL(VECTOR_ELT(out, 0)), *variance = REAL(VECTOR_ELT(out, 1));
    syn_gpu_call gpu = glue_option_gpus(options);
    gpu.watch = glue_watch(own, "Predicting");
    p = glue_points_for(own, p, &gpu);
    syn_status status =
        gpu.n == 0 ? syn_simplex(&p, &library, &predicted, &o, &t, gpu.watch, prediction,
                                 variance)
                   : syn_gpu_simplex(&p, &library, &predicted, &o, &t, &gpu, prediction,
                                     variance);
    UNPROTECT(1);
    if (status != SYN_OK)
        return glue_status_because(status, NA_REAL, NA_REAL, gpu.reason);
    glue_nan_to_na(prediction, (size_t)predicted.n * t.n);
    glue_nan_to_na(variance, (size_t)predicted.n * t.n);
    return out;
}

/* Correlations of the columns of predictions with what `options` says was observed. A
   matrix of R as large as the predictions would have R collect its heap in each call. */
static SEXP skill_of(glue_owner *own, const double *prediction, size_t n, size_t columns,
                     SEXP options, int threads)
{
    SEXP observed = glue_option(options, "observed");
    int compared = !Rf_isNull(observed);
    SEXP out = PROTECT(compared ? Rf_allocVector(REALSXP, (R_xlen_t)columns)
                                : Rf_allocMatrix(REALSXP, (int)n, (int)columns));
    if (compared) {
        size_t pairs = (size_t)Rf_xlength(numbers(observed, REALSXP, 0, "observed"));
        SEXP places = numbers(glue_option(options, "at"), INTSXP, (R_xlen_t)pairs, "at");
        const int *at = INTEGER(places);
        syn_fit *fit = glue_hold(own, (columns + 1) * sizeof *fit, NULL);
        int there = 1, in_place = pairs == n;
        for (size_t i = 0; i < pairs; i++) {
            there &= at[i] >= 1 && (size_t)at[i] <= n;
            in_place &= (size_t)at[i] == i + 1;
        }
        require(there, "at");
        double *shown = in_place ? NULL : glue_columns(own, pairs, columns);
        for (size_t c = 0; shown && c < columns; c++)
            for (size_t i = 0; i < pairs; i++)
                shown[c * pairs + i] = prediction[c * n + (size_t)at[i] - 1];
        syn_fit_columns(REAL(observed), shown ? shown : prediction, pairs, columns,
                        threads, fit);
        for (size_t c = 0; c < columns; c++)
            REAL(out)[c] = fit[c].rho;
    } else {
        memcpy(REAL(out), prediction, n * columns * sizeof *prediction);
    }
    glue_nan_to_na(REAL(out), (size_t)Rf_xlength(out));
    UNPROTECT(1);
    return out;
}

SEXP r_edm_sweep(glue_owner *own, SEXP points, SEXP lib, SEXP lib_E, SEXP pred,
                 SEXP pred_E, SEXP target, SEXP options)
{
    syn_points p = glue_points(points);
    const int *reach = reach_of(&p);
    uint32_t step = (uint32_t)glue_option_int(options, "step", 1, p.dims);
    require(p.dims % step == 0, "step");
    syn_sweep_options s = {.step = step, .exclusion = read_exclusion(options),
                           .threads = glue_option_threads(options),
                           .vector_bits = glue_option_vector_bits(options)};
    syn_reach library = read_reach(lib, lib_E, &p, reach, step);
    syn_reach predicted = read_reach(pred, pred_E, &p, reach, step);
    numbers(target, REALSXP, p.rows, "target");

    size_t n = predicted.rows.n, E_max = p.dims / step;
    syn_gpu_call gpu = glue_option_gpus(options);
    double *prediction = glue_columns(own, n, E_max);
    gpu.watch = glue_watch(own, "Predicting");
    p = glue_points_for(own, p, &gpu);
    syn_status status =
        gpu.n == 0 ? syn_simplex_sweep(&p, &library, &predicted, &s, REAL(target),
                                       gpu.watch, prediction)
                   : syn_gpu_simplex_sweep(&p, &library, &predicted, &s, REAL(target),
                                           &gpu, prediction);
    if (status != SYN_OK)
        return glue_status_because(status, NA_REAL, NA_REAL, gpu.reason);
    return skill_of(own, prediction, n, E_max, options, s.threads);
}

/* ---- views ---- */

static syn_views read_views(SEXP views, const syn_points *points)
{
    numbers(views, INTSXP, 0, "views");
    require(Rf_isMatrix(views) && Rf_nrows(views) >= 1, "views");
    syn_views out = {.n = (uint32_t)Rf_ncols(views), .dims = (uint32_t)Rf_nrows(views)};
    size_t n = (size_t)out.n * out.dims;
    uint32_t *column = (uint32_t *)R_alloc(n + 1, sizeof *column);
    for (size_t i = 0; i < n; i++)
        column[i] = (uint32_t)within(INTEGER(views)[i], 1, points->dims, "views") - 1;
    out.column = column;
    return out;
}

SEXP r_edm_views(glue_owner *own, SEXP points, SEXP lib, SEXP pred, SEXP views,
                 SEXP target, SEXP options)
{
    syn_points p = glue_points(points);
    syn_rows library = glue_rows_of(lib, p.rows);
    syn_rows predicted = glue_rows_of(pred, p.rows);
    syn_views v = read_views(views, &p);
    syn_neighbour_options o = read_options(options);
    numbers(target, REALSXP, p.rows, "target");
    syn_gpu_call gpu = glue_option_gpus(options);
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)predicted.n, (int)v.n));
    gpu.watch = glue_watch(own, "Predicting");
    p = glue_points_for(own, p, &gpu);
    syn_status status =
        gpu.n == 0
            ? syn_simplex_views(&p, &library, &predicted, &v, &o, REAL(target), gpu.watch,
                                REAL(out))
            : syn_gpu_simplex_views(&p, &library, &predicted, &v, &o, REAL(target),
                                    &gpu, REAL(out));
    UNPROTECT(1);
    if (status == SYN_OK)
        glue_nan_to_na(REAL(out), (size_t)Rf_xlength(out));
    return glue_answer(out, status, gpu.reason);
}

/* ---- points and fits ----

   Delay vectors and errors of predictions for R.

   r_edm_points(delays), r_edm_reach(delays)
     delays: a list of `values`, a list of doubles, a series each, all as long as `first`
     and `last`: integer, the first and the last row (from 1) of the stretch of each row;
     and of `lags`: double, whole numbers
     double matrix, rows x (series * lags), NA where a lag leaves the stretch; and
     integer, how many coordinates of each row are there, from the first on

   r_edm_fit(observed, predicted, threads)
     doubles, as long as each other, or `predicted` a matrix of such columns
     list(MAE, rho, RMSE, CAE, pairs): a number for each column; NA where there is none */

SEXP r_edm_points(SEXP delays)
{
    syn_delays d = read_delays(delays);
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)d.rows, (int)(d.series * d.lags)));
    syn_delay_points(&d, NA_REAL, REAL(out));
    UNPROTECT(1);
    return out;
}

SEXP r_edm_reach(SEXP delays)
{
    syn_delays d = read_delays(delays);
    SEXP out = PROTECT(Rf_allocVector(INTSXP, d.rows));
    syn_delay_reach(&d, INTEGER(out));
    UNPROTECT(1);
    return out;
}

SEXP r_edm_fit(glue_owner *own, SEXP observed, SEXP predicted, SEXP threads)
{
    R_xlen_t n = Rf_xlength(numbers(observed, REALSXP, 0, "observed"));
    R_xlen_t columns = Rf_isMatrix(predicted) ? Rf_ncols(predicted) : 1;
    numbers(predicted, REALSXP, n * columns, "predicted");
    int workers = (int)within(Rf_asReal(threads), 1, 1024, "threads");
    syn_fit *fit = glue_hold(own, (size_t)columns * sizeof *fit, NULL);
    const char *fields[] = {"MAE", "rho", "RMSE", "CAE", "pairs", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    syn_fit_columns(REAL(observed), REAL(predicted), (size_t)n, (size_t)columns, workers,
                    fit);
    for (int i = 0; i < 5; i++)
        SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, columns));
    for (R_xlen_t k = 0; k < columns; k++) {
        const double found[] = {fit[k].mae, fit[k].rho, fit[k].rmse, fit[k].cae,
                                (double)fit[k].pairs};
        for (int i = 0; i < 5; i++)
            REAL(VECTOR_ELT(out, i))[k] = isnan(found[i]) ? NA_REAL : found[i];
    }
    UNPROTECT(1);
    return out;
}
