/* The variance of the neighbours' targets where sums of their squares do not tell it:
   from the distances of the targets themselves, in a pass of its own. */
#ifndef SYN_GPU_EDM_SMAP_SPREAD_CUH
#define SYN_GPU_EDM_SMAP_SPREAD_CUH

#include "gpu/edm/smap_solve.cuh"

namespace gpu {

enum { SMAP_SPREAD_THREADS = 128 };

/* Adds a point of the library; `weight` is 0 where its target is missing. */
__device__ inline void add_spread(const smap_points &p, uint32_t point, double weight,
                                  double value, double *above, double *below)
{
    const double *last = p.library + (size_t) p.shape.wide * p.padded + point;
    double w = last[p.padded] * weight, apart = last[0] - value;
    *above = fma(w * apart, apart, *above);
    *below += w;
}

/* A block for each prediction and theta. */
__global__ void smap_spread_again(SYN_GPU_JOB smap_equations job)
{
    __shared__ double room[SMAP_SPREAD_THREADS / WARP];
    const smap_points &p = job.points;
    for (size_t i = blockIdx.x; i < (size_t) job.thetas * p.predictions; i += gridDim.x) {
        if (job.results.fate[i] != SMAP_UNSPREAD)
            continue;
        uint32_t at = (uint32_t) (i % p.predictions);
        const double *from = p.predicted + (size_t) at * p.shape.pitch;
        smap_distances d = job.distance[at];
        double rate = smap_rate(d, job.theta[i / p.predictions]), above = 0, below = 0;
        smap_fall fall = smap_fall_of(rate, d.least);
        double value = job.results.prediction[i] - job.centre[p.shape.dims + 1];
        uint32_t n = job.lists.found ? job.lists.found[at] : p.n;
        for (uint32_t j = threadIdx.x; j < n; j += SMAP_SPREAD_THREADS) {
            size_t entry = (size_t) at * job.lists.k + j;
            uint32_t point = job.lists.found ? job.lists.place[entry] : j;
            double distance = 0;
            if (job.lists.found) {
                distance = job.lists.distance[entry];
            } else {
                for (uint32_t k = 0; k < p.shape.dims; k++)
                    distance = add_square(
                        distance, p.library[(size_t) k * p.padded + j], from[k]);
                distance = root_of(distance);
            }
            bool near = job.lists.found || smap_is_near(job.out[at], j);
            double weight = near ? smap_weight(distance, fall) : 0;
            add_spread(p, point, weight, value, &above, &below);
        }
        above = block_sum<SMAP_SPREAD_THREADS>(above, room);
        below = block_sum<SMAP_SPREAD_THREADS>(below, room);
        if (threadIdx.x == 0)
            job.results.variance[i] = above / below;
    }
}

}  // namespace gpu

#endif
