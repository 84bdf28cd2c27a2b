/* Writes blocks of a map into the columns of a matrix, and finds the strongest links
   of a column. Tiles of 64 x 64 numbers are turned, so that each line of the cache is
   read and written once. */
#include "core/causal/map.h"

#include <math.h>
#include <string.h>

#include "core/base/parallel.h"

enum { TILE = 64 };  /* numbers: four lines of the cache are read, and eight written */

typedef struct transposition {
    const float *rho;
    size_t n;
    uint32_t targets;
    const syn_map_columns *to;
} transposition;

/* Reads line after line, and turns the tile while it is written: that takes half as long
   as the other way round. */
static void one_tile(const transposition *t, size_t i0, size_t i1, uint32_t j0,
                     uint32_t j1)
{
    float tile[TILE][TILE];
    for (size_t i = i0; i < i1; i++)
        memcpy(tile[i - i0], t->rho + i * t->targets + j0, (j1 - j0) * sizeof **tile);
    for (uint32_t j = j0; j < j1; j++) {
        double *column = t->to->value + (size_t)(t->to->column[j] - 1) * t->to->rows + i0;
        for (size_t i = 0; i < i1 - i0; i++) {
            float rho = tile[i][j - j0];
            column[i] = isnan(rho) ? t->to->missing : (double)rho;
        }
    }
}

static syn_status some_targets(void *context, size_t item, int worker)
{
    const transposition *t = context;
    uint32_t j0 = (uint32_t)item * TILE;
    uint32_t j1 = t->targets - j0 < TILE ? t->targets : j0 + TILE;
    (void)worker;
    for (size_t i = 0; i < t->n; i += TILE)
        one_tile(t, i, t->n - i < TILE ? t->n : i + TILE, j0, j1);
    return SYN_OK;
}

syn_status syn_map_write(const float *rho, size_t n, uint32_t targets, int threads,
                         const syn_map_columns *to)
{
    transposition t = {rho, n, targets, to};
    return syn_parallel_for((targets + TILE - 1) / TILE, threads, NULL, "", some_targets,
                            &t);
}

/* Moves the k-th highest of v[n] to v[k - 1], 1 <= k <= n, with those that are not lower
   before it. */
static double kth_highest(double *v, size_t n, size_t k)
{
    size_t first = 0, last = n - 1;
    while (first < last) {
        double middle = v[first + (last - first) / 2];
        size_t i = first, j = last;
        for (;;) {
            while (v[i] > middle)
                i++;
            while (v[j] < middle)
                j--;
            if (i >= j)
                break;
            double other = v[i];
            v[i++] = v[j];
            v[j--] = other;
        }
        /* Up to j none is lower than the middle, after it none is higher. */
        if (k - 1 <= j)
            last = j;
        else
            first = j + 1;
    }
    return v[k - 1];
}

/* What a column's links must reach, and how many of those that just do. */
typedef struct link_test {
    double least, floor;
    size_t own;
    double last;
    size_t ties;
} link_test;

static int is_link(const link_test *test, double rho, size_t row)
{
    int high = test->floor > test->least ? rho > test->floor : rho >= test->least;
    return high && row + 1 != test->own;
}

/* Raises the bound so that only `top` links are left; returns how many there are. */
static size_t keep_top(link_test *test, const double *column, size_t rows, size_t top,
                       double *room)
{
    size_t found = 0, higher = 0;
    for (size_t i = 0; i < rows; i++)
        if (is_link(test, column[i], i))
            room[found++] = column[i];
    if (found <= top)
        return found;
    test->last = kth_highest(room, found, top);
    for (size_t i = 0; i < found; i++)
        higher += room[i] > test->last;
    test->ties = top - higher;
    return top;
}

size_t syn_map_links(const double *rho, size_t rows, size_t columns,
                     const syn_map_bounds *bounds, size_t top, double *room, double *at)
{
    size_t n = 0;
    for (size_t j = 0; j < columns; j++) {
        const double *column = rho + j * rows;
        link_test test = {bounds->least[j], bounds->floors[j], (size_t)bounds->own[j],
                          -INFINITY, 0};
        size_t left = keep_top(&test, column, rows, top, room);
        for (size_t i = 0; left > 0 && at; i++) {
            if (!is_link(&test, column[i], i) || column[i] < test.last)
                continue;
            if (column[i] == test.last) {
                if (test.ties == 0)
                    continue;
                test.ties--;
            }
            at[n++] = (double)(j * rows + i + 1);
            left--;
        }
        n += left;
    }
    return n;
}
