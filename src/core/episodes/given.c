/* Counts given episodes. They are put into a tree, so that those that begin alike share
   the work for what they have in common. A walk through the tree makes for each node the
   list of its valid ends (see ends.h) from the list of its parent, and counts: an end is
   counted when its latest start comes after the end counted last. Only the lists on the
   way from a root to the current node are kept. */
#include "core/episodes/given.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/base/seek.h"
#include "core/episodes/table.h"

/* ---- the tree ----

   Makes a tree of episodes. The episodes are sorted by their events from the first one
   on, so that those that begin alike follow each other. Going through them, each begins
   new nodes where it parts with the one before: nodes come in the order in which given.h
   numbers them. */

#define NO_NODE UINT32_MAX

static int in_order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* ---- bounds ---- */

static int by_size(const void *a, const void *b)
{
    return in_order(*(const int64_t *)a, *(const int64_t *)b);
}

/* The different bounds of all lags, sorted. */
static syn_status find_bounds(const syn_episode *episode, size_t n, syn_trie *out)
{
    size_t all = 0, steps = 0;
    int64_t *bound;
    for (size_t i = 0; i < n; i++)
        steps += episode[i].size - 1;
    SYN_ARRAY(&out->memory, bound, 2 * steps);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k + 1 < episode[i].size; k++) {
            bound[all++] = episode[i].lag[k].low;
            bound[all++] = episode[i].lag[k].high;
        }
    qsort(bound, all, sizeof *bound, by_size);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || bound[i] != bound[i - 1])
            bound[out->bounds++] = bound[i];
    out->bound = bound;
    return SYN_OK;
}

static uint32_t place_of(const syn_trie *trie, int64_t bound)
{
    const int64_t *found = bsearch(&bound, trie->bound, trie->bounds, sizeof bound,
                                   by_size);
    return (uint32_t)(found - trie->bound);
}

/* ---- the order of episodes ---- */

/* Compares event `k` of two episodes, and the lag before it. */
static int compare_events(const syn_episode *a, const syn_episode *b, uint32_t k)
{
    int order = k > 0 ? in_order(a->lag[k - 1].low, b->lag[k - 1].low) : 0;
    if (order == 0 && k > 0)
        order = in_order(a->lag[k - 1].high, b->lag[k - 1].high);
    return order ? order : in_order(a->unit[k], b->unit[k]);
}

/* How many events two episodes have in common from the first one on. */
static uint32_t shared_events(const syn_episode *a, const syn_episode *b)
{
    uint32_t k = 0, most = a->size < b->size ? a->size : b->size;
    while (k < most && compare_events(a, b, k) == 0)
        k++;
    return k;
}

static int by_events(const void *a, const void *b)
{
    const syn_episode *x = *(const syn_episode *const *)a;
    const syn_episode *y = *(const syn_episode *const *)b;
    uint32_t k = shared_events(x, y);
    if (k < x->size && k < y->size)
        return compare_events(x, y, k);
    return in_order(x->size, y->size);
}

/* ---- nodes ---- */

static syn_status allocate(syn_trie *t, size_t n)
{
    uint32_t **array[] = {&t->unit, &t->level, &t->open, &t->shut,
                          &t->after, &t->child, &t->of, &t->root};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++)
        SYN_ARRAY(&t->memory, *array[i], (size_t)t->nodes + 2);
    SYN_ARRAY(&t->memory, t->node, n);
    return SYN_OK;
}

/* Lists the children of each node by a counting sort, and finds where its descendants
   end. */
static void link_nodes(const uint32_t *parent, syn_trie *t)
{
    for (uint32_t node = 0; node < t->nodes; node++)
        if (parent[node] != NO_NODE)
            t->child[parent[node] + 2]++;
    for (uint32_t node = 0; node < t->nodes; node++)
        t->child[node + 2] += t->child[node + 1];
    for (uint32_t node = 0; node < t->nodes; node++)
        if (parent[node] != NO_NODE)
            t->of[t->child[parent[node] + 1]++] = node;
    for (uint32_t node = t->nodes; node-- > 0;) {
        uint32_t end = t->child[node + 1];
        t->after[node] = end > t->child[node] ? t->after[t->of[end - 1]] : node + 1;
    }
}

