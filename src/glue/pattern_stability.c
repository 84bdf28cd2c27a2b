/* Stability of patterns: passes patterns to core/patterns/found/stability.h. */
#include "glue/glue.h"

#include "core/patterns/found/stability.h"
#include "glue/options.h"
#include "glue/patterns_times.h"
#include "glue/watch.h"

/* A vector of shares in the list `out`; NULL where this kind is not wanted. */
static double *shares(SEXP out, int kind, int wanted, size_t n)
{
    if (!wanted)
        return NULL;
    SET_VECTOR_ELT(out, kind, Rf_allocVector(REALSXP, (R_xlen_t)n));
    return REAL(VECTOR_ELT(out, kind));
}

/* A list of two: the intensional and the extensional stability of each pattern, NULL
   where it is not wanted. `events` and `patterns` as glue_patterns() takes them. */
SEXP r_pattern_stability(glue_owner *own, SEXP events, SEXP patterns, SEXP options)
{
    glue_found *f = glue_patterns(own, events, patterns, 0);
    syn_stability_options o = {
        .window = f->window,
        .subsets = (uint64_t)glue_option_int(options, "subsets", 1, (int64_t)1 << 53),
        .threads = glue_option_threads(options), .key = glue_option_key(options)};
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 2));
    double *intensional =
        shares(out, 0, glue_option_flag(options, "intensional"), f->list.n);
    double *extensional =
        shares(out, 1, glue_option_flag(options, "extensional"), f->list.n);
    const syn_watch *watch = glue_watch(own, "Judging patterns");
    size_t memory = glue_option_memory(options);
    syn_status status = glue_find_windows(f, events, INT32_MAX, memory, watch);
    SYN_NEXT(status, syn_pattern_stability(&f->raster, &f->list, &f->windows, &o,
                                           &f->budget, watch, intensional, extensional));
    UNPROTECT(1);
    if (status == SYN_OK)
        return out;
    return glue_status(status, NA_REAL,
                       status == SYN_TOO_LARGE ? INT32_MAX : (double)memory);
}
