/* Simplex projection in all dimensions from 1 to E_max in one search. Distances grow
   with each coordinate, so that one scan of a block of points gives them for every
   dimension. The neighbours of the row before give the first bounds. */
#include "core/edm/simplex/simplex.h"

#include <float.h>
#include <stdlib.h>

#include "core/edm/neighbours/blocks.h"
#include "core/edm/neighbours/scan.h"
#include "core/edm/neighbours/neighbours.h"
#include "core/edm/neighbours/ties.h"
#include "core/edm/simplex/weights.h"
#include "core/base/masks.h"
#include "core/base/rank.h"
#include "core/base/parallel.h"

enum { CHUNK = 8 };  /* prediction rows handed out together */

/* What a worker uses over and over. */
typedef struct sweeper {
    double *point;      /* [dims] of the prediction row */
    double *limit;      /* [E_max] squared distance: nothing farther is wanted */
    uint64_t *pass;     /* [E_max] rows of a block or boxes of a group within it, */
    uint64_t *nearer;   /* [E_max] and boxes nearer than that */
    syn_ties *ties;     /* [E_max] */
    uint64_t *tied;     /* of all of them */
    syn_scan scan;      /* of the prediction row, */
    uint32_t row;       /* which is this, */
    uint32_t from;      /* and its place in the order of ties */
    const struct sweep *sweep;
    double *squared;    /* [E_max][64] in lines of the cache */
    syn_near *room;     /* of all the lists */
    syn_nearest *list;  /* [E_max] neighbours of the last prediction row, too: they say */
    uint32_t E, of;     /* where to look next, for how many E and for which row */
    uint32_t *seen;     /* [places] the turn in which a row was last put into the pool */
    uint32_t turn;      /* prediction rows so far */
    uint32_t pooled[SYN_BLOCK];
    double *pool;       /* [dims][64], followed by `squared` */
    void *lines;        /* what both are in */
} sweeper;

typedef struct sweep {
    const syn_points *points;
    const syn_reach *predicted;
    const syn_sweep_options *options;
    const syn_scan_kind *kind;
    const double *target;
    double *prediction;
    uint32_t E_max;
    syn_blocks blocks;
    int threads;
    sweeper *sweeper;   /* [threads] */
} sweep;

/* ---- one prediction row ---- */

/* Adds the place of `row` to the pool's `n`, unless it is there or is no use. */
static uint32_t pool_row(const sweep *s, sweeper *w, uint32_t n, uint32_t row,
                         uint32_t of_row)
{
    if (row >= s->points->rows || s->blocks.place[row] == SYN_NO_ROW ||
        syn_rows_apart(row, of_row) <= s->options->exclusion)
        return n;
    uint32_t place = s->blocks.place[row];
    if (w->seen[place] == w->turn)
        return n;
    w->seen[place] = w->turn;
    w->pooled[n] = place;
    return n + 1;
}

/* Where the neighbours of the prediction row before, those of the largest E first, have
   gone since: trajectories that were close most often still are. */
static uint32_t fill_pool(const sweep *s, sweeper *w, uint32_t row)
{
    uint32_t n = 0, on = row - w->of;
    w->turn++;
    for (uint32_t e = w->E; e-- > 0;)
        for (uint32_t j = 0; j < w->list[e].n && n < SYN_BLOCK; j++)
            n = pool_row(s, w, n, w->list[e].near[j].row + on, row);
    for (uint32_t d = 0; d < s->points->dims; d++)
        for (uint32_t i = 0; i < SYN_BLOCK; i++) {
            size_t block = w->pooled[i] / SYN_BLOCK;
            size_t at = (block * s->points->dims + d) * SYN_BLOCK;
            w->pool[d * SYN_BLOCK + i] =
                i < n ? s->blocks.x[at + w->pooled[i] % SYN_BLOCK] : INFINITY;
        }
    return n;
}

/* A number that at least k of x[0..63] do not exceed, and not many more. No more than the
   first `n` are finite. */
static double small_bound(const sweep *s, const double *x, uint32_t n, uint32_t k)
{
    double high = 0;
    if (n < k)
        return DBL_MAX;
    for (uint32_t i = 0; i < k; i++)
        high = x[i] > high ? x[i] : high;
    if (!(high < DBL_MAX))
        return DBL_MAX;
    return syn_scan_bound(s->kind, x, k, high);
}

