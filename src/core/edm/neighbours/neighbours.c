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

   Finds the nearest of a few thousand rows in passes that have hardly a branch to
   mispredict: rough distances to all of them; the least of each 64th of them, the k-th
   smallest of which is an upper bound that hardly more than k rows pass; the rows within
   it; and the precise distances of these.

   Where too many pass, since many are equally near, the k-th smallest of the precise
   distances is found by bisection, and of the rows at that distance those are taken
   that come first in the order of ties. */

/* A small library. Coordinates are also kept as floats, less their centre and scaled so
   that none is beyond 1: rough distances, in half the time, tell which few rows may be
   among the nearest. */
typedef struct sift {
    const syn_scan_kind *kind;
    syn_blocks blocks;
    uint32_t rows;      /* of the data */
    double *centre;     /* [dims] */
    double scale;       /* 0 where distances of all rows are the same, or infinite */
    float *x;           /* [blocks][dims][64] */
} sift;

/* What a worker uses over and over. */
typedef struct sieve {
    float *point;       /* [dims] */
    float *rough;       /* [blocks][64] squared distances, */
    double *squared;    /* [blocks][64] and precise ones */
    uint32_t *place;    /* [room of the list] places of rows that are near */
    double *near;       /* [room of the list] and their squared distances */
} sieve;

/* Up to so many rows, distances to all take less time than a search among boxes around
   blocks of them. */
enum { SIFT_ROWS = 2048 };

enum { MOST_FROM_LEAST = 32 };  /* neighbours, for a bound from 64 rows */

/* How far outside of the library a point may be, for rough distances to be any use. */
static const double most_outside = 1024;

/* ---- the library ---- */

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

static void make_rough(sift *s)
{
    const double *from = s->blocks.x;
    float *to = s->x;
    for (uint32_t b = 0; b < s->blocks.blocks; b++)
        for (uint32_t d = 0; d < s->blocks.dims; d++)
            for (uint32_t i = 0; i < SYN_BLOCK; i++)
                *to++ = (float)((*from++ - s->centre[d]) * s->scale);
}

/* Gathers a library. */
static syn_status sift_make(const syn_points *points, const syn_rows *library,
                            int vector_bits, syn_arrays *memory, sift *out)
{
    out->kind = syn_scan_fastest(vector_bits);
    out->rows = points->rows;
    SYN_TRY(syn_blocks_list(points, library, memory, &out->blocks));
    size_t terms = (size_t)out->blocks.blocks * SYN_BLOCK * points->dims;
    SYN_ARRAY(memory, out->centre, points->dims);
    SYN_ARRAY(memory, out->x, terms);
    find_scale(points, library, out);
    if (out->scale > 0)
        make_rough(out);
    return SYN_OK;
}

/* Makes room for lists of the nearest `k`. */
static syn_status sieve_make(const sift *sift, uint32_t k, syn_arrays *memory, sieve *out)
{
    size_t slots = (size_t)sift->blocks.blocks * SYN_BLOCK, room = syn_nearest_room(k);
    SYN_ARRAY(memory, out->squared, slots);
    SYN_ARRAY(memory, out->rough, slots);
    SYN_ARRAY(memory, out->point, sift->blocks.dims);
    SYN_ARRAY(memory, out->place, room);
    SYN_ARRAY(memory, out->near, room);
    return SYN_OK;
}

/* ---- rows ---- */

/* Library rows that are too near in time to `row`, as places one after the other; returns
   the first, and their number in `n`. */
static uint32_t left_out(const sift *s, uint32_t row, uint32_t exclusion, uint32_t *n)
{
    uint32_t first = row > exclusion ? row - exclusion : 0, from = 0;
    *n = 0;
    for (uint32_t r = first; r < s->rows && syn_rows_apart(r, row) <= exclusion; r++)
        if (s->blocks.place[r] != SYN_NO_ROW) {
            from = *n > 0 ? from : s->blocks.place[r];
            ++*n;
        }
    return from;
}

static syn_near near_at(const sift *s, uint32_t place, double squared, uint32_t from)
{
    uint32_t row = s->blocks.row[place];
    return (syn_near){squared, syn_rank_after(row, from), row};
}

