#include "glue/surrogates.h"

#include <stdlib.h>

#include "glue/owner.h"
#include "glue/random.h"
#include "glue/require.h"
#include "glue/watch.h"

/* ---- what R passes ---- */

static const double most_tick = 9007199254740992.0;  /* 2^53 */

/* Spikes lie within their trials, and trials follow each other. */
static void check_times(SEXP trains, double units)
{
    SEXP trials = VECTOR_ELT(trains, 2), starts = VECTOR_ELT(trains, 4);
    const double *tick = REAL(VECTOR_ELT(trains, 0)), *start = REAL(starts);
    const double *stop = REAL(VECTOR_ELT(trains, 5));
    const int *unit = INTEGER(VECTOR_ELT(trains, 1));
    const int *trial = trials == R_NilValue ? NULL : INTEGER(trials);
    R_xlen_t n = Rf_xlength(VECTOR_ELT(trains, 0)), many = Rf_xlength(starts);
    for (R_xlen_t t = 0; t < many; t++) {
        within(start[t], t == 0 ? -most_tick : stop[t - 1] + 1, most_tick, "starts");
        within(stop[t], start[t], most_tick, "stops");
    }
    double last = -most_tick;
    int now = 1;
    for (R_xlen_t i = 0; i < n; i++) {
        int t = trial ? trial[i] : 1;
        if (unit[i] < 1 || t < 1)
            continue;
        require(unit[i] <= units, "units");
        require(t >= now && t <= many, "trials");
        require(tick[i] >= last && tick[i] >= start[t - 1] && tick[i] <= stop[t - 1],
                "ticks");
        last = tick[i];
        now = t;
    }
}

/* How far spikes go, and how many bins are permuted. */
static void check_reach(const syn_surrogate_options *o, SEXP starts, SEXP stops)
{
    int shuffles = o->method == SYN_SURROGATE_BIN_SHUFFLE ||
                   o->method == SYN_SURROGATE_WINDOW_SHUFFLE;
    int moves = o->method == SYN_SURROGATE_DITHER ||
                o->method == SYN_SURROGATE_TRAIN_SHIFT ||
                o->method == SYN_SURROGATE_TRIAL_SHIFT;
    for (R_xlen_t t = 0; t < Rf_xlength(starts); t++) {
        double length = REAL(stops)[t] - REAL(starts)[t];
        require(!moves || (double)o->dither <= length, "dither");
        require(!shuffles || (length + 1) / (double)o->bin <= INT32_MAX, "bin");
    }
}

syn_status glue_trains(syn_trains *out, SEXP trains, const syn_surrogate_options *options)
{
    require(TYPEOF(trains) == VECSXP && Rf_xlength(trains) >= 6, "trains");
    R_xlen_t n = Rf_xlength(VECTOR_ELT(trains, 0));
    SEXP trials = VECTOR_ELT(trains, 2), starts = VECTOR_ELT(trains, 4);
    const double *tick = REAL(numbers(VECTOR_ELT(trains, 0), REALSXP, 0, "ticks"));
    const int *unit = INTEGER(numbers(VECTOR_ELT(trains, 1), INTSXP, n, "units"));
    if (trials != R_NilValue)
        numbers(trials, INTSXP, n, "trials");
    numbers(starts, REALSXP, 1, "starts");
    SEXP stops = numbers(VECTOR_ELT(trains, 5), REALSXP, Rf_xlength(starts), "stops");
    require(Rf_xlength(starts) < INT32_MAX, "starts");
    double units = within(Rf_asReal(VECTOR_ELT(trains, 3)), 0, INT32_MAX - 1, "units");
    check_times(trains, units);
    check_reach(options, starts, stops);
    /* R counts from 1, and its NA is below that. */
    return syn_trains_make(out, (size_t)n, tick, unit,
                           trials == R_NilValue ? NULL : INTEGER(trials), 1,
                           (uint32_t)units, (uint32_t)Rf_xlength(starts), REAL(starts),
                           REAL(stops));
}

/* `options` begins with what core has: the number of the method, dither, refractory, bin,
   window, isi_bin, isi_bins, sigma and vector_bits, 0 but in tests; then the key. */
