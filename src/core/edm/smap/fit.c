/* The weighted rows pass through a block that stays in the nearest cache. On top of it
   stands the triangle of the rows before; modified Gram-Schmidt with the target as one
   more column turns all into the triangle so far. That is backward stable whatever the
   rank of the rows (Bjorck 1967), unlike normal equations, and here no slower than the
   exponentials of the weights. */
#include "core/edm/smap/fit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#if SYN_WIDTH == 0
syn_status syn_smap_space_make(syn_smap_space *space, size_t stride, uint32_t dims,
                               syn_arrays *memory)
{
    enum { BLOCK_ROWS = 256 };
    size_t columns = (size_t)dims + 2, top = syn_smap_padded(dims + 1, SYN_SMAP_PADDING);
    /* A block has some times more rows than the triangle on top of it. */
    space->block_top = top;
    space->block_rows = 4 * top > BLOCK_ROWS ? 4 * top : BLOCK_ROWS;
    space->block_stride = top + space->block_rows + SYN_SMAP_PADDING;
    SYN_ARRAY(memory, space->weight, stride + SYN_SMAP_PADDING);
    SYN_ARRAY(memory, space->block, columns * space->block_stride);
    SYN_ARRAY(memory, space->triangle, columns * columns);
    SYN_ARRAY(memory, space->factor, 2 * columns);
    return SYN_OK;
}
#endif

/* Distances of some registers of points from `tall` others. */
SYN_INLINE void measure_tile(int tall, int wide, const syn_smap_near *near, uint32_t rows,
                             const double *to, size_t i)
{
    syn_f64 sum[SYN_SMAP_SIDE][4];
    const double *x = near->coordinate + i;
    SYN_UNROLL(4)
    for (int r = 0; r < tall; r++)
        SYN_UNROLL(4)
        for (int v = 0; v < wide; v++)
            sum[r][v] = syn_f64_all(0);
    for (uint32_t k = 0; k < near->dims; k++, x += near->stride, to += rows)
        SYN_UNROLL(4)
        for (int v = 0; v < wide; v++) {
            syn_f64 here = syn_f64_load(x + v * SYN_F64_LANES);
            SYN_UNROLL(4)
            for (int r = 0; r < tall; r++) {
                syn_f64 apart = here - syn_f64_all(to[r]);
                sum[r][v] = syn_f64_fused(apart, apart, sum[r][v]);
            }
        }
    SYN_UNROLL(4)
    for (int r = 0; r < tall; r++)
        SYN_UNROLL(4)
        for (int v = 0; v < wide; v++)
            syn_f64_store(near[r].distance + i + v * SYN_F64_LANES,
                          syn_f64_sqrt(sum[r][v]));
}

SYN_INLINE void measure_rows(int tall, const syn_smap_near *near, uint32_t rows,
                             const double *to, size_t from, size_t n)
{
    enum { WIDE = SYN_WIDTH == 512 ? 4 : 2 };
    size_t i = from, end = from + n;
    for (; i + WIDE * SYN_F64_LANES <= end; i += WIDE * SYN_F64_LANES)
        measure_tile(tall, WIDE, near, rows, to, i);
    for (; i < end; i += SYN_F64_LANES)
        measure_tile(tall, 1, near, rows, to, i);
}

static void measure(const syn_smap_near *near, uint32_t rows, const double *to,
                    size_t from, size_t n)
{
    uint32_t r = 0;
    for (; r + SYN_SMAP_SIDE <= rows; r += SYN_SMAP_SIDE)
        measure_rows(SYN_SMAP_SIDE, near + r, rows, to + r, from, n);
    for (; r < rows; r++)
        measure_rows(1, near + r, rows, to + r, from, n);
}

