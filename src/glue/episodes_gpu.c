/* Mines and counts episodes on GPUs, and reports to R what ran there. */
#include "glue/episodes_gpu.h"

#include "core/base/parallel.h"
#include "glue/options.h"
#include "glue/owner.h"
#include "glue/spikes.h"
#include "glue/episodes_given.h"
#include "glue/watch.h"

static syn_gpu_strategy_options read_strategy(SEXP gpu, uint32_t min_count)
{
    syn_gpu_strategy_options out = {
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
    out.devices = glue_option_gpus(gpu, &out.n_devices);
    return out;
}

/* ---- mining ---- */

static syn_status mine_by_strategy(SEXP gpu, const syn_recording *recording,
                                   const syn_mine_options *options,
                                   const syn_watch *watch, syn_episodes *out,
                                   glue_gpu_report *report)
{
    syn_counter counter;
    syn_gpu_strategy_options chosen = read_strategy(gpu, options->min_count);
    syn_mine_options mine = *options;
    SYN_TRY(syn_gpu_counter_open(recording, options->intervals, options->n_intervals,
                                 &chosen, &counter, report->reason));
    mine.engine = SYN_ENGINE_COUNTER;
    mine.counter = &counter;
    mine.threads = 1;
    double begun = syn_seconds();
    syn_status status = syn_mine_episodes(recording, &mine, watch, out);
    report->seconds = syn_seconds() - begun;
    report->strategies = 1;
    report->devices = chosen.n_devices;
    syn_gpu_counter_report(&counter, &report->by_size);
    syn_gpu_counter_close(&counter);
    if (status == SYN_OK)
        out->peak_memory = (size_t)report->by_size.peak_memory;
    return status;
}

/* Only the published strategies, whose numbers begin at 1, take one that is arranged. */
int glue_gpu_arranges(SEXP gpu)
{
    return gpu != R_NilValue &&
           glue_option_int(gpu, "engine", 0, 1 + SYN_GPU_OCCURRENCE) == 0;
}

syn_status glue_gpu_mine(SEXP gpu, const syn_recording *recording,
                         const syn_mine_options *options, const syn_watch *watch,
                         syn_episodes *out, glue_gpu_report *report)
{
    if (!glue_gpu_arranges(gpu))
        return mine_by_strategy(gpu, recording, options, watch, out, report);
    const int *device = glue_option_gpus(gpu, &report->devices);
    syn_status status =
        syn_gpu_mine_episodes(recording, options, device, report->devices, watch, out,
                              &report->window, report->reason);
    report->seconds = report->window.seconds;
    return status;
}

static SEXP seconds_by_size(const double *value, size_t from, size_t to)
{
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)(to - from + 1));
    for (size_t k = from; k <= to; k++)
        REAL(out)[k - from] = k <= SYN_GPU_SIZES ? value[k] : 0;
    return out;
}

static SEXP doubles_by_size(const uint64_t *value, size_t from, size_t to)
{
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)(to - from + 1));
    for (size_t k = from; k <= to; k++)
        REAL(out)[k - from] = k <= SYN_GPU_SIZES ? (double)value[k] : 0;
    return out;
}

static SEXP by_device(const uint64_t *candidates, int devices)
{
    SEXP out = Rf_allocVector(REALSXP, devices);
    for (int d = 0; d < devices; d++)
        REAL(out)[d] = (double)candidates[d];
    return out;
}

static SEXP window_by_size(const glue_gpu_report *report, size_t from, size_t to)
{
    const char *fields[] = {"seconds", "candidates", ""};
    if (report->devices == 0)
        return R_NilValue;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, seconds_by_size(report->window.seconds_by_size, from, to));
    SET_VECTOR_ELT(out, 1, by_device(report->window.candidates, report->devices));
    UNPROTECT(1);
    return out;
}

SEXP glue_gpu_by_size(const glue_gpu_report *report, size_t from, size_t to)
{
    const char *fields[] = {"seconds", "copy_seconds", "published_seconds", "unmatched",
                            "miscounted", "segmented", "capacity", "candidates", ""};
    const syn_gpu_strategy_report *by = &report->by_size;
    if (!report->strategies)
        return window_by_size(report, from, to);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, seconds_by_size(by->seconds, from, to));
    SET_VECTOR_ELT(out, 1, seconds_by_size(by->copy_seconds, from, to));
    SET_VECTOR_ELT(out, 2, seconds_by_size(by->published_seconds, from, to));
    SET_VECTOR_ELT(out, 3, doubles_by_size(by->unmatched, from, to));
    SET_VECTOR_ELT(out, 4, doubles_by_size(by->miscounted, from, to));
    SET_VECTOR_ELT(out, 5, doubles_by_size(by->segmented, from, to));
    SET_VECTOR_ELT(out, 6, doubles_by_size(by->capacity, from, to));
    SET_VECTOR_ELT(out, 7, by_device(by->candidates, report->devices));
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
    glue_gpu_report report;
} counting;

static void release(void *held)
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
   times, and what glue_gpu_by_size() says of this size. */
SEXP r_count_episodes_gpu(glue_owner *own, SEXP events, SEXP bounds, SEXP units,
                          SEXP intervals, SEXP gpu, SEXP times)
{
    const char *fields[] = {"count", "seconds", "published_seconds", "report", ""};
    uint32_t n_intervals = (uint32_t)Rf_xlength(VECTOR_ELT(bounds, 0));
    size_t n = (size_t)Rf_nrows(units);
    syn_interval *table = (syn_interval *)R_alloc(n_intervals, sizeof *table);
    int64_t reach =
        glue_intervals(table, VECTOR_ELT(bounds, 0), VECTOR_ELT(bounds, 1));
    syn_candidate_batch batch = {(uint32_t)Rf_ncols(units), n, codes_from_zero(units),
                                 codes_from_zero(intervals)};
    syn_gpu_strategy_options chosen = read_strategy(gpu, 0);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP count = SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, (R_xlen_t)n));
    SEXP seconds = SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, Rf_asInteger(times)));
    SEXP published = SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, Rf_xlength(seconds)));
    counting *c = glue_hold(own, sizeof *c, release);
    const syn_watch *watch = glue_watch(own, "Counting episodes");
    syn_status status = glue_recording(&c->recording, events, 0, reach, 1, watch);
    SYN_NEXT(status, syn_gpu_counter_open(&c->recording, table, n_intervals, &chosen,
                                          &c->counter, c->report.reason));
    c->open = status == SYN_OK;
    c->report.devices = chosen.n_devices;
    SYN_NEXT(status, count_group(c, &batch, watch, (uint32_t *)INTEGER(count), seconds,
                                 published));
    if (status == SYN_OK)
        SET_VECTOR_ELT(out, 3, glue_gpu_by_size(&c->report, batch.size, batch.size));
    else
        out = glue_status_because(status, NA_REAL, NA_REAL, c->report.reason);
    UNPROTECT(1);
    return out;
}
