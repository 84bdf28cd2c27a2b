/* Finds the nearest neighbours of each prediction row. The neighbours of the row
   before, one step further on, and the block in which the row lies give a first bound;
   blocks of library points whose boxes are farther away are passed over, and the rest
   is scanned. */
#include "core/edm/neighbours/neighbours.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/edm/neighbours/blocks.h"
#include "core/edm/neighbours/scan.h"
#include "core/edm/neighbours/sift.h"
#include "core/edm/neighbours/ties.h"
#include "core/base/masks.h"
#include "core/base/rank.h"
#include "core/base/parallel.h"

enum {
    CHUNK = 16,  /* prediction rows handed out together */
    FEW = 32     /* neighbours that the rows of a block say enough about */
};

/* What a worker uses over and over. The neighbours it found last say where to look next;
   they change how long a search takes, not what it finds. */
typedef struct seeker {
    syn_nearest list;
    double *point;         /* [dims] of the prediction row */
    double squared[SYN_BLOCK];
    double limit;          /* nothing farther is wanted */
    uint32_t row;          /* the prediction row, */
    uint32_t from;         /* and its place in the order of ties */
    uint32_t *known;       /* [k] neighbours of the prediction row before */
    uint32_t known_n, known_of;
    double *last;          /* [blocks] squared distance of the k-th neighbour of the last
                              row in each block; 0 before the first */
    syn_ties ties;
    syn_sieve sieve;       /* for small libraries */
    const syn_search *search;
} seeker;

struct syn_search {
    const syn_points *points;
    const syn_rows *prediction;
    syn_neighbour_options options;
    const syn_scan_kind *kind;
    uint32_t k;            /* no more than there are library rows */
    int small;             /* whether all distances are computed */
    syn_sift sift;         /* the library if so, */
    syn_blocks blocks;     /* or otherwise */
    int threads;
    seeker *seeker;        /* [threads] */
    syn_near_body *body;
    void *context;
};

/* ---- one prediction row ---- */

static double squared_distance(const syn_points *p, const double *point, uint32_t row)
{
    double sum = 0;
    for (uint32_t d = 0; d < p->dims; d++) {
        double apart = p->coordinate[(size_t)d * p->rows + row] - point[d];
        sum += apart * apart;
    }
    return sum;
}

/* A squared distance within which there are k neighbours: trajectories that were close a
   row ago most often still are. */
static double known_limit(const syn_search *s, const seeker *k)
{
    double limit = 0;
    uint32_t on = k->row - k->known_of;
    if (k->known_n < s->k)
        return DBL_MAX;
    for (uint32_t i = 0; i < k->known_n; i++) {
        uint32_t row = k->known[i] + on;
        if (row >= s->points->rows || s->blocks.place[row] == SYN_NO_ROW ||
            syn_rows_apart(row, k->row) <= s->options.exclusion)
            return DBL_MAX;
        double squared = squared_distance(s->points, k->point, row);
        limit = squared > limit ? squared : limit;
    }
    /* The last bits may differ from what the scan makes of it. */
    limit += limit * 1e-14;
    return limit < DBL_MAX ? limit : DBL_MAX;
}

static void visit(void *context, uint32_t block)
{
    seeker *k = context;
    const syn_search *s = k->search;
    const uint32_t *row = s->blocks.row + (size_t)block * SYN_BLOCK;
    const double *x = s->blocks.x + (size_t)block * s->points->dims * SYN_BLOCK;
    syn_scan scan = {s->points->dims, 1, k->point, &k->limit, k->limit};
    uint64_t pass;
    if (!s->kind->rows(&scan, x, &pass, k->squared))
        return;
    for (; pass; pass &= pass - 1) {
        uint32_t i = syn_low_bit(pass);
        syn_near near = {k->squared[i], syn_rank_after(row[i], k->from), row[i]};
        if (syn_rows_apart(row[i], k->row) > s->options.exclusion)
            syn_nearest_offer(&k->list, near);
    }
    if (k->list.last.squared < k->limit)
        k->limit = k->list.last.squared;
}

/* A squared distance within which the rows of one block let expect k neighbours. If the
   block has them, that is `sure`; for larger k it is guessed from a quarter of the block,
   as if points filled their space evenly. */
static double home_limit(const syn_search *s, seeker *k, uint32_t block, int *sure)
{
    enum { QUARTER = SYN_BLOCK / 4 };
    const uint32_t *row = s->blocks.row + (size_t)block * SYN_BLOCK;
    const double *x = s->blocks.x + (size_t)block * s->points->dims * SYN_BLOCK;
    double all = DBL_MAX, most = 0;
    uint64_t pass;
    uint32_t few = s->k < 2 * QUARTER ? s->k : QUARTER, there = 0;
    syn_scan scan = {s->points->dims, 1, k->point, &all, all};
    *sure = 1;
    if (!s->kind->rows(&scan, x, &pass, k->squared))
        return DBL_MAX;
    for (uint32_t i = 0; i < SYN_BLOCK; i++) {
        int use = (pass >> i & 1) &&
                  syn_rows_apart(row[i], k->row) > s->options.exclusion;
        k->squared[i] = use ? k->squared[i] : INFINITY;
        most = use && k->squared[i] > most ? k->squared[i] : most;
        there += use;
    }
    if (there < few)
        return DBL_MAX;
    double limit = syn_scan_bound(s->kind, k->squared, few, most);
    *sure = few == s->k;
    return *sure ? limit : limit * pow((double)s->k / few, 2.0 / s->points->dims);
}

