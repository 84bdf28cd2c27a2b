/* Mines and counts episodes for R, on the CPU and on GPUs, and finds where they occur.
   All memory belongs to the owner of the call, so that an error of R frees it. */
#include "core/base/parallel.h"
#include "core/episodes/engine.h"
#include "core/episodes/given.h"
#include "core/episodes/rows.h"
#include "glue/episodes_given.h"
#include "glue/episodes_table.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/spikes.h"
#include "glue/watch.h"
#include "gpu/episodes/mine.h"
#include "gpu/published/strategies.h"

/* What gpu_mine() has to say besides the episodes. */
typedef struct gpu_report {
    double seconds;       /* from the recording being there to the episodes being back */
    int strategies;       /* 1 when `by_size` was filled, 0 when `window` was */
    syn_gpu_strategy_report by_size;
    syn_gpu_mining window;
    syn_gpu_call call;
} gpu_report;

/* ==== on GPUs ==== */

static syn_gpu_strategy_options read_strategy(SEXP gpu, uint32_t min_count)
{
    return (syn_gpu_strategy_options){
        .strategy = (syn_gpu_strategy)(glue_option_int(gpu, "engine", 1,
                                                       1 + SYN_GPU_OCCURRENCE) - 1),
        .min_count = min_count,
        .a = glue_option_number(gpu, "a", R_NegInf, R_PosInf),
        .b = glue_option_number(gpu, "b", R_NegInf, R_PosInf),
        .segments = (uint32_t)glue_option_int(gpu, "segments", 0, INT32_MAX),
        .published = glue_option_flag(gpu, "published"),
        .compaction = (syn_gpu_compaction)glue_option_int(gpu, "compaction", 0,
                                                          SYN_GPU_COUNT_SCAN_WRITE),
        .dedup = glue_option_flag(gpu, "dedup")};
}

/* ---- mining ---- */

static syn_status mine_by_strategy(SEXP gpu, const syn_recording *recording,
                                   const syn_mine_options *options,
                                   const syn_watch *watch, syn_episodes *out,
                                   gpu_report *report)
{
    syn_counter counter;
    syn_gpu_strategy_options chosen = read_strategy(gpu, options->min_count);
    syn_mine_options mine = *options;
    SYN_TRY(syn_gpu_counter_open(recording, options->intervals, options->n_intervals,
                                 &chosen, &report->call, &counter));
    mine.engine = SYN_ENGINE_COUNTER;
    mine.counter = &counter;
    mine.threads = 1;
    double begun = syn_seconds();
    syn_status status = syn_mine_episodes(recording, &mine, watch, out);
    report->seconds = syn_seconds() - begun;
    report->strategies = 1;
    syn_gpu_counter_report(&counter, &report->by_size);
    syn_gpu_counter_close(&counter);
    if (status == SYN_OK)
        out->peak_memory = (size_t)report->by_size.peak_memory;
    return status;
}

/* Whether the mining that `gpu` asks for takes a recording as syn_recording_read() makes
   it; R's NULL is the CPU. */
static int gpu_arranges(SEXP gpu)
{
    return gpu != R_NilValue &&
           glue_option_int(gpu, "engine", 0, 1 + SYN_GPU_OCCURRENCE) == 0;
}

/* Mines as `gpu` says, from gpu_request() in R: gpus, engine (0 for the window, else
   1 + syn_gpu_strategy), and what syn_gpu_strategy_options has. */
static syn_status gpu_mine(SEXP gpu, const syn_recording *recording,
                         const syn_mine_options *options, const syn_watch *watch,
                         syn_episodes *out, gpu_report *report)
{
    report->call = glue_option_gpus(gpu);
    report->call.watch = watch;
    report->call.threads = options->threads;
    if (!gpu_arranges(gpu))
        return mine_by_strategy(gpu, recording, options, watch, out, report);
    syn_status status = syn_gpu_mine_episodes(recording, options, &report->call, out,
                                              &report->window);
    report->seconds = report->window.seconds;
    return status;
}

