/* What is done with given patterns: finds the windows in which they occur, reduces them
   to those that the others do not explain, and measures their stability. */
#include "core/patterns/found/reduction.h"
#include "core/patterns/found/stability.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/spikes.h"
#include "glue/watch.h"

typedef struct found {
    syn_budget budget;        /* of all that is held */
    uint32_t window;          /* its length in bins */
    syn_pattern_list list;    /* borrows R's vectors */
    size_t items;
    syn_raster raster;
    syn_pattern_windows windows;
} found;

/* ---- for all that is done with patterns ---- */

static void release(void *held)
{
    found *f = held;
    syn_pattern_windows_free(&f->windows);
    syn_raster_free(&f->raster);
}

/* `patterns`, from patterns_to_find() in R: window, size of each pattern, and unit and
   lag of each item; units from 0, and `least_unit` -1 where some may never fire. R's
   error when they are not that, or `events` not what glue_raster() takes. */
static found *read_patterns(glue_owner *own, SEXP events, SEXP patterns, int least_unit)
{
    found *f = glue_hold(own, sizeof *f, release);
    double window = Rf_asReal(glue_option(patterns, "window"));
    f->window = (uint32_t)within(window, 1, INT32_MAX, "window");
    double units = glue_units(events);
    SEXP size = numbers(glue_option(patterns, "size"), INTSXP, 0, "sizes");
    SEXP unit = numbers(glue_option(patterns, "unit"), INTSXP, 0, "units");
    R_xlen_t n = Rf_xlength(size), items = Rf_xlength(unit);
    SEXP lag = numbers(glue_option(patterns, "lag"), INTSXP, items, "lags");
    double all = 0;
    for (R_xlen_t p = 0; p < n; p++)
        all += within(INTEGER(size)[p], 1, INT32_MAX, "sizes");
    require(all == (double)items, "sizes");
    for (R_xlen_t k = 0; k < items; k++) {
        within(INTEGER(unit)[k], least_unit, units - 1, "units");
        within(INTEGER(lag)[k], 0, window - 1, "lags");
    }
    f->list = (syn_pattern_list){.n = (size_t)n, .size = (const uint32_t *)INTEGER(size),
                                 .unit = (const uint32_t *)INTEGER(unit),
                                 .lag = (const uint32_t *)INTEGER(lag)};
    f->items = (size_t)Rf_xlength(glue_option(patterns, "unit"));
    return f;
}

/* Finds the windows, at most `most` of all patterns together; sets the budget to
   `max_memory`, of which R's vectors are a part. */
static syn_status find_windows(found *f, SEXP events, size_t most, size_t max_memory,
                             const syn_watch *watch)
{
    f->budget.limit = max_memory;
    /* Their sizes; the unit and the lag of each item, and one more vector while R makes
       these. */
    if (!syn_budget_take(&f->budget, (f->list.n + 3 * f->items) * sizeof(int)))
        return SYN_OVER_BUDGET;
    SYN_TRY(glue_raster(&f->raster, events, f->window, &f->budget, watch));
    return syn_find_windows(&f->raster, &f->list, most, &f->budget, watch, &f->windows);
}

/* ---- where patterns are ---- */

/* The ticks at which windows open, and how many of them are of each pattern. */
static SEXP found_windows(const found *f)
{
    const char *fields[] = {"tick", "count", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, (R_xlen_t)f->windows.n));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, (R_xlen_t)f->list.n));
    for (size_t i = 0; i < f->windows.n; i++)
        REAL(VECTOR_ELT(out, 0))[i] = (double)f->raster.opens[f->windows.bin[i]];
    for (size_t p = 0; p < f->list.n; p++)
        INTEGER(VECTOR_ELT(out, 1))[p] = (int)f->windows.count[p];
    UNPROTECT(1);
    return out;
}

/* The windows that hold each pattern; at most `most` of them all. Without a limit of
   memory: little beyond what R gets is held. */
SEXP r_pattern_windows(glue_owner *own, SEXP events, SEXP patterns, SEXP most)
{
    found *f = read_patterns(own, events, patterns, -1);
    double limit = within(Rf_asReal(most), 0, INT32_MAX, "limit");
    syn_status status = find_windows(f, events, (size_t)limit, SIZE_MAX,
                                          glue_watch(own, "Finding patterns"));
    return status == SYN_OK ? found_windows(f) : glue_status(status, NA_REAL, limit);
}