/* Limits within which there are enough neighbours. */
static void known_limits(const sweep *s, sweeper *w, syn_scan *scan, uint32_t row)
{
    uint32_t n = fill_pool(s, w, row);
    for (uint32_t e = 0; e < scan->E; e++)
        w->limit[e] = DBL_MAX;
    for (size_t i = 0; i < (size_t)scan->E * SYN_BLOCK; i++)
        w->squared[i] = INFINITY;
    s->kind->rows(scan, w->pool, w->pass, w->squared);
    for (uint32_t e = 0; e < scan->E; e++)
        w->limit[e] = small_bound(s, w->squared + (size_t)e * SYN_BLOCK, n, e + 2);
}

static double largest(const double *limit, uint32_t E)
{
    double most = 0;
    for (uint32_t e = 0; e < E; e++)
        most = limit[e] > most ? limit[e] : most;
    return most;
}

static void visit(void *context, uint32_t block)
{
    sweeper *w = context;
    const sweep *s = w->sweep;
    syn_scan *scan = &w->scan;
    const uint32_t *row = s->blocks.row + (size_t)block * SYN_BLOCK;
    const double *x = s->blocks.x + (size_t)block * s->points->dims * SYN_BLOCK;
    if (!s->kind->rows(scan, x, w->pass, w->squared))
        return;
    for (uint32_t e = 0; e < scan->E; e++) {
        const double *squared = w->squared + (size_t)e * SYN_BLOCK;
        for (uint64_t pass = w->pass[e]; pass; pass &= pass - 1) {
            uint32_t i = syn_low_bit(pass);
            syn_near near = {squared[i], syn_rank_after(row[i], w->from), row[i]};
            if (syn_rows_apart(row[i], w->row) > s->options->exclusion)
                syn_nearest_offer(&w->list[e], near);
        }
        if (w->list[e].last.squared < w->limit[e])
            w->limit[e] = w->list[e].last.squared;
    }
    scan->most = largest(w->limit, scan->E);
}

/* Searches a block that was put aside: for all E, as others may have put it aside too. */
static void visit_tied(void *context, uint32_t block)
{
    sweeper *w = context;
    uint32_t g = block / SYN_BLOCK;
    for (uint32_t e = 0; e < w->scan.E; e++)
        w->ties[e].tied[g] &= ~((uint64_t)1 << block % SYN_BLOCK);
    visit(w, block);
}

/* Where to begin. */
static syn_starts begin(const sweep *s, sweeper *w)
{
    uint32_t far = s->options->exclusion, rows = s->points->rows, E = w->scan.E;
    syn_starts starts = {0, {0}};
    if (syn_starts_add(&starts, s->blocks.home[w->row]))
        visit(w, starts.block[0]);
    if (w->list[E - 1].n >= w->list[E - 1].k || far == 0)
        return starts;
    if (w->row > far && syn_starts_add(&starts, s->blocks.home[w->row - far - 1]))
        visit(w, starts.block[starts.n - 1]);
    if (far + 1 < rows - w->row &&
        syn_starts_add(&starts, s->blocks.home[w->row + far + 1]))
        visit(w, starts.block[starts.n - 1]);
    return starts;
}

/* The blocks of a group except `done`; those only as near as the limit are put aside. */
static void find_in_group(const sweep *s, sweeper *w, uint32_t g, uint64_t done)
{
    size_t group = (size_t)s->points->dims * SYN_BLOCK;
    uint64_t now = 0;
    s->kind->boxes(&w->scan, s->blocks.low + g * group, s->blocks.high + g * group,
                   w->pass, w->nearer);
    for (uint32_t e = 0; e < w->scan.E; e++)
        now |= w->nearer[e] & ~done;
    done |= now;
    for (uint32_t e = 0; e < w->scan.E; e++)
        syn_ties_put(&w->ties[e], g, w->pass[e] & ~done, w->limit[e]);
    for (; now; now &= now - 1)
        visit(w, g * SYN_BLOCK + syn_low_bit(now));
}

static void find(const sweep *s, sweeper *w, uint32_t row, uint32_t E)
{
    w->scan = (syn_scan){s->options->step, E, w->point, w->limit, DBL_MAX};
    w->row = row;
    w->from = syn_row_rank(row);
    syn_point_at(s->points, row, E * s->options->step, w->point);
    known_limits(s, w, &w->scan, row);
    w->scan.most = largest(w->limit, E);
    for (uint32_t e = 0; e < E; e++) {
        syn_nearest_start(&w->list[e], e + 2);
        syn_ties_start(&w->ties[e]);
    }
    w->E = E;
    w->of = row;
    if (E == 0)
        return;
    syn_starts starts = begin(s, w);
    for (uint32_t g = 0; g < s->blocks.groups; g++)
        find_in_group(s, w, g, syn_starts_of(&starts, g));
    for (uint32_t e = 0; e < E; e++)
        syn_ties_visit(&w->ties[e], &s->blocks, w->from, &w->list[e], visit_tied, w);
}

