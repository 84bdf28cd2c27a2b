/* Sums over the library of squared weights times products of any two of 1, coordinates
   and target: for all predictions together a product of two matrices of doubles. Neither
   is ever in memory. A block makes the weights of its predictions for a few points of the
   library in shared memory, and multiplies them while it makes the next. The products of
   the points are made as they are read. */
#ifndef SYN_GPU_EDM_SMAP_PRODUCT_CUH
#define SYN_GPU_EDM_SMAP_PRODUCT_CUH

#include "gpu/edm/smap_task.cuh"
#include "gpu/edm/tensor.cuh"

#include <cuda_pipeline.h>

namespace gpu {

/* One launch. Blocks are numbered by predictions, by columns and splits, and by thetas.
   Each split goes through a part of the library and has sums of its own. */
struct smap_product {
    smap_points points;
    const smap_left_out *out;        /* [predictions] */
    const smap_distances *distance;  /* [predictions] */
    const double *theta;             /* [thetas] */
    const ushort2 *factor;           /* [columns] the places of a product's two terms */
    uint32_t splits;
    double *sum;                     /* [thetas][splits][predictions][columns] */
    double *spread;                  /* [thetas][splits][predictions][3] sums of weights,
                                        of weights times targets and their squares */
};

/* The shape of a block: DOWN x ACROSS warps, each with TALL x 16 predictions and WIDE x 8
   products, which take POINTS points of the library at a time. A thread makes weights of
   ROWS predictions for two neighbouring points. Registers are for BLOCKS of them on a
   multiprocessor. */
template <int DOWN_, int ACROSS_, int TALL_, int WIDE_, int POINTS_, int BLOCKS_>
struct smap_block {
    static constexpr int DOWN = DOWN_, ACROSS = ACROSS_, TALL = TALL_, WIDE = WIDE_;
    static constexpr int POINTS = POINTS_, BLOCKS = BLOCKS_;
    static constexpr int THREADS = DOWN * ACROSS * WARP;
    static constexpr int PREDICTIONS = DOWN * TALL * 16, PRODUCTS = ACROSS * WIDE * 8;
    static constexpr int PITCH = POINTS + 2;  /* whose half is odd: see smap_shape */
    static constexpr int ROWS = PREDICTIONS * POINTS / 2 / THREADS;
    static constexpr int LANES = PREDICTIONS / ROWS;  /* threads side by side */
    static_assert(POINTS % 16 == 0 && SMAP_POINTS % POINTS == 0, "whole products");
    static_assert(ROWS >= 1 && ROWS * THREADS * 2 == PREDICTIONS * POINTS, "whole pairs");
    static_assert(LANES % 8 == 0 && POINTS / 2 % 4 == 0, "a warp is 8 x 4 threads");
};

/* What a prediction needs for its weights. */
struct smap_weighing {
    double rate, least;
    smap_left_out out;
};

/* A block's shared memory. */
template <class B> struct smap_shared {
    double *weight;      /* [2][PREDICTIONS][PITCH] squared weights */
    double *point;       /* [3][wide + 2][PITCH] of the library */
    double *predicted;   /* [PREDICTIONS][pitch] */
    smap_weighing *how;  /* [PREDICTIONS] */

    __device__ smap_shared(double *memory, const smap_shape &shape)
    {
        weight = memory;
        point = weight + 2 * B::PREDICTIONS * B::PITCH;
        predicted = point + 3 * (shape.wide + 2) * B::PITCH;
        how = (smap_weighing *) (predicted + B::PREDICTIONS * shape.pitch);
    }
};

template <class B> __host__ __device__ inline size_t
smap_product_shared(const smap_shape &shape)
{
    size_t doubles = (2 * B::PREDICTIONS + 3 * (shape.wide + 2)) * B::PITCH +
                     B::PREDICTIONS * shape.pitch;
    return doubles * sizeof(double) + B::PREDICTIONS * sizeof(smap_weighing);
}

/* What a thread adds up for the spread of the targets: a prediction's sums. */
struct smap_spread {
    double weight = 0, target = 0, square = 0;

