/* For the tests: the level-wise search with a counter that counts on the CPU. */
#include "glue/glue.h"

#include "core/episodes/mine.h"
#include "core/episodes/given.h"
#include "glue/episodes_given.h"
#include "glue/options.h"
#include "glue/owner.h"
#include "glue/spikes.h"
#include "glue/watch.h"

typedef struct cpu_counter {
    const syn_recording *recording;
    const syn_interval *intervals;
    size_t largest;  /* candidates of a batch so far */
} cpu_counter;

/* One candidate after the other, as syn_count_episodes() takes them. */
static syn_status count_batch(void *self, const syn_candidate_batch *batch,
                              const syn_watch *watch, uint32_t *count,
                              uint64_t *eliminated)
{
    cpu_counter *c = self;
    uint32_t unit[64];
    syn_interval lag[64];
    syn_episode episode = {batch->size, unit, lag};
    syn_status status = syn_poll(watch, NULL, 0, 0);
    (void)eliminated;
    c->largest = batch->n > c->largest ? batch->n : c->largest;
    for (size_t i = 0; status == SYN_OK && i < batch->n; i++) {
        for (uint32_t k = 0; k < batch->size; k++)
            unit[k] = batch->unit[k * batch->n + i];
        for (uint32_t k = 0; k + 1 < batch->size; k++)
            lag[k] = c->intervals[batch->interval[k * batch->n + i]];
        status = syn_count_episodes(c->recording, &episode, 1, 1, NULL, &count[i]);
    }
    return status;
}

static SEXP words(const uint32_t *from, size_t n)
{
    SEXP out = Rf_allocVector(INTSXP, (R_xlen_t)n);
    for (size_t i = 0; i < n; i++)
        INTEGER(out)[i] = (int)from[i];
    return out;
}

static SEXP levels_of(const syn_episodes *e)
{
    const char *fields[] = {"parent",   "suffix", "unit",       "interval",
                            "count",    "child",  "candidates", ""};
    SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)e->n_levels));
    for (size_t k = 0; k < e->n_levels; k++) {
        const syn_episode_level *l = &e->level[k];
        SEXP level = Rf_mkNamed(VECSXP, fields);
        SET_VECTOR_ELT(out, (R_xlen_t)k, level);
        SET_VECTOR_ELT(level, 0, words(l->parent, l->n));
        SET_VECTOR_ELT(level, 1, words(l->suffix, l->n));
        SET_VECTOR_ELT(level, 2, words(l->unit, l->n));
        SET_VECTOR_ELT(level, 3, words(l->interval, l->n));
        SET_VECTOR_ELT(level, 4, words(l->count, l->n));
        SET_VECTOR_ELT(level, 5, words(l->child, l->n + 1));
        SET_VECTOR_ELT(level, 6, Rf_ScalarReal((double)l->candidates));
    }
    UNPROTECT(1);
    return out;
}

typedef struct checking {
    syn_recording recording;
    syn_episodes episodes;
} checking;

static void release(void *held)
{
    checking *c = held;
    syn_episodes_free(&c->episodes);
    syn_recording_free(&c->recording);
}

/* `options`: min_count, max_size (at most 64), max_memory, engine, and for the counter
   the most candidates of a `batch`. A list: the levels, and the largest batch. */
SEXP r_batch_check(glue_owner *own, SEXP events, SEXP bounds, SEXP options)
{
    const char *fields[] = {"levels", "largest", ""};
    R_xlen_t n = Rf_xlength(VECTOR_ELT(bounds, 0));
    syn_interval *intervals = (syn_interval *)R_alloc((size_t)n, sizeof *intervals);
    int64_t reach =
        glue_intervals(intervals, VECTOR_ELT(bounds, 0), VECTOR_ELT(bounds, 1));
    checking *c = glue_hold(own, sizeof *c, release);
    cpu_counter counted = {&c->recording, intervals, 0};
    syn_counter counter = {count_batch, &counted,
                           (size_t)glue_option_int(options, "batch", 1, INT32_MAX)};
    syn_mine_options mine = {
        .intervals = intervals, .n_intervals = (uint32_t)n,
        .min_count = (uint32_t)glue_option_int(options, "min_count", 1, INT32_MAX),
        .max_size = (uint32_t)glue_option_int(options, "max_size", 1, 64),
        .engine = (syn_episode_engine)glue_option_int(options, "engine", 0, INT32_MAX),
        .counter = &counter, .threads = 1, .max_memory = glue_option_memory(options)};
    const syn_watch *watch = glue_watch(own, "Mining episodes");
    syn_status status =
        glue_recording(&c->recording, events, mine.min_count, reach, 1, watch);
    SYN_NEXT(status, syn_mine_episodes(&c->recording, &mine, watch, &c->episodes));
    if (status != SYN_OK)
        return glue_status(status, NA_REAL, (double)mine.max_memory);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, levels_of(&c->episodes));
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal((double)counted.largest));
    UNPROTECT(1);
    return out;
}
