/* What becomes of libraries and targets before the products of pairwise S-maps, and of
   normal equations after them. */
#pragma once

#include "gpu/edm/pairs/pairs.cuh"

#include <cfloat>

namespace gpu {

/* ---- before ---- */

/* Libraries and targets of pairwise S-maps, laid out for the kernels that multiply. */

/* ---- libraries ---- */

/* Largest deviation from the mean, and values that are about 1 at most. Their centre has
   so few digits that counts, and readings of a converter, less it are exact, and so are
   squares of their distances. */
__device__ inline void shift_library(const pairs_job &job, const double *raw, double *x,
                                     pair_library *to, double *room)
{
    double sum = 0, n = 0, most = 0, square = 0;
    for (uint32_t i = threadIdx.x; i < job.steps; i += PREPARE)
        if (!isnan(raw[i])) {
            sum += raw[i];
            n++;
        }
    n = block_sum<PREPARE>(n, room);
    double centre = block_sum<PREPARE>(sum, room) / (n > 0 ? n : 1);
    for (uint32_t i = threadIdx.x; i < job.steps; i += PREPARE)
        if (!isnan(raw[i]))
            most = fmax(most, fabs(raw[i] - centre));
    most = over_warp(most, [](double a, double b) { return fmax(a, b); });
    if (threadIdx.x % WARP == 0)
        room[threadIdx.x / WARP] = most;
    __syncthreads();
    for (int w = 0; w < PREPARE / WARP; w++)
        most = fmax(most, room[w]);
    __syncthreads();
    int power = 0;
    if (most > 0)
        frexp(most, &power);
    double scale = ldexp(1.0, power), digit = ldexp(1.0, power - 10);
    centre = rint(centre / digit) * digit;
    for (uint32_t i = threadIdx.x; i < job.pitch; i += PREPARE) {
        double value = i < job.steps && !isnan(raw[i]) ? (raw[i] - centre) / scale : 0;
        x[i] = value;
        square += value * value;
    }
    square = block_sum<PREPARE>(square, room);
    if (threadIdx.x == 0) {
        to->centre = centre;
        to->scale = scale;
        to->spread = sqrt(square / (n > 0 ? n : 1));
        to->fall = TWO_LOG2 * job.theta;
        to->made = to->left = to->compared = to->spare = 0;
    }
}

/* A block for each library. */
__global__ void __launch_bounds__(PREPARE) prepare_libraries(SYN_GPU_JOB pairs_job job)
{
    __shared__ double room[PREPARE / WARP];
    uint32_t which = blockIdx.x;
    const double *raw = job.raw + (size_t) which * job.steps;
    double *x = job.x + (size_t) which * job.pitch;
    shift_library(job, raw, x, job.library + which, room);
    __syncthreads();
    auto complete = [&](uint32_t row) {
        for (uint32_t k = 0; k < job.E; k++)
            if (isnan(raw[place_of(job, row, k)]))
                return false;
        return true;
    };
    auto alike = [&](uint32_t row, uint32_t other) {
        for (uint32_t k = 0; k < job.E; k++)
            if (x[place_of(job, row, k)] != x[place_of(job, other, k)])
                return false;
        return true;
    };
    bool differ = find_points(job, which, complete, alike).differ;
    if (threadIdx.x == 0)
        job.library[which].differ = differ;
}

/* Features of a row, and products of any two of them but the last: those of the first
   with itself and all after it come first, as in core/edm/smap/fit.h. A thread for
   each row. */
__global__ void make_features(SYN_GPU_JOB pairs_job job)
{
    uint32_t n = job.E + 1, which = blockIdx.y, columns = product_columns(job);
    uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= job.padded)
        return;
    const double *x = job.x + (size_t) which * job.pitch;
    size_t at = (size_t) which * job.padded + row;
    double *feature = job.feature + (size_t) which * 4 * job.quads * job.padded + row;
    double square = 0;
    for (uint32_t j = 0; j < n; j++) {
        double value = j == 0 ? 1 : x[place_of(job, row, j - 1)];
        feature[(size_t) j * job.padded] = value;
        square = j == 0 ? 0 : fma(value, value, square);
    }
    bool away = !(job.part[at] > 0 && job.known[row]);
    job.square[at] = square;
    for (uint32_t j = n; j < 4 * job.quads; j++)
        feature[(size_t) j * job.padded] = j > n ? 0 : away ? PAIR_AWAY : square;
    double *to = job.products + (size_t) which * columns * job.padded;
    uint32_t column = 0;
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t k = j; k < n; k++, column++)
            to[panel_place(job.padded, job.product_tiles, row, column)] =
                feature[(size_t) j * job.padded] * feature[(size_t) k * job.padded];
    for (; column < columns; column++)
        to[panel_place(job.padded, job.product_tiles, row, column)] = 0;
}

