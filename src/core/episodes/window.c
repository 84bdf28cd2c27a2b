/* The lists of the window engine. The lists of one level, the stored one, are kept in
   memory; when a level is counted, the lists of the levels above it are made from them,
   and replace them while they fit in the budget. */
#include <string.h>

#include "core/base/parallel.h"
#include "core/episodes/engine.h"
#include "core/episodes/rows.h"
#include "core/episodes/table.h"

/* An episode on the way from the stored level to the parents. */
typedef struct window_stop {
    size_t level;
    uint32_t node;
    const syn_end_list *list;
    syn_end_list *lists;  /* of its children; NULL for a parent */
    uint32_t extended;    /* children from this one on have no lists yet */
    size_t next;          /* its next child to go to; of a parent, its next candidate */
    syn_arena_mark mark;  /* before the lists */
} window_stop;

typedef struct window_worker {
    syn_end *end;       /* [events] ends found, by unit as in recording->by_unit */
    uint32_t *cursor;   /* [units] where the next end of a unit goes */
    uint32_t *step;     /* [units] 1 for units whose ends are wanted */
    uint32_t *busy;     /* [units] first event free for a unit */
    int32_t *total;     /* counts of all lanes of a parent, or of all units */
    syn_arena lists;    /* of the stored level */
    syn_arena stack;    /* of the levels between the stored one and the parents, or of
                           the next level's lists while they are made */
    window_stop *way;  /* [depth] of [room]; empty between two items */
    size_t depth, room;
    uint32_t grown;     /* while lists are made: the next child of the item; 0 at first */
    syn_row_counter rows;
} window_worker;

typedef struct window_engine {
    syn_miner *miner;
    syn_windows windows;
    syn_next_table table;      /* empty when windows are visited instead */
    syn_count_rows *count_rows;
    uint32_t *lane;            /* [units] place among the frequent units */
    window_worker *workers;  /* [miner->workers] */
    size_t stored;             /* level whose lists are in memory */
    syn_end_list *list;        /* [level[stored].n]; n = 0 for those never extended */
    uint8_t **live;            /* [n_live][n] whether a candidate extends a descendant;
                                  NULL below the stored level */
    size_t n_live;
    size_t counted;            /* bytes of windows and table that the budget counts */
    int full;                  /* whether lists of a further level did not fit */
    syn_end_list *growing;     /* the next level's lists while they are made */
} window_engine;

/* ---- passes over a list of ends ----

   The passes of the window engine over a list of ends. One makes the lists of episodes
   longer by one event. The other counts candidates: from rows of the next-occurrence
   table if there is one, else by visiting the events of the windows. */

enum { BATCH = 256 };  /* ends between two looks at whether counting can stop early */

/* ---- one pass over a list ---- */

static syn_lag_window window_of(const window_engine *e, uint32_t interval)
{
    const syn_recording *r = e->miner->recording;
    uint32_t **bound = e->windows.beyond + 2 * interval;
    return (syn_lag_window){r->unit, r->row, bound[0], bound[1]};
}

/* Copies the ends of one unit out of the buffer. */
static syn_status keep_ends(const window_engine *e, window_worker *w, uint32_t unit,
                            syn_arena *arena, syn_end_list *list)
{
    const syn_recording *r = e->miner->recording;
    uint32_t begin = r->first[unit];
    uint32_t n = w->cursor[unit] - begin, span = 0;
    syn_end *end;
    SYN_ARENA(arena, end, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t events = r->by_unit[w->end[begin + i].row] - w->end[begin + i].start;
        end[i] = w->end[begin + i];
        span = events > span ? events : span;
    }
    list->end = end;
    list->n = n;
    list->span = span;
    return SYN_OK;
}

