/* Distances, weights and rows of the hat matrix, 16 x 16 at a time: a warp takes 16
   predictions, and each of its lanes makes those elements that the tensor cores want from
   it. Squared distances |p|^2 - 2 p z + |z|^2 are products of matrices themselves. */
#ifndef SYN_GPU_EDM_PAIRS_ELEMENTS_CUH
#define SYN_GPU_EDM_PAIRS_ELEMENTS_CUH

#include "gpu/edm/pairs_types.cuh"
#include "gpu/edm/power.cuh"
#include "gpu/edm/tensor.cuh"

#include <cuda_pipeline.h>

namespace gpu {

constexpr uint32_t PAIR_THREADS = PAIR_WARPS * WARP;

/* Doubles from one feature of the points that a block holds to the next: lanes then read
   from different banks. */
constexpr uint32_t PAIR_PITCH = PAIR_POINTS + 4;

/* The two predictions of a lane, rows lane / 4 and 8 after it of its warp: the features
   lane % 4 and those four after the other of what a point's are multiplied with. */
template <int QUADS> struct pair_rows {
    pair_fall fall[2];
    double distance[2][QUADS], a[2][QUADS], b[2][QUADS];

    /* `row` is the first of the two among all; `feature` and `square` are the
       library's. */
    __device__ void load(const pairs_job &job, const double *feature,
                         const double *square, uint32_t row)
    {
        uint32_t t = threadIdx.x % 4;
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int q = 0; q < QUADS; q++) {
                uint32_t k = 4 * q + t, at = row + 8 * half;
                double value = 0;
                if (k == 0)
                    value = square[at];
                else if (k <= job.E)
                    value = -2 * feature[(size_t) k * job.padded + at];
                else if (k == job.E + 1)
                    value = 1;
                distance[half][q] = value;
            }
    }

    /* `hat`: [2][E + 1][pitch], of which `own` is the first of the two. */
    __device__ void load_hat(uint32_t E, const double *hat, uint32_t own, uint32_t pitch)
    {
        uint32_t t = threadIdx.x % 4;
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int q = 0; q < QUADS; q++) {
                uint32_t k = 4 * q + t;
                size_t at = (size_t) k * pitch + own + 8 * half;
                a[half][q] = k <= E ? hat[at] : 0;
                b[half][q] = k <= E ? hat[at + (size_t) (E + 1) * pitch] : 0;
            }
    }
};

/* A lane's elements: of its two predictions, at the points of pair_point(). */
typedef double pair_elements[2][4];

/* Which of 16 points a lane's element is of. */
__device__ inline uint32_t pair_point(int part)
{
    return 8 * (part / 2) + 2 * (threadIdx.x % 4) + part % 2;
}

/* Products of vectors of the predictions with the features of 16 points: `z` is the first
   feature of the first of them. */
template <int QUADS>
__device__ inline void multiply_features(const double (&rows)[2][QUADS], const double *z,
                                         pair_elements &out)
{
    uint32_t t = threadIdx.x % 4, g = threadIdx.x % WARP / 4;
#pragma unroll
    for (int u = 0; u < 2; u++) {
        double sum[4] = {}, b[QUADS];
#pragma unroll
        for (int q = 0; q < QUADS; q++)
            b[q] = z[(4 * q + t) * PAIR_PITCH + 8 * u + g];
        multiply_16x8(sum, rows, b);
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int s = 0; s < 2; s++)
                out[half][2 * u + s] = sum[2 * half + s];
    }
}

/* Squared weights of 16 points. With NEAR some may be too near in time: `point` is the
   first of them, `row` the lane's first prediction. */
template <bool NEAR, int QUADS>
__device__ inline void make_weights(const pair_rows<QUADS> &rows, const double *z,
                                    uint32_t exclusion, uint32_t point, uint32_t row,
                                    pair_elements &weight)
{
    multiply_features(rows.distance, z, weight);
#pragma unroll
    for (int part = 0; part < 4; part++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const pair_fall &fall = rows.fall[half];
            double distance = quick_root(weight[half][part]);
            double w = power_of_two(fma(-fall.slope, distance, fall.offset));
            uint32_t at = point + pair_point(part), own = row + 8 * half;
            uint32_t apart = at > own ? at - own : own - at;
            weight[half][part] = NEAR && apart <= exclusion ? 0 : w;
        }
}

/* Whether some of `n` points from `point` on are too near in time to one of the 16
   predictions from `first` on. */
__device__ inline bool any_near(const pairs_job &job, uint32_t point, uint32_t n,
                                uint32_t first)
{
    uint64_t reach = job.exclusion;
    return point + n - 1 + reach >= first && point <= first + PAIR_ROWS - 1 + reach;
}

/* Begins to copy features of points `from` and those after it; the last one but those
   that are 0 from `last`, if it is given. */
template <int QUADS>
__device__ inline void fetch_features(const pairs_job &job, const double *feature,
                                      const double *last, uint32_t from, double *to)
{
    constexpr uint32_t each = PAIR_POINTS / 2;
    for (uint32_t i = threadIdx.x; i < 4 * QUADS * each; i += PAIR_THREADS) {
        uint32_t k = i / each, point = from + 2 * (i % each);
        const double *source =
            last && k == job.E + 1 ? last : feature + (size_t) k * job.padded;
        __pipeline_memcpy_async(to + k * PAIR_PITCH + 2 * (i % each), source + point, 16);
    }
}

}  // namespace gpu

#endif
