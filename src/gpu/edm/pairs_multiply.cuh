/* The two large products of pairwise S-maps: squared weights, a row for each prediction,
   times products of the library's coordinates, which gives normal equations; and rows of
   the hat matrix times targets, which gives predictions of all of them. The large matrix
   is made on the fly (pairs_elements.cuh). */
#ifndef SYN_GPU_EDM_PAIRS_MULTIPLY_CUH
#define SYN_GPU_EDM_PAIRS_MULTIPLY_CUH

#include "gpu/edm/pairs_elements.cuh"

namespace gpu {

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
#pragma unroll
    for (int part = 0; part < 4; part++)
        sum[part] =
            fma(weight[0][part], slope[0][part], weight[1][part] * slope[1][part]);
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
        to[pair_point(2 * high + odd)] = one;
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

/* Elements of the large matrix for 16 points: squared weights, or with HAT rows of the
   hat matrix. With SLOPES sums of what gives coefficients go to `column`. */
template <bool HAT, bool SLOPES, bool NEAR, int QUADS>
__device__ inline void make_elements(const pairs_job &job, const pair_place &p,
                                     const pair_rows<QUADS> &rows, const double *z,
                                     uint32_t point, double *column, pair_elements &out)
{
    make_weights<NEAR>(rows, z, job.exclusion, point, p.row, out);
    pair_elements by;
    if (HAT && SLOPES) {
        multiply_features(rows.b, z, by);
        sum_columns(out, by, column);
    }
    if (!HAT)
        return;
    multiply_features(rows.a, z, by);
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
        for (int part = 0; part < 4; part++)
            out[half][part] *= by[half][part];
}

/* Adds 16 points to the sums; `panel` is the lane's first number of theirs. */
template <int TILES>
__device__ inline void multiply_panel(const pair_elements &elements, const double *panel,
                                      double (&sum)[TILES][4])
{
#pragma unroll
    for (int j = 0; j < TILES; j++) {
        double b[4];
#pragma unroll
        for (int part = 0; part < 4; part++)
            b[part] = panel[(part * TILES + j) * WARP];
        multiply_16x8(sum[j], elements, b);
    }
}

/* Adds the points of a stage to the sums. */
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
        make_elements<HAT, SLOPES, NEAR>(job, p, rows, z + i, from + i, column + i,
                                         elements);
        multiply_panel(elements, panel, sum);
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
#pragma unroll
    for (int j = 0; j < TILES; j++)
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
            put_columns(columns, to + from);
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

#endif