/* Where to begin. */
static syn_starts begin(const syn_search *s, seeker *k)
{
    uint32_t far = s->options.exclusion, rows = s->points->rows;
    syn_starts starts = {0, {0}};
    if (syn_starts_add(&starts, s->blocks.home[k->row]))
        visit(k, starts.block[0]);
    if (k->list.n >= s->k || far == 0)
        return starts;
    if (k->row > far && syn_starts_add(&starts, s->blocks.home[k->row - far - 1]))
        visit(k, starts.block[starts.n - 1]);
    if (far + 1 < rows - k->row &&
        syn_starts_add(&starts, s->blocks.home[k->row + far + 1]))
        visit(k, starts.block[starts.n - 1]);
    return starts;
}

/* The blocks of a group except `done`. When the limit falls, it is asked again which
   blocks are near: of many that are equally near, one may be enough. */
static void find_in_group(const syn_search *s, seeker *k, uint32_t g, uint64_t done)
{
    size_t group = (size_t)s->points->dims * SYN_BLOCK;
    uint64_t near, nearer;
    double limit;
    do {
        limit = k->limit;
        syn_scan scan = {s->points->dims, 1, k->point, &limit, limit};
        s->kind->boxes(&scan, s->blocks.low + g * group, s->blocks.high + g * group,
                       &near, &nearer);
        near &= ~done;
        for (uint64_t left = nearer & ~done; left && !(k->limit < limit);
             left &= left - 1) {
            done |= left & (0 - left);
            visit(k, g * SYN_BLOCK + syn_low_bit(left));
        }
    } while (nearer & ~done);
    syn_ties_put(&k->ties, g, near & ~done, limit);
}

/* Searches all blocks where the limit allows it. */
static void find_within(const syn_search *s, seeker *k)
{
    syn_nearest_start(&k->list, s->k);
    syn_ties_start(&k->ties);
    syn_starts starts = begin(s, k);
    for (uint32_t g = 0; g < s->blocks.groups; g++)
        find_in_group(s, k, g, syn_starts_of(&starts, g));
    syn_ties_visit(&k->ties, &s->blocks, k->from, &k->list, visit, k);
}

/* Searches as far as the k-th neighbour of the last row in the same block was, and some
   more; whether there are k neighbours, so that these are the nearest. */
static int find_as_before(const syn_search *s, seeker *k, uint32_t home)
{
    if (s->k < FEW || home == SYN_NO_ROW || !(k->last[home] > 0))
        return 0;
    k->limit = k->last[home] * 1.25;
    find_within(s, k);
    return k->list.n >= s->k;
}

/* Searches as far as rows say that are known to be near. */
static void find_anew(const syn_search *s, seeker *k, uint32_t home)
{
    int sure = 1;
    double known = known_limit(s, k);
    double here = home == SYN_NO_ROW ? DBL_MAX : home_limit(s, k, home, &sure);
    k->limit = known < here ? known : here;
    find_within(s, k);
    if (k->list.n < s->k && !sure) {
        k->limit = known;
        find_within(s, k);
    }
}

/* Searches among boxes. */
static void find_among_boxes(const syn_search *s, seeker *k)
{
    uint32_t home = s->blocks.home[k->row];
    if (!find_as_before(s, k, home))
        find_anew(s, k, home);
    syn_nearest_finish(&k->list);
    if (home != SYN_NO_ROW && k->list.n == s->k)
        k->last[home] = k->list.near[s->k - 1].squared;
    k->known_n = k->list.n;
    k->known_of = k->row;
    for (uint32_t j = 0; j < k->list.n; j++)
        k->known[j] = k->list.near[j].row;
}

static void find_among_all(const syn_search *s, seeker *k)
{
    syn_nearest_start(&k->list, s->k);
    syn_sift_row(&s->sift, k->point, k->row, s->options.exclusion, &k->sieve, &k->list);
    syn_nearest_finish(&k->list);
}

static void find(const syn_search *s, seeker *k, uint32_t i)
{
    k->row = s->prediction->row[i];
    k->from = syn_row_rank(k->row);
    syn_point_at(s->points, k->row, s->points->dims, k->point);
    if (s->small)
        find_among_all(s, k);
    else
        find_among_boxes(s, k);
    s->body(s->context, i, k->list.near, k->list.n);
}

