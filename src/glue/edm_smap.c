/* S-maps: passes points, library and target to core/edm/smap/smap.h or
   gpu/edm/smap/smap.h. */
#include "glue/glue.h"

#include "core/edm/smap/smap.h"
#include "glue/edm.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/watch.h"
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

/* S-maps of the points, a matrix with a row for each row of the data. `library` and
   `prediction`: rows from 1; `target`: of each row. Returns matrices with a column for
   each theta and, where `local` is TRUE, arrays [prediction, coefficient, theta]. */
SEXP r_edm_smap(glue_owner *own, SEXP points, SEXP library, SEXP prediction, SEXP target,
                SEXP theta, SEXP options)
{
    const char *fields[] = {"predictions", "variance", "coefficients", "singular", ""};
    require(Rf_isMatrix(points) && TYPEOF(points) == REALSXP, "points");
    int rows = Rf_nrows(points), dims = Rf_ncols(points);
    numbers(target, REALSXP, rows, "target");
    syn_points p = {(uint32_t)rows, (uint32_t)within(dims, 1, INT32_MAX, "points"),
                    REAL(points), 0};
    syn_rows from = glue_rows_of(library, (uint32_t)rows);
    syn_rows to = glue_rows_of(prediction, (uint32_t)rows);
    syn_smap_options o = read_options(options, theta);
    if ((uint64_t)o.k + 1 < from.n)
        o.space = glue_measured(own, p, o.threads).coordinate;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_allocMatrix(REALSXP, (int)to.n, (int)o.thetas));
    SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, (int)to.n, (int)o.thetas));
    syn_smap_result result = {REAL(VECTOR_ELT(out, 0)), REAL(VECTOR_ELT(out, 1)), NULL,
                              NULL};
    if (glue_option_flag(options, "local")) {
        for (int i = 2; i < 4; i++)
            SET_VECTOR_ELT(out, i, Rf_alloc3DArray(REALSXP, (int)to.n, dims + 1,
                                                   (int)o.thetas));
        result.coefficient = REAL(VECTOR_ELT(out, 2));
        result.singular = REAL(VECTOR_ELT(out, 3));
    }
    glue_gpus gpus = glue_gpus_of(options);
    const syn_watch *watch = glue_watch(own, "Fitting S-maps");
    syn_status status = gpus.n == 0
                            ? syn_smap(&p, &from, &to, REAL(target), &o, watch, &result)
                            : syn_gpu_smap(&p, &from, &to, REAL(target), &o, gpus.device,
                                           gpus.n, watch, &result, gpus.reason);
    UNPROTECT(1);
    return glue_answer(out, status, gpus.reason);
}
