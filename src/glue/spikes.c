/* Reads and checks the spikes that R hands over, in ticks for what the core makes of them
   and in seconds for whoever makes a recording. */
#include "glue/spikes.h"

#include <string.h>

#include "core/base/parallel.h"
#include "core/spikes/arrange.h"
#include "core/spikes/codes.h"
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
    return (syn_spikes){.n = (size_t)n, .tick = REAL(tick), .unit = INTEGER(unit),
                        .trial = trial == R_NilValue ? NULL : INTEGER(trial),
                        .units = units, .trials = (uint32_t)trials, .start = REAL(start),
                        .stop = REAL(stop)};
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
    return (syn_clock){.rate = value[0], .resolution = value[1]};
}

static syn_scale scale_of(SEXP scale)
{
    const double *value = REAL(numbers(scale, REALSXP, 2, "scale"));
    return (syn_scale){.times = value[0], .over = value[1]};
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

/* ---- distinct values ---- */

enum { CHUNK = 1 << 12 };

static void release_codes(void *held)
{
    syn_codes_free(held);
}

/* What tells a number apart: 0 and -0 are one, and so is all that is no number. */
static uint64_t number_key(double x)
{
    uint64_t key = UINT64_MAX;
    double plain = x + 0;
    if (!ISNAN(x))
        memcpy(&key, &plain, sizeof key);
    return key;
}

/* The values that come out, in the order in which they come. */
static SEXP values_of(const syn_codes *codes, SEXPTYPE type)
{
    SEXP out = PROTECT(Rf_allocVector(type, (R_xlen_t)codes->n));
    for (size_t k = 0; k < codes->n; k++) {
        if (type == STRSXP)
            SET_STRING_ELT(out, (R_xlen_t)k, (SEXP)(uintptr_t)codes->key[k]);
        else if (type == INTSXP)
            INTEGER(out)[k] = (int)(uint32_t)codes->key[k];
        else if (codes->key[k] == UINT64_MAX)
            REAL(out)[k] = NA_REAL;
        else
            memcpy(REAL(out) + k, codes->key + k, sizeof(double));
    }
    UNPROTECT(1);
    return out;
}

/* The distinct values of integers, doubles or texts, and for each its place among
   them. */
SEXP r_distinct(glue_owner *own, SEXP x)
{
    const char *fields[] = {"values", "code", ""};
    SEXPTYPE type = (SEXPTYPE)TYPEOF(x);
    require(type == INTSXP || type == REALSXP || type == STRSXP, "values");
    R_xlen_t n = Rf_xlength(x);
    syn_codes *codes = glue_hold(own, sizeof *codes, release_codes);
    const syn_watch *watch = glue_watch(own, "Naming units");
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, n));
    int *code = INTEGER(VECTOR_ELT(out, 1));
    syn_status status = SYN_OK;
    for (R_xlen_t from = 0; status == SYN_OK && from < n; from += CHUNK) {
        uint64_t key[CHUNK];
        size_t here = n - from > CHUNK ? CHUNK : (size_t)(n - from);
        if (from % (CHUNK << 4) == 0)
            status = syn_poll(watch, "spikes", (double)from, (double)n);
        if (status == SYN_OK) {
            if (TYPEOF(x) == STRSXP) {
                /* R keeps each text once, so its address tells it apart. One by one, as a
                   vector that R has yet to turn into text would else be turned as a
                   whole. */
                for (size_t i = 0; i < here; i++)
                    key[i] = (uint64_t)(uintptr_t)STRING_ELT(x, from + (R_xlen_t)i);
            } else if (TYPEOF(x) == INTSXP) {
                const int *number = INTEGER(x) + from;
                for (size_t i = 0; i < here; i++)
                    key[i] = (uint32_t)number[i];
            } else {
                const double *number = REAL(x) + from;
                for (size_t i = 0; i < here; i++)
                    key[i] = number_key(number[i]);
            }
            status = syn_codes_add(codes, here, key, code + from);
        }
    }
    if (status == SYN_OK)
        SET_VECTOR_ELT(out, 0, values_of(codes, type));
    UNPROTECT(1);
    return glue_answer(out, status, "");
}

/* ---- in order ---- */

static syn_loose read_loose(SEXP time, SEXP code, SEXP unit, SEXP scale)
{
    R_xlen_t n = Rf_xlength(numbers(time, REALSXP, 0, "times"));
    require(Rf_xlength(numbers(code, INTSXP, n, "units")) == n, "units");
    require((double)n < UINT32_MAX, "times");
    R_xlen_t codes = Rf_xlength(numbers(unit, INTSXP, 0, "units"));
    syn_loose out = {
        .n = (size_t)n, .time = REAL(time), .code = INTEGER(code), .unit = INTEGER(unit),
        .codes = (uint32_t)codes, .scale = scale_of(scale)};
    for (R_xlen_t k = 0; k < codes; k++)
        if (out.unit[k] > 0 && (uint32_t)out.unit[k] > out.units)
            out.units = (uint32_t)out.unit[k];
    return out;
}

/* Shorter where spikes were there twice. */
static void keep_first(SEXP list, int at, size_t n)
{
    if (Rf_xlength(VECTOR_ELT(list, at)) > (R_xlen_t)n)
        SET_VECTOR_ELT(list, at, Rf_xlengthgets(VECTOR_ELT(list, at), (R_xlen_t)n));
}

/* Spikes by time, then by unit, each once: seconds and units; or what is wrong with them
   ("not finite", "far", "unit", or "wide" where only R can sort them), by its name.
   `unit`: the unit of each code; `scale` makes ticks of the times. */
SEXP r_arrange(glue_owner *own, SEXP time, SEXP code, SEXP unit, SEXP scale, SEXP clock,
               SEXP threads)
{
    const char *fields[] = {"time", "unit", "fault", "sorted", ""};
    syn_loose given = read_loose(time, code, unit, scale);
    syn_clock on = clock_of(clock);
    int workers = (int)within(Rf_asReal(threads), 1, INT32_MAX, "threads");
    const syn_watch *watch = glue_watch(own, "Making a recording");
    syn_arranged found;
    syn_status status = syn_spikes_survey(&found, &given, &on, workers, watch);
    if (status != SYN_OK)
        return glue_status(status, NA_REAL, NA_REAL);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    int sound = found.fault == SYN_SPIKES_SOUND;
    const char *fault = sound && found.wide ? "wide" : faults[found.fault].name;
    SET_VECTOR_ELT(out, 2, Rf_mkString(fault));
    SET_VECTOR_ELT(out, 3, Rf_ScalarLogical(found.sorted));
    if (sound && !found.wide) {
        uint64_t *spare = NULL;
        if (!found.sorted)
            spare = glue_hold(own, given.n * sizeof *spare, NULL);
        R_xlen_t room = (R_xlen_t)(found.sorted ? found.n : given.n);
        SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, room));
        SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, room));
        double *seconds = REAL(VECTOR_ELT(out, 0));
        int *units = INTEGER(VECTOR_ELT(out, 1));
        status = syn_spikes_arrange(&found, &given, &on, workers, watch, spare, seconds,
                                    units);
        keep_first(out, 0, found.n);
        keep_first(out, 1, found.n);
    }
    UNPROTECT(1);
    return glue_answer(out, status, "");
}
