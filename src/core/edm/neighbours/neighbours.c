/* Finds the nearest neighbours of each prediction row, in one number of dimensions or in
   all at once: distances grow with each coordinate, so that one scan of a block of points
   gives them for every dimension. The neighbours of the row before, as many steps further
   on, give first bounds; blocks of library points whose boxes are farther away are passed
   over, and the rest is scanned. Small libraries are searched as below. */
#include "core/edm/neighbours/neighbours.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/masks.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/base/rank.h"
#include "core/edm/neighbours/scan.h"

/* ---- small libraries ----

   Of a few thousand rows, a few neighbours are found in passes that have hardly a branch
   to mispredict: rough distances to all of them; the least of each 64th of them, the k-th
   smallest of which is an upper bound that hardly more than k rows pass; and the precise
   distances of the rows within it. Where too many pass, since many are equally near, the
   boxes tell them apart. */

/* Coordinates as floats, less their centre and scaled so that none is beyond 1: rough
   distances, in half the time, tell which few rows may be among the nearest. */
typedef struct sift {
    double *centre;     /* [dims] */
    double scale;       /* 0 where distances of all rows are the same, or infinite */
    float *x;           /* [blocks][dims][64] */
} sift;

/* What a worker uses over and over. */
typedef struct sieve {
    float *point;       /* [dims] */
    float *rough;       /* [blocks][64] squared distances */
    uint32_t *place;    /* [room of the list] places of rows that are near */
} sieve;

enum {
    SIFT_ROWS = 2048,  /* of more rows, fewer are measured with boxes around blocks */
    CHUNK = 8,         /* prediction rows handed out together */
    MANY = 32          /* neighbours for which the rows of one block say too little */
};

/* How far outside of the library a point may be, for rough distances to be any use. */
static const double most_outside = 1024;

/* Blocks whose rows are no nearer than the farthest neighbour so far, but perhaps as
   near. Among rows that are equally near, those are wanted that come first in the order
   of ties. So such blocks are put aside until all nearer rows are known, and then only
   those are searched that have a row which comes early enough. A constant series has
   nothing but these. */
typedef struct ties {
    double at;        /* the squared distance of all of them */
    uint32_t from;    /* the first group that has some, */
    int any;          /* if there are any */
    uint64_t *tied;   /* [groups] a bit for each block, from `from` on */
} ties;

/* What a worker uses over and over. The neighbours it found last say where to look next;
   they change how long a search takes, not what it finds. */
typedef struct seeker {
    uint32_t row, from, E;  /* the prediction row, its place in the order of ties, and how
                               many E it reaches */
    double *point;          /* [dims] of the row */
    syn_nearest *list;      /* [E_max] */
    double *limit;          /* [E_max] squared distance: nothing farther is wanted */
    syn_scan scan;
    uint64_t *pass;         /* [E_max] rows of a block or boxes of a group within it, */
    uint64_t *nearer;       /* [E_max] and boxes nearer than that */
    double *squared;        /* [E_max][64] */
    ties ties;              /* where one E is searched */
    uint32_t begun[3], n_begun;  /* blocks that were searched before all others */
    uint32_t known_E, known_of;  /* of which lists, and of which row, there still are the
                                    neighbours */
    uint32_t *seen, turn;   /* [places] the turn in which a row was last pooled,
                               where several E are searched */
    size_t pooled[SYN_BLOCK];  /* where the coordinates of pooled rows begin */
    double *pool;           /* [dims][64] */
    double *last;           /* [blocks] squared distance of the k-th neighbour of the last
                               row in each block; 0 before the first */
    sieve sieve;            /* for small libraries */
} seeker;

struct syn_search {
    const syn_points *points;
    const syn_reach *prediction;
    syn_neighbour_options options;
    const syn_scan_kind *kind;
    uint32_t k;            /* of the first list, no more than there are library rows */
    uint32_t step, E_max;
    syn_blocks blocks;     /* the library */
    int small;             /* whether rough distances to all of it are computed, */
    sift sift;             /* from these */
    int threads;
    seeker *seeker;        /* [threads] */
    syn_arrays memory;
    syn_near_body *body;
    void *context;
};