/* Wants the units of the live ones among the siblings from `c` on with its interval. */
static void want_units(const window_engine *e, window_worker *w, size_t level, uint32_t c,
                       uint32_t end)
{
    const syn_episode_level *here = &e->miner->episodes->level[level];
    uint32_t interval = here->interval[c];
    memset(w->step, 0, e->miner->recording->units * sizeof *w->step);
    for (; c < end && here->interval[c] == interval; c++)
        w->step[here->unit[c]] = e->live[level][c];
}

/* Makes the lists of the live children of `node` of `level` from child `*next` on, as
   far as they have one interval, and moves `*next` on; lists[0] is the first child's. */
static syn_status window_extend(const window_engine *e, window_worker *w, size_t level,
                                uint32_t node, const syn_end_list *list, syn_arena *arena,
                                syn_end_list *lists, uint32_t *next)
{
    const syn_episode_level *here = &e->miner->episodes->level[level];
    const syn_episode_level *above = here + 1;
    const syn_recording *r = e->miner->recording;
    uint32_t begin = here->child[node], end = here->child[node + 1], c = *next;
    uint32_t interval = above->interval[c];
    int found = 0;
    for (; c < end && above->interval[c] == interval; c++) {
        lists[c - begin].n = 0;
        if (!e->live[level + 1][c])
            continue;
        if (!found) {
            syn_lag_window window = window_of(e, interval);
            want_units(e, w, level + 1, c, end);
            memcpy(w->cursor, r->first, r->units * sizeof *w->cursor);
            syn_find_ends(window, *list, w->step, w->cursor, w->end);
            found = 1;
        }
        SYN_TRY(keep_ends(e, w, above->unit[c], arena, &lists[c - begin]));
    }
    *next = c;
    return SYN_OK;
}

/* ---- counting ---- */

/* Whether the best of `n` counts can still become frequent: each further occurrence needs
   a further one of the prefix, of which at most count - hits + 1 are left. */
static int hopeless(const syn_miner *m, uint32_t prefix_count, uint32_t prefix_hits,
                    const int32_t *total, size_t n)
{
    int64_t best = 0;
    for (size_t l = 0; l < n; l++)
        best = total[l] > best ? total[l] : best;
    return best + prefix_count - prefix_hits + 1 < m->options->min_count;
}

/* Lanes without a candidate start far below zero, so they never keep a pass alive. */
enum { NO_CANDIDATE = INT32_MIN };

static void count_blocks(const window_engine *e, window_worker *w,
                         const syn_end_list *list, uint32_t prefix_count, int32_t *total)
{
    syn_row_counter *rows = &w->rows;
    size_t lanes = rows->blocks * SYN_LANES;
    rows->stride = e->table.stride;
    rows->event = e->miner->recording->by_unit;
    rows->start = rows->prefix_busy = rows->prefix_hits = 0;
    memset(rows->busy, 0, lanes * sizeof *rows->busy);
    for (uint32_t i = 0; i < list->n; i += BATCH) {
        uint32_t n = list->n - i < BATCH ? list->n - i : BATCH;
        memset(rows->hits, 0, lanes * sizeof *rows->hits);
        e->count_rows(rows, list->end + i, n);
        for (size_t l = 0; l < lanes; l++)
            total[l] += rows->hits[l];
        if (hopeless(e->miner, prefix_count, rows->prefix_hits, total, lanes))
            return;
    }
}

/* One pass for candidate `begin` and as many after it as fit in the registers. The first
   one after them. */
