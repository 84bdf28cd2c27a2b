/* Finds the nearest of a few thousand rows in passes that have hardly a branch to
   mispredict: rough distances to all of them; the least of each 64th of them, the k-th
   smallest of which is an upper bound that hardly more than k rows pass; the rows within
   it; and the precise distances of these.

   Where too many pass, since many are equally near, the k-th smallest of the precise
   distances is found by bisection, and of the rows at that distance those are taken
   that come first in the order of ties. */
#include "core/edm/neighbours/sift.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/rank.h"

enum { MOST_FROM_LEAST = 32 };  /* neighbours, for a bound from 64 rows */

/* How far outside of the library a point may be, for rough distances to be any use. */
static const double most_outside = 1024;

/* ---- the library ---- */

/* The centre of each coordinate, and what brings all of them within 1 of it. */
static void find_scale(const syn_points *points, const syn_rows *library, syn_sift *s)
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

static void make_rough(syn_sift *s)
{
    const double *from = s->blocks.x;
    float *to = s->x;
    for (uint32_t b = 0; b < s->blocks.blocks; b++)
        for (uint32_t d = 0; d < s->blocks.dims; d++)
            for (uint32_t i = 0; i < SYN_BLOCK; i++)
                *to++ = (float)((*from++ - s->centre[d]) * s->scale);
}

syn_status syn_sift_make(const syn_points *points, const syn_rows *library,
                         int vector_bits, syn_arrays *memory, syn_sift *out)
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

syn_status syn_sieve_make(const syn_sift *sift, uint32_t k, syn_arrays *memory,
                          syn_sieve *out)
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
static uint32_t left_out(const syn_sift *s, uint32_t row, uint32_t exclusion, uint32_t *n)
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

static syn_near near_at(const syn_sift *s, uint32_t place, double squared, uint32_t from)
{
    uint32_t row = s->blocks.row[place];
    return (syn_near){squared, syn_rank_after(row, from), row};
}

/* ---- by rough distances ---- */

/* The point as floats; 0 where distances from it would be too rough. */
static int make_point(const syn_sift *s, const double *point, float *to)
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
static float allow_for_rounding(const syn_sift *s, const float *point, double square)
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
static int sift_roughly(const syn_sift *s, const double *point, uint32_t row,
                        uint32_t exclusion, syn_sieve *sieve, syn_nearest *list,
                        double *most)
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
    uint32_t n = s->kind->within_rough(sieve->rough, b->blocks, limit, list->room,
                                       sieve->place);
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
static double kth_of(const syn_sift *s, const double *squared, uint32_t k, double high,
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
static int take_within(const syn_sift *s, double limit, uint32_t from, syn_sieve *sieve,
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

void syn_sift_row(const syn_sift *sift, const double *point, uint32_t row,
                  uint32_t exclusion, syn_sieve *sieve, syn_nearest *list)
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
