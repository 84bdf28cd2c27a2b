/* S-maps: passes points, library and target to core/edm/smap/smap.h or
   gpu/edm/smap/smap.h. */
#include <math.h>

#include "glue/edm.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/watch.h"
#include "gpu/edm/pairs/smap_pairs.h"
#include "gpu/edm/smap/smap.h"

/* `options`: neighbours, exclusion radius, ridge, GPUs or NULL, threads, and whether
   local models are wanted. */
static syn_smap_options read_options(SEXP options, SEXP theta)
{
    R_xlen_t n = Rf_xlength(numbers(theta, REALSXP, 1, "theta"));
    for (R_xlen_t i = 0; i < n; i++)
        within(REAL(theta)[i], 0, R_PosInf, "theta");
    return (syn_smap_options){
        .thetas = (uint32_t)within((double)n, 1, INT32_MAX, "theta"),
        .theta = REAL(theta), .k = (uint32_t)glue_option_int(options, "k", 1, INT32_MAX),
        .exclusion = (uint32_t)glue_option_int(options, "exclusion", 0, INT32_MAX),
        .ridge = glue_option_number(options, "ridge", 0, R_PosInf), .missing = NA_REAL,
        .threads = glue_option_threads(options),
        .vector_bits = glue_option_vector_bits(options),
        .way = (syn_smap_way)glue_option_for_tests(options, "way", SYN_SMAP_MANY)};
}

/* The columns as R's, each with `rows` numbers: number at[j] of `n` is in row place[j],
   and there is none in the others. `shown`: these three. */
static SEXP shown_columns(const double *value, size_t n, int columns, SEXP shown)
{
    int rows = glue_option_int(shown, "rows", 0, INT32_MAX);
    SEXP places = numbers(glue_option(shown, "place"), INTSXP, 0, "place");
    SEXP numbers_at = numbers(glue_option(shown, "at"), INTSXP, Rf_xlength(places), "at");
    const int *place = INTEGER(places), *at = INTEGER(numbers_at);
    R_xlen_t shown_n = Rf_xlength(places);
    int there = 1;
    for (R_xlen_t j = 0; j < shown_n; j++)
        there &= place[j] >= 1 && place[j] <= rows && at[j] >= 1 && (size_t)at[j] <= n;
    require(there, "place");
    SEXP out = PROTECT(Rf_allocVector(VECSXP, columns));
    for (int c = 0; c < columns; c++, value += n) {
        SEXP column = Rf_allocVector(REALSXP, rows);
        SET_VECTOR_ELT(out, c, column);
        double *to = REAL(column);
        for (int i = 0; i < rows; i++)
            to[i] = NA_REAL;
        for (R_xlen_t j = 0; j < shown_n; j++)
            to[place[j] - 1] = value[at[j] - 1];
    }
    UNPROTECT(1);
    return out;
}

/* S-maps of the points. `library` and `prediction`: rows from 1; `target`: of each row.
   Returns matrices with a column for each theta and, where `shown` of the options is not
   NULL, the coefficients and the singular values, those of one theta after the other: see
   shown_columns(). */