/* ---- rough distances ---- */

/* The centre of each coordinate, and what brings all of them within 1 of it. */
static void find_scale(const syn_points *points, const syn_rows *library, sift *s)
{
    double reach = 0;
    for (uint32_t d = 0; d < points->dims; d++) {
        const double *x = points->coordinate + (size_t)d * points->rows;
        double low = INFINITY, high = -INFINITY;
        for (uint32_t i = 0; i < library->n; i++) {
            double here = x[library->row[i]];
            low = here < low ? here : low;
            high = here > high ? here : high;
        }
        s->centre[d] = low / 2 + high / 2;
        reach = high / 2 - low / 2 > reach ? high / 2 - low / 2 : reach;
    }
    s->scale = reach > 1e-290 && reach < 1e290 ? 1 / reach : 0;
}

static syn_status make_sift(syn_search *s, const syn_rows *library)
{
    const syn_blocks *b = &s->blocks;
    const double *from = b->x;
    SYN_ARRAY(&s->memory, s->sift.centre, b->dims);
    SYN_ARRAY(&s->memory, s->sift.x, (size_t)b->blocks * b->dims * SYN_BLOCK);
    find_scale(s->points, library, &s->sift);
    float *to = s->sift.x;
    for (uint32_t row = 0; s->sift.scale > 0 && row < b->blocks * b->dims; row++)
        for (uint32_t i = 0; i < SYN_BLOCK; i++)
            *to++ = (float)((*from++ - s->sift.centre[row % b->dims]) * s->sift.scale);
    return SYN_OK;
}

/* The point as floats; 0 where distances from it would be too rough. */
static int make_point(const syn_search *s, const double *point, float *to)
{
    double most = 0;
    for (uint32_t d = 0; d < s->blocks.dims; d++) {
        double x = (point[d] - s->sift.centre[d]) * s->sift.scale;
        most = fabs(x) > most ? fabs(x) : most;
        to[d] = (float)x;
    }
    return s->sift.scale > 0 && most < most_outside;
}

/* A rough square that all of those whose true distances are at most the k-th smallest
   do not exceed, if k rough squares are at most `square`. */
static float allow_for_rounding(const float *point, uint32_t dims, double square)
{
    double most = 1;
    for (uint32_t d = 0; d < dims; d++)
        most = fabs(point[d]) + 1 > most ? fabs(point[d]) + 1 : most;
    /* Differences of coordinates are wrong by up to FLT_EPSILON * most, and sums of their
       squares by half of that share for each term. Some more is allowed for, once on the
       way to the true distances and once back. */
    double shift = 4 * FLT_EPSILON * most * sqrt(dims);
    double share = 1 + FLT_EPSILON * (dims + 8.0);
    double distance = ((sqrt(square) + shift) * share + shift) * share;
    return (float)(distance * distance * (1 + 4 * FLT_EPSILON));
}

/* The row at a place, as the list wants it. */
static syn_near near_at(const syn_search *s, const seeker *w, uint32_t place)
{
    uint32_t dims = s->blocks.dims, row = s->blocks.row[place];
    const double *x = s->blocks.x + (size_t)(place / SYN_BLOCK) * dims * SYN_BLOCK;
    double sum = 0;
    for (uint32_t d = 0; d < dims; d++) {
        double apart = x[d * SYN_BLOCK + place % SYN_BLOCK] - w->point[d];
        sum += apart * apart;
    }
    return (syn_near){sum, syn_rank_after(row, w->from), row};
}

/* Fills the list with the nearest and a few more; 0 where rough distances do not tell
   these from many others. */