syn_status syn_trie_make(const syn_episode *episode, size_t n, syn_trie *out)
{
    memset(out, 0, sizeof *out);
    const syn_episode **sorted = malloc((n + 1) * sizeof *sorted);
    uint32_t *parent = NULL, *way = NULL;
    syn_status status = sorted ? find_bounds(episode, n, out) : SYN_NO_MEMORY;
    if (status == SYN_OK) {
        for (size_t i = 0; i < n; i++)
            sorted[i] = &episode[i];
        qsort(sorted, n, sizeof *sorted, by_events);
        /* Counts the nodes of sorted episodes. */
        size_t nodes = 0;
        for (size_t i = 0; i < n; i++) {
            nodes += sorted[i]->size -
                     (i > 0 ? shared_events(sorted[i - 1], sorted[i]) : 0);
            out->depth = sorted[i]->size > out->depth ? sorted[i]->size : out->depth;
        }
        out->nodes = (uint32_t)nodes;
        status = nodes < INT32_MAX ? SYN_OK : SYN_TOO_LARGE;
    }
    SYN_NEXT(status, allocate(out, n));
    if (status == SYN_OK) {
        parent = malloc(((size_t)out->nodes + 1) * sizeof *parent);
        way = malloc(((size_t)out->depth + 1) * sizeof *way);
        status = parent && way ? SYN_OK : SYN_NO_MEMORY;
    }
    if (status == SYN_OK) {
        /* Each episode begins new nodes where it parts with the one before. way[k] is the
           node of the first k + 1 events; parent[] gets the parent of each node. */
        uint32_t node = 0;
        for (size_t i = 0; i < n; i++) {
            const syn_episode *e = sorted[i];
            for (uint32_t k = i > 0 ? shared_events(sorted[i - 1], e) : 0; k < e->size;
                 k++) {
                out->unit[node] = e->unit[k];
                out->level[node] = k;
                out->open[node] = k > 0 ? place_of(out, e->lag[k - 1].low) : 0;
                out->shut[node] = k > 0 ? place_of(out, e->lag[k - 1].high) : 0;
                parent[node] = k > 0 ? way[k - 1] : NO_NODE;
                if (k == 0)
                    out->root[out->roots++] = node;
                way[k] = node++;
            }
            out->node[e - episode] = way[e->size - 1];
        }
        link_nodes(parent, out);
    }
    SYN_FREE(sorted, parent, way);
    return status;
}

void syn_trie_free(syn_trie *t)
{
    syn_give_back(&t->memory);
    memset(t, 0, sizeof *t);
}

/* ---- which way to find the children of a node ---- */

/* The children after the interval of child number `c`: all before the number returned. */
static uint32_t end_of_family(const syn_trie *t, uint32_t c, uint32_t end)
{
    uint32_t first = t->of[c];
    while (c < end && t->open[t->of[c]] == t->open[first] &&
           t->shut[t->of[c]] == t->shut[first])
        c++;
    return c;
}

enum { FAR = 5 };  /* events that are visited while one child looks at an end, about */

/* Wide windows hold many events, few of which belong to the children. And when all
   children together are few, then the windows of all events cost more than they save. */
uint8_t *syn_choose_ways(const syn_trie *t, uint32_t units, double rate, int *together)
{
    int few = 2.0 * (t->nodes - t->roots) < (double)units * t->bounds;
    uint8_t *one_by_one = calloc((size_t)t->nodes + 1, 1);
    *together = 0;
    for (uint32_t node = 0; one_by_one && node < t->nodes; node++)
        for (uint32_t c = t->child[node], end; c < t->child[node + 1]; c = end) {
            uint32_t first = t->of[c];
            double width = (double)(t->bound[t->shut[first]] - t->bound[t->open[first]]);
            end = end_of_family(t, c, t->child[node + 1]);
            one_by_one[first] = few || FAR * (end - c) < rate * width;
            *together |= !one_by_one[first];
        }
    return one_by_one;
}

/* ---- the children of a node after one interval ---- */

/* The ends of one child, found among the events of its unit. */
static void find_child(syn_walk *w, uint32_t node, const syn_end_list *list)
{
    const syn_trie *t = w->trie;
    const int64_t *tick = w->line->tick;
    const uint32_t *at = w->line->by_unit;
    int64_t low = t->bound[t->open[node]], high = t->bound[t->shut[node]];
    uint32_t unit = t->unit[node], p = w->line->first[unit], end = w->line->last[unit];
    uint32_t place = w->cursor[unit];
    for (uint32_t i = 0; i < list->n && p < end; i++) {
        int64_t from = tick[at[list->end[i].row]], to = from + high;
        int64_t next = i + 1 < list->n ? tick[at[list->end[i + 1].row]] + low : to;
        to = next < to ? next : to;
        SYN_SEEK_NEAR(uint32_t, row, p, end, tick[at[row]] <= from + low);
        for (; p < end && tick[at[p]] <= to; p++) {
            w->found[place].row = p;
            w->found[place++].start = list->end[i].start;
        }
    }
    w->cursor[unit] = place;
}

