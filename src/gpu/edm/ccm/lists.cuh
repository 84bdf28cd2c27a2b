/* Kernels of cross mapping. The neighbours of a row in many random libraries come from
   one list, the nearest of all library rows in order: a warp goes down it with one
   library a lane, and each lane takes the rows that its library has. Where the list ends
   too early, the rest is searched for among all rows. Weights, predictions and sums
   follow, in double precision throughout. */
#pragma once

extern "C" {
#include "core/edm/ccm/ccm.h"
}
#include "gpu/edm/neighbours/neighbours.cuh"

namespace gpu {

enum {
    CCM_WARPS = 8,       /* of a block that goes down lists */
    CCM_THREADS = 256,   /* of a block that adds up rows */
    CCM_CHUNK = 4096,    /* rows whose sums one block makes */
    CCM_REST_BLOCKS = 1024,  /* that search for what lists do not hold, */
    CCM_REST_THREADS = 512  /* and of each */
};

/* Where all devices look for neighbours. */
struct ccm_place : placed_points {
    uint32_t k, exclusion;
    placed_rows library;       /* rows that may be neighbours */
};

/* The nearest library rows of the `n` rows `of`, in order: `most` of each, unless there
   are no more. */
struct ccm_lists : placed_neighbours {
    uint32_t n, most;
    const uint32_t *of;
};

/* The neighbours of these rows in each of some libraries: [libraries][n][k]. Their
   distances become weights. */
struct ccm_near : placed_neighbours {
    uint32_t libraries;
};

/* Pairs of library and row whose list ended before k neighbours were found: number
   library * n + row. */
struct ccm_short {
    unsigned long long *n;
    uint64_t *pair;            /* [libraries * n] */
};

/* How near a row is, which is the `place` here. Added up as the processor does, so that
   the same rows are equally far. */
__device__ inline near_place key_of(const ccm_place &p, uint32_t from, uint32_t row)
{
    double sum = 0;
    for (uint32_t d = 0; d < p.dims; d++) {
        const double *x = p.coordinate + (size_t) d * p.rows;
        sum = add_square(sum, x[row], x[from]);
    }
    return {sum, syn_rank_after(row, syn_row_rank(from)), row};
}

/* ---- libraries ---- */

/* member[word][rows]: bit l of a word says whether library 32 * word + l has the row;
   plane[library][rows / 32 + 1] says the same with a bit for each row. */
__global__ void ccm_members(const uint32_t *plane, uint32_t libraries, uint32_t rows,
                            uint32_t *member)
{
    uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    size_t length = rows / 32 + 1;
    for (uint32_t word = blockIdx.y; row < rows && word * 32 < libraries;
         word += gridDim.y) {
        uint32_t bits = 0, end = min(libraries - word * 32, 32);
        for (uint32_t l = 0; l < end; l++)
            bits |= (plane[(word * 32 + l) * length + row / 32] >> row % 32 & 1) << l;
        member[(size_t) word * rows + row] = bits;
    }
}

/* ---- down the lists ---- */

/* member[words][rows] of the libraries of `near`. */
__global__ void __launch_bounds__(CCM_WARPS *WARP)
    ccm_walk(SYN_GPU_JOB ccm_place p, SYN_GPU_JOB ccm_lists lists, const uint32_t *member,
             SYN_GPU_JOB ccm_near near, SYN_GPU_JOB ccm_short rest)
{
    uint32_t lane = threadIdx.x % WARP, k = p.k;
    uint32_t i = blockIdx.x * CCM_WARPS + threadIdx.x / WARP;
    if (i >= lists.n)
        return;
    const uint32_t *row = lists.row + (size_t) i * lists.most;
    const double *distance = lists.distance + (size_t) i * lists.most;
    uint32_t n = lists.found[i];
    for (uint32_t word = blockIdx.y; word * WARP < near.libraries; word += gridDim.y) {
        const uint32_t *has = member + (size_t) word * p.rows;
        uint32_t library = word * WARP + lane, found = 0;
        bool open = library < near.libraries;
        size_t pair = (size_t) library * lists.n + i;
        for (uint32_t from = 0; from < n; from += WARP) {
            uint32_t end = min(n - from, (uint32_t) WARP);
            uint32_t its_row = lane < end ? row[from + lane] : 0;
            uint32_t its_bits = lane < end ? has[its_row] : 0;
            double its_distance = lane < end ? distance[from + lane] : 0;
            for (uint32_t e = 0; e < end; e++) {
                uint32_t bits = __shfl_sync(WHOLE_WARP, its_bits, e);
                uint32_t at = __shfl_sync(WHOLE_WARP, its_row, e);
                double far = __shfl_sync(WHOLE_WARP, its_distance, e);
                if (open && bits >> lane & 1) {
                    near.row[pair * k + found] = at;
                    near.distance[pair * k + found] = far;
                    open = ++found < k;
                }
            }
            if (!__any_sync(WHOLE_WARP, open))
                break;
        }
        if (library < near.libraries)
            near.found[pair] = found;
        if (open && n == lists.most)
            rest.pair[atomicAdd(rest.n, 1ull)] = pair;
    }
}

/* ---- among all rows ---- */

/* The first of all threads' keys, in all of them. */
__device__ inline near_place first_of_block(near_place key, near_place *shared)
{
    for (int by = WARP / 2; by > 0; by /= 2) {
        near_place other = {__shfl_down_sync(WHOLE_WARP, key.squared, by),
                            __shfl_down_sync(WHOLE_WARP, key.rank, by),
                            __shfl_down_sync(WHOLE_WARP, key.place, by)};
        key = before(other, key) ? other : key;
    }
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        shared[threadIdx.x / WARP] = key;
    __syncthreads();
    key = shared[0];
    for (uint32_t w = 1; w < CCM_REST_THREADS / WARP; w++)
        key = before(shared[w], key) ? shared[w] : key;
    return key;
}

/* Finds the neighbours that are still missing of each pair in `rest`, one after the
   other: the nearest after the last that is known. `member` as for ccm_walk(). */
__global__ void __launch_bounds__(CCM_REST_THREADS)
    ccm_search_rest(SYN_GPU_JOB ccm_place p, SYN_GPU_JOB ccm_lists lists,
                    const uint32_t *member, SYN_GPU_JOB ccm_near near,
                    SYN_GPU_JOB ccm_short rest)
{
    __shared__ near_place shared[CCM_REST_THREADS / WARP];
    const double infinite = __longlong_as_double(0x7ff0000000000000ll);
    unsigned long long pairs = *rest.n;
    for (unsigned long long s = blockIdx.x; s < pairs; s += gridDim.x) {
        size_t pair = rest.pair[s];
        uint32_t library = (uint32_t) (pair / lists.n), found = near.found[pair];
        uint32_t from = lists.of[pair % lists.n];
        const uint32_t *has = member + (size_t) (library / 32) * p.rows;
        near_place last = {-1, 0, 0};
        if (found > 0)
            last = key_of(p, from, near.row[pair * p.k + found - 1]);
        for (; found < p.k; found++) {
            near_place best = {infinite, 0, 0};
            for (uint32_t i = threadIdx.x; i < p.library.n; i += CCM_REST_THREADS) {
                uint32_t row = p.library.row[i];
                if (!(has[row] >> library % 32 & 1) ||
                    rows_apart(row, from) <= p.exclusion)
                    continue;
                near_place key = key_of(p, from, row);
                if (before(last, key) && before(key, best))
                    best = key;
            }
            best = first_of_block(best, shared);
            if (!(best.squared < infinite))
                break;
            if (threadIdx.x == 0) {
                near.row[pair * p.k + found] = best.place;
                near.distance[pair * p.k + found] = __dsqrt_rn(best.squared);
            }
            last = best;
        }
        if (threadIdx.x == 0)
            near.found[pair] = found;
    }
}

/* ---- predictions and their sums ---- */

/* Distances become weights that add up to 1. */
__global__ void ccm_weigh(uint32_t k, double closest, size_t pairs,
                          SYN_GPU_JOB ccm_near near)
{
    size_t step = (size_t) gridDim.x * blockDim.x;
    size_t first = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = first; i < pairs; i += step) {
        double *distance = near.distance + i * k, sum = 0;
        uint32_t found = near.found[i];
        double least = found > 0 ? fmax(closest, distance[0]) : 1;
        for (uint32_t j = 0; j < found; j++) {
            double x = -distance[j] / least;
            double weight = x < -700 ? 0 : exp(x);
            distance[j] = weight;
            sum += weight;
        }
        for (uint32_t j = 0; j < found; j++)
            distance[j] /= sum;
    }
}

