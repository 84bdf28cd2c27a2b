#include "glue/recording.h"

syn_status glue_recording(syn_recording *out, SEXP events, uint32_t min_count,
                          int64_t reach)
{
    SEXP tick = VECTOR_ELT(events, 0), trial = VECTOR_ELT(events, 2);
    /* R counts from 1, and its NA is below that. */
    return syn_recording_make(out, (size_t)Rf_xlength(tick), REAL(tick),
                              INTEGER(VECTOR_ELT(events, 1)),
                              trial == R_NilValue ? NULL : INTEGER(trial), 1,
                              (uint32_t)Rf_asInteger(VECTOR_ELT(events, 3)), min_count,
                              reach);
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
