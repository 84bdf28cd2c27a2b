/* The window engine. An episode is kept as its valid ends, each with the latest possible
   start. Latest starts never decrease from one end to the next, so that only the newest
   end inside a later event's window matters: each end owns a range of later events of its
   own, and one pass over the ends counts all symbols that may follow. */
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/episodes_engine.h"
#include "core/episodes_rows.h"
#include "core/episodes_table.h"
#include "core/parallel.h"

enum { BATCH = 256 };  /* ends between two looks at whether counting can stop early */

typedef struct end_list {
    const syn_end *end;
    uint32_t n;
    uint32_t span;  /* most events from a start to its end */
} end_list;

typedef struct window_worker {
    syn_end *end;       /* [events] ends found, by unit as in recording->by_unit */
    uint32_t *cursor;   /* [units] where the next end of a unit goes */
    uint32_t *step;     /* [units] 1 for units whose ends are wanted; those of others all
                           go to one place, which costs less than asking */
    uint32_t *busy;     /* [units] first event free for a unit */
    int32_t *total;     /* counts of all lanes of a parent, or of all units */
    syn_arena lists;    /* of the stored level */
    syn_arena stack;    /* of the levels between the stored one and the parents */
    syn_row_counter rows;
} window_worker;

typedef struct window_engine {
    syn_miner *miner;
    syn_windows windows;
    syn_next_table table;      /* empty when windows are visited instead */
    syn_count_rows *count_rows;
    uint32_t *lane;            /* [units] place among the frequent units */
    window_worker *workers;
    size_t stored;             /* level whose lists are in memory */
    end_list *list;            /* [level[stored].n]; n = 0 for those never extended */
    uint32_t *order;           /* [level[stored].n] episodes by last unit, whose rows of
                                  the table then stay in the cache */
    uint8_t **live;            /* [levels][n] whether a candidate extends a descendant */
    size_t n_live;
    size_t fixed;              /* bytes that stay allocated throughout */
    end_list *growing;         /* the next level's lists while they are made */
} window_engine;

/* ---- one pass over a list ---- */

/* The events that end `i` of a list is the newest valid predecessor of. */
static inline void owned_range(const uint32_t *open, const uint32_t *shut,
                               const end_list *list, uint32_t i, uint32_t *a, uint32_t *b)
{
    uint32_t row = list->end[i].row;
    *a = open[row];
    *b = shut[row];
    if (i + 1 < list->n && open[list->end[i + 1].row] < *b)
        *b = open[list->end[i + 1].row];
}

/* Sorts the events of wanted units that extend the list by an interval into the worker's
   buffer. */
static void find_ends(const window_engine *e, window_worker *w, const end_list *list,
                      uint32_t interval)
{
    const syn_recording *r = e->miner->recording;
    const uint32_t *open = e->windows.open[interval], *shut = e->windows.shut[interval];
    const uint32_t *unit = r->unit, *row = r->row, *step = w->step;
    uint32_t *cursor = w->cursor;
    syn_end *found = w->end;
    memcpy(cursor, r->first, r->units * sizeof *cursor);
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t a, b, start = list->end[i].start;
        owned_range(open, shut, list, i, &a, &b);
        for (uint32_t j = a; j < b; j++) {
            uint32_t u = unit[j], place = cursor[u];
            cursor[u] = place + step[u];
            found[place].row = row[j];
            found[place].start = start;
        }
    }
}

