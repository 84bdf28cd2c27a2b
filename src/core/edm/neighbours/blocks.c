/* Sorts library points into blocks of 64 that lie near each other. Points are halved
   again and again along the coordinate in which they differ most, and by time where they
   are the same there. The smallest box around each block lets a search pass over blocks
   that are too far away. */
#include "core/edm/neighbours/blocks.h"

#include <math.h>
#include <string.h>

#include "core/base/rank.h"

enum { SAMPLE = 256 };  /* places looked at to see how far they spread */

/* Places in the library, to be put in an order in which neighbours are close. */
typedef struct sorting {
    const syn_points *points;
    const syn_reach *library;
    uint32_t step;
    uint32_t *place;
} sorting;

static double coordinate(const sorting *s, uint32_t place, uint32_t dim)
{
    const syn_reach *l = s->library;
    if (l->steps && dim >= l->steps[place] * s->step)
        return INFINITY;
    return s->points->coordinate[(size_t)dim * s->points->rows + l->rows.row[place]];
}

/* The coordinate in which some of places [from, to) differ most. */
static uint32_t widest(const sorting *s, uint32_t from, uint32_t to)
{
    uint32_t best = 0, stride = (to - from) / SAMPLE + 1;
    double most = -1;
    for (uint32_t d = 0; d < s->points->dims; d++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t i = from; i < to; i += stride) {
            double x = coordinate(s, s->place[i], d);
            if (x < INFINITY) {
                low = x < low ? x : low;
                high = x > high ? x : high;
            }
        }
        if (high - low > most) {
            most = high - low;
            best = d;
        }
    }
    return best;
}

/* Whether a place comes before `other`, whose coordinate `dim` is x: by that, then by
   time. */
static int precedes(const sorting *s, uint32_t place, uint32_t dim, double x,
                    uint32_t other)
{
    double here = coordinate(s, place, dim);
    return here < x || (here == x && place < other);
}

static int follows(const sorting *s, uint32_t place, uint32_t dim, double x,
                   uint32_t other)
{
    double here = coordinate(s, place, dim);
    return here > x || (here == x && place > other);
}

/* Orders places [from, to) so that none before `middle` has a larger coordinate `dim`
   than one from there on. */
static void part(const sorting *s, uint32_t from, uint32_t to, uint32_t middle,
                 uint32_t dim)
{
    uint32_t *place = s->place;
    int64_t low = from, high = (int64_t)to - 1;
    while (low < high) {
        uint32_t amid = place[low + (high - low) / 2];
        double pivot = coordinate(s, amid, dim);
        int64_t i = low, j = high;
        while (i <= j) {
            while (precedes(s, place[i], dim, pivot, amid))
                i++;
            while (follows(s, place[j], dim, pivot, amid))
                j--;
            if (i <= j) {
                uint32_t other = place[i];
                place[i++] = place[j];
                place[j--] = other;
            }
        }
        if ((int64_t)middle <= j)
            high = j;
        else if ((int64_t)middle >= i)
            low = i;
        else
            return;
    }
}

/* Halves places [from, to), where a block begins, until each part is a block. */
static void order(const sorting *s, uint32_t from, uint32_t to)
{
    while (to - from > SYN_BLOCK) {
        uint32_t blocks = (to - from + SYN_BLOCK - 1) / SYN_BLOCK;
        uint32_t middle = from + blocks / 2 * SYN_BLOCK;
        part(s, from, to, middle, widest(s, from, to));
        order(s, from, middle);
        from = middle;
    }
}

/* Rows of a block; the last one may have fewer than there is room for. */
static uint32_t rows_of(const sorting *s, uint32_t block)
{
    uint32_t left = s->library->rows.n - block * SYN_BLOCK;
    return left < SYN_BLOCK ? left : SYN_BLOCK;
}