/* The number, the sum and the least of the distances in a part. */
static uint32_t survey_part(const syn_smap_near *near, int part, double *total,
                            double *nearest)
{
    size_t i = near->begin[part], end = near->end[part];
    syn_f64 sum = syn_f64_all(0), least = syn_f64_all(DBL_MAX);
    for (; i + SYN_F64_LANES <= end; i += SYN_F64_LANES) {
        syn_f64 d = syn_f64_load(near->distance + i);
        sum = sum + d;
        least = syn_f64_min(least, d);
    }
    *total += syn_f64_sum(sum);
    *nearest = fmin(*nearest, syn_f64_least(least));
    for (; i < end; i++) {
        *total += near->distance[i];
        *nearest = fmin(*nearest, near->distance[i]);
    }
    return near->end[part] - near->begin[part];
}

/* The number and the least distance of those neighbours whose target is known. */
static void survey_known(syn_smap_near *near)
{
    near->n = 0;
    near->least = DBL_MAX;
    for (int part = 0; part < SYN_SMAP_PARTS; part++)
        for (size_t i = near->begin[part]; i < near->end[part]; i++)
            if (near->known[i] > 0) {
                near->n++;
                near->least = fmin(near->least, near->distance[i]);
            }
}

static void survey(syn_smap_near *near)
{
    double total = 0;
    near->n = 0;
    near->least = DBL_MAX;
    for (int part = 0; part < SYN_SMAP_PARTS; part++)
        near->n += survey_part(near, part, &total, &near->least);
    near->mean = near->n > 0 ? total / near->n : 0;
    if (near->known)
        survey_known(near);
}

/* Of all points from the first neighbour to the last: the few others do no harm. */
static void weigh_points(const syn_smap_near *near, double rate, double *weight)
{
    for (int part = 0; part < SYN_SMAP_PARTS; part++)
        for (size_t i = near->begin[part]; i < near->end[part]; i += SYN_F64_LANES)
            syn_f64_store(weight + i, syn_smap_weights(near, rate, i));
}

/* ---- triangles ---- */

/* pivot -= factor * before; gives the sum of squares of the new pivot. */
static double advance_pivot(double *pivot, const double *before, double factor,
                            size_t rows)
{
    syn_f64 by = syn_f64_all(-factor), sum = syn_f64_all(0);
    for (size_t i = 0; i < rows; i += SYN_F64_LANES) {
        syn_f64 x =
            syn_f64_fused(by, syn_f64_load(before + i), syn_f64_load(pivot + i));
        syn_f64_store(pivot + i, x);
        sum = syn_f64_fused(x, x, sum);
    }
    return syn_f64_sum(sum);
}

/* The same for `width` columns, up to 4; `product` gets their products with the pivot. */
static void advance_some(int width, double *column, size_t stride, const double *pivot,
                         const double *before, const double *factor, size_t rows,
                         double *product)
{
    syn_f64 by[4], sum[4];
    SYN_UNROLL(4)
    for (int j = 0; j < 4; j++) {
        by[j] = syn_f64_all(j < width ? -factor[j] : 0);
        sum[j] = syn_f64_all(0);
    }
    for (size_t i = 0; i < rows; i += SYN_F64_LANES) {
        syn_f64 p = syn_f64_load(pivot + i), b = syn_f64_load(before + i);
        SYN_UNROLL(4)
        for (int j = 0; j < width; j++) {
            double *x = column + (size_t)j * stride + i;
            syn_f64 now = syn_f64_fused(by[j], b, syn_f64_load(x));
            syn_f64_store(x, now);
            sum[j] = syn_f64_fused(now, p, sum[j]);
        }
    }
    SYN_UNROLL(4)
    for (int j = 0; j < width; j++)
        product[j] = syn_f64_sum(sum[j]);
}

static void advance(uint32_t columns, double *column, size_t stride, const double *pivot,
                    const double *before, const double *factor, size_t rows,
                    double *product)
{
    for (uint32_t j = 0; j < columns; j += 4) {
        int width = columns - j < 4 ? (int)(columns - j) : 4;
        advance_some(width, column + j * stride, stride, pivot, before, factor + j, rows,
                     product + j);
    }
}

