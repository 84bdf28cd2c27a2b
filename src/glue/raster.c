#include "glue/raster.h"

syn_status glue_raster(syn_raster *out, SEXP events, int64_t window)
{
    SEXP tick = VECTOR_ELT(events, 0), trial = VECTOR_ELT(events, 2);
    /* R counts from 1, and its NA is below that. */
    return syn_raster_bin(out, (size_t)Rf_xlength(tick), REAL(tick),
                          INTEGER(VECTOR_ELT(events, 1)),
                          trial == R_NilValue ? NULL : INTEGER(trial), 1,
                          (uint32_t)Rf_asInteger(VECTOR_ELT(events, 3)),
                          REAL(VECTOR_ELT(events, 4)),
                          (int64_t)Rf_asReal(VECTOR_ELT(events, 5)), window);
}
