/* Delay vectors and errors of predictions for R.

   r_edm_points(values, lags, first, last)
     values: list of doubles, a series each, all as long as first and last: integer, the
     first and the last row (from 1) of the stretch of each row
     lags: double, whole numbers
     list(points = double matrix, rows x (series * lags), NA where a lag leaves the
          stretch; reach = integer, how many coordinates of each row are there, from the
          first on)

   r_edm_fit(observed, predicted)
     doubles, as long as each other
     list(MAE, rho, RMSE, CAE, pairs): numbers; NA where there is none */
#include "glue/glue.h"

#include <math.h>

#include "core/base/pages.h"
#include "core/edm/model/embed.h"
#include "glue/owner.h"
#include "glue/require.h"

SEXP r_edm_points(glue_owner *own, SEXP values, SEXP lags, SEXP first, SEXP last)
{
    (void)own;
    require(TYPEOF(values) == VECSXP, "values");
    R_xlen_t rows = Rf_xlength(numbers(first, INTSXP, 0, "first")), n = XLENGTH(values);
    require(rows <= INT_MAX && n <= INT_MAX, "values");
    numbers(last, INTSXP, rows, "last");
    int n_lags = Rf_length(numbers(lags, REALSXP, 0, "lags"));
    require((double)n * n_lags <= INT_MAX, "lags");
    for (R_xlen_t i = 0; i < rows;) {
        require(INTEGER(first)[i] == i + 1, "first");
        int end = (int)within(INTEGER(last)[i], i + 1, rows, "last");
        for (; i < end; i++)
            require(INTEGER(last)[i] == end, "last");
    }
    const double **value = (const double **)R_alloc((size_t)n + 1, sizeof *value);
    for (R_xlen_t i = 0; i < n; i++)
        value[i] = REAL(numbers(VECTOR_ELT(values, i), REALSXP, rows, "values"));

    const char *fields[] = {"points", "reach", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_allocMatrix(REALSXP, (int)rows, (int)n * n_lags));
    syn_large_pages(REAL(VECTOR_ELT(out, 0)),
                    (size_t)XLENGTH(VECTOR_ELT(out, 0)) * sizeof(double));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, rows));
    syn_stretches s = {(uint32_t)rows, (uint32_t)n, value, INTEGER(first), INTEGER(last)};
    syn_delay_points(&s, REAL(lags), (uint32_t)n_lags, NA_REAL,
                     REAL(VECTOR_ELT(out, 0)), INTEGER(VECTOR_ELT(out, 1)));
    UNPROTECT(1);
    return out;
}

SEXP r_edm_fit(glue_owner *own, SEXP observed, SEXP predicted)
{
    (void)own;
    R_xlen_t n = Rf_xlength(numbers(observed, REALSXP, 0, "observed"));
    numbers(predicted, REALSXP, n, "predicted");
    syn_fit fit = syn_fit_of(REAL(observed), REAL(predicted), (size_t)n);
    const double found[] = {fit.mae, fit.rho, fit.rmse, fit.cae, (double)fit.pairs};
    const char *fields[] = {"MAE", "rho", "RMSE", "CAE", "pairs", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    for (int i = 0; i < 5; i++)
        SET_VECTOR_ELT(out, i, Rf_ScalarReal(isnan(found[i]) ? NA_REAL : found[i]));
    UNPROTECT(1);
    return out;
}
