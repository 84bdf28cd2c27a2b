/* A product of two matrices, in tiles that stay in registers: sums for a few predictions
   by two registers of products. Each tile goes through as many points as the nearest
   cache holds of the products; these are made anew for each block of points, as that
   takes less time than reading them from memory. The order of all sums depends on the
   points alone, not on how many predictions there are. */
#include "core/edm/smap/product.h"

#include <string.h>

#include "core/base/simd.h"
#include "core/edm/smap/weigh.h"

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
