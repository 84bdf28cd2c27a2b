/* Rows of the hat matrix from normal equations, a thread for each prediction; and what is
   left to add up. */
#ifndef SYN_GPU_EDM_PAIRS_SOLVE_CUH
#define SYN_GPU_EDM_PAIRS_SOLVE_CUH

#include "gpu/edm/pairs_types.cuh"

#include <cfloat>

namespace gpu {

enum { SOLVE = 64, GATHER = 256 };

/* As in core/edm/smap_normal.c: the error of a model, and the condition of equations that
   have one solution. */
constexpr double MOST_ERROR = 1e-8, MOST_CONDITION = 1e16;
constexpr double LEAST_PIVOT = DBL_EPSILON / 1e-9;

/* The doubles of a thread: a triangle and three vectors. */
inline __host__ __device__ uint32_t solve_room(uint32_t unknowns)
{
    return unknowns * (unknowns + 1) / 2 + 3 * unknowns;
}

/* Numbers of a thread, in registers where how many is known when compiled, */
template <int N> struct own_numbers {
    double value[N > 0 ? N * (N + 1) / 2 + 3 * N : 1];
    __device__ own_numbers(double *, uint32_t) {}
    __device__ double &operator[](uint32_t i) { return value[i]; }
};

/* or those of all threads side by side. */
template <> struct own_numbers<0> {
    double *value;
    uint32_t stride;
    __device__ own_numbers(double *room, uint32_t threads)
        : value(room), stride(threads)
    {
    }
    __device__ double &operator[](uint32_t i) { return value[(size_t) i * stride]; }
};

/* The normal equations of one prediction: sums of squared weights times products. */
struct normal_sums {
    const double *sum;
    uint32_t n;
    double hold;  /* what the ridge adds to the squares of slopes */

