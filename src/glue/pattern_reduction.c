/* Pattern set reduction: passes patterns and signatures to
   core/patterns/found/reduction.h. */
#include "glue/glue.h"

#include "core/patterns/found/reduction.h"
#include "glue/options.h"
#include "glue/patterns_times.h"
#include "glue/require.h"
#include "glue/watch.h"

/* `listed`: integers, all sizes, then all occurrences, then all durations, -1 for any. */
static const syn_signature *read_signatures(SEXP listed, size_t n)
{
    const int *l = INTEGER(numbers(listed, INTSXP, 0, "signatures"));
    syn_signature *out = (syn_signature *)R_alloc(n + 1, sizeof *out);
    for (size_t s = 0; s < n; s++)
        out[s] = (syn_signature){.size = l[s], .occurrences = l[n + s],
                                 .duration = l[2 * n + s]};
    return out;
}

static syn_reduction_options read_options(SEXP listed, SEXP options)
{
    size_t n = (size_t)Rf_xlength(listed) / 3;
    return (syn_reduction_options){
        .method = (syn_reduction_method)glue_option_int(options, "method", 0,
                                                        SYN_REDUCTION_COVERED_SPIKES),
        .h = glue_option_int(options, "h", 0, INT32_MAX),
        .k = glue_option_int(options, "k", 0, INT32_MAX),
        .l = glue_option_int(options, "l", 0, INT32_MAX),
        .min_spikes = glue_option_int(options, "min_spikes", 1, INT32_MAX),
        .min_count = glue_option_int(options, "min_count", 1, INT32_MAX),
        .listed = n, .signature = read_signatures(listed, n)};
}

static SEXP kept(const uint8_t *keep, size_t n)
{
    SEXP out = Rf_allocVector(LGLSXP, (R_xlen_t)n);
    for (size_t p = 0; p < n; p++)
        LOGICAL(out)[p] = keep[p];
    return out;
}

/* TRUE for each pattern that is kept; `events` and `patterns` as glue_patterns() takes
   them. */
SEXP r_reduce_patterns(glue_owner *own, SEXP events, SEXP patterns, SEXP listed,
                       SEXP options)
{
    glue_found *f = glue_patterns(own, events, patterns, 0);
    syn_reduction_options o = read_options(listed, options);
    syn_candidates c = {.list = f->list, .raster = &f->raster, .windows = &f->windows};
    uint8_t *keep = glue_hold(own, c.list.n + 1, NULL);
    const syn_watch *watch = glue_watch(own, "Reducing patterns");
    size_t memory = glue_option_memory(options);
    syn_status status = glue_find_windows(f, events, INT32_MAX, memory, watch);
    SYN_NEXT(status, syn_reduce_patterns(&c, &o, &f->budget, watch, keep));
    if (status == SYN_OK)
        return kept(keep, c.list.n);
    return glue_status(status, NA_REAL,
                       status == SYN_TOO_LARGE ? INT32_MAX : (double)memory);
}
