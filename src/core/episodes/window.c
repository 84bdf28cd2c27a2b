/* The lists of the window engine. The lists of one level, the stored one, are kept in
   memory; when a level is counted, the lists of the levels above it are made from them,
   and replace them while they fit in the budget. */
#include "core/episodes/window.h"

#include <string.h>

#include "core/base/parallel.h"

/* ---- which lists are kept ---- */

/* Counting sort of the stored level by last unit. */
static syn_status sort_stored(syn_window_engine *e)
{
    const syn_episode_level *level = &e->miner->episodes->level[e->stored];
    syn_budget *budget = &e->miner->budget;
    uint32_t units = e->miner->recording->units, *place = e->workers[0].cursor;
    syn_budget_free(budget, e->order);
    SYN_TAKE(budget, e->order, level->n + 1);
    memset(place, 0, units * sizeof *place);
    for (size_t i = 0; i < level->n; i++)
        place[level->unit[i]]++;
    for (uint32_t u = 0, sum = 0; u < units; u++) {
        uint32_t n = place[u];
        place[u] = sum;
        sum += n;
    }
    for (uint32_t i = 0; i < level->n; i++)
        e->order[place[level->unit[i]]++] = i;
    return SYN_OK;
}

static syn_status store_units(syn_window_engine *e)
{
    const syn_recording *r = e->miner->recording;
    const syn_episode_level *units = &e->miner->episodes->level[0];
    syn_arena *lists = &e->workers[0].lists;
    SYN_TAKE_ZEROS(&e->miner->budget, e->list, units->n + 1);
    syn_end *end = syn_arena_take(lists, ((size_t)r->events + 1) * sizeof *end);
    if (!end)
        return lists->refused;
    for (size_t i = 0; i < units->n; i++) {
        uint32_t begin = r->first[units->unit[i]];
        e->list[i].end = end;
        e->list[i].n = r->first[units->unit[i] + 1] - begin;
        for (uint32_t j = 0; j < e->list[i].n; j++, end++) {
            uint32_t event = r->by_unit[begin + j];
            end->row = begin + j;
            end->start = r->group[event];
            if (event - end->start > e->list[i].span)
                e->list[i].span = event - end->start;
        }
    }
    return sort_stored(e);
}

static void free_live(syn_window_engine *e)
{
    for (size_t k = 0; k < e->n_live; k++)
        syn_budget_free(&e->miner->budget, e->live[k]);
    syn_budget_free(&e->miner->budget, e->live);
    e->live = NULL;
    e->n_live = 0;
}

/* An episode is worth extending when a candidate extends it or a live child exists. */
static syn_status mark_live(syn_window_engine *e)
{
    const syn_episodes *episodes = e->miner->episodes;
    size_t parents = e->miner->size - 2;
    size_t n_live = parents + 1;
    syn_budget *budget = &e->miner->budget;
    free_live(e);
    SYN_TAKE_ZEROS(budget, e->live, n_live);
    e->n_live = n_live;
    for (size_t k = e->stored; k < n_live; k++) {
        e->live[k] = syn_budget_zeros(budget, e->miner->episodes->level[k].n + 1, 1);
        if (!e->live[k])
            return syn_budget_refusal(budget);
    }
    for (uint32_t p = 0; p < episodes->level[parents].n; p++)
        e->live[parents][p] = syn_miner_candidates(e->miner, p).n > 0;
    for (size_t level = parents; level-- > e->stored;) {
        const uint32_t *child = episodes->level[level].child;
        for (uint32_t p = 0; p < episodes->level[level].n; p++)
            for (uint32_t c = child[p]; c < child[p + 1]; c++)
                e->live[level][p] |= e->live[level + 1][c];
    }
    return SYN_OK;
}

/* Whether so little of the budget is left that lists must not grow: what is found needs
   memory as well. */
static int is_tight(const syn_window_engine *e)
{
    const syn_budget *budget = &e->miner->budget;
    return __atomic_load_n(&budget->held, __ATOMIC_RELAXED) > budget->limit / 4 * 3;
}

