/* Libraries and targets of pairwise S-maps, laid out for the kernels that multiply. */
#ifndef SYN_GPU_EDM_PAIRS_PREPARE_CUH
#define SYN_GPU_EDM_PAIRS_PREPARE_CUH

#include "gpu/edm/pairs_points.cuh"

namespace gpu {

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

/* Whether the point of a row has all its coordinates. */
__device__ inline bool complete_row(const pairs_job &job, const double *raw, uint32_t row)
{
    for (uint32_t k = 0; k < job.E; k++)
        if (isnan(raw[place_of(job, row, k)]))
            return false;
    return true;
}

/* Whether the points of two rows are the same. */
__device__ inline bool alike_rows(const pairs_job &job, const double *x, uint32_t row,
                                  uint32_t other)
{
    for (uint32_t k = 0; k < job.E; k++)
        if (x[place_of(job, row, k)] != x[place_of(job, other, k)])
            return false;
    return true;
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
    auto complete = [&](uint32_t row) { return complete_row(job, raw, row); };
    auto alike = [&](uint32_t row, uint32_t other) {
        return alike_rows(job, x, row, other);
    };
    bool differ = find_points(job, which, complete, alike).differ;
    if (threadIdx.x == 0)
        job.library[which].differ = differ;
}

/* Features of a row, and products of any two of them but the last: those of the first
   with itself and all after it come first, as in core/edm/smap_product.h. A thread for
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

}  // namespace gpu

#endif
