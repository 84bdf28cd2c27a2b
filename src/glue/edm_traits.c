/* Traits of series, series in standard units, and their seasons, for R.

   series: double matrix of steps x series, NA where missing
   first: integer, the first row (from 1) of the segment of each step */
#include "glue/glue.h"

#include "core/edm/model/seasons.h"
#include "core/edm/model/traits.h"
#include "glue/edm.h"
#include "glue/require.h"
#include "glue/watch.h"

static const int *first_of(SEXP first, const syn_series *of)
{
    require(TYPEOF(first) == INTSXP && Rf_xlength(first) == (R_xlen_t)of->steps, "first");
    for (uint32_t i = 0; i < of->steps; i++)
        within(INTEGER(first)[i], 1, i + 1.0, "first");
    return INTEGER(first);
}

static int threads_of(SEXP threads)
{
    return (int)within(Rf_asInteger(threads), 1, 1 << 16, "threads");
}

/* A list of `known`, `constant`, `period`, `explained`, `drift` and `repeated`, of each
   series; of a constant the first two alone. */
SEXP r_series_traits(glue_owner *own, SEXP series, SEXP first, SEXP threads)
{
    const char *fields[] = {"known", "constant", "period", "explained", "drift",
                            "repeated", ""};
    const SEXPTYPE types[] = {INTSXP, LGLSXP, INTSXP, REALSXP, REALSXP, REALSXP};
    syn_series of = glue_series(series, 0, "series");
    syn_traits *traits = glue_hold(own, (of.n + (size_t)1) * sizeof *traits, NULL);
    syn_status status = syn_traits_find(&of, first_of(first, &of), threads_of(threads),
                                        glue_watch(own, "Looking at series"), traits);
    if (status != SYN_OK)
        return glue_status(status, NA_REAL, NA_REAL);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    for (int i = 0; i < 6; i++)
        SET_VECTOR_ELT(out, i, Rf_allocVector(types[i], (R_xlen_t)of.n));
    for (uint32_t i = 0; i < of.n; i++) {
        const syn_traits *t = traits + i;
        INTEGER(VECTOR_ELT(out, 0))[i] = (int)t->known;
        LOGICAL(VECTOR_ELT(out, 1))[i] = t->constant;
        INTEGER(VECTOR_ELT(out, 2))[i] = t->constant ? NA_INTEGER : (int)t->period;
        REAL(VECTOR_ELT(out, 3))[i] = t->constant ? NA_REAL : t->explained;
        REAL(VECTOR_ELT(out, 4))[i] = t->constant ? NA_REAL : t->drift;
        REAL(VECTOR_ELT(out, 5))[i] = t->constant ? NA_REAL : t->repeated;
    }
    UNPROTECT(1);
    return out;
}

/* A list of `constant`, `events` and `memory` of each series. */
SEXP r_series_activity(glue_owner *own, SEXP series, SEXP threads)
{
    const char *fields[] = {"constant", "events", "memory", ""};
    syn_series of = glue_series(series, 0, "series");
    syn_activity *found = glue_hold(own, (of.n + (size_t)1) * sizeof *found, NULL);
    syn_status status = syn_activity_find(&of, threads_of(threads),
                                          glue_watch(own, "Looking at series"), found);
    if (status != SYN_OK)
        return glue_status(status, NA_REAL, NA_REAL);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    for (int i = 0; i < 3; i++)
        SET_VECTOR_ELT(out, i, Rf_allocVector(i ? INTSXP : LGLSXP, (R_xlen_t)of.n));
    for (uint32_t i = 0; i < of.n; i++) {
        LOGICAL(VECTOR_ELT(out, 0))[i] = found[i].constant;
        INTEGER(VECTOR_ELT(out, 1))[i] = (int)found[i].events;
        INTEGER(VECTOR_ELT(out, 2))[i] = (int)found[i].memory;
    }
    UNPROTECT(1);
    return out;
}

static SEXP matrix_like(const syn_series *of)
{
    return Rf_allocMatrix(REALSXP, (int)of->steps, (int)of->n);
}

/* A matrix like `series`; constants are 0. */
SEXP r_standard_units(glue_owner *own, SEXP series, SEXP threads)
{
    syn_series of = glue_series(series, 0, "series");
    const syn_watch *watch = glue_watch(own, "Standardising series");
    SEXP out = PROTECT(matrix_like(&of));
    syn_status status = syn_standard_units(&of, threads_of(threads), watch, REAL(out));
    UNPROTECT(1);
    return glue_answer(out, status, "");
}

/* The mean of each row's place in the period of its series, in a matrix like `series`.
   `period`: integer, one a series. */
SEXP r_season_means(glue_owner *own, SEXP series, SEXP first, SEXP period, SEXP threads)
{
    syn_series of = glue_series(series, 0, "series");
    require(TYPEOF(period) == INTSXP && Rf_xlength(period) == (R_xlen_t)of.n, "period");
    uint32_t *rows = glue_hold(own, (of.n + (size_t)1) * sizeof *rows, NULL);
    for (uint32_t i = 0; i < of.n; i++)
        rows[i] = (uint32_t)within(INTEGER(period)[i], 1, SYN_SEASON_MOST, "period");
    const int *from = first_of(first, &of);
    const syn_watch *watch = glue_watch(own, "Looking at seasons");
    SEXP out = PROTECT(matrix_like(&of));
    syn_status status = syn_season_means(&of, from, rows, threads_of(threads), watch,
                                         REAL(out));
    UNPROTECT(1);
    return glue_answer(out, status, "");
}
