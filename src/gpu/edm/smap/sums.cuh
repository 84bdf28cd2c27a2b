/* The sums of normal equations: of the whole library, or of the neighbours in lists. */
#pragma once

#include "gpu/edm/smap/distances.cuh"

namespace gpu {

/* ---- the whole library ---- */

/* Sums over the library of squared weights times products of any two of 1, coordinates
   and target: for all predictions together a product of two matrices of doubles. Neither
   is ever in memory. A block makes the weights of its predictions for a few points of the
   library in shared memory, and multiplies them while it makes the next. The products of
   the points are made as they are read. Blocks are numbered by predictions, by columns
   and splits, and by thetas. */

/* The shape of a block: DOWN x ACROSS warps, each with TALL x 16 predictions and WIDE x 8
   products, which take POINTS points of the library at a time. GROUPS warps share 16
   predictions when they make weights, each for TILES times 8 points. Registers are for
   BLOCKS of them on a multiprocessor. */
template <int DOWN_, int ACROSS_, int TALL_, int WIDE_, int POINTS_, int BLOCKS_>
struct smap_block {
    static constexpr int DOWN = DOWN_, ACROSS = ACROSS_, TALL = TALL_, WIDE = WIDE_;
    static constexpr int POINTS = POINTS_, BLOCKS = BLOCKS_;
    static constexpr int THREADS = DOWN * ACROSS * WARP;
    static constexpr int PREDICTIONS = DOWN * TALL * 16, PRODUCTS = ACROSS * WIDE * 8;
    /* Lanes read from different banks; the smallest block rather saves memory. */
    static constexpr int PITCH = THREADS > 64 ? POINTS + 8 : POINTS + 2;
    static constexpr int GROUPS = DOWN * ACROSS / (DOWN * TALL);
    static constexpr int TILES = POINTS / 8 / GROUPS;
    static_assert(POINTS % 16 == 0 && SMAP_POINTS % POINTS == 0, "whole products");
    static_assert(ACROSS % TALL == 0 && TILES * GROUPS * 8 == POINTS, "all have work");
};

/* What a prediction needs for its weights. */
struct smap_weighing {
    smap_fall fall;
    smap_left_out out;
};

/* A block's shared memory. */
template <class B> struct smap_shared {
    double *weight;      /* [2][PREDICTIONS][PITCH] squared weights */
    double *point;       /* [3][places][PITCH] of the library */
    double *predicted;   /* [PREDICTIONS][pitch] */
    smap_weighing *how;  /* [PREDICTIONS] */

    __device__ smap_shared(double *memory, const smap_shape &shape)
    {
        weight = memory;
        point = weight + 2 * B::PREDICTIONS * B::PITCH;
        predicted = point + 3 * shape.places * B::PITCH;
        how = (smap_weighing *) (predicted + B::PREDICTIONS * shape.pitch);
    }
};

template <class B> __host__ __device__ inline size_t
smap_product_shared(const smap_shape &shape)
{
    size_t doubles = (2 * B::PREDICTIONS + 3 * shape.places) * B::PITCH +
                     B::PREDICTIONS * shape.pitch;
    return doubles * sizeof(double) + B::PREDICTIONS * sizeof(smap_weighing);
}

/* What a thread adds up for the spread of the targets: a prediction's sums. */
struct smap_spread {
    double weight = 0, target = 0, square = 0;