static syn_status grow_lists(void *context, size_t item, int worker)
{
    syn_window_engine *e = context;
    syn_window_worker *w = &e->workers[worker];
    uint32_t node = e->order[item];
    if (!e->live[e->stored][node])
        return SYN_OK;
    const uint32_t *child = e->miner->episodes->level[e->stored].child;
    double begun = syn_seconds();
    if (w->grown == 0)
        w->grown = child[node];
    while (w->grown < child[node + 1]) {
        if (is_tight(e))
            return SYN_OVER_BUDGET;
        if (syn_seconds() - begun > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
        SYN_TRY(syn_window_extend(e, w, e->stored, node, &e->list[node], &w->stack,
                                  e->growing + child[node], &w->grown));
    }
    w->grown = 0;
    return SYN_OK;
}

/* Keeps the lists of the next level in place of those of the stored one, if they fit. */
static syn_status store_next(syn_window_engine *e)
{
    syn_miner *m = e->miner;
    const syn_episode_level *level = &m->episodes->level[e->stored];
    syn_status status = SYN_OVER_BUDGET;
    e->growing = syn_budget_zeros(&m->budget, level[1].n + 1, sizeof *e->growing);
    if (e->growing)
        status = syn_parallel_for(level->n, syn_miner_threads(m, level), m->watch,
                                  "lists", grow_lists, e);
    /* Leaves the lists of the workers with the new ones when these are complete. Where
       memory is short, what lists have held goes back at once. */
    int complete = status == SYN_OK;
    int tight = is_tight(e);
    for (int i = 0; i < e->miner->workers; i++) {
        syn_window_worker *w = &e->workers[i];
        w->grown = 0;
        if (complete) {
            syn_arena old = w->lists;
            w->lists = w->stack;
            w->stack = old;
        }
        (tight ? syn_arena_free : syn_arena_clear)(&w->stack);
    }
    if (complete) {
        syn_end_list *old = e->list;
        e->list = e->growing;
        e->growing = old;
        e->stored++;
    }
    syn_budget_free(&e->miner->budget, e->growing);
    e->growing = NULL;
    e->full = status != SYN_OK;
    if (status == SYN_OVER_BUDGET || status == SYN_NO_MEMORY)
        return SYN_OK;
    return status == SYN_OK ? sort_stored(e) : status;
}

/* Room for the way from the stored level to the parents. */
static syn_status make_ways(syn_window_engine *e)
{
    size_t room = e->miner->size - 1 - e->stored;
    for (int i = 0; i < e->miner->workers; i++) {
        syn_window_worker *w = &e->workers[i];
        if (room <= w->room)
            continue;
        syn_budget_free(&e->miner->budget, w->way);
        w->room = 0;
        SYN_TAKE(&e->miner->budget, w->way, room);
        w->room = room;
    }
    return SYN_OK;
}

static syn_status window_begin_level(void *self, size_t *items)
{
    syn_window_engine *e = self;
    const syn_miner *m = e->miner;
    syn_status status = e->list ? SYN_OK : store_units(e);
    SYN_NEXT(status, mark_live(e));
    while (status == SYN_OK && !m->frugal && !e->full && e->stored < m->size - 2)
        status = store_next(e);
    SYN_NEXT(status, make_ways(e));
    *items = m->episodes->level[e->stored].n;
    return status;
}

/* ---- opening and closing ---- */

static void window_close(void *self)
{
    syn_window_engine *e = self;
    syn_budget *budget = &e->miner->budget;
    for (int i = 0; e->workers && i < e->miner->workers; i++) {
        SYN_GIVE(budget, e->workers[i].end, e->workers[i].cursor, e->workers[i].step,
                 e->workers[i].busy, e->workers[i].total, e->workers[i].way);
        syn_arena_free(&e->workers[i].lists);
        syn_arena_free(&e->workers[i].stack);
    }
    free_live(e);
    SYN_GIVE(budget, e->workers, e->list, e->order, e->lane);
    syn_windows_free(&e->windows);
    syn_next_table_free(&e->table);
    syn_budget_give(budget, e->counted);
    syn_budget_free(budget, e);
}

/* Counts `bytes` that are allocated elsewhere. */
static syn_status count_bytes(syn_window_engine *e, size_t bytes)
{
    if (!syn_budget_take(&e->miner->budget, bytes))
        return SYN_OVER_BUDGET;
    e->counted += bytes;
    return SYN_OK;
}

static syn_status open_windows(syn_window_engine *e)
{
    const syn_miner *m = e->miner;
    const syn_mine_options *o = m->options;
    syn_status status =
        count_bytes(e, ((size_t)m->recording->events + 1) * 8 * o->n_intervals);
    if (status != SYN_OK)
        return status;
    const int64_t *bound = &o->intervals->low;
    return syn_windows_make(&e->windows, m->recording, bound, 2 * o->n_intervals,
                            m->workers, m->watch);
}

enum { LISTS_ROOM = 8 << 20 };  /* least bytes a table leaves each worker for lists */

/* Making a row costs about as much as visiting two events per block of lanes. There is no
   table where its numbers need more than 16 bits or it would take half of the memory. */
static int table_pays(const syn_window_engine *e, size_t units, size_t bytes)
{
    const syn_budget *budget = &e->miner->budget;
    size_t left = budget->limit - budget->held, threads = (size_t)e->miner->workers;
    if (e->miner->frugal || bytes > left || (left - bytes) / threads < LISTS_ROOM)
        return 0;
    double blocks = (double)((units + SYN_LANES - 1) / SYN_LANES);
    return e->windows.reach < SYN_ROW_REACH - 1 && bytes <= budget->limit / 2 &&
           2 * blocks <= e->windows.occupancy + 4;
}

static syn_status open_table(syn_window_engine *e)
{
    syn_miner *m = e->miner;
    const syn_episode_level *units = &m->episodes->level[0];
    SYN_TAKE(&m->budget, e->lane, (size_t)m->recording->units + 1);
    for (uint32_t u = 0; u < m->recording->units; u++)
        e->lane[u] = SYN_NO_LANE;
    for (uint32_t i = 0; i < units->n; i++)
        e->lane[units->unit[i]] = i;
    size_t bytes = syn_next_table_bytes(m->recording->events, m->options->n_intervals,
                                        units->n);
    if (!table_pays(e, units->n, bytes))
        return SYN_OK;
    SYN_TRY(count_bytes(e, bytes));
    e->count_rows = syn_count_rows_fastest(0);
    return syn_next_table_make(&e->table, m->recording, &e->windows, e->lane, units->n,
                               m->workers, m->watch);
}

static syn_status window_open(void **self, syn_miner *miner)
{
    syn_window_engine *e = syn_budget_zeros(&miner->budget, 1, sizeof *e);
    *self = e;
    if (!e)
        return syn_budget_refusal(&miner->budget);
    e->miner = miner;
    const syn_recording *r = e->miner->recording;
    syn_budget *budget = &e->miner->budget;
    size_t units = (size_t)r->units + 1;
    SYN_TAKE_ZEROS(budget, e->workers, (size_t)e->miner->workers);
    for (int i = 0; i < e->miner->workers; i++) {
        syn_window_worker *w = &e->workers[i];
        w->lists.limit = w->stack.limit = SIZE_MAX;
        w->lists.budget = w->stack.budget = budget;
        SYN_TAKE(budget, w->end, (size_t)r->events + 1);
        SYN_TAKE(budget, w->cursor, units);
        SYN_TAKE(budget, w->step, units);
        SYN_TAKE(budget, w->busy, units);
        SYN_TAKE(budget, w->total, units);
    }
    SYN_TRY(open_windows(e));
    return open_table(e);
}

const syn_engine syn_engine_window = {window_open, window_begin_level, syn_window_count,
                                      window_close, 1, 1};