/* Turns the first `rows` rows of the block into a triangle, column by column: each step
   takes the part along the column before out of those after, and finds their products
   with the next, in one pass. */
static void triangulate(syn_smap_space *space, uint32_t unknowns, size_t rows)
{
    size_t stride = space->block_stride;
    uint32_t columns = unknowns + 1;
    double *factor = space->factor, *product = factor + columns;
    const double *before = space->block;
    memset(factor, 0, columns * sizeof *factor);
    for (uint32_t k = 0; k < unknowns; k++) {
        double *pivot = space->block + k * stride, *r = space->triangle + k * columns;
        double square = advance_pivot(pivot, before, factor[k], rows);
        advance(columns - k - 1, pivot + stride, stride, pivot, before, factor + k + 1,
                rows, product + k + 1);
        int some = square >= DBL_MIN;
        double root = sqrt(square);
        memset(r, 0, k * sizeof *r);
        r[k] = some ? root : 0;
        for (uint32_t j = k + 1; j < columns; j++) {
            r[j] = some ? product[j] / root : 0;
            factor[j] = some ? product[j] / square : 0;
        }
        before = pivot;
    }
}

/* Puts the triangle on top of the block. */
static void stack(syn_smap_space *space, uint32_t unknowns)
{
    uint32_t columns = unknowns + 1;
    for (uint32_t j = 0; j < columns; j++) {
        double *x = space->block + j * space->block_stride;
        memset(x, 0, space->block_top * sizeof *x);
        for (uint32_t k = 0; k < unknowns; k++)
            x[k] = space->triangle[k * columns + j];
    }
}

/* The first `filled` rows below the triangle become part of it. */
static void absorb(syn_smap_space *space, uint32_t unknowns, size_t filled)
{
    size_t rows = space->block_top + filled;
    for (uint32_t j = 0; j <= unknowns; j++)
        memset(space->block + j * space->block_stride + rows, 0,
               SYN_F64_LANES * sizeof *space->block);
    triangulate(space, unknowns,
                (rows + SYN_F64_LANES - 1) / SYN_F64_LANES * SYN_F64_LANES);
    stack(space, unknowns);
}

/* ---- rows ---- */

/* Weighted rows of points `from` .. `from` + `n` - 1, and what comes after them. */
static void fill(const syn_smap_near *near, syn_smap_space *space, size_t from, size_t n,
                 size_t filled)
{
    size_t stride = space->block_stride;
    double *to = space->block + space->block_top + filled;
    const double *x = near->coordinate + from, *y = near->target + from;
    for (size_t i = 0; i < n; i += SYN_F64_LANES) {
        syn_f64 w = syn_f64_load(space->weight + from + i);
        double *at = to + i;
        syn_f64_store(at, w);
        for (uint32_t k = 0; k < near->dims; k++) {
            at += stride;
            syn_f64_store(at, w * syn_f64_load(x + k * near->stride + i));
        }
        syn_f64_store(at + stride, w * syn_f64_load(y + i));
    }
}

/* Rows that hold the slopes back. */
static void absorb_ridge(syn_smap_space *space, uint32_t unknowns, double ridge)
{
    /* The first column holds the weights alone. */
    double size = sqrt(ridge) * space->triangle[0];
    for (uint32_t j = 0; j <= unknowns; j++) {
        double *x = space->block + j * space->block_stride + space->block_top;
        memset(x, 0, (unknowns + 1) * sizeof *x);
        if (j > 0 && j < unknowns)
            x[j] = size;
    }
    absorb(space, unknowns, unknowns);
}