    __device__ void add(double w, double y, double yy)
    {
        weight += w;
        target = fma(w, y, target);
        square = fma(w, yy, square);
    }
};

/* Squared weights of this warp's predictions for its points of a tile, and what they add
   to the spread. */
template <class B>
__device__ inline void make_weights(const smap_shape &shape, const smap_shared<B> &s,
                                    const double *point, uint32_t first, double *weight,
                                    smap_spread *spread)
{
    uint32_t warp = threadIdx.x / WARP, g = threadIdx.x % WARP / 4;
    uint32_t row = warp / B::GROUPS * 16;
    uint32_t column = warp % B::GROUPS * B::TILES * 8;
    double square[B::TILES][4];
    find_squares<B::TILES, B::PITCH>(shape, s.predicted + row * shape.pitch,
                                     point + column, square);
    row += g;
    column += threadIdx.x % 4 * 2;
    const double *last = point + shape.wide * B::PITCH + column;
    smap_weighing how[2] = {s.how[row], s.how[row + 8]};
    SYN_UNROLL(j, B::TILES) {
        double2 target = *(const double2 *) (last + 8 * j);
        double2 known = *(const double2 *) (last + B::PITCH + 8 * j);
        double squares[2] = {target.x * target.x, target.y * target.y};
        SYN_UNROLL(i, 4) {
            double w = smap_weight(root_of(square[j][i]), how[i / 2].fall);
            bool near = smap_is_near(how[i / 2].out, first + column + 8 * j + i % 2);
            w = near && __double2hiint(i % 2 ? known.y : known.x) ? w : 0;
            spread[i / 2].add(w, i % 2 ? target.y : target.x, squares[i % 2]);
            square[j][i] = w * w;
        }
#pragma unroll
        for (int i = 0; i < 4; i += 2)
            *(double2 *) (weight + (row + i * 4) * B::PITCH + column + 8 * j) =
                make_double2(square[j][i], square[j][i + 1]);
    }
}

/* The products of two points that are neighbours. `factor`: of the lane's product in each
   eight of them, where its two terms begin. */
template <class B>
__device__ inline void make_products(const double *point, const uint2 *factor,
                                     double (*product)[2])
{
    SYN_UNROLL(j, B::WIDE) {
        double2 one = *(const double2 *) (point + factor[j].x);
        double2 two = *(const double2 *) (point + factor[j].y);
        product[j][0] = one.x * two.x;
        product[j][1] = one.y * two.y;
    }
}

/* Adds weights times products of a tile to the sums of this warp. A lane takes two points
   that are neighbours as the two products of multiply_16x8x8(). The products of the next
   points are made while those before are multiplied. */
template <class B>
__device__ inline void multiply_tile(const double *weight, const double *point,
                                     const uint2 *factor, double (*sum)[B::WIDE][4])
{
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t row = warp / B::ACROSS * B::TALL * 16 + lane / 4;
    const double *w = weight + row * B::PITCH + lane % 4 * 2;
    double b[2][B::WIDE][2];
    point += lane % 4 * 2;
    make_products<B>(point, factor, b[0]);
#pragma unroll
    for (int k = 0; k < B::POINTS; k += 8) {
        if (k + 8 < B::POINTS)
            make_products<B>(point + k + 8, factor, b[(k / 8 + 1) % 2]);
        SYN_UNROLL(i, B::TALL) {
            double2 low = *(const double2 *) (w + 16 * i * B::PITCH + k);
            double2 high = *(const double2 *) (w + (16 * i + 8) * B::PITCH + k);
            double a[4] = {low.x, high.x, low.y, high.y};
            SYN_UNROLL(j, B::WIDE)
                multiply_16x8x8(sum[i][j], a, b[k / 8 % 2][j]);
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
    SYN_UNROLL(i, B::TALL)
        SYN_UNROLL(j, B::WIDE)
            SYN_UNROLL(half, 2) {
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
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t row = warp / B::GROUPS * 16 + lane / 4, group = warp % B::GROUPS;
    SYN_UNROLL(i, 2) {
        double part[3] = {spread[i].weight, spread[i].target, spread[i].square};
        SYN_UNROLL(j, 3) {
            part[j] += __shfl_xor_sync(WHOLE_WARP, part[j], 1);
            part[j] += __shfl_xor_sync(WHOLE_WARP, part[j], 2);
            if (lane % 4 == 0)
                room[(group * B::PREDICTIONS + row + i * 8) * 3 + j] = part[j];
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < B::PREDICTIONS * 3; i += B::THREADS) {
        double sum = 0;
        for (uint32_t g = 0; g < B::GROUPS; g++)
            sum += room[g * B::PREDICTIONS * 3 + i];
        if (i / 3 < predictions)
            to[i] = sum;
    }
}

/* Warps go on to the weights of the next tile while others still multiply. */
template <class B>
__global__ void __launch_bounds__(B::THREADS, B::BLOCKS)
    smap_multiply(SYN_GPU_JOB smap_job job)
{
    extern __shared__ double2 memory[];
    const smap_points &p = job.points;
    smap_shared<B> s((double *) memory, p.shape);
    uint32_t first = blockIdx.x * B::PREDICTIONS, split = blockIdx.y % job.splits;
    uint32_t column = blockIdx.y / job.splits * B::PRODUCTS;
    uint32_t tiles = (p.n + B::POINTS - 1) / B::POINTS;
    uint32_t begin = (uint32_t) ((uint64_t) tiles * split / job.splits);
    uint32_t end = (uint32_t) ((uint64_t) tiles * (split + 1) / job.splits);
    double sum[B::TALL][B::WIDE][4] = {};
    smap_spread spread[2];

    auto points_of = [&](uint32_t tile) {
        return s.point + tile % 3 * p.shape.places * B::PITCH;
    };
    auto make = [&](uint32_t tile) {
        make_weights<B>(p.shape, s, points_of(tile), tile * B::POINTS,
                        s.weight + tile % 2 * B::PREDICTIONS * B::PITCH, spread);
    };
    uint2 factor[B::WIDE];
    SYN_UNROLL(j, B::WIDE) {
        uint32_t eight = threadIdx.x / WARP % B::ACROSS * B::WIDE + j;
        ushort2 of = job.factor[column + eight * 8 + threadIdx.x % WARP / 4];
        factor[j] = make_uint2(of.x * B::PITCH, of.y * B::PITCH);
    }
    /* The predictions of this block; zeros after the last. */
    uint32_t left = p.predictions - first;
    for (uint32_t i = threadIdx.x; i < B::PREDICTIONS * p.shape.pitch; i += B::THREADS)
        s.predicted[i] = i / p.shape.pitch < left
                             ? p.predicted[(size_t) first * p.shape.pitch + i]
                             : 0;
    for (uint32_t r = threadIdx.x; r < B::PREDICTIONS; r += B::THREADS) {
        smap_weighing how = {{0, 0}, {0, 0, UINT32_MAX, 0}};
        if (r < left) {
            smap_distances d = job.distance[first + r];
            how.fall = smap_fall_of(smap_rate(d, job.theta[blockIdx.z]), d.least);
            how.out = job.out[first + r];
        }
        s.how[r] = how;
    }
    if (begin < end)
        smap_fetch<B>(p, begin, points_of(begin));
    if (begin + 1 < end)
        smap_fetch<B>(p, begin + 1, points_of(begin + 1));
    __pipeline_wait_prior(0);
    __syncthreads();
    if (begin < end)
        make(begin);
    __syncthreads();
    for (uint32_t tile = begin; tile < end; tile++) {
        if (tile + 2 < end)
            smap_fetch<B>(p, tile + 2, points_of(tile + 2));
        multiply_tile<B>(s.weight + tile % 2 * B::PREDICTIONS * B::PITCH, points_of(tile),
                         factor, sum);
        if (tile + 1 < end)
            make(tile + 1);
        __pipeline_wait_prior(0);
        __syncthreads();
    }
    size_t at = (size_t) (blockIdx.z * job.splits + split) * p.predictions + first;
    put_sums<B>(sum, left, p.shape.columns - column, p.shape.columns,
                job.sum + at * p.shape.columns + column);
    if (column == 0)
        put_spread<B>(spread, s.weight, left, job.spread + at * 3);
}

/* ---- lists ---- */

/* Sums of S-maps whose neighbours are listed: a block for each prediction and theta.
   There is one split. */

enum { SMAP_LIST_THREADS = 128, SMAP_LIST_POINTS = 32 };

/* Turns rows into places, and finds the mean and the least distance: a warp for each
   prediction. */
__global__ void smap_look_up(SYN_GPU_JOB smap_job job)
{
    uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    uint32_t lane = threadIdx.x % WARP;
    const smap_points &p = job.points;
    if (i >= p.predictions)
        return;
    uint32_t found = job.lists.found[i], known = 0;
    size_t first = (size_t) i * job.k;
    double sum = 0, least = 1e308;
    for (uint32_t j = lane; j < found; j += WARP) {
        uint32_t place = first_from(job.library, p.n, job.lists.row[first + j]);
        double distance = job.lists.distance[first + j];
        job.lists.row[first + j] = place;
        sum += distance;
        if (p.library[(size_t) (p.shape.wide + 1) * p.padded + place] > 0) {
            known++;
            least = distance < least ? distance : least;
        }
    }
    sum = warp_total(sum);
    known = warp_sum(known);
    least = over_warp(least, [](double a, double b) { return fmin(a, b); });
    if (lane == 0) {
        job.distance[i] = {found > 0 ? sum / found : 0, least};
        job.out[i] = {0, 0, UINT32_MAX, known};
    }
}

__host__ __device__ inline size_t smap_list_shared(const smap_shape &shape)
{
    return sizeof(double) * SMAP_LIST_POINTS * (shape.places + 1);
}

/* Fetches the next neighbours and their squared weights, and adds to the spread. */
__device__ inline void take_listed(const smap_job &job, uint32_t prediction,
                                   uint32_t from, uint32_t n, const smap_fall &fall,
                                   double *point, double *weight, double *spread)
{
    const smap_points &p = job.points;
    size_t first = (size_t) prediction * job.k + from;
    const uint32_t *place = job.lists.row + first;
    const double *distance = job.lists.distance + first;
    for (uint32_t i = threadIdx.x; i < n * p.shape.places; i += SMAP_LIST_THREADS)
        point[i] = p.library[(size_t) (i % p.shape.places) * p.padded +
                             place[i / p.shape.places]];
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n; i += SMAP_LIST_THREADS) {
        const double *last = point + i * p.shape.places + p.shape.wide;
        double w = smap_weight(distance[i], fall);
        weight[i] = w * w * last[1];  /* 0 where the target is missing */
        spread[0] += w * last[1];
        spread[1] += w * last[0];
        spread[2] += w * last[0] * last[0];
    }
    __syncthreads();
}

__global__ void __launch_bounds__(SMAP_LIST_THREADS)
    smap_add_listed(SYN_GPU_JOB smap_job job)
{
    extern __shared__ double2 memory[];
    const smap_points &p = job.points;
    double *point = (double *) memory;
    double *weight = point + SMAP_LIST_POINTS * p.shape.places;
    uint32_t columns = p.shape.columns;
    for (uint32_t at = blockIdx.x; at < p.predictions; at += gridDim.x) {
        uint32_t found = job.lists.found[at];
        smap_distances d = job.distance[at];
        smap_fall fall = smap_fall_of(smap_rate(d, job.theta[blockIdx.y]), d.least);
        size_t place = (size_t) blockIdx.y * p.predictions + at;
        double *sum = job.sum + place * columns, spread[3] = {0, 0, 0};
        for (uint32_t from = 0; from == 0 || from < found; from += SMAP_LIST_POINTS) {
            uint32_t left = found - from, most = SMAP_LIST_POINTS;
            uint32_t n = left < most ? left : most;
            take_listed(job, at, from, n, fall, point, weight, spread);
            for (uint32_t c = threadIdx.x; c < columns; c += SMAP_LIST_THREADS) {
                ushort2 factor = job.factor[c];
                double part = from > 0 ? sum[c] : 0;
                for (uint32_t i = 0; i < n; i++) {
                    const double *x = point + i * p.shape.places;
                    part = fma(weight[i] * x[factor.x], x[factor.y], part);
                }
                sum[c] = part;
            }
            __syncthreads();
        }
        /* Only the first warp has neighbours of its own. */
        for (int j = 0; j < 3; j++) {
            spread[j] = warp_total(spread[j]);
            if (threadIdx.x == 0)
                job.spread[place * 3 + j] = spread[j];
        }
    }
}

}  // namespace gpu
