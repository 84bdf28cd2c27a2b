/* Counts given episodes in surrogates. Each surrogate is made as a line of events, in
   memory that is used again for the next one, and the walk of given.h counts in it. A
   worker counts one surrogate at a time. */
#include "core/episodes/null/counts.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/base/parallel.h"

typedef struct null_worker {
    syn_line_room room;
    size_t surrogate;      /* the one being counted */
    uint32_t step;         /* of making it, until it is there */
    int made;
    uint32_t next;         /* its next node */
    syn_walk walk;
} null_worker;

typedef struct null_job {
    const syn_trie *trie;
    const syn_null_options *options;
    const syn_line_layout *layout;
    size_t episodes;
    uint32_t *count;
    uint8_t *one_by_one;   /* of syn_choose_ways() */
    int together;
    uint8_t *done;         /* [surrogates] whether it is counted */
    syn_budget budget;     /* of what the workers hold */
    int threads;
    null_worker *workers;  /* [threads] */
} null_job;

/* ---- surrogates ---- */

/* One step of making it, or the children of one node. */
static syn_status go_on(const null_job *job, null_worker *w)
{
    if (w->made)
        return syn_walk_step(&w->walk, &w->next);
    w->made = syn_line_fill(job->layout, job->options->first + w->surrogate, w->step++,
                            &w->room);
    return SYN_OK;
}

static syn_status count_surrogate(void *context, size_t item, int worker)
{
    const null_job *job = context;
    const syn_trie *t = job->trie;
    null_worker *w = &job->workers[worker];
    double begun = syn_seconds();
    if (job->done[item])
        return SYN_OK;
    if (w->surrogate != item) {
        w->surrogate = item;
        w->step = w->next = 0;
        w->made = 0;
        syn_arena_clear(&w->walk.lists);
        memset(w->walk.count, 0, job->trie->nodes * sizeof *w->walk.count);
    }
    while (!w->made || w->next < t->nodes) {
        SYN_TRY(go_on(job, w));
        if (syn_seconds() - begun > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
    }
    uint32_t *count = job->count + item * job->episodes;
    for (size_t i = 0; i < job->episodes; i++)
        count[i] = w->walk.count[t->node[i]];
    w->surrogate = SIZE_MAX;
    job->done[item] = 1;
    return SYN_OK;
}

/* ---- opening and closing ---- */

static size_t worker_bytes(const null_job *job)
{
    const syn_line_layout *l = job->layout;
    return syn_line_bytes(l) + syn_walk_bytes(job->trie, l->units, l->events) +
           job->trie->nodes * sizeof(uint32_t);
}

static syn_status open_workers(null_job *job)
{
    job->budget = (syn_budget){.limit = job->options->max_memory};
    if (!syn_budget_take(&job->budget, (size_t)job->threads * worker_bytes(job)))
        return SYN_OVER_BUDGET;
    SYN_NEW_ZEROS(job->workers, (size_t)job->threads);
    for (int i = 0; i < job->threads; i++) {
        const syn_line_layout *l = job->layout;
        null_worker *w = &job->workers[i];
        w->surrogate = SIZE_MAX;
        SYN_TRY(syn_line_make(l, &w->room));
        w->room.bounds = job->together ? l->bounds : 0;
        SYN_TRY(syn_walk_open(&w->walk, job->trie, job->one_by_one, &w->room.line,
                              l->events, &job->budget));
        SYN_NEW(w->walk.count, (size_t)job->trie->nodes + 1);
    }
    return SYN_OK;
}

/* On half as many threads while memory is short: what one surrogate takes decides whether
   there is enough, and not how many are counted at a time. */
static syn_status count_all(null_job *job, const syn_watch *watch)
{
    for (;; job->threads /= 2) {
        syn_status status = open_workers(job);
        SYN_NEXT(status, syn_parallel_for(job->options->n, job->threads, watch,
                                          "surrogates", count_surrogate, job));
        for (int i = 0; job->workers && i < job->threads; i++) {
            free(job->workers[i].walk.count);
            syn_walk_close(&job->workers[i].walk);
            syn_line_free(&job->workers[i].room);
        }
        free(job->workers);
        job->workers = NULL;
        int short_of_memory = status == SYN_OVER_BUDGET || status == SYN_NO_MEMORY;
        if (!short_of_memory || job->threads == 1)
            return status;
    }
}

syn_status syn_null_counts(const syn_line_layout *layout, const syn_trie *trie,
                           size_t episodes, const syn_null_options *options,
                           const syn_watch *watch, uint32_t *count)
{
    null_job job = {.trie = trie, .options = options, .layout = layout,
                    .episodes = episodes, .count = count, .threads = options->threads};
    job.done = calloc(options->n + 1, 1);
    job.one_by_one = syn_choose_ways(trie, layout->units, layout->events / layout->span,
                                     &job.together);
    syn_status status = SYN_NO_MEMORY;
    if (job.done && job.one_by_one)
        status = count_all(&job, watch);
    SYN_FREE(job.one_by_one, job.done);
    return status;
}