/* Puts into the list `out` what there is of each size, as `seconds` or as `number`, of
   which the other one is NULL. */
static void put_by_size(SEXP out, int at, const double *seconds, const uint64_t *number,
                        size_t from, size_t to)
{
    SEXP value =
        SET_VECTOR_ELT(out, at, Rf_allocVector(REALSXP, (R_xlen_t)(to - from + 1)));
    for (size_t k = from; k <= to; k++)
        REAL(value)
    [k - from] = k > SYN_GPU_SIZES ? 0 : seconds ? seconds[k] : (double)number[k];
}

static SEXP by_device(const uint64_t *candidates, int devices)
{
    SEXP out = Rf_allocVector(REALSXP, devices);
    for (int d = 0; d < devices; d++)
        REAL(out)[d] = (double)candidates[d];
    return out;
}

static SEXP window_by_size(const gpu_report *report, size_t from, size_t to)
{
    const char *fields[] = {"seconds", "candidates", "parted", ""};
    if (report->call.n == 0)
        return R_NilValue;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    put_by_size(out, 0, report->window.seconds_by_size, NULL, from, to);
    SET_VECTOR_ELT(out, 1, by_device(report->window.candidates, report->call.n));
    SET_VECTOR_ELT(out, 2, Rf_ScalarLogical(report->window.parted));
    UNPROTECT(1);
    return out;
}

/* A list of vectors by size, from size `from` to size `to`: seconds of kernels, of
   copying and of the published merge; episodes that merge has no answer for, and another
   count for; candidates counted in segments, and threads of PTPE that fill a device; and,
   by device, the candidates that each counted. Of the window engine: seconds by size,
   the candidates by device, and whether lists were made part by part. R's NULL when no
   device took part. */
static SEXP gpu_by_size(const gpu_report *report, size_t from, size_t to)
{
    const char *fields[] = {"seconds", "copy_seconds", "published_seconds", "unmatched",
                            "miscounted", "segmented", "capacity", "candidates", ""};
    const syn_gpu_strategy_report *by = &report->by_size;
    if (!report->strategies)
        return window_by_size(report, from, to);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    put_by_size(out, 0, by->seconds, NULL, from, to);
    put_by_size(out, 1, by->copy_seconds, NULL, from, to);
    put_by_size(out, 2, by->published_seconds, NULL, from, to);
    put_by_size(out, 3, NULL, by->unmatched, from, to);
    put_by_size(out, 4, NULL, by->miscounted, from, to);
    put_by_size(out, 5, NULL, by->segmented, from, to);
    put_by_size(out, 6, NULL, by->capacity, from, to);
    SET_VECTOR_ELT(out, 7, by_device(by->candidates, report->call.n));
    UNPROTECT(1);
    return out;
}

/* ---- given episodes ---- */

/* R's matrix, a row an episode, as the counter takes it. R_alloc'd. */
static const uint32_t *codes_from_zero(SEXP codes)
{
    R_xlen_t n = Rf_xlength(codes);
    uint32_t *out = (uint32_t *)R_alloc((size_t)n + 1, sizeof *out);
    for (R_xlen_t i = 0; i < n; i++)
        out[i] = (uint32_t)INTEGER(codes)[i] - 1;
    return out;
}

typedef struct counting {
    syn_recording recording;
    syn_counter counter;
    int open;  /* whether the counter is */
    gpu_report report;
} counting;

static void release_counting(void *held)
{
    counting *c = held;
    if (c->open)
        syn_gpu_counter_close(&c->counter);
    syn_recording_free(&c->recording);
}

/* Counts n episodes of one size, and then again for every further time in `seconds`;
   `published` are those of the published merge. */
