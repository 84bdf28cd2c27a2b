/* The map is cut into blocks of rows, which threads go through column by column. A block
   has sums of its own, which are added up in the order of blocks, so that the outcome
   does not depend on threads. */
#include "core/networks/whole_map.h"

#include <math.h>
#include <stdint.h>

#include "core/base/arrays.h"
#include "core/base/parallel.h"

enum {
    BLOCK_ROWS = 256,   /* of a block, at least */
    MOST_BLOCKS = 128,
    COLUMNS_EACH = 16   /* columns between two looks at the clock */
};

/* What one block has found so far. */
typedef struct block {
    size_t column;  /* the next one */
    double least, most;
} block;

typedef struct work {
    const syn_whole_map *map;
    size_t blocks, rows_each;
    block *block;          /* [blocks] */
    /* For sums: */
    double *sum;           /* [blocks][columns] */
    uint32_t *known;       /* [blocks][columns] */
    uint64_t *cell;        /* [blocks][SYN_WHOLE_CELLS] */
    double *row_sum, *row_known;
    /* For values above a bound: */
    double bound;
    size_t *n;             /* [rows] how many there are, or where the next one goes */
    int *column;           /* NULL where only their number is wanted */
    syn_arrays memory;
} work;

typedef void visit(work *w, size_t item, size_t first, size_t end, size_t column);

static syn_status make_blocks(work *w)
{
    size_t rows = w->map->rows;
    w->rows_each = (rows + MOST_BLOCKS - 1) / MOST_BLOCKS;
    if (w->rows_each < BLOCK_ROWS)
        w->rows_each = BLOCK_ROWS;
    w->blocks = (rows + w->rows_each - 1) / w->rows_each;
    SYN_ARRAY(&w->memory, w->block, w->blocks);
    for (size_t b = 0; b < w->blocks; b++)
        w->block[b].least = w->block[b].most = NAN;
    return SYN_OK;
}

/* Goes on with a block for a while. */
static syn_status go_on(work *w, size_t item, visit *look)
{
    const syn_whole_map *map = w->map;
    size_t first = item * w->rows_each, end = first + w->rows_each;
    size_t *column = &w->block[item].column;
    double until = syn_seconds() + SYN_SLICE_SECONDS;
    if (end > map->rows)
        end = map->rows;
    while (*column < map->columns) {
        for (int k = 0; k < COLUMNS_EACH && *column < map->columns; k++)
            look(w, item, first, end, (*column)++);
        if (syn_seconds() > until)
            return *column < map->columns ? SYN_UNFINISHED : SYN_OK;
    }
    return SYN_OK;
}

/* ---- sums ---- */

static size_t cell_of(double value)
{
    double at = (value + 1) * (SYN_WHOLE_CELLS / 2);
    return at < 1 ? 0 : at < SYN_WHOLE_CELLS - 1 ? (size_t)at : SYN_WHOLE_CELLS - 1;
}

static void add_column(work *w, size_t item, size_t first, size_t end, size_t column)
{
    const double *value = w->map->value + column * w->map->rows;
    uint64_t *cell = w->cell + item * SYN_WHOLE_CELLS;
    block *mine = &w->block[item];
    double sum = 0, least = mine->least, most = mine->most;
    uint32_t known = 0;
    for (size_t i = first; i < end; i++) {
        double v = value[i];
        if (isnan(v) || w->map->self[i] == (int)column)
            continue;
        sum += v;
        known++;
        w->row_sum[i] += v;
        w->row_known[i]++;
        cell[cell_of(v)]++;
        least = v >= least ? least : v;
        most = v <= most ? most : v;
    }
    w->sum[item * w->map->columns + column] = sum;
    w->known[item * w->map->columns + column] = known;
    mine->least = least;
    mine->most = most;
}

static syn_status add_some(void *context, size_t item, int worker)
{
    (void)worker;
    return go_on(context, item, add_column);
}

static void add_up(const work *w, syn_whole_sums *out)
{
    size_t columns = w->map->columns;
    for (size_t j = 0; j < columns; j++)
        out->column_sum[j] = out->column_known[j] = 0;
    for (int c = 0; c < SYN_WHOLE_CELLS; c++)
        out->cell[c] = 0;
    out->least = out->most = NAN;
    for (size_t b = 0; b < w->blocks; b++) {
        const block *one = &w->block[b];
        for (size_t j = 0; j < columns; j++) {
            out->column_sum[j] += w->sum[b * columns + j];
            out->column_known[j] += w->known[b * columns + j];
        }
        for (int c = 0; c < SYN_WHOLE_CELLS; c++)
            out->cell[c] += (double)w->cell[b * SYN_WHOLE_CELLS + c];
        out->least = one->least >= out->least ? out->least : one->least;
        out->most = one->most <= out->most ? out->most : one->most;
    }
}

syn_status syn_whole_sums_make(const syn_whole_map *map, int threads,
                               const syn_watch *watch, syn_whole_sums *out)
{
    work w = {.map = map, .row_sum = out->row_sum, .row_known = out->row_known};
    syn_status status = make_blocks(&w);
    w.sum = syn_take(&w.memory, w.blocks * map->columns, sizeof *w.sum);
    w.known = syn_take(&w.memory, w.blocks * map->columns, sizeof *w.known);
    w.cell = syn_take(&w.memory, w.blocks * SYN_WHOLE_CELLS, sizeof *w.cell);
    status = syn_taken(&w.memory);
    for (size_t i = 0; i < map->rows; i++)
        out->row_sum[i] = out->row_known[i] = 0;
    SYN_NEXT(status, syn_parallel_for(w.blocks, threads, watch, "pairs", add_some, &w));
    if (status == SYN_OK)
        add_up(&w, out);
    syn_give_back(&w.memory);
    return status;
}

/* ---- values above a bound ---- */

static void list_column(work *w, size_t item, size_t first, size_t end, size_t column)
{
    (void)item;
    const double *value = w->map->value + column * w->map->rows;
    for (size_t i = first; i < end; i++) {
        if (!(value[i] > w->bound) || w->map->self[i] == (int)column)
            continue;
        if (w->column)
            w->column[w->n[i]] = (int)column;
        w->n[i]++;
    }
}

static syn_status list_some(void *context, size_t item, int worker)
{
    (void)worker;
    return go_on(context, item, list_column);
}

syn_status syn_whole_above(const syn_whole_map *map, double bound, int threads,
                           const syn_watch *watch, size_t *n, int *column)
{
    work w = {.map = map, .bound = bound, .n = n, .column = column};
    syn_status status = make_blocks(&w);
    SYN_NEXT(status, syn_parallel_for(w.blocks, threads, watch, "pairs", list_some, &w));
    syn_give_back(&w.memory);
    return status;
}
