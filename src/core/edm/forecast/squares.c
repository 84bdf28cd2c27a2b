#include "core/edm/forecast/squares.h"

#include <math.h>
#include <string.h>

#include "core/base/simd.h"

/* Where the register begins in which a number is. */
static uint32_t squares_register(uint32_t at)
{
    return at / SYN_F64_LANES * SYN_F64_LANES;
}

static void squares_add(const double *x, uint32_t columns, uint32_t pitch, double *sum)
{
    for (uint32_t i = 0; i < columns; i++) {
        double *to = sum + (size_t)i * pitch;
        for (uint32_t k = squares_register(i); k < columns; k += SYN_F64_LANES) {
            syn_f64 all = syn_f64_load(to + k);
            SYN_UNROLL(4)
            for (uint32_t row = 0; row < SYN_SQUARES_TOGETHER; row++)
                all += syn_f64_load(x + row * pitch + k) *
                       syn_f64_all(x[row * pitch + i]);
            syn_f64_store(to + k, all);
        }
    }
}

/* Subtracts `from` times a number, from the register of column `first` on. */
static void squares_subtract(double *to, const double *from, double by, uint32_t first,
                     uint32_t end)
{
    for (uint32_t k = squares_register(first); k < end; k += SYN_F64_LANES)
        syn_f64_store(to + k, syn_f64_load(to + k) -
                                  syn_f64_load(from + k) * syn_f64_all(by));
}

static void squares_divide(double *to, double by, uint32_t first, uint32_t end)
{
    for (uint32_t k = squares_register(first); k < end; k += SYN_F64_LANES)
        syn_f64_store(to + k, syn_f64_load(to + k) / syn_f64_all(by));
}

static uint32_t squares_factorise(double *sum, uint32_t columns, uint32_t pitch,
                                  double least, double *square)
{
    for (uint32_t i = 0; i < columns; i++)
        square[i] = sum[(size_t)i * pitch + i];
    for (uint32_t i = 0; i < columns; i++) {
        double *row = sum + (size_t)i * pitch;
        if (i + 1 < columns && !(row[i] > least * square[i]))
            return i;
        double root = sqrt(fmax(row[i], 0));
        squares_divide(row, root, i + 1, columns);
        row[i] = root;
        for (uint32_t k = i + 1; k < columns; k++)
            squares_subtract(sum + (size_t)k * pitch, row, row[k], k, columns);
    }
    return columns - 1;
}

static void squares_invert(const double *factor, uint32_t n, uint32_t pitch,
                           double *inverse)
{
    for (uint32_t i = 0; i < n; i++) {
        double *row = inverse + (size_t)i * pitch;
        memset(row, 0, pitch * sizeof *row);
        row[i] = 1;
        for (uint32_t k = 0; k < i; k++)
            squares_subtract(row, inverse + (size_t)k * pitch,
                             factor[(size_t)k * pitch + i], 0, k + 1);
        squares_divide(row, factor[(size_t)i * pitch + i], 0, i + 1);
    }
}

static void squares_lengths(const double *inverse, uint32_t n, uint32_t pitch,
                            const double *x, double *length)
{
    enum { REGISTERS = SYN_SQUARES_TILE / SYN_F64_LANES };
    syn_f64 sum[REGISTERS] = {{0}};
    for (uint32_t i = 0; i < n; i++) {
        const double *row = inverse + (size_t)i * pitch;
        syn_f64 z[REGISTERS] = {{0}};
        for (uint32_t k = 0; k <= i; k++) {
            syn_f64 by = syn_f64_all(row[k]);
            SYN_UNROLL(8)
            for (int part = 0; part < REGISTERS; part++)
                z[part] += by * syn_f64_load(x + k * SYN_SQUARES_TILE +
                                             part * SYN_F64_LANES);
        }
        SYN_UNROLL(8)
        for (int part = 0; part < REGISTERS; part++)
            sum[part] += z[part] * z[part];
    }
    for (int part = 0; part < REGISTERS; part++)
        syn_f64_store(length + part * SYN_F64_LANES, sum[part]);
}

SYN_KIND_TABLE(syn_squares_kind, syn_squares_kind) = {squares_add, squares_factorise,
                                                      squares_invert, squares_lengths};