static void reduce(const syn_smap_near *near, double rate, double ridge,
                   syn_smap_space *space)
{
    uint32_t unknowns = near->dims + 1;
    size_t filled = 0;
    weigh_points(near, rate, space->weight);
    memset(space->triangle, 0, unknowns * (unknowns + 1) * sizeof *space->triangle);
    stack(space, unknowns);
    for (int part = 0; part < SYN_SMAP_PARTS; part++)
        for (size_t i = near->begin[part]; i < near->end[part];) {
            size_t room = space->block_rows - filled, n = near->end[part] - i;
            n = n < room ? n : room;
            fill(near, space, i, n, filled);
            filled += n;
            i += n;
            if (filled == space->block_rows) {
                absorb(space, unknowns, filled);
                filled = 0;
            }
        }
    if (filled > 0)
        absorb(space, unknowns, filled);
    if (ridge > 0)
        absorb_ridge(space, unknowns, ridge);
}

static double spread(const syn_smap_near *near, const double *weight, double value)
{
    double above = 0, below = 0;
    syn_f64 from = syn_f64_all(value);
    for (int part = 0; part < SYN_SMAP_PARTS; part++) {
        size_t i = near->begin[part], end = near->end[part];
        syn_f64 squares = syn_f64_all(0), weights = syn_f64_all(0);
        for (; i + SYN_F64_LANES <= end; i += SYN_F64_LANES) {
            syn_f64 w = syn_f64_load(weight + i);
            syn_f64 apart = syn_f64_load(near->target + i) - from;
            squares = syn_f64_fused(w * apart, apart, squares);
            weights = weights + w;
        }
        above += syn_f64_sum(squares);
        below += syn_f64_sum(weights);
        for (; i < end; i++) {
            double apart = near->target[i] - value;
            above = syn_fused(weight[i] * apart, apart, above);
            below += weight[i];
        }
    }
    return above / below;
}

SYN_KIND_TABLE(syn_smap_kind, syn_smap_kind) = {measure, survey, reduce, spread};

/* ---- many models ----

   A product of two matrices, in tiles that stay in registers: sums for a few predictions
   by two registers of products. Each tile goes through as many points as the nearest
   cache holds of the products; these are made anew for each block of points, as that
   takes less time than reading them from memory. The order of all sums depends on the
   points alone, not on how many predictions there are. */

enum {
    /* Predictions and products of a tile, whose sums fill the registers */
    TILE_TALL = SYN_WIDTH == 512 ? 12 : 6,
    TILE_WIDE = SYN_SMAP_PANEL_WIDE
};

/* Sets to 0 what does not belong to neighbours, of points from `from` on. The parts are
   in order. */
static void clear_others(const syn_smap_near *near, size_t from, double *weight)
{
    size_t done = from, end = from + SYN_SMAP_POINTS;
    for (int part = 0; part < SYN_SMAP_PARTS; part++) {
        size_t to = near->begin[part] < end ? near->begin[part] : end;
        if (near->begin[part] >= near->end[part])
            continue;
        if (to > done)
            memset(weight + (done - from), 0, (to - done) * sizeof *weight);
        done = near->end[part] > done ? near->end[part] : done;
    }
    if (done < end)
        memset(weight + (done - from), 0, (end - done) * sizeof *weight);
}

static void weigh_block(const syn_smap_near *near, double rate, size_t from, size_t n,
                        double *weight, double *square)
{
    for (size_t i = 0; i < n; i += SYN_F64_LANES)
        syn_f64_store(weight + i, syn_smap_weights(near, rate, from + i));
    clear_others(near, from, weight);
    for (size_t i = 0; i < SYN_SMAP_POINTS; i += SYN_F64_LANES) {
        syn_f64 w = syn_f64_load(weight + i);
        syn_f64_store(square + i, w * w);
    }
}