/* ---- targets ---- */

/* A block for each column of the panels: values less the target's centre, 0 where there
   are none. `target` are the columns' places in `raw` ([targets][steps]). */
__global__ void __launch_bounds__(PREPARE)
lay_out_targets(SYN_GPU_JOB pairs_job job, const double *raw, const uint32_t *target,
                const double *centre, uint32_t targets, double *panel)
{
    uint32_t column = blockIdx.x;
    bool there = column < targets;
    const double *value = raw + (there ? (size_t) target[column] * job.steps : 0);
    for (uint32_t row = threadIdx.x; row < job.padded; row += PREPARE) {
        bool known = there && row < job.rows && job.known[row];
        panel[panel_place(job.padded, job.target_tiles, row, column)] =
            known ? value[(int64_t) job.first + row + job.Tp] - centre[column] : 0;
    }
}

/* ---- after ---- */

/* Rows of the hat matrix from normal equations, a thread for each prediction; and what is
   left to add up. */

enum { SOLVE = 64, GATHER = 256 };

/* As in core/edm/smap/model.c: the error of a model, and the condition of equations that
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
    __device__ own_numbers(double *room, uint32_t threads) : value(room), stride(threads)
    {
    }
    __device__ double &operator[](uint32_t i) { return value[(size_t) i * stride]; }
};

/* A loop from unknown `from` to before `end`, written out where their number N is known
   when compiled. */
#define SYN_UNKNOWNS(i, from, end) \
    _Pragma("unroll(N > 0 ? N : 1)") \
    for (uint32_t i = from; i < (N > 0 ? N : (end)); i++) \
        if (i < (end))

/* The normal equations of one prediction. */
struct row_equations {
    const double *sum;   /* squared weights times products, of any two unknowns */
    uint32_t n;          /* unknowns */
    double hold;         /* what the ridge adds to the squares of slopes */

    __device__ double sums(uint32_t j, uint32_t k) const
    {
        double value = sum[j * n - j * (j - 1) / 2 + (k - j)];
        return j == k && j > 0 ? value + hold : value;
    }
};

__device__ inline double hold_of(const pairs_job &job, const pair_library &library,
                                 const double *sum)
{
    return job.ridge * sum[0] / (library.scale * library.scale);
}

/* Solves them in a room for a triangle and three vectors: `scale`, `right` and `out` say
   where these are. */
