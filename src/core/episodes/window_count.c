/* The passes of the window engine over a list of ends. One makes the lists of episodes
   longer by one event. The other counts candidates: from rows of the next-occurrence
   table if there is one, else by visiting the events of the windows. */
#include "core/episodes/window.h"

#include <string.h>

#include "core/base/parallel.h"

enum { BATCH = 256 };  /* ends between two looks at whether counting can stop early */

/* ---- one pass over a list ---- */

static syn_lag_window window_of(const syn_window_engine *e, uint32_t interval)
{
    const syn_recording *r = e->miner->recording;
    uint32_t **bound = e->windows.beyond + 2 * interval;
    return (syn_lag_window){r->unit, r->row, bound[0], bound[1]};
}

/* Copies the ends of one unit out of the buffer. */
static syn_status keep_ends(const syn_window_engine *e, syn_window_worker *w,
                            uint32_t unit, syn_arena *arena, syn_end_list *list)
{
    const syn_recording *r = e->miner->recording;
    uint32_t begin = r->first[unit];
    uint32_t n = w->cursor[unit] - begin, span = 0;
    syn_end *end = syn_arena_take(arena, (size_t)n * sizeof *end);
    if (!end)
        return arena->refused;
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
static void want_units(const syn_window_engine *e, syn_window_worker *w, size_t level,
                       uint32_t c, uint32_t end)
{
    const syn_episode_level *here = &e->miner->episodes->level[level];
    uint32_t interval = here->interval[c];
    memset(w->step, 0, e->miner->recording->units * sizeof *w->step);
    for (; c < end && here->interval[c] == interval; c++)
        w->step[here->unit[c]] = e->live[level][c];
}

syn_status syn_window_extend(const syn_window_engine *e, syn_window_worker *w,
                             size_t level, uint32_t node, const syn_end_list *list,
                             syn_arena *arena, syn_end_list *lists, uint32_t *next)
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

static void count_blocks(const syn_window_engine *e, syn_window_worker *w,
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
static size_t count_by_rows(const syn_window_engine *e, syn_window_worker *w,
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
        place[j - begin] = (uint16_t)((w->rows.blocks - 1) * SYN_LANES +
                                      lane % SYN_LANES);
        total[place[j - begin]] = 0;
    }
    count_blocks(e, w, list, prefix_count, total);
    for (size_t i = begin; i < j; i++)
        count[i] = (uint32_t)total[place[i - begin]];
    return j;
}

/* Counts all units after one interval by visiting the events of the windows. */
static void visit_windows(const syn_window_engine *e, syn_window_worker *w,
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
static size_t count_by_visits(const syn_window_engine *e, syn_window_worker *w,
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
static syn_status go_to(const syn_window_engine *e, syn_window_worker *w, size_t level,
                        uint32_t node, const syn_end_list *list)
{
    const syn_episode_level *here = &e->miner->episodes->level[level];
    syn_window_stop s = {.level = level, .node = node, .list = list,
                         .mark = syn_arena_here(&w->stack)};
    if (level < e->miner->size - 2) {
        size_t n = here->child[node + 1] - here->child[node];
        s.lists = syn_arena_take(&w->stack, n * sizeof *s.lists);
        if (!s.lists)
            return w->stack.refused;
        s.next = s.extended = here->child[node];
    }
    w->way[w->depth++] = s;
    return SYN_OK;
}

static void go_back(syn_window_worker *w)
{
    syn_arena_return(&w->stack, w->way[--w->depth].mark);
}

/* One pass over the list of the parent where the worker is. */
static syn_status count_some(const syn_window_engine *e, int worker)
{
    syn_miner *m = e->miner;
    syn_window_worker *w = &e->workers[worker];
    syn_window_stop *s = &w->way[w->depth - 1];
    syn_candidates c = syn_miner_candidates(m, s->node);
    uint32_t *count = syn_miner_counts(m, worker, c.n);
    if (!count)
        return syn_budget_refusal(&m->budget);
    uint32_t prefix_count = m->episodes->level[m->size - 2].count[s->node];
    int fits =
        e->table.distance && s->list->span + e->windows.reach + 1 < SYN_ROW_REACH;
    s->next = (fits ? count_by_rows : count_by_visits)(e, w, s->list, prefix_count, &c,
                                                       s->next, count);
    if (s->next < c.n)
        return SYN_OK;
    size_t slot = (size_t)s->node * m->options->n_intervals;
    go_back(w);
    return syn_miner_keep(m, worker, slot, 0, count, c.n);
}

/* One pass, or a step along the way. */
static syn_status go_on(const syn_window_engine *e, int worker)
{
    syn_window_worker *w = &e->workers[worker];
    syn_window_stop *s = &w->way[w->depth - 1];
    if (!s->lists)
        return count_some(e, worker);
    const uint32_t *child = e->miner->episodes->level[s->level].child;
    if (s->extended < child[s->node + 1])
        return syn_window_extend(e, w, s->level, s->node, s->list, &w->stack, s->lists,
                                 &s->extended);
    uint32_t c = (uint32_t)s->next++;
    if (c == child[s->node + 1])
        go_back(w);
    else if (e->live[s->level + 1][c])
        return go_to(e, w, s->level + 1, c, &s->lists[c - child[s->node]]);
    return SYN_OK;
}

syn_status syn_window_count(void *self, size_t item, int worker)
{
    const syn_window_engine *e = self;
    syn_window_worker *w = &e->workers[worker];
    uint32_t node = e->order[item];
    double begun = syn_seconds();
    syn_status status = SYN_OK;
    if (w->depth == 0 && e->live[e->stored][node])
        status = go_to(e, w, e->stored, node, &e->list[node]);
    while (status == SYN_OK && w->depth > 0) {
        if (syn_seconds() - begun > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
        status = go_on(e, worker);
    }
    return status;
}
