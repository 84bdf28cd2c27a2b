/* Targets that are known at the same steps are predicted together, in groups. Of each
   group, some libraries at a time become jobs (job.h), whose shares all threads work
   on. */
#include "core/edm/smap/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/edm/model/shares.h"
#include "core/edm/smap/job.h"

enum {
    BATCH_BYTES = 64 << 20,      /* of jobs, but at least one */
    SHARES_EACH = 8              /* of a batch for each thread, about */
};

/* ---- groups of targets ---- */

/* A target while they are ordered. */
typedef struct gaps {
    const double *value;
    uint32_t steps, number;
    uint32_t missing;  /* values */
} gaps;

/* Orders targets by where they are known. */
static int by_gaps(const gaps *x, const gaps *y)
{
    if (x->missing != y->missing)
        return x->missing < y->missing ? -1 : 1;
    for (uint32_t t = 0; t < x->steps && x->missing > 0; t++)
        if (isnan(x->value[t]) != isnan(y->value[t]))
            return isnan(x->value[t]) ? -1 : 1;
    return 0;
}

static int compare_gaps(const void *a, const void *b)
{
    const gaps *x = a, *y = b;
    int order = by_gaps(x, y);
    return order != 0 ? order : x->number < y->number ? -1 : 1;
}

syn_status syn_smap_order_make(const syn_series *targets, syn_smap_order *out)
{
    uint32_t n = targets->n;
    gaps *all = malloc(n * sizeof *all + 1);
    *out = (syn_smap_order){malloc(n * sizeof *out->target + 1),
                            malloc(n * sizeof *out->pattern + 1)};
    syn_status status = all && out->target && out->pattern ? SYN_OK : SYN_NO_MEMORY;
    if (status == SYN_OK) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t steps = targets->steps;
            all[i] = (gaps){targets->value + (size_t)i * steps, steps, i, 0};
            for (uint32_t t = 0; t < steps; t++)
                all[i].missing += isnan(all[i].value[t]);
        }
        qsort(all, n, sizeof *all, compare_gaps);
        for (uint32_t i = 0; i < n; i++) {
            int other = i > 0 && by_gaps(&all[i - 1], &all[i]) != 0;
            out->target[i] = all[i].number;
            out->pattern[i] = i > 0 ? out->pattern[i - 1] + (uint32_t)other : 0;
        }
    }
    free(all);
    return status;
}

void syn_smap_order_free(syn_smap_order *order)
{
    SYN_FREE(order->target, order->pattern);
}

/* A number near the mean; of a constant, that; 0 where nothing is known. */
static double centre_of(const double *x, uint32_t steps)
{
    double first = NAN, sum[4] = {0}, n = 0;
    for (uint32_t t = 0; t < steps && isnan(first); t++)
        first = x[t];
    for (uint32_t t = 0; t < steps; t++) {
        int known = x[t] == x[t];
        sum[t % 4] += known ? x[t] - first : 0;
        n += known;
    }
    return n > 0 ? first + (sum[0] + sum[1] + sum[2] + sum[3]) / n : 0;
}

syn_status syn_smap_group_make(const syn_series *targets, const syn_smap_order *order,
                               uint32_t first, syn_smap_group *out)
{
    size_t steps = targets->steps;
    uint32_t n = 1;
    while (first + n < targets->n && n < SYN_SMAP_TARGETS &&
           order->pattern[first + n] == order->pattern[first])
        n++;
    *out = (syn_smap_group){n, order->target + first, targets->value, NULL};
    SYN_NEW(out->centre, out->n);
    for (uint32_t c = 0; c < out->n; c++)
        out->centre[c] = centre_of(targets->value + out->target[c] * steps,
                                   (uint32_t)steps);
    return SYN_OK;
}

void syn_smap_group_free(syn_smap_group *group)
{
    free(group->centre);
}

/* ---- the call ---- */

/* All pairs of a call, and the batch of libraries at work. */
typedef struct pairs {
    syn_smap_common common;      /* its group is one after the other */
    const syn_series *targets;
    const syn_watch *watch;
    const syn_smap_pairs *out;
    syn_smap_options smap;
    const syn_smap_rest *rest;   /* [n] where only these are wanted, else NULL */
    uint32_t n;                  /* libraries, or rests */
    int threads;
    syn_smap_worker **worker;    /* [threads] */
    double done, all;            /* pairs */
    uint32_t first, batch;       /* libraries, or rests, of the batch */
    syn_smap_job *job;           /* [batch] */
    uint32_t *begin;             /* [batch + 1] the first share of each */
    syn_arrays memory;
} pairs;

/* ---- batches ---- */

static int pass_on(void *data, const char *stage, double done, double total)
{
    const pairs *p = data;
    double part = total > 0 ? done / total * p->batch * p->common.group->n : 0;
    return syn_poll(p->watch, stage, p->done + part, p->all) != SYN_OK;
}

static uint32_t library_of(const pairs *p, size_t item)
{
    return p->rest ? p->rest[p->first + item].library : p->first + (uint32_t)item;
}

static syn_status make_job(void *context, size_t item, int worker)
{
    const pairs *p = context;
    (void)worker;
    syn_status status =
        syn_smap_job_make(&p->common, library_of(p, item), &p->job[item]);
    if (status == SYN_OK && p->rest)
        status = syn_smap_job_rest(&p->job[item], &p->rest[p->first + item]);
    return status;
}

static syn_status work(void *context, size_t item, int worker)
{
    const pairs *p = context;
    uint32_t i = syn_job_of_share(p->begin, p->batch, item);
    return syn_smap_job_work(&p->job[i], (uint32_t)item - p->begin[i], p->worker[worker]);
}