static syn_status count_group(counting *c, const syn_candidate_batch *batch,
                              const syn_watch *watch, uint32_t *count, SEXP seconds,
                              SEXP published)
{
    syn_status status = SYN_OK;
    uint64_t eliminated = 0;
    double before = 0, published_before = 0;
    const syn_gpu_strategy_report *by = &c->report.by_size;
    uint32_t size = batch->size < SYN_GPU_SIZES ? batch->size : SYN_GPU_SIZES;
    for (R_xlen_t i = 0; status == SYN_OK && i < Rf_xlength(seconds); i++) {
        status = c->counter.count(c->counter.self, batch, watch, count, &eliminated);
        syn_gpu_counter_report(&c->counter, &c->report.by_size);
        REAL(seconds)[i] = by->seconds[size] - before;
        REAL(published)[i] = by->published_seconds[size] - published_before;
        before = by->seconds[size];
        published_before = by->published_seconds[size];
    }
    c->report.strategies = 1;
    return status;
}

/* `bounds`: low and high of the intervals in ticks; `units`, `intervals`: integer
   matrices, from 1, a row an episode, size and size - 1 columns; `gpu` as for mining. A
   list: the counts, the seconds of the kernels and of the published merge each of `times`
   times, and what gpu_by_size() says of this size. */
SEXP r_count_episodes_gpu(glue_owner *own, SEXP events, SEXP bounds, SEXP units,
                          SEXP intervals, SEXP gpu, SEXP times)
{
    const char *fields[] = {"count", "seconds", "published_seconds", "report", ""};
    uint32_t n_intervals;
    int64_t reach;
    size_t n = (size_t)Rf_nrows(units);
    const syn_interval *table = glue_bounds(bounds, &n_intervals, &reach);
    syn_candidate_batch batch = {(uint32_t)Rf_ncols(units), n, codes_from_zero(units),
                                 codes_from_zero(intervals)};
    syn_gpu_strategy_options chosen = read_strategy(gpu, 0);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP count = SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, (R_xlen_t)n));
    SEXP seconds = SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, Rf_asInteger(times)));
    SEXP published = SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, Rf_xlength(seconds)));
    counting *c = glue_hold(own, sizeof *c, release_counting);
    const syn_watch *watch = glue_watch(own, "Counting episodes");
    c->report.call = glue_option_gpus(gpu);
    syn_status status = glue_recording(&c->recording, events, 0, reach, 1, watch);
    SYN_NEXT(status, syn_gpu_counter_open(&c->recording, table, n_intervals, &chosen,
                                          &c->report.call, &c->counter));
    c->open = status == SYN_OK;
    SYN_NEXT(status, count_group(c, &batch, watch, (uint32_t *)INTEGER(count), seconds,
                                 published));
    if (status == SYN_OK)
        SET_VECTOR_ELT(out, 3, gpu_by_size(&c->report, batch.size, batch.size));
    else
        out = glue_status_because(status, NA_REAL, NA_REAL, c->report.call.reason);
    UNPROTECT(1);
    return out;
}

/* ==== for R ==== */

typedef struct mining {
    syn_recording recording;
    syn_episodes episodes;
    glue_rows rows;
    syn_occurrences occurrences;
    gpu_report gpu;
} mining;

static void release(void *held)
{
    mining *m = held;
    syn_occurrences_free(&m->occurrences);
    syn_give_back(&m->rows.memory);
    syn_episodes_free(&m->episodes);
    syn_recording_free(&m->recording);
}

static mining *new_mining(glue_owner *own)
{
    return glue_hold(own, sizeof(mining), release);
}

/* ---- mining ---- */

static void add_gpu_report(SEXP out, const mining *m)
{
    if (m->episodes.n_levels == 0)
        return;
    SEXP report = PROTECT(gpu_by_size(&m->gpu, 1, m->episodes.n_levels));
    Rf_setAttrib(out, Rf_install("gpu"), report);
    UNPROTECT(1);
}