syn_surrogate_options glue_surrogate_options(SEXP options)
{
    require(TYPEOF(options) == VECSXP && Rf_xlength(options) >= 2, "options");
    const double *o = REAL(numbers(VECTOR_ELT(options, 0), REALSXP, 9, "options"));
    int method = (int)within(o[0], 0, SYN_SURROGATE_TRIAL_SHIFT, "method");
    syn_surrogate_options out = {
        .method = (syn_surrogate_method)method,
        .dither = (int64_t)within(o[1], 1, INT32_MAX, "dither"),
        .refractory = (int64_t)within(o[2], 0, most_tick, "refractory"),
        .bin = (int64_t)within(o[3], 1, most_tick, "bin"),
        .window = (int64_t)within(o[4], o[3], most_tick, "window"),
        .isi_bin = (int64_t)within(o[5], 1, most_tick, "isi_bin"),
        .isi_bins = (uint32_t)within(o[6], 1, 1000, "isi_bins"),
        .sigma = within(o[7], 0, 1000, "sigma"),
        .vector_bits = (int)within(o[8], 0, 512, "vector_bits"),
        .key = glue_key(numbers(VECTOR_ELT(options, 1), REALSXP, 2, "key"))};
    return out;
}

/* ---- surrogates for R ---- */

/* What one call holds outside R's heap: an external pointer owns it. */
typedef struct work {
    syn_trains trains;
    syn_surrogate_plan plan;
} work;

static void work_free(SEXP pointer)
{
    work *w = R_ExternalPtrAddr(pointer);
    if (!w)
        return;
    syn_surrogate_plan_free(&w->plan);
    syn_trains_free(&w->trains);
    free(w);
    R_ClearExternalPtr(pointer);
}

/* A list of `n` lists of `tick` and `unit`, not yet filled; the arrays point into it. */
static SEXP empty_list(R_xlen_t n, R_xlen_t events, double **tick, int **unit)
{
    const char *fields[] = {"tick", "unit", ""};
    SEXP out = PROTECT(Rf_allocVector(VECSXP, n));
    for (R_xlen_t k = 0; k < n; k++) {
        SEXP one = SET_VECTOR_ELT(out, k, Rf_mkNamed(VECSXP, fields));
        tick[k] = REAL(SET_VECTOR_ELT(one, 0, Rf_allocVector(REALSXP, events)));
        unit[k] = INTEGER(SET_VECTOR_ELT(one, 1, Rf_allocVector(INTSXP, events)));
    }
    UNPROTECT(1);
    return out;
}

/* Bytes of `n` surrogates for R, and of what makes them. */
static double bytes_needed(const syn_trains *t, const syn_surrogate_options *o, double n,
                           int threads)
{
    double tables = o->method == SYN_SURROGATE_JOINT_ISI ||
                            o->method == SYN_SURROGATE_ISI_DITHER
                        ? 2.0 * t->units * o->isi_bins * (o->isi_bins + 1.0)
                        : 0;
    double sorters = n < threads ? 1 : threads;
    return tables + t->events * (n * (sizeof(double) + sizeof(int)) +
                                 sorters * (sizeof(int64_t) + 2 * sizeof(uint64_t)));
}

/* `n` surrogates, each a list of `tick` and `unit`, sorted by both. */
SEXP r_surrogate_trains(SEXP trains, SEXP options, SEXP n, SEXP threads, SEXP max_memory)
{
    syn_surrogate_options o = glue_surrogate_options(options);
    double many = within(Rf_asReal(n), 1, INT32_MAX, "n");
    int threads_c = (int)within(Rf_asReal(threads), 1, 1024, "threads");
    SEXP pointer = PROTECT(glue_owner(sizeof(work), work_free));
    work *w = R_ExternalPtrAddr(pointer);
    syn_status status = glue_trains(&w->trains, trains, &o);
    double needed = status == SYN_OK ? bytes_needed(&w->trains, &o, many, threads_c) : 0;
    if (needed > Rf_asReal(max_memory))
        status = SYN_OVER_BUDGET;
    SEXP out = R_NilValue;
    double **tick = (double **)R_alloc((size_t)many, sizeof *tick);
    int **unit = (int **)R_alloc((size_t)many, sizeof *unit);
    if (status == SYN_OK)
        out = empty_list((R_xlen_t)many, (R_xlen_t)w->trains.events, tick, unit);
    PROTECT(out);
    glue_watch watch;
    glue_watch_start(&watch, "Making surrogates");
    if (status == SYN_OK)
        status = syn_surrogate_plan_make(&w->plan, &w->trains, &o, threads_c,
                                         &watch.watch);
    if (status == SYN_OK)
        status = syn_surrogate_list(&w->plan, (uint32_t)many, 1, tick, unit, threads_c,
                                    &watch.watch);
    glue_watch_stop(&watch);
    if (status != SYN_OK)
        out = glue_status(status, needed > 0 ? needed : NA_REAL,
                          status == SYN_OVER_BUDGET ? Rf_asReal(max_memory) : INT32_MAX);
    PROTECT(out);
    work_free(pointer);
    UNPROTECT(3);
    return out;
}