/* The sums SYN_CCM_... of one library and target over some rows. */
struct ccm_sums {
    double s[SYN_CCM_SUMS];
};

__host__ __device__ inline void add_pair(ccm_sums *a, double guess, double y)
{
    double *s = a->s;
    if (s[SYN_CCM_N] == 0) {
        s[SYN_CCM_FIRST_TARGET] = y;
        s[SYN_CCM_FIRST_PREDICTION] = guess;
    }
    double error = guess - y, seen = y - s[SYN_CCM_FIRST_TARGET];
    guess -= s[SYN_CCM_FIRST_PREDICTION];
    s[SYN_CCM_N] += 1;
    s[SYN_CCM_TARGET] += seen;
    s[SYN_CCM_TARGET_SQUARE] += seen * seen;
    s[SYN_CCM_PREDICTION] += guess;
    s[SYN_CCM_PREDICTION_SQUARE] += guess * guess;
    s[SYN_CCM_PRODUCT] += guess * seen;
    s[SYN_CCM_ERROR] += fabs(error);
    s[SYN_CCM_ERROR_SQUARE] += error * error;
}

/* Adds the sums over later rows, which were taken from a first pair of their own. */
__host__ __device__ inline void add_sums(ccm_sums *a, const ccm_sums &b)
{
    double *s = a->s;
    const double *o = b.s;
    if (o[SYN_CCM_N] == 0)
        return;
    if (s[SYN_CCM_N] == 0) {
        *a = b;
        return;
    }
    double n = o[SYN_CCM_N];
    double y = o[SYN_CCM_FIRST_TARGET] - s[SYN_CCM_FIRST_TARGET];
    double guess = o[SYN_CCM_FIRST_PREDICTION] - s[SYN_CCM_FIRST_PREDICTION];
    double sum_y = o[SYN_CCM_TARGET], sum_guess = o[SYN_CCM_PREDICTION];
    s[SYN_CCM_N] += n;
    s[SYN_CCM_TARGET] += sum_y + n * y;
    s[SYN_CCM_TARGET_SQUARE] += o[SYN_CCM_TARGET_SQUARE] + y * (2 * sum_y + n * y);
    s[SYN_CCM_PREDICTION] += sum_guess + n * guess;
    s[SYN_CCM_PREDICTION_SQUARE] +=
        o[SYN_CCM_PREDICTION_SQUARE] + guess * (2 * sum_guess + n * guess);
    s[SYN_CCM_PRODUCT] +=
        o[SYN_CCM_PRODUCT] + y * sum_guess + guess * sum_y + n * guess * y;
    s[SYN_CCM_ERROR] += o[SYN_CCM_ERROR];
    s[SYN_CCM_ERROR_SQUARE] += o[SYN_CCM_ERROR_SQUARE];
}

