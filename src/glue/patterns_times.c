/* Finds the windows in which given patterns occur. */
#include "glue/patterns_times.h"

#include <stdlib.h>

#include "glue/owner.h"
#include "glue/raster.h"
#include "glue/require.h"
#include "glue/watch.h"

/* What one call holds outside R's heap: an external pointer owns it, so that it is freed
   however the call ends. */
typedef struct finding {
    syn_budget budget;   /* without a limit: little beyond what R gets is held */
    syn_raster raster;
    syn_pattern_windows windows;
} finding;

static void finding_free(SEXP pointer)
{
    finding *f = R_ExternalPtrAddr(pointer);
    if (!f)
        return;
    syn_pattern_windows_free(&f->windows);
    syn_raster_free(&f->raster);
    free(f);
    R_ClearExternalPtr(pointer);
}

/* The ticks at which windows open, and how many of them are of each pattern. */
static SEXP found_windows(const finding *f, R_xlen_t patterns)
{
    const char *fields[] = {"tick", "count", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, (R_xlen_t)f->windows.n));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, patterns));
    for (size_t i = 0; i < f->windows.n; i++)
        REAL(VECTOR_ELT(out, 0))[i] = (double)f->raster.opens[f->windows.bin[i]];
    for (R_xlen_t p = 0; p < patterns; p++)
        INTEGER(VECTOR_ELT(out, 1))[p] = (int)f->windows.count[p];
    UNPROTECT(1);
    return out;
}

syn_pattern_list glue_pattern_list(SEXP size, SEXP unit, SEXP lag, double units,
                                   double window)
{
    R_xlen_t n = Rf_xlength(numbers(size, INTSXP, 0, "sizes"));
    R_xlen_t items = Rf_xlength(numbers(unit, INTSXP, 0, "units"));
    numbers(lag, INTSXP, items, "lags");
    double all = 0;
    for (R_xlen_t p = 0; p < n; p++)
        all += within(INTEGER(size)[p], 1, INT32_MAX, "sizes");
    require(all == (double)items, "sizes");
    for (R_xlen_t k = 0; k < items; k++) {
        within(INTEGER(unit)[k], -1, units - 1, "units");
        within(INTEGER(lag)[k], 0, window - 1, "lags");
    }
    syn_pattern_list out = {.n = (size_t)n, .size = (const uint32_t *)INTEGER(size),
                            .unit = (const uint32_t *)INTEGER(unit),
                            .lag = (const uint32_t *)INTEGER(lag)};
    return out;
}

int glue_take_patterns(syn_budget *budget, const syn_pattern_list *list, R_xlen_t items,
                       double max_memory)
{
    within(max_memory, 0, R_PosInf, "max_memory");
    budget->limit = max_memory < (double)SIZE_MAX ? (size_t)max_memory : SIZE_MAX;
    /* Their sizes; the unit and the lag of each item, and one more vector while R makes
       these. */
    return syn_budget_take(budget, (list->n + 3 * (size_t)items) * sizeof(int));
}

/* The windows, `window` bins long, that hold each pattern; at most `most` of them all.
   `events` as glue_raster() takes them, patterns as glue_pattern_list() does. */
SEXP r_pattern_windows(SEXP events, SEXP window, SEXP size, SEXP unit, SEXP lag,
                       SEXP most)
{
    SEXP pointer = PROTECT(glue_owner(sizeof(finding), finding_free));
    finding *f = R_ExternalPtrAddr(pointer);
    require(TYPEOF(events) == VECSXP && Rf_xlength(events) >= 6, "events");
    double length = within(Rf_asReal(window), 1, INT32_MAX, "window");
    double limit = within(Rf_asReal(most), 0, INT32_MAX, "limit");
    syn_pattern_list list = glue_pattern_list(size, unit, lag,
                                              Rf_asReal(VECTOR_ELT(events, 3)), length);
    f->budget.limit = SIZE_MAX;
    syn_status status = glue_raster(&f->raster, events, (uint32_t)length, NULL);
    glue_watch w;
    glue_watch_start(&w, "Finding patterns");
    if (status == SYN_OK)
        status = syn_find_windows(&f->raster, &list, (size_t)limit, &f->budget, &w.watch,
                                  &f->windows);
    glue_watch_stop(&w);
    SEXP out = status == SYN_OK ? found_windows(f, (R_xlen_t)list.n)
                                : glue_status(status, NA_REAL, limit);
    PROTECT(out);
    finding_free(pointer);
    UNPROTECT(2);
    return out;
}
