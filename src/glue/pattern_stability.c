/* Stability of patterns: passes patterns to core/patterns/found/stability.h. */
#include "glue/glue.h"

#include <stdlib.h>

#include "core/patterns/found/stability.h"
#include "glue/owner.h"
#include "glue/patterns_times.h"
#include "glue/random.h"
#include "glue/raster.h"
#include "glue/require.h"
#include "glue/watch.h"

/* What one call holds outside R's heap: an external pointer owns it, so that it is freed
   however the call ends. */
typedef struct judging {
    syn_budget budget;
    syn_raster raster;
    syn_pattern_windows windows;
} judging;

static void judging_free(SEXP pointer)
{
    judging *j = R_ExternalPtrAddr(pointer);
    if (!j)
        return;
    syn_pattern_windows_free(&j->windows);
    syn_raster_free(&j->raster);
    free(j);
    R_ClearExternalPtr(pointer);
}

/* A list of two: the intensional and the extensional stability of each pattern, NULL
   where it is not wanted. `events` as glue_raster() takes them, patterns as
   glue_pattern_list() does. `kinds`: TRUE or FALSE for each of the two; `options`:
   subsets, threads and max_memory. */
SEXP r_pattern_stability(SEXP events, SEXP window, SEXP size, SEXP unit, SEXP lag,
                         SEXP kinds, SEXP options, SEXP key)
{
    SEXP pointer = PROTECT(glue_owner(sizeof(judging), judging_free));
    judging *j = R_ExternalPtrAddr(pointer);
    require(TYPEOF(events) == VECSXP && Rf_xlength(events) >= 6, "events");
    double length = within(Rf_asReal(window), 1, INT32_MAX, "window");
    syn_pattern_list list = glue_pattern_list(size, unit, lag,
                                              Rf_asReal(VECTOR_ELT(events, 3)), length);
    for (R_xlen_t i = 0; i < Rf_xlength(unit); i++)
        within(INTEGER(unit)[i], 0, INT32_MAX, "units");
    const double *o = REAL(numbers(options, REALSXP, 3, "options"));
    syn_stability_options opts = {
        .window = (uint32_t)length,
        .subsets = (uint64_t)within(o[0], 1, 9007199254740992.0, "subsets"),
        .threads = (int)within(o[1], 1, 1024, "threads"),
        .key = glue_key(numbers(key, REALSXP, 2, "a key"))};
    const int *wanted = LOGICAL(numbers(kinds, LGLSXP, 2, "kinds"));
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 2));
    double *share[2] = {NULL, NULL};
    for (int kind = 0; kind < 2; kind++)
        if (wanted[kind]) {
            SET_VECTOR_ELT(out, kind, Rf_allocVector(REALSXP, (R_xlen_t)list.n));
            share[kind] = REAL(VECTOR_ELT(out, kind));
        }
    syn_status status = SYN_OVER_BUDGET;
    if (glue_take_patterns(&j->budget, &list, Rf_xlength(unit), o[2]))
        status = glue_raster(&j->raster, events, opts.window, &j->budget);
    glue_watch w;
    glue_watch_start(&w, "Judging patterns");
    if (status == SYN_OK)
        status = syn_find_windows(&j->raster, &list, INT32_MAX, &j->budget, &w.watch,
                                  &j->windows);
    if (status == SYN_OK)
        status = syn_pattern_stability(&j->raster, &list, &j->windows, &opts, &j->budget,
                                       &w.watch, share[0], share[1]);
    glue_watch_stop(&w);
    if (status != SYN_OK)
        out = glue_status(status, NA_REAL, status == SYN_TOO_LARGE ? INT32_MAX : o[2]);
    PROTECT(out);
    judging_free(pointer);
    UNPROTECT(3);
    return out;
}
