/* Writes out the candidates of a level and hands them to a counter, as many at a time as
   fit in memory. This is how a GPU counts for the level-wise search. */
#include <stdio.h>
#include <stdlib.h>

#include "core/episodes/engine.h"

typedef struct batch_engine {
    syn_miner *miner;
    uint32_t *unit, *interval, *count;  /* [size][room], [size - 1][room], [room] */
    size_t room, size;                  /* candidates, and events of each */
} batch_engine;

/* The parents whose candidates are counted together. */
typedef struct run {
    uint32_t begin, end;
    size_t n;
} run;

/* What the counter polls while it counts a part of a level. */
typedef struct level_watch {
    const syn_watch *watch;
    char stage[32];
    double done, total;  /* candidates */
} level_watch;

static int poll_level(void *data, const char *stage, double done, double total)
{
    const level_watch *w = data;
    (void)stage;
    (void)done;
    (void)total;
    return syn_poll(w->watch, w->stage, w->done, w->total) != SYN_OK;
}

static void free_room(batch_engine *e)
{
    syn_budget *budget = &e->miner->budget;
    SYN_GIVE(budget, e->unit, e->interval, e->count);
    e->unit = e->interval = e->count = NULL;
    e->room = 0;
}

/* Room for the candidates of a level, or as many at a time as counter and budget let, at
   least those of one parent. */
static syn_status make_room(batch_engine *e, size_t candidates, size_t of_a_parent)
{
    syn_miner *m = e->miner;
    free_room(e);
    size_t left = m->budget.limit - m->budget.held;
    size_t room = left / 2 / (2 * m->size * sizeof(uint32_t));
    if (room > m->options->counter->most)
        room = m->options->counter->most;
    if (room > candidates)
        room = candidates;
    if (room < of_a_parent)
        return of_a_parent > m->options->counter->most ? SYN_TOO_LARGE : SYN_OVER_BUDGET;
    SYN_TAKE(&m->budget, e->unit, room * m->size + 1);
    SYN_TAKE(&m->budget, e->interval, room * m->size + 1);
    SYN_TAKE(&m->budget, e->count, room + 1);
    e->room = room;
    e->size = m->size;
    return SYN_OK;
}

/* As many parents from `begin` on as fit. */
static run next_run(const batch_engine *e, uint32_t begin)
{
    const syn_miner *m = e->miner;
    size_t parents = m->episodes->level[m->size - 2].n;
    run r = {begin, begin, 0};
    while (r.end < parents) {
        size_t n = syn_miner_candidates(m, r.end).n;
        if (r.n + n > e->room)
            break;
        r.n += n;
        r.end++;
    }
    return r;
}

static syn_status keep_run(const batch_engine *e, run r)
{
    syn_miner *m = e->miner;
    size_t at = 0;
    for (uint32_t p = r.begin; p < r.end; p++) {
        size_t n = syn_miner_candidates(m, p).n;
        SYN_TRY(syn_miner_keep(m, 0, (size_t)p * m->options->n_intervals, 0,
                               e->count + at, n));
        at += n;
    }
    return SYN_OK;
}

static syn_status count_run(const batch_engine *e, run r, const syn_watch *watch)
{
    const syn_counter *counter = e->miner->options->counter;
    syn_candidate_batch batch = {(uint32_t)e->size, r.n, e->unit, e->interval};
    const syn_miner *m = e->miner;
    uint32_t *unit = malloc(2 * m->size * sizeof *unit);
    size_t at = 0;
    if (!unit)
        return SYN_NO_MEMORY;
    for (uint32_t p = r.begin; p < r.end; p++) {
        /* Writes the candidates of one parent, the first of them at number `at` of `n`.
           */
        uint32_t *interval = unit + m->size;
        size_t edges = m->size - 1;
        syn_candidates c = syn_miner_candidates(m, p);
        syn_episode_spell(m->episodes, edges - 1, p, unit, interval);
        for (size_t k = 0; k < edges; k++)
            for (size_t j = 0; j < c.n; j++)
                e->unit[k * r.n + at + j] = unit[k];
        for (size_t k = 0; k + 1 < edges; k++)
            for (size_t j = 0; j < c.n; j++)
                e->interval[k * r.n + at + j] = interval[k];
        for (size_t j = 0; j < c.n; j++) {
            e->unit[edges * r.n + at + j] = c.unit[j];
            e->interval[(edges - 1) * r.n + at + j] = c.interval[j];
        }
        at += syn_miner_candidates(m, p).n;
    }
    free(unit);
    SYN_TRY(counter->count(counter->self, &batch, watch, e->count,
                           &e->miner->findings[0].eliminated));
    return keep_run(e, r);
}

/* ---- the engine: a level is one item ---- */

static syn_status batch_begin_level(void *self, size_t *items)
{
    (void)self;
    *items = 1;
    return SYN_OK;
}

static syn_status batch_count(void *self, size_t item, int worker)
{
    batch_engine *e = self;
    const syn_miner *m = e->miner;
    uint32_t parents = (uint32_t)m->episodes->level[m->size - 2].n;
    size_t candidates = 0, of_a_parent = 0;
    (void)item;
    (void)worker;
    for (uint32_t p = 0; p < parents; p++) {
        size_t n = syn_miner_candidates(m, p).n;
        candidates += n;
        of_a_parent = n > of_a_parent ? n : of_a_parent;
    }
    if (candidates == 0)
        return SYN_OK;
    syn_status status = make_room(e, candidates, of_a_parent);
    level_watch level = {m->watch, "", 0, (double)candidates};
    syn_watch watch = {poll_level, &level};
    snprintf(level.stage, sizeof level.stage, "size %zu", m->size);
    for (run r = {0, 0, 0}; status == SYN_OK && r.end < parents;) {
        r = next_run(e, r.end);
        if (r.n > 0)
            status = count_run(e, r, &watch);
        level.done += (double)r.n;
    }
    return status;
}

static void batch_close(void *self)
{
    batch_engine *e = self;
    free_room(e);
    syn_budget_free(&e->miner->budget, e);
}

static syn_status batch_open(void **self, syn_miner *miner)
{
    batch_engine *e = syn_budget_zeros(&miner->budget, 1, sizeof *e);
    *self = e;
    if (!e)
        return syn_budget_refusal(&miner->budget);
    e->miner = miner;
    return SYN_OK;
}

const syn_engine syn_engine_batch = {batch_open, batch_begin_level, batch_count,
                                     batch_close, 0, 0};