static size_t count_by_rows(const window_engine *e, window_worker *w,
                            const syn_end_list *list, uint32_t prefix_count,
                            const syn_candidates *c, size_t begin, uint32_t *count)
{
    uint16_t place[SYN_ROW_BLOCKS * SYN_LANES];  /* block of candidate begin + i */
    int32_t total[SYN_ROW_BLOCKS * SYN_LANES];
    size_t j = begin, last = SIZE_MAX;
    w->rows.blocks = 0;
    for (size_t l = 0; l < SYN_ROW_BLOCKS * SYN_LANES; l++)
        total[l] = NO_CANDIDATE;
    for (; j < c->n; j++) {
        size_t lane = c->interval[j] * e->table.lanes + e->lane[c->unit[j]];
        if (lane / SYN_LANES != last) {
            if (w->rows.blocks == SYN_ROW_BLOCKS)
                break;
            last = lane / SYN_LANES;
            w->rows.block[w->rows.blocks++] = e->table.distance + last * SYN_LANES;
        }
        place[j - begin] =
            (uint16_t)((w->rows.blocks - 1) * SYN_LANES + lane % SYN_LANES);
        total[place[j - begin]] = 0;
    }
    count_blocks(e, w, list, prefix_count, total);
    for (size_t i = begin; i < j; i++)
        count[i] = (uint32_t)total[place[i - begin]];
    return j;
}

/* Counts all units after one interval by visiting the events of the windows. */
static void visit_windows(const window_engine *e, window_worker *w,
                          const syn_end_list *list, uint32_t prefix_count,
                          uint32_t interval)
{
    const syn_recording *r = e->miner->recording;
    syn_lag_window window = window_of(e, interval);
    uint32_t prefix_busy = 0, prefix_hits = 0;
    memset(w->busy, 0, r->units * sizeof *w->busy);
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t a, b, start = list->end[i].start;
        syn_owned_range(&window, list, i, &a, &b);
        for (uint32_t j = a; j < b; j++) {
            uint32_t u = r->unit[j];
            uint32_t hit = start >= w->busy[u];
            w->total[u] += (int32_t)hit;
            w->busy[u] = hit ? j + 1 : w->busy[u];
        }
        if (start >= prefix_busy) {
            prefix_hits++;
            prefix_busy = r->by_unit[list->end[i].row] + 1;
        }
        if (i % BATCH == BATCH - 1 &&
            hopeless(e->miner, prefix_count, prefix_hits, w->total, r->units))
            return;
    }
}

/* One pass for candidate `begin` and those after it with the same interval. The first one
   after them. */
static size_t count_by_visits(const window_engine *e, window_worker *w,
                              const syn_end_list *list, uint32_t prefix_count,
                              const syn_candidates *c, size_t begin, uint32_t *count)
{
    size_t j = begin;
    for (uint32_t u = 0; u < e->miner->recording->units; u++)
        w->total[u] = NO_CANDIDATE;
    for (; j < c->n && c->interval[j] == c->interval[begin]; j++)
        w->total[c->unit[j]] = 0;
    visit_windows(e, w, list, prefix_count, c->interval[begin]);
    for (size_t i = begin; i < j; i++)
        count[i] = (uint32_t)w->total[c->unit[i]];
    return j;
}

/* ---- the way through the tree below an item ---- */

/* Goes to an episode, whose list is there; the stop of a parent has no lists. */
static syn_status go_to(const window_engine *e, window_worker *w, size_t level,
                        uint32_t node, const syn_end_list *list)
{
    const syn_episode_level *here = &e->miner->episodes->level[level];
    window_stop s = {
        .level = level, .node = node, .list = list, .mark = syn_arena_here(&w->stack)};
    if (level < e->miner->size - 2) {
        size_t n = here->child[node + 1] - here->child[node];
        SYN_ARENA(&w->stack, s.lists, n);
        s.next = s.extended = here->child[node];
    }
    w->way[w->depth++] = s;
    return SYN_OK;
}

static void go_back(window_worker *w)
{
    syn_arena_return(&w->stack, w->way[--w->depth].mark);
}