template <int N> struct row_solver : row_equations {
    own_numbers<N> &room;

    __device__ uint32_t count() const { return N > 0 ? N : n; }

    __device__ double &lower(uint32_t i, uint32_t j)
    {
        return room[triangle_place(i, j)];
    }

    /* Scales the equations so that their diagonal is 1, and inverts their Cholesky
       triangle; whether they are fit for it. */
    __device__ bool invert_triangle()
    {
        const uint32_t n = count(), scale = n * (n + 1) / 2;
        SYN_UNKNOWNS(j, 0, n) {
            double square = sums(j, j);
            if (!(square > 1e-290 && square < 1e290))
                return false;
            room[scale + j] = 1 / sqrt(square);
        }
        SYN_UNKNOWNS(i, 0, n)
            SYN_UNKNOWNS(j, 0, i + 1) {
                double rest = sums(j, i) * room[scale + j] * room[scale + i];
                SYN_UNKNOWNS(k, 0, j)
                    rest -= lower(i, k) * lower(j, k);
                if (j < i)
                    lower(i, j) = rest * lower(j, j);
                else if (rest > LEAST_PIVOT)
                    lower(i, i) = 1 / sqrt(rest);  /* the inverse's */
                else
                    return false;
            }
        SYN_UNKNOWNS(i, 1, n)
            SYN_UNKNOWNS(j, 0, i) {
                double inner = 0;
                SYN_UNKNOWNS(k, 0, i)
                    if (k >= j)
                        inner += lower(i, k) * lower(k, j);
                lower(i, j) = -inner * lower(i, i);
            }
        return true;
    }

    /* The condition of the equations of coordinates as they are, or more: see
       condition_of() there. `square` is that of the length of the inverse. */
    __device__ double condition(const pair_library &library, double *square)
    {
        const uint32_t n = count(), scale = n * (n + 1) / 2;
        double norm = 0, trace = sums(0, 0), c = library.centre, s = library.scale;
        *square = 0;
        SYN_UNKNOWNS(i, 0, n) {
            double first = room[scale] * lower(i, 0), one = lower(i, 0);
            *square += one * one;
            SYN_UNKNOWNS(k, 1, i + 1) {
                double element = lower(i, k);
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

    /* The solution for the right side at `right`, which is D times a vector, in the
       scaled equations; the length of it. */
    __device__ double solve_for(uint32_t right, uint32_t out)
    {
        const uint32_t n = count();
        SYN_UNKNOWNS(j, 0, n)
            room[out + j] = 0;
        SYN_UNKNOWNS(i, 0, n) {
            double along = 0;
            SYN_UNKNOWNS(j, 0, i + 1)
                along += lower(i, j) * room[right + j];
            SYN_UNKNOWNS(j, 0, i + 1)
                room[out + j] += along * lower(i, j);
        }
        double square = 0;
        SYN_UNKNOWNS(j, 0, n)
            square += room[out + j] * room[out + j];
        return sqrt(square);
    }

    /* The two rows of a prediction: A^-1 z for its point, and A^-1 e for the coefficient
       of the present value. Whether rounding leaves enough of their digits. */
    __device__ bool solve(const pairs_job &job, const pair_library &library,
                          const double *x, uint32_t row, double *hat, uint32_t pitch)
    {
        const uint32_t n = count(), scale = n * (n + 1) / 2;
        const uint32_t right = scale + n, out = right + n;
        double square;
        if (!invert_triangle())
            return false;
        double most = condition(library, &square);
        double error = DBL_EPSILON * n * square * sqrt(sums(0, 0));
        if (!(most < MOST_CONDITION))
            return false;
        for (int which = 0; which < 2; which++) {
            SYN_UNKNOWNS(j, 0, n) {
                double at = j == 0 ? 1 : x[place_of(job, row, j - 1)];
                room[right + j] = room[scale + j] * (which == 0 ? at : j == 1);
            }
            double length = solve_for(right, out);
            if (!(error * length * (which == 0 ? 1 : library.spread) < MOST_ERROR))
                return false;
            SYN_UNKNOWNS(j, 0, n)
                hat[(size_t) (which * n + j) * pitch] = room[scale + j] * room[out + j];
        }
        return true;
    }
};

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
        const double *sum = job.sums + at * product_columns(job);
        row_solver<N> solver = {{sum, n, hold_of(job, *library, sum)}, room};
        bool made = false;
        if (job.state[place] == PAIR_MADE) {
            made = solver.solve(job, *library, job.x + (size_t) which * job.pitch, row,
                                hat, part);
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
