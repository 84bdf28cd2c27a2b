/* Mines spike patterns and frequent itemsets for R, cuts the search into shares, and
   finds the maxima of surrogates. */
#include "glue/glue.h"

#include <string.h>

#include "core/base/parallel.h"
#include "core/patterns/found/shifted.h"
#include "core/patterns/store.h"
#include "glue/options.h"
#include "glue/pattern_store.h"
#include "glue/require.h"
#include "glue/spikes.h"
#include "glue/surrogates.h"
#include "glue/watch.h"
#include "gpu/patterns/patterns.h"
#include "gpu/spectrum/spectrum.h"

typedef struct mining {
    syn_budget budget;
    syn_gpu_call gpu;          /* without devices, the CPU mines */
    syn_raster raster;
    syn_patterns patterns;
    syn_pattern_shares shares;
} mining;

static void release(void *held)
{
    mining *m = held;
    syn_pattern_shares_free(&m->shares);
    syn_patterns_free(&m->patterns);
    syn_raster_free(&m->raster);
}

static mining *new_mining(glue_owner *own)
{
    glue_pattern_store_tidy();
    return glue_hold(own, sizeof(mining), release);
}

/* ---- what R passes ---- */

static uint32_t count_of(SEXP options, const char *name, uint32_t most)
{
    return (uint32_t)glue_option_int(options, name, 1, most);
}

/* `options`, from miner_options() in R; all shares. R's error when they are not what they
   must be. */
static syn_pattern_options pattern_options(SEXP options)
{
    return (syn_pattern_options){
        .window = count_of(options, "window", INT32_MAX),
        .min_spikes = count_of(options, "min_spikes", INT32_MAX),
        .max_spikes = count_of(options, "max_spikes", UINT32_MAX),
        .min_units = count_of(options, "min_units", INT32_MAX),
        .min_count = count_of(options, "min_count", INT32_MAX),
        .max_count = count_of(options, "max_count", UINT32_MAX),
        .engine = (syn_pattern_engine)glue_option_int(options, "engine", 0,
                                                      SYN_PATTERNS_ESTIMATE),
        .target = (syn_pattern_target)glue_option_int(options, "target", 0,
                                                      SYN_PATTERNS_FREQUENT),
        .share_begin = 0, .share_end = SIZE_MAX,
        .threads = glue_option_threads(options),
        .vector_bits = glue_option_vector_bits(options),
        .max_memory = glue_option_memory(options)};
}

/* `shares`: NULL for all, or the first and the one after the last; r_pattern_shares() has
   them. */
static void read_shares(syn_pattern_options *out, SEXP shares)
{
    if (shares == R_NilValue)
        return;
    const double *s = REAL(numbers(shares, REALSXP, 2, "shares"));
    out->share_begin = (size_t)within(s[0], 0, (double)(SIZE_MAX / 2), "shares");
    out->share_end = (size_t)within(s[1], s[0], (double)(SIZE_MAX / 2), "shares");
}

enum { LABEL_BYTES = 64 };  /* of the name of an item in R, and where it is kept */

/* `first`: whole doubles, where each set begins in `item`, and the end; items from 0. */
static syn_status read_sets(syn_raster *out, SEXP first, SEXP item, uint32_t items,
                            syn_budget *budget)
{
    size_t n = (size_t)Rf_xlength(numbers(first, REALSXP, 1, "sets")) - 1;
    R_xlen_t all = Rf_xlength(numbers(item, INTSXP, 0, "items"));
    if (!syn_budget_take(budget, (n + 1) * (sizeof(size_t) + sizeof(double)) +
                                     (size_t)all * sizeof(int) +
                                     (size_t)items * LABEL_BYTES))
        return SYN_OVER_BUDGET;
    size_t *begin = (size_t *)R_alloc(n + 1, sizeof *begin);
    for (size_t s = 0; s <= n; s++)
        begin[s] = (size_t)within(REAL(first)[s], s == 0 ? 0 : REAL(first)[s - 1],
                                  (double)all, "sets");
    for (R_xlen_t i = 0; i < all; i++)
        within(INTEGER(item)[i], 0, (double)items - 1, "items");
    return syn_raster_sets(out, n, begin, (const uint32_t *)INTEGER(item), items, budget);
}

/* ---- what R gets ---- */

