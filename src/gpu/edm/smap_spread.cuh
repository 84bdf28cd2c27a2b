/* The variance of the neighbours' targets where sums of their squares do not tell it:
   from the distances of the targets themselves, in a pass of its own. */
#ifndef SYN_GPU_EDM_SMAP_SPREAD_CUH
#define SYN_GPU_EDM_SMAP_SPREAD_CUH

#include "gpu/edm/smap_solve.cuh"

namespace gpu {

enum { SMAP_SPREAD_THREADS = 128 };

/* Adds the values of a block in the order of its threads' numbers; the sum for the first. */
__device__ inline double block_total(double value, double *room)
{
    value = warp_total(value);
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        room[threadIdx.x / WARP] = value;
    __syncthreads();
    double sum = 0;
    for (int i = 0; i < SMAP_SPREAD_THREADS / WARP; i++)
        sum += room[i];
    return sum;
}

/* A block for each prediction and theta. */
__global__ void smap_spread_again(SYN_GPU_JOB smap_equations job)
{
    __shared__ double room[SMAP_SPREAD_THREADS / WARP];
    const smap_points &p = job.points;
    for (size_t i = blockIdx.x; i < (size_t) job.thetas * p.predictions; i += gridDim.x) {
        if (job.results.fate[i] != SMAP_UNSPREAD)
            continue;
        uint32_t theta = (uint32_t) (i / p.predictions);
        uint32_t at = (uint32_t) (i % p.predictions);
        const double *from = p.predicted + (size_t) at * p.shape.pitch;
        smap_distances d = job.distance[at];
        smap_left_out out = job.out[at];
        double rate = smap_rate(d, job.theta[theta]), above = 0, below = 0;
        double value = job.results.prediction[i] - job.centre[p.shape.dims + 1];
        for (uint32_t j = threadIdx.x; j < p.n; j += SMAP_SPREAD_THREADS) {
            const double *x = p.near + (size_t) j * p.shape.pitch;
            double square = 0, known = x[p.shape.wide + 1];
            for (uint32_t k = 0; k < p.shape.dims; k++)
                square = add_square(square, x[k], from[k]);
            double w = known * smap_weight(root_of(square), rate, d.least);
            w = smap_is_near(out, j) ? w : 0;
            double apart = x[p.shape.wide] - value;
            above = fma(w * apart, apart, above);
            below += w;
        }
        above = block_total(above, room);
        below = block_total(below, room);
        if (threadIdx.x == 0)
            job.results.variance[i] = above / below;
    }
}

}  // namespace gpu

#endif
