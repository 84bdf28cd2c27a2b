/* Libraries and targets of pairwise S-maps, laid out for the kernels that multiply. */
#ifndef SYN_GPU_EDM_PAIRS_PREPARE_CUH
#define SYN_GPU_EDM_PAIRS_PREPARE_CUH

#include "gpu/edm/pairs_types.cuh"
#include "gpu/edm/power.cuh"
#include "gpu/edm/weights.cuh"

namespace gpu {

enum { PREPARE = 256, SURVEY = 128, SURVEY_POINTS = 32 };

constexpr double TWO_LOG2 = 2.8853900817779268;  /* 2 / log(2) */
constexpr double LEAST_SLOPE = 1e-140;  /* so that points out of sight have no weight */

/* ---- libraries ---- */

/* Mean, largest deviation, and values that are at most 1. */
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
    for (int o = WARP / 2; o > 0; o /= 2)
        most = fmax(most, __shfl_xor_sync(WHOLE_WARP, most, o));
    if (threadIdx.x % WARP == 0)
        room[threadIdx.x / WARP] = most;
    __syncthreads();
    for (int w = 0; w < PREPARE / WARP; w++)
        most = fmax(most, room[w]);
    __syncthreads();
    int power = 0;
    if (most > 0)
        frexp(most, &power);
    double scale = ldexp(1.0, power);
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
        to->made = to->left = to->compared = 0;
    }
}

/* Whether the point of a row has all its coordinates. */
__device__ inline bool complete_row(const pairs_job &job, const double *raw, uint32_t row)
{
    if (row >= job.rows)
        return false;
    for (uint32_t k = 0; k < job.E; k++)
        if (isnan(raw[place_of(job, row, k)]))
            return false;
    return true;
}

/* Which rows are points, how many of them come before each, and whether they differ. */
__device__ inline void find_points(const pairs_job &job, const double *raw,
                                   const double *x, uint32_t which)
{
    __shared__ uint32_t found[PREPARE], one;
    size_t at = (size_t) which * job.padded;
    uint32_t share = (job.padded + PREPARE - 1) / PREPARE;
    uint32_t from = min(threadIdx.x * share, job.padded);
    uint32_t to = min(from + share, job.padded), n = 0;
    if (threadIdx.x == 0)
        one = 0;
    __syncthreads();
    for (uint32_t row = from; row < to; row++) {
        bool is = complete_row(job, raw, row);
        job.part[at + row] = is;
        job.start[at + row] = is && job.known[row] ? PAIR_HERE : PAIR_AWAY;
        n += is;
        if (is)
            one = row;  /* any will do */
    }
    found[threadIdx.x] = n;
    __syncthreads();
    uint32_t sum = 0;
    for (uint32_t i = 0; i < threadIdx.x; i++)
        sum += found[i];
    uint32_t *before = job.before + (size_t) which * (job.padded + 1);
    bool differs = false;
    for (uint32_t row = from; row < to; row++) {
        before[row] = sum;
        if (job.part[at + row] == 0)
            continue;
        sum++;
        for (uint32_t k = 0; k < job.E && !differs; k++)
            differs = x[place_of(job, row, k)] != x[place_of(job, one, k)];
    }
    if (threadIdx.x == PREPARE - 1) {
        before[job.padded] = sum;
        job.library[which].rows = sum;
    }
    differs = __syncthreads_or(differs);
    if (threadIdx.x == 0)
        job.library[which].differ = differs;
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
    find_points(job, raw, x, which);
}

/* Term j of a row: 1, then the coordinates. */
__device__ inline double term_of(const pairs_job &job, const double *x, uint32_t row,
                                 uint32_t j)
{
    return j == 0 ? 1 : x[place_of(job, row, j - 1)];
}

/* Products of any two terms: those of the first with itself and all after it come first,
   as in core/edm/smap_product.h. A thread for each place of a library's panel. */
__global__ void make_products(SYN_GPU_JOB pairs_job job)
{
    uint32_t n = job.E + 1, which = blockIdx.y, columns = product_columns(job);
    uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= job.padded)
        return;
    const double *x = job.x + (size_t) which * job.pitch;
    double *to = job.products + (size_t) which * columns * job.padded;
    uint32_t column = 0;
    for (uint32_t j = 0; j < n; j++) {
        double one = term_of(job, x, row, j);
        for (uint32_t k = j; k < n; k++, column++)
            to[panel_place(job.padded, job.product_tiles, row, column)] =
                one * term_of(job, x, row, k);
    }
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

