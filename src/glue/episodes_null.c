/* Counts episodes in surrogates for episode_significance(), and sums up the counts. */
#include "glue/glue.h"

#include "core/episodes/null/largest.h"
#include "core/episodes/null/summary.h"
#include "glue/episodes_given.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/spikes.h"
#include "glue/surrogates.h"
#include "glue/watch.h"
#include "gpu/null/counts.h"

typedef struct null_work {
    syn_budget budget;  /* of the trains and the plan */
    syn_trains trains;
    syn_surrogate_plan plan;
    syn_line_layout layout;
    syn_trie trie;
} null_work;

static void release(void *held)
{
    null_work *w = held;
    syn_trie_free(&w->trie);
    syn_line_layout_free(&w->layout);
    syn_surrogate_plan_free(&w->plan);
    syn_trains_free(&w->trains);
}

/* What is made once: plan, tree and layout. */
static syn_status prepare(null_work *w, const syn_surrogate_options *surrogates,
                          const syn_episode *episode, size_t n, int threads,
                          const syn_watch *watch)
{
    SYN_TRY(syn_surrogate_plan_make(&w->plan, &w->trains, surrogates, threads, &w->budget,
                                    watch));
    SYN_TRY(syn_trie_make(episode, n, &w->trie));
    return syn_line_layout_make(&w->plan, w->trie.bound, w->trie.bounds, &w->layout);
}

/* The counts of episodes (a list of units, low and high as r_count_episodes() takes them)
   in surrogates: a matrix with an episode a row. `options`: number of the `first`
   surrogate, from 0, how many (`n`), gpus, threads, and max_memory, which the matrix is
   part of. */
SEXP r_episode_null(glue_owner *own, SEXP trains, SEXP surrogates, SEXP episodes,
                    SEXP options)
{
    int64_t reach;
    require(Rf_xlength(numbers(episodes, VECSXP, 3, "episodes")) == 3, "episodes");
    SEXP units = VECTOR_ELT(episodes, 0);
    R_xlen_t n = Rf_xlength(units);
    syn_null_options wanted = {
        .first = (uint64_t)glue_option_int(options, "first", 0, INT32_MAX),
        .n = (size_t)glue_option_int(options, "n", 0, INT32_MAX),
        .threads = glue_option_threads(options)};
    double memory = (double)glue_option_memory(options);
    double left = memory - 4.0 * (double)n * (double)wanted.n;
    wanted.max_memory = (size_t)within(left, 0, 9007199254740992.0, "max_memory");
    syn_gpu_call gpu = glue_option_gpus(options);
    syn_surrogate_options made = glue_surrogate_options(surrogates);
    syn_episode *episode = glue_episodes(units, VECTOR_ELT(episodes, 1),
                                         VECTOR_ELT(episodes, 2), &reach);
    SEXP count = PROTECT(Rf_allocMatrix(INTSXP, (int)n, (int)wanted.n));
    uint32_t *to = (uint32_t *)INTEGER(count);
    null_work *work = glue_hold(own, sizeof *work, release);
    const syn_watch *watch = gpu.watch = glue_watch(own, "Counting in surrogates");
    work->budget.limit = wanted.max_memory;
    syn_status status = glue_trains(&work->trains, trains, &made, &work->budget, watch);
    if (status == SYN_OK) {
        glue_check_episodes(episode, n, work->trains.units);
        status = prepare(work, &made, episode, (size_t)n, wanted.threads, watch);
    }
    wanted.max_memory = syn_budget_left(&work->budget);
    SYN_NEXT(status, gpu.n == 0
                         ? syn_null_counts(&work->layout, &work->trie, (size_t)n, &wanted,
                                           watch, to)
                         : syn_gpu_null_counts(&work->layout, &work->trie, (size_t)n,
                                               &wanted, &gpu, to));
    UNPROTECT(1);
    if (status == SYN_OK)
        return count;
    return glue_status_within(status, memory, gpu.reason);
}

/* What a matrix of counts says, with the observed counts and sizes of the episodes and
   the shares whose quantiles are wanted. Sizes go up to the largest. */