static uint32_t count_ends(const syn_line *line, const syn_end *end, uint32_t n)
{
    uint32_t count = 0, busy = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t hit = end[i].start >= busy;
        count += hit;
        busy = hit ? line->by_unit[end[i].row] + 1 : busy;
    }
    return count;
}

static int has_children(const syn_trie *t, uint32_t node)
{
    return t->child[node] < t->child[node + 1];
}

/* Keeps the list of a node, if it has children. */
static syn_status keep_list(syn_walk *w, uint32_t node, const syn_end *found, uint32_t n)
{
    w->list[node].n = n;
    if (n == 0 || !has_children(w->trie, node))
        return SYN_OK;
    syn_end *end;
    SYN_ARENA(&w->lists, end, n);
    memcpy(end, found, n * sizeof *end);
    w->list[node].end = end;
    return SYN_OK;
}

/* Counts the children t->of[begin] to below t->of[end], all after one interval. */
static syn_status count_family(syn_walk *w, const syn_end_list *list, uint32_t begin,
                               uint32_t end)
{
    const syn_trie *t = w->trie;
    const syn_line *line = w->line;
    uint32_t first = t->of[begin];
    for (uint32_t c = begin; c < end; c++) {
        w->step[t->unit[t->of[c]]] = 1;
        w->cursor[t->unit[t->of[c]]] = line->first[t->unit[t->of[c]]];
    }
    if (w->one_by_one[first]) {
        for (uint32_t c = begin; c < end; c++)
            find_child(w, t->of[c], list);
    } else {
        syn_lag_window window = {line->unit, line->row, line->beyond[t->open[first]],
                                 line->beyond[t->shut[first]]};
        syn_find_ends(window, *list, w->step, w->cursor, w->found);
    }
    syn_status status = SYN_OK;
    for (uint32_t c = begin; c < end; c++) {
        uint32_t node = t->of[c], unit = t->unit[node], from = line->first[unit];
        uint32_t n = w->cursor[unit] - from;
        w->step[unit] = 0;
        w->cursor[unit] = w->rows;
        w->count[node] = count_ends(line, w->found + from, n);
        SYN_NEXT(status, keep_list(w, node, w->found + from, n));
    }
    return status;
}

/* ---- the walk ---- */

/* Lists made since that of the node, below its siblings, are no longer needed. No
   episode below a list without ends occurs. */
syn_status syn_walk_step(syn_walk *w, uint32_t *at)
{
    const syn_trie *t = w->trie;
    uint32_t node = *at, level = t->level[node];
    syn_status status = SYN_OK;
    *at = node + 1;
    if (level > 0 && !has_children(t, node))
        return SYN_OK;
    syn_arena_return(&w->lists, w->mark[level]);
    if (level == 0) {
        /* A single unit: each of its events is an end, whose start is on the same tick.
           */
        const syn_line *line = w->line;
        uint32_t unit = w->trie->unit[node], begin = line->first[unit];
        uint32_t n = w->count[node] = line->last[unit] - begin;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t event = line->by_unit[begin + i], start = event;
            while (start > 0 && line->tick[start - 1] == line->tick[event])
                start--;
            w->found[i].row = begin + i;
            w->found[i].start = start;
        }
        status = keep_list(w, node, w->found, n);
    }
    const syn_end_list *list = &w->list[node];
    if (list->n == 0)
        *at = t->after[node];
    for (uint32_t c = t->child[node], end = t->child[node + 1];
         status == SYN_OK && list->n > 0 && c < end;) {
        uint32_t next = end_of_family(t, c, end);
        status = count_family(w, list, c, next);
        c = next;
    }
    w->mark[level + 1] = syn_arena_here(&w->lists);
    return status;
}

size_t syn_walk_bytes(const syn_trie *trie, uint32_t units, uint32_t rows)
{
    return rows * sizeof(syn_end) + units * 2 * sizeof(uint32_t) +
           trie->nodes * sizeof(syn_end_list);
}