/* ---- distances ---- */

/* What a prediction learns of the distances to all points. */
struct survey_sums {
    double total = 0, least = PAIR_AWAY;
};

/* Points `from` and those after it, whose coordinates are `z` ([E][SURVEY_POINTS]);
   `away` moves those out of sight whose target is missing. With `NEAR`, some may be too
   near in time to `row`. */
template <bool NEAR>
__device__ inline void survey_points(const pairs_job &job, const double *own,
                                     const double *z, const double *away,
                                     const double *part, uint32_t from, uint32_t row,
                                     survey_sums *sums)
{
    for (uint32_t i = 0; i < SURVEY_POINTS; i += 4) {
        double square[4];
        for (int j = 0; j < 4; j++)
            square[j] = PAIR_HERE;
        for (uint32_t k = 0; k < job.E; k++) {
            double mine = own[(int64_t) job.tau * k];
            for (int j = 0; j < 4; j++)
                square[j] = add_square(square[j], z[k * SURVEY_POINTS + i + j], mine);
        }
        for (int j = 0; j < 4; j++) {
            uint32_t point = from + i + j;
            uint32_t apart = point > row ? point - row : row - point;
            if (NEAR && apart <= job.exclusion)
                continue;
            double distance = quick_root(square[j]);
            sums->least = fmin(sums->least, distance + away[i + j]);
            sums->total = fma(distance, part[i + j], sums->total);
        }
    }
}

__device__ inline void put_survey(const pairs_job &job, uint32_t which, uint32_t row,
                                  const survey_sums &sums)
{
    size_t at = (size_t) which * job.padded + row;
    const uint32_t *before = job.before + (size_t) which * (job.padded + 1);
    uint64_t end = (uint64_t) row + job.exclusion + 1;
    uint32_t to = (uint32_t) (end < job.padded ? end : job.padded);
    uint32_t from = row > job.exclusion ? row - job.exclusion : 0;
    double n = before[job.padded] - (before[to] - before[from]);
    double mean = n > 0 ? sums.total / n : 0;
    pair_fall fall = {0, fmax(mean > 0 ? job.fall / mean : 0, LEAST_SLOPE)};
    bool there = job.part[at] > 0 && job.library[which].differ;
    bool any = sums.least < 0.5 * sqrt(PAIR_AWAY);
    fall.offset = any ? fall.slope * sums.least : 0;
    job.falls[at] = fall;
    job.state[at] = there && any ? PAIR_MADE : PAIR_NONE;
}

/* A thread for each prediction; shared memory [E + 2][SURVEY_POINTS]. */
__global__ void __launch_bounds__(SURVEY) survey_distances(SYN_GPU_JOB pairs_job job)
{
    extern __shared__ double z[];
    uint32_t which = blockIdx.y, row = blockIdx.x * SURVEY + threadIdx.x;
    const double *x = job.x + (size_t) which * job.pitch;
    const double *start = job.start + (size_t) which * job.padded;
    const double *part = job.part + (size_t) which * job.padded;
    const double *own = x + place_of(job, row, 0);
    double *at = z + job.E * SURVEY_POINTS;
    survey_sums sums;
    uint32_t first = blockIdx.x * SURVEY, last = first + SURVEY - 1;
    for (uint32_t from = 0; from < job.padded; from += SURVEY_POINTS) {
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < (job.E + 2) * SURVEY_POINTS; i += SURVEY) {
            uint32_t k = i / SURVEY_POINTS, point = from + i % SURVEY_POINTS;
            z[i] = k < job.E ? x[place_of(job, point, k)]
                   : k == job.E ? sqrt(start[point]) : part[point];
        }
        __syncthreads();
        uint64_t reach = job.exclusion;
        if (from + SURVEY_POINTS + reach > first && from <= last + reach)
            survey_points<true>(job, own, z, at, at + SURVEY_POINTS, from, row, &sums);
        else
            survey_points<false>(job, own, z, at, at + SURVEY_POINTS, from, row, &sums);
    }
    put_survey(job, which, row, sums);
}

}  // namespace gpu

#endif