static syn_status find_chunk(void *context, size_t item, int worker)
{
    syn_search *s = context;
    uint32_t from = (uint32_t)item * CHUNK, to = s->prediction->n - from;
    to = from + (to < CHUNK ? to : CHUNK);
    for (uint32_t i = from; i < to; i++)
        find(s, &s->seeker[worker], i);
    return SYN_OK;
}

/* ---- all of them ---- */

static syn_status make_seekers(syn_search *s)
{
    s->seeker = calloc((size_t)s->threads, sizeof *s->seeker);
    if (!s->seeker)
        return SYN_NO_MEMORY;
    for (int w = 0; w < s->threads; w++) {
        seeker *k = &s->seeker[w];
        k->list.near = malloc(syn_nearest_room(s->k) * sizeof *k->list.near);
        k->point = malloc(((size_t)s->points->dims + 1) * sizeof *k->point);
        k->known = malloc(((size_t)s->k + 1) * sizeof *k->known);
        k->ties.tied = malloc(((size_t)s->blocks.groups + 1) * sizeof *k->ties.tied);
        k->last = calloc((size_t)s->blocks.blocks + 1, sizeof *k->last);
        k->search = s;
        if (!k->list.near || !k->point || !k->known || !k->ties.tied || !k->last)
            return SYN_NO_MEMORY;
        if (s->small && syn_sieve_make(&s->sift, s->k, &k->sieve) != SYN_OK)
            return SYN_NO_MEMORY;
    }
    return SYN_OK;
}

syn_status syn_search_make(const syn_points *points, const syn_rows *library,
                           const syn_neighbour_options *options, syn_search **out)
{
    syn_search *s = *out = calloc(1, sizeof *s);
    if (!s)
        return SYN_NO_MEMORY;
    s->points = points;
    s->options = *options;
    s->kind = syn_scan_fastest(options->vector_bits);
    s->k = options->k < library->n ? options->k : library->n;
    s->k = s->k > 0 ? s->k : 1;
    s->threads = options->threads > 1 ? options->threads : 1;
    s->small = syn_sift_worth(library->n);
    syn_status status = s->small ? syn_sift_make(points, library, options->vector_bits,
                                                 &s->sift)
                                 : syn_blocks_make(points, library, NULL, 0, &s->blocks);
    return status == SYN_OK ? make_seekers(s) : status;
}

syn_status syn_search_rows(syn_search *s, const syn_rows *prediction,
                           const syn_watch *watch, syn_near_body *body, void *context)
{
    size_t items = prediction->n / CHUNK + (prediction->n % CHUNK > 0);
    s->prediction = prediction;
    s->body = body;
    s->context = context;
    return syn_parallel_for(items, s->threads, watch, "neighbours", find_chunk, s);
}

void syn_search_free(syn_search *s)
{
    for (int w = 0; s && s->seeker && w < s->threads; w++) {
        free(s->seeker[w].list.near);
        free(s->seeker[w].point);
        free(s->seeker[w].known);
        free(s->seeker[w].ties.tied);
        free(s->seeker[w].last);
        syn_sieve_free(&s->seeker[w].sieve);
    }
    if (s) {
        free(s->seeker);
        syn_sift_free(&s->sift);
        syn_blocks_free(&s->blocks);
    }
    free(s);
}

syn_status syn_each_neighbourhood(const syn_points *points, const syn_rows *library,
                                  const syn_rows *prediction,
                                  const syn_neighbour_options *options,
                                  const syn_watch *watch, syn_near_body *body,
                                  void *context)
{
    syn_neighbour_options o = *options;
    uint32_t items = prediction->n / CHUNK + (prediction->n % CHUNK > 0);
    if (o.threads > 1 && (uint32_t)o.threads > items)
        o.threads = items > 0 ? (int)items : 1;
    syn_search *s;
    syn_status status = syn_search_make(points, library, &o, &s);
    if (status == SYN_OK)
        status = syn_search_rows(s, prediction, watch, body, context);
    syn_search_free(s);
    return status;
}

static void keep(void *context, uint32_t i, syn_near *near, uint32_t found)
{
    syn_neighbours *out = context;
    size_t first = (size_t)i * out->k;
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
    memset(out, 0, sizeof *out);
    out->n = prediction->n;
    out->k = options->k;
    out->found = malloc(((size_t)out->n + 1) * sizeof *out->found);
    out->row = malloc((entries + 1) * sizeof *out->row);
    out->distance = malloc((entries + 1) * sizeof *out->distance);
    if (!out->found || !out->row || !out->distance)
        return SYN_NO_MEMORY;
    return syn_each_neighbourhood(points, library, prediction, options, watch, keep, out);
}

void syn_neighbours_free(syn_neighbours *neighbours)
{
    free(neighbours->found);
    free(neighbours->row);
    free(neighbours->distance);
    memset(neighbours, 0, sizeof *neighbours);
}
