/* Distances of predictions from points of the library, and what is found out about them
   before weights can be made. */
#pragma once

#include "gpu/edm/neighbours/near.cuh"
#include "gpu/edm/smap/points.cuh"
#include "gpu/edm/tensor.cuh"

#include <cuda_pipeline.h>

namespace gpu {

/* ---- squared distances ---- */

/* Squared distances of predictions from points of the library, by products of matrices:
   of two points, the sums of squares less twice the product. Where that has lost digits,
   as the two are near each other, their coordinates are compared. */

constexpr int SMAP_LOST = 10 << 20;  /* of an exponent: 10 bits of 53 */

/* The squared distance of a prediction from a point, which is a column of its tile. */
template <int PITCH>
__device__ inline double square_between(const smap_shape &shape, const double *predicted,
                                        const double *point)
{
    double sum = 0;
    for (uint32_t k = 0; k < shape.dims; k++) {
        double apart = point[k * PITCH] - predicted[k];
        sum = fma(apart, apart, sum);
    }
    return sum;
}

/* Those of 16 predictions from TILES times 8 points, by a warp. With lane = 4 g + t, a
   lane gets those of predictions g and g + 8 from two points each, 2 t and the next, in
   the order of multiply_16x8x4(). `point`: the first column of a tile [places][PITCH]. */
template <int TILES, int PITCH>
__device__ inline void find_squares(const smap_shape &shape, const double *predicted,
                                    const double *point, double (*square)[4])
{
    uint32_t g = threadIdx.x % WARP / 4, t = threadIdx.x % 4;
    const double *low = predicted + g * shape.pitch, *high = low + 8 * shape.pitch;
    SYN_UNROLL(j, TILES)
        SYN_UNROLL(i, 4)
            square[j][i] = 0;
    for (uint32_t k = t; k < shape.wide; k += 4) {
        double a[2] = {low[k], high[k]};
        SYN_UNROLL(j, TILES)
            multiply_16x8x4(square[j], a, point[k * PITCH + 8 * j + g]);
    }
    double mine[2] = {low[shape.wide], high[shape.wide]};
    SYN_UNROLL(j, TILES) {
        const double *at = point + 8 * j + 2 * t;
        double2 theirs = *(const double2 *) (at + (shape.wide + 2) * PITCH);
        SYN_UNROLL(i, 4) {
            double both = mine[i / 2] + (i % 2 ? theirs.y : theirs.x);
            double found = fma(-2.0, square[j][i], both);
            if (__double2hiint(found) < __double2hiint(both) - SMAP_LOST)
                found = square_between<PITCH>(shape, i < 2 ? low : high, at + i % 2);
            square[j][i] = found;
        }
    }
}

/* Begins to fetch the points of a tile of a block of the kind B. */
template <class B>
__device__ inline void smap_fetch(const smap_points &p, uint32_t tile, double *to)
{
    constexpr uint32_t PAIRS = B::POINTS / 2;
    const double *from = p.library + (size_t) tile * B::POINTS;
    for (uint32_t i = threadIdx.x; i < p.shape.places * PAIRS; i += B::THREADS)
        __pipeline_memcpy_async(to + i / PAIRS * B::PITCH + i % PAIRS * 2,
                                from + (size_t) (i / PAIRS) * p.padded + i % PAIRS * 2,
                                2 * sizeof(double));
    __pipeline_commit();
}

/* ---- the survey ---- */

/* The distances of all neighbours of each prediction: their mean and the least, and the
   farthest neighbour where there is one too many. Blocks are numbered by predictions and
   by splits of the library. */

/* A block: each of WARPS warps compares 16 predictions with TILES times 8 points. */
template <int WARPS_, int TILES_> struct smap_survey_block {
    static constexpr int WARPS = WARPS_, TILES = TILES_, THREADS = WARPS * WARP;
    static constexpr int PREDICTIONS = 16 * WARPS, POINTS = 8 * TILES;
    static constexpr int PITCH = POINTS + 4;  /* lanes read from different banks */
    static_assert(SMAP_POINTS % POINTS == 0, "whole tiles");
};

template <class B> inline size_t smap_survey_shared(const smap_shape &shape)
{
    return sizeof(double) *
               (B::PREDICTIONS * shape.pitch + 2 * shape.places * B::PITCH) +
           B::PREDICTIONS * sizeof(smap_left_out);
}

__device__ inline smap_left_out leave_out(const smap_job &job, uint32_t prediction)
{
    uint32_t row = job.prediction[prediction], n = job.points.n;
    smap_left_out out = {0, 0, UINT32_MAX, 0, syn_row_rank(row)};
    out.from = first_from(job.library, n, row > job.exclusion ? row - job.exclusion : 0);
    out.to = first_from(job.library, n, (uint64_t) row + job.exclusion + 1);
    return out;
}

/* Takes a point as the farthest if it is farther than that, by distance, then by how far
   its row comes after the prediction's, whose rank is `own`; or adds its distance. */
__device__ inline void sort_out(const smap_job &job, uint32_t own, double square,
                                uint32_t at, smap_found *f)
{
    bool farther = square > f->far;
    if (square == f->far && f->far >= 0)
        farther = syn_rank_after(job.library[at], own) >
                  syn_rank_after(job.library[f->at], own);
    if (farther) {
        f->sum += f->far < 0 ? 0 : root_of(f->far);
        f->far = square;
        f->at = at;
    } else {
        f->sum += root_of(square);
    }
}

__device__ inline void merge_found(const smap_job &job, uint32_t own,
                                   const smap_found &other, smap_found *f)
{
    f->sum += other.sum;
    f->least = fmin(f->least, other.least);
    if (other.far >= 0)
        sort_out(job, own, other.far, other.at, f);
}

/* Points whose distance is this part of the farthest so far are compared with it by
   differences of coordinates, as there are ties. */
constexpr double SMAP_NEARLY = 1 - 1e-6;

/* Goes through the points of a tile; FAR: also looks for the farthest. found[2] are those
   of this lane's two predictions. */
template <class B, bool FAR>
__device__ inline void survey_tile(const smap_job &job, const double *predicted,
                                   const double *point, const smap_left_out *out,
                                   uint32_t at, smap_found *found)
{
    const smap_shape &shape = job.points.shape;
    uint32_t g = threadIdx.x % WARP / 4, t = threadIdx.x % 4;
    double square[B::TILES][4];
    find_squares<B::TILES, B::PITCH>(shape, predicted, point, square);
    smap_left_out left[2] = {out[g], out[g + 8]};
    const double *known = point + (shape.wide + 1) * B::PITCH;
    SYN_UNROLL(j, B::TILES)
        SYN_UNROLL(i, 4) {
            uint32_t column = 8 * j + 2 * t + i % 2, place = at + column;
            bool near = place < job.points.n && smap_is_near(left[i / 2], place);
            smap_found *f = found + i / 2;
            /* Integers have more units than doubles, and neither is below 0. */
            if (near && known[column] > 0 &&
                __double_as_longlong(square[j][i]) < __double_as_longlong(f->least))
                f->least = square[j][i];
            if (!FAR)
                f->sum += near ? root_of(square[j][i]) : 0;
            else if (near && !(square[j][i] < SMAP_NEARLY * f->far))
                sort_out(job, left[i / 2].rank,
                         square_between<B::PITCH>(
                             shape, predicted + (g + i / 2 * 8) * shape.pitch,
                             point + column),
                         place, f);
            else if (near)
                f->sum += root_of(square[j][i]);
        }
}

template <class B, bool FAR>
__device__ inline void survey_split(const smap_job &job, const double *predicted,
                                    double *point, const smap_left_out *out,
                                    smap_found *found)
{
    const smap_points &p = job.points;
    uint32_t mine = threadIdx.x / WARP * 16;
    uint32_t tiles = (p.n + B::POINTS - 1) / B::POINTS;
    uint32_t tile = (uint32_t) ((uint64_t) tiles * blockIdx.y / job.splits);
    uint32_t end = (uint32_t) ((uint64_t) tiles * (blockIdx.y + 1) / job.splits);
    auto points_of = [&](uint32_t which) {
        return point + which % 2 * p.shape.places * B::PITCH;
    };
    if (tile < end)
        smap_fetch<B>(p, tile, points_of(tile));
    for (; tile < end; tile++) {
        __pipeline_wait_prior(0);
        __syncthreads();
        if (tile + 1 < end)
            smap_fetch<B>(p, tile + 1, points_of(tile + 1));
        survey_tile<B, FAR>(job, predicted + mine * p.shape.pitch, points_of(tile),
                            out + mine, tile * B::POINTS, found);
    }
}

template <class B>
__global__ void __launch_bounds__(B::THREADS) smap_look(SYN_GPU_JOB smap_job job)
{
    extern __shared__ double2 memory[];
    const smap_points &p = job.points;
    double *predicted = (double *) memory;
    double *point = predicted + B::PREDICTIONS * p.shape.pitch;
    smap_left_out *out = (smap_left_out *) (point + 2 * p.shape.places * B::PITCH);
    uint32_t first = blockIdx.x * B::PREDICTIONS, n = p.predictions - first;
    n = n < B::PREDICTIONS ? n : B::PREDICTIONS;
    for (uint32_t i = threadIdx.x; i < B::PREDICTIONS * p.shape.pitch; i += B::THREADS)
        predicted[i] = i / p.shape.pitch < n
                           ? p.predicted[(size_t) first * p.shape.pitch + i]
                           : 0;
    int far = 0;
    for (uint32_t i = threadIdx.x; i < B::PREDICTIONS; i += B::THREADS) {
        out[i] = leave_out(job, first + (i < n ? i : 0));
        far |= p.n - (out[i].to - out[i].from) > job.k;
    }
    far = __syncthreads_or(far);

    smap_found found[2] = {{0, 1e308, -1, 0}, {0, 1e308, -1, 0}};
    if (far)
        survey_split<B, true>(job, predicted, point, out, found);
    else
        survey_split<B, false>(job, predicted, point, out, found);

    uint32_t lane = threadIdx.x % WARP;
    for (int i = 0; i < 2; i++) {
        uint32_t row = threadIdx.x / WARP * 16 + lane / 4 + 8 * i;
        smap_found &f = found[i];
        for (int lanes = 1; lanes < 4; lanes *= 2)
            merge_found(job, out[row].rank,
                        {__shfl_xor_sync(WHOLE_WARP, f.sum, lanes),
                         __shfl_xor_sync(WHOLE_WARP, f.least, lanes),
                         __shfl_xor_sync(WHOLE_WARP, f.far, lanes),
                         __shfl_xor_sync(WHOLE_WARP, f.at, lanes)}, &f);
        if (row < n && lane % 4 == 0) {
            job.found[(size_t) blockIdx.y * p.predictions + first + row] = found[i];
            if (blockIdx.y == 0)
                job.out[first + row] = out[row];
        }
    }
}

/* What all splits found, a thread for each prediction. */
__global__ void smap_conclude(SYN_GPU_JOB smap_job job)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, n = job.points.predictions;
    if (i >= n)
        return;
    smap_found f = job.found[i];
    smap_left_out out = job.out[i];
    for (uint32_t split = 1; split < job.splits; split++)
        merge_found(job, out.rank, job.found[(size_t) split * n + i], &f);
    uint32_t count = job.points.n - (out.to - out.from);
    auto known_in = [&](uint32_t from, uint32_t to) {
        return job.known ? job.known[to] - job.known[from] : to - from;
    };
    out.known = known_in(0, job.points.n) - known_in(out.from, out.to);
    if (count > job.k) {
        out.drop = f.at;
        out.known -= known_in(f.at, f.at + 1);
        count--;
    } else if (f.far >= 0) {
        f.sum += root_of(f.far);
    }
    job.out[i] = out;
    job.distance[i] = {count > 0 ? f.sum / count : 0, root_of(f.least)};
}

}  // namespace gpu
