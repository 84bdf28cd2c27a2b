/* The steps of coupled maps. What series send to their effects is kept in a ring of as
   many steps as the longest delay, and what is kept of them in a block of a few steps, so
   that each series of the result is written a line of the cache at a time. */
#include "core/networks/coupled.h"

#include <string.h>

#include "core/base/arrays.h"
/* Where a map is chaotic, each bit of a step decides the result. */
#include "core/base/unfused.h"

enum {
    BLOCK = 8,          /* steps that are written together */
    OFTEN = 1 << 19     /* updates of series and links between two polls */
};

typedef struct run {
    const syn_coupled *maps;
    uint32_t depth;     /* steps of the ring */
    double *state;      /* [series] now */
    double *own;        /* [series] what a series makes of its state */
    double *stays;      /* [series] the share of it that stays */
    double *sent;       /* [depth][series] what effects see; that of step t is at
                           t % depth */
    double *block;      /* [BLOCK][series] */
    syn_arrays memory;
} run;

/* What the effects of a series see of its state at step t. */
static void send(run *r, size_t t)
{
    const syn_coupled *maps = r->maps;
    uint32_t n = maps->links.nodes;
    double *sent = r->sent + t % r->depth * n;
    for (uint32_t j = 0; j < n; j++)
        sent[j] = maps->growth[j] * r->state[j] * (1 - r->state[j]);
    memcpy(r->own, sent, n * sizeof(double));
}

static syn_status begin(run *r)
{
    const syn_links *links = &r->maps->links;
    uint32_t n = links->nodes;
    r->depth = syn_longest_delay(links);
    SYN_ARRAY(&r->memory, r->state, n);
    SYN_ARRAY(&r->memory, r->own, n);
    SYN_ARRAY(&r->memory, r->stays, n);
    SYN_ARRAY(&r->memory, r->sent, (size_t)r->depth * n);
    SYN_ARRAY(&r->memory, r->block, (size_t)BLOCK * n);
    for (uint32_t j = 0; j < n; j++) {
        long double into = 0;
        for (int k = links->first[j]; k < links->first[j + 1]; k++)
            into += links->weight[k];
        r->stays[j] = 1 - (double)into;
    }
    memcpy(r->state, r->maps->start, n * sizeof(double));
    for (size_t t = 0; t < r->depth; t++)
        send(r, t);
    return SYN_OK;
}

/* What series j gets from its causes in step t. */
static double driven(const run *r, uint32_t j, size_t t)
{
    const syn_links *links = &r->maps->links;
    long double sum = 0;
    uint32_t now = (uint32_t)(t % r->depth);
    for (int k = links->first[j]; k < links->first[j + 1]; k++) {
        uint32_t delay = (uint32_t)links->delay[k];
        size_t seen = now >= delay ? now - delay : now + r->depth - delay;
        size_t from = (size_t)links->other[k];
        sum += links->weight[k] * r->sent[seen * links->nodes + from];
    }
    return (double)sum;
}

/* Keeps step t, and writes the block when it is full. `row` counts the steps that are
   kept, from 0. */
static void keep(run *r, size_t row, double *out)
{
    const syn_coupled *maps = r->maps;
    uint32_t n = maps->links.nodes;
    memcpy(r->block + row % BLOCK * n, r->state, n * sizeof(double));
    if (row % BLOCK != BLOCK - 1 && row != maps->steps - 1)
        return;
    size_t first = row / BLOCK * BLOCK, rows = row - first + 1;
    for (uint32_t j = 0; j < n; j++)
        for (size_t k = 0; k < rows; k++)
            out[(size_t)j * maps->steps + first + k] = r->block[k * n + j];
}

syn_status syn_coupled_run(const syn_coupled *maps, double *out, const syn_watch *watch)
{
    run r = {.maps = maps};
    syn_status status = begin(&r);
    size_t work = maps->links.nodes + (size_t)maps->links.first[maps->links.nodes];
    size_t all = maps->transient + maps->steps, since = 0;
    for (size_t t = 1; t <= all && status == SYN_OK; t++) {
        for (uint32_t j = 0; j < maps->links.nodes; j++)
            r.state[j] = r.stays[j] * r.own[j] + driven(&r, j, t);
        send(&r, t);
        if (t > maps->transient)
            keep(&r, t - maps->transient - 1, out);
        since += work;
        if (since >= OFTEN) {
            since = 0;
            status = syn_poll(watch, "steps", (double)t, (double)all);
        }
    }
    syn_give_back(&r.memory);
    return status;
}