/* Makes the jobs of a batch and runs their shares. */
static syn_status run_batch(pairs *p)
{
    syn_watch part = {pass_on, p};
    memset(p->job, 0, p->batch * sizeof *p->job);
    syn_status status =
        syn_parallel_for(p->batch, p->threads, NULL, "pairs", make_job, p);
    for (uint32_t i = 0; i < p->batch; i++)
        p->begin[i + 1] = p->begin[i] + p->job[i].shares;
    SYN_NEXT(status, syn_parallel_for(p->begin[p->batch], p->threads, &part, "pairs",
                                      work, p));
    for (uint32_t i = 0; i < p->batch; i++) {
        size_t at = library_of(p, i) * (size_t)p->targets->n;
        if (status == SYN_OK)
            syn_smap_job_finish(&p->job[i], p->out->rho + at, p->out->strength + at);
        syn_smap_job_free(&p->job[i]);
    }
    p->done += (double)p->batch * p->common.group->n;
    return status;
}

/* How many libraries are worked on at a time. */
static uint32_t batch_size(const pairs *p, const syn_smap_job *whole)
{
    const syn_smap_common *c = &p->common;
    /* Coordinates three times, the library once more, and the sums. */
    size_t each = (size_t)c->libraries->steps * (4 * (size_t)c->options->E + 16) +
                  64 * SYN_SMAP_SUMS * whole->columns;
    size_t most = BATCH_BYTES / sizeof(double) / each + 1;
    size_t shares = whole->rows.n / 256 + 1;
    size_t enough = (size_t)SHARES_EACH * (size_t)p->threads / shares + 1;
    most = most < enough ? most : enough;
    return most < p->n ? (uint32_t)most : p->n;
}

/* Predicts a group of targets. */
static syn_status predict_group(pairs *p, const syn_smap_group *group)
{
    syn_smap_job whole = {0};
    p->common.group = group;
    p->common.whole = &whole;
    syn_status status = syn_smap_job_make(&p->common, p->common.libraries->n, &whole);
    uint32_t most = batch_size(p, &whole);
    p->job = calloc((size_t)most + 1, sizeof *p->job);
    p->begin = calloc((size_t)most + 1, sizeof *p->begin);
    if (!p->job || !p->begin)
        status = SYN_NO_MEMORY;
    for (p->first = 0; p->first < p->n && status == SYN_OK; p->first += p->batch) {
        p->batch = p->n - p->first < most ? p->n - p->first : most;
        status = run_batch(p);
    }
    SYN_FREE(p->job, p->begin);
    syn_smap_job_free(&whole);
    return status;
}

/* A call for `n` libraries or rests, and groups of so many targets at most. The memory is
   to be given back, also after an error. */
static syn_status pairs_make(const syn_series *libraries, const syn_series *targets,
                             const syn_smap_pairs_options *options,
                             const syn_watch *watch, const syn_smap_pairs *out,
                             uint32_t n, size_t columns, pairs *p)
{
    int bits = options->vector_bits;
    *p = (pairs){.common = {.libraries = libraries, .options = options, .smap = &p->smap,
                            .kind = syn_smap_kind_fastest(bits),
                            .product = syn_smap_product_fastest(bits),
                            .lanes = syn_smap_lanes_fastest(bits)},
                 .targets = targets, .watch = watch, .out = out, .n = n,
                 .threads = options->threads > 1 ? options->threads : 1,
                 .all = (double)n * (double)targets->n};
    p->smap = (syn_smap_options){.thetas = 1, .theta = &options->theta, .k = UINT32_MAX,
                                 .exclusion = options->exclusion,
                                 .ridge = options->ridge};
    columns = syn_smap_padded(columns, SYN_SMAP_COLUMNS);
    SYN_ARRAY(&p->memory, p->worker, (size_t)p->threads);
    for (int i = 0; i < p->threads; i++)
        SYN_TRY(syn_smap_worker_make(libraries->steps, options->E, columns, &p->memory,
                                     &p->worker[i]));
    return SYN_OK;
}

syn_status syn_smap_pairs_rest(const syn_series *libraries, const syn_series *targets,
                               const syn_smap_pairs_options *options,
                               const syn_smap_group *group, const syn_smap_rest *rest,
                               uint32_t n, const syn_watch *watch,
                               const syn_smap_pairs *out)
{
    pairs p;
    syn_status status = pairs_make(libraries, targets, options, watch, out, n, group->n,
                                   &p);
    p.rest = rest;
    p.all = (double)n * group->n;
    SYN_NEXT(status, predict_group(&p, group));
    syn_give_back(&p.memory);
    return status;
}

syn_status syn_smap_pairs_make(const syn_series *libraries, const syn_series *targets,
                               const syn_smap_pairs_options *options,
                               const syn_watch *watch, const syn_smap_pairs *out)
{
    pairs p;
    syn_smap_order order;
    uint32_t most = targets->n < SYN_SMAP_TARGETS ? targets->n : SYN_SMAP_TARGETS;
    for (size_t i = 0; i < (size_t)libraries->n * targets->n; i++)
        out->rho[i] = out->strength[i] = NAN;
    syn_status status = syn_smap_order_make(targets, &order);
    syn_status made = pairs_make(libraries, targets, options, watch, out, libraries->n,
                                 most, &p);
    SYN_NEXT(status, made);
    for (uint32_t first = 0; first < targets->n && status == SYN_OK;) {
        syn_smap_group group;
        status = syn_smap_group_make(targets, &order, first, &group);
        SYN_NEXT(status, predict_group(&p, &group));
        first += group.n;
        syn_smap_group_free(&group);
    }
    syn_give_back(&p.memory);
    syn_smap_order_free(&order);
    return status;
}