/* R's vectors take over the patterns. */
static SEXP mined_patterns(mining *m, double elapsed)
{
    const char *fields[] = {"items",       "size",           "n",   "count",
                            "peak_memory", "mining_elapsed", ""};
    uint32_t sizes = syn_patterns_sizes(&m->patterns, NULL), runs = 0;
    size_t *count = (size_t *)R_alloc((size_t)sizes + 1, sizeof *count);
    syn_patterns_sizes(&m->patterns, count);
    for (uint32_t k = 0; k < sizes; k++)
        runs += count[k] > 0;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, (R_xlen_t)runs));
    SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, (R_xlen_t)runs));
    SET_VECTOR_ELT(out, 4, Rf_ScalarReal((double)m->patterns.peak_memory));
    SET_VECTOR_ELT(out, 5, Rf_ScalarReal(elapsed));
    for (uint32_t k = 0, run = 0; k < sizes; k++) {
        if (count[k] == 0)
            continue;
        INTEGER(VECTOR_ELT(out, 1))[run] = (int)k + 1;
        REAL(VECTOR_ELT(out, 2))[run++] = (double)count[k];
    }
    SEXP stored = PROTECT(glue_pattern_store(&m->patterns));
    SET_VECTOR_ELT(out, 0, VECTOR_ELT(stored, SYN_STORED_ITEMS));
    SET_VECTOR_ELT(out, 3, VECTOR_ELT(stored, SYN_STORED_OCCURRENCES));
    UNPROTECT(2);
    return out;
}

/* Mines the raster of `m` unless making it failed. */
static SEXP mine(mining *m, syn_status status, const syn_pattern_options *options,
                 const syn_watch *watch)
{
    double begun = syn_seconds();
    syn_pattern_device gpus = {syn_gpu_mine_patterns, &m->gpu};
    const syn_pattern_device *device = m->gpu.n > 0 ? &gpus : NULL;
    SYN_NEXT(status, syn_mine_patterns(&m->raster, options, device, &m->budget, watch,
                                       &m->patterns));
    double elapsed = syn_seconds() - begun;
    syn_raster_free(&m->raster);
    if (status != SYN_OK) {
        /* The status, with the attribute `enough`: the least number of occurrences with
           which the search would keep to its memory, as far as is known, else NA. */
        uint32_t enough = status == SYN_OVER_BUDGET ? m->patterns.advice : 0;
        SEXP out = PROTECT(
            glue_status_within(status, (double)options->max_memory, m->gpu.reason));
        SEXP advice = PROTECT(Rf_ScalarReal(enough > 0 ? (double)enough : NA_REAL));
        Rf_setAttrib(out, Rf_install("enough"), advice);
        UNPROTECT(2);
        return out;
    }
    if (options->engine == SYN_PATTERNS_ESTIMATE) {
        SEXP seconds = Rf_allocVector(REALSXP, 2);
        REAL(seconds)[0] = m->patterns.seconds;
        REAL(seconds)[1] = m->patterns.seconds_below;
        return seconds;
    }
    return mined_patterns(m, elapsed);
}

SEXP r_mine_patterns(glue_owner *own, SEXP events, SEXP options, SEXP shares)
{
    mining *m = new_mining(own);
    syn_pattern_options o = pattern_options(options);
    read_shares(&o, shares);
    m->gpu = glue_option_gpus(options);
    m->budget.limit = o.max_memory;
    const syn_watch *watch = glue_watch(own, "Mining patterns");
    syn_status status = glue_raster(&m->raster, events, o.window, &m->budget, watch);
    return mine(m, status, &o, watch);
}

/* About how much work each share of the search is; `window` in bins. */
SEXP r_pattern_shares(glue_owner *own, SEXP events, SEXP window, SEXP min_count)
{
    mining *m = new_mining(own);
    uint32_t bins = (uint32_t)within(Rf_asReal(window), 1, INT32_MAX, "window");
    uint32_t least = (uint32_t)within(Rf_asReal(min_count), 1, INT32_MAX, "min_count");
    const syn_watch *watch = glue_watch(own, "Cutting the search");
    syn_status status = glue_raster(&m->raster, events, bins, NULL, watch);
    SYN_NEXT(status, syn_pattern_cut(&m->raster, bins, least, &m->shares));
    if (status != SYN_OK)
        return glue_status(status, NA_REAL, INT32_MAX);
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)m->shares.n);
    for (size_t k = 0; k < m->shares.n; k++)
        REAL(out)[k] = m->shares.share[k].work;
    return out;
}

/* `items`: how many there are. */
SEXP r_mine_itemsets(glue_owner *own, SEXP first, SEXP item, SEXP items, SEXP options)
{
    mining *m = new_mining(own);
    uint32_t n = (uint32_t)within(Rf_asReal(items), 0, INT32_MAX, "items");
    syn_pattern_options o = pattern_options(options);
    m->gpu = glue_option_gpus(options);
    m->budget.limit = o.max_memory;
    syn_status status = read_sets(&m->raster, first, item, n, &m->budget);
    return mine(m, status, &o, glue_watch(own, "Mining itemsets"));
}

/* ---- patterns that are the end of others ---- */