/* The recording, arranged unless the device does that faster itself. */
static syn_status read_events(syn_recording *out, SEXP events, SEXP gpu,
                              const syn_mine_options *options, int64_t reach,
                              const syn_watch *watch)
{
    syn_spikes spikes;
    SYN_TRY(glue_spikes(&spikes, events, options->threads, watch));
    SYN_TRY(syn_recording_read(out, &spikes, options->min_count, reach, options->threads,
                               watch));
    if (!gpu_arranges(gpu))
        SYN_TRY(syn_recording_arrange(out, watch));
    return SYN_OK;
}

/* The episodes, and what has to be known of all before their table is made. */
static syn_status mine(mining *m, SEXP gpu, SEXP spelling, uint8_t least,
                       const syn_mine_options *options, const syn_watch *watch)
{
    syn_status status =
        gpu == R_NilValue
            ? syn_mine_episodes(&m->recording, options, watch, &m->episodes)
            : gpu_mine(gpu, &m->recording, options, watch, &m->episodes, &m->gpu);
    /* The GPU's own search does not leave them out on the way. */
    if (status == SYN_OK && gpu != R_NilValue && options->distinct_units)
        status = syn_episodes_distinct(&m->episodes, watch);
    SYN_NEXT(status, glue_rows_find(&m->rows, &m->episodes, spelling, least, 1,
                                    options->threads, watch));
    return status;
}

/* `bounds`: low and high in ticks; `spelling` as glue_check_spelling() takes it; `gpu`:
   R's NULL for the CPU, else as gpu_mine() takes it. Of the options, `least_flag` is
   the least flag of episodes that are left out, and of each size at most `top` are kept.
   What the GPU reports of each size is the result's attribute "gpu". */
SEXP r_mine_episodes(glue_owner *own, SEXP events, SEXP bounds, SEXP spelling,
                     SEXP options, SEXP gpu)
{
    int64_t reach;
    uint32_t n;
    const syn_interval *intervals = glue_bounds(bounds, &n, &reach);
    syn_mine_options o = {
        .intervals = intervals,
        .n_intervals = n,
        .min_count = (uint32_t)glue_option_int(options, "min_count", 1, INT32_MAX),
        .max_size = (uint32_t)glue_option_int(options, "max_size", 1, INT32_MAX),
        .distinct_units = (int)glue_option_int(options, "distinct_units", 0, 1),
        .engine =
            (syn_episode_engine)glue_option_int(options, "engine", 0, SYN_ENGINE_WINDOW),
        .threads = glue_option_threads(options),
        .max_memory = glue_option_memory(options),
        .of_episode = GLUE_EPISODE_BYTES};
    uint8_t least = (uint8_t)glue_option_int(options, "least_flag", 1, 3);
    size_t top = (size_t)glue_option_int(options, "top", 1, (int64_t)1 << 53);
    double bytes = NA_REAL;
    glue_check_spelling(spelling, (int)glue_units(events), o.n_intervals);
    if (least > 2 && top >= INT32_MAX)
        o.of_episode += GLUE_ROW_BYTES;
    mining *m = new_mining(own);
    const syn_watch *watch = glue_watch(own, "Mining episodes");
    syn_status status = read_events(&m->recording, events, gpu, &o, reach, watch);
    SYN_NEXT(status, mine(m, gpu, spelling, least, &o, watch));
    if (status == SYN_OK) {
        bytes = glue_table_bytes(&m->episodes, &m->rows, least, top);
        status = bytes > (double)o.max_memory ? SYN_OVER_BUDGET : SYN_OK;
    }
    SEXP out = R_NilValue;
    if (status == SYN_OK) {
        out = glue_episodes_table(&m->episodes, &m->rows, spelling, least, top, o.threads,
                                  watch);
        status = out == R_NilValue ? SYN_INTERRUPTED : SYN_OK;
    }
    if (status != SYN_OK)
        return glue_status_because(
            status, bytes, status == SYN_TOO_LARGE ? INT32_MAX : (double)o.max_memory,
            m->gpu.call.reason);
    PROTECT(out);
    SET_VECTOR_ELT(out, XLENGTH(out) - 1,
                   glue_episodes_levels(&m->episodes, m->gpu.seconds));
    add_gpu_report(out, m);
    UNPROTECT(1);
    return out;
}