    __device__ void add(double w, double y, double known)
    {
        double wy = w * y;
        weight = fma(w, known, weight);
        target += wy;
        square = fma(wy, y, square);
    }
};

/* Begins to fetch the points of a tile. */
template <class B>
__device__ inline void fetch_points(const smap_points &p, uint32_t tile, double *to)
{
    constexpr uint32_t PAIRS = B::POINTS / 2;
    const double *from = p.fitted + (size_t) tile * B::POINTS;
    for (uint32_t i = threadIdx.x; i < (p.shape.wide + 2) * PAIRS; i += B::THREADS)
        __pipeline_memcpy_async(to + i / PAIRS * B::PITCH + i % PAIRS * 2,
                                from + (size_t) (i / PAIRS) * p.padded + i % PAIRS * 2,
                                2 * sizeof(double));
    __pipeline_commit();
}

/* The predictions of this block; zeros after the last. */
template <class B>
__device__ inline void take_predictions(const smap_product &job, uint32_t first,
                                        const smap_shared<B> &s)
{
    const smap_points &p = job.points;
    uint32_t n = p.predictions - first;
    for (uint32_t i = threadIdx.x; i < B::PREDICTIONS * p.shape.pitch; i += B::THREADS)
        s.predicted[i] = i / p.shape.pitch < n
                             ? p.predicted[(size_t) first * p.shape.pitch + i]
                             : 0;
    for (uint32_t r = threadIdx.x; r < B::PREDICTIONS; r += B::THREADS) {
        smap_weighing how = {0, 0, {0, 0, UINT32_MAX, 0}};
        if (r < n) {
            smap_distances d = job.distance[first + r];
            how = {smap_rate(d, job.theta[blockIdx.z]), d.least, job.out[first + r]};
        }
        s.how[r] = how;
    }
}

/* Squared weights of all predictions for the points of a tile, and what they add to the
   spread. */
template <class B>
__device__ inline void make_weights(const smap_shape &shape, const smap_shared<B> &s,
                                    const double *point, uint32_t first, double *weight,
                                    smap_spread *spread)
{
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t row = lane % 8 + warp % (B::LANES / 8) * 8;
    uint32_t column = (lane / 8 + warp / (B::LANES / 8) * 4) * 2;
    const double *x = point + column, *from = s.predicted + row * shape.pitch;
    double left[B::ROWS], right[B::ROWS];
#pragma unroll
    for (int i = 0; i < B::ROWS; i++)
        left[i] = right[i] = 0;
#pragma unroll 2
    for (uint32_t k = 0; k < shape.wide; k += 2, x += 2 * B::PITCH) {
        double2 a = *(const double2 *) x, b = *(const double2 *) (x + B::PITCH);
#pragma unroll
        for (int i = 0; i < B::ROWS; i++) {
            double2 p = *(const double2 *) (from + i * B::LANES * shape.pitch + k);
            left[i] = add_square(add_square(left[i], a.x, p.x), b.x, p.y);
            right[i] = add_square(add_square(right[i], a.y, p.x), b.y, p.y);
        }
    }
    double2 target = *(const double2 *) x, known = *(const double2 *) (x + B::PITCH);
#pragma unroll
    for (int i = 0; i < B::ROWS; i++) {
        const smap_weighing &how = s.how[row + i * B::LANES];
        double v = smap_weight(root_of(left[i]), how.rate, how.least);
        double w = smap_weight(root_of(right[i]), how.rate, how.least);
        v = smap_is_near(how.out, first + column) ? v : 0;
        w = smap_is_near(how.out, first + column + 1) ? w : 0;
        spread[i].add(v, target.x, known.x);
        spread[i].add(w, target.y, known.y);
        double2 *to = (double2 *) (weight + (row + i * B::LANES) * B::PITCH + column);
        *to = make_double2(v * v, w * w);
    }
}

/* Adds weights times products of a tile to the sums of this warp. A lane takes four
   points that are neighbours as the four products of multiply_16x8x16(). `factor`: of the
   lane's product in each eight of them, where its two terms begin. */
template <class B>
__device__ inline void multiply_tile(const double *weight, const double *point,
                                     const uint2 *factor, double (*sum)[B::WIDE][4])
{
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t row = warp / B::ACROSS * B::TALL * 16 + lane / 4;
    const double *w = weight + row * B::PITCH + lane % 4 * 4;
    const double *x = point + lane % 4 * 4;
#pragma unroll
    for (int k = 0; k < B::POINTS; k += 16) {
        double b[B::WIDE][4];
#pragma unroll
        for (int j = 0; j < B::WIDE; j++)
#pragma unroll
            for (int half = 0; half < 4; half += 2) {
                double2 one = *(const double2 *) (x + factor[j].x + k + half);
                double2 two = *(const double2 *) (x + factor[j].y + k + half);
                b[j][half] = one.x * two.x;
                b[j][half + 1] = one.y * two.y;
            }
#pragma unroll
        for (int i = 0; i < B::TALL; i++) {
            double a[8];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const double *at = w + (16 * i + j % 2 * 8) * B::PITCH + k + j / 2 * 2;
                double2 two = *(const double2 *) at;
                a[j / 2 * 4 + j % 2] = two.x;
                a[j / 2 * 4 + j % 2 + 2] = two.y;
            }
#pragma unroll
            for (int j = 0; j < B::WIDE; j++)
                multiply_16x8x16(sum[i][j], a, b[j]);
        }
    }
}

