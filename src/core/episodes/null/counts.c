/* A surrogate becomes a line of events; then the tree of episodes is gone through once. A
   node's list holds its valid ends, each with the latest possible start. As latest starts
   never decrease, each end owns the later events up to the window of the next end, and
   what lies there is counted for all children after one interval together. */
#include "core/episodes/null/counts.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/parallel.h"

/* A valid end, and the first event on the tick of its latest start. */
typedef struct end_at {
    uint32_t event, start;
} end_at;

typedef struct end_list {
    const end_at *end;
    uint32_t n;
} end_list;

/* The greedy count of one unit: it is free from event `busy` on. */
typedef struct greedy {
    uint32_t busy, count;
} greedy;

typedef struct null_worker {
    syn_line line;
    size_t surrogate;      /* the one being counted */
    uint32_t step;         /* of making it, until it is there */
    int made;
    uint32_t next;         /* its next node */
    uint32_t *count;       /* [nodes] */
    end_list *list;        /* [nodes] of those with children, while they are needed */
    greedy *state;         /* [units] */
    end_at *found;         /* [events + 1] ends by unit; the last place for others */
    uint32_t *cursor;      /* [units] where the next end of a unit goes */
    uint32_t *wanted;      /* [units] 1 for units whose ends are wanted */
    syn_arena lists;
    syn_arena_mark *mark;  /* [depth + 1] what lists of nodes above a level take */
} null_worker;

typedef struct null_job {
    const syn_trie *trie;
    const syn_null_options *options;
    const syn_line_layout *layout;
    size_t episodes;
    uint32_t *count;
    uint8_t *by_edge;      /* [nodes] of first children after an interval: see below */
    uint8_t *done;         /* [surrogates] whether it is counted */
    syn_budget budget;     /* of what the workers hold */
    int threads;
    null_worker *workers;  /* [threads] */
} null_job;

/* The children of a node after one interval: trie->of[begin] to below of[end]. */
typedef struct family {
    uint32_t begin, end;
    const uint32_t *open, *shut;  /* [events] what an event's window holds */
} family;

/* ---- windows ---- */

/* The events that end `i` of a list is the newest valid predecessor of. */
static inline void owned_range(const family *f, const end_list *list, uint32_t i,
                               uint32_t *a, uint32_t *b)
{
    uint32_t event = list->end[i].event;
    *a = f->open[event];
    *b = f->shut[event];
    if (i + 1 < list->n && f->open[list->end[i + 1].event] < *b)
        *b = f->open[list->end[i + 1].event];
}

static inline void take(greedy *g, uint32_t start, uint32_t event)
{
    uint32_t hit = start >= g->busy;
    g->count += hit;
    g->busy = hit ? event + 1 : g->busy;
}

static void visit(const syn_line *line, const family *f, const end_list *list,
                  greedy *state)
{
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t a, b, start = list->end[i].start;
        owned_range(f, list, i, &a, &b);
        for (uint32_t j = a; j < b; j++)
            take(&state[line->unit[j]], start, j);
    }
}

/* The same, and the ends of wanted units go to the worker's buffer. */
static void visit_and_keep(null_worker *w, const family *f, const end_list *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t a, b, start = list->end[i].start;
        owned_range(f, list, i, &a, &b);
        for (uint32_t j = a; j < b; j++) {
            uint32_t u = w->line.unit[j], place = w->cursor[u];
            take(&w->state[u], start, j);
            w->found[place].event = j;
            w->found[place].start = start;
            w->cursor[u] = place + w->wanted[u];
        }
    }
}

/* The first of the increasing at[i .. n - 1] that is not below `least`, near `i` as a
   rule. */
static inline uint32_t seek(const uint32_t *at, uint32_t i, uint32_t n, uint32_t least)
{
    uint32_t step = 1;
    while (i + step <= n && at[i + step - 1] < least) {
        i += step;
        step *= 2;
    }
    uint32_t end = i + step <= n ? i + step - 1 : n;
    while (i < end) {
        uint32_t middle = i + (end - i) / 2;
        if (at[middle] < least)
            i = middle + 1;
        else
            end = middle;
    }
    return i;
}

/* One child alone, through the events of its unit. */
static void follow_edge(null_worker *w, const family *f, const end_list *list,
                        uint32_t unit, uint32_t keep)
{
    const uint32_t *at = w->line.by_unit;
    uint32_t p = w->line.first[unit], end = w->line.last[unit];
    uint32_t place = w->cursor[unit];
    greedy g = {0, 0};
    for (uint32_t i = 0; i < list->n && p < end; i++) {
        uint32_t a, b, start = list->end[i].start;
        owned_range(f, list, i, &a, &b);
        for (p = seek(at, p, end, a); p < end && at[p] < b; p++) {
            take(&g, start, at[p]);
            w->found[place].event = at[p];
            w->found[place].start = start;
            place += keep;
        }
    }
    w->state[unit] = g;
    w->cursor[unit] = place;
}

/* ---- nodes ---- */

static int has_children(const syn_trie *t, uint32_t node)
{
    return t->child[node] < t->child[node + 1];
}

