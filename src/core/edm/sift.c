/* Finds the nearest of a few thousand rows in three passes that have no branches to
   mispredict: distances to all of them; the least of each 64th of them, the k-th smallest
   of which is an upper bound that hardly more than k rows pass; and the rows within it.
   Where too many pass, since many are equally near, the k-th smallest distance is found
   by bisection, and rows at that distance are taken from the prediction's row outwards in
   time. */
#include "core/edm/sift.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/edm/search.h"

enum {
    MOST_TERMS = 1 << 15,  /* coordinates of a library, for which this is worth it */
    MOST_FROM_LEAST = 32   /* neighbours, for a bound from 64 rows */
};

int syn_sift_worth(uint32_t n, uint32_t dims)
{
    return (uint64_t)n * dims <= MOST_TERMS;
}

syn_status syn_sift_make(const syn_blocks *blocks, uint32_t k, syn_sift *out)
{
    size_t slots = (size_t)blocks->blocks * SYN_BLOCK;
    out->memory = malloc(slots * sizeof *out->squared + SYN_LINE);
    out->place = malloc(syn_nearest_room(k) * sizeof *out->place);
    if (!out->memory || !out->place)
        return SYN_NO_MEMORY;
    out->squared = syn_line_in(out->memory);
    return SYN_OK;
}

void syn_sift_free(syn_sift *sift)
{
    free(sift->memory);
    free(sift->place);
}

/* ---- bounds ---- */

/* Numbers that are not negative are in the order of their bits. */
static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A number that at least k of 64, each the least of many, do not exceed; DBL_MAX if that
   says nothing. */
static double first_bound(const syn_scan_kind *kind, const syn_blocks *b,
                          const double *squared, uint32_t k)
{
    double least[SYN_BLOCK];
    if (k > MOST_FROM_LEAST)
        return DBL_MAX;
    kind->least(squared, b->blocks, least);
    syn_split all = kind->split(least, 1, DBL_MAX);
    return all.n < k ? DBL_MAX : syn_scan_bound(kind, least, k, all.largest);
}

/* A distance that k rows do not exceed, and no more than `most` of them do not; or, if
   there is none, the k-th smallest. `high` is one that k rows do not exceed. */
static double kth_of(const syn_scan_kind *kind, const syn_blocks *b,
                     const double *squared, uint32_t k, double high, uint32_t most)
{
    double low = 0;
    while (low < high) {
        uint64_t from = bits_of(low);
        double middle = of_bits(from + (bits_of(high) - from) / 2);
        syn_split split = kind->split(squared, b->blocks, middle);
        if (split.n < k) {
            low = split.next;
            continue;
        }
        high = split.largest;
        if (split.n <= most)
            return high;
    }
    return high;
}

/* ---- rows ---- */

static void leave_out(const syn_blocks *b, uint32_t row, uint32_t rows,
                      uint32_t exclusion, double *squared)
{
    uint32_t first = row > exclusion ? row - exclusion : 0;
    for (uint32_t r = first; r < rows && syn_rows_apart(r, row) <= exclusion; r++)
        if (b->place[r] != SYN_NO_ROW)
            squared[b->place[r]] = INFINITY;
}

static void take(const syn_blocks *b, const double *squared, uint32_t place, uint32_t row,
                 syn_nearest *list)
{
    uint32_t other = b->row[place];
    list->near[list->n++] = (syn_near){squared[place], syn_rows_apart(other, row), other};
}

/* Takes all rows within `limit`, if these are no more than the list has room for. */
static int take_within(const syn_scan_kind *kind, const syn_blocks *b, double limit,
                       uint32_t row, const syn_sift *sift, syn_nearest *list)
{
    uint32_t n = kind->within(sift->squared, b->blocks, limit, list->room, sift->place);
    for (uint32_t i = 0; n <= list->room && i < n; i++)
        take(b, sift->squared, sift->place[i], row, list);
    return n <= list->room;
}

/* Takes rows at exactly the distance `at` until there are k, those that are nearest in
   time. */
static void take_tied(const syn_blocks *b, double at, uint32_t row, uint32_t rows,
                      const double *squared, syn_nearest *list)
{
    uint32_t most = row > rows - row ? row : rows - row;
    for (uint32_t apart = 0; apart <= most && list->n < list->k; apart++) {
        uint32_t before = apart <= row ? b->place[row - apart] : SYN_NO_ROW;
        uint32_t after = apart < rows - row ? b->place[row + apart] : SYN_NO_ROW;
        if (before != SYN_NO_ROW && squared[before] == at)
            take(b, squared, before, row, list);
        if (after != SYN_NO_ROW && after != before && squared[after] == at &&
            list->n < list->k)
            take(b, squared, after, row, list);
    }
}

void syn_sift_row(const syn_scan_kind *kind, const syn_blocks *blocks,
                  const double *point, uint32_t row, uint32_t rows, uint32_t exclusion,
                  syn_sift *sift, syn_nearest *list)
{
    double *squared = sift->squared;
    kind->all(point, blocks->dims, blocks->x, blocks->blocks, squared);
    leave_out(blocks, row, rows, exclusion, squared);
    double limit = first_bound(kind, blocks, squared, list->k);
    if (take_within(kind, blocks, limit, row, sift, list))
        return;
    limit = kth_of(kind, blocks, squared, list->k, limit, list->room);
    if (take_within(kind, blocks, limit, row, sift, list))
        return;
    if (limit > 0)
        take_within(kind, blocks, of_bits(bits_of(limit) - 1), row, sift, list);
    take_tied(blocks, limit, row, rows, squared, list);
}
