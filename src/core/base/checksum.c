/* Computes a checksum of each row of a matrix. The numbers of a row are mixed one after
   the other into a 64-bit state, beginning with the row's place and the kind of file.
   Rows go in groups, because the matrix is stored column by column. */
#include "core/base/checksum.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { ROWS_AT_ONCE = 256 };

/* Two different states stay different, and so do two different words. */
static uint64_t mix(uint64_t state, uint64_t word)
{
    state = (state ^ word) * 0x9E3779B97F4A7C15u;
    return state ^ state >> 32;
}

static uint64_t bits_of(double value, int whole)
{
    float single = (float)value;
    uint32_t bits;
    uint64_t all;
    if (isnan(value))
        return 0x7FC00000u;
    memcpy(&all, &value, sizeof all);
    memcpy(&bits, &single, sizeof bits);
    return whole ? all : bits;
}

void syn_row_sums(const double *value, size_t rows, size_t columns, const double *place,
                  unsigned kind, int whole, double *sum)
{
    uint64_t state[ROWS_AT_ONCE];
    for (size_t first = 0; first < rows; first += ROWS_AT_ONCE) {
        size_t n = rows - first < ROWS_AT_ONCE ? rows - first : ROWS_AT_ONCE;
        for (size_t i = 0; i < n; i++)
            state[i] = mix(mix(1, kind), (uint64_t)place[first + i]);
        for (size_t j = 0; j < columns; j++)
            for (size_t i = 0; i < n; i++)
                state[i] = mix(state[i], bits_of(value[j * rows + first + i], whole));
        for (size_t i = 0; i < n; i++)
            sum[first + i] = (double)((mix(state[i], columns) >> 11) + 1);
    }
}
