#include "glue/raster.h"

#include "glue/require.h"

syn_status glue_raster(syn_raster *out, SEXP events, uint32_t window)
{
    require(TYPEOF(events) == VECSXP && Rf_xlength(events) >= 6, "events");
    R_xlen_t n = Rf_xlength(VECTOR_ELT(events, 0));
    const double *tick = REAL(numbers(VECTOR_ELT(events, 0), REALSXP, 0, "ticks"));
    const int *unit = INTEGER(numbers(VECTOR_ELT(events, 1), INTSXP, n, "units"));
    require(Rf_xlength(VECTOR_ELT(events, 1)) == n, "units");
    SEXP trials = VECTOR_ELT(events, 2), starts = VECTOR_ELT(events, 4);
    const int *trial = NULL;
    if (trials != R_NilValue)
        trial = INTEGER(numbers(trials, INTSXP, n, "trials"));
    const double *start = REAL(numbers(starts, REALSXP, 1, "starts"));
    double units = within(Rf_asReal(VECTOR_ELT(events, 3)), 0, INT32_MAX, "units");
    const double most = 9007199254740992.0;  /* 2^53 */
    double width = within(Rf_asReal(VECTOR_ELT(events, 5)), 1, most, "bins");

    for (R_xlen_t t = 0; t < Rf_xlength(starts); t++)
        within(start[t], -most, most, "starts");
    double last = -most;
    int now = 1;
    for (R_xlen_t i = 0; i < n; i++) {
        int t = trial ? trial[i] : 1;
        if (unit[i] < 1 || t < 1)
            continue;
        require(unit[i] <= units, "units");
        require(t >= now && t <= Rf_xlength(starts), "trials");
        require(tick[i] >= last && tick[i] >= start[t - 1] && tick[i] <= most, "ticks");
        last = tick[i];
        now = t;
    }
    /* R counts from 1, and its NA is below that. */
    return syn_raster_bin(out, (size_t)n, tick, unit, trial, 1, (uint32_t)units, start,
                          (int64_t)width, window);
}