static void add_spread(const double *weight, const double *target, size_t n,
                       double centre, double *sum)
{
    syn_f64 all = syn_f64_load(sum), first = syn_f64_load(sum + SYN_SMAP_PADDING),
            second = syn_f64_load(sum + 2 * SYN_SMAP_PADDING);
    for (size_t i = 0; i < n; i += SYN_F64_LANES) {
        syn_f64 w = syn_f64_load(weight + i);
        syn_f64 y = syn_f64_load(target + i) - syn_f64_all(centre), along = w * y;
        all += w;
        first += along;
        second = syn_f64_fused(along, y, second);
    }
    syn_f64_store(sum, all);
    syn_f64_store(sum + SYN_SMAP_PADDING, first);
    syn_f64_store(sum + 2 * SYN_SMAP_PADDING, second);
}

/* The products of one point, in their order. */
static void make_products(const syn_smap_terms *terms, const double *value, double *to)
{
    for (uint32_t j = 0; j < terms->n; j++) {
        syn_f64 one = syn_f64_all(value[j]);
        /* What is written beyond the last is written again, or not read. */
        for (uint32_t k = j; k < terms->n; k += SYN_F64_LANES)
            syn_f64_store(to + (k - j), one * syn_f64_load(value + k));
        to += terms->n - j;
    }
}

/* Panels [products / TILE_WIDE][n][TILE_WIDE] of points from `from` on, and perhaps one
   of half that width; `spare` is room for two rows of products and a register. One row is
   copied while the next is made: what has just been written, in registers that overlap,
   cannot be read at once. */
static void make_panels(const syn_smap_terms *terms, size_t from, size_t n, double *panel,
                        double *spare)
{
    size_t pitch = terms->products + SYN_SMAP_PADDING;
    memset(spare, 0, 2 * pitch * sizeof *spare);
    for (size_t i = 0; i <= n; i++) {
        if (i < n)
            make_products(terms, terms->value + (from + i) * terms->pitch,
                          spare + i % 2 * pitch);
        if (i > 0)
            syn_smap_put_panels(spare + (i - 1) % 2 * pitch, terms->products, n, i - 1,
                                panel);
    }
}

/* Adds TILE_TALL rows of weights times a panel of so many registers, 1 or 2. */
SYN_INLINE void add_tile(int registers, const double *square, const double *panel,
                         size_t n, double *sum, size_t stride)
{
    syn_f64 all[TILE_TALL][2];
    SYN_UNROLL(12)
    for (int r = 0; r < TILE_TALL; r++)
        all[r][0] = all[r][1] = syn_f64_all(0);
    for (size_t i = 0; i < n; i++, panel += registers * SYN_F64_LANES) {
        syn_f64 a = syn_f64_load(panel), b = a;
        if (registers > 1)
            b = syn_f64_load(panel + SYN_F64_LANES);
        SYN_UNROLL(12)
        for (int r = 0; r < TILE_TALL; r++) {
            syn_f64 by = syn_f64_all(square[r * SYN_SMAP_PITCH + i]);
            all[r][0] = syn_f64_fused(by, a, all[r][0]);
            if (registers > 1)
                all[r][1] = syn_f64_fused(by, b, all[r][1]);
        }
    }
    SYN_UNROLL(12)
    for (int r = 0; r < TILE_TALL; r++, sum += stride)
        SYN_UNROLL(2)
        for (int v = 0; v < registers; v++) {
            double *to = sum + v * SYN_F64_LANES;
            syn_f64_store(to, syn_f64_load(to) + all[r][v]);
        }
}

/* Adds rows of weights times all panels, of `n` points each. */
static void add_tiles(const double *panel, size_t n, size_t columns, const double *square,
                      uint32_t rows, double *sum)
{
    size_t c = 0;
    for (; c + TILE_WIDE <= columns; c += TILE_WIDE)
        for (uint32_t r = 0; r < rows; r += TILE_TALL)
            add_tile(2, square + r * SYN_SMAP_PITCH, panel + c * n, n,
                     sum + r * columns + c, columns);
    for (uint32_t r = 0; c < columns && r < rows; r += TILE_TALL)
        add_tile(1, square + r * SYN_SMAP_PITCH, panel + c * n, n, sum + r * columns + c,
                 columns);
}

