/* Sorts library points into blocks of 64 that lie near each other. Points are halved
   again and again along the coordinate in which they differ most, and by time where they
   are the same there. The smallest box around each block lets a search pass over blocks
   that are too far away. */
#include "core/edm/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 256 };  /* places looked at to see how far they spread */

/* Places in the library, to be put in an order in which neighbours are close. */
typedef struct sorting {
    const syn_points *points;
    const syn_rows *library;
    const uint32_t *steps;
    uint32_t step;
    uint32_t *place;
} sorting;

static double coordinate(const sorting *s, uint32_t place, uint32_t dim)
{
    if (s->steps && dim >= s->steps[place] * s->step)
        return INFINITY;
    return s->points->coordinate[(size_t)dim * s->points->rows + s->library->row[place]];
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

static void fill_block(const sorting *s, syn_blocks *b, uint32_t block)
{
    uint32_t first = block * SYN_BLOCK, n = s->library->n - first;
    n = n < SYN_BLOCK ? n : SYN_BLOCK;
    b->first[block] = UINT32_MAX;
    b->last[block] = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = s->library->row[s->place[first + i]];
        b->first[block] = row < b->first[block] ? row : b->first[block];
        b->last[block] = row > b->last[block] ? row : b->last[block];
        b->row[first + i] = row;
        b->place[row] = first + i;
    }
    size_t box = (size_t)(block / SYN_BLOCK) * b->dims * SYN_BLOCK + block % SYN_BLOCK;
    for (uint32_t d = 0; d < b->dims; d++, box += SYN_BLOCK) {
        double *x = b->x + ((size_t)block * b->dims + d) * SYN_BLOCK;
        for (uint32_t i = 0; i < n; i++) {
            x[i] = coordinate(s, s->place[first + i], d);
            b->low[box] = x[i] < b->low[box] ? x[i] : b->low[box];
            b->high[box] = x[i] > b->high[box] ? x[i] : b->high[box];
        }
        for (uint32_t i = n; i < SYN_BLOCK; i++)
            x[i] = INFINITY;
    }
}

static syn_status make_room(syn_blocks *b, uint32_t rows)
{
    size_t slots = (size_t)b->blocks * SYN_BLOCK;
    size_t boxes = (size_t)b->groups * b->dims * SYN_BLOCK;
    b->row = malloc((slots + 1) * sizeof *b->row);
    b->place = malloc(((size_t)rows + 1) * sizeof *b->place);
    b->first = malloc(((size_t)b->blocks + 1) * sizeof *b->first);
    b->last = malloc(((size_t)b->blocks + 1) * sizeof *b->last);
    b->home = malloc(((size_t)rows + 1) * sizeof *b->home);
    b->memory = malloc((slots * b->dims + 2 * boxes) * sizeof(double) + SYN_LINE);
    if (!b->row || !b->place || !b->first || !b->last || !b->home || !b->memory)
        return SYN_NO_MEMORY;
    b->x = syn_line_in(b->memory);
    b->low = b->x + slots * b->dims;
    b->high = b->low + boxes;
    memset(b->row, 0xff, slots * sizeof *b->row);
    memset(b->place, 0xff, (size_t)rows * sizeof *b->place);
    for (size_t i = 0; i < boxes; i++) {
        b->low[i] = INFINITY;
        b->high[i] = -INFINITY;
    }
    return SYN_OK;
}

/* Rows after the last library row have the block of that. */
static void find_homes(syn_blocks *b, uint32_t rows, const syn_rows *library)
{
    uint32_t next = 0;
    for (uint32_t row = 0; row < rows; row++) {
        while (next + 1 < library->n && library->row[next] < row)
            next++;
        b->home[row] = library->n > 0 ? b->place[library->row[next]] / SYN_BLOCK
                                      : SYN_NO_ROW;
    }
}

syn_status syn_blocks_make(const syn_points *points, const syn_rows *library,
                           const uint32_t *steps, uint32_t step, syn_blocks *out)
{
    memset(out, 0, sizeof *out);
    out->dims = points->dims;
    out->blocks = library->n / SYN_BLOCK + (library->n % SYN_BLOCK > 0);
    out->groups = out->blocks / SYN_BLOCK + (out->blocks % SYN_BLOCK > 0);
    sorting s = {points, library, steps, step, NULL};
    s.place = malloc(((size_t)library->n + 1) * sizeof *s.place);
    syn_status status = s.place ? make_room(out, points->rows) : SYN_NO_MEMORY;
    if (status == SYN_OK) {
        for (uint32_t i = 0; i < library->n; i++)
            s.place[i] = i;
        order(&s, 0, library->n);
        for (uint32_t b = 0; b < out->blocks; b++)
            fill_block(&s, out, b);
        find_homes(out, points->rows, library);
    }
    free(s.place);
    return status;
}

void syn_blocks_free(syn_blocks *blocks)
{
    free(blocks->row);
    free(blocks->place);
    free(blocks->first);
    free(blocks->last);
    free(blocks->home);
    free(blocks->memory);
    memset(blocks, 0, sizeof *blocks);
}
