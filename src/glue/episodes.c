#include "glue/glue.h"

#include <stdlib.h>
#include <string.h>

#include "core/episodes.h"
#include "core/episodes_engine.h"
#include "core/episodes_occurrences.h"
#include "core/episodes_rows.h"
#include "glue/episodes_gpu.h"
#include "glue/episodes_table.h"
#include "glue/owner.h"
#include "glue/recording.h"
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

/* `bounds`: low and high in ticks; `spelling`: labels of the units, low and high in
   seconds, arrows, and the ranks of labels and of arrows from 0; `options`: min_count,
   max_size, engine, threads, max_memory, least flag left out and most rows of a size;
   `gpu`: R's NULL for the CPU, else as glue_gpu_mine() takes it. What the GPU reports of
   each size is the result's attribute "gpu". */
SEXP r_mine_episodes(SEXP events, SEXP bounds, SEXP spelling, SEXP options, SEXP gpu)
{
    const double *o = REAL(options);
    R_xlen_t n = Rf_xlength(VECTOR_ELT(bounds, 0));
    syn_interval *intervals = (syn_interval *)R_alloc((size_t)n, sizeof *intervals);
    int64_t reach =
        glue_intervals(intervals, VECTOR_ELT(bounds, 0), VECTOR_ELT(bounds, 1));
    syn_mine_options mine = {.intervals = intervals, .n_intervals = (uint32_t)n,
                             .min_count = (uint32_t)o[0], .max_size = (uint32_t)o[1],
                             .engine = (syn_episode_engine)(int)o[2],
                             .threads = (int)o[3], .max_memory = (size_t)o[4]};
    SEXP pointer = PROTECT(glue_owner(sizeof(mining), mining_free));
    mining *m = R_ExternalPtrAddr(pointer);
    glue_watch w;
    glue_watch_start(&w, "Mining episodes");
    syn_status status = glue_recording(&m->recording, events, mine.min_count, reach);
    if (status == SYN_OK && gpu == R_NilValue)
        status = syn_mine_episodes(&m->recording, &mine, &w.watch, &m->episodes);
    else if (status == SYN_OK)
        status = glue_gpu_mine(gpu, &m->recording, &mine, &w.watch, &m->episodes,
                               &m->gpu);
    if (status == SYN_OK)
        status = glue_rows_find(&m->rows, &m->episodes, spelling, &w.watch);
    SEXP out = R_NilValue;
    if (status == SYN_OK) {
        out = glue_episodes_table(&m->episodes, &m->rows, spelling, (uint8_t)o[5],
                                  (size_t)o[6], &w.watch);
        status = out == R_NilValue ? SYN_INTERRUPTED : SYN_OK;
    }
    PROTECT(out);
    if (status == SYN_OK)
        SET_VECTOR_ELT(out, XLENGTH(out) - 1, mined_levels(m));
    glue_watch_stop(&w);
    if (status != SYN_OK)
        out = glue_status_because(status, NA_REAL,
                                  status == SYN_TOO_LARGE ? INT32_MAX : o[4],
                                  m->gpu.reason);
    else if (m->episodes.n_levels > 0)
        Rf_setAttrib(out, Rf_install("gpu"),
                     glue_gpu_by_size(&m->gpu, 1, m->episodes.n_levels));
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
    SEXP count = PROTECT(Rf_allocVector(INTSXP, n));
    SEXP pointer = PROTECT(glue_owner(sizeof(mining), mining_free));
    mining *m = R_ExternalPtrAddr(pointer);
    glue_watch w;
    glue_watch_start(&w, "Counting episodes");
    syn_status status = glue_recording(&m->recording, events, 0, reach);
    if (status == SYN_OK)
        status = syn_count_episodes(&m->recording, episode, (size_t)n,
                                    Rf_asInteger(threads), &w.watch,
                                    (uint32_t *)INTEGER(count));
    glue_watch_stop(&w);
    mining_free(pointer);
    if (status != SYN_OK)
        count = glue_status(status, NA_REAL,
                            status == SYN_TOO_LARGE ? INT32_MAX : NA_REAL);
    UNPROTECT(2);
    return count;
}

/* A matrix with an occurrence a column: the rows of the table of spikes, from 1. */
static SEXP occurrence_matrix(const mining *m, uint32_t size)
{
    SEXP out = PROTECT(Rf_allocMatrix(INTSXP, (int)size, (int)m->occurrences.n));
    for (size_t i = 0; i < m->occurrences.n * size; i++)
        INTEGER(out)[i] = (int)m->recording.source[m->occurrences.event[i]] + 1;
    UNPROTECT(1);
    return out;
}

/* A list of such matrices, `most` occurrences at most in all of them together. */
SEXP r_episode_occurrences(SEXP events, SEXP units, SEXP low, SEXP high, SEXP all,
                           SEXP most)
{
    int64_t reach;
    R_xlen_t n = Rf_xlength(units);
    syn_episode *episode = glue_episodes(units, low, high, &reach);
    size_t left = (size_t)Rf_asReal(most);
    SEXP out = PROTECT(Rf_allocVector(VECSXP, n));
    SEXP pointer = PROTECT(glue_owner(sizeof(mining), mining_free));
    mining *m = R_ExternalPtrAddr(pointer);
    glue_watch w;
    glue_watch_start(&w, "Finding occurrences");
    syn_status status = glue_recording(&m->recording, events, 0, reach);
    for (R_xlen_t i = 0; status == SYN_OK && i < n; i++) {
        status = syn_poll(&w.watch, "episodes", (double)i, (double)n);
        if (status == SYN_OK)
            status = syn_find_occurrences(&m->recording, &episode[i],
                                          Rf_asLogical(all) ? SYN_ALL : SYN_NONOVERLAPPED,
                                          left, &w.watch, &m->occurrences);
        left -= m->occurrences.n;
        if (status == SYN_OK)
            SET_VECTOR_ELT(out, i, occurrence_matrix(m, episode[i].size));
        syn_occurrences_free(&m->occurrences);
    }
    glue_watch_stop(&w);
    mining_free(pointer);
    if (status != SYN_OK)
        out = glue_status(status, NA_REAL, Rf_asReal(most));
    UNPROTECT(2);
    return out;
}

/* ---- for the tests ---- */

/* Counts a list of ends on a small next-occurrence table (a matrix, lanes by rows) with
   one implementation; NULL where this processor has no such one. */
SEXP r_count_rows_check(SEXP kind, SEXP distance, SEXP event, SEXP row, SEXP start)
{
    syn_count_rows *count_rows = syn_count_rows_of((syn_rows_kind)Rf_asInteger(kind));
    if (!count_rows)
        return R_NilValue;
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
