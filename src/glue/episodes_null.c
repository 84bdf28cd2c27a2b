/* Counts episodes in surrogates for episode_significance(), and sums up the counts. */
#include "glue/glue.h"

#include <stdlib.h>

#include "core/episodes/null/counts.h"
#include "core/episodes/null/summary.h"
#include "glue/owner.h"
#include "glue/recording.h"
#include "glue/require.h"
#include "glue/surrogates.h"
#include "glue/watch.h"
#include "gpu/null/counts.h"

/* What one call holds outside R's heap: an external pointer owns it. */
typedef struct null_work {
    syn_budget budget;  /* of the trains and the plan */
    syn_trains trains;
    syn_surrogate_plan plan;
    syn_line_layout layout;
    syn_trie trie;
} null_work;

static void work_free(SEXP pointer)
{
    null_work *w = R_ExternalPtrAddr(pointer);
    if (!w)
        return;
    syn_trie_free(&w->trie);
    syn_line_layout_free(&w->layout);
    syn_surrogate_plan_free(&w->plan);
    syn_trains_free(&w->trains);
    free(w);
    R_ClearExternalPtr(pointer);
}

/* What is made once: plan, tree and layout. */
static syn_status prepare(null_work *w, const syn_surrogate_options *surrogates,
                          const syn_episode *episode, size_t n, int threads,
                          const syn_watch *watch)
{
    syn_status status = syn_surrogate_plan_make(&w->plan, &w->trains, surrogates, threads,
                                                &w->budget, watch);
    if (status == SYN_OK)
        status = syn_trie_make(episode, n, &w->trie);
    if (status == SYN_OK)
        status = syn_line_layout_make(&w->plan, w->trie.bound, w->trie.bounds,
                                      &w->layout);
    return status;
}

/* The counts of episodes (a list of units, low and high as r_count_episodes() takes them)
   in surrogates: a matrix with an episode a row. `options`: number of the first
   surrogate, from 0, how many, threads and max_memory, the matrix included; `place`: R's
   NULL for the CPU, or numbers of GPUs from 0. */
SEXP r_episode_null(SEXP trains, SEXP surrogates, SEXP episodes, SEXP options,
                    SEXP place)
{
    int64_t reach;
    require(Rf_xlength(numbers(episodes, VECSXP, 3, "episodes")) == 3, "episodes");
    SEXP units = VECTOR_ELT(episodes, 0);
    R_xlen_t n = Rf_xlength(units);
    const double *o = REAL(numbers(options, REALSXP, 4, "options"));
    syn_null_options wanted = {
        .first = (uint64_t)within(o[0], 0, INT32_MAX, "first"),
        .n = (size_t)within(o[1], 0, INT32_MAX, "n"),
        .threads = (int)within(o[2], 1, 1024, "threads")};
    double left = o[3] - 4.0 * (double)n * o[1];
    wanted.max_memory = (size_t)within(left, 0, 9007199254740992.0, "max_memory");
    if (place != R_NilValue)
        numbers(place, INTSXP, 1, "GPUs");
    syn_surrogate_options made = glue_surrogate_options(surrogates);
    syn_episode *episode = glue_episodes(units, VECTOR_ELT(episodes, 1),
                                         VECTOR_ELT(episodes, 2), &reach);
    char reason[SYN_GPU_TEXT] = "";
    SEXP count = PROTECT(Rf_allocMatrix(INTSXP, (int)n, (int)wanted.n));
    uint32_t *to = (uint32_t *)INTEGER(count);
    SEXP pointer = PROTECT(glue_owner(sizeof(null_work), work_free));
    null_work *work = R_ExternalPtrAddr(pointer);
    work->budget.limit = wanted.max_memory;
    syn_status status = glue_trains(&work->trains, trains, &made, &work->budget);
    if (status == SYN_OK)
        glue_check_episodes(episode, n, work->trains.units);
    glue_watch w;
    glue_watch_start(&w, "Counting in surrogates");
    if (status == SYN_OK)
        status = prepare(work, &made, episode, (size_t)n, wanted.threads, &w.watch);
    wanted.max_memory = syn_budget_left(&work->budget);
    if (status == SYN_OK && place == R_NilValue)
        status = syn_null_counts(&work->layout, &work->trie, (size_t)n, &wanted,
                                 &w.watch, to);
    else if (status == SYN_OK)
        status = syn_gpu_null_counts(&work->layout, &work->trie, (size_t)n, &wanted,
                                     INTEGER(place), Rf_length(place), &w.watch, to,
                                     reason);
    glue_watch_stop(&w);
    if (status != SYN_OK)
        count = glue_status_because(status, NA_REAL,
                                    status == SYN_TOO_LARGE ? INT32_MAX : o[3], reason);
    PROTECT(count);
    work_free(pointer);
    UNPROTECT(3);
    return count;
}

/* What a matrix of counts says, with the observed counts and sizes of the episodes and
   the shares whose quantiles are wanted. Sizes go up to the largest. */
SEXP r_null_summary(SEXP counts, SEXP observed, SEXP size, SEXP probs, SEXP threads)
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
    glue_watch w;
    glue_watch_start(&w, "Summing up surrogates");
    syn_status status = syn_null_summarise(&data, workers, &w.watch, &to);
    glue_watch_stop(&w);
    if (status != SYN_OK)
        out = glue_status(status, NA_REAL, NA_REAL);
    UNPROTECT(1);
    return out;
}