/* One pass over the list of the parent where the worker is. */
static syn_status count_some(const window_engine *e, int worker)
{
    syn_miner *m = e->miner;
    window_worker *w = &e->workers[worker];
    window_stop *s = &w->way[w->depth - 1];
    syn_candidates c = syn_miner_candidates(m, s->node);
    uint32_t *count = syn_miner_counts(m, worker, c.n);
    if (!count)
        return syn_budget_refusal(&m->budget);
    uint32_t prefix_count = m->episodes->level[m->size - 2].count[s->node];
    int fits = e->table.distance && s->list->span + e->windows.reach + 1 < SYN_ROW_REACH;
    s->next = (fits ? count_by_rows : count_by_visits)(e, w, s->list, prefix_count, &c,
                                                       s->next, count);
    if (s->next < c.n)
        return SYN_OK;
    size_t slot = (size_t)s->node * m->options->n_intervals;
    go_back(w);
    return syn_miner_keep(m, worker, slot, 0, count, c.n);
}

/* One pass, or a step along the way. */
static syn_status go_on(const window_engine *e, int worker)
{
    window_worker *w = &e->workers[worker];
    window_stop *s = &w->way[w->depth - 1];
    if (!s->lists)
        return count_some(e, worker);
    const uint32_t *child = e->miner->episodes->level[s->level].child;
    if (s->extended < child[s->node + 1])
        return window_extend(e, w, s->level, s->node, s->list, &w->stack, s->lists,
                             &s->extended);
    uint32_t c = (uint32_t)s->next++;
    if (c == child[s->node + 1])
        go_back(w);
    else if (e->live[s->level + 1][c])
        return go_to(e, w, s->level + 1, c, &s->lists[c - child[s->node]]);
    return SYN_OK;
}

/* Counts what extends the parents below an episode of the stored level. */
static syn_status window_count(void *self, size_t item, int worker)
{
    const window_engine *e = self;
    window_worker *w = &e->workers[worker];
    uint32_t node = (uint32_t)item;
    double begun = syn_seconds();
    if (w->depth == 0 && e->live[e->stored][node])
        SYN_TRY(go_to(e, w, e->stored, node, &e->list[node]));
    while (w->depth > 0) {
        if (syn_seconds() - begun > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
        SYN_TRY(go_on(e, worker));
    }
    return SYN_OK;
}

/* ---- which lists are kept ---- */

static syn_status store_units(window_engine *e)
{
    const syn_recording *r = e->miner->recording;
    const syn_episode_level *units = &e->miner->episodes->level[0];
    syn_arena *lists = &e->workers[0].lists;
    SYN_TAKE_ZEROS(&e->miner->budget, e->list, units->n + 1);
    syn_end *end;
    SYN_ARENA(lists, end, (size_t)r->events + 1);
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
    return SYN_OK;
}

static void free_live(window_engine *e)
{
    for (size_t k = 0; k < e->n_live; k++)
        syn_budget_free(&e->miner->budget, e->live[k]);
    syn_budget_free(&e->miner->budget, e->live);
    e->live = NULL;
    e->n_live = 0;
}

/* An episode is worth extending when a candidate extends it or a live child exists. */
static syn_status mark_live(window_engine *e)
{
    const syn_episodes *episodes = e->miner->episodes;
    size_t parents = e->miner->size - 2;
    size_t n_live = parents + 1;
    syn_budget *budget = &e->miner->budget;
    free_live(e);
    SYN_TAKE_ZEROS(budget, e->live, n_live);
    e->n_live = n_live;
    for (size_t k = e->stored; k < n_live; k++)
        SYN_TAKE_ZEROS(budget, e->live[k], e->miner->episodes->level[k].n + 1);
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
static int is_tight(const window_engine *e)
{
    const syn_budget *budget = &e->miner->budget;
    return __atomic_load_n(&budget->held, __ATOMIC_RELAXED) > budget->limit / 4 * 3;
}

static syn_status grow_lists(void *context, size_t item, int worker)
{
    window_engine *e = context;
    window_worker *w = &e->workers[worker];
    uint32_t node = (uint32_t)item;
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
        SYN_TRY(window_extend(e, w, e->stored, node, &e->list[node], &w->stack,
                              e->growing + child[node], &w->grown));
    }
    w->grown = 0;
    return SYN_OK;
}

/* Keeps the lists of the next level in place of those of the stored one, if they fit. */
static syn_status store_next(window_engine *e)
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
        window_worker *w = &e->workers[i];
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
    return status;
}

