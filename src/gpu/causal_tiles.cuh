/* Tiles of targets, and sums of what is in them. */
#ifndef SYN_GPU_CAUSAL_TILES_CUH
#define SYN_GPU_CAUSAL_TILES_CUH

#include "gpu/causal_lookup.cuh"

namespace gpu {

/* Fills tiles: the value at a step is what the point there predicts, Tp later. Grid:
   (blocks of steps, tiles). Row-wise tiles are planes as wide as a row. */
template <class T>
__global__ void fill_tiles(const float *value, const tile *tiles, const uint32_t *target,
                           uint32_t steps, int32_t Tp, uint32_t per_row, uint32_t planes,
                           T *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= steps * per_row)
        return;
    uint32_t step = i / per_row, in_row = i % per_row;
    tile of = tiles[blockIdx.y];
    int64_t at = (int64_t) step + Tp;
    for (uint32_t plane = 0; plane < planes; plane++) {
        uint32_t j = plane * per_row + in_row;
        float v = 0;
        if (j < of.n && at >= 0 && at < steps)
            v = value[(size_t) target[of.first + j] * steps + at];
        size_t row = ((size_t) blockIdx.y * planes + plane) * steps + step;
        out[row * per_row + in_row] = T(v);
    }
}

/* n, sum and sum of squares of what the points from `from` to `to` predict. A warp a
   target; reads the tile, so that sums are those of rounded values. */
template <class T>
__global__ void find_moments(const T *values, const tile *tiles, table_shape shape,
                             uint32_t steps, uint32_t per_row, uint32_t planes,
                             double *moments)
{
    tile of = tiles[blockIdx.x];
    uint32_t warp = threadIdx.x / EDM_WARP, lane = threadIdx.x % EDM_WARP;
    uint32_t from = shape.from[of.e], to = shape.to[of.e];
    for (uint32_t j = warp; j < of.n; j += blockDim.x / EDM_WARP) {
        uint32_t plane = j / per_row, in_row = j % per_row;
        const T *row = values + ((size_t) blockIdx.x * planes + plane) * steps * per_row +
                       in_row;
        double sum = 0, squares = 0;
        for (uint32_t t = from + lane; t < to; t += EDM_WARP) {
            double y = (float) row[(size_t) t * per_row];
            sum += y;
            squares += y * y;
        }
        for (int o = EDM_WARP / 2; o > 0; o /= 2) {
            sum += __shfl_xor_sync(~0u, sum, o);
            squares += __shfl_xor_sync(~0u, squares, o);
        }
        if (lane == 0) {
            double *out = moments + 3 * (size_t) (of.first + j);
            out[0] = to > from ? to - from : 0;
            out[1] = sum;
            out[2] = squares;
        }
    }
}

}  // namespace gpu

#endif
