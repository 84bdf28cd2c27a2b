/* For the tests: bins a surrogate in both ways that the core has. */
#include "glue/surrogates.h"

#include "core/surrogates/raster.h"
#include "glue/owner.h"
#include "glue/require.h"
#include "glue/spikes.h"
#include "glue/watch.h"

/* ---- what R gets ---- */

static SEXP whole_numbers(const uint32_t *x, R_xlen_t n)
{
    SEXP out = Rf_allocVector(INTSXP, n);
    for (R_xlen_t i = 0; i < n; i++)
        INTEGER(out)[i] = (int)x[i];
    return out;
}

static SEXP long_numbers(const int64_t *x, R_xlen_t n)
{
    SEXP out = Rf_allocVector(REALSXP, n);
    for (R_xlen_t i = 0; i < n; i++)
        REAL(out)[i] = (double)x[i];
    return out;
}

static SEXP raster_list(const syn_raster *r)
{
    const char *fields[] = {"number", "opens", "first", "unit", "unit_first", "unit_bin",
                            ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, long_numbers(r->number, r->bins));
    SET_VECTOR_ELT(out, 1, long_numbers(r->opens, r->bins));
    SET_VECTOR_ELT(out, 2, whole_numbers(r->first, (R_xlen_t)r->bins + 1));
    SET_VECTOR_ELT(out, 3, whole_numbers(r->unit, r->events));
    SET_VECTOR_ELT(out, 4, whole_numbers(r->unit_first, (R_xlen_t)r->units + 1));
    SET_VECTOR_ELT(out, 5, whole_numbers(r->unit_bin, r->events));
    UNPROTECT(1);
    return out;
}

/* ---- both ways to bin a surrogate ---- */

typedef struct work {
    syn_budget budget;
    syn_trains trains;
    syn_surrogate_plan plan;
    syn_surrogate_binner binner;
    syn_raster raster;
} work;

static void release(void *held)
{
    work *w = held;
    syn_raster_free(&w->raster);
    syn_surrogate_binner_free(&w->binner);
    syn_surrogate_plan_free(&w->plan);
    syn_trains_free(&w->trains);
}

static syn_status bin_surrogate(glue_owner *own, work *w, const syn_surrogate_options *o,
                                uint64_t index, int64_t width, int64_t window)
{
    syn_status status = syn_surrogate_plan_make(&w->plan, &w->trains, o, 1,
                                                &w->budget, NULL);
    SYN_NEXT(status, syn_surrogate_binner_make(&w->binner, &w->trains, width, window,
                                               &w->budget));
    if (status != SYN_OK)
        return status;
    int64_t *tick = glue_hold(own, (size_t)w->trains.events * sizeof *tick, NULL);
    uint32_t *scratch = glue_hold(own, (size_t)w->plan.scratch * sizeof *scratch, NULL);
    /* Twice, as memory is used again. */
    for (int64_t k = 1; k >= 0; k--) {
        syn_surrogate_ticks(&w->plan, index + (uint64_t)k, tick, scratch);
        syn_surrogate_raster(&w->binner, tick);
    }
    return SYN_OK;
}

/* Surrogate `index`, from 0, as syn_surrogate_raster() bins it, and `events`, which
   pattern_events() made of the same surrogate, as syn_raster_bin() does. */
SEXP r_surrogate_rasters(glue_owner *own, SEXP trains, SEXP options, SEXP index,
                         SEXP events, SEXP window)
{
    syn_surrogate_options o = glue_surrogate_options(options);
    uint64_t number = (uint64_t)within(Rf_asReal(index), 0, INT32_MAX, "index");
    uint32_t bins = (uint32_t)within(Rf_asReal(window), 1, INT32_MAX, "window");
    numbers(events, VECSXP, 7, "events");
    work *w = glue_hold(own, sizeof *w, release);
    w->budget.limit = SIZE_MAX;
    const syn_watch *watch = glue_watch(own, "Binning a surrogate");
    syn_status status = glue_trains(&w->trains, trains, &o, &w->budget, watch);
    SYN_NEXT(status, bin_surrogate(own, w, &o, number,
                                   (int64_t)Rf_asReal(VECTOR_ELT(events, 6)), bins));
    SYN_NEXT(status, glue_raster(&w->raster, events, bins, NULL, watch));
    if (status != SYN_OK)
        return glue_status(status, NA_REAL, INT32_MAX);
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(out, 0, raster_list(&w->binner.raster));
    SET_VECTOR_ELT(out, 1, raster_list(&w->raster));
    UNPROTECT(1);
    return out;
}
