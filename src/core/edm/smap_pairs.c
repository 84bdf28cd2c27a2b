/* Targets that are known at the same steps are predicted together, in groups. Of each
   group, some libraries at a time become jobs (smap_job.h), whose shares all threads work
   on. */
#include "core/edm/smap_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/edm/smap_job.h"

enum {
    MOST_TARGETS = 2048,         /* of a group */
    BATCH_BYTES = 64 << 20,      /* of jobs, but at least one */
    SHARES_EACH = 8              /* of a batch for each thread, about */
};

/* All pairs of a call. */
typedef struct pairs {
    const syn_series *libraries, *targets;
    const syn_smap_pairs_options *options;
    const syn_watch *watch;
    const syn_smap_pairs *out;
    syn_smap_options smap;
    uint32_t *target;            /* [targets] those that are known at the same steps one
                                    after the other */
    int threads;
    syn_smap_worker **worker;    /* [threads] */
    double done, all;            /* pairs */
} pairs;

/* Some libraries of a group. */
typedef struct batch {
    const syn_smap_common *common;
    uint32_t first, n;           /* libraries */
    syn_smap_job *job;           /* [n] */
    uint32_t *begin;             /* [n + 1] the first share of each */
    const pairs *pairs;
} batch;

/* ---- groups ---- */

/* Orders targets by where they are known. */
static int by_gaps(const double *x, const double *y, uint32_t steps)
{
    for (uint32_t t = 0; t < steps; t++)
        if (isnan(x[t]) != isnan(y[t]))
            return isnan(x[t]) ? -1 : 1;
    return 0;
}

/* A target while they are ordered. */
typedef struct gaps {
    const double *value;
    uint32_t steps, number;
} gaps;

static int compare_gaps(const void *a, const void *b)
{
    const gaps *x = a, *y = b;
    int order = by_gaps(x->value, y->value, x->steps);
    return order != 0 ? order : x->number < y->number ? -1 : 1;
}

static syn_status order_targets(pairs *p)
{
    uint32_t n = p->targets->n, steps = p->targets->steps;
    gaps *all = malloc(n * sizeof *all + 1);
    p->target = malloc(n * sizeof *p->target + 1);
    if (all && p->target) {
        for (uint32_t i = 0; i < n; i++)
            all[i] = (gaps){p->targets->value + (size_t)i * steps, steps, i};
        qsort(all, n, sizeof *all, compare_gaps);
        for (uint32_t i = 0; i < n; i++)
            p->target[i] = all[i].number;
    }
    syn_status status = all && p->target ? SYN_OK : SYN_NO_MEMORY;
    free(all);
    return status;
}

/* How many targets from place `first` on are a group. */
static uint32_t group_size(const pairs *p, uint32_t first)
{
    size_t steps = p->targets->steps;
    const double *x = p->targets->value + p->target[first] * steps;
    uint32_t n = 1;
    while (first + n < p->targets->n && n < MOST_TARGETS &&
           by_gaps(x, p->targets->value + p->target[first + n] * steps,
                   (uint32_t)steps) == 0)
        n++;
    return n;
}

/* A number near the mean; of a constant, that; 0 where nothing is known. */
static double centre_of(const double *x, uint32_t steps)
{
    double first = NAN, sum = 0, n = 0;
    for (uint32_t t = 0; t < steps; t++)
        if (!isnan(x[t])) {
            first = n > 0 ? first : x[t];
            sum += x[t] - first;
            n++;
        }
    return n > 0 ? first + sum / n : 0;
}

/* ---- batches ---- */

static int pass_on(void *data, const char *stage, double done, double total)
{
    const batch *b = data;
    const pairs *p = b->pairs;
    (void)stage;
    double part = total > 0 ? done / total * b->n * b->common->group->n : 0;
    return syn_poll(p->watch, "pairs", p->done + part, p->all) != SYN_OK;
}

static syn_status make_job(void *context, size_t item, int worker)
{
    const batch *b = context;
    (void)worker;
    return syn_smap_job_make(b->common, b->first + (uint32_t)item, &b->job[item]);
}

static syn_status work(void *context, size_t item, int worker)
{
    const batch *b = context;
    uint32_t low = 0, high = b->n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (b->begin[middle] <= item)
            low = middle;
        else
            high = middle;
    }
    return syn_smap_job_work(&b->job[low], (uint32_t)item - b->begin[low],
                             b->pairs->worker[worker]);
}

/* Makes the jobs of a batch and runs their shares. */
static syn_status run_batch(batch *b)
{
    const pairs *p = b->pairs;
    syn_watch part = {pass_on, b};
    syn_status status = syn_parallel_for(b->n, p->threads, NULL, "pairs", make_job, b);
    for (uint32_t i = 0; i < b->n; i++)
        b->begin[i + 1] = b->begin[i] + b->job[i].shares;
    if (status == SYN_OK)
        status = syn_parallel_for(b->begin[b->n], p->threads, &part, "pairs", work, b);
    size_t targets = p->targets->n;
    for (uint32_t i = 0; i < b->n; i++) {
        size_t at = (b->first + i) * targets;
        if (status == SYN_OK)
            syn_smap_job_finish(&b->job[i], p->out->rho + at, p->out->strength + at);
        syn_smap_job_free(&b->job[i]);
    }
    return status;
}