/* ---- by rough distances ---- */

/* The point as floats; 0 where distances from it would be too rough. */
static int make_point(const sift *s, const double *point, float *to)
{
    double most = 0;
    for (uint32_t d = 0; d < s->blocks.dims; d++) {
        double x = (point[d] - s->centre[d]) * s->scale;
        most = fabs(x) > most ? fabs(x) : most;
        to[d] = (float)x;
    }
    return s->scale > 0 && most < most_outside;
}

/* A rough square that all of those whose true distances are at most the k-th smallest
   do not exceed, if k rough squares are at most `square`. */
static float allow_for_rounding(const sift *s, const float *point, double square)
{
    double most = 1, dims = s->blocks.dims;
    for (uint32_t d = 0; d < s->blocks.dims; d++)
        most = fabs(point[d]) + 1 > most ? fabs(point[d]) + 1 : most;
    /* Differences of coordinates are wrong by up to FLT_EPSILON * most, and sums of their
       squares by half of that share for each term. Some more is allowed for, once on the
       way to the true distances and once back. */
    double shift = 4 * FLT_EPSILON * most * sqrt(dims);
    double share = 1 + FLT_EPSILON * (dims + 8);
    double distance = ((sqrt(square) + shift) * share + shift) * share;
    return (float)(distance * distance * (1 + 4 * FLT_EPSILON));
}

/* Fills the list with the nearest and a few more; 0 where rough distances do not tell
   these from many others. Lowers `most` to a squared distance that k rows do not
   exceed. */
static int sift_roughly(const sift *s, const double *point, uint32_t row,
                        uint32_t exclusion, sieve *sieve, syn_nearest *list, double *most)
{
    const syn_blocks *b = &s->blocks;
    uint32_t without, from = syn_row_rank(row);
    if (list->k > MOST_FROM_LEAST || !make_point(s, point, sieve->point))
        return 0;
    s->kind->rough(sieve->point, b->dims, s->x, b->blocks, sieve->rough);
    float *gone = sieve->rough + left_out(s, row, exclusion, &without);
    for (uint32_t i = 0; i < without; i++)
        gone[i] = INFINITY;
    float square = s->kind->bound(sieve->rough, b->blocks, list->k);
    if (!(square < INFINITY))
        return 0;
    float limit = allow_for_rounding(s, sieve->point, square);
    *most = limit / s->scale / s->scale * (1 + FLT_EPSILON);
    uint32_t n =
        s->kind->within_rough(sieve->rough, b->blocks, limit, list->room, sieve->place);
    if (n > list->room)
        return 0;
    s->kind->some(point, b->dims, b->x, sieve->place, n, sieve->near);
    for (uint32_t i = 0; i < n; i++)
        if (sieve->near[i] < INFINITY)
            list->near[list->n++] = near_at(s, sieve->place[i], sieve->near[i], from);
    return 1;
}

/* ---- by precise distances ---- */

/* A number that k rows do not exceed, and no more than `most` of them do not; or, if
   there is none, the k-th smallest. `high` is one that k do not exceed, if so many are
   finite; `most` is at least k. */
static double kth_of(const sift *s, const double *squared, uint32_t k, double high,
                     uint32_t most)
{
    double low = 0;
    syn_split split = s->kind->split(squared, s->blocks.blocks, high);
    if (split.n <= most)
        return high;
    high = split.largest;
    /* Most often the k-th smallest is the largest of these. */
    double middle = high > 0 ? syn_bits_double(syn_double_bits(high) - 1) : 0;
    while (low < high) {
        split = s->kind->split(squared, s->blocks.blocks, middle);
        if (split.n >= k && split.n <= most)
            return split.largest;
        if (split.n < k)
            low = split.next;
        else
            high = split.largest;
        uint64_t from = syn_double_bits(low);
        middle = syn_bits_double(from + (syn_double_bits(high) - from) / 2);
    }
    return high;
}