SEXP r_edm_smap(glue_owner *own, SEXP points, SEXP library, SEXP prediction, SEXP target,
                SEXP theta, SEXP options)
{
    const char *fields[] = {"predictions", "variance", "coefficients", "singular", ""};
    syn_points p = glue_points(points), space;
    numbers(target, REALSXP, p.rows, "target");
    syn_rows from = glue_rows_of(library, p.rows);
    syn_rows to = glue_rows_of(prediction, p.rows);
    syn_smap_options o = read_options(options, theta);
    syn_gpu_call gpu = glue_option_gpus(options);
    if (gpu.n == 0)
        p = glue_located(own, p);
    if ((uint64_t)o.k + 1 < from.n) {
        space = glue_points_for(own, p, &gpu);
        o.space = &space;
    }
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_allocMatrix(REALSXP, (int)to.n, (int)o.thetas));
    SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, (int)to.n, (int)o.thetas));
    syn_smap_result result = {REAL(VECTOR_ELT(out, 0)), REAL(VECTOR_ELT(out, 1)), NULL,
                              NULL};
    SEXP shown = glue_option(options, "shown");
    int columns = (int)(o.thetas * (p.dims + 1)), local = !Rf_isNull(shown);
    if (local) {
        result.coefficient = glue_columns(own, to.n, (size_t)columns);
        result.singular = glue_columns(own, to.n, (size_t)columns);
    }
    gpu.watch = glue_watch(own, "Fitting S-maps");
    syn_status status =
        gpu.n == 0 ? syn_smap(&p, &from, &to, REAL(target), &o, gpu.watch, &result)
                   : syn_gpu_smap(&p, &from, &to, REAL(target), &o, &gpu, &result);
    if (local && status == SYN_OK) {
        SET_VECTOR_ELT(out, 2, shown_columns(result.coefficient, to.n, columns, shown));
        SET_VECTOR_ELT(out, 3, shown_columns(result.singular, to.n, columns, shown));
    }
    UNPROTECT(1);
    return glue_answer(out, status, gpu.reason);
}

/* ---- of all pairs ----

   S-maps of all pairs: passes both sides to core/edm/smap/pairs.h, or to GPUs. */

static syn_smap_pairs_options pairs_options(SEXP options)
{
    const int far = 1000000;
    syn_smap_pairs_options out = {
        .E = (uint32_t)glue_option_int(options, "E", 1, 1000),
        .tau = (int32_t)glue_option_int(options, "tau", -far, far),
        .Tp = (int32_t)glue_option_int(options, "Tp", -far, far),
        .exclusion = (uint32_t)glue_option_int(options, "exclusion", 0, 1 << 30),
        .theta = glue_option_number(options, "theta", 0, R_PosInf),
        .ridge = glue_option_number(options, "ridge", 0, R_PosInf),
        .threads = glue_option_threads(options),
        .vector_bits = glue_option_vector_bits(options)};
    require(out.tau != 0, "tau");
    return out;
}

/* A matrix of libraries x targets from one that has the targets of a library side by
   side. */
static SEXP matrix_of(const double *value, const syn_series *libraries,
                      const syn_series *targets)
{
    SEXP out = Rf_allocMatrix(REALSXP, (int)libraries->n, (int)targets->n);
    for (size_t i = 0; i < libraries->n; i++)
        for (size_t j = 0; j < targets->n; j++) {
            double x = value[i * targets->n + j];
            REAL(out)[j * libraries->n + i] = isnan(x) ? NA_REAL : x;
        }
    return out;
}

/* `libraries`, `targets`: double matrices of the same steps x series. Returns matrices of
   libraries x targets, with NA. */
SEXP r_smap_pairs(glue_owner *own, SEXP libraries, SEXP targets, SEXP options)
{
    const char *fields[] = {"rho", "strength", ""};
    syn_series from = glue_series(libraries, 1, "libraries");
    syn_series to = glue_series(targets, 1, "targets");
    syn_smap_pairs_options o = pairs_options(options);
    syn_gpu_call gpu = glue_option_gpus(options);
    require(from.steps == to.steps, "steps");
    size_t pairs = (size_t)from.n * to.n;
    syn_smap_pairs result = {glue_hold(own, (pairs + 1) * sizeof(double), NULL),
                             glue_hold(own, (pairs + 1) * sizeof(double), NULL)};
    gpu.watch = glue_watch(own, "Fitting S-maps");
    syn_status status = gpu.n == 0
                            ? syn_smap_pairs_make(&from, &to, &o, gpu.watch, &result)
                            : syn_gpu_smap_pairs(&from, &to, &o, &gpu, &result);
    if (status != SYN_OK)
        return glue_status_because(status, NA_REAL, NA_REAL, gpu.reason);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, matrix_of(result.rho, &from, &to));
    SET_VECTOR_ELT(out, 1, matrix_of(result.strength, &from, &to));
    UNPROTECT(1);
    return out;
}
