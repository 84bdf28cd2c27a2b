/* The two large products of pairwise S-maps: squared weights, a row for each prediction,
   times products of the library's coordinates, which gives normal equations; and rows of
   the hat matrix times targets, which gives predictions of all of them.

   The large matrix is made on the fly. A warp takes 16 predictions, and each of its lanes
   makes those elements of 16 x 16 that the tensor cores want from it. */
#ifndef SYN_GPU_EDM_PAIRS_MULTIPLY_CUH
#define SYN_GPU_EDM_PAIRS_MULTIPLY_CUH

#include "gpu/edm/matrix.cuh"
#include "gpu/edm/pairs_types.cuh"
#include "gpu/edm/power.cuh"
#include "gpu/edm/weights.cuh"

#include <cuda_pipeline.h>

namespace gpu {

constexpr uint32_t PAIR_THREADS = PAIR_WARPS * WARP;

/* Doubles of what a block holds of a library at a time. */
inline __host__ __device__ uint32_t stage_size(uint32_t E, uint32_t tiles)
{
    return PAIR_POINTS / 4 * tiles * WARP + (E + 1) * PAIR_POINTS;
}

/* The bytes that a block needs: two such, and sums of columns. */
inline size_t multiply_shared(uint32_t E, uint32_t tiles, bool hat)
{
    size_t sums = hat ? PAIR_WARPS * PAIR_POINTS : 0;
    return (2 * (size_t) stage_size(E, tiles) + sums) * sizeof(double);
}

/* Begins to copy points `from` and those after it: a panel, their coordinates, and what
   starts their distances. */
template <int TILES>
__device__ inline void fetch_points(const pairs_job &job, const double *panel,
                                    const double *x, const double *start, uint32_t from,
                                    double *to)
{
    constexpr uint32_t size = PAIR_POINTS / 4 * TILES * WARP;
    const double *source = panel + (size_t) from / 4 * TILES * WARP;
    for (uint32_t i = 2 * threadIdx.x; i < size; i += 2 * PAIR_THREADS)
        __pipeline_memcpy_async(to + i, source + i, 16);
    to += size;
    for (uint32_t i = threadIdx.x; i < (job.E + 1) * PAIR_POINTS; i += PAIR_THREADS) {
        uint32_t k = i / PAIR_POINTS, point = from + i % PAIR_POINTS;
        const double *value = k < job.E ? x + place_of(job, point, k) : start + point;
        __pipeline_memcpy_async(to + i, value, sizeof(double));
    }
    __pipeline_commit();
}

/* The two predictions of a lane: rows lane / 4 and 8 after it of its warp. Their points
   are in registers for E that is known when compiled. */
template <int E> struct pair_rows {
    pair_fall fall[2];
    double z[2][E], a[2][E + 1], b[2][E + 1];

    __device__ void load(const pairs_job &job, const double *x, const double *hat,
                         uint32_t row, uint32_t own, uint32_t pitch)
    {
#pragma unroll
        for (int half = 0; half < 2; half++) {
#pragma unroll
            for (int k = 0; k < E; k++)
                z[half][k] = x[place_of(job, row + 8 * half, k)];
            if (hat == nullptr)
                continue;
#pragma unroll
            for (int k = 0; k <= E; k++) {
                a[half][k] = hat[(size_t) k * pitch + own + 8 * half];
                b[half][k] = hat[(size_t) (E + 1 + k) * pitch + own + 8 * half];
            }
        }
    }
    __device__ uint32_t dims() const { return E; }
    __device__ double at(int half, uint32_t k) const { return z[half][k]; }
    __device__ double of_a(int half, uint32_t k) const { return a[half][k]; }
    __device__ double of_b(int half, uint32_t k) const { return b[half][k]; }
};

/* With many coordinates they are read again and again, from the nearest cache. */
template <> struct pair_rows<0> {
    pair_fall fall[2];
    const double *z, *a, *b;
    int64_t tau;
    uint32_t E, pitch;

    __device__ void load(const pairs_job &job, const double *x, const double *hat,
                         uint32_t row, uint32_t own, uint32_t columns)
    {
        z = x + place_of(job, row, 0);
        a = hat + own;
        b = a + (size_t) (job.E + 1) * columns;
        tau = job.tau;
        E = job.E;
        pitch = columns;
    }
    __device__ uint32_t dims() const { return E; }
    __device__ double at(int half, uint32_t k) const { return z[tau * k + 8 * half]; }
    __device__ double of_a(int half, uint32_t k) const
    {
        return a[(size_t) k * pitch + 8 * half];
    }
    __device__ double of_b(int half, uint32_t k) const
    {
        return b[(size_t) k * pitch + 8 * half];
    }
};

/* A lane's elements: of its two predictions, at points 4 part + lane % 4. */
struct pair_elements {
    double square[2][4];         /* distances, then weights, */
    double a[2][4], b[2][4];     /* and products with the two rows of the hat */
};

/* `z` are the coordinates of these 16 points, and `start`. */
template <bool HAT, int E>
__device__ inline void make_elements(const pair_rows<E> &rows, const double *z,
                                     const double *start, pair_elements *e)
{
    uint32_t t = threadIdx.x % 4;
#pragma unroll
    for (int part = 0; part < 4; part++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            e->square[half][part] = start[4 * part + t];
            if (HAT) {
                e->a[half][part] = rows.of_a(half, 0);
                e->b[half][part] = rows.of_b(half, 0);
            }
        }
#pragma unroll(E > 0 ? E : 1)
    for (uint32_t k = 0; k < rows.dims(); k++)
#pragma unroll
        for (int part = 0; part < 4; part++) {
            double at = z[k * PAIR_POINTS + 4 * part + t];
#pragma unroll
            for (int half = 0; half < 2; half++) {
                e->square[half][part] =
                    add_square(e->square[half][part], at, rows.at(half, k));
                if (!HAT)
                    continue;
                e->a[half][part] = fma(rows.of_a(half, k + 1), at, e->a[half][part]);
                e->b[half][part] = fma(rows.of_b(half, k + 1), at, e->b[half][part]);
            }
        }
#pragma unroll
    for (int part = 0; part < 4; part++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const pair_fall &fall = rows.fall[half];
            double distance = quick_root(e->square[half][part]);
            e->square[half][part] =
                power_of_two(fma(-fall.slope, distance, fall.offset));
        }
}

/* Takes the weight of points that are too near in time; `point` is the lane's first, `row`
   its first prediction. */
__device__ inline void leave_out(uint32_t exclusion, uint32_t point, uint32_t row,
                                 pair_elements *e)
{
#pragma unroll
    for (int part = 0; part < 4; part++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint32_t at = point + 4 * part, own = row + 8 * half;
            uint32_t apart = at > own ? at - own : own - at;
            if (apart <= exclusion)
                e->square[half][part] = 0;
        }
}

/* Sums over the 16 predictions of a warp, of weights times the second row of the hat, for
   its 16 points. Lanes pass on half of what they have, and keep the other. */
__device__ inline void sum_columns(const pair_elements &e, double *to)
{
    int lane = threadIdx.x % WARP;
    double sum[4];
#pragma unroll
    for (int part = 0; part < 4; part++)
        sum[part] = fma(e.square[0][part], e.b[0][part], e.square[1][part] * e.b[1][part]);
    bool high = lane & 16;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        double other = __shfl_xor_sync(WHOLE_WARP, high ? sum[i] : sum[i + 2], 16);
        sum[i] = (high ? sum[i + 2] : sum[i]) + other;
    }
    bool odd = lane & 8;
    double other = __shfl_xor_sync(WHOLE_WARP, odd ? sum[0] : sum[1], 8);
    double one = (odd ? sum[1] : sum[0]) + other;
    one += __shfl_xor_sync(WHOLE_WARP, one, 4);
    if (!(lane & 4))
        to[4 * (2 * high + odd) + lane % 4] = one;
}