    __device__ double operator()(uint32_t j, uint32_t k) const
    {
        double value = sum[j * n - j * (j - 1) / 2 + (k - j)];
        return j == k && j > 0 ? value + hold : value;
    }
};

/* Scales the equations so that their diagonal is 1, and inverts their Cholesky triangle;
   whether they are fit for it. */
template <int N, class ROOM>
__device__ inline bool invert_triangle(const normal_sums &sums, uint32_t unknowns,
                                       ROOM &lower, ROOM &room, uint32_t scale)
{
    const uint32_t n = N > 0 ? N : unknowns;
#pragma unroll(N > 0 ? N : 1)
    for (uint32_t j = 0; j < n; j++) {
        double square = sums(j, j);
        if (!(square > 1e-290 && square < 1e290))
            return false;
        room[scale + j] = 1 / sqrt(square);
    }
#pragma unroll(N > 0 ? N : 1)
    for (uint32_t i = 0; i < n; i++)
#pragma unroll(N > 0 ? N : 1)
        for (uint32_t j = 0; j < (N > 0 ? N : i + 1); j++) {
            if (j > i)
                continue;
            double rest = sums(j, i) * room[scale + j] * room[scale + i];
#pragma unroll(N > 0 ? N : 1)
            for (uint32_t k = 0; k < (N > 0 ? N : j); k++)
                if (k < j)
                    rest -= lower[triangle_place(i, k)] * lower[triangle_place(j, k)];
            if (j < i)
                lower[triangle_place(i, j)] = rest * lower[triangle_place(j, j)];
            else if (rest > LEAST_PIVOT)
                lower[triangle_place(i, i)] = 1 / sqrt(rest);  /* the inverse's */
            else
                return false;
        }
#pragma unroll(N > 0 ? N : 1)
    for (uint32_t i = 1; i < n; i++)
#pragma unroll(N > 0 ? N : 1)
        for (uint32_t j = 0; j < (N > 0 ? N : i); j++) {
            if (j >= i)
                continue;
            double sum = 0;
#pragma unroll(N > 0 ? N : 1)
            for (uint32_t k = 0; k < (N > 0 ? N : i); k++)
                if (k >= j && k < i)
                    sum += lower[triangle_place(i, k)] * lower[triangle_place(k, j)];
            lower[triangle_place(i, j)] = -sum * lower[triangle_place(i, i)];
        }
    return true;
}

/* The condition of the equations of coordinates as they are, or more: see condition_of()
   there. */
template <int N, class ROOM>
__device__ inline double condition_of(const normal_sums &sums, uint32_t unknowns,
                                      const pair_library &library, ROOM &lower,
                                      ROOM &room, uint32_t scale, double *square)
{
    const uint32_t n = N > 0 ? N : unknowns;
    double norm = 0, trace = sums(0, 0), c = library.centre, s = library.scale;
    *square = 0;
#pragma unroll(N > 0 ? N : 1)
    for (uint32_t i = 0; i < n; i++) {
        double first = room[scale] * lower[triangle_place(i, 0)];
        double one = lower[triangle_place(i, 0)];
        *square += one * one;
#pragma unroll(N > 0 ? N : 1)
        for (uint32_t k = 1; k < (N > 0 ? N : i + 1); k++) {
            if (k > i)
                continue;
            double element = lower[triangle_place(i, k)];
            double slope = room[scale + k] * element / s;
            *square += element * element;
            first -= c * slope;
            norm += slope * slope;
        }
        norm += first * first;
        if (i > 0)
            trace += s * s * sums(i, i) + 2 * c * s * sums(0, i) + c * c * sums(0, 0);
    }
    return norm * trace;
}

/* The solution for the right side `right`, which is D times a vector, in the scaled
   equations; the length of it. `right` and `out` are places in the room. */
template <int N, class ROOM>
__device__ inline double solve_for(uint32_t unknowns, ROOM &lower, ROOM &room,
                                   uint32_t right, uint32_t out)
{
    const uint32_t n = N > 0 ? N : unknowns;
#pragma unroll(N > 0 ? N : 1)
    for (uint32_t j = 0; j < n; j++)
        room[out + j] = 0;
#pragma unroll(N > 0 ? N : 1)
    for (uint32_t i = 0; i < n; i++) {
        double along = 0;
#pragma unroll(N > 0 ? N : 1)
        for (uint32_t j = 0; j < (N > 0 ? N : i + 1); j++)
            if (j <= i)
                along += lower[triangle_place(i, j)] * room[right + j];
#pragma unroll(N > 0 ? N : 1)
        for (uint32_t j = 0; j < (N > 0 ? N : i + 1); j++)
            if (j <= i)
                room[out + j] += along * lower[triangle_place(i, j)];
    }
    double square = 0;
#pragma unroll(N > 0 ? N : 1)
    for (uint32_t j = 0; j < n; j++)
        square += room[out + j] * room[out + j];
    return sqrt(square);
}

/* The two rows of a prediction: A^-1 z for its point, and A^-1 e for the coefficient of
   the present value. Whether rounding leaves enough of their digits. */
template <int N, class ROOM>
__device__ inline bool solve_row(const pairs_job &job, const pair_library &library,
                                 const normal_sums &sums, const double *x, uint32_t row,
                                 ROOM &room, double *hat, uint32_t pitch)
{
    const uint32_t n = N > 0 ? N : job.E + 1;
    const uint32_t scale = n * (n + 1) / 2, right = scale + n, out = right + n;
    double square;
    if (!invert_triangle<N>(sums, n, room, room, scale))
        return false;
    double condition = condition_of<N>(sums, n, library, room, room, scale, &square);
    double error = DBL_EPSILON * n * square * sqrt(sums(0, 0)), length;
    if (!(condition < MOST_CONDITION))
        return false;
    for (int which = 0; which < 2; which++) {
#pragma unroll(N > 0 ? N : 1)
        for (uint32_t j = 0; j < n; j++) {
            double at = j == 0 ? 1 : x[place_of(job, row, j - 1)];
            room[right + j] = room[scale + j] * (which == 0 ? at : j == 1);
        }
        length = solve_for<N>(n, room, room, right, out);
        if (!(error * length * (which == 0 ? 1 : library.spread) < MOST_ERROR))
            return false;
#pragma unroll(N > 0 ? N : 1)
        for (uint32_t j = 0; j < n; j++)
            hat[(size_t) (which * n + j) * pitch] = room[scale + j] * room[out + j];
    }
    return true;
}

/* A thread for each prediction of this part, or for several. */
template <int N>
__global__ void __launch_bounds__(SOLVE) solve_rows(SYN_GPU_JOB pairs_job job)
{
    uint32_t part = job.tiles * PAIR_TILE, n = job.E + 1;
    uint32_t threads = gridDim.x * SOLVE, thread = blockIdx.x * SOLVE + threadIdx.x;
    own_numbers<N> room(job.room + thread, threads);
    for (size_t at = thread; at < (size_t) part * job.libraries; at += threads) {
        uint32_t which = at / part, own = at % part, row = job.begin * PAIR_TILE + own;
        size_t place = (size_t) which * job.padded + row;
        pair_library *library = job.library + which;
        double *hat = job.hat + (size_t) which * 2 * n * part + own;
        normal_sums sums = {job.sums + at * product_columns(job), n, 0};
        sums.hold = job.ridge * sums.sum[0] / (library->scale * library->scale);
        bool made = false;
        if (job.state[place] == PAIR_MADE) {
            made = solve_row<N>(job, *library, sums, job.x + (size_t) which * job.pitch,
                                row, room, hat, part);
            atomicAdd(made ? &library->made : &library->left, 1u);
            if (made && job.known[row])
                atomicAdd(&library->compared, 1u);
            if (!made)
                job.state[place] = PAIR_LEFT;
        }
        for (uint32_t j = 0; j < 2 * n && !made; j++)
            hat[(size_t) j * part] = 0;
    }
}

/* ---- sums over tiles ---- */

/* Adds this part's columns, in the order of the tiles. */
__global__ void add_columns(SYN_GPU_JOB pairs_job job)
{
    uint32_t row = blockIdx.x * blockDim.x + threadIdx.x, which = blockIdx.y;
    if (row >= job.padded)
        return;
    const double *from = job.column + (size_t) which * job.tiles * job.padded + row;
    double *to = job.slopes + (size_t) which * job.padded + row;
    double sum = job.begin == 0 ? 0 : *to;
    for (uint32_t tile = 0; tile < job.tiles; tile++)
        sum += from[(size_t) tile * job.padded];
    *to = sum;
}

/* The sums of all tiles: out[libraries][PAIR_SUMS + 1][columns], the last for the slopes,
   in a kernel of its own. */
__global__ void add_partial(SYN_GPU_JOB pairs_job job, double *out)
{
    uint32_t columns = target_columns(job), which = blockIdx.y;
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PAIR_SUMS * columns)
        return;
    const double *from =
        job.partial + (size_t) which * job.all_tiles * PAIR_SUMS * columns + i;
    double sum = 0;
    for (uint32_t tile = 0; tile < job.all_tiles; tile++)
        sum += from[(size_t) tile * PAIR_SUMS * columns];
    out[(size_t) which * (PAIR_SUMS + 1) * columns + i] = sum;
}