/* Room for the way from the stored level to the parents. */
static syn_status make_ways(window_engine *e)
{
    size_t room = e->miner->size - 1 - e->stored;
    for (int i = 0; i < e->miner->workers; i++) {
        window_worker *w = &e->workers[i];
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
    window_engine *e = self;
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
    window_engine *e = self;
    syn_budget *budget = &e->miner->budget;
    for (int i = 0; e->workers && i < e->miner->workers; i++) {
        SYN_GIVE(budget, e->workers[i].end, e->workers[i].cursor, e->workers[i].step,
                 e->workers[i].busy, e->workers[i].total, e->workers[i].way);
        syn_arena_free(&e->workers[i].lists);
        syn_arena_free(&e->workers[i].stack);
    }
    free_live(e);
    SYN_GIVE(budget, e->workers, e->list, e->lane);
    syn_windows_free(&e->windows);
    syn_next_table_free(&e->table);
    syn_budget_give(budget, e->counted);
    syn_budget_free(budget, e);
}

/* Counts `bytes` that are allocated elsewhere. */
static syn_status count_bytes(window_engine *e, size_t bytes)
{
    if (!syn_budget_take(&e->miner->budget, bytes))
        return SYN_OVER_BUDGET;
    e->counted += bytes;
    return SYN_OK;
}

enum { LISTS_ROOM = 8 << 20 };  /* least bytes a table leaves each worker for lists */

/* Making a row costs about as much as visiting two events per block of lanes. There is no
   table where its numbers need more than 16 bits or it would take half of the memory. */
static int table_pays(const window_engine *e, size_t units, size_t bytes)
{
    const syn_budget *budget = &e->miner->budget;
    size_t left = budget->limit - budget->held, threads = (size_t)e->miner->workers;
    if (e->miner->frugal || bytes > left || (left - bytes) / threads < LISTS_ROOM)
        return 0;
    double blocks = (double)((units + SYN_LANES - 1) / SYN_LANES);
    return e->windows.reach < SYN_ROW_REACH - 1 && bytes <= budget->limit / 2 &&
           2 * blocks <= e->windows.occupancy + 4;
}

static syn_status open_table(window_engine *e)
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
    window_engine *e = syn_budget_zeros(&miner->budget, 1, sizeof *e);
    *self = e;
    if (!e)
        return syn_budget_refusal(&miner->budget);
    e->miner = miner;
    const syn_recording *r = e->miner->recording;
    syn_budget *budget = &e->miner->budget;
    size_t units = (size_t)r->units + 1;
    SYN_TAKE_ZEROS(budget, e->workers, (size_t)e->miner->workers);
    for (int i = 0; i < e->miner->workers; i++) {
        window_worker *w = &e->workers[i];
        w->lists.budget = w->stack.budget = budget;
        SYN_TAKE(budget, w->end, (size_t)r->events + 1);
        SYN_TAKE(budget, w->cursor, units);
        SYN_TAKE(budget, w->step, units);
        SYN_TAKE(budget, w->busy, units);
        SYN_TAKE(budget, w->total, units);
    }
    const syn_miner *m = e->miner;
    const syn_mine_options *o = m->options;
    SYN_TRY(count_bytes(e, ((size_t)m->recording->events + 1) * 8 * o->n_intervals));
    const int64_t *bound = &o->intervals->low;
    SYN_TRY(syn_windows_make(&e->windows, m->recording, bound, 2 * o->n_intervals,
                             m->workers, m->watch));
    return open_table(e);
}

const syn_engine syn_engine_window = {
    window_open, window_begin_level, window_count, window_close, 1, 1};
