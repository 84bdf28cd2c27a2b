/* Conditional forecasts: passes series and jobs to core/edm/forecast, or to GPUs. */
#include "glue/glue.h"

#include <float.h>
#include <math.h>

#include "core/edm/forecast/linear.h"
#include "glue/edm.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/watch.h"
#include "gpu/edm/forecast/forecast.h"

/* What the jobs of a call may name. */
typedef struct bounds {
    uint32_t series, reach;
} bounds;

/* A series, from 1 in R. */
static uint32_t series_at(int number, const bounds *b, const char *what)
{
    return (uint32_t)within(number, 1, b->series, what) - 1;
}

/* Where the lists of the jobs begin: numbers from 0 to `all`, integer or double. */
static const size_t *starts_of(glue_owner *own, SEXP starts, size_t jobs, size_t all,
                               const char *what)
{
    require(TYPEOF(starts) == REALSXP || TYPEOF(starts) == INTSXP, what);
    require((size_t)Rf_xlength(starts) == jobs + 1, what);
    size_t *out = glue_hold(own, (jobs + 1) * sizeof *out, NULL);
    for (size_t i = 0; i <= jobs; i++) {
        double at = TYPEOF(starts) == REALSXP ? REAL(starts)[i] : INTEGER(starts)[i];
        out[i] = (size_t)within(at, i > 0 ? (double)out[i - 1] : 0, (double)all, what);
    }
    require(out[0] == 0 && out[jobs] == all, what);
    return out;
}

/* A whole-number matrix with a column (series, lag) for each. */
static const syn_lagged *lagged_of(glue_owner *own, SEXP x, const bounds *b, size_t *n,
                                   const char *what)
{
    require(TYPEOF(x) == INTSXP && Rf_isMatrix(x) && Rf_nrows(x) == 2, what);
    *n = (size_t)Rf_xlength(x) / 2;
    syn_lagged *out = glue_hold(own, (*n + 1) * sizeof *out, NULL);
    for (size_t i = 0; i < *n; i++) {
        out[i].series = series_at(INTEGER(x)[2 * i], b, what);
        out[i].lag = (uint32_t)within(INTEGER(x)[2 * i + 1], 0, b->reach, what);
    }
    return out;
}

/* Vectors of series, from 1 in R. */
static const uint32_t *series_of(glue_owner *own, SEXP jobs, const char *name,
                                 const bounds *b, size_t *n)
{
    SEXP x = numbers(glue_option(jobs, name), INTSXP, 0, name);
    *n = (size_t)Rf_xlength(x);
    uint32_t *out = glue_hold(own, (*n + 1) * sizeof *out, NULL);
    for (size_t i = 0; i < *n; i++)
        out[i] = series_at(INTEGER(x)[i], b, name);
    return out;
}

static syn_forecast_jobs read_jobs(glue_owner *own, SEXP jobs, const bounds *b)
{
    size_t coordinates, candidates;
    syn_forecast_jobs out = {0};
    out.effect = series_of(own, jobs, "effect", b, &out.n);
    SEXP theta = numbers(glue_option(jobs, "theta"), REALSXP, (R_xlen_t)out.n, "theta");
    for (size_t i = 0; i < out.n; i++)
        within(REAL(theta)[i], 0, DBL_MAX, "theta");
    out.theta = REAL(theta);
    out.coordinate = lagged_of(own, glue_option(jobs, "coordinate"), b, &coordinates,
                               "coordinate");
    out.candidate = lagged_of(own, glue_option(jobs, "candidate"), b, &candidates,
                              "candidate");
    out.coordinate_start = starts_of(own, glue_option(jobs, "coordinate_start"), out.n,
                                     coordinates, "coordinate_start");
    out.candidate_start = starts_of(own, glue_option(jobs, "candidate_start"), out.n,
                                    candidates, "candidate_start");
    for (size_t i = 0; i < out.n; i++)
        within((double)(out.coordinate_start[i + 1] - out.coordinate_start[i]), 1,
               SYN_FORECAST_MOST, "coordinate_start");
    return out;
}

/* Room for a matrix of steps x jobs in a list, if `keep` asks for it; or NULL. */
static double *kept_matrix(SEXP out, int at, SEXP options, size_t steps, size_t jobs)
{
    if (!glue_option_flag(options, "keep"))
        return NULL;
    return REAL(SET_VECTOR_ELT(out, at, Rf_allocMatrix(REALSXP, (int)steps, (int)jobs)));
}

/* `series`: double matrix of steps x series. `jobs`: a list with `effect` (series from
   1), `theta`, `coordinate_start` and `candidate_start` (from 0, one more than jobs),
   `coordinate` and `candidate` (integer matrices, columns (series from 1, lag)). Returns
   `rows` and `error` of each job, `gain` and `t` of each candidate, with NA. */