static void multiply_block(const syn_smap_terms *terms, size_t from, size_t n,
                     const double *square, uint32_t rows, double *panel, double *sum)
{
    make_panels(terms, from, n, panel, panel + SYN_SMAP_POINTS * terms->products);
    add_tiles(panel, n, terms->products, square, rows, sum);
}

static void add_panels(const double *panel, size_t columns, const double *square,
                       uint32_t rows, double *sum)
{
    add_tiles(panel, SYN_SMAP_POINTS, columns, square, rows, sum);
}

static void make_hat(const double *coordinate, size_t stride, uint32_t dims,
                     const double *value, const double *slope, double *square,
                     double *strength)
{
    for (size_t i = 0; i < SYN_SMAP_POINTS; i += SYN_F64_LANES) {
        syn_f64 of_value = syn_f64_all(value[0]), of_slope = syn_f64_all(slope[0]);
        const double *at = coordinate + i;
        for (uint32_t k = 1; k <= dims; k++, at += stride) {
            syn_f64 x = syn_f64_load(at);
            of_value = syn_f64_fused(syn_f64_all(value[k]), x, of_value);
            of_slope = syn_f64_fused(syn_f64_all(slope[k]), x, of_slope);
        }
        syn_f64 w = syn_f64_load(square + i), all = syn_f64_load(strength + i);
        syn_f64_store(square + i, w * of_value);
        syn_f64_store(strength + i, syn_f64_fused(w, of_slope, all));
    }
}

/* Coordinate k of the turned points. */
static void turn_points(const double *coordinate, size_t stride, const double *inverse,
                        uint32_t k, double *to)
{
    for (size_t i = 0; i < SYN_SMAP_POINTS; i += SYN_F64_LANES) {
        syn_f64 sum = syn_f64_all(inverse[0]);
        const double *x = coordinate + i;
        for (uint32_t j = 1; j <= k; j++, x += stride)
            sum = syn_f64_fused(syn_f64_all(inverse[j]), syn_f64_load(x), sum);
        syn_f64_store(to + i, sum);
    }
}

/* Up to four sums, from column j on, of a row of the Gram matrix. */
static void add_gram(const double *left, const double *right, const double *square,
                     int width, double *gram)
{
    syn_f64 sum[4];
    SYN_UNROLL(4)
    for (int c = 0; c < 4; c++)
        sum[c] = syn_f64_all(0);
    for (size_t i = 0; i < SYN_SMAP_POINTS; i += SYN_F64_LANES) {
        syn_f64 u = syn_f64_load(left + i) * syn_f64_load(square + i);
        SYN_UNROLL(4)
        for (int c = 0; c < width; c++)
            sum[c] = syn_f64_fused(
                u, syn_f64_load(right + (size_t)c * SYN_SMAP_POINTS + i), sum[c]);
    }
    SYN_UNROLL(4)
    for (int c = 0; c < width; c++)
        gram[c] += syn_f64_sum(sum[c]);
}

static void add_turned(const double *coordinate, size_t stride, uint32_t dims,
                       const double *inverse, const double *square, double *room,
                       double *gram)
{
    size_t n = (size_t)dims + 1;
    for (uint32_t k = 0; k < n; k++) {
        const double *left = room + k * (size_t)SYN_SMAP_POINTS;
        turn_points(coordinate, stride, inverse + k * n, k,
                    room + k * (size_t)SYN_SMAP_POINTS);
        for (uint32_t j = 0; j <= k; j += 4)
            add_gram(left, room + j * (size_t)SYN_SMAP_POINTS, square,
                     k - j < 3 ? (int)(k - j) + 1 : 4, gram + k * n + j);
    }
}

SYN_KIND_TABLE(syn_smap_product, syn_smap_product) = {
    weigh_block, add_spread, multiply_block, add_panels, TILE_WIDE, make_hat, add_turned};