/* ---- given episodes ---- */

SEXP r_count_episodes(glue_owner *own, SEXP events, SEXP units, SEXP low, SEXP high,
                      SEXP threads)
{
    int64_t reach;
    R_xlen_t n = Rf_xlength(units);
    syn_episode *episode = glue_episodes(units, low, high, &reach);
    int workers = (int)within(Rf_asReal(threads), 1, 1024, "threads");
    SEXP count = PROTECT(Rf_allocVector(INTSXP, n));
    mining *m = new_mining(own);
    const syn_watch *watch = glue_watch(own, "Counting episodes");
    syn_status status = glue_recording(&m->recording, events, 0, reach, workers, watch);
    if (status == SYN_OK) {
        glue_check_episodes(episode, n, m->recording.units);
        status = syn_count_episodes(&m->recording, episode, (size_t)n, workers, watch,
                                    (uint32_t *)INTEGER(count));
    }
    UNPROTECT(1);
    return status == SYN_OK ? count : glue_status_within(status, NA_REAL, "");
}

/* A matrix with an occurrence a column: the rows of the table of spikes, from 1. */
static SEXP occurrence_matrix(const mining *m, uint32_t size)
{
    SEXP out = Rf_allocMatrix(INTSXP, (int)size, (int)m->occurrences.n);
    for (size_t i = 0; i < m->occurrences.n * size; i++)
        INTEGER(out)[i] = (int)m->recording.source[m->occurrences.event[i]] + 1;
    return out;
}

/* Lists the occurrences of an episode, `left` at most. */
static syn_status find_one(mining *m, const syn_episode *episode,
                           syn_occurrence_kind kind, size_t *left, SEXP out, R_xlen_t i,
                           const syn_watch *watch)
{
    syn_status status = syn_poll(watch, "episodes", (double)i, (double)Rf_xlength(out));
    SYN_NEXT(status, syn_find_occurrences(&m->recording, episode, kind, *left, watch,
                                          &m->occurrences));
    if (status == SYN_OK)
        SET_VECTOR_ELT(out, i, occurrence_matrix(m, episode->size));
    *left -= m->occurrences.n;
    syn_occurrences_free(&m->occurrences);
    return status;
}

/* A list of such matrices, `most` occurrences at most in all of them together. */
SEXP r_episode_occurrences(glue_owner *own, SEXP events, SEXP units, SEXP low, SEXP high,
                           SEXP all, SEXP most)
{
    int64_t reach;
    R_xlen_t n = Rf_xlength(units);
    syn_episode *episode = glue_episodes(units, low, high, &reach);
    double limit = within(Rf_asReal(most), 0, INT32_MAX, "limit");
    syn_occurrence_kind kind = Rf_asLogical(all) == TRUE ? SYN_ALL : SYN_NONOVERLAPPED;
    size_t left = (size_t)limit;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, n));
    mining *m = new_mining(own);
    const syn_watch *watch = glue_watch(own, "Finding occurrences");
    syn_status status = glue_recording(&m->recording, events, 0, reach, 1, watch);
    if (status == SYN_OK)
        glue_check_episodes(episode, n, m->recording.units);
    for (R_xlen_t i = 0; status == SYN_OK && i < n; i++)
        status = find_one(m, &episode[i], kind, &left, out, i, watch);
    UNPROTECT(1);
    return status == SYN_OK ? out : glue_status(status, NA_REAL, limit);
}

/* ---- for the tests ---- */

/* Counts a list of ends on a small next-occurrence table (a matrix, lanes by rows) with
   the implementation for registers of so many bits, or for fewer where there are none. */
SEXP r_count_rows_check(SEXP bits, SEXP distance, SEXP event, SEXP row, SEXP start)
{
    syn_count_rows *count_rows = syn_count_rows_fastest(Rf_asInteger(bits));
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
