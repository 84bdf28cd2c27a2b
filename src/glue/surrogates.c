/* Makes surrogates for surrogate_trains(), and reads the options of surrogates for all
   other entries. */
#include "glue/surrogates.h"

#include <stdlib.h>

#include "core/surrogates/isi.h"
#include "glue/owner.h"
#include "glue/random.h"
#include "glue/recording.h"
#include "glue/require.h"
#include "glue/watch.h"

/* ---- what R passes ---- */

/* Trials follow each other, and spikes lie within them. */
static void check_times(const glue_spikes *x, const double *stop)
{
    for (R_xlen_t t = 0; t < x->trials; t++) {
        within(x->start[t], t == 0 ? -GLUE_MOST_TICK : stop[t - 1] + 1, GLUE_MOST_TICK,
               "starts");
        within(stop[t], x->start[t], GLUE_MOST_TICK, "stops");
    }
    glue_check_spikes(x, stop);
}

/* Most bins that a window slides over: half a second of random numbers. */
enum { MOST_SLIDES = 1 << 27 };

/* How far spikes go, and how many bins are permuted. */
static void check_reach(const syn_surrogate_options *o, SEXP starts, SEXP stops)
{
    int shuffles = o->method == SYN_SURROGATE_BIN_SHUFFLE ||
                   o->method == SYN_SURROGATE_WINDOW_SHUFFLE;
    int slides = o->method == SYN_SURROGATE_SLIDING_SHUFFLE;
    int moves = o->method == SYN_SURROGATE_DITHER ||
                o->method == SYN_SURROGATE_TRAIN_SHIFT ||
                o->method == SYN_SURROGATE_TRIAL_SHIFT;
    for (R_xlen_t t = 0; t < Rf_xlength(starts); t++) {
        double length = REAL(stops)[t] - REAL(starts)[t];
        require(!moves || (double)o->dither <= length, "dither");
        require(!shuffles || (length + 1) / (double)o->bin <= INT32_MAX, "bin");
        require(!slides || (length + 1) / (double)o->bin <= MOST_SLIDES, "bin");
    }
}

syn_status glue_trains(syn_trains *out, SEXP trains, const syn_surrogate_options *options,
                       syn_budget *budget)
{
    require(TYPEOF(trains) == VECSXP && Rf_xlength(trains) >= 6, "trains");
    glue_spikes x = glue_read_spikes(trains);
    SEXP stops = numbers(VECTOR_ELT(trains, 5), REALSXP, x.trials, "stops");
    require(x.trials < INT32_MAX, "starts");
    require(x.units < INT32_MAX, "units");
    check_times(&x, REAL(stops));
    check_reach(options, VECTOR_ELT(trains, 4), stops);
    double bytes = syn_trains_bytes((double)x.n, x.units, (double)x.trials);
    if (!syn_budget_take(budget, (size_t)bytes))
        return SYN_OVER_BUDGET;
    /* R counts from 1, and its NA is below that. */
    return syn_trains_make(out, (size_t)x.n, x.tick, x.unit, x.trial, 1,
                           (uint32_t)x.units, (uint32_t)x.trials, x.start, REAL(stops));
}

/* `options` begins with what core has: the number of the method, dither, refractory, bin,
   window, isi_bin, isi_bins, sigma and vector_bits, 0 but in tests; then the key. */
syn_surrogate_options glue_surrogate_options(SEXP options)
{
    require(TYPEOF(options) == VECSXP && Rf_xlength(options) >= 2, "options");
    const double *o = REAL(numbers(VECTOR_ELT(options, 0), REALSXP, 9, "options"));
    int method = (int)within(o[0], 0, SYN_SURROGATE_SLIDING_SHUFFLE, "method");
    syn_surrogate_options out = {
        .method = (syn_surrogate_method)method,
        .dither = (int64_t)within(o[1], 1, INT32_MAX, "dither"),
        .refractory = (int64_t)within(o[2], 0, GLUE_MOST_TICK, "refractory"),
        .bin = (int64_t)within(o[3], 1, GLUE_MOST_TICK, "bin"),
        .window = (int64_t)within(o[4], o[3], GLUE_MOST_TICK, "window"),
        .isi_bin = (int64_t)within(o[5], 1, GLUE_MOST_TICK, "isi_bin"),
        .isi_bins = (uint32_t)within(o[6], 1, 1000, "isi_bins"),
        .sigma = within(o[7], 0, 1000, "sigma"),
        .vector_bits = (int)within(o[8], 0, 512, "vector_bits"),
        .key = glue_key(numbers(VECTOR_ELT(options, 1), REALSXP, 2, "key"))};
    return out;
}