/* The patterns that are kept: `items` of them and their occurrences; `n` of each size. */
static SEXP kept_patterns(const uint8_t *drop, SEXP items, SEXP size, SEXP n, SEXP occ)
{
    const char *fields[] = {"items", "size", "n", "count", ""};
    R_xlen_t runs = Rf_xlength(size), words = 0, patterns = 0, at = 0;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP left = SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, runs));
    SET_VECTOR_ELT(out, 1, size);
    for (R_xlen_t r = 0; r < runs; r++) {
        R_xlen_t here = 0;
        for (R_xlen_t end = at + (R_xlen_t)REAL(n)[r]; at < end; at++)
            here += !drop[at];
        REAL(left)[r] = (double)here;
        patterns += here;
        words += here * INTEGER(size)[r];
    }
    int *item = INTEGER(SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, words)));
    int *often = INTEGER(SET_VECTOR_ELT(out, 3, Rf_allocVector(INTSXP, patterns)));
    const int *from = INTEGER(items);
    at = 0;
    for (R_xlen_t r = 0; r < runs; r++)
        for (R_xlen_t end = at + (R_xlen_t)REAL(n)[r]; at < end; at++) {
            for (int k = 0; k < INTEGER(size)[r] && !drop[at]; k++)
                *item++ = from[k];
            from += INTEGER(size)[r];
            if (!drop[at])
                *often++ = INTEGER(occ)[at];
        }
    UNPROTECT(1);
    return out;
}

/* Bytes that comparing patterns takes: what was found, as it is and as plain vectors,
   what is kept of it, and a table. */
static double shifted_bytes(double patterns, double words)
{
    double vectors = (words + patterns) * (sizeof(uint16_t) + 2 * sizeof(int));
    return vectors + patterns * (4 * sizeof(uint32_t) + 1);
}

/* What r_mine_patterns() gives, with sizes increasing, without the patterns that are the
   end of another one with as many occurrences. A size may be left with none. */
SEXP r_drop_shifted(glue_owner *own, SEXP items, SEXP size, SEXP n, SEXP occurrences,
                    SEXP units, SEXP max_memory)
{
    R_xlen_t runs = Rf_xlength(numbers(size, INTSXP, 0, "sizes"));
    R_xlen_t all = Rf_xlength(numbers(occurrences, INTSXP, 0, "occurrences"));
    numbers(n, REALSXP, runs, "sizes");
    glue_pattern_store_tidy();
    double patterns = 0, words = 0;
    for (R_xlen_t r = 0; r < runs; r++) {
        within(INTEGER(size)[r], r == 0 ? 1 : INTEGER(size)[r - 1] + 1.0, INT32_MAX,
               "sizes");
        patterns += within(REAL(n)[r], 0, (double)all, "sizes");
        words += INTEGER(size)[r] * REAL(n)[r];
    }
    require(patterns == (double)all, "sizes");
    if (shifted_bytes(patterns, words) > Rf_asReal(max_memory))
        return glue_status(SYN_OVER_BUDGET, shifted_bytes(patterns, words),
                           Rf_asReal(max_memory));
    numbers(items, INTSXP, (R_xlen_t)words, "items");
    syn_pattern_runs flat = {
        .item = INTEGER(items), .occurrences = INTEGER(occurrences), .runs = (size_t)runs,
        .size = INTEGER(size), .n = REAL(n),
        .units = (int32_t)within(Rf_asReal(units), 1, INT32_MAX, "units")};
    uint8_t *drop = glue_hold(own, (size_t)all + 1, NULL);
    syn_status status =
        syn_patterns_shifted(&flat, glue_watch(own, "Comparing patterns"), drop);
    return status == SYN_OK ? kept_patterns(drop, items, size, n, occurrences)
                            : glue_status(status, NA_REAL, INT32_MAX);
}

/* ---- pattern spectra: on the CPU or on GPUs ---- */

typedef struct spectrum_work {
    syn_budget budget;          /* of all the others */
    syn_trains trains;
    syn_surrogate_plan plan;
    syn_spectrum spectrum, rest;
    uint8_t *left;              /* [n] surrogates that GPUs left to the CPU */
    uint32_t n_left;
    syn_gpu_call gpu;
} spectrum_work;

static void release_spectrum(void *held)
{
    spectrum_work *w = held;
    syn_spectrum_free(&w->rest);
    syn_spectrum_free(&w->spectrum);
    syn_surrogate_plan_free(&w->plan);
    syn_trains_free(&w->trains);
}