static void predict(const sweep *s, sweeper *w, uint32_t i)
{
    uint32_t E = s->predicted->steps[i], n = s->predicted->rows.n;
    find(s, w, s->predicted->rows.row[i], E);
    for (uint32_t e = 0; e < s->E_max; e++) {
        syn_nearest *list = &w->list[e];
        if (e >= E) {
            s->prediction[(size_t)e * n + i] = NAN;
            continue;
        }
        syn_nearest_finish(list);
        syn_weigh(list->near, list->n, s->points->least);
        s->prediction[(size_t)e * n + i] =
            syn_weighted_mean(list->near, list->n, s->target);
    }
}

static syn_status predict_chunk(void *context, size_t item, int worker)
{
    sweep *s = context;
    uint32_t from = (uint32_t)item * CHUNK, to = s->predicted->rows.n - from;
    to = from + (to < CHUNK ? to : CHUNK);
    for (uint32_t i = from; i < to; i++)
        predict(s, &s->sweeper[worker], i);
    return SYN_OK;
}

/* ---- all of them ---- */

static syn_status make_sweeper(const sweep *s, sweeper *w)
{
    size_t E = s->E_max, dims = s->points->dims, room = 0;
    for (uint32_t e = 0; e < s->E_max; e++)
        room += syn_nearest_room(e + 2);
    w->point = malloc(dims * sizeof *w->point);
    w->limit = malloc(E * sizeof *w->limit);
    w->pass = malloc(E * sizeof *w->pass);
    w->nearer = malloc(E * sizeof *w->nearer);
    w->ties = malloc(E * sizeof *w->ties);
    w->tied = calloc(E * s->blocks.groups + 1, sizeof *w->tied);
    w->lines = malloc((E + dims) * SYN_BLOCK * sizeof *w->pool + SYN_LINE);
    w->room = malloc(room * sizeof *w->room);
    w->list = malloc(E * sizeof *w->list);
    w->seen = calloc((size_t)s->blocks.blocks * SYN_BLOCK + 1, sizeof *w->seen);
    if (!w->point || !w->limit || !w->pass || !w->nearer || !w->ties || !w->tied ||
        !w->lines || !w->room || !w->list || !w->seen)
        return SYN_NO_MEMORY;
    w->pool = syn_line_in(w->lines);
    w->squared = w->pool + dims * SYN_BLOCK;
    w->E = 0;
    w->sweep = s;
    syn_near *next = w->room;
    for (uint32_t e = 0; e < s->E_max; e++) {
        w->ties[e].tied = w->tied + (size_t)e * s->blocks.groups;
        w->list[e].near = next;
        next += syn_nearest_room(e + 2);
    }
    return SYN_OK;
}

static syn_status make_sweepers(sweep *s)
{
    s->sweeper = calloc((size_t)s->threads, sizeof *s->sweeper);
    syn_status status = s->sweeper ? SYN_OK : SYN_NO_MEMORY;
    for (int w = 0; w < s->threads && status == SYN_OK; w++)
        status = make_sweeper(s, &s->sweeper[w]);
    return status;
}

static void free_sweepers(sweep *s)
{
    for (int w = 0; s->sweeper && w < s->threads; w++) {
        free(s->sweeper[w].point);
        free(s->sweeper[w].limit);
        free(s->sweeper[w].pass);
        free(s->sweeper[w].nearer);
        free(s->sweeper[w].ties);
        free(s->sweeper[w].tied);
        free(s->sweeper[w].lines);
        free(s->sweeper[w].room);
        free(s->sweeper[w].list);
        free(s->sweeper[w].seen);
    }
    free(s->sweeper);
}

syn_status syn_simplex_sweep(const syn_points *points, const syn_reach *library,
                             const syn_reach *predicted,
                             const syn_sweep_options *options, const double *target,
                             const syn_watch *watch, double *prediction)
{
    size_t items = predicted->rows.n / CHUNK + (predicted->rows.n % CHUNK > 0);
    sweep s = {.points = points, .predicted = predicted, .options = options,
               .kind = syn_scan_fastest(options->vector_bits), .target = target,
               .prediction = prediction, .E_max = points->dims / options->step,
               .threads = options->threads > 1 ? options->threads : 1};
    if ((size_t)s.threads > items)
        s.threads = items > 0 ? (int)items : 1;
    syn_status status = syn_blocks_make(points, &library->rows, library->steps,
                                        options->step, &s.blocks);
    if (status == SYN_OK)
        status = make_sweepers(&s);
    if (status == SYN_OK)
        status = syn_parallel_for(items, s.threads, watch, "rows", predict_chunk, &s);
    free_sweepers(&s);
    syn_blocks_free(&s.blocks);
    return status;
}