static void fill_block(const sorting *s, syn_blocks *b, uint32_t block)
{
    uint32_t first = block * SYN_BLOCK, n = rows_of(s, block);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = s->library->rows.row[s->place[first + i]];
        b->row[first + i] = row;
        b->place[row] = first + i;
    }
    for (uint32_t d = 0; d < b->dims; d++) {
        double *x = b->x + ((size_t)block * b->dims + d) * SYN_BLOCK;
        for (uint32_t i = 0; i < n; i++)
            x[i] = coordinate(s, s->place[first + i], d);
        for (uint32_t i = n; i < SYN_BLOCK; i++)
            x[i] = INFINITY;
    }
}

/* Sorts the places of a block's rows in the order of ties. */
static void shuffle_block(const sorting *s, syn_blocks *b, uint32_t block)
{
    uint32_t n = rows_of(s, block), *to = b->shuffled + (size_t)block * SYN_BLOCK;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = syn_row_rank(b->row[block * SYN_BLOCK + i]), j = i;
        for (; j > 0 && place < to[j - 1]; j--)
            to[j] = to[j - 1];
        to[j] = place;
    }
    for (uint32_t i = n; i < SYN_BLOCK; i++)
        to[i] = to[n - 1];
}

/* Finds the box around a block that is filled. */
static void bound_block(const sorting *s, syn_blocks *b, uint32_t block)
{
    uint32_t n = rows_of(s, block);
    size_t box = (size_t)(block / SYN_BLOCK) * b->dims * SYN_BLOCK + block % SYN_BLOCK;
    for (uint32_t d = 0; d < b->dims; d++, box += SYN_BLOCK) {
        const double *x = b->x + ((size_t)block * b->dims + d) * SYN_BLOCK;
        for (uint32_t i = 0; i < n; i++) {
            b->low[box] = x[i] < b->low[box] ? x[i] : b->low[box];
            b->high[box] = x[i] > b->high[box] ? x[i] : b->high[box];
        }
    }
}

syn_status syn_blocks_make(const syn_points *points, const syn_reach *library,
                           uint32_t step, syn_arrays *memory, syn_blocks *out)
{
    sorting s = {points, library, step, NULL};
    uint32_t n = library->rows.n, rows = points->rows;
    *out = (syn_blocks){.dims = points->dims,
                        .blocks = n / SYN_BLOCK + (n % SYN_BLOCK > 0)};
    size_t slots = (size_t)out->blocks * SYN_BLOCK;
    SYN_ARRAY(memory, s.place, n);
    SYN_ARRAY(memory, out->row, slots);
    SYN_ARRAY(memory, out->place, rows);
    SYN_ARRAY(memory, out->x, slots * out->dims);
    memset(out->row, 0xff, slots * sizeof *out->row);
    memset(out->place, 0xff, (size_t)rows * sizeof *out->place);
    for (uint32_t i = 0; i < n; i++)
        s.place[i] = i;
    out->groups = out->blocks / SYN_BLOCK + (out->blocks % SYN_BLOCK > 0);
    size_t boxes = (size_t)out->groups * out->dims * SYN_BLOCK;
    SYN_ARRAY(memory, out->shuffled, slots);
    SYN_ARRAY(memory, out->home, points->rows);
    SYN_ARRAY(memory, out->low, boxes);
    SYN_ARRAY(memory, out->high, boxes);
    for (size_t i = 0; i < boxes; i++) {
        out->low[i] = INFINITY;
        out->high[i] = -INFINITY;
    }
    order(&s, 0, n);
    for (uint32_t b = 0; b < out->blocks; b++) {
        fill_block(&s, out, b);
        bound_block(&s, out, b);
        shuffle_block(&s, out, b);
    }
    /* Rows after the last library row have the block of that. */
    const uint32_t *row = library->rows.row;
    for (uint32_t at = 0, next = 0; at < rows; at++) {
        while (next + 1 < n && row[next] < at)
            next++;
        out->home[at] = n > 0 ? out->place[row[next]] / SYN_BLOCK : SYN_NO_ROW;
    }
    return SYN_OK;
}