static int find_roughly(const syn_search *s, seeker *w)
{
    const syn_blocks *b = &s->blocks;
    const sieve *sieve = &w->sieve;
    syn_nearest *list = &w->list[0];
    uint32_t exclusion = s->options.exclusion;
    syn_nearest_start(list, s->k);
    if (!make_point(s, w->point, sieve->point))
        return 0;
    s->kind->rough(sieve->point, b->dims, s->sift.x, b->blocks, sieve->rough);
    for (uint32_t r = w->row > exclusion ? w->row - exclusion : 0;
         r < s->points->rows && syn_rows_apart(r, w->row) <= exclusion; r++)
        if (b->place[r] != SYN_NO_ROW)
            sieve->rough[b->place[r]] = INFINITY;
    float square = s->kind->bound(sieve->rough, b->blocks, list->k);
    if (!(square < INFINITY))
        return 0;
    float limit = allow_for_rounding(sieve->point, b->dims, square);
    uint32_t n =
        s->kind->within(sieve->rough, b->blocks, limit, list->room, sieve->place);
    if (n > list->room)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        list->near[list->n] = near_at(s, w, sieve->place[i]);
        list->n += list->near[list->n].squared < INFINITY;
    }
    return 1;
}

/* ---- first bounds ---- */

/* Adds the place of `row` to the pool's `n`, unless it is there or is no use. */
static uint32_t pool_row(const syn_search *s, seeker *w, uint32_t n, uint32_t row)
{
    if (row >= s->points->rows || s->blocks.place[row] == SYN_NO_ROW ||
        syn_rows_apart(row, w->row) <= s->options.exclusion)
        return n;
    uint32_t place = s->blocks.place[row], block = place / SYN_BLOCK;
    if (w->seen[place] == w->turn)
        return n;
    w->seen[place] = w->turn;
    w->pooled[n] = (size_t)block * s->points->dims * SYN_BLOCK + place % SYN_BLOCK;
    return n + 1;
}

/* Where the neighbours of the prediction row before, those of the largest E first, have
   gone since: trajectories that were close most often still are. */
static uint32_t fill_pool(const syn_search *s, seeker *w)
{
    uint32_t n = 0, on = w->row - w->known_of;
    w->turn++;
    for (uint32_t e = w->known_E; e-- > 0;)
        for (uint32_t j = 0; j < w->list[e].n && n < SYN_BLOCK; j++)
            n = pool_row(s, w, n, w->list[e].near[j].row + on);
    for (size_t d = 0; d < s->points->dims * (size_t)SYN_BLOCK; d += SYN_BLOCK) {
        for (uint32_t i = 0; i < n; i++)
            w->pool[d + i] = s->blocks.x[w->pooled[i] + d];
        for (uint32_t i = n; i < SYN_BLOCK; i++)
            w->pool[d + i] = INFINITY;
    }
    return n;
}

/* A number that at least k of x[0..63] do not exceed, and not many more. No more than the
   first `n` are finite. */