/* Adds up what the threads of a block have, in thread 0, always in the same order. */
__device__ inline void add_block(ccm_sums *mine, ccm_sums *shared)
{
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (uint32_t by = 1; by < WARP; by *= 2) {
        ccm_sums other;
        for (int q = 0; q < SYN_CCM_SUMS; q++)
            other.s[q] = __shfl_down_sync(WHOLE_WARP, mine->s[q], by);
        if (lane + by < WARP)
            add_sums(mine, other);
    }
    if (lane == 0)
        shared[warp] = *mine;
    __syncthreads();
    if (threadIdx.x == 0)
        for (uint32_t w = 1; w < CCM_THREADS / WARP; w++)
            add_sums(mine, shared[w]);
    __syncthreads();
}

/* What is predicted in each view: `n` of its `all` targets, from `first` on. */
struct ccm_targets {
    uint32_t all, first, n;
    const double *value;       /* [views][all][rows], NaN if unknown */
    const double *shift;       /* [views][all] what they are taken from */
};

/* Predicts targets with the weights in `near`; view[libraries] says of which view each
   library is. Sums [chunks][libraries][targets] over CCM_CHUNK rows of `of`[n] each. */
__global__ void __launch_bounds__(CCM_THREADS)
    ccm_predict(SYN_GPU_JOB ccm_place p, const uint32_t *of, uint32_t n,
                SYN_GPU_JOB ccm_near near, const uint32_t *view,
                SYN_GPU_JOB ccm_targets targets, ccm_sums *out)
{
    __shared__ ccm_sums shared[CCM_THREADS / WARP];
    uint32_t chunk = blockIdx.x, k = p.k;
    uint32_t end = min(n, (chunk + 1) * CCM_CHUNK);
    for (uint32_t library = blockIdx.y; library < near.libraries; library += gridDim.y)
        for (uint32_t t = blockIdx.z; t < targets.n; t += gridDim.z) {
            size_t target = (size_t) view[library] * targets.all + targets.first + t;
            const double *value = targets.value + target * p.rows;
            double middle = targets.shift[target];
            ccm_sums sums = {};
            for (uint32_t i = chunk * CCM_CHUNK + threadIdx.x; i < end;
                 i += CCM_THREADS) {
                size_t pair = (size_t) library * n + i;
                uint32_t found = near.found[pair];
                double y = value[of[i]] - middle, guess = 0;
                for (uint32_t j = 0; j < found; j++)
                    guess += near.distance[pair * k + j] *
                             (value[near.row[pair * k + j]] - middle);
                if (found > 0 && !isnan(guess) && !isnan(y))
                    add_pair(&sums, guess, y);
            }
            add_block(&sums, shared);
            if (threadIdx.x == 0)
                out[((size_t) chunk * near.libraries + library) * targets.n + t] = sums;
        }
}

}  // namespace gpu