SEXP r_forecast(glue_owner *own, SEXP series, SEXP jobs, SEXP options)
{
    const char *fields[] = {"rows", "error", "gain", "t", "missed", ""};
    syn_series of = glue_series(series, 1, "series");
    syn_forecast_options o = {
        .reach = (uint32_t)glue_option_int(options, "reach", 0, 1 << 30),
        .exclusion = (uint32_t)glue_option_int(options, "exclusion", 0, 1 << 30),
        .threads = glue_option_threads(options),
        .vector_bits = glue_option_vector_bits(options)};
    syn_forecast_jobs j = read_jobs(own, jobs, &(bounds){of.n, o.reach});
    syn_gpu_call gpu = glue_option_gpus(options);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    /* Room for the results of all jobs, in R's list `out`. */
    size_t all = j.candidate_start[j.n];
    SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, (R_xlen_t)j.n));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, (R_xlen_t)j.n));
    SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, (R_xlen_t)all));
    SET_VECTOR_ELT(out, 3, Rf_allocVector(REALSXP, (R_xlen_t)all));
    syn_forecasts result = {.rows = glue_hold(own, (j.n + 1) * sizeof(uint32_t), NULL),
                            .error = REAL(VECTOR_ELT(out, 1)),
                            .gain = REAL(VECTOR_ELT(out, 2)),
                            .t = REAL(VECTOR_ELT(out, 3))};
    result.missed = kept_matrix(out, 4, options, of.steps, j.n);
    gpu.watch = glue_watch(own, "Forecasting");
    syn_status status = gpu.n == 0 ? syn_forecast(&of, &j, &o, gpu.watch, &result)
                                    : syn_gpu_forecast(&of, &j, &o, &gpu, &result);
    for (size_t i = 0; i < j.n; i++)
        INTEGER(VECTOR_ELT(out, 0))[i] = (int)result.rows[i];
    glue_nan_to_na(result.error, j.n);
    glue_nan_to_na(result.gain, j.candidate_start[j.n]);
    glue_nan_to_na(result.t, j.candidate_start[j.n]);
    if (result.missed)
        glue_nan_to_na(result.missed, (size_t)of.steps * j.n);
    UNPROTECT(1);
    return glue_answer(out, status, gpu.reason);
}

/* A list of series for each job: integers from 1, and where those of each job begin. */
static const uint32_t *series_lists(glue_owner *own, SEXP jobs, const char *name,
                                    const char *starts, size_t n, const bounds *b,
                                    const size_t **start)
{
    size_t all;
    const uint32_t *out = series_of(own, jobs, name, b, &all);
    *start = starts_of(own, glue_option(jobs, starts), n, all, starts);
    return out;
}

/* `series`: as in r_forecast(). `jobs`: a list with `effect`, `cause` and `clock` (series
   from 1), `cause_start` and `clock_start` (from 0, one more than effects), and `enough`,
   errors from which on an effect has no results. Returns
   `error`, `order` and `free` of each effect, `f` and `delay` of each cause, and with
   `keep` `missed`, a matrix of steps x effects, with NA. */
SEXP r_linear(glue_owner *own, SEXP series, SEXP jobs, SEXP options)
{
    const char *fields[] = {"error", "order", "free", "f", "delay", "missed", ""};
    syn_series of = glue_series(series, 1, "series");
    bounds b = {of.n, 0};
    syn_linear_jobs j = {0};
    j.effect = series_of(own, jobs, "effect", &b, &j.n);
    j.cause = series_lists(own, jobs, "cause", "cause_start", j.n, &b, &j.cause_start);
    j.clock = series_lists(own, jobs, "clock", "clock_start", j.n, &b, &j.clock_start);
    SEXP enough = numbers(glue_option(jobs, "enough"), REALSXP, (R_xlen_t)j.n, "enough");
    j.enough = REAL(enough);
    syn_linear_options o = {.threads = glue_option_threads(options),
                            .vector_bits = glue_option_vector_bits(options)};
    o.most = (uint32_t)glue_option_int(options, "most", 1, 1000);
    o.least = (uint32_t)glue_option_int(options, "least", 1, o.most);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *column[5];
    for (int i = 0; i < 5; i++) {
        R_xlen_t n = (R_xlen_t)(i < 3 ? j.n : j.cause_start[j.n]);
        column[i] = REAL(SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, n)));
    }
    double *missed = kept_matrix(out, 5, options, of.steps, j.n);
    syn_linear_tests tests = {column[0], column[1], column[2],
                              column[3], column[4], missed};
    const syn_watch *watch = glue_watch(own, "Linear forecasts");
    syn_status status = syn_linear(&of, &j, &o, watch, &tests);
    for (int i = 0; i < 5; i++)
        glue_nan_to_na(column[i], i < 3 ? j.n : j.cause_start[j.n]);
    if (missed)
        glue_nan_to_na(missed, of.steps * j.n);
    UNPROTECT(1);
    return glue_answer(out, status, "");
}