/* ---- surrogates for R ---- */

/* What one call holds outside R's heap: an external pointer owns it. */
typedef struct work {
    syn_budget budget;
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

enum { SPIKE_BYTES = sizeof(double) + sizeof(int) };  /* of a surrogate in R */

/* Bytes of `n` surrogates in R, and of what else is needed at least: trains, tables, and
   what one thread works in. */
static double bytes_needed(const syn_trains *t, const syn_surrogate_options *o, double n)
{
    int tables = o->method == SYN_SURROGATE_JOINT_ISI ||
                 o->method == SYN_SURROGATE_ISI_DITHER;
    double of_unit = tables ? (double)syn_isi_table_length(o->isi_bins) : 0;
    double making = tables ? syn_isi_maker_bytes(o) : 0;
    double sorting = t->events * (double)(sizeof(int64_t) + 2 * sizeof(uint64_t));
    double table = t->units * of_unit * sizeof(uint32_t);
    return syn_trains_bytes(t->events, t->units, t->trials) + table +
           t->events * n * SPIKE_BYTES + (making > sorting ? making : sorting);
}

/* `n` surrogates, each a list of `tick` and `unit`, sorted by both. */
SEXP r_surrogate_trains(SEXP trains, SEXP options, SEXP n, SEXP threads, SEXP max_memory)
{
    syn_surrogate_options o = glue_surrogate_options(options);
    double many = within(Rf_asReal(n), 1, INT32_MAX, "n");
    int threads_c = (int)within(Rf_asReal(threads), 1, 1024, "threads");
    double limit = within(Rf_asReal(max_memory), 0, R_PosInf, "max_memory");
    SEXP pointer = PROTECT(glue_owner(sizeof(work), work_free));
    work *w = R_ExternalPtrAddr(pointer);
    w->budget.limit = limit < (double)SIZE_MAX ? (size_t)limit : SIZE_MAX;
    syn_status status = glue_trains(&w->trains, trains, &o, &w->budget);
    double needed = status == SYN_OK ? bytes_needed(&w->trains, &o, many) : 0;
    if (needed > limit)
        status = SYN_OVER_BUDGET;
    SEXP out = R_NilValue;
    double **tick = NULL;
    int **unit = NULL;
    if (status == SYN_OK) {
        syn_budget_take(&w->budget, (size_t)(w->trains.events * many * SPIKE_BYTES));
        tick = (double **)R_alloc((size_t)many, sizeof *tick);
        unit = (int **)R_alloc((size_t)many, sizeof *unit);
        out = empty_list((R_xlen_t)many, (R_xlen_t)w->trains.events, tick, unit);
    }
    PROTECT(out);
    glue_watch watch;
    glue_watch_start(&watch, "Making surrogates");
    if (status == SYN_OK)
        status = syn_surrogate_plan_make(&w->plan, &w->trains, &o, threads_c, &w->budget,
                                         &watch.watch);
    if (status == SYN_OK)
        status = syn_surrogate_list(&w->plan, (uint32_t)many, 1, tick, unit, threads_c,
                                    &watch.watch);
    glue_watch_stop(&watch);
    if (status != SYN_OK)
        out = glue_status(status, needed > 0 ? needed : NA_REAL,
                          status == SYN_OVER_BUDGET ? limit : INT32_MAX);
    PROTECT(out);
    work_free(pointer);
    UNPROTECT(3);
    return out;
}
