#include "glue/recording.h"

#include <stdlib.h>

/* Codes from 1 become numbers from 0; NA becomes negative. */
static int *from_zero(SEXP codes)
{
    R_xlen_t n = Rf_xlength(codes);
    int *out = malloc((size_t)(n + 1) * sizeof *out);
    for (R_xlen_t i = 0; out && i < n; i++)
        out[i] = INTEGER(codes)[i] == NA_INTEGER ? -1 : INTEGER(codes)[i] - 1;
    return out;
}

syn_status glue_recording(syn_recording *out, SEXP events, uint32_t min_count,
                          int64_t reach)
{
    SEXP tick = VECTOR_ELT(events, 0);
    int *unit = from_zero(VECTOR_ELT(events, 1));
    SEXP trials = VECTOR_ELT(events, 2);
    int *trial = trials == R_NilValue ? NULL : from_zero(trials);
    uint32_t units = (uint32_t)Rf_asInteger(VECTOR_ELT(events, 3));
    syn_status status = SYN_NO_MEMORY;
    if (unit && (trial || trials == R_NilValue))
        status = syn_recording_make(out, (size_t)Rf_xlength(tick), REAL(tick), unit,
                                    trial, units, min_count, reach);
    free(unit);
    free(trial);
    return status;
}

int64_t glue_intervals(syn_interval *interval, SEXP low, SEXP high)
{
    int64_t reach = 0;
    for (R_xlen_t k = 0; k < Rf_xlength(low); k++) {
        interval[k].low = (int64_t)REAL(low)[k];
        interval[k].high = (int64_t)REAL(high)[k];
        reach = interval[k].high > reach ? interval[k].high : reach;
    }
    return reach;
}
