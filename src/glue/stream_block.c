/* What an update of a stream brings, where it is a sound recording in the usual form:
   most blocks are, and few spikes should not take longer to check than to count. */
#include <math.h>
#include <string.h>

#include "core/spikes/clock.h"
#include "glue/glue.h"

/* The attribute `name` of `x` where it is a finite number; else NaN. */
static double number_of(SEXP x, const char *name)
{
    SEXP value = Rf_getAttrib(x, Rf_install(name));
    if (TYPEOF(value) != REALSXP || XLENGTH(value) != 1 || OBJECT(value) ||
        !isfinite(REAL(value)[0]))
        return NAN;
    return REAL(value)[0];
}

/* Whether names are the first ones of others, so that their numbers are the same. */
static int are_first(SEXP names, SEXP of)
{
    if (names == of)
        return 1;
    if (TYPEOF(names) != STRSXP || TYPEOF(of) != STRSXP || XLENGTH(names) > XLENGTH(of))
        return 0;
    for (R_xlen_t i = 0; i < XLENGTH(names); i++)
        if (STRING_ELT(names, i) != STRING_ELT(of, i))
            return 0;
    return 1;
}

static int has_columns(SEXP x)
{
    SEXP names = Rf_getAttrib(x, R_NamesSymbol);
    if (TYPEOF(x) != VECSXP || XLENGTH(x) != 2 || !Rf_inherits(x, "spike_trains") ||
        TYPEOF(names) != STRSXP || strcmp(CHAR(STRING_ELT(names, 0)), "time") != 0 ||
        strcmp(CHAR(STRING_ELT(names, 1)), "unit") != 0)
        return 0;
    SEXP time = VECTOR_ELT(x, 0), unit = VECTOR_ELT(x, 1);
    SEXP class = Rf_getAttrib(unit, R_ClassSymbol);
    R_xlen_t n = Rf_xlength(Rf_getAttrib(x, R_RowNamesSymbol));
    return TYPEOF(time) == REALSXP && ATTRIB(time) == R_NilValue &&
           TYPEOF(unit) == INTSXP && TYPEOF(class) == STRSXP && XLENGTH(class) == 1 &&
           strcmp(CHAR(STRING_ELT(class, 0)), "factor") == 0 &&
           Rf_getAttrib(unit, R_DimSymbol) == R_NilValue && XLENGTH(time) == n &&
           XLENGTH(unit) == n;
}

/* Whether `x` has the two columns, and no trials or table of units, which take more
   checks. */
static int is_plain(SEXP x)
{
    return has_columns(x) && Rf_getAttrib(x, Rf_install("trials")) == R_NilValue &&
           Rf_getAttrib(x, Rf_install("unit_table")) == R_NilValue;
}

/* The tick of a time that is one, with no rounding; else NaN. */
static double exact_tick(double time, const syn_clock *clock)
{
    double tick = isfinite(time) ? syn_tick_of(time, clock) : NAN;
    return fabs(tick) < SYN_MOST_TICK && syn_seconds_of(tick, clock) == time ? tick : NAN;
}

/* Ticks of the spikes: whether all are ticks between two, sorted by tick and unit, none
   twice, with units below `units`. */
static int read_spikes(SEXP x, const syn_clock *clock, double start, double end,
                       int units,
                       double *tick)
{
    const double *time = REAL_RO(VECTOR_ELT(x, 0));
    const int *unit = INTEGER_RO(VECTOR_ELT(x, 1));
    R_xlen_t n = XLENGTH(VECTOR_ELT(x, 0));
    for (R_xlen_t i = 0; i < n; i++) {
        tick[i] = exact_tick(time[i], clock);
        if (!(tick[i] >= start && tick[i] <= end) || unit[i] < 1 || unit[i] > units ||
            (i > 0 && (tick[i] < tick[i - 1] ||
                       (tick[i] == tick[i - 1] && unit[i] <= unit[i - 1]))))
            return 0;
    }
    return 1;
}

/* `tick`, `code`, `start` and `now`, the end, of spike trains whose units are the first
   of `units`; NULL for all others, which must be checked, and for those with trials or on
   another clock. `clock`: ticks in a second, or NA, and seconds in a tick. */
SEXP r_plain_block(SEXP x, SEXP clock, SEXP units)
{
    const char *fields[] = {"tick", "code", "start", "now", ""};
    syn_clock c = {REAL(clock)[0], REAL(clock)[1]};
    if (TYPEOF(x) != VECSXP || !is_plain(x) || number_of(x, "resolution") != c.resolution)
        return R_NilValue;
    SEXP levels = Rf_getAttrib(VECTOR_ELT(x, 1), R_LevelsSymbol);
    double start = exact_tick(number_of(x, "start"), &c);
    double end = exact_tick(number_of(x, "end"), &c);
    R_xlen_t n = XLENGTH(VECTOR_ELT(x, 0));
    if (!(start <= end) || !are_first(levels, units))
        return R_NilValue;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP tick = SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, n));
    SEXP code = SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, n));
    int sound = read_spikes(x, &c, start, end, (int)XLENGTH(levels), REAL(tick));
    if (n > 0)
        memcpy(INTEGER(code), INTEGER_RO(VECTOR_ELT(x, 1)), (size_t)n * sizeof(int));
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal(start));
    SET_VECTOR_ELT(out, 3, Rf_ScalarReal(end));
    UNPROTECT(1);
    return sound ? out : R_NilValue;
}
