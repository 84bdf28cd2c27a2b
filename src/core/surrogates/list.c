/* Makes several surrogates and sorts the spikes of each by tick and unit. With many small
   surrogates each thread makes whole ones. With fewer surrogates than threads, and with
   large ones, all threads work on one surrogate after the other: they share out its
   units, then its spikes. So nobody waits long for a thread, nor for Ctrl-C. */

#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/base/radix.h"
#include "core/surrogates/surrogates.h"

enum { LARGE = 1 << 21, BLOCK = 1 << 16 };  /* spikes */

/* The memory of one thread. A thread that only makes units has `scratch` alone. */
typedef struct workspace {
    uint32_t *scratch;  /* [plan->scratch] */
    int64_t *tick;      /* [events] */
    uint64_t *key;      /* [events] tick since the first trial's start << bits | unit */
    uint64_t *other;    /* [events] */
} workspace;

typedef struct list {
    const syn_surrogate_plan *plan;
    int unit_bits, tick_bits;
    double *const *tick;
    int *const *unit;
    uint64_t first;     /* number of the first surrogate */
    uint32_t now;       /* the one that all threads work on, counted from there */
    uint64_t *sorted;   /* [events] its keys */
    workspace *space;   /* [spaces] */
    int spaces;
    syn_budget own;     /* of the workspaces */
} list;

static syn_status space_make(list *l, workspace *w, int sorts)
{
    size_t events = (size_t)l->plan->trains.events + 1;
    SYN_TAKE(&l->own, w->scratch, (size_t)l->plan->scratch + 1);
    if (!sorts)
        return SYN_OK;
    SYN_TAKE(&l->own, w->tick, events);
    SYN_TAKE(&l->own, w->key, events);
    SYN_TAKE(&l->own, w->other, events);
    return SYN_OK;
}

/* For `threads` threads, or as many as fit in the budget; the first `sorters` of them
   sort surrogates. */
static syn_status list_make(list *l, int threads, int sorters)
{
    const syn_trains *t = &l->plan->trains;
    l->unit_bits = syn_radix_bits(t->units);
    l->tick_bits = syn_radix_bits((uint64_t)(t->stop[t->trials - 1] - t->start[0]) + 1);
    if (l->unit_bits + l->tick_bits > 64)
        return SYN_TOO_LARGE;
    SYN_NEW_ZEROS(l->space, (size_t)threads);
    syn_status status = SYN_OK;
    while (l->spaces < threads && status == SYN_OK) {
        workspace *w = l->space + l->spaces;
        status = space_make(l, w, l->spaces < sorters);
        if (status == SYN_OK)
            l->spaces++;
        else
            SYN_GIVE(&l->own, w->tick, w->key, w->other, w->scratch);
    }
    return l->spaces > 0 ? SYN_OK : status;
}

static void make_keys(const list *l, uint32_t u, workspace *w)
{
    const syn_trains *t = &l->plan->trains;
    for (uint32_t e = t->first[u]; e < t->first[u + 1]; e++)
        w->key[e] = (uint64_t)(w->tick[e] - t->start[0]) << l->unit_bits | u;
}

/* Spikes `from` to below `to` of surrogate k, from its sorted keys. */
static void deliver(const list *l, uint32_t k, const uint64_t *key, size_t from,
                    size_t to)
{
    uint64_t units = ((uint64_t)1 << l->unit_bits) - 1;
    for (size_t e = from; e < to; e++) {
        l->tick[k][e] =
            (double)((int64_t)(key[e] >> l->unit_bits) + l->plan->trains.start[0]);
        l->unit[k][e] = (int)(key[e] & units) + 1;
    }
}

static syn_status make_surrogate(void *context, size_t item, int worker)
{
    list *l = context;
    workspace *w = &l->space[worker];
    const syn_trains *t = &l->plan->trains;
    syn_surrogate_ticks(l->plan, l->first + item, w->tick, w->scratch);
    for (uint32_t u = 0; u < t->units; u++)
        make_keys(l, u, w);
    const uint64_t *key =
        syn_radix_sort(w->key, w->other, t->events, l->unit_bits, l->tick_bits);
    deliver(l, (uint32_t)item, key, 0, t->events);
    return SYN_OK;
}

/* Of surrogate l->now, all into the first workspace. */
static syn_status make_unit(void *context, size_t item, int worker)
{
    list *l = context;
    uint32_t u = (uint32_t)item;
    syn_surrogate_unit_ticks(l->plan, l->first + l->now, u,
                             l->space[0].tick + l->plan->trains.first[u],
                             l->space[worker].scratch);
    make_keys(l, u, &l->space[0]);
    return SYN_OK;
}

static syn_status deliver_block(void *context, size_t item, int worker)
{
    const list *l = context;
    size_t from = item * BLOCK, left = l->plan->trains.events - from;
    (void)worker;
    deliver(l, l->now, l->sorted, from, from + (left < BLOCK ? left : BLOCK));
    return SYN_OK;
}

/* All threads work on one surrogate. */
static syn_status one_by_one(list *l, uint32_t n, int threads, const syn_watch *watch)
{
    const char *stage = "making surrogates";
    const syn_trains *t = &l->plan->trains;
    workspace *w = &l->space[0];
    for (l->now = 0; l->now < n; l->now++) {
        SYN_TRY(syn_parallel_for(t->units, threads, watch, stage, make_unit, l));
        l->sorted = w->key;
        SYN_TRY(syn_radix_sort_shared(&l->sorted, w->other, t->events,
                                      l->unit_bits + l->tick_bits, threads, watch));
        SYN_TRY(syn_parallel_for(((size_t)t->events + BLOCK - 1) / BLOCK, threads, watch,
                                 stage, deliver_block, l));
    }
    return SYN_OK;
}

syn_status syn_surrogate_list(const syn_surrogate_plan *plan, uint64_t first, uint32_t n,
                              double *const *tick, int *const *unit, int threads,
                              const syn_watch *watch)
{
    list l = {.plan = plan, .tick = tick, .unit = unit, .first = first,
              .own = syn_budget_part(plan->budget)};
    int shared = n < (uint32_t)threads || plan->trains.events >= LARGE;
    syn_status status = list_make(&l, threads, shared ? 1 : threads);
    if (status == SYN_OK && shared)
        status = one_by_one(&l, n, l.spaces, watch);
    else
        SYN_NEXT(status, syn_parallel_for(n, l.spaces, watch, "making surrogates",
                                          make_surrogate, &l));
    syn_budget_end(&l.own);
    free(l.space);
    return status;
}