/* Copies the ends of one unit out of the buffer. SYN_OVER_BUDGET: the arena is full. */
static syn_status keep_ends(const window_engine *e, window_worker *w, uint32_t unit,
                            syn_arena *arena, end_list *list)
{
    const syn_recording *r = e->miner->recording;
    uint32_t begin = r->first[unit];
    uint32_t n = w->cursor[unit] - begin, span = 0;
    syn_end *end = syn_arena_take(arena, (size_t)n * sizeof *end);
    if (!end)
        return SYN_OVER_BUDGET;
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

/* Makes the lists of the live children of `node` of `level`; lists[0] is that of the
   first child. */
static syn_status extend(const window_engine *e, window_worker *w, size_t level,
                         uint32_t node, const end_list *list, syn_arena *arena,
                         end_list *lists)
{
    const syn_episode_level *here = &e->miner->episodes->level[level];
    const syn_episode_level *above = here + 1;
    uint32_t begin = here->child[node], passed = UINT32_MAX;
    for (uint32_t c = begin; c < here->child[node + 1]; c++) {
        lists[c - begin].n = 0;
        if (!e->live[level + 1][c])
            continue;
        if (above->interval[c] != passed) {
            passed = above->interval[c];
            want_units(e, w, level + 1, c, here->child[node + 1]);
            find_ends(e, w, list, passed);
        }
        syn_status status = keep_ends(e, w, above->unit[c], arena, &lists[c - begin]);
        if (status != SYN_OK)
            return status;
    }
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

static void count_blocks(const window_engine *e, window_worker *w, const end_list *list,
                         uint32_t prefix_count, int32_t *total)
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

static void count_by_rows(const window_engine *e, window_worker *w, const end_list *list,
                          uint32_t prefix_count, const syn_candidates *c, uint32_t *count)
{
    size_t j = 0;
    while (j < c->n) {
        size_t begin = j;
        uint16_t place[SYN_ROW_BLOCKS * SYN_LANES];  /* block of candidate begin + i */
        int32_t total[SYN_ROW_BLOCKS * SYN_LANES];
        w->rows.blocks = 0;
        size_t last = SIZE_MAX;
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
            place[j - begin] = (uint16_t)((w->rows.blocks - 1) * SYN_LANES +
                                          lane % SYN_LANES);
            total[place[j - begin]] = 0;
        }
        count_blocks(e, w, list, prefix_count, total);
        for (size_t i = begin; i < j; i++)
            count[i] = (uint32_t)total[place[i - begin]];
    }
}

/* Counts all units behind one interval by visiting the events of the windows. */
static void visit_windows(const window_engine *e, window_worker *w, const end_list *list,
                          uint32_t prefix_count, uint32_t interval)
{
    const syn_recording *r = e->miner->recording;
    const uint32_t *open = e->windows.open[interval], *shut = e->windows.shut[interval];
    uint32_t prefix_busy = 0, prefix_hits = 0;
    memset(w->busy, 0, r->units * sizeof *w->busy);
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t a, b, start = list->end[i].start;
        owned_range(open, shut, list, i, &a, &b);
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

static void count_by_visits(const window_engine *e, window_worker *w,
                            const end_list *list, uint32_t prefix_count,
                            const syn_candidates *c, uint32_t *count)
{
    size_t j = 0;
    while (j < c->n) {
        size_t begin = j;
        for (uint32_t u = 0; u < e->miner->recording->units; u++)
            w->total[u] = NO_CANDIDATE;
        for (; j < c->n && c->interval[j] == c->interval[begin]; j++)
            w->total[c->unit[j]] = 0;
        visit_windows(e, w, list, prefix_count, c->interval[begin]);
        for (size_t i = begin; i < j; i++)
            count[i] = (uint32_t)w->total[c->unit[i]];
    }
}

static syn_status count_parent(window_engine *e, int worker, uint32_t parent,
                               const end_list *list)
{
    syn_miner *m = e->miner;
    syn_candidates c = syn_miner_candidates(m, parent);
    uint32_t *count = syn_miner_counts(m, worker, c.n);
    if (!count)
        return SYN_NO_MEMORY;
    uint32_t prefix_count = m->episodes->level[m->size - 2].count[parent];
    int fits = e->table.distance && list->span + e->windows.reach + 1 < SYN_ROW_REACH;
    (fits ? count_by_rows : count_by_visits)(e, &e->workers[worker], list, prefix_count,
                                             &c, count);
    return syn_miner_keep(m, worker, (size_t)parent * m->options->n_intervals, 0, count,
                          c.n);
}

/* Counts the parents below `node` of `level`, making the lists on the way anew. */
static syn_status count_below(window_engine *e, int worker, size_t level, uint32_t node,
                              const end_list *list)
{
    if (!e->live[level][node])
        return SYN_OK;
    if (level == e->miner->size - 2)
        return count_parent(e, worker, node, list);

    window_worker *w = &e->workers[worker];
    const uint32_t *child = e->miner->episodes->level[level].child;
    uint32_t n = child[node + 1] - child[node];
    syn_arena_mark mark = syn_arena_here(&w->stack);
    end_list *lists = syn_arena_take(&w->stack, n * sizeof *lists);
    syn_status status = lists ? extend(e, w, level, node, list, &w->stack, lists)
                              : SYN_OVER_BUDGET;
    for (uint32_t c = 0; c < n && status == SYN_OK; c++)
        status = count_below(e, worker, level + 1, child[node] + c, &lists[c]);
    syn_arena_return(&w->stack, mark);
    return status;
}

static syn_status window_count(void *self, size_t item, int worker)
{
    window_engine *e = self;
    uint32_t node = e->order[item];
    return count_below(e, worker, e->stored, node, &e->list[node]);
}

/* ---- which lists are kept ---- */

/* Counting sort of the stored level by last unit. */
static syn_status sort_stored(window_engine *e)
{
    const syn_episode_level *level = &e->miner->episodes->level[e->stored];
    uint32_t units = e->miner->recording->units, *place = e->workers[0].cursor;
    free(e->order);
    e->order = malloc((level->n + 1) * sizeof *e->order);
    if (!e->order)
        return SYN_NO_MEMORY;
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

static syn_status store_units(window_engine *e)
{
    const syn_recording *r = e->miner->recording;
    const syn_episode_level *units = &e->miner->episodes->level[0];
    e->list = calloc(units->n + 1, sizeof *e->list);
    syn_end *end = syn_arena_take(&e->workers[0].lists, (r->events + 1) * sizeof *end);
    if (!e->list || !end)
        return SYN_OVER_BUDGET;
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

/* An episode is worth extending when a candidate extends it or a live child exists. */
static syn_status mark_live(window_engine *e)
{
    const syn_episodes *episodes = e->miner->episodes;
    size_t parents = e->miner->size - 2;
    uint8_t **live = realloc(e->live, (parents + 1) * sizeof *live);
    if (!live)
        return SYN_NO_MEMORY;
    e->live = live;
    e->live[parents] = malloc(episodes->level[parents].n + 1);
    if (!e->live[parents])
        return SYN_NO_MEMORY;
    e->n_live = parents + 1;
    for (uint32_t p = 0; p < episodes->level[parents].n; p++)
        e->live[parents][p] = syn_miner_candidates(e->miner, p).n > 0;
    for (size_t level = parents; level-- > e->stored;) {
        const uint32_t *child = episodes->level[level].child;
        memset(e->live[level], 0, episodes->level[level].n);
        for (uint32_t p = 0; p < episodes->level[level].n; p++)
            for (uint32_t c = child[p]; c < child[p + 1]; c++)
                e->live[level][p] |= e->live[level + 1][c];
    }
    return SYN_OK;
}

static syn_status grow_lists(void *context, size_t item, int worker)
{
    window_engine *e = context;
    window_worker *w = &e->workers[worker];
    uint32_t node = e->order[item];
    if (!e->live[e->stored][node])
        return SYN_OK;
    uint32_t first = e->miner->episodes->level[e->stored].child[node];
    return extend(e, w, e->stored, node, &e->list[node], &w->stack, e->growing + first);
}

/* Keeps the lists of the next level in place of those of the stored one, if they fit. */
static syn_status store_next(window_engine *e)
{
    const syn_miner *m = e->miner;
    const syn_episode_level *level = &m->episodes->level[e->stored];
    e->growing = calloc(level[1].n + 1, sizeof *e->growing);
    if (!e->growing)
        return SYN_NO_MEMORY;
    syn_status status = syn_parallel_for(level->n, m->options->threads, m->watch, "lists",
                                         grow_lists, e);
    for (int i = 0; i < m->options->threads; i++) {
        window_worker *w = &e->workers[i];
        if (status == SYN_OK) {
            syn_arena old = w->lists;
            w->lists = w->stack;
            w->stack = old;
        }
        syn_arena_clear(&w->stack);
    }
    if (status == SYN_OK) {
        end_list *old = e->list;
        e->list = e->growing;
        e->growing = old;
        e->stored++;
    }
    free(e->growing);
    e->growing = NULL;
    if (status == SYN_OVER_BUDGET)
        return SYN_OK;
    return status == SYN_OK ? sort_stored(e) : status;
}

/* What the results leave of the budget is for lists: those of the stored level and those
   being made. */
static void limit_lists(window_engine *e)
{
    size_t threads = (size_t)e->miner->options->threads;
    size_t budget = e->miner->options->max_memory, taken = e->fixed + e->miner->results;
    for (size_t i = 0; i < threads; i++)
        e->workers[i].lists.limit = e->workers[i].stack.limit =
            budget > taken ? (budget - taken) / 2 / threads : 0;
}

static syn_status window_begin_level(void *self, size_t *items)
{
    window_engine *e = self;
    const syn_miner *m = e->miner;
    limit_lists(e);
    syn_status status = m->size == 2 ? store_units(e) : SYN_OK;
    if (status == SYN_OK)
        status = mark_live(e);
    if (status == SYN_OK && e->stored + 1 == m->size - 2)
        status = store_next(e);
    *items = m->episodes->level[e->stored].n;
    return status;
}

/* ---- opening and closing ---- */

static size_t window_memory(const void *self)
{
    const window_engine *e = self;
    size_t bytes = e->fixed;
    for (int i = 0; i < e->miner->options->threads; i++)
        bytes += e->workers[i].lists.held + e->workers[i].stack.held;
    return bytes;
}

static void window_close(void *self)
{
    window_engine *e = self;
    for (int i = 0; e->workers && i < e->miner->options->threads; i++) {
        window_worker *w = &e->workers[i];
        free(w->end);
        free(w->cursor);
        free(w->step);
        free(w->busy);
        free(w->total);
        syn_arena_free(&w->lists);
        syn_arena_free(&w->stack);
    }
    for (size_t k = 0; k < e->n_live; k++)
        free(e->live[k]);
    free(e->live);
    free(e->workers);
    free(e->list);
    free(e->order);
    free(e->lane);
    syn_windows_free(&e->windows);
    syn_next_table_free(&e->table);
    free(e);
}

static syn_status open_workers(window_engine *e)
{
    const syn_recording *r = e->miner->recording;
    int threads = e->miner->options->threads;
    e->workers = calloc((size_t)threads, sizeof *e->workers);
    if (!e->workers)
        return SYN_NO_MEMORY;
    for (int i = 0; i < threads; i++) {
        window_worker *w = &e->workers[i];
        w->end = malloc(((size_t)r->events + 1) * sizeof *w->end);
        w->cursor = malloc(((size_t)r->units + 1) * sizeof *w->cursor);
        w->step = malloc(((size_t)r->units + 1) * sizeof *w->step);
        w->busy = malloc(((size_t)r->units + 1) * sizeof *w->busy);
        w->total = malloc(((size_t)r->units + 1) * sizeof *w->total);
        if (!w->end || !w->cursor || !w->step || !w->busy || !w->total)
            return SYN_NO_MEMORY;
    }
    return SYN_OK;
}

enum { LISTS_ROOM = 8 << 20 };  /* least bytes a table leaves each worker for lists */

/* A row costs about as much as visiting two events per block of lanes; beyond 16 bits or
   half the memory there is no table. */
static int table_pays(const window_engine *e, size_t units, size_t bytes)
{
    size_t budget = e->miner->options->max_memory, taken = e->fixed + bytes;
    size_t threads = (size_t)e->miner->options->threads;
    if (taken > budget || (budget - taken) / threads < LISTS_ROOM)
        return 0;
    double blocks = (double)((units + SYN_LANES - 1) / SYN_LANES);
    return e->windows.reach < SYN_ROW_REACH - 1 && bytes <= budget / 2 &&
           2 * blocks <= e->windows.occupancy + 4;
}

static syn_status open_table(window_engine *e)
{
    const syn_miner *m = e->miner;
    const syn_episode_level *units = &m->episodes->level[0];
    e->lane = malloc(((size_t)m->recording->units + 1) * sizeof *e->lane);
    if (!e->lane)
        return SYN_NO_MEMORY;
    for (uint32_t u = 0; u < m->recording->units; u++)
        e->lane[u] = SYN_NO_LANE;
    for (uint32_t i = 0; i < units->n; i++)
        e->lane[units->unit[i]] = i;
    size_t bytes = syn_next_table_bytes(m->recording->events, m->options->n_intervals,
                                        units->n);
    if (!table_pays(e, units->n, bytes))
        return SYN_OK;
    e->fixed += bytes;
    e->count_rows = syn_count_rows_fastest();
    return syn_next_table_make(&e->table, m->recording, &e->windows, e->lane, units->n,
                               m->options->threads, m->watch);
}

static syn_status window_open(void **self, syn_miner *miner)
{
    const syn_recording *r = miner->recording;
    const syn_mine_options *o = miner->options;
    window_engine *e = calloc(1, sizeof *e);
    *self = e;
    if (!e)
        return SYN_NO_MEMORY;
    e->miner = miner;
    if (o->max_size < 2)
        return SYN_OK;
    e->fixed = (size_t)r->events * (8 * (size_t)o->n_intervals + 8 * (size_t)o->threads);
    if (e->fixed > o->max_memory)
        return SYN_OVER_BUDGET;
    syn_status status = open_workers(e);
    if (status == SYN_OK)
        status = syn_windows_make(&e->windows, r, o->intervals, o->n_intervals,
                                  o->threads, miner->watch);
    if (status == SYN_OK)
        status = open_table(e);
    return status;
}

const syn_engine syn_engine_window = {window_open, window_begin_level, window_count,
                                      window_memory, window_close};
