/* The distances of all neighbours of each prediction: their mean and the least, and the
   farthest neighbour where there is one too many. */
#ifndef SYN_GPU_EDM_SMAP_SURVEY_CUH
#define SYN_GPU_EDM_SMAP_SURVEY_CUH

#include "gpu/edm/smap_task.cuh"

#include <cuda_pipeline.h>

namespace gpu {

/* What is found in a part of the library. The farthest neighbour, if it is looked for, is
   not in the sum. */
struct smap_found {
    double sum;     /* of distances */
    double least;   /* squared distance of those whose target is known */
    double far;     /* squared distance of the farthest, below 0 for none, */
    uint32_t at;    /* and its place in the library */
};

/* One launch. Blocks are numbered by predictions and by splits of the library. */
struct smap_survey {
    smap_points points;
    const uint32_t *library, *prediction;  /* rows of the data */
    const uint32_t *known;  /* [n + 1] how many targets before are known; NULL: all are */
    uint32_t k;             /* neighbours */
    uint32_t exclusion;
    uint32_t splits;
    smap_left_out *out;         /* [predictions] */
    smap_found *found;          /* [splits][predictions] */
    smap_distances *distance;   /* [predictions] */
};

/* A block: each thread compares ROWS predictions with COLUMNS points. */
template <int ROWS_, int COLUMNS_> struct smap_survey_block {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, THREADS = 256;
    static constexpr int PREDICTIONS = 16 * ROWS, POINTS = 16 * COLUMNS;
    static_assert(SMAP_POINTS % POINTS == 0, "whole tiles");
};

template <class B> __host__ __device__ constexpr size_t smap_survey_shared(uint32_t pitch)
{
    return sizeof(double) * (B::PREDICTIONS + 2 * B::POINTS) * pitch +
           B::PREDICTIONS * sizeof(smap_left_out) +
           4 * B::PREDICTIONS * sizeof(smap_found);
}

/* The first of the rows that is `from` or later. */
__device__ inline uint32_t first_from(const uint32_t *row, uint32_t n, uint64_t from)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (row[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__device__ inline smap_left_out leave_out(const smap_survey &job, uint32_t prediction)
{
    uint32_t row = job.prediction[prediction], n = job.points.n;
    smap_left_out out = {0, 0, UINT32_MAX, 0};
    out.from = first_from(job.library, n, row > job.exclusion ? row - job.exclusion : 0);
    out.to = first_from(job.library, n, (uint64_t) row + job.exclusion + 1);
    return out;
}

__device__ inline bool has_one_too_many(const smap_survey &job, const smap_left_out &out)
{
    return job.points.n - (out.to - out.from) > job.k;
}

__device__ inline uint32_t rows_between(const smap_survey &job, uint32_t point,
                                        uint32_t prediction)
{
    uint32_t a = job.library[point], b = job.prediction[prediction];
    return a > b ? a - b : b - a;
}

/* Whether a point is farther than the farthest so far: by distance, then by the rows that
   it is apart, then the later one. */
__device__ inline bool is_farther(const smap_survey &job, double square, uint32_t at,
                                  const smap_found &f, uint32_t prediction)
{
    if (square != f.far || f.far < 0)
        return square > f.far;
    uint32_t mine = rows_between(job, at, prediction);
    uint32_t other = rows_between(job, f.at, prediction);
    return mine > other || (mine == other && at > f.at);
}

/* Takes a point as the farthest, or adds its distance. */
__device__ inline void sort_out(const smap_survey &job, double square, uint32_t at,
                                uint32_t prediction, smap_found *f)
{
    if (is_farther(job, square, at, *f, prediction)) {
        f->sum += f->far < 0 ? 0 : root_of(f->far);
        f->far = square;
        f->at = at;
    } else {
        f->sum += root_of(square);
    }
}

__device__ inline void merge_found(const smap_survey &job, const smap_found &other,
                                   uint32_t prediction, smap_found *f)
{
    f->sum += other.sum;
    f->least = fmin(f->least, other.least);
    if (other.far >= 0)
        sort_out(job, other.far, other.at, prediction, f);
}

template <class B>
__device__ inline void fetch_near(const smap_points &p, uint32_t tile, double *to)
{
    const double *from = p.near + (size_t) tile * B::POINTS * p.shape.pitch;
    for (uint32_t i = threadIdx.x; i < B::POINTS * p.shape.pitch / 2; i += B::THREADS)
        __pipeline_memcpy_async(to + 2 * i, from + 2 * i, 2 * sizeof(double));
    __pipeline_commit();
}

/* Goes through the points of a tile; FAR: also looks for the farthest. */
template <class B, bool FAR>
__device__ inline void survey_tile(const smap_survey &job, const double *predicted,
                                   const double *point, const smap_left_out *out,
                                   uint32_t first, uint32_t at, smap_found *found)
{
    const smap_shape &shape = job.points.shape;
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t row = lane % 8 + warp % 2 * 8, column = lane / 8 + warp / 2 * 4;
    const double *from = predicted + row * shape.pitch;
    const double *x = point + column * shape.pitch;
    double square[B::ROWS][B::COLUMNS];
#pragma unroll
    for (int i = 0; i < B::ROWS; i++)
#pragma unroll
        for (int j = 0; j < B::COLUMNS; j++)
            square[i][j] = 0;
    for (uint32_t k = 0; k < shape.wide; k += 2) {
        double2 p[B::ROWS];
#pragma unroll
        for (int i = 0; i < B::ROWS; i++)
            p[i] = *(const double2 *) (from + 16 * i * shape.pitch + k);
#pragma unroll
        for (int j = 0; j < B::COLUMNS; j++) {
            double2 a = *(const double2 *) (x + 16 * j * shape.pitch + k);
#pragma unroll
            for (int i = 0; i < B::ROWS; i++)
                square[i][j] = add_square(add_square(square[i][j], a.x, p[i].x), a.y,
                                          p[i].y);
        }
    }
#pragma unroll
    for (int j = 0; j < B::COLUMNS; j++) {
        uint32_t place = at + column + 16 * j;
        bool known = x[16 * j * shape.pitch + shape.wide + 1] > 0;
#pragma unroll
        for (int i = 0; i < B::ROWS; i++) {
            bool near = place < job.points.n && smap_is_near(out[row + 16 * i], place);
            smap_found *f = found + i;
            double least = near && known ? square[i][j] : f->least;
            f->least = least < f->least ? least : f->least;
            if (!FAR)
                f->sum += near ? root_of(square[i][j]) : 0;
            else if (near)
                sort_out(job, square[i][j], place, first + row + 16 * i, f);
        }
    }
}

template <class B, bool FAR>
__device__ inline void survey_split(const smap_survey &job, const double *predicted,
                                    double *point, const smap_left_out *out,
                                    smap_found *found)
{
    const smap_points &p = job.points;
    uint32_t tiles = (p.n + B::POINTS - 1) / B::POINTS;
    uint32_t tile = (uint32_t) ((uint64_t) tiles * blockIdx.y / job.splits);
    uint32_t end = (uint32_t) ((uint64_t) tiles * (blockIdx.y + 1) / job.splits);
    auto points_of = [&](uint32_t which) {
        return point + which % 2 * B::POINTS * p.shape.pitch;
    };
    if (tile < end)
        fetch_near<B>(p, tile, points_of(tile));
    for (; tile < end; tile++) {
        __pipeline_wait_prior(0);
        __syncthreads();
        if (tile + 1 < end)
            fetch_near<B>(p, tile + 1, points_of(tile + 1));
        survey_tile<B, FAR>(job, predicted, points_of(tile), out,
                            blockIdx.x * B::PREDICTIONS, tile * B::POINTS, found);
    }
}

__device__ inline smap_found shuffle_found(const smap_found &f, int lanes)
{
    smap_found out;
    out.sum = __shfl_xor_sync(WHOLE_WARP, f.sum, lanes);
    out.least = __shfl_xor_sync(WHOLE_WARP, f.least, lanes);
    out.far = __shfl_xor_sync(WHOLE_WARP, f.far, lanes);
    out.at = __shfl_xor_sync(WHOLE_WARP, f.at, lanes);
    return out;
}

template <class B>
__global__ void __launch_bounds__(B::THREADS) smap_look(SYN_GPU_JOB smap_survey job)
{
    extern __shared__ double2 memory[];
    const smap_points &p = job.points;
    double *predicted = (double *) memory;
    double *point = predicted + B::PREDICTIONS * p.shape.pitch;
    smap_left_out *out = (smap_left_out *) (point + 2 * B::POINTS * p.shape.pitch);
    smap_found *room = (smap_found *) (out + B::PREDICTIONS);
    uint32_t first = blockIdx.x * B::PREDICTIONS, n = p.predictions - first;
    n = n < B::PREDICTIONS ? n : B::PREDICTIONS;
    for (uint32_t i = threadIdx.x; i < B::PREDICTIONS * p.shape.pitch; i += B::THREADS)
        predicted[i] = i / p.shape.pitch < n
                           ? p.predicted[(size_t) first * p.shape.pitch + i]
                           : 0;
    int far = 0;
    for (uint32_t i = threadIdx.x; i < B::PREDICTIONS; i += B::THREADS) {
        out[i] = leave_out(job, first + (i < n ? i : 0));
        far |= has_one_too_many(job, out[i]);
    }
    far = __syncthreads_or(far);

    smap_found found[B::ROWS];
#pragma unroll
    for (int i = 0; i < B::ROWS; i++)
        found[i] = {0, 1e308, -1, 0};
    if (far)
        survey_split<B, true>(job, predicted, point, out, found);
    else
        survey_split<B, false>(job, predicted, point, out, found);

    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t row = lane % 8 + warp % 2 * 8;
#pragma unroll
    for (int i = 0; i < B::ROWS; i++) {
        uint32_t mine = row + 16 * i < n ? row + 16 * i : 0;
        for (int lanes = 8; lanes < WARP; lanes *= 2)
            merge_found(job, shuffle_found(found[i], lanes), first + mine, found + i);
        if (lane < 8)
            room[warp / 2 * B::PREDICTIONS + row + 16 * i] = found[i];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n; i += B::THREADS) {
        smap_found f = room[i];
        for (int part = 1; part < 4; part++)
            merge_found(job, room[part * B::PREDICTIONS + i], first + i, &f);
        job.found[(size_t) blockIdx.y * p.predictions + first + i] = f;
        if (blockIdx.y == 0)
            job.out[first + i] = out[i];
    }
}

/* What all splits found, a thread for each prediction. */
__global__ void smap_conclude(SYN_GPU_JOB smap_survey job)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, n = job.points.predictions;
    if (i >= n)
        return;
    smap_found f = job.found[i];
    for (uint32_t split = 1; split < job.splits; split++)
        merge_found(job, job.found[(size_t) split * n + i], i, &f);
    smap_left_out out = job.out[i];
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

#endif