/* Prepares the units of a family; returns whether any ends are wanted. */
static uint32_t open_family(const null_job *job, null_worker *w, const family *f)
{
    const syn_trie *t = job->trie;
    uint32_t wanted = 0;
    for (uint32_t c = f->begin; c < f->end; c++) {
        uint32_t node = t->of[c], unit = t->unit[node];
        uint32_t inner = (uint32_t)has_children(t, node);
        w->state[unit].busy = w->state[unit].count = 0;
        w->wanted[unit] = inner;
        if (inner)
            w->cursor[unit] = w->line.first[unit];
        wanted |= inner;
    }
    return wanted;
}

/* Takes the counts of a family, and the lists of those that have children. */
static syn_status close_family(const null_job *job, null_worker *w, const family *f)
{
    const syn_trie *t = job->trie;
    for (uint32_t c = f->begin; c < f->end; c++) {
        uint32_t node = t->of[c], unit = t->unit[node], begin = w->line.first[unit];
        w->count[node] = w->state[unit].count;
        if (!w->wanted[unit])
            continue;
        end_list *list = &w->list[node];
        list->n = w->cursor[unit] - begin;
        w->wanted[unit] = 0;
        w->cursor[unit] = job->layout->events;
        end_at *end = syn_arena_take(&w->lists, list->n * sizeof *end);
        if (!end)
            return w->lists.refused;
        memcpy(end, w->found + begin, list->n * sizeof *end);
        list->end = end;
    }
    return SYN_OK;
}

static void count_family(const null_job *job, null_worker *w, const family *f,
                         const end_list *list)
{
    const syn_trie *t = job->trie;
    uint32_t wanted = open_family(job, w, f);
    if (job->by_edge[t->of[f->begin]])
        for (uint32_t c = f->begin; c < f->end; c++) {
            uint32_t unit = t->unit[t->of[c]];
            follow_edge(w, f, list, unit, w->wanted[unit]);
        }
    else if (wanted)
        visit_and_keep(w, f, list);
    else
        visit(&w->line, f, list, w->state);
}

static uint32_t end_of_family(const syn_trie *t, uint32_t c, uint32_t end)
{
    uint32_t first = t->of[c];
    while (c < end && t->open[t->of[c]] == t->open[first] &&
           t->shut[t->of[c]] == t->shut[first])
        c++;
    return c;
}

static syn_status count_children(const null_job *job, null_worker *w, uint32_t node)
{
    const syn_trie *t = job->trie;
    syn_status status = SYN_OK;
    for (uint32_t c = t->child[node], end = t->child[node + 1]; c < end;) {
        uint32_t first = t->of[c];
        family f = {c, end_of_family(t, c, end), w->line.beyond[t->open[first]],
                    w->line.beyond[t->shut[first]]};
        count_family(job, w, &f, &w->list[node]);
        status = close_family(job, w, &f);
        if (status != SYN_OK)
            return status;
        c = f.end;
    }
    return SYN_OK;
}

/* A single unit: its events, each its own start. */
static syn_status list_root(const null_job *job, null_worker *w, uint32_t node)
{
    uint32_t unit = job->trie->unit[node], begin = w->line.first[unit];
    uint32_t n = w->count[node] = w->line.last[unit] - begin;
    end_at *end = syn_arena_take(&w->lists, n * sizeof *end);
    if (!end)
        return w->lists.refused;
    for (uint32_t i = 0; i < n; i++) {
        end[i].event = w->line.by_unit[begin + i];
        end[i].start = syn_line_group(job->layout, &w->line, end[i].event);
    }
    w->list[node].end = end;
    w->list[node].n = n;
    return SYN_OK;
}

/* Counts the children of a node. Lists made since its own, below its siblings, are no
   longer needed. */
static syn_status count_node(const null_job *job, null_worker *w, uint32_t node)
{
    const syn_trie *t = job->trie;
    uint32_t level = t->level[node];
    syn_status status = SYN_OK;
    syn_arena_return(&w->lists, w->mark[level]);
    if (level == 0)
        status = list_root(job, w, node);
    if (status == SYN_OK && w->list[node].n > 0)
        status = count_children(job, w, node);
    w->mark[level + 1] = syn_arena_here(&w->lists);
    return status;
}

/* The next node to count the children of: none below a list without ends, whose counts
   stay 0. */
static uint32_t next_node(const null_job *job, const null_worker *w, uint32_t node)
{
    const syn_trie *t = job->trie;
    return has_children(t, node) && w->list[node].n == 0 ? t->after[node] : node + 1;
}

/* ---- surrogates ---- */

static void begin_surrogate(const null_job *job, null_worker *w, size_t surrogate)
{
    w->surrogate = surrogate;
    w->step = w->next = 0;
    w->made = 0;
    memset(w->count, 0, job->trie->nodes * sizeof *w->count);
    syn_arena_clear(&w->lists);
    w->mark[0] = syn_arena_here(&w->lists);
}

