/* Finds the windows in which given patterns occur. */
#include "glue/patterns_times.h"

#include "glue/options.h"
#include "glue/require.h"
#include "glue/spikes.h"
#include "glue/watch.h"

/* ---- for all that is done with patterns ---- */

static void release(void *held)
{
    glue_found *f = held;
    syn_pattern_windows_free(&f->windows);
    syn_raster_free(&f->raster);
}

static syn_pattern_list read_list(SEXP patterns, double window, double units,
                                  int least_unit)
{
    SEXP size = numbers(glue_option(patterns, "size"), INTSXP, 0, "sizes");
    SEXP unit = numbers(glue_option(patterns, "unit"), INTSXP, 0, "units");
    R_xlen_t n = Rf_xlength(size), items = Rf_xlength(unit);
    SEXP lag = numbers(glue_option(patterns, "lag"), INTSXP, items, "lags");
    double all = 0;
    for (R_xlen_t p = 0; p < n; p++)
        all += within(INTEGER(size)[p], 1, INT32_MAX, "sizes");
    require(all == (double)items, "sizes");
    for (R_xlen_t k = 0; k < items; k++) {
        within(INTEGER(unit)[k], least_unit, units - 1, "units");
        within(INTEGER(lag)[k], 0, window - 1, "lags");
    }
    syn_pattern_list out = {.n = (size_t)n, .size = (const uint32_t *)INTEGER(size),
                            .unit = (const uint32_t *)INTEGER(unit),
                            .lag = (const uint32_t *)INTEGER(lag)};
    return out;
}

glue_found *glue_patterns(glue_owner *own, SEXP events, SEXP patterns, int least_unit)
{
    glue_found *f = glue_hold(own, sizeof *f, release);
    double window = Rf_asReal(glue_option(patterns, "window"));
    f->window = (uint32_t)within(window, 1, INT32_MAX, "window");
    f->list = read_list(patterns, window, glue_units(events), least_unit);
    f->items = (size_t)Rf_xlength(glue_option(patterns, "unit"));
    return f;
}

syn_status glue_find_windows(glue_found *f, SEXP events, size_t most, size_t max_memory,
                             const syn_watch *watch)
{
    f->budget.limit = max_memory;
    /* Their sizes; the unit and the lag of each item, and one more vector while R makes
       these. */
    if (!syn_budget_take(&f->budget, (f->list.n + 3 * f->items) * sizeof(int)))
        return SYN_OVER_BUDGET;
    SYN_TRY(glue_raster(&f->raster, events, f->window, &f->budget, watch));
    return syn_find_windows(&f->raster, &f->list, most, &f->budget, watch, &f->windows);
}

/* ---- where patterns are ---- */

/* The ticks at which windows open, and how many of them are of each pattern. */
static SEXP found_windows(const glue_found *f)
{
    const char *fields[] = {"tick", "count", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, (R_xlen_t)f->windows.n));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, (R_xlen_t)f->list.n));
    for (size_t i = 0; i < f->windows.n; i++)
        REAL(VECTOR_ELT(out, 0))[i] = (double)f->raster.opens[f->windows.bin[i]];
    for (size_t p = 0; p < f->list.n; p++)
        INTEGER(VECTOR_ELT(out, 1))[p] = (int)f->windows.count[p];
    UNPROTECT(1);
    return out;
}

/* The windows that hold each pattern; at most `most` of them all. Without a limit of
   memory: little beyond what R gets is held. */
SEXP r_pattern_windows(glue_owner *own, SEXP events, SEXP patterns, SEXP most)
{
    glue_found *f = glue_patterns(own, events, patterns, -1);
    double limit = within(Rf_asReal(most), 0, INT32_MAX, "limit");
    syn_status status = glue_find_windows(f, events, (size_t)limit, SIZE_MAX,
                                          glue_watch(own, "Finding patterns"));
    return status == SYN_OK ? found_windows(f) : glue_status(status, NA_REAL, limit);
}
