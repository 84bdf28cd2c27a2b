/* S-maps: passes points, library and target to core/edm/smap.h. */
#include "glue/glue.h"

#include "core/edm/smap.h"
#include "glue/edm.h"
#include "glue/require.h"
#include "glue/watch.h"

/* `options`: neighbours, exclusion radius, ridge, threads, and 0 outside tests: how wide
   the processor's registers are taken to be (1, 256 or 512). */
static syn_smap_options read_options(SEXP options, SEXP theta)
{
    const double *o = REAL(numbers(options, REALSXP, 5, "options"));
    R_xlen_t n = Rf_xlength(numbers(theta, REALSXP, 1, "theta"));
    for (R_xlen_t i = 0; i < n; i++)
        within(REAL(theta)[i], 0, R_PosInf, "theta");
    syn_smap_options out = {
        .thetas = (uint32_t)within((double)n, 1, INT32_MAX, "theta"),
        .theta = REAL(theta), .k = (uint32_t)within(o[0], 1, INT32_MAX, "neighbours"),
        .exclusion = (uint32_t)within(o[1], 0, INT32_MAX, "exclusion"),
        .ridge = within(o[2], 0, R_PosInf, "ridge"), .missing = NA_REAL,
        .threads = (int)within(o[3], 1, 1024, "threads"),
        .vector_bits = (int)within(o[4], 0, 512, "registers")};
    return out;
}

/* S-maps of the points, a matrix with a row for each row of the data. `library` and
   `prediction`: rows from 1; `target`: of each row. Returns matrices with a column for
   each theta and, where `local` is TRUE, arrays [prediction, coefficient, theta]. */
SEXP r_edm_smap(SEXP points, SEXP library, SEXP prediction, SEXP target, SEXP theta,
                SEXP options, SEXP local)
{
    const char *fields[] = {"predictions", "variance", "coefficients", "singular", ""};
    require(Rf_isMatrix(points) && TYPEOF(points) == REALSXP, "points");
    int rows = Rf_nrows(points), dims = Rf_ncols(points);
    numbers(target, REALSXP, rows, "target");
    syn_points p = {(uint32_t)rows, (uint32_t)within(dims, 1, INT32_MAX, "points"),
                    REAL(points)};
    syn_rows from = glue_rows_of(library, (uint32_t)rows);
    syn_rows to = glue_rows_of(prediction, (uint32_t)rows);
    syn_smap_options o = read_options(options, theta);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_allocMatrix(REALSXP, (int)to.n, (int)o.thetas));
    SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, (int)to.n, (int)o.thetas));
    syn_smap_result result = {REAL(VECTOR_ELT(out, 0)), REAL(VECTOR_ELT(out, 1)), NULL,
                              NULL};
    if (Rf_asLogical(local) == TRUE) {
        for (int i = 2; i < 4; i++)
            SET_VECTOR_ELT(out, i, Rf_alloc3DArray(REALSXP, (int)to.n, dims + 1,
                                                   (int)o.thetas));
        result.coefficient = REAL(VECTOR_ELT(out, 2));
        result.singular = REAL(VECTOR_ELT(out, 3));
    }
    glue_watch w;
    glue_watch_start(&w, "Fitting S-maps");
    syn_status status = syn_smap(&p, &from, &to, REAL(target), &o, &w.watch, &result);
    glue_watch_stop(&w);
    if (status != SYN_OK)
        out = glue_status(status, NA_REAL, NA_REAL);
    UNPROTECT(1);
    return out;
}
