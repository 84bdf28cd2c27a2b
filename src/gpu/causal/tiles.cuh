/* Tiles of targets, and sums of what is in them; and the table of a screen. */
#ifndef SYN_GPU_CAUSAL_TILES_CUH
#define SYN_GPU_CAUSAL_TILES_CUH

#include "gpu/causal/lookup.cuh"

namespace gpu {

/* Fills tiles: the value at a step is what the point there predicts, Tp later. Grid:
   (blocks of steps, at most as many as there are tiles). Row-wise tiles are planes as
   wide as a row. */
template <class T>
__global__ void fill_tiles(const float *value, const tile *tiles, uint32_t n_tiles,
                           const uint32_t *target, uint32_t steps, int32_t Tp,
                           uint32_t per_row, uint32_t planes, T *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= steps * per_row)
        return;
    uint32_t step = i / per_row, in_row = i % per_row;
    int64_t at = (int64_t) step + Tp;
    for (uint32_t number = blockIdx.y; number < n_tiles; number += gridDim.y) {
        tile of = tiles[number];
        for (uint32_t plane = 0; plane < planes; plane++) {
            uint32_t j = plane * per_row + in_row;
            float v = 0;
            if (j < of.n && at >= 0 && at < steps)
                v = value[(size_t) target[of.first + j] * steps + at];
            size_t row = ((size_t) number * planes + plane) * steps + step;
            out[row * per_row + in_row] = T(v);
        }
    }
}

/* n, sum and sum of squares of what the points of a table predict, which are `every` so
   many steps. A warp a target; reads the tile, so that sums are those of rounded
   values. */
template <class T>
__global__ void find_moments(const T *values, const tile *tiles, table_shape shape,
                             uint32_t every, uint32_t steps, uint32_t per_row,
                             uint32_t planes, double *moments)
{
    tile of = tiles[blockIdx.x];
    uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    uint32_t from = shape.from[of.e], rows = shape.to[of.e] - from;
    for (uint32_t j = warp; j < of.n; j += blockDim.x / WARP) {
        uint32_t plane = j / per_row, in_row = j % per_row;
        const T *row = values + ((size_t) blockIdx.x * planes + plane) * steps * per_row +
                       in_row;
        double sum = 0, squares = 0;
        for (uint32_t i = lane; i < rows; i += WARP) {
            double y = (float) row[((size_t) from + i * every) * per_row];
            sum += y;
            squares += y * y;
        }
        for (int o = WARP / 2; o > 0; o /= 2) {
            sum += __shfl_xor_sync(~0u, sum, o);
            squares += __shfl_xor_sync(~0u, squares, o);
        }
        if (lane == 0) {
            double *out = moments + 3 * (size_t) (of.first + j);
            out[0] = rows;
            out[1] = sum;
            out[2] = squares;
        }
    }
}

/* Every so manieth point of a table. Grid: (blocks, E wanted, libraries). */
__global__ void sample_table(SYN_GPU_JOB table_shape shape,
                             const uint32_t *table,
                             SYN_GPU_JOB table_shape of_sample,
                             uint32_t every, entries kind, uint32_t *sample)
{
    uint32_t e = __fns(shape.wanted, 0, blockIdx.y + 1), words = row_words(kind, e + 2);
    uint32_t at = blockIdx.x * blockDim.x + threadIdx.x, row = at / words, i = at % words;
    if (row >= of_sample.to[e] - of_sample.from[e])
        return;
    const uint32_t *from = table + (size_t) blockIdx.z * shape.size;
    uint32_t *to = sample + (size_t) blockIdx.z * of_sample.size;
    to[table_word(of_sample, kind, e, row, i)] =
        from[table_word(shape, kind, e, row * every, i)];
}

}  // namespace gpu

#endif
