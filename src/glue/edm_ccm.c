/* Convergent cross mapping: passes points, libraries and targets to core/edm/ccm. */
#include "glue/glue.h"

#include <math.h>
#include <string.h>

#include "glue/edm.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/watch.h"
#include "gpu/edm/ccm/ccm.h"

/* Views of their libraries and an equal share of the columns of `targets`, in memory that
   R frees after the call. */
static const syn_ccm_view *read_views(SEXP libs, SEXP targets, uint32_t rows)
{
    require(TYPEOF(libs) == VECSXP && Rf_length(libs) > 0, "libraries");
    int views = Rf_length(libs), n = Rf_ncols(targets);
    require(n % views == 0, "targets");
    syn_ccm_view *view = (syn_ccm_view *)R_alloc((size_t)views, sizeof *view);
    for (int v = 0; v < views; v++)
        view[v] = (syn_ccm_view){glue_rows_of(VECTOR_ELT(libs, v), rows),
                                 REAL(targets) + (size_t)v * (n / views) * rows};
    return view;
}

/* [n][targets] */
static SEXP skill_matrix(const double *value, const syn_ccm_skill *skill)
{
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)skill->n, (int)skill->targets));
    for (size_t i = 0; i < skill->n * skill->targets; i++)
        REAL(out)[i] = isnan(value[i]) ? NA_REAL : value[i];
    UNPROTECT(1);
    return out;
}

static SEXP skill_list(const syn_ccm_skill *s)
{
    const char *fields[] = {"rho", "MAE", "RMSE", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, skill_matrix(s->rho, s));
    SET_VECTOR_ELT(out, 1, skill_matrix(s->mae, s));
    SET_VECTOR_ELT(out, 2, skill_matrix(s->rmse, s));
    UNPROTECT(1);
    return out;
}

static void release(void *held)
{
    syn_ccm_free(held);
}

/* points: double matrix [rows, dims], finite at the rows `libs` and `pred`; libs: a list
   of rows for each view; targets: double matrix [rows, targets of the views in turn].
   Returns rho, MAE and RMSE, each a matrix of libraries (views, then sizes, then samples)
   and targets of a view, with NA. */
SEXP r_ccm(glue_owner *own, SEXP points, SEXP libs, SEXP pred, SEXP targets, SEXP sizes,
           SEXP options)
{
    syn_points p = glue_points(points);
    require(TYPEOF(targets) == REALSXP && Rf_isMatrix(targets), "targets");
    require(p.rows == (uint32_t)Rf_nrows(targets), "targets");
    p = glue_located(own, glue_measured(own, p));
    const syn_ccm_view *view = read_views(libs, targets, p.rows);
    uint32_t views = (uint32_t)Rf_length(libs), n = (uint32_t)Rf_ncols(targets) / views;
    syn_rows prediction = glue_rows_of(pred, p.rows);
    /* options: k, exclusion, samples, direction, threads, key and gpus; sizes: at
       least 1. */
    const int *size = INTEGER(numbers(sizes, INTSXP, 1, "library sizes"));
    for (R_xlen_t s = 0; s < Rf_xlength(sizes); s++)
        within(size[s], 1, INT32_MAX, "library sizes");
    syn_ccm_options o = {
        .k = (uint32_t)glue_option_int(options, "k", 1, INT32_MAX / 64),
        .exclusion = (uint32_t)glue_option_int(options, "exclusion", 0, INT32_MAX),
        .sizes = (uint32_t)Rf_xlength(sizes),
        .size = (const uint32_t *)size,
        .samples = (uint32_t)glue_option_int(options, "samples", 1, (1 << 21) - 1),
        .direction = (uint32_t)glue_option_int(options, "direction", 0, 1),
        .key = glue_option_key(options),
        .threads = glue_option_threads(options)};
    syn_gpu_call gpu = glue_option_gpus(options);
    gpu.watch = glue_watch(own, "Cross mapping");
    syn_ccm_skill *skill = glue_hold(own, sizeof *skill, release);
    syn_status status =
        gpu.n == 0 ? syn_ccm_views(&p, view, views, &prediction, n, &o, gpu.watch, skill)
                    : syn_gpu_ccm(&p, view, views, &prediction, n, &o, &gpu, skill);
    return status == SYN_OK ? skill_list(skill)
                            : glue_status_because(status, NA_REAL, NA_REAL, gpu.reason);
}

/* Which of `n` library rows are in library `sample`, from 0, of `size` rows. */
SEXP r_ccm_library(SEXP n, SEXP size, SEXP sample, SEXP direction, SEXP key)
{
    double rows = within(Rf_asReal(n), 1, INT32_MAX, "n");
    uint32_t of = (uint32_t)within(Rf_asReal(size), 1, rows, "size");
    syn_ccm_options o = {
        .direction = (uint32_t)within(Rf_asReal(direction), 0, 1, "direction"),
        .key = glue_key(key)};
    SEXP chosen = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)rows));
    memset(RAW(chosen), 0, (size_t)rows);
    syn_ccm_draw((uint32_t)rows, of,
                 (uint32_t)within(Rf_asReal(sample), 0, (1 << 21) - 2, "sample"), &o,
                 RAW(chosen));
    UNPROTECT(1);
    return chosen;
}
