/* Pattern set reduction: passes patterns and signatures to
   core/patterns/found/reduction.h. */
#include "glue/glue.h"

#include <stdlib.h>

#include "core/patterns/found/reduction.h"
#include "glue/owner.h"
#include "glue/patterns_times.h"
#include "glue/raster.h"
#include "glue/require.h"
#include "glue/watch.h"

/* What one call holds outside R's heap: an external pointer owns it, so that it is freed
   however the call ends. */
typedef struct reducing {
    syn_budget budget;
    syn_raster raster;
    syn_pattern_windows windows;
    syn_signature *signature;
    uint8_t *keep;
} reducing;

static void reducing_free(SEXP pointer)
{
    reducing *r = R_ExternalPtrAddr(pointer);
    if (!r)
        return;
    syn_pattern_windows_free(&r->windows);
    syn_raster_free(&r->raster);
    free(r->signature);
    free(r->keep);
    free(r);
    R_ClearExternalPtr(pointer);
}

/* `listed`: integers, all sizes, then all occurrences, then all durations, -1 for any.
   `options`: the number of the method, h, k, l, min_spikes, min_occ and max_memory. */
static syn_reduction_options read_options(reducing *r, SEXP listed, SEXP options)
{
    const double *o = REAL(numbers(options, REALSXP, 7, "options"));
    const int *l = INTEGER(numbers(listed, INTSXP, 0, "signatures"));
    size_t n = (size_t)Rf_xlength(listed) / 3;
    r->signature = malloc((n + 1) * sizeof *r->signature);
    if (!r->signature)
        Rf_error("cannot allocate memory");
    for (size_t s = 0; s < n; s++)
        r->signature[s] = (syn_signature){.size = l[s], .occurrences = l[n + s],
                                          .duration = l[2 * n + s]};
    int method = (int)within(o[0], 0, SYN_REDUCTION_COVERED_SPIKES, "method");
    syn_reduction_options out = {
        .method = (syn_reduction_method)method,
        .h = (int64_t)within(o[1], 0, INT32_MAX, "h"),
        .k = (int64_t)within(o[2], 0, INT32_MAX, "k"),
        .l = (int64_t)within(o[3], 0, INT32_MAX, "l"),
        .min_spikes = (int64_t)within(o[4], 1, INT32_MAX, "min_spikes"),
        .min_occ = (int64_t)within(o[5], 1, INT32_MAX, "min_occ"),
        .listed = n, .signature = r->signature};
    return out;
}

static SEXP kept(const reducing *r, size_t n)
{
    SEXP out = PROTECT(Rf_allocVector(LGLSXP, (R_xlen_t)n));
    for (size_t p = 0; p < n; p++)
        LOGICAL(out)[p] = r->keep[p];
    UNPROTECT(1);
    return out;
}

/* TRUE for each pattern that is kept. `events` as glue_raster() takes them, patterns as
   glue_pattern_list() does. */
SEXP r_reduce_patterns(SEXP events, SEXP window, SEXP size, SEXP unit, SEXP lag,
                       SEXP listed, SEXP options)
{
    SEXP pointer = PROTECT(glue_owner(sizeof(reducing), reducing_free));
    reducing *r = R_ExternalPtrAddr(pointer);
    require(TYPEOF(events) == VECSXP && Rf_xlength(events) >= 6, "events");
    double length = within(Rf_asReal(window), 1, INT32_MAX, "window");
    syn_candidates c = {
        .list = glue_pattern_list(size, unit, lag, Rf_asReal(VECTOR_ELT(events, 3)),
                                  length),
        .raster = &r->raster, .windows = &r->windows};
    R_xlen_t items = Rf_xlength(unit);
    for (R_xlen_t i = 0; i < items; i++)
        within(INTEGER(unit)[i], 0, INT32_MAX, "units");
    syn_reduction_options o = read_options(r, listed, options);
    r->keep = malloc(c.list.n + 1);
    if (!r->keep)
        Rf_error("cannot allocate memory");
    double memory = REAL(options)[6];
    syn_status status = SYN_OVER_BUDGET;
    if (glue_take_patterns(&r->budget, &c.list, items, memory))
        status = glue_raster(&r->raster, events, (uint32_t)length, &r->budget);
    glue_watch w;
    glue_watch_start(&w, "Reducing patterns");
    if (status == SYN_OK)
        status = syn_find_windows(&r->raster, &c.list, INT32_MAX, &r->budget, &w.watch,
                                  &r->windows);
    if (status == SYN_OK)
        status = syn_reduce_patterns(&c, &o, &r->budget, &w.watch, r->keep);
    glue_watch_stop(&w);
    SEXP out = PROTECT(status == SYN_OK
                           ? kept(r, c.list.n)
                           : glue_status(status, NA_REAL,
                                         status == SYN_TOO_LARGE ? INT32_MAX : memory));
    reducing_free(pointer);
    UNPROTECT(2);
    return out;
}
