/* Mines and counts episodes for R, and finds where they occur. All memory belongs to
   an external pointer, so that an error of R frees it. */
#include "glue/glue.h"

#include <stdlib.h>
#include <string.h>

#include "core/episodes/mine.h"
#include "core/episodes/engine.h"
#include "core/episodes/given.h"
#include "core/episodes/occurrences.h"
#include "core/episodes/rows.h"
#include "glue/episodes_gpu.h"
#include "glue/episodes_table.h"
#include "glue/owner.h"
#include "glue/recording.h"
#include "glue/require.h"
#include "glue/watch.h"

/* What one call holds outside R's heap: an external pointer owns it, so that it is freed
   however the call ends. */
typedef struct mining {
    syn_recording recording;
    syn_episodes episodes;
    glue_rows rows;
    syn_occurrences occurrences;
    glue_gpu_report gpu;
} mining;

static void mining_free(SEXP pointer)
{
    mining *m = R_ExternalPtrAddr(pointer);
    if (!m)
        return;
    glue_rows_free(&m->episodes, &m->rows);
    syn_episodes_free(&m->episodes);
    syn_occurrences_free(&m->occurrences);
    syn_recording_free(&m->recording);
    free(m);
    R_ClearExternalPtr(pointer);
}

/* ---- mining ---- */

