/* Spikes in seconds: finds their ticks, and checks them (core/spikes/check.h). */
#include "glue/require.h"

#include "core/spikes/check.h"

static syn_clock clock_of(SEXP clock)
{
    const double *value = REAL(numbers(clock, REALSXP, 2, "clock"));
    syn_clock out = {.rate = value[0], .resolution = value[1]};
    return out;
}

/* The tick next to each time. */
SEXP r_ticks(SEXP time, SEXP clock)
{
    R_xlen_t n = Rf_xlength(numbers(time, REALSXP, 0, "times"));
    syn_clock how = clock_of(clock);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
    syn_ticks((size_t)n, REAL(time), &how, REAL(out));
    UNPROTECT(1);
    return out;
}

/* The kind of the first fault, 0 without one, and its row, from 1. */
SEXP r_check_spikes(SEXP time, SEXP unit, SEXP units, SEXP clock)
{
    R_xlen_t n = Rf_xlength(numbers(time, REALSXP, 0, "times"));
    require(Rf_xlength(numbers(unit, INTSXP, n, "units")) == n, "units");
    syn_clock how = clock_of(clock);
    size_t at = 0;
    syn_spikes_fault fault = syn_spikes_check((size_t)n, REAL(time), INTEGER(unit),
                                              Rf_asReal(units), &how, &at);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, 2));
    REAL(out)[0] = fault;
    REAL(out)[1] = (double)at + 1;
    UNPROTECT(1);
    return out;
}