static double small_bound(const syn_search *s, const double *x, uint32_t n, uint32_t k)
{
    enum { HALVINGS = 6 };
    double low = 0, high = 0;
    if (n < k)
        return DBL_MAX;
    for (uint32_t i = 0; i < k; i++)
        high = x[i] > high ? x[i] : high;
    if (!(high < DBL_MAX))
        return DBL_MAX;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        if (s->kind->count(x, middle) >= k)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Limits within which there are enough neighbours. */
static void known_limits(const syn_search *s, seeker *w)
{
    for (uint32_t e = 0; e < w->E; e++)
        w->limit[e] = DBL_MAX;
    uint32_t n = fill_pool(s, w);
    for (size_t i = 0; i < (size_t)w->E * SYN_BLOCK; i++)
        w->squared[i] = INFINITY;
    w->scan.most = DBL_MAX;
    s->kind->rows(&w->scan, w->pool, w->pass, w->squared);
    for (uint32_t e = 0; e < w->E; e++)
        w->limit[e] = small_bound(s, w->squared + (size_t)e * SYN_BLOCK, n, s->k + e);
}

/* ---- blocks ---- */

static void set_most(seeker *w)
{
    w->scan.most = 0;
    for (uint32_t e = 0; e < w->E; e++)
        w->scan.most = w->limit[e] > w->scan.most ? w->limit[e] : w->scan.most;
}

static void visit(const syn_search *s, seeker *w, uint32_t block)
{
    const uint32_t *row = s->blocks.row + (size_t)block * SYN_BLOCK;
    const double *x = s->blocks.x + (size_t)block * s->points->dims * SYN_BLOCK;
    if (!s->kind->rows(&w->scan, x, w->pass, w->squared))
        return;
    for (uint32_t e = 0; e < w->E; e++) {
        const double *squared = w->squared + (size_t)e * SYN_BLOCK;
        for (uint64_t pass = w->pass[e]; pass; pass &= pass - 1) {
            uint32_t i = syn_low_bit(pass);
            syn_near near = {squared[i], syn_rank_after(row[i], w->from), row[i]};
            if (syn_rows_apart(row[i], w->row) > s->options.exclusion)
                syn_nearest_offer(&w->list[e], near);
        }
        if (w->list[e].last.squared < w->limit[e])
            w->limit[e] = w->list[e].last.squared;
    }
    set_most(w);
}

/* Puts the blocks of a group aside, as near as `limit`, which never rises. */
static void put_aside(ties *t, uint32_t group, uint64_t tied, double limit)
{
    if (limit != t->at) {
        t->at = limit;
        t->from = group;
        t->any = 0;
    }
    t->tied[group] = tied;
    t->any |= tied != 0;
}

/* Searches those of the blocks put aside that matter. */
static void visit_tied(const syn_search *s, seeker *w)
{
    const ties *t = &w->ties;
    syn_nearest *list = &w->list[0];
    if (!t->any)
        return;
    if (list->n >= list->k)
        syn_nearest_cut(list);
    if (list->last.squared < t->at)
        return;
    for (uint32_t g = t->from; g < s->blocks.groups; g++)
        for (uint64_t left = t->tied[g]; left; left &= left - 1) {
            uint32_t block = g * SYN_BLOCK + syn_low_bit(left);
            const uint32_t *shuffled = s->blocks.shuffled + (size_t)block * SYN_BLOCK;
            if (list->last.squared <= t->at &&
                syn_least_after(shuffled, SYN_BLOCK, w->from) > list->last.rank)
                continue;
            visit(s, w, block);
            if (list->n >= list->k)
                syn_nearest_cut(list);
        }
}

/* Searches the block that holds the library row next to `row`, before all others. */
static void begin_at(const syn_search *s, seeker *w, uint32_t row)
{
    uint32_t block = s->blocks.home[row];
    for (uint32_t i = 0; i < w->n_begun; i++)
        if (w->begun[i] == block)
            return;
    if (block == SYN_NO_ROW)
        return;
    w->begun[w->n_begun++] = block;
    visit(s, w, block);
}

/* Begins with the block of the row itself and, where too many there are left out, with
   those of the rows before and after. */
static void begin(const syn_search *s, seeker *w)
{
    uint32_t far = s->options.exclusion, rows = s->points->rows;
    const syn_nearest *last = &w->list[w->E - 1];
    w->n_begun = 0;
    begin_at(s, w, w->row);
    if (last->n >= last->k || far == 0)
        return;
    if (w->row > far)
        begin_at(s, w, w->row - far - 1);
    if (far + 1 < rows - w->row)
        begin_at(s, w, w->row + far + 1);
}

/* The blocks of a group but those begun with. In one number of dimensions, it is asked
   again which blocks are near when the limit falls: of many that are equally near, one
   may be enough. */
static void find_in_group(const syn_search *s, seeker *w, uint32_t g)
{
    size_t group = (size_t)s->points->dims * SYN_BLOCK;
    uint64_t now, done = 0;
    int one = s->E_max == 1;
    for (uint32_t i = 0; i < w->n_begun; i++)
        if (w->begun[i] / SYN_BLOCK == g)
            done |= (uint64_t)1 << w->begun[i] % SYN_BLOCK;
    do {
        double limit = w->limit[0];
        s->kind->boxes(&w->scan, s->blocks.low + g * group, s->blocks.high + g * group,
                       w->pass, w->nearer);
        now = 0;
        for (uint32_t e = 0; e < w->E; e++)
            now |= (one ? w->nearer[e] : w->pass[e]) & ~done;
        if (one)
            put_aside(&w->ties, g, w->pass[0] & ~(done | now), limit);
        for (; now && !(one && w->limit[0] < limit); now &= now - 1) {
            done |= now & (0 - now);
            visit(s, w, g * SYN_BLOCK + syn_low_bit(now));
        }
    } while (one && now);
}

/* Searches all blocks where the limits allow it. */
static void find_within(const syn_search *s, seeker *w)
{
    for (uint32_t e = 0; e < w->E; e++)
        syn_nearest_start(&w->list[e], s->k + e);
    w->ties.at = -1;
    w->ties.any = 0;
    set_most(w);
    begin(s, w);
    for (uint32_t g = 0; g < s->blocks.groups; g++)
        find_in_group(s, w, g);
    visit_tied(s, w);
}

/* Searches among boxes. In one number of dimensions, many neighbours are first searched
   for as far as the k-th of the last row in the same block was, and some more; then,
   while there are fewer than k, farther away. */
static void find_among_boxes(const syn_search *s, seeker *w)
{
    if (s->E_max > 1) {
        known_limits(s, w);
        w->known_E = w->E;
        w->known_of = w->row;
        find_within(s, w);
        return;
    }
    syn_nearest *list = &w->list[0];
    uint32_t home = s->blocks.home[w->row];
    int many = s->k >= MANY && home != SYN_NO_ROW;
    double before = many ? w->last[home] : 0, far = before > 0 ? 1.25 * before : DBL_MAX;
    do {
        w->limit[0] = far < 100 * before ? far : DBL_MAX;
        find_within(s, w);
        far *= 2;
    } while (list->n < s->k && w->limit[0] < DBL_MAX);
    if (many && list->n >= s->k) {
        syn_nearest_cut(list);
        w->last[home] = list->last.squared;
    }
}

/* ---- rows ---- */

static void find(const syn_search *s, seeker *w, uint32_t i)
{
    const syn_reach *of = s->prediction;
    w->row = of->rows.row[i];
    w->from = syn_row_rank(w->row);
    w->E = of->steps ? of->steps[i] : s->E_max;
    w->scan = (syn_scan){s->step, w->E, w->point, w->limit, 0};
    if (w->E == 0)
        return;
    syn_point_at(s->points, w->row, w->E * s->step, w->point);
    if (!s->small || !find_roughly(s, w))
        find_among_boxes(s, w);
    for (uint32_t e = 0; e < w->E; e++) {
        syn_nearest_finish(&w->list[e]);
        s->body(s->context, (int)(w - s->seeker), i, e, w->list[e].near, w->list[e].n);
    }
}

static syn_status find_chunk(void *context, size_t item, int worker)
{
    syn_search *s = context;
    uint32_t from = (uint32_t)item * CHUNK, to = s->prediction->rows.n - from;
    to = from + (to < CHUNK ? to : CHUNK);
    for (uint32_t i = from; i < to; i++)
        find(s, &s->seeker[worker], i);
    return SYN_OK;
}

/* ---- all of them ---- */

static syn_status make_seeker(syn_search *s, seeker *w)
{
    syn_arrays *memory = &s->memory;
    size_t E = s->E_max, dims = s->points->dims;
    size_t slots = (size_t)s->blocks.blocks * SYN_BLOCK;
    SYN_ARRAY(memory, w->point, dims);
    SYN_ARRAY(memory, w->list, E);
    for (uint32_t e = 0; e < E; e++)
        SYN_ARRAY(memory, w->list[e].near, syn_nearest_room(s->k + e));
    SYN_ARRAY(memory, w->limit, E);
    SYN_ARRAY(memory, w->pass, E);
    SYN_ARRAY(memory, w->nearer, E);
    SYN_ARRAY(memory, w->squared, E * SYN_BLOCK);
    SYN_ARRAY(memory, w->ties.tied, s->blocks.groups);
    if (E > 1) {
        SYN_ARRAY(memory, w->seen, slots);
        SYN_ARRAY(memory, w->pool, dims * SYN_BLOCK);
    }
    SYN_ARRAY(memory, w->last, s->blocks.blocks);
    if (!s->small)
        return SYN_OK;
    SYN_ARRAY(memory, w->sieve.point, dims);
    SYN_ARRAY(memory, w->sieve.rough, slots);
    SYN_ARRAY(memory, w->sieve.place, syn_nearest_room(s->k));
    return SYN_OK;
}

syn_status syn_search_make(const syn_points *points, const syn_reach *library,
                           uint32_t step, const syn_neighbour_options *options,
                           syn_search **out)
{
    syn_search *s = *out = calloc(1, sizeof *s);
    if (!s)
        return SYN_NO_MEMORY;
    uint32_t n = library->rows.n;
    s->points = points;
    s->options = *options;
    s->kind = syn_scan_fastest(options->vector_bits);
    s->step = step;
    s->E_max = points->dims / step;
    s->k = s->E_max > 1 || options->k < n ? options->k : n > 0 ? n : 1;
    s->threads = options->threads > 1 ? options->threads : 1;
    s->small = n <= SIFT_ROWS && s->E_max == 1 && !library->steps && s->k <= MANY;
    SYN_TRY(syn_blocks_make(points, library, step, &s->memory, &s->blocks));
    SYN_TRY(s->small ? make_sift(s, &library->rows) : SYN_OK);
    SYN_ARRAY(&s->memory, s->seeker, (size_t)s->threads);
    for (int i = 0; i < s->threads; i++)
        SYN_TRY(make_seeker(s, &s->seeker[i]));
    return SYN_OK;
}

syn_status syn_search_rows(syn_search *s, const syn_reach *prediction,
                           const syn_watch *watch, syn_near_body *body, void *context)
{
    uint32_t n = prediction->rows.n;
    s->prediction = prediction;
    s->body = body;
    s->context = context;
    return syn_parallel_for(n / CHUNK + (n % CHUNK > 0), s->threads, watch,
                            prediction->steps ? "rows" : "neighbours", find_chunk, s);
}

void syn_search_free(syn_search *s)
{
    if (s)
        syn_give_back(&s->memory);
    free(s);
}

syn_status syn_each_neighbourhood(const syn_points *points, const syn_reach *library,
                                  const syn_reach *prediction, uint32_t step,
                                  const syn_neighbour_options *options,
                                  const syn_watch *watch, syn_near_body *body,
                                  void *context)
{
    syn_neighbour_options o = *options;
    uint32_t items = prediction->rows.n / CHUNK + 1;
    o.threads = o.threads > 0 && (uint32_t)o.threads > items ? (int)items : o.threads;
    syn_search *s;
    syn_status status = syn_search_make(points, library, step, &o, &s);
    SYN_NEXT(status, syn_search_rows(s, prediction, watch, body, context));
    syn_search_free(s);
    return status;
}

static void keep(void *context, int worker, uint32_t i, uint32_t e, syn_near *near,
                 uint32_t found)
{
    syn_neighbours *out = context;
    size_t first = (size_t)i * out->k;
    (void)worker;
    (void)e;
    out->found[i] = found;
    for (uint32_t j = 0; j < found; j++) {
        out->row[first + j] = near[j].row;
        out->distance[first + j] = sqrt(near[j].squared);
    }
}

syn_status syn_find_neighbours(const syn_points *points, const syn_rows *library,
                               const syn_rows *prediction,
                               const syn_neighbour_options *options,
                               const syn_watch *watch, syn_neighbours *out)
{
    size_t entries = (size_t)prediction->n * options->k;
    syn_reach from = {*library, NULL}, of = {*prediction, NULL};
    *out = (syn_neighbours){.n = prediction->n, .k = options->k};
    SYN_NEW(out->found, (size_t)out->n + 1);
    SYN_NEW(out->row, entries + 1);
    SYN_NEW(out->distance, entries + 1);
    return syn_each_neighbourhood(points, &from, &of, points->dims, options, watch, keep,
                                  out);
}

void syn_neighbours_free(syn_neighbours *neighbours)
{
    SYN_FREE(neighbours->found, neighbours->row, neighbours->distance);
    memset(neighbours, 0, sizeof *neighbours);
}