SEXP r_null_summary(glue_owner *own, SEXP counts, SEXP observed, SEXP size, SEXP probs,
                    SEXP threads)
{
    const char *fields[] = {"mean", "sd", "score", "reached", "quantile", "maximum", ""};
    R_xlen_t episodes = Rf_xlength(observed);
    int n = Rf_ncols(numbers(counts, INTSXP, 0, "counts")), sizes = 0;
    int workers = (int)within(Rf_asReal(threads), 1, 1024, "threads");
    require(Rf_nrows(counts) == episodes && n >= 1, "counts");
    numbers(observed, INTSXP, 0, "observed");
    numbers(size, INTSXP, episodes, "size");
    for (R_xlen_t i = 0; i < episodes; i++) {
        require(INTEGER(size)[i] >= 1, "size");
        sizes = INTEGER(size)[i] > sizes ? INTEGER(size)[i] : sizes;
    }
    int some = Rf_length(numbers(probs, REALSXP, 0, "probs"));
    for (int q = 0; q < some; q++)
        within(REAL(probs)[q], 0, 1, "probs");
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    for (int f = 0; f < 3; f++)
        SET_VECTOR_ELT(out, f, Rf_allocVector(REALSXP, episodes));
    SET_VECTOR_ELT(out, 3, Rf_allocVector(INTSXP, episodes));
    SET_VECTOR_ELT(out, 4, Rf_allocMatrix(INTSXP, (int)episodes, some));
    SET_VECTOR_ELT(out, 5, Rf_allocMatrix(REALSXP, sizes, n));
    syn_null_data data = {.episodes = (size_t)episodes, .n = (size_t)n,
                          .count = (const uint32_t *)INTEGER(counts),
                          .observed = (const uint32_t *)INTEGER(observed),
                          .size = (const uint32_t *)INTEGER(size),
                          .sizes = (uint32_t)sizes, .probs = (size_t)some,
                          .prob = REAL(probs)};
    syn_null_summary to = {.mean = REAL(VECTOR_ELT(out, 0)),
                           .sd = REAL(VECTOR_ELT(out, 1)),
                           .score = REAL(VECTOR_ELT(out, 2)),
                           .reached = (uint32_t *)INTEGER(VECTOR_ELT(out, 3)),
                           .quantile = (uint32_t *)INTEGER(VECTOR_ELT(out, 4)),
                           .maximum = REAL(VECTOR_ELT(out, 5))};
    syn_status status = syn_null_summarise(
        &data, workers, glue_watch(own, "Summing up surrogates"), &to);
    UNPROTECT(1);
    return glue_answer(out, status, "");
}

/* ---- the largest counts: work that goes on in an external pointer meanwhile ---- */

static void release_largest(void *held)
{
    syn_largest **largest = held;
    syn_largest_free(*largest);
}

/* Begins. `trains` as glue_spikes() reads them, `surrogates` as
   glue_surrogate_options(); options: n, min_count, max_size, distinct_units, threads,
   max_memory. */
SEXP r_largest_start(glue_owner *own, SEXP trains, SEXP surrogates, SEXP bounds,
                    SEXP options)
{
    uint32_t intervals;
    const syn_interval *interval = glue_bounds(bounds, &intervals, NULL);
    syn_largest_options o = {
        .surrogate = glue_surrogate_options(surrogates),
        .intervals = interval,
        .n_intervals = intervals,
        .min_count = (uint32_t)glue_option_int(options, "min_count", 1, INT32_MAX),
        .max_size = (uint32_t)glue_option_int(options, "max_size", 1, INT32_MAX),
        .distinct_units = (int)glue_option_int(options, "distinct_units", 0, 1),
        .n = (uint32_t)glue_option_int(options, "n", 1, INT32_MAX),
        .threads = glue_option_threads(options),
        .max_memory = glue_option_memory(options)};
    const syn_watch *watch = glue_watch(own, "Making surrogates of the window");
    syn_spikes spikes;
    syn_status status = glue_surrogate_spikes(&spikes, trains, &o.surrogate, watch);
    SEXP pointer = PROTECT(glue_keep("largest", sizeof(syn_largest *), release_largest));
    SYN_NEXT(status,
             syn_largest_start(glue_kept(pointer, "largest"), &spikes, &o, watch));
    if (status != SYN_OK)
        glue_let_go(pointer);
    UNPROTECT(1);
    return status == SYN_OK ? pointer
                            : glue_status(status, NA_REAL, (double)o.max_memory);
}

/* Waits, and gives the largest count of each size, a row, in each of `n` surrogates, a
   column. NULL for a pointer of another process, or whose work is gone, as after it was
   written to a file. */
SEXP r_largest_wait(glue_owner *own, SEXP pointer, SEXP n, SEXP max_memory)
{
    if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrAddr(pointer) == NULL)
        return R_NilValue;
    syn_largest *largest = *(syn_largest **)glue_kept(pointer, "largest");
    if (!syn_largest_is_here(largest))
        return R_NilValue;
    int columns = Rf_asInteger(n);
    syn_status status =
        syn_largest_wait(largest, glue_watch(own, "Mining surrogates of the window"));
    if (status != SYN_OK)
        return glue_status_within(status, Rf_asReal(max_memory), "");
    int rows = (int)syn_largest_sizes(largest);
    SEXP out = PROTECT(Rf_allocMatrix(INTSXP, rows, columns));
    for (int k = 0; k < columns; k++)
        for (int z = 0; z < rows; z++)
            INTEGER(out)[(R_xlen_t)k * rows + z] =
                (int)syn_largest_count(largest, (uint32_t)k, (uint32_t)z + 1);
    UNPROTECT(1);
    return out;
}
