/* Squared distances of predictions from points of the library, by products of matrices:
   of two points, the sums of squares less twice the product. Where that has lost digits,
   as the two are near each other, their coordinates are compared. */
#ifndef SYN_GPU_EDM_SMAP_SQUARES_CUH
#define SYN_GPU_EDM_SMAP_SQUARES_CUH

#include "gpu/edm/smap_task.cuh"
#include "gpu/edm/tensor.cuh"

#include <cuda_pipeline.h>

namespace gpu {

constexpr int SMAP_LOST = 10 << 20;  /* of an exponent: 10 bits of 53 */

/* The squared distance of a prediction from a point, which is a column of its tile. */
template <int PITCH>
__device__ inline double square_between(const smap_shape &shape, const double *predicted,
                                        const double *point)
{
    double sum = 0;
    for (uint32_t k = 0; k < shape.dims; k++)
        sum = add_square(sum, point[k * PITCH], predicted[k]);
    return sum;
}

/* Those of 16 predictions from TILES times 8 points, by a warp. With lane = 4 g + t, a
   lane gets those of predictions g and g + 8 from two points each, 2 t and the next, in
   the order of multiply_16x8x4(). `point`: the first column of a tile [places][PITCH]. */
template <int TILES, int PITCH>
__device__ inline void find_squares(const smap_shape &shape, const double *predicted,
                                    const double *point, double (*square)[4])
{
    uint32_t g = threadIdx.x % WARP / 4, t = threadIdx.x % 4;
    const double *low = predicted + g * shape.pitch, *high = low + 8 * shape.pitch;
#pragma unroll
    for (int j = 0; j < TILES; j++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            square[j][i] = 0;
    for (uint32_t k = t; k < shape.wide; k += 4) {
        double a[2] = {low[k], high[k]};
#pragma unroll
        for (int j = 0; j < TILES; j++)
            multiply_16x8x4(square[j], a, point[k * PITCH + 8 * j + g]);
    }
    double mine[2] = {low[shape.wide], high[shape.wide]};
#pragma unroll
    for (int j = 0; j < TILES; j++) {
        const double *at = point + 8 * j + 2 * t;
        double2 theirs = *(const double2 *) (at + (shape.wide + 2) * PITCH);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            double both = mine[i / 2] + (i % 2 ? theirs.y : theirs.x);
            double found = fma(-2.0, square[j][i], both);
            if (__double2hiint(found) < __double2hiint(both) - SMAP_LOST)
                found = square_between<PITCH>(shape, i < 2 ? low : high, at + i % 2);
            square[j][i] = found;
        }
    }
}

/* Begins to fetch the points of a tile of a block of the kind B. */
template <class B>
__device__ inline void smap_fetch(const smap_points &p, uint32_t tile, double *to)
{
    constexpr uint32_t PAIRS = B::POINTS / 2;
    const double *from = p.library + (size_t) tile * B::POINTS;
    for (uint32_t i = threadIdx.x; i < p.shape.places * PAIRS; i += B::THREADS)
        __pipeline_memcpy_async(to + i / PAIRS * B::PITCH + i % PAIRS * 2,
                                from + (size_t) (i / PAIRS) * p.padded + i % PAIRS * 2,
                                2 * sizeof(double));
    __pipeline_commit();
}

}  // namespace gpu

#endif
