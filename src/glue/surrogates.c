/* Makes surrogates for surrogate_trains(), and reads the options of surrogates for all
   other entries. */
#include "glue/surrogates.h"

#include "core/surrogates/isi.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/spikes.h"
#include "glue/watch.h"

/* ---- what R passes ---- */

/* Most bins that a window slides over: half a second of random numbers. */
enum { MOST_SLIDES = 1 << 27 };

syn_status glue_surrogate_spikes(syn_spikes *out, SEXP spikes,
                                 const syn_surrogate_options *options,
                                 const syn_watch *watch)
{
    SYN_TRY(glue_spikes(out, spikes, 1, watch));
    /* How far spikes go, and how many bins are permuted. */
    int shuffles = options->method == SYN_SURROGATE_BIN_SHUFFLE ||
                   options->method == SYN_SURROGATE_WINDOW_SHUFFLE;
    int slides = options->method == SYN_SURROGATE_SLIDING_SHUFFLE;
    int moves = options->method == SYN_SURROGATE_DITHER ||
                options->method == SYN_SURROGATE_TRAIN_SHIFT ||
                options->method == SYN_SURROGATE_TRIAL_SHIFT;
    for (uint32_t t = 0; t < out->trials; t++) {
        double length = out->stop[t] - out->start[t];
        require(!moves || (double)options->dither <= length, "dither");
        require(!shuffles || (length + 1) / (double)options->bin <= INT32_MAX, "bin");
        require(!slides || (length + 1) / (double)options->bin <= MOST_SLIDES, "bin");
    }
    return SYN_OK;
}

syn_status glue_trains(syn_trains *out, SEXP spikes, const syn_surrogate_options *options,
                       syn_budget *budget, const syn_watch *watch)
{
    syn_spikes x;
    SYN_TRY(glue_surrogate_spikes(&x, spikes, options, watch));
    double bytes = syn_trains_bytes((double)x.n, x.units, x.trials);
    if (!syn_budget_take(budget, (size_t)bytes))
        return SYN_OVER_BUDGET;
    return syn_trains_make(out, &x, watch);
}

syn_surrogate_options glue_surrogate_options(SEXP options)
{
    SEXP o = glue_option(options, "numbers");
    const int64_t most = (int64_t)SYN_MOST_TICK;
    return (syn_surrogate_options){
        .method = (syn_surrogate_method)glue_option_int(o, "method", 0,
                                                        SYN_SURROGATE_SLIDING_SHUFFLE),
        .dither = glue_option_int(o, "dither", 1, INT32_MAX),
        .refractory = glue_option_int(o, "refractory", 0, most),
        .bin = glue_option_int(o, "bin", 1, most),
        .window = glue_option_int(o, "window", glue_option_int(o, "bin", 1, most), most),
        .isi_bin = glue_option_int(o, "isi_bin", 1, most),
        .isi_bins = (uint32_t)glue_option_int(o, "isi_bins", 1, 1000),
        .sigma = glue_option_number(o, "sigma", 0, 1000),
        .vector_bits = glue_option_vector_bits(o), .key = glue_option_key(options)};
}

/* ---- surrogates for R ---- */

typedef struct work {
    syn_budget budget;
    syn_trains trains;
    syn_surrogate_plan plan;
} work;

static void release(void *held)
{
    work *w = held;
    syn_surrogate_plan_free(&w->plan);
    syn_trains_free(&w->trains);
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

/* `n` surrogates, each a list of `tick` and `unit`, sorted by both. `options`: n, threads
   and max_memory. */
SEXP r_surrogate_trains(glue_owner *own, SEXP trains, SEXP surrogates, SEXP options)
{
    syn_surrogate_options o = glue_surrogate_options(surrogates);
    uint32_t n = (uint32_t)glue_option_int(options, "n", 1, INT32_MAX);
    int threads = glue_option_threads(options);
    work *w = glue_hold(own, sizeof *w, release);
    const syn_watch *watch = glue_watch(own, "Making surrogates");
    w->budget.limit = glue_option_memory(options);
    double limit = (double)w->budget.limit;
    syn_status status = glue_trains(&w->trains, trains, &o, &w->budget, watch);
    double needed = status == SYN_OK ? bytes_needed(&w->trains, &o, n) : NA_REAL;
    if (needed > limit)
        status = SYN_OVER_BUDGET;
    SEXP out = R_NilValue;
    if (status == SYN_OK) {
        syn_budget_take(&w->budget, (size_t)(w->trains.events * (double)n * SPIKE_BYTES));
        double **tick = (double **)R_alloc(n, sizeof *tick);
        int **unit = (int **)R_alloc(n, sizeof *unit);
        out = PROTECT(empty_list(n, (R_xlen_t)w->trains.events, tick, unit));
        status = syn_surrogate_plan_make(&w->plan, &w->trains, &o, threads, &w->budget,
                                         watch);
        SYN_NEXT(status, syn_surrogate_list(&w->plan, 0, n, tick, unit, threads, watch));
        UNPROTECT(1);
    }
    return status == SYN_OK ? out
                            : glue_status(status, needed,
                                          status == SYN_OVER_BUDGET ? limit : INT32_MAX);
}
