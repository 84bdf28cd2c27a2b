/* The large products of pairwise S-maps, whose first factor is made on the fly. */
#pragma once

#include "gpu/edm/pairs/pairs.cuh"
#include "gpu/edm/tensor.cuh"

#include <cuda_pipeline.h>

namespace gpu {

/* ---- weights ---- */

/* Weights of pairwise S-maps. They need not be right to the last bit, but are the same
   wherever they are made: off by 1e-10 of them at most, in fewer operations than those of
   gpu/edm/smap/points.cuh. */

/* The square root of a number up to 1e300, to 2e-12 of it. Rounding may have taken the
   number to 0 or below: the root is then about 1e-145. */
__device__ inline double quick_root(double square)
{
    int high = __double2hiint(square);
    high = high > 0x03f00000 ? high : 0x03f00000;  /* of 2 to the power of -960 */
    square = __hiloint2double(high, __double2loint(square));
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(square));
    double root = square * y;
    double half = __hiloint2double(__double2hiint(y) - (1 << 20), __double2loint(y));
    return fma(root, fma(-root, half, 0.5), root);
}

/* 2 to the power of x, up to 0, to 6e-11 of it; 0 for x below -1000. */
__device__ inline double power_of_two(double x)
{
    constexpr double magic = 6755399441055744.0;
    double shifted = x + magic, part = x - (shifted - magic);
    double sum = 1.53036994561262e-05;  /* Chebyshev's polynomial for -0.5 to 0.5 */
    sum = fma(sum, part, 0.00015469729248707151);
    sum = fma(sum, part, 0.0013333478480177519);
    sum = fma(sum, part, 0.0096180256131770427);
    sum = fma(sum, part, 0.055504109063160278);
    sum = fma(sum, part, 0.24022651213499691);
    sum = fma(sum, part, 0.69314718055683633);
    sum = fma(sum, part, 0.99999999995956168);
    int high = __double2hiint(sum) + __double2loint(shifted) * (1 << 20);
    /* The first bits of -1000, which is larger than those of all from there to 0. */
    bool tiny = (uint32_t) __double2hiint(x) > 0xc08f4000u;
    return tiny ? 0 : __hiloint2double(high, __double2loint(sum));
}

/* ---- elements ---- */