/* Takes all rows within `limit`, if these are no more than the list has room for. */
static int take_within(const sift *s, double limit, uint32_t from, sieve *sieve,
                       syn_nearest *list)
{
    uint32_t n = s->kind->within(sieve->squared, s->blocks.blocks, limit, list->room,
                                 sieve->place);
    for (uint32_t i = 0; n <= list->room && i < n; i++) {
        uint32_t place = sieve->place[i];
        list->near[list->n++] = near_at(s, place, sieve->squared[place], from);
    }
    return n <= list->room;
}

/* Fills the list, which has been started, with the rows nearest to a point and perhaps a
   few more. Rows at most `exclusion` from `row` are left out. */
static void sift_row(const sift *sift, const double *point, uint32_t row,
                     uint32_t exclusion, sieve *sieve, syn_nearest *list)
{
    const syn_blocks *b = &sift->blocks;
    double *squared = sieve->squared;
    uint32_t without, from = syn_row_rank(row);
    double limit = DBL_MAX;
    if (sift_roughly(sift, point, row, exclusion, sieve, list, &limit))
        return;
    double all = INFINITY;
    syn_scan scan = {b->dims, 1, point, &all, all};
    for (uint32_t i = 0; i < b->blocks; i++) {
        uint64_t pass;
        sift->kind->rows(&scan, b->x + (size_t)i * b->dims * SYN_BLOCK, &pass,
                         squared + (size_t)i * SYN_BLOCK);
    }
    double *gone = squared + left_out(sift, row, exclusion, &without);
    for (uint32_t i = 0; i < without; i++)
        gone[i] = INFINITY;
    limit = kth_of(sift, squared, list->k, limit, list->room);
    if (take_within(sift, limit, from, sieve, list))
        return;
    if (limit > 0)
        take_within(sift, syn_bits_double(syn_double_bits(limit) - 1), from, sieve, list);
    for (uint32_t place = 0; place < b->blocks * SYN_BLOCK; place++)
        if (squared[place] == limit)
            syn_nearest_offer(list, near_at(sift, place, limit, from));
}

enum {
    CHUNK = 8,  /* prediction rows handed out together */
    MANY = 32   /* neighbours for which the rows of one block say too little */
};

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
    ties *ties;             /* [E_max] */
    uint32_t begun[3], n_begun;  /* blocks that were searched before all others */
    uint32_t known_E, known_of;  /* of which lists, and of which row, there still are the
                                    neighbours */
    uint32_t *seen, turn;   /* [places] the turn in which a row was last pooled */
    size_t pooled[SYN_BLOCK];  /* where the coordinates of pooled rows begin */
    double *pool;           /* [dims][64] */
    double *last;           /* [blocks] squared distance of the k-th neighbour of the last
                               row in each block; 0 before the first */
    sieve sieve;        /* for small libraries */
} seeker;

struct syn_search {
    const syn_points *points;
    const syn_reach *prediction;
    syn_neighbour_options options;
    const syn_scan_kind *kind;
    uint32_t k;            /* of the first list, no more than there are library rows */
    uint32_t step, E_max;
    int small;             /* whether all distances are computed */
    sift sift;         /* the library if so, */
    syn_blocks blocks;     /* or otherwise */
    int threads;
    seeker *seeker;        /* [threads] */
    syn_arrays memory;
    syn_near_body *body;
    void *context;
};

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
    if (s->k > SYN_BLOCK)
        return;
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

/* Searches those of the blocks put aside for one E that matter, for all E: others may
   have put them aside too. */
static void visit_tied(const syn_search *s, seeker *w, uint32_t of)
{
    const ties *t = &w->ties[of];
    syn_nearest *list = &w->list[of];
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
            for (uint32_t e = 0; e < w->E; e++)
                w->ties[e].tied[g] &= ~(left & (0 - left));
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
    for (uint32_t i = 0; i < w->n_begun; i++)
        if (w->begun[i] / SYN_BLOCK == g)
            done |= (uint64_t)1 << w->begun[i] % SYN_BLOCK;
    do {
        double limit = w->limit[0];
        s->kind->boxes(&w->scan, s->blocks.low + g * group, s->blocks.high + g * group,
                       w->pass, w->nearer);
        now = 0;
        for (uint32_t e = 0; e < w->E; e++)
            now |= w->nearer[e] & ~done;
        for (uint32_t e = 0; e < w->E; e++)
            put_aside(&w->ties[e], g, w->pass[e] & ~(done | now), w->limit[e]);
        for (; now && (w->E > 1 || !(w->limit[0] < limit)); now &= now - 1) {
            done |= now & (0 - now);
            visit(s, w, g * SYN_BLOCK + syn_low_bit(now));
        }
    } while (now);
}

