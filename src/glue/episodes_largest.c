/* The largest counts of surrogates for R: work that goes on in an external pointer while
   R does other things. */
#include "glue/glue.h"

#include "core/episodes/null/largest.h"
#include "glue/episodes_given.h"
#include "glue/options.h"
#include "glue/owner.h"
#include "glue/spikes.h"
#include "glue/surrogates.h"
#include "glue/watch.h"

static void release(void *held)
{
    syn_largest **largest = held;
    syn_largest_free(*largest);
}

/* Begins. `trains` as glue_spikes() reads them, `surrogates` as
   glue_surrogate_options(); options: n, min_count, max_size, distinct_units, threads,
   max_memory. */
SEXP r_largest_start(glue_owner *own, SEXP trains, SEXP surrogates, SEXP bounds,
                    SEXP options)
{
    R_xlen_t intervals = Rf_xlength(VECTOR_ELT(bounds, 0));
    syn_interval *interval =
        (syn_interval *)R_alloc((size_t)intervals + 1, sizeof *interval);
    glue_intervals(interval, VECTOR_ELT(bounds, 0), VECTOR_ELT(bounds, 1));
    syn_largest_options o = {
        .surrogate = glue_surrogate_options(surrogates), .intervals = interval,
        .n_intervals = (uint32_t)intervals,
        .min_count = (uint32_t)glue_option_int(options, "min_count", 1, INT32_MAX),
        .max_size = (uint32_t)glue_option_int(options, "max_size", 1, INT32_MAX),
        .distinct_units = (int)glue_option_int(options, "distinct_units", 0, 1),
        .n = (uint32_t)glue_option_int(options, "n", 1, INT32_MAX),
        .threads = glue_option_threads(options),
        .max_memory = glue_option_memory(options)};
    const syn_watch *watch = glue_watch(own, "Making surrogates of the window");
    syn_spikes spikes;
    syn_status status = glue_surrogate_spikes(&spikes, trains, &o.surrogate, watch);
    SEXP pointer = PROTECT(glue_keep("largest", sizeof(syn_largest *), release));
    SYN_NEXT(status,
             syn_largest_start(glue_kept(pointer, "largest"), &spikes, &o, watch));
    if (status != SYN_OK)
        glue_let_go(pointer);
    UNPROTECT(1);
    return status == SYN_OK ? pointer
                            : glue_status(status, NA_REAL, (double)o.max_memory);
}

/* Waits, and gives the largest count of each size, a row, in each of `n` surrogates, a
   column. NULL for a pointer of another process, or whose work is gone, as after it was
   written to a file. */
SEXP r_largest_wait(glue_owner *own, SEXP pointer, SEXP n, SEXP max_memory)
{
    if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrAddr(pointer) == NULL)
        return R_NilValue;
    syn_largest *largest = *(syn_largest **)glue_kept(pointer, "largest");
    if (!syn_largest_is_here(largest))
        return R_NilValue;
    int columns = Rf_asInteger(n);
    syn_status status =
        syn_largest_wait(largest, glue_watch(own, "Mining surrogates of the window"));
    if (status != SYN_OK)
        return glue_status(status, NA_REAL,
                           status == SYN_TOO_LARGE ? INT32_MAX : Rf_asReal(max_memory));
    int rows = (int)syn_largest_sizes(largest);
    SEXP out = PROTECT(Rf_allocMatrix(INTSXP, rows, columns));
    for (int k = 0; k < columns; k++)
        for (int z = 0; z < rows; z++)
            INTEGER(out)[(R_xlen_t)k * rows + z] =
                (int)syn_largest_count(largest, (uint32_t)k, (uint32_t)z + 1);
    UNPROTECT(1);
    return out;
}