syn_status syn_walk_open(syn_walk *w, const syn_trie *trie, const uint8_t *one_by_one,
                         const syn_line *line, uint32_t rows, syn_budget *budget)
{
    size_t units = (size_t)line->units + 1;
    *w = (syn_walk){.trie = trie, .one_by_one = one_by_one, .line = line, .rows = rows,
                    .lists = {.budget = budget}};
    SYN_NEW_ZEROS(w->list, (size_t)trie->nodes + 1);
    SYN_NEW(w->found, (size_t)rows + 1);
    SYN_NEW(w->cursor, units);
    SYN_NEW_ZEROS(w->step, units);
    SYN_NEW_ZEROS(w->mark, (size_t)trie->depth + 2);
    for (size_t u = 0; u < units; u++)
        w->cursor[u] = rows;
    return SYN_OK;
}

void syn_walk_close(syn_walk *w)
{
    SYN_FREE(w->list, w->found, w->cursor, w->step, w->mark);
    syn_arena_free(&w->lists);
}

/* ---- in a recording ---- */

typedef struct given_job {
    syn_trie trie;
    syn_line line;
    syn_windows windows;
    uint8_t *one_by_one;
    uint32_t *count;    /* [nodes] */
    int workers;
    syn_budget budget;  /* of the lists: without a limit */
    syn_walk *walk;     /* [workers] */
    uint32_t *node;     /* [roots] where the walk below a root is */
} given_job;

/* An item is a root. */
static syn_status count_below(void *context, size_t item, int worker)
{
    given_job *job = context;
    syn_walk *w = &job->walk[worker];
    uint32_t root = job->trie.root[item];
    double begun = syn_seconds();
    while (job->node[item] < job->trie.after[root]) {
        SYN_TRY(syn_walk_step(w, &job->node[item]));
        if (syn_seconds() - begun > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
    }
    return SYN_OK;
}

enum { MOST = 1 << 30 };  /* bytes of windows, and of the walks of all workers */

/* Borrows the events of the recording, and finds their windows where they are used. */
static syn_status make_line(given_job *job, const syn_recording *r, int threads,
                            const syn_watch *watch)
{
    const syn_trie *t = &job->trie;
    double span = r->events ? (double)(r->tick[r->events - 1] - r->tick[0]) + 1 : 1;
    int together;
    job->line = (syn_line){r->events, r->units, r->tick, r->unit, r->row, r->by_unit,
                           r->first, r->first + 1, NULL};
    job->one_by_one = syn_choose_ways(t, r->units, r->events / span, &together);
    if (!job->one_by_one)
        return SYN_NO_MEMORY;
    if ((double)t->bounds * r->events * sizeof(uint32_t) > MOST) {
        memset(job->one_by_one, 1, t->nodes);
        together = 0;
    }
    syn_status status = SYN_OK;
    if (together)
        status = syn_windows_make(&job->windows, r, t->bound, t->bounds, threads, watch);
    job->line.beyond = job->windows.beyond;
    return status;
}

static syn_status open_walks(given_job *job, int threads)
{
    const syn_trie *t = &job->trie;
    size_t most = MOST / (syn_walk_bytes(t, job->line.units, job->line.events) + 1) + 1;
    most = most < t->roots ? most : t->roots;
    int workers = (size_t)threads < most ? threads : (int)most;
    SYN_NEW_ZEROS(job->count, (size_t)t->nodes + 1);
    SYN_NEW(job->node, (size_t)t->roots + 1);
    SYN_NEW_ZEROS(job->walk, (size_t)workers + 1);
    memcpy(job->node, t->root, t->roots * sizeof *job->node);
    syn_status status = SYN_OK;
    while (status == SYN_OK && job->workers < workers) {
        syn_walk *w = &job->walk[job->workers++];
        status = syn_walk_open(w, t, job->one_by_one, &job->line, job->line.events,
                               &job->budget);
        w->count = job->count;
    }
    return status;
}

syn_status syn_count_episodes(const syn_recording *recording, const syn_episode *episode,
                              size_t n, int threads, const syn_watch *watch,
                              uint32_t *count)
{
    given_job job = {.budget = {.limit = SIZE_MAX}};
    syn_status status = syn_trie_make(episode, n, &job.trie);
    SYN_NEXT(status, make_line(&job, recording, threads, watch));
    SYN_NEXT(status, open_walks(&job, threads));
    SYN_NEXT(status, syn_parallel_for(job.trie.roots, job.workers, watch, "episodes",
                                      count_below, &job));
    for (size_t i = 0; status == SYN_OK && i < n; i++)
        count[i] = job.count[job.trie.node[i]];
    for (int i = 0; i < job.workers; i++)
        syn_walk_close(&job.walk[i]);
    syn_windows_free(&job.windows);
    syn_trie_free(&job.trie);
    SYN_FREE(job.one_by_one, job.count, job.node, job.walk);
    return status;
}