/* One step of making it, or the children of one node. */
static syn_status go_on(const null_job *job, null_worker *w)
{
    const syn_trie *t = job->trie;
    uint32_t node = w->next;
    syn_status status = SYN_OK;
    if (!w->made) {
        w->made = syn_line_fill(job->layout, job->options->first + w->surrogate,
                                w->step++, &w->line);
        return SYN_OK;
    }
    if (has_children(t, node) || t->level[node] == 0)
        status = count_node(job, w, node);
    w->next = next_node(job, w, node);
    return status;
}

static syn_status count_surrogate(void *context, size_t item, int worker)
{
    const null_job *job = context;
    const syn_trie *t = job->trie;
    null_worker *w = &job->workers[worker];
    double begun = syn_seconds();
    if (job->done[item])
        return SYN_OK;
    if (w->surrogate != item)
        begin_surrogate(job, w, item);
    while (!w->made || w->next < t->nodes) {
        syn_status status = go_on(job, w);
        if (status != SYN_OK)
            return status;
        if (syn_seconds() - begun > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
    }
    uint32_t *count = job->count + item * job->episodes;
    for (size_t i = 0; i < job->episodes; i++)
        count[i] = w->count[t->node[i]];
    w->surrogate = SIZE_MAX;
    job->done[item] = 1;
    return SYN_OK;
}

/* ---- opening and closing ---- */

enum { FAR = 5 };  /* events that are visited while one edge looks at an end, about */

/* Wide windows hold many events, few of which belong to the children. */
static syn_status choose_ways(null_job *job)
{
    const syn_trie *t = job->trie;
    double rate = job->layout->events / job->layout->span;
    job->by_edge = calloc((size_t)t->nodes + 1, 1);
    if (!job->by_edge)
        return SYN_NO_MEMORY;
    for (uint32_t node = 0; node < t->nodes; node++)
        for (uint32_t c = t->child[node], end; c < t->child[node + 1]; c = end) {
            uint32_t first = t->of[c];
            double width = (double)(t->bound[t->shut[first]] - t->bound[t->open[first]]);
            end = end_of_family(t, c, t->child[node + 1]);
            job->by_edge[first] = FAR * (end - c) < rate * width;
        }
    return SYN_OK;
}

static size_t worker_bytes(const null_job *job)
{
    const syn_line_layout *l = job->layout;
    return syn_line_bytes(l) + l->events * sizeof(end_at) +
           l->units * (sizeof(greedy) + 2 * sizeof(uint32_t)) +
           job->trie->nodes * (sizeof(end_list) + sizeof(uint32_t));
}

static syn_status open_worker(null_job *job, null_worker *w)
{
    size_t units = (size_t)job->layout->units + 1, nodes = (size_t)job->trie->nodes + 1;
    w->surrogate = SIZE_MAX;
    w->lists.limit = SIZE_MAX;
    w->lists.budget = &job->budget;
    w->count = malloc(nodes * sizeof *w->count);
    w->list = calloc(nodes, sizeof *w->list);
    w->state = calloc(units, sizeof *w->state);
    w->found = malloc(((size_t)job->layout->events + 1) * sizeof *w->found);
    w->cursor = malloc(units * sizeof *w->cursor);
    w->wanted = calloc(units, sizeof *w->wanted);
    w->mark = calloc((size_t)job->trie->depth + 2, sizeof *w->mark);
    if (!w->count || !w->list || !w->state || !w->found || !w->cursor || !w->wanted ||
        !w->mark)
        return SYN_NO_MEMORY;
    for (size_t u = 0; u < units; u++)
        w->cursor[u] = job->layout->events;
    return syn_line_make(job->layout, &w->line);
}

static void close_worker(null_worker *w)
{
    syn_line_free(&w->line);
    free(w->count);
    free(w->list);
    free(w->state);
    free(w->found);
    free(w->cursor);
    free(w->wanted);
    free(w->mark);
    syn_arena_free(&w->lists);
}

static void close_workers(null_job *job)
{
    for (int i = 0; job->workers && i < job->threads; i++)
        close_worker(&job->workers[i]);
    free(job->workers);
    job->workers = NULL;
}

static syn_status open_workers(null_job *job)
{
    syn_status status = SYN_OK;
    job->budget = (syn_budget){.limit = job->options->max_memory};
    if (!syn_budget_take(&job->budget, (size_t)job->threads * worker_bytes(job)))
        return SYN_OVER_BUDGET;
    job->workers = calloc((size_t)job->threads, sizeof *job->workers);
    if (!job->workers)
        return SYN_NO_MEMORY;
    for (int i = 0; i < job->threads && status == SYN_OK; i++)
        status = open_worker(job, &job->workers[i]);
    return status;
}

/* On half as many threads while memory is short: what one surrogate takes decides whether
   there is enough, and not how many are counted at a time. */
static syn_status count_all(null_job *job, const syn_watch *watch)
{
    for (;; job->threads /= 2) {
        syn_status status = open_workers(job);
        if (status == SYN_OK)
            status = syn_parallel_for(job->options->n, job->threads, watch, "surrogates",
                                      count_surrogate, job);
        close_workers(job);
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
    syn_status status = job.done ? choose_ways(&job) : SYN_NO_MEMORY;
    if (status == SYN_OK)
        status = count_all(&job, watch);
    free(job.by_edge);
    free(job.done);
    return status;
}