static SEXP mined_levels(const mining *m)
{
    const syn_episodes *e = &m->episodes;
    const char *fields[] = {"candidates",  "eliminated",     "frequent",
                            "peak_memory", "device_seconds", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    for (int f = 0; f < 3; f++)
        SET_VECTOR_ELT(out, f, Rf_allocVector(REALSXP, (R_xlen_t)e->n_levels));
    for (size_t k = 0; k < e->n_levels; k++) {
        REAL(VECTOR_ELT(out, 0))[k] = (double)e->level[k].candidates;
        REAL(VECTOR_ELT(out, 1))[k] = (double)e->level[k].eliminated;
        REAL(VECTOR_ELT(out, 2))[k] = (double)e->level[k].n;
    }
    SET_VECTOR_ELT(out, 3, Rf_ScalarReal((double)e->peak_memory));
    SET_VECTOR_ELT(out, 4, Rf_ScalarReal(m->gpu.seconds));
    UNPROTECT(1);
    return out;
}

/* How the table is made: see glue_episodes_table(). */
typedef struct tabling {
    mining *mined;
    SEXP spelling;
    uint8_t least;
    size_t top, max_memory;
    glue_watch *watch;
    double bytes;  /* that the episodes and their table take */
} tabling;

/* Whether the episodes and the rows of their table fit in the budget. */
static syn_status check_table(tabling *t)
{
    const syn_episodes *e = &t->mined->episodes;
    double rows = (double)glue_table_rows(e, &t->mined->rows, t->least, t->top);
    t->bytes = GLUE_ROW_BYTES * rows;
    for (size_t k = 0; k < e->n_levels; k++)
        t->bytes += (6.0 * sizeof(uint32_t) + GLUE_EPISODE_BYTES) * (double)e->level[k].n;
    return t->bytes > (double)t->max_memory ? SYN_OVER_BUDGET : SYN_OK;
}

/* The table with what was done at each size; R's NULL when the watch asked to stop. */
static SEXP make_table(void *data)
{
    const tabling *t = data;
    SEXP out = PROTECT(glue_episodes_table(&t->mined->episodes, &t->mined->rows,
                                           t->spelling, t->least, t->top,
                                           &t->watch->watch));
    if (out != R_NilValue)
        SET_VECTOR_ELT(out, XLENGTH(out) - 1, mined_levels(t->mined));
    UNPROTECT(1);
    return out;
}

static void add_gpu_report(SEXP out, const mining *m)
{
    if (m->episodes.n_levels == 0)
        return;
    SEXP report = PROTECT(glue_gpu_by_size(&m->gpu, 1, m->episodes.n_levels));
    Rf_setAttrib(out, Rf_install("gpu"), report);
    UNPROTECT(1);
}

enum { LABELS, LOW, HIGH, ARROWS, LABEL_RANKS, ARROW_RANKS, SPELLING };

/* The names of units and intervals are there, with the ranks of each. */
static void check_spelling(SEXP spelling, int units, R_xlen_t intervals)
{
    static const SEXPTYPE type[SPELLING] = {STRSXP, REALSXP, REALSXP,
                                            STRSXP, INTSXP,  INTSXP};
    require(Rf_xlength(numbers(spelling, VECSXP, SPELLING, "names")) == SPELLING,
            "names");
    for (int k = 0; k < SPELLING; k++) {
        R_xlen_t n = k == LABELS || k == LABEL_RANKS ? units : intervals;
        SEXP part = numbers(VECTOR_ELT(spelling, k), type[k], n, "names");
        require(Rf_xlength(part) == n, "names");
        for (R_xlen_t i = 0; type[k] == INTSXP && i < n; i++)
            within(INTEGER(part)[i], 0, (double)n - 1, "names");
    }
}

/* min_count, max_size, engine, threads and max_memory. */
static syn_mine_options read_options(const double *o, SEXP bounds, int64_t *reach)
{
    R_xlen_t n = Rf_xlength(VECTOR_ELT(bounds, 0));
    syn_interval *intervals = (syn_interval *)R_alloc((size_t)n + 1, sizeof *intervals);
    *reach = glue_intervals(intervals, VECTOR_ELT(bounds, 0), VECTOR_ELT(bounds, 1));
    syn_mine_options out = {
        .intervals = intervals, .n_intervals = (uint32_t)n,
        .min_count = (uint32_t)within(o[0], 1, INT32_MAX, "min_count"),
        .max_size = (uint32_t)within(o[1], 1, INT32_MAX, "max_size"),
        .engine = (syn_episode_engine)within(o[2], 0, SYN_ENGINE_WINDOW, "engine"),
        .threads = (int)within(o[3], 1, 1024, "threads"),
        .max_memory = (size_t)within(o[4], 0, 9007199254740992.0, "max_memory"),
        .of_episode = GLUE_EPISODE_BYTES};
    return out;
}

/* `bounds`: low and high in ticks; `spelling`: labels of the units, low and high in
   seconds, arrows, and the ranks of labels and of arrows from 0; `options`: min_count,
   max_size, engine, threads, max_memory, least flag left out and most rows of a size;
   `gpu`: R's NULL for the CPU, else as glue_gpu_mine() takes it. What the GPU reports of
   each size is the result's attribute "gpu". */
SEXP r_mine_episodes(SEXP events, SEXP bounds, SEXP spelling, SEXP options, SEXP gpu)
{
    int64_t reach;
    const double *o = REAL(numbers(options, REALSXP, 7, "options"));
    syn_mine_options mine = read_options(o, bounds, &reach);
    require(TYPEOF(events) == VECSXP && Rf_xlength(events) >= 5, "events");
    check_spelling(spelling, Rf_asInteger(VECTOR_ELT(events, 3)), mine.n_intervals);
    SEXP pointer = PROTECT(glue_owner(sizeof(mining), mining_free));
    mining *m = R_ExternalPtrAddr(pointer);
    glue_watch w;
    tabling t = {m, spelling, (uint8_t)o[5], (size_t)o[6], mine.max_memory, &w, NA_REAL};
    if (t.least > 2 && o[6] >= INT32_MAX)
        mine.of_episode += GLUE_ROW_BYTES;
    syn_status status =
        glue_recording_read(&m->recording, events, mine.min_count, reach);
    if (status == SYN_OK && !glue_gpu_arranges(gpu))
        status = syn_recording_arrange(&m->recording);
    glue_watch_start(&w, "Mining episodes");
    if (status == SYN_OK && gpu == R_NilValue)
        status = syn_mine_episodes(&m->recording, &mine, &w.watch, &m->episodes);
    else if (status == SYN_OK)
        status = glue_gpu_mine(gpu, &m->recording, &mine, &w.watch, &m->episodes,
                               &m->gpu);
    if (status == SYN_OK)
        status = glue_rows_find(&m->rows, &m->episodes, spelling, t.least, &w.watch);
    if (status == SYN_OK)
        status = check_table(&t);
    SEXP out = R_NilValue;
    if (status == SYN_OK) {
        out = glue_watch_run(&w, make_table, &t);
        status = out == R_NilValue ? SYN_INTERRUPTED : SYN_OK;
    }
    PROTECT(out);
    glue_watch_stop(&w);
    if (status != SYN_OK)
        out = glue_status_because(status, t.bytes,
                                  status == SYN_TOO_LARGE ? INT32_MAX : o[4],
                                  m->gpu.reason);
    else
        add_gpu_report(out, m);
    mining_free(pointer);
    UNPROTECT(2);
    return out;
}

/* ---- given episodes ---- */

SEXP r_count_episodes(SEXP events, SEXP units, SEXP low, SEXP high, SEXP threads)
{
    int64_t reach;
    R_xlen_t n = Rf_xlength(units);
    syn_episode *episode = glue_episodes(units, low, high, &reach);
    int workers = (int)within(Rf_asReal(threads), 1, 1024, "threads");
    SEXP count = PROTECT(Rf_allocVector(INTSXP, n));
    SEXP pointer = PROTECT(glue_owner(sizeof(mining), mining_free));
    mining *m = R_ExternalPtrAddr(pointer);
    glue_watch w;
    syn_status status = glue_recording(&m->recording, events, 0, reach);
    if (status == SYN_OK)
        glue_check_episodes(episode, n, m->recording.units);
    glue_watch_start(&w, "Counting episodes");
    if (status == SYN_OK)
        status = syn_count_episodes(&m->recording, episode, (size_t)n, workers, &w.watch,
                                    (uint32_t *)INTEGER(count));
    glue_watch_stop(&w);
    mining_free(pointer);
    if (status != SYN_OK)
        count = glue_status(status, NA_REAL,
                            status == SYN_TOO_LARGE ? INT32_MAX : NA_REAL);
    UNPROTECT(2);
    return count;
}

/* What is asked of the occurrences of several episodes. */
typedef struct finding {
    mining *mined;
    const syn_episode *episode;
    syn_occurrence_kind kind;
    size_t left;         /* occurrences that may still be found */
    SEXP out;            /* a list, an element an episode */
    glue_watch *watch;
    syn_status status;
} finding;

/* A matrix with an occurrence a column: the rows of the table of spikes, from 1. */
static SEXP occurrence_matrix(const mining *m, uint32_t size)
{
    SEXP out = Rf_allocMatrix(INTSXP, (int)size, (int)m->occurrences.n);
    for (size_t i = 0; i < m->occurrences.n * size; i++)
        INTEGER(out)[i] = (int)m->recording.source[m->occurrences.event[i]] + 1;
    return out;
}

static SEXP find_all(void *data)
{
    finding *f = data;
    mining *m = f->mined;
    const syn_watch *watch = &f->watch->watch;
    R_xlen_t n = Rf_xlength(f->out);
    for (R_xlen_t i = 0; f->status == SYN_OK && i < n; i++) {
        const syn_episode *e = &f->episode[i];
        f->status = syn_poll(watch, "episodes", (double)i, (double)n);
        if (f->status == SYN_OK)
            f->status = syn_find_occurrences(&m->recording, e, f->kind, f->left, watch,
                                             &m->occurrences);
        if (f->status == SYN_OK)
            SET_VECTOR_ELT(f->out, i, occurrence_matrix(m, e->size));
        f->left -= m->occurrences.n;
        syn_occurrences_free(&m->occurrences);
    }
    return R_NilValue;
}

/* A list of such matrices, `most` occurrences at most in all of them together. */
SEXP r_episode_occurrences(SEXP events, SEXP units, SEXP low, SEXP high, SEXP all,
                           SEXP most)
{
    int64_t reach;
    syn_episode *episode = glue_episodes(units, low, high, &reach);
    double limit = within(Rf_asReal(most), 0, INT32_MAX, "limit");
    SEXP out = PROTECT(Rf_allocVector(VECSXP, Rf_xlength(units)));
    SEXP pointer = PROTECT(glue_owner(sizeof(mining), mining_free));
    mining *m = R_ExternalPtrAddr(pointer);
    glue_watch w;
    finding f = {.mined = m, .episode = episode, .left = (size_t)limit, .out = out,
                 .kind = Rf_asLogical(all) == TRUE ? SYN_ALL : SYN_NONOVERLAPPED,
                 .watch = &w};
    f.status = glue_recording(&m->recording, events, 0, reach);
    if (f.status == SYN_OK)
        glue_check_episodes(episode, Rf_xlength(units), m->recording.units);
    glue_watch_start(&w, "Finding occurrences");
    if (f.status == SYN_OK)
        glue_watch_run(&w, find_all, &f);
    glue_watch_stop(&w);
    mining_free(pointer);
    if (f.status != SYN_OK)
        out = glue_status(f.status, NA_REAL, limit);
    UNPROTECT(2);
    return out;
}

/* ---- for the tests ---- */

/* Counts a list of ends on a small next-occurrence table (a matrix, lanes by rows) with
   the implementation for registers of so many bits, or for fewer where there are none. */
SEXP r_count_rows_check(SEXP vector_bits, SEXP distance, SEXP event, SEXP row, SEXP start)
{
    syn_count_rows *count_rows = syn_count_rows_fastest(Rf_asInteger(vector_bits));
    R_xlen_t n = Rf_xlength(row), cells = Rf_xlength(distance);
    size_t lanes = (size_t)Rf_nrows(distance);
    uint16_t *table = (uint16_t *)R_alloc((size_t)cells, sizeof *table);
    syn_end *end = (syn_end *)R_alloc((size_t)n, sizeof *end);
    syn_row_counter counter = {.blocks = (unsigned)(lanes / SYN_LANES), .stride = lanes,
                               .event = (const uint32_t *)INTEGER(event)};
    for (R_xlen_t i = 0; i < cells; i++)
        table[i] = (uint16_t)INTEGER(distance)[i];
    for (R_xlen_t i = 0; i < n; i++) {
        end[i].row = (uint32_t)INTEGER(row)[i];
        end[i].start = (uint32_t)INTEGER(start)[i];
    }
    for (unsigned b = 0; b < counter.blocks; b++)
        counter.block[b] = table + b * SYN_LANES;
    count_rows(&counter, end, (size_t)n);
    SEXP hits = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t)lanes));
    for (size_t l = 0; l < lanes; l++)
        INTEGER(hits)[l] = counter.hits[l];
    UNPROTECT(1);
    return hits;
}