/* Distances, weights and rows of the hat matrix, 16 x 16 at a time: a warp takes 16
   predictions, and each of its lanes makes those elements that the tensor cores want from
   it. Squared distances |p|^2 - 2 p z + |z|^2 are products of matrices themselves. */

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
        SYN_UNROLL(half, 2)
            SYN_UNROLL(q, QUADS) {
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
        SYN_UNROLL(half, 2)
            SYN_UNROLL(q, QUADS) {
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
    SYN_UNROLL(u, 2) {
        double sum[4] = {}, b[QUADS];
        SYN_UNROLL(q, QUADS)
            b[q] = z[(4 * q + t) * PAIR_PITCH + 8 * u + g];
        multiply_16x8(sum, rows, b);
        SYN_UNROLL(half, 2)
            SYN_UNROLL(s, 2)
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
    SYN_UNROLL(part, 4)
        SYN_UNROLL(half, 2) {
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

/* ---- products ---- */

/* The two large products of pairwise S-maps: squared weights, a row for each prediction,
   times products of the library's coordinates, which gives normal equations; and rows of
   the hat matrix times targets, which gives predictions of all of them. The large matrix
   is made on the fly. */

/* Doubles of what a block holds of a library at a time: a panel, and features. */
inline __host__ __device__ uint32_t stage_size(uint32_t quads, uint32_t tiles)
{
    return PAIR_POINTS / 4 * tiles * WARP + 4 * quads * PAIR_PITCH;
}

/* The bytes that a block needs: two such, and sums of columns. */
inline size_t multiply_shared(uint32_t quads, uint32_t tiles)
{
    return (2 * (size_t) stage_size(quads, tiles) + PAIR_WARPS * PAIR_POINTS) *
           sizeof(double);
}

/* Begins to copy points `from` and those after it. */
template <int QUADS, int TILES>
__device__ inline void fetch_points(const pairs_job &job, const double *panel,
                                    const double *feature, uint32_t from, double *to)
{
    constexpr uint32_t size = PAIR_POINTS / 4 * TILES * WARP;
    const double *source = panel + (size_t) from / 4 * TILES * WARP;
    for (uint32_t i = 2 * threadIdx.x; i < size; i += 2 * PAIR_THREADS)
        __pipeline_memcpy_async(to + i, source + i, 16);
    fetch_features<QUADS>(job, feature, nullptr, from, to + size);
    __pipeline_commit();
}

/* Sums over the 16 predictions of a warp, of weights times what gives coefficients, for
   its 16 points. Lanes pass on half of what they have, and keep the other. */
__device__ inline void sum_columns(const pair_elements &weight,
                                   const pair_elements &slope, double *to)
{
    int lane = threadIdx.x % WARP;
    double sum[4];
    SYN_UNROLL(part, 4)
        sum[part] =
            fma(weight[0][part], slope[0][part], weight[1][part] * slope[1][part]);
    bool high = lane & 16;
    SYN_UNROLL(i, 2) {
        double other = __shfl_xor_sync(WHOLE_WARP, high ? sum[i] : sum[i + 2], 16);
        sum[i] = (high ? sum[i + 2] : sum[i]) + other;
    }
    bool odd = lane & 8;
    double other = __shfl_xor_sync(WHOLE_WARP, odd ? sum[0] : sum[1], 8);
    double one = (odd ? sum[1] : sum[0]) + other;
    one += __shfl_xor_sync(WHOLE_WARP, one, 4);
    if (!(lane & 4))
        to[pair_point(2 * high + odd)] = one;
}

/* Where a block and its lanes are. */
struct pair_place {
    uint32_t which, group, tile;  /* library, group of columns, tile of this part */
    uint32_t row;                 /* the lane's first prediction, */
    uint32_t own;                 /* the same from the start of this part, */
    uint32_t first;               /* and the warp's first */
};

__device__ inline pair_place find_place(const pairs_job &job)
{
    uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    pair_place p = {blockIdx.z, blockIdx.y, blockIdx.x, 0, 0, 0};
    p.own = p.tile * PAIR_TILE + warp * PAIR_ROWS + lane / 4;
    p.row = job.begin * PAIR_TILE + p.own;
    p.first = p.row - lane / 4;
    return p;
}

/* Adds the points of a stage to the sums, 16 at a time: squared weights, or with HAT rows
   of the hat matrix, times the panel. With SLOPES sums of what gives coefficients go to
   `column`. */
template <bool HAT, bool SLOPES, bool NEAR, int QUADS, int TILES>
__device__ inline void multiply_stage(const pairs_job &job, const pair_place &p,
                                      const pair_rows<QUADS> &rows, const double *stage,
                                      uint32_t from, double *column,
                                      double (&sum)[TILES][4])
{
    const double *z = stage + PAIR_POINTS / 4 * TILES * WARP;
    const double *panel = stage + threadIdx.x % WARP;
    pair_elements elements;
#pragma unroll 1
    for (uint32_t i = 0; i < PAIR_POINTS; i += 16, panel += 4 * TILES * WARP) {
        pair_elements by;
        make_weights<NEAR>(rows, z + i, job.exclusion, from + i, p.row, elements);
        if (HAT && SLOPES) {
            multiply_features(rows.b, z + i, by);
            sum_columns(elements, by, column + i);
        }
        if (HAT) {
            multiply_features(rows.a, z + i, by);
            SYN_UNROLL(half, 2)
                SYN_UNROLL(part, 4)
                    elements[half][part] *= by[half][part];
        }
        SYN_UNROLL(j, TILES) {
            double b[4];
            SYN_UNROLL(part, 4)
                b[part] = panel[(part * TILES + j) * WARP];
            multiply_16x8(sum[j], elements, b);
        }
    }
}

/* The sums of the product, of all points, in `sum`. */
template <bool HAT, int QUADS, int TILES>
__device__ inline void multiply_points(const pairs_job &job, const pair_place &p,
                                       const pair_rows<QUADS> &rows, const double *panel,
                                       double *shared, double (&sum)[TILES][4])
{
    const double *feature = job.feature + (size_t) p.which * 4 * QUADS * job.padded;
    double *columns = shared + 2 * stage_size(QUADS, TILES);
    double *column = columns + threadIdx.x / WARP * PAIR_POINTS;
    double *to =
        job.column + ((size_t) p.which * job.tiles + p.tile) * (size_t) job.padded;
    bool slopes = HAT && p.group == 0;
    uint32_t end = HAT ? job.padded : padded_points(job);  /* slopes are of all rows */
    SYN_UNROLL(j, TILES)
        sum[j][0] = sum[j][1] = sum[j][2] = sum[j][3] = 0;
    fetch_points<QUADS, TILES>(job, panel, feature, 0, shared);
    for (uint32_t from = 0, turn = 0; from < end; from += PAIR_POINTS, turn ^= 1) {
        double *stage = shared + turn * stage_size(QUADS, TILES);
        __pipeline_wait_prior(0);
        __syncthreads();
        if (from + PAIR_POINTS < end)
            fetch_points<QUADS, TILES>(job, panel, feature, from + PAIR_POINTS,
                                       shared + (turn ^ 1) * stage_size(QUADS, TILES));
        bool near = any_near(job, from, PAIR_POINTS, p.first);
        if (slopes && near)
            multiply_stage<HAT, true, true>(job, p, rows, stage, from, column, sum);
        else if (slopes)
            multiply_stage<HAT, true, false>(job, p, rows, stage, from, column, sum);
        else if (near)
            multiply_stage<HAT, false, true>(job, p, rows, stage, from, column, sum);
        else
            multiply_stage<HAT, false, false>(job, p, rows, stage, from, column, sum);
        if (slopes) {
            __syncthreads();
            /* The columns of all warps, in their order. */
            if (threadIdx.x < PAIR_POINTS) {
                double all = 0;
                for (int warp = 0; warp < PAIR_WARPS; warp++)
                    all += columns[warp * PAIR_POINTS + threadIdx.x];
                to[from + threadIdx.x] = all;
            }
        }
    }
}

/* The rows of a block's place, without those of the hat matrix. */
template <int QUADS>
__device__ inline void load_rows(const pairs_job &job, const pair_place &p,
                                 pair_rows<QUADS> *rows)
{
    size_t at = (size_t) p.which * job.padded;
    rows->load(job, job.feature + 4 * QUADS * at, job.square + at, p.row);
    for (int half = 0; half < 2; half++)
        rows->fall[half] = job.falls[at + p.row + 8 * half];
}

/* ---- normal equations ---- */

/* Grid: tiles, groups of products, libraries. */
template <int QUADS, int TILES>
__global__ void __launch_bounds__(PAIR_THREADS) sum_products(SYN_GPU_JOB pairs_job job)
{
    extern __shared__ double shared[];
    pair_place p = find_place(job);
    pair_rows<QUADS> rows;
    load_rows(job, p, &rows);
    uint32_t columns = product_columns(job), lane = threadIdx.x % WARP;
    const double *panel = job.products + (size_t) p.which * columns * job.padded +
                          (size_t) p.group * job.padded * TILES * PAIR_COLUMNS;
    double sum[TILES][4];
    multiply_points<false>(job, p, rows, panel, shared, sum);
    size_t at = (size_t) p.which * job.tiles * PAIR_TILE + p.own;
    double *to = job.sums + at * columns + p.group * TILES * PAIR_COLUMNS;
    SYN_UNROLL(j, TILES)
        SYN_UNROLL(half, 2) {
            double *cell = to + (size_t) 8 * half * columns + j * PAIR_COLUMNS +
                           2 * (lane % 4);
            cell[0] = sum[j][2 * half];
            cell[1] = sum[j][2 * half + 1];
        }
}

/* ---- predictions ---- */

/* What a warp's predictions add to the sums of each target: room[PAIR_SUMS][columns]. */
template <int TILES>
__device__ inline void compare(const pairs_job &job, const pair_place &p,
                               const double *panel, const double (&sum)[TILES][4],
                               double *room)
{
    uint32_t lane = threadIdx.x % WARP;
#pragma unroll 1
    for (int j = 0; j < TILES; j++)
        SYN_UNROLL(odd, 2) {
            double add[PAIR_SUMS] = {};
            uint32_t column = j * PAIR_COLUMNS + 2 * (lane % 4) + odd;
            SYN_UNROLL(half, 2) {
                uint32_t row = p.row + 8 * half;
                bool both = job.known[row] &&
                            job.state[(size_t) p.which * job.padded + row] == PAIR_MADE;
                double said = 0;
                SYN_UNROLL(i, TILES)  /* registers have no addresses */
                    said = i == j ? sum[i][2 * half + odd] : said;
                double seen = panel[panel_place(job.padded, TILES, row, column)];
                said = both ? said : 0;
                seen = both ? seen : 0;
                add[0] += said;
                add[1] += said * said;
                add[2] += seen;
                add[3] += seen * seen;
                add[4] += said * seen;
            }
            SYN_UNROLL(i, PAIR_SUMS) {
                double all = add[i];
                for (int o = 4; o < WARP; o *= 2)
                    all += __shfl_xor_sync(WHOLE_WARP, all, o);
                if (lane < 4)
                    room[i * TILES * PAIR_COLUMNS + column] = all;
            }
        }
}

/* Grid: tiles, groups of targets, libraries. */
template <int QUADS, int TILES>
__global__ void __launch_bounds__(PAIR_THREADS) sum_predictions(SYN_GPU_JOB pairs_job job)
{
    extern __shared__ double shared[];
    constexpr uint32_t wide = TILES * PAIR_COLUMNS;
    pair_place p = find_place(job);
    uint32_t part = job.tiles * PAIR_TILE, warp = threadIdx.x / WARP;
    pair_rows<QUADS> rows;
    load_rows(job, p, &rows);
    const double *hat = job.hat + (size_t) p.which * 2 * (job.E + 1) * part;
    rows.load_hat(job.E, hat, p.own, part);
    const double *panel = job.targets + (size_t) p.group * job.padded * wide;
    double sum[TILES][4];
    multiply_points<true>(job, p, rows, panel, shared, sum);
    __syncthreads();
    compare<TILES>(job, p, panel, sum, shared + warp * PAIR_SUMS * wide);
    __syncthreads();
    size_t tile = (size_t) p.which * job.all_tiles + job.begin + p.tile;
    uint32_t columns = target_columns(job);
    double *to = job.partial + tile * PAIR_SUMS * columns + p.group * wide;
    for (uint32_t i = threadIdx.x; i < PAIR_SUMS * wide; i += PAIR_THREADS) {
        double all = 0;
        for (int w = 0; w < PAIR_WARPS; w++)
            all += shared[w * PAIR_SUMS * wide + i];
        to[i / wide * columns + i % wide] = all;
    }
}

}  // namespace gpu
