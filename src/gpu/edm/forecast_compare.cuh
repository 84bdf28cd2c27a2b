/* Gains of conditional forecasts by their candidates, and how sure they are. */
#ifndef SYN_GPU_EDM_FORECAST_COMPARE_CUH
#define SYN_GPU_EDM_FORECAST_COMPARE_CUH

#include "gpu/edm/forecast_types.cuh"

namespace gpu {

enum { FORECAST_COMPARE = 256, FORECAST_WARPS = FORECAST_COMPARE / WARP };

/* The sum over the warps of each lane's values; `room` is used again after a barrier
   only. */
__device__ inline double over_warps(double value, double (*room)[WARP])
{
    uint32_t lane = threadIdx.x % WARP;
    room[threadIdx.x / WARP][lane] = value;
    __syncthreads();
    double sum = 0;
    for (int warp = 0; warp < FORECAST_WARPS; warp++)
        sum += room[warp][lane];
    __syncthreads();
    return sum;
}

/* A lane's share of the long-run variance of the falls of a candidate, times `rows`:
   squares, and twice the products with those before. */
__device__ inline double long_run(const double *fall, uint32_t pitch, uint32_t rows,
                                  uint32_t lags, double mean)
{
    double sum = 0;
    for (uint32_t i = threadIdx.x / WARP; i < rows; i += FORECAST_WARPS) {
        const double *from = fall + (size_t) i * pitch;
        double own = *from - mean, others = 0;
        for (uint32_t lag = 1; lag <= min(lags, i); lag++) {
            from -= pitch;
            others = fma(1 - lag / (lags + 1.0), *from - mean, others);
        }
        sum = fma(own, own + 2 * others, sum);
    }
    return sum;
}

/* A lane for each candidate, and the rows by turns to the warps. Grid: candidates, at
   least one block; tasks. */
__global__ void __launch_bounds__(FORECAST_COMPARE)
compare_forecasts(SYN_GPU_JOB forecast_job job)
{
    __shared__ double room[FORECAST_WARPS][WARP];
    uint32_t which = blockIdx.y, c = blockIdx.x * WARP + threadIdx.x % WARP;
    const forecast_task &task = job.task[which];
    uint32_t rows = job.pairs.library[which].rows;
    bool any = rows >= job.least, mine = c < task.candidates;
    size_t at = (size_t) which * job.pairs.padded;
    const double *fall = job.fall + at * job.most + c;
    double squares = 0, sum = 0, turns = 0;
    for (uint32_t i = threadIdx.x; i < rows; i += FORECAST_COMPARE)
        squares = fma(job.error[at + i], job.error[at + i], squares);
    squares = block_sum<FORECAST_COMPARE>(squares, room[0]);
    for (uint32_t i = threadIdx.x / WARP; mine && i < rows; i += FORECAST_WARPS)
        sum += fall[(size_t) i * job.most];
    sum = over_warps(sum, room);
    double mean = sum / rows;
    if (mine)
        turns = long_run(fall, job.most, rows, job.lags[rows], mean);
    double variance = over_warps(turns, room) / rows;
    double *out = job.out + (size_t) which * (FORECAST_NUMBERS + 2 * (size_t) job.most);
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        out[FORECAST_ROWS] = rows;
        out[FORECAST_ERROR] = any ? squares / rows : NAN;
    }
    if (threadIdx.x >= WARP || !mine)
        return;
    double least = SYN_FORECAST_SPREAD * squares / rows;
    double t = variance <= least * least ? 0 : mean / sqrt(variance / rows);
    out[FORECAST_NUMBERS + c] = any ? sum / squares : NAN;
    out[FORECAST_NUMBERS + job.most + c] = any ? t : NAN;
}

}  // namespace gpu

#endif
