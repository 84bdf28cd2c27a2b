/* Jobs with many candidates are cut into parts, which are jobs of their own with the same
   rows. Some jobs at a time, a batch, are made, worked on by all threads share by share,
   and finished. */

#include <string.h>

#include "core/base/parallel.h"
#include "core/edm/forecast/job.h"
#include "core/edm/model/shares.h"

enum {
    BATCH_BYTES = 64 << 20,  /* of jobs, but at least one */
    BATCH_JOBS = 1024
};

/* The jobs that are worked on. */
typedef struct batch {
    const syn_forecast_call *call;
    const syn_watch *watch;
    const syn_forecasts *out;
    int threads;
    syn_forecast_worker **worker;  /* [threads] */
    uint32_t n;
    syn_forecast_job *job;         /* [BATCH_JOBS] */
    uint32_t *begin;               /* [BATCH_JOBS + 1] the first share of each */
    size_t next, candidate;        /* the job that comes next, and its first candidate */
    size_t from, to;               /* jobs that were done when a loop began, and those
                                      that are when it ends */
    syn_arrays memory;
} batch;

/* ---- batches ---- */

/* Whether jobs i and i + 1 have the same list. */
static int same_list(const syn_lagged *list, const size_t *start, size_t i)
{
    size_t n = start[i + 1] - start[i];
    const syn_lagged *one = list + start[i], *next = list + start[i + 1];
    return start[i + 2] - start[i + 1] == n &&
           (n == 0 || memcmp(one, next, n * sizeof *list) == 0);
}

/* Whether jobs i and i + 1 differ in theta alone. */
static int alike(const syn_forecast_jobs *jobs, size_t i)
{
    return jobs->effect[i] == jobs->effect[i + 1] &&
           same_list(jobs->coordinate, jobs->coordinate_start, i) &&
           same_list(jobs->candidate, jobs->candidate_start, i);
}

/* The next jobs that differ in theta alone, or the next part of a job. */
static syn_forecast_job next_part(batch *b)
{
    const syn_forecast_jobs *jobs = b->call->jobs;
    const size_t most = SYN_FORECAST_OCTETS * SYN_FORECAST_SIDE;
    size_t i = b->next, end = jobs->candidate_start[i + 1], left = end - b->candidate;
    syn_forecast_job part = {.job = i, .first = b->candidate, .thetas = 1,
                             .candidates = (uint32_t)(left < most ? left : most)};
    b->candidate += part.candidates;
    if (b->candidate < end)
        return part;
    while (part.candidates == end - jobs->candidate_start[part.job] && ++i < jobs->n &&
           part.thetas < SYN_FORECAST_THETAS && alike(jobs, i - 1))
        part.thetas++;
    b->next = part.job + part.thetas;
    b->candidate = jobs->candidate_start[b->next];
    return part;
}

static void fill_batch(batch *b)
{
    size_t doubles = 0;
    b->n = 0;
    while (b->n < BATCH_JOBS && b->next < b->call->jobs->n) {
        size_t next = b->next, candidate = b->candidate;
        syn_forecast_job part = next_part(b);
        doubles += syn_forecast_job_room(b->call, &part);
        if (b->n > 0 && doubles > BATCH_BYTES / sizeof(double)) {
            b->next = next;
            b->candidate = candidate;
            return;
        }
        b->job[b->n++] = part;
    }
}

static int pass_on(void *data, const char *stage, double done, double total)
{
    const batch *b = data;
    double part = total > 0 ? done / total * (double)(b->to - b->from) : 0;
    return syn_poll(b->watch, stage, (double)b->from + part,
                    (double)b->call->jobs->n) != SYN_OK;
}

static syn_status make(void *context, size_t item, int worker)
{
    const batch *b = context;
    return syn_forecast_job_make(b->call, &b->job[item], b->worker[worker]);
}

static syn_status work(void *context, size_t item, int worker)
{
    const batch *b = context;
    uint32_t i = syn_job_of_share(b->begin, b->n, item);
    return syn_forecast_job_work(b->call, &b->job[i], (uint32_t)item - b->begin[i],
                                 b->worker[worker]);
}

static syn_status finish(void *context, size_t item, int worker)
{
    const batch *b = context;
    (void)worker;
    syn_forecast_job_finish(b->call, &b->job[item], b->out);
    return SYN_OK;
}

/* One loop of a batch, after which jobs up to `to` are done. */
static syn_status loop(batch *b, size_t items, size_t to, syn_body *body)
{
    syn_watch part = {pass_on, b};
    b->to = to;
    syn_status status = syn_parallel_for(items, b->threads, &part, "jobs", body, b);
    b->from = to;
    return status;
}

static syn_status run_batch(batch *b)
{
    fill_batch(b);
    syn_status status = loop(b, b->n, b->from, make);
    for (uint32_t i = 0; i < b->n; i++)
        b->begin[i + 1] = b->begin[i] + b->job[i].shares;
    SYN_NEXT(status, loop(b, b->begin[b->n], b->next, work));
    SYN_NEXT(status, loop(b, b->n, b->next, finish));
    for (uint32_t i = 0; i < b->n; i++)
        syn_give_back(&b->job[i].memory);
    return status;
}

/* ---- the call ---- */

static syn_status take_memory(batch *b)
{
    const syn_forecast_jobs *jobs = b->call->jobs;
    size_t dims = 1, octets = 0;
    for (size_t i = 0; i < jobs->n; i++) {
        size_t d = jobs->coordinate_start[i + 1] - jobs->coordinate_start[i];
        size_t m = jobs->candidate_start[i + 1] - jobs->candidate_start[i];
        size_t o = (m + SYN_FORECAST_SIDE - 1) / SYN_FORECAST_SIDE;
        dims = d > dims ? d : dims;
        octets = o > octets ? o : octets;
    }
    octets = octets < SYN_FORECAST_OCTETS ? octets : SYN_FORECAST_OCTETS;
    b->job = syn_take(&b->memory, BATCH_JOBS, sizeof *b->job);
    b->begin = syn_take(&b->memory, BATCH_JOBS + 1, sizeof *b->begin);
    b->worker = syn_take(&b->memory, (size_t)b->threads, sizeof *b->worker);
    for (int i = 0; b->worker && i < b->threads; i++)
        b->worker[i] = syn_forecast_worker_make(b->call->series->steps, (uint32_t)dims,
                                                (uint32_t)octets, &b->memory);
    return syn_taken(&b->memory);
}

syn_status syn_forecast(const syn_series *series, const syn_forecast_jobs *jobs,
                        const syn_forecast_options *options, const syn_watch *watch,
                        const syn_forecasts *out)
{
    int bits = options->vector_bits;
    syn_forecast_call call = {.series = series, .jobs = jobs, .options = options,
                              .smap = syn_smap_kind_fastest(bits),
                              .product = syn_smap_product_fastest(bits),
                              .kind = syn_forecast_kind_fastest(bits)};
    batch b = {.call = &call, .watch = watch, .out = out,
               .threads = options->threads > 1 ? options->threads : 1};
    syn_status status = take_memory(&b);
    while (status == SYN_OK && b.next < jobs->n)
        status = run_batch(&b);
    syn_give_back(&b.memory);
    return status;
}