/* Searches all blocks where the limits allow it. */
static void find_within(const syn_search *s, seeker *w)
{
    for (uint32_t e = 0; e < w->E; e++) {
        syn_nearest_start(&w->list[e], s->k + e);
        w->ties[e].at = -1;
        w->ties[e].any = 0;
    }
    set_most(w);
    begin(s, w);
    for (uint32_t g = 0; g < s->blocks.groups; g++)
        find_in_group(s, w, g);
    for (uint32_t e = 0; e < w->E; e++)
        visit_tied(s, w, e);
}

/* Searches among boxes. Many neighbours are first searched for as far as the k-th of the
   last row in the same block was, and some more; then, while there are fewer than k,
   farther away. */
static void find_among_boxes(const syn_search *s, seeker *w)
{
    uint32_t home = s->blocks.home[w->row];
    known_limits(s, w);
    w->known_E = w->E;
    w->known_of = w->row;
    double known = w->limit[0], before = home != SYN_NO_ROW ? w->last[home] : 0;
    double far = s->k >= MANY && before > 0 ? 1.25 * before : known;
    do {
        w->limit[0] = far < known && far < 100 * before ? far : known;
        find_within(s, w);
        far *= 2;
    } while (w->list[0].n < s->k && w->limit[0] < known);
    for (uint32_t e = 0; e < w->E; e++)
        syn_nearest_finish(&w->list[e]);
    if (home != SYN_NO_ROW && w->list[0].n == s->k)
        w->last[home] = w->list[0].near[s->k - 1].squared;
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
    if (s->small) {
        syn_nearest_start(&w->list[0], s->k);
        sift_row(&s->sift, w->point, w->row, s->options.exclusion, &w->sieve,
                 &w->list[0]);
        syn_nearest_finish(&w->list[0]);
    } else {
        find_among_boxes(s, w);
    }
    for (uint32_t e = 0; e < w->E; e++)
        s->body(s->context, i, e, w->list[e].near, w->list[e].n);
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
    size_t E = s->E_max, dims = s->points->dims, groups = s->blocks.groups;
    SYN_ARRAY(memory, w->point, dims);
    SYN_ARRAY(memory, w->list, E);
    for (uint32_t e = 0; e < E; e++)
        SYN_ARRAY(memory, w->list[e].near, syn_nearest_room(s->k + e));
    SYN_ARRAY(memory, w->limit, E);
    if (s->small)
        return sieve_make(&s->sift, s->k, memory, &w->sieve);
    SYN_ARRAY(memory, w->pass, E);
    SYN_ARRAY(memory, w->nearer, E);
    SYN_ARRAY(memory, w->squared, E * SYN_BLOCK);
    SYN_ARRAY(memory, w->ties, E);
    for (uint32_t e = 0; e < E; e++)
        SYN_ARRAY(memory, w->ties[e].tied, groups);
    SYN_ARRAY(memory, w->seen, (size_t)s->blocks.blocks * SYN_BLOCK);
    SYN_ARRAY(memory, w->pool, dims * SYN_BLOCK);
    SYN_ARRAY(memory, w->last, s->blocks.blocks);
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
    s->small = n <= SIFT_ROWS && s->E_max == 1 && !library->steps;
    SYN_TRY(s->small ? sift_make(points, &library->rows, options->vector_bits, &s->memory,
                                 &s->sift)
                     : syn_blocks_make(points, &library->rows, library->steps, step,
                                       &s->memory, &s->blocks));
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

static void keep(void *context, uint32_t i, uint32_t e, syn_near *near, uint32_t found)
{
    syn_neighbours *out = context;
    size_t first = (size_t)i * out->k;
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