/* ---- reduction ---- */

/* `listed`: integers, all sizes, then all occurrences, then all durations, -1 for any. */
static const syn_signature *read_signatures(SEXP listed, size_t n)
{
    const int *l = INTEGER(numbers(listed, INTSXP, 0, "signatures"));
    syn_signature *out = (syn_signature *)R_alloc(n + 1, sizeof *out);
    for (size_t s = 0; s < n; s++)
        out[s] = (syn_signature){.size = l[s], .occurrences = l[n + s],
                                 .duration = l[2 * n + s]};
    return out;
}

static syn_reduction_options read_reduction(SEXP listed, SEXP options)
{
    size_t n = (size_t)Rf_xlength(listed) / 3;
    return (syn_reduction_options){
        .method = (syn_reduction_method)glue_option_int(options, "method", 0,
                                                        SYN_REDUCTION_COVERED_SPIKES),
        .h = glue_option_int(options, "h", 0, INT32_MAX),
        .k = glue_option_int(options, "k", 0, INT32_MAX),
        .l = glue_option_int(options, "l", 0, INT32_MAX),
        .min_spikes = glue_option_int(options, "min_spikes", 1, INT32_MAX),
        .min_count = glue_option_int(options, "min_count", 1, INT32_MAX),
        .listed = n, .signature = read_signatures(listed, n)};
}

static SEXP kept(const uint8_t *keep, size_t n)
{
    SEXP out = Rf_allocVector(LGLSXP, (R_xlen_t)n);
    for (size_t p = 0; p < n; p++)
        LOGICAL(out)[p] = keep[p];
    return out;
}

/* TRUE for each pattern that is kept; `events` and `patterns` as read_patterns() takes
   them. */
SEXP r_reduce_patterns(glue_owner *own, SEXP events, SEXP patterns, SEXP listed,
                       SEXP options)
{
    found *f = read_patterns(own, events, patterns, 0);
    syn_reduction_options o = read_reduction(listed, options);
    syn_candidates c = {.list = f->list, .raster = &f->raster, .windows = &f->windows};
    uint8_t *keep = glue_hold(own, c.list.n + 1, NULL);
    const syn_watch *watch = glue_watch(own, "Reducing patterns");
    size_t memory = glue_option_memory(options);
    syn_status status = find_windows(f, events, INT32_MAX, memory, watch);
    SYN_NEXT(status, syn_reduce_patterns(&c, &o, &f->budget, watch, keep));
    if (status == SYN_OK)
        return kept(keep, c.list.n);
    return glue_status_within(status, (double)memory, "");
}

/* ---- stability ---- */

/* A vector of shares in the list `out`; NULL where this kind is not wanted. */
static double *shares(SEXP out, int kind, int wanted, size_t n)
{
    if (!wanted)
        return NULL;
    SET_VECTOR_ELT(out, kind, Rf_allocVector(REALSXP, (R_xlen_t)n));
    return REAL(VECTOR_ELT(out, kind));
}

/* A list of two: the intensional and the extensional stability of each pattern, NULL
   where it is not wanted. `events` and `patterns` as read_patterns() takes them. */
SEXP r_pattern_stability(glue_owner *own, SEXP events, SEXP patterns, SEXP options)
{
    found *f = read_patterns(own, events, patterns, 0);
    syn_stability_options o = {
        .window = f->window,
        .subsets = (uint64_t)glue_option_int(options, "subsets", 1, (int64_t)1 << 53),
        .threads = glue_option_threads(options), .key = glue_option_key(options)};
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 2));
    double *intensional =
        shares(out, 0, glue_option_flag(options, "intensional"), f->list.n);
    double *extensional =
        shares(out, 1, glue_option_flag(options, "extensional"), f->list.n);
    const syn_watch *watch = glue_watch(own, "Judging patterns");
    size_t memory = glue_option_memory(options);
    syn_status status = find_windows(f, events, INT32_MAX, memory, watch);
    SYN_NEXT(status, syn_pattern_stability(&f->raster, &f->list, &f->windows, &o,
                                           &f->budget, watch, intensional, extensional));
    UNPROTECT(1);
    if (status == SYN_OK)
        return out;
    return glue_status_within(status, (double)memory, "");
}