/* Writes the sums of this warp. */
template <class B>
__device__ inline void put_sums(double (*sum)[B::WIDE][4], uint32_t predictions,
                                uint32_t columns, uint32_t stride, double *to)
{
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t row = warp / B::ACROSS * B::TALL * 16 + lane / 4;
    uint32_t column = warp % B::ACROSS * B::WIDE * 8 + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < B::TALL; i++)
#pragma unroll
        for (int j = 0; j < B::WIDE; j++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                uint32_t r = row + 16 * i + 8 * half, c = column + 8 * j;
                if (r < predictions && c < columns)
                    *(double2 *) (to + (size_t) r * stride + c) =
                        make_double2(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
            }
}

/* Adds up what the threads found of the spread of each prediction; `room` is shared
   memory. */
template <class B>
__device__ inline void put_spread(const smap_spread *spread, double *room,
                                  uint32_t predictions, double *to)
{
    constexpr int GROUPS = B::THREADS / WARP / (B::LANES / 8);
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t row = lane % 8 + warp % (B::LANES / 8) * 8, group = warp / (B::LANES / 8);
#pragma unroll
    for (int i = 0; i < B::ROWS; i++) {
        double part[3] = {spread[i].weight, spread[i].target, spread[i].square};
#pragma unroll
        for (int j = 0; j < 3; j++) {
            part[j] += __shfl_xor_sync(WHOLE_WARP, part[j], 8);
            part[j] += __shfl_xor_sync(WHOLE_WARP, part[j], 16);
            if (lane < 8)
                room[(group * B::PREDICTIONS + row + i * B::LANES) * 3 + j] = part[j];
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < B::PREDICTIONS * 3; i += B::THREADS) {
        double sum = 0;
        for (uint32_t g = 0; g < GROUPS; g++)
            sum += room[g * B::PREDICTIONS * 3 + i];
        if (i / 3 < predictions)
            to[i] = sum;
    }
}

/* In each turn half of the warps multiply first and half make the next tile first, so
   that the units for both have something to do. */
template <class B>
__global__ void __launch_bounds__(B::THREADS, B::BLOCKS)
    smap_multiply(SYN_GPU_JOB smap_product job)
{
    extern __shared__ double2 memory[];
    const smap_points &p = job.points;
    smap_shared<B> s((double *) memory, p.shape);
    uint32_t first = blockIdx.x * B::PREDICTIONS, split = blockIdx.y % job.splits;
    uint32_t column = blockIdx.y / job.splits * B::PRODUCTS;
    uint32_t tiles = (p.n + B::POINTS - 1) / B::POINTS;
    uint32_t begin = (uint32_t) ((uint64_t) tiles * split / job.splits);
    uint32_t end = (uint32_t) ((uint64_t) tiles * (split + 1) / job.splits);
    bool early = threadIdx.x / WARP / 4 % 2 == 0;
    double sum[B::TALL][B::WIDE][4] = {};
    smap_spread spread[B::ROWS];

    auto points_of = [&](uint32_t tile) {
        return s.point + tile % 3 * (p.shape.wide + 2) * B::PITCH;
    };
    auto make = [&](uint32_t tile) {
        make_weights<B>(p.shape, s, points_of(tile), tile * B::POINTS,
                        s.weight + tile % 2 * B::PREDICTIONS * B::PITCH, spread);
    };
    uint2 factor[B::WIDE];
#pragma unroll
    for (int j = 0; j < B::WIDE; j++) {
        ushort2 of = job.factor[column + (threadIdx.x / WARP % B::ACROSS * B::WIDE + j) * 8 +
                                threadIdx.x % WARP / 4];
        factor[j] = make_uint2(of.x * B::PITCH, of.y * B::PITCH);
    }
    take_predictions<B>(job, first, s);
    if (begin < end)
        fetch_points<B>(p, begin, points_of(begin));
    if (begin + 1 < end)
        fetch_points<B>(p, begin + 1, points_of(begin + 1));
    __pipeline_wait_prior(0);
    __syncthreads();
    if (begin < end)
        make(begin);
    __syncthreads();
    for (uint32_t tile = begin; tile < end; tile++) {
        if (tile + 2 < end)
            fetch_points<B>(p, tile + 2, points_of(tile + 2));
#pragma unroll 1
        for (int half = 0; half < 2; half++)
            if (early == (half == 0))
                multiply_tile<B>(s.weight + tile % 2 * B::PREDICTIONS * B::PITCH,
                                 points_of(tile), factor, sum);
            else if (tile + 1 < end)
                make(tile + 1);
        __pipeline_wait_prior(0);
        __syncthreads();
    }
    size_t at = (size_t) (blockIdx.z * job.splits + split) * p.predictions + first;
    uint32_t left = p.predictions - first;
    put_sums<B>(sum, left, p.shape.columns - column, p.shape.columns,
                job.sum + at * p.shape.columns + column);
    if (column == 0)
        put_spread<B>(spread, s.weight, left, job.spread + at * 3);
}

}  // namespace gpu

#endif
