/* Sums up the counts in surrogates. Counts of 16 episodes are read together, as they lie
   side by side in memory; each episode's counts are sorted for the quantiles. A second
   loop finds the largest score of each surrogate and size. */
#include "core/episodes/null/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arrays.h"
#include "core/base/parallel.h"

enum { BLOCK = 16 };  /* episodes whose counts are read together: a cache line */

typedef struct summary_job {
    const syn_null_data *data;
    const syn_null_summary *out;
    double *centre, *scale;  /* [episodes] of the score */
    uint32_t *work;          /* [threads][BLOCK + 1][n] */
} summary_job;

/* ---- episodes ---- */

/* Sorts `n` counts byte by byte, as far as the largest has any; returns where they are
   then. */
static uint32_t *sort_counts(uint32_t *count, uint32_t *spare, size_t n)
{
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = count[i] > most ? count[i] : most;
    for (unsigned shift = 0; shift < 32 && most >> shift > 0; shift += 8) {
        size_t place[257] = {0};
        for (size_t i = 0; i < n; i++)
            place[(count[i] >> shift & 255) + 1]++;
        for (size_t d = 0; d < 256; d++)
            place[d + 1] += place[d];
        for (size_t i = 0; i < n; i++)
            spare[place[count[i] >> shift & 255]++] = count[i];
        uint32_t *sorted = spare;
        spare = count;
        count = sorted;
    }
    return count;
}

/* The place of a quantile among n sorted counts. Rounding errors of `prob` must not move
   it to the next place. */
static size_t rank_of(double prob, size_t n)
{
    double rank = ceil(prob * (double)n - 1e-9 * (double)n);
    return rank < 1 ? 0 : (size_t)rank - 1;
}

static void summarise_one(const summary_job *job, size_t episode, uint32_t *count,
                          uint32_t *spare)
{
    const syn_null_data *d = job->data;
    uint32_t reached = 0;
    double sum = 0, squares = 0, seen = d->observed[episode], n = (double)d->n;
    for (size_t s = 0; s < d->n; s++)
        sum += count[s];
    double mean = sum / n, both = (sum + seen) / (n + 1);
    double squares_both = (seen - both) * (seen - both);
    for (size_t s = 0; s < d->n; s++) {
        squares += (count[s] - mean) * (count[s] - mean);
        squares_both += (count[s] - both) * (count[s] - both);
    }
    double scale = sqrt(squares_both / n);
    job->out->mean[episode] = mean;
    job->out->sd[episode] = d->n > 1 ? sqrt(squares / (n - 1)) : NAN;
    job->centre[episode] = both;
    job->scale[episode] = scale > 1 ? scale : 1;
    job->out->score[episode] = (seen - both) / job->scale[episode];
    for (size_t s = 0; s < d->n; s++)
        reached += count[s] >= d->observed[episode];
    job->out->reached[episode] = reached;
    const uint32_t *sorted = sort_counts(count, spare, d->n);
    for (size_t q = 0; q < d->probs; q++)
        job->out->quantile[q * d->episodes + episode] = sorted[rank_of(d->prob[q], d->n)];
}

static syn_status summarise_block(void *context, size_t item, int worker)
{
    const summary_job *job = context;
    const syn_null_data *d = job->data;
    size_t begin = item * BLOCK;
    size_t some = d->episodes - begin < BLOCK ? d->episodes - begin : BLOCK;
    uint32_t *count = job->work + (size_t)worker * (BLOCK + 1) * d->n;
    for (size_t s = 0; s < d->n; s++)
        for (size_t i = 0; i < some; i++)
            count[i * d->n + s] = d->count[s * d->episodes + begin + i];
    for (size_t i = 0; i < some; i++)
        summarise_one(job, begin + i, count + i * d->n, count + BLOCK * d->n);
    return SYN_OK;
}

/* ---- surrogates ---- */

static syn_status find_maxima(void *context, size_t item, int worker)
{
    const summary_job *job = context;
    const syn_null_data *d = job->data;
    const uint32_t *count = d->count + item * d->episodes;
    double *maximum = job->out->maximum + item * d->sizes;
    (void)worker;
    for (uint32_t z = 0; z < d->sizes; z++)
        maximum[z] = -INFINITY;
    for (size_t i = 0; i < d->episodes; i++) {
        double score = (count[i] - job->centre[i]) / job->scale[i];
        double *most = &maximum[d->size[i] - 1];
        *most = score > *most ? score : *most;
    }
    return SYN_OK;
}

syn_status syn_null_summarise(const syn_null_data *data, int threads,
                              const syn_watch *watch, syn_null_summary *out)
{
    summary_job job = {.data = data, .out = out};
    syn_arrays memory = {0};
    job.centre = syn_take(&memory, data->episodes, sizeof *job.centre);
    job.scale = syn_take(&memory, data->episodes, sizeof *job.scale);
    job.work =
        syn_take(&memory, (size_t)threads * (BLOCK + 1) * data->n, sizeof *job.work);
    syn_status status = syn_taken(&memory);
    SYN_NEXT(status, syn_parallel_for((data->episodes + BLOCK - 1) / BLOCK, threads,
                                      watch, "episodes", summarise_block, &job));
    SYN_NEXT(status,
             syn_parallel_for(data->n, threads, watch, "maxima", find_maxima, &job));
    syn_give_back(&memory);
    return status;
}
