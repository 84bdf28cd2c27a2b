/* Reads and checks the spikes that R hands over, in ticks for what the core makes of them
   and in seconds for whoever makes a recording. */
#include "glue/spikes.h"

#include "core/base/parallel.h"
#include "glue/require.h"
#include "glue/watch.h"

/* What R calls each fault, and what glue_refuse() says is wrong. */
static const struct {
    const char *name, *what;
} faults[] = {
    [SYN_SPIKES_SOUND] = {"sound", ""},
    [SYN_SPIKES_NOT_FINITE] = {"not finite", "ticks"},
    [SYN_SPIKES_OFF_CLOCK] = {"off clock", "ticks"},
    [SYN_SPIKES_FAR] = {"far", "ticks"},
    [SYN_SPIKES_UNIT] = {"unit", "units"},
    [SYN_SPIKES_UNSORTED] = {"unsorted", "order of spikes"},
    [SYN_SPIKES_TRIAL] = {"trial", "trials"},
    [SYN_SPIKES_BOUNDS] = {"bounds", "starts and stops"},
    [SYN_SPIKES_OUTSIDE] = {"outside", "spikes outside of their trials"},
    [SYN_SPIKES_TWICE] = {"twice", "units that fire twice on a tick"},
};

/* ---- spikes in ticks ---- */

uint32_t glue_units(SEXP spikes)
{
    numbers(spikes, VECSXP, 6, "spikes");
    return (uint32_t)within(Rf_asReal(VECTOR_ELT(spikes, 3)), 0, INT32_MAX - 1, "units");
}

static syn_spikes read_spikes(SEXP spikes)
{
    uint32_t units = glue_units(spikes);
    SEXP tick = numbers(VECTOR_ELT(spikes, 0), REALSXP, 0, "ticks");
    R_xlen_t n = Rf_xlength(tick);
    SEXP unit = numbers(VECTOR_ELT(spikes, 1), INTSXP, n, "units");
    SEXP trial = VECTOR_ELT(spikes, 2);
    require(Rf_xlength(unit) == n, "units");
    if (trial != R_NilValue)
        require(Rf_xlength(numbers(trial, INTSXP, n, "trials")) == n, "trials");
    SEXP start = numbers(VECTOR_ELT(spikes, 4), REALSXP, 1, "starts and stops");
    R_xlen_t trials = Rf_xlength(start);
    SEXP stop = numbers(VECTOR_ELT(spikes, 5), REALSXP, trials, "starts and stops");
    require(trials < INT32_MAX, "starts and stops");
    syn_spikes out = {
        .n = (size_t)n, .tick = REAL(tick), .unit = INTEGER(unit),
        .trial = trial == R_NilValue ? NULL : INTEGER(trial), .units = units,
        .trials = (uint32_t)trials, .start = REAL(start), .stop = REAL(stop)};
    return out;
}

syn_status glue_spikes(syn_spikes *out, SEXP spikes, int threads, const syn_watch *watch)
{
    syn_spikes_verdict verdict;
    *out = read_spikes(spikes);
    SYN_TRY(syn_spikes_check(out, NULL, threads, watch, &verdict));
    if (verdict.fault != SYN_SPIKES_SOUND)
        glue_refuse(faults[verdict.fault].what);
    return SYN_OK;
}

syn_status glue_recording(syn_recording *out, SEXP spikes, uint32_t min_count,
                          int64_t reach, int threads, const syn_watch *watch)
{
    syn_spikes made_of;
    SYN_TRY(glue_spikes(&made_of, spikes, threads, watch));
    return syn_recording_make(out, &made_of, min_count, reach, threads, watch);
}

syn_status glue_raster(syn_raster *out, SEXP events, uint32_t window, syn_budget *budget,
                       const syn_watch *watch)
{
    numbers(events, VECSXP, 7, "events");
    double width = within(Rf_asReal(VECTOR_ELT(events, 6)), 1, SYN_MOST_TICK, "bins");
    syn_spikes made_of;
    SYN_TRY(glue_spikes(&made_of, events, 1, watch));
    return syn_raster_bin(out, &made_of, (int64_t)width, window, budget, watch);
}

/* ---- spikes in seconds ---- */

static syn_clock clock_of(SEXP clock)
{
    const double *value = REAL(numbers(clock, REALSXP, 2, "clock"));
    syn_clock out = {.rate = value[0], .resolution = value[1]};
    return out;
}

static syn_scale scale_of(SEXP scale)
{
    const double *value = REAL(numbers(scale, REALSXP, 2, "scale"));
    syn_scale out = {.times = value[0], .over = value[1]};
    return out;
}

/* Threads for what the user names none for. To ask how many there may be takes longer
   than few spikes do. */
static int threads_for(R_xlen_t spikes)
{
    return syn_spikes_threads((size_t)spikes, 2) > 1 ? syn_threads(NULL) : 1;
}

/* The tick next to each time. */
SEXP r_ticks(SEXP time, SEXP scale)
{
    R_xlen_t n = Rf_xlength(numbers(time, REALSXP, 0, "times"));
    syn_scale how = scale_of(scale);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
    syn_ticks((size_t)n, REAL(time), &how, threads_for(n), REAL(out));
    UNPROTECT(1);
    return out;
}

/* The first fault of spikes by its name, "sound" without one, and its row, from 1.
   `clock`: ticks a second and seconds a tick; `interval`: first and last second. */
SEXP r_check_spikes(glue_owner *own, SEXP time, SEXP unit, SEXP units, SEXP clock,
                    SEXP interval)
{
    const char *fields[] = {"fault", "row", ""};
    R_xlen_t n = Rf_xlength(numbers(time, REALSXP, 0, "times"));
    require(Rf_xlength(numbers(unit, INTSXP, n, "units")) == n, "units");
    syn_clock how = clock_of(clock);
    const double *bounds = REAL(numbers(interval, REALSXP, 2, "interval"));
    syn_spikes spikes = {
        .n = (size_t)n, .tick = REAL(time), .unit = INTEGER(unit), .trials = 1,
        .units = (uint32_t)within(Rf_asReal(units), 0, INT32_MAX, "units"),
        .start = bounds, .stop = bounds + 1};
    syn_spikes_verdict verdict;
    const syn_watch *watch = glue_watch(own, "Checking spikes");
    syn_status status = syn_spikes_check(&spikes, &how, threads_for(n), watch, &verdict);
    if (status != SYN_OK)
        return glue_status(status, NA_REAL, NA_REAL);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_mkString(faults[verdict.fault].name));
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal((double)verdict.at + 1));
    UNPROTECT(1);
    return out;
}