/* On GPUs, and on the CPU what they leave. */
static syn_status make_on_gpus(spectrum_work *w, syn_spectrum_options options)
{
    syn_status status =
        syn_gpu_spectrum(&options, &w->gpu, &w->spectrum, w->left, &w->n_left);
    if (status != SYN_OK || w->n_left == 0)
        return status;
    options.only = w->left;
    status = syn_spectrum_make(&options, w->gpu.watch, &w->rest);
    if (status == SYN_OK) {
        /* Takes over the rows of the surrogates that were left. */
        for (uint32_t k = 0; k < w->spectrum.n; k++)
            if (w->left[k]) {
                w->spectrum.row[k] = w->rest.row[k];
                w->rest.row[k].most = NULL;
            }
        w->spectrum.peak_memory += w->rest.peak_memory;
    }
    return status;
}

/* An integer array of surrogates, sizes and, unless there is but one, durations. */
static SEXP maxima_array(const syn_spectrum *s, int by_duration)
{
    R_xlen_t n = (R_xlen_t)s->n, sizes = (R_xlen_t)syn_spectrum_sizes(s);
    R_xlen_t durations = (R_xlen_t)s->durations;
    SEXP out = PROTECT(Rf_allocVector(INTSXP, n * sizes * durations));
    SEXP dim = PROTECT(Rf_allocVector(INTSXP, by_duration ? 3 : 2));
    int *to = INTEGER(out);
    memset(to, 0, sizeof *to * (size_t)(n * sizes * durations));
    for (R_xlen_t k = 0; k < n; k++) {
        const syn_spectrum_row *row = s->row + k;
        for (R_xlen_t d = 0; d < durations; d++)
            for (R_xlen_t z = 0; z < (R_xlen_t)row->sizes; z++)
                to[(d * sizes + z) * n + k] = (int)row->most[d * row->sizes + z];
    }
    INTEGER(dim)[0] = (int)n;
    INTEGER(dim)[1] = (int)sizes;
    if (by_duration)
        INTEGER(dim)[2] = (int)durations;
    Rf_setAttrib(out, R_DimSymbol, dim);
    UNPROTECT(2);
    return out;
}

static SEXP spectrum_answer(const spectrum_work *w, int by_duration, double elapsed)
{
    const char *fields[] = {"maxima", "report", ""};
    const char *reported[] = {"elapsed", "peak_memory", "left", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, maxima_array(&w->spectrum, by_duration));
    SEXP report = SET_VECTOR_ELT(out, 1, Rf_mkNamed(VECSXP, reported));
    SET_VECTOR_ELT(report, 0, Rf_ScalarReal(elapsed));
    SET_VECTOR_ELT(report, 1, Rf_ScalarReal((double)w->spectrum.peak_memory));
    SET_VECTOR_ELT(report, 2, Rf_ScalarReal(w->n_left));
    UNPROTECT(1);
    return out;
}

/* The maxima of surrogates number `first` to first + n - 1 in bins of `bin` ticks: a list
   of `maxima`, an array of n x sizes from min_spikes on x durations from 0 where these
   are counted separately, and `report`. `options`: bin, by_duration, first, n and
   gpus. */
SEXP r_spectrum(glue_owner *own, SEXP trains, SEXP surrogates, SEXP patterns,
                SEXP options)
{
    syn_surrogate_options made = glue_surrogate_options(surrogates);
    syn_pattern_options o = pattern_options(patterns);
    const int64_t most = (int64_t)1 << 53;
    syn_spectrum_options s = {
        .width = glue_option_int(options, "bin", 1, most), .patterns = &o,
        .by_duration = glue_option_flag(options, "by_duration"),
        .first = (uint64_t)glue_option_int(options, "first", 0, most),
        .n = (uint32_t)glue_option_int(options, "n", 0, INT32_MAX)};
    spectrum_work *w = glue_hold(own, sizeof *w, release_spectrum);
    const syn_watch *watch = glue_watch(own, "Mining surrogates");
    w->gpu = glue_option_gpus(options);
    w->gpu.watch = watch;
    s.plan = &w->plan;
    w->left = glue_hold(own, s.n, NULL);
    w->budget.limit = o.max_memory;
    syn_status status = glue_trains(&w->trains, trains, &made, &w->budget, watch);
    double begun = syn_seconds();
    SYN_NEXT(status, syn_surrogate_plan_make(&w->plan, &w->trains, &made, o.threads,
                                             &w->budget, watch));
    SYN_NEXT(status, w->gpu.n == 0 ? syn_spectrum_make(&s, watch, &w->spectrum)
                                   : make_on_gpus(w, s));
    /* What R gets, and the copy of it that R works with, must fit. */
    if (status == SYN_OK &&
        2.0 * w->spectrum.n * syn_spectrum_sizes(&w->spectrum) * w->spectrum.durations *
                sizeof(int) > (double)syn_budget_left(&w->budget))
        status = SYN_OVER_BUDGET;
    if (status == SYN_OK)
        return spectrum_answer(w, s.by_duration, syn_seconds() - begun);
    return glue_status_within(status, (double)o.max_memory, w->gpu.reason);
}