/* How many libraries are worked on at a time. */
static uint32_t batch_size(const pairs *p, const syn_smap_job *whole)
{
    size_t steps = p->libraries->steps, dims = p->options->E;
    /* Coordinates three times, the library once more, and the sums. */
    size_t each = steps * (4 * dims + 16) + 64 * SYN_SMAP_SUMS * whole->columns;
    size_t most = BATCH_BYTES / sizeof(double) / each + 1;
    size_t shares = whole->rows.n / 256 + 1;
    size_t enough = (size_t)SHARES_EACH * (size_t)p->threads / shares + 1;
    most = most < enough ? most : enough;
    return most < p->libraries->n ? (uint32_t)most : p->libraries->n;
}

static syn_status run_group(pairs *p, const syn_smap_common *common)
{
    batch b = {.common = common, .pairs = p};
    uint32_t most = batch_size(p, common->whole);
    syn_status status = SYN_OK;
    b.job = calloc((size_t)most + 1, sizeof *b.job);
    b.begin = calloc((size_t)most + 1, sizeof *b.begin);
    if (!b.job || !b.begin)
        status = SYN_NO_MEMORY;
    for (; b.first < p->libraries->n && status == SYN_OK; b.first += b.n) {
        uint32_t left = p->libraries->n - b.first;
        b.n = left < most ? left : most;
        memset(b.job, 0, b.n * sizeof *b.job);
        status = run_batch(&b);
        p->done += (double)b.n * common->group->n;
    }
    free(b.job);
    free(b.begin);
    return status;
}

/* Predicts the group of targets from place `first` on. */
static syn_status predict_group(pairs *p, uint32_t first, uint32_t n)
{
    syn_smap_group group = {n, p->target + first, p->targets->value, NULL};
    int bits = p->options->vector_bits;
    syn_smap_job whole = {0};
    syn_smap_common common = {
        .libraries = p->libraries, .options = p->options, .smap = &p->smap,
        .kind = syn_smap_fastest(bits), .product = syn_smap_product_fastest(bits),
        .group = &group};
    group.centre = malloc(n * sizeof *group.centre);
    if (!group.centre)
        return SYN_NO_MEMORY;
    for (uint32_t c = 0; c < n; c++)
        group.centre[c] = centre_of(p->targets->value + group.target[c] *
                                        (size_t)p->targets->steps, p->targets->steps);
    syn_status status = syn_smap_job_make(&common, p->libraries->n, &whole);
    common.whole = &whole;
    if (status == SYN_OK)
        status = run_group(p, &common);
    syn_smap_job_free(&whole);
    free(group.centre);
    return status;
}

/* ---- the call ---- */

static syn_status make_workers(pairs *p)
{
    size_t columns = p->targets->n < MOST_TARGETS ? p->targets->n : MOST_TARGETS;
    columns = (columns + SYN_SMAP_COLUMNS - 1) / SYN_SMAP_COLUMNS * SYN_SMAP_COLUMNS;
    p->worker = calloc((size_t)p->threads, sizeof *p->worker);
    if (!p->worker)
        return SYN_NO_MEMORY;
    for (int i = 0; i < p->threads; i++) {
        p->worker[i] = syn_smap_worker_make(p->libraries->steps, p->options->E, columns);
        if (!p->worker[i])
            return SYN_NO_MEMORY;
    }
    return SYN_OK;
}

syn_status syn_smap_pairs_make(const syn_series *libraries, const syn_series *targets,
                               const syn_smap_pairs_options *options,
                               const syn_watch *watch, const syn_smap_pairs *out)
{
    size_t all = (size_t)libraries->n * targets->n;
    pairs p = {.libraries = libraries, .targets = targets, .options = options,
               .watch = watch, .out = out, .all = (double)all,
               .threads = options->threads > 1 ? options->threads : 1};
    p.smap = (syn_smap_options){.thetas = 1, .theta = &options->theta, .k = UINT32_MAX,
                                .exclusion = options->exclusion, .ridge = options->ridge};
    for (size_t i = 0; i < all; i++)
        out->rho[i] = out->strength[i] = NAN;
    syn_status status = order_targets(&p);
    if (status == SYN_OK)
        status = make_workers(&p);
    for (uint32_t first = 0; first < targets->n && status == SYN_OK;) {
        uint32_t n = group_size(&p, first);
        status = predict_group(&p, first, n);
        first += n;
    }
    for (int i = 0; p.worker && i < p.threads; i++)
        syn_smap_worker_free(p.worker[i]);
    free(p.worker);
    free(p.target);
    return status;
}