/* Adds up the columns of all warps, in their order. */
__device__ inline void put_columns(const double *sums, double *to)
{
    if (threadIdx.x >= PAIR_POINTS)
        return;
    double sum = 0;
    for (int warp = 0; warp < PAIR_WARPS; warp++)
        sum += sums[warp * PAIR_POINTS + threadIdx.x];
    to[threadIdx.x] = sum;
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

/* The sums of the product, of all points, in `sum`. */
template <bool HAT, int E, int TILES>
__device__ inline void multiply_points(const pairs_job &job, const pair_place &p,
                                       const pair_rows<E> &rows, const double *panel,
                                       double *shared, double (&sum)[TILES][4])
{
    constexpr uint32_t panel_size = PAIR_POINTS / 4 * TILES * WARP;
    const double *x = job.x + (size_t) p.which * job.pitch;
    const double *start = job.start + (size_t) p.which * job.padded;
    double *columns = shared + 2 * stage_size(job.E, TILES);
    double *column =
        job.column + ((size_t) p.which * job.tiles + p.tile) * (size_t) job.padded;
    uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
#pragma unroll
    for (int j = 0; j < TILES; j++)
        sum[j][0] = sum[j][1] = sum[j][2] = sum[j][3] = 0;
    fetch_points<TILES>(job, panel, x, start, 0, shared);
    for (uint32_t from = 0, turn = 0; from < job.padded; from += PAIR_POINTS, turn ^= 1) {
        double *stage = shared + turn * stage_size(job.E, TILES);
        __pipeline_wait_prior(0);
        __syncthreads();
        if (from + PAIR_POINTS < job.padded)
            fetch_points<TILES>(job, panel, x, start, from + PAIR_POINTS,
                                shared + (turn ^ 1) * stage_size(job.E, TILES));
        const double *z = stage + panel_size;
#pragma unroll 1
        for (uint32_t i = 0; i < PAIR_POINTS; i += 16) {
            pair_elements e;
            make_elements<HAT>(rows, z + i, z + job.E * PAIR_POINTS + i, &e);
            uint32_t point = from + i;
            uint64_t reach = job.exclusion;
            if (point + 15 + reach >= p.first && point <= p.first + 15 + reach)
                leave_out(job.exclusion, point + lane % 4, p.row, &e);
            if (HAT && p.group == 0)
                sum_columns(e, columns + warp * PAIR_POINTS + i);
            if (HAT)
#pragma unroll
                for (int part = 0; part < 4; part++)
#pragma unroll
                    for (int half = 0; half < 2; half++)
                        e.square[half][part] *= e.a[half][part];
#pragma unroll
            for (int j = 0; j < TILES; j++) {
                double b[4];
#pragma unroll
                for (int part = 0; part < 4; part++)
                    b[part] = stage[((i / 4 + part) * TILES + j) * WARP + lane];
                multiply_16x8x16(sum[j], e.square, b);
            }
        }
        if (HAT && p.group == 0) {
            __syncthreads();
            put_columns(columns, column + from);
        }
    }
}

/* ---- normal equations ---- */

/* Grid: tiles, groups of products, libraries. */
template <int E, int TILES>
__global__ void __launch_bounds__(PAIR_THREADS) sum_products(SYN_GPU_JOB pairs_job job)
{
    extern __shared__ double shared[];
    pair_place p = find_place(job);
    const double *x = job.x + (size_t) p.which * job.pitch;
    pair_rows<E> rows;
    rows.load(job, x, nullptr, p.row, p.own, 0);
    for (int half = 0; half < 2; half++)
        rows.fall[half] = job.falls[(size_t) p.which * job.padded + p.row + 8 * half];
    uint32_t columns = product_columns(job), lane = threadIdx.x % WARP;
    const double *panel = job.products + (size_t) p.which * columns * job.padded +
                          (size_t) p.group * job.padded * TILES * PAIR_COLUMNS;
    double sum[TILES][4];
    multiply_points<false>(job, p, rows, panel, shared, sum);
    size_t at = (size_t) p.which * job.tiles * PAIR_TILE + p.own;
    double *to = job.sums + at * columns + p.group * TILES * PAIR_COLUMNS;
#pragma unroll
    for (int j = 0; j < TILES; j++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            double *cell = to + (size_t) 8 * half * columns + j * PAIR_COLUMNS +
                           2 * (lane % 4);
            cell[0] = sum[j][2 * half];
            cell[1] = sum[j][2 * half + 1];
        }
}

/* ---- predictions ---- */

/* Sums over the predictions of a warp, of one column of a tile, in its lanes below 4. */
__device__ inline double over_rows(double value)
{
    for (int o = 4; o < WARP; o *= 2)
        value += __shfl_xor_sync(WHOLE_WARP, value, o);
    return value;
}

/* What a warp's predictions add to the sums of each target: room[PAIR_SUMS][columns]. */
template <int TILES>
__device__ inline void compare(const pairs_job &job, const pair_place &p,
                               const double *panel, const double (&sum)[TILES][4],
                               double *room)
{
    uint32_t lane = threadIdx.x % WARP;
#pragma unroll 1
    for (int j = 0; j < TILES; j++)
#pragma unroll
        for (int odd = 0; odd < 2; odd++) {
            double add[PAIR_SUMS] = {};
            uint32_t column = j * PAIR_COLUMNS + 2 * (lane % 4) + odd;
#pragma unroll
            for (int half = 0; half < 2; half++) {
                uint32_t row = p.row + 8 * half;
                bool both = job.known[row] &&
                            job.state[(size_t) p.which * job.padded + row] == PAIR_MADE;
                double said = 0;
#pragma unroll
                for (int i = 0; i < TILES; i++)  /* registers have no addresses */
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
#pragma unroll
            for (int i = 0; i < PAIR_SUMS; i++) {
                double all = over_rows(add[i]);
                if (lane < 4)
                    room[i * TILES * PAIR_COLUMNS + column] = all;
            }
        }
}

/* Grid: tiles, groups of targets, libraries. */
template <int E, int TILES>
__global__ void __launch_bounds__(PAIR_THREADS) sum_predictions(SYN_GPU_JOB pairs_job job)
{
    extern __shared__ double shared[];
    constexpr uint32_t wide = TILES * PAIR_COLUMNS;
    pair_place p = find_place(job);
    const double *x = job.x + (size_t) p.which * job.pitch;
    uint32_t part = job.tiles * PAIR_TILE, warp = threadIdx.x / WARP;
    pair_rows<E> rows;
    rows.load(job, x, job.hat + (size_t) p.which * 2 * (job.E + 1) * part, p.row, p.own,
              part);
    for (int half = 0; half < 2; half++)
        rows.fall[half] = job.falls[(size_t) p.which * job.padded + p.row + 8 * half];
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

#endif