/* Sums of slopes times targets: a block for each tile of targets and library. */
__global__ void __launch_bounds__(GATHER) add_slopes(SYN_GPU_JOB pairs_job job,
                                                     double *out)
{
    __shared__ double sums[GATHER / WARP][PAIR_COLUMNS];
    uint32_t columns = target_columns(job), which = blockIdx.y, tile = blockIdx.x;
    uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const double *panel =
        job.targets + (size_t) (tile / job.target_tiles) * job.padded *
                          job.target_tiles * PAIR_COLUMNS;
    const double *slope = job.slopes + (size_t) which * job.padded;
    double sum = 0;
    for (uint32_t four = warp; four < job.padded / 4; four += GATHER / WARP)
        sum = fma(slope[four / 2 * 8 + 2 * (lane % 4) + four % 2],
                  panel[((size_t) four * job.target_tiles + tile % job.target_tiles) *
                            WARP + lane],
                  sum);
    sum += __shfl_xor_sync(WHOLE_WARP, sum, 1);
    sum += __shfl_xor_sync(WHOLE_WARP, sum, 2);
    if (lane % 4 == 0)
        sums[warp][lane / 4] = sum;
    __syncthreads();
    if (threadIdx.x >= PAIR_COLUMNS)
        return;
    double all = 0;
    for (int w = 0; w < GATHER / WARP; w++)
        all += sums[w][threadIdx.x];
    out[((size_t) which * (PAIR_SUMS + 1) + PAIR_SUMS) * columns + tile * PAIR_COLUMNS +
        threadIdx.x] = all;
}

}  // namespace gpu

#endif
