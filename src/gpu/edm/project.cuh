/* Predictions from neighbours: core/edm/weights.h on devices. */
#ifndef SYN_GPU_EDM_PROJECT_CUH
#define SYN_GPU_EDM_PROJECT_CUH

#include "gpu/edm/neighbours.cuh"

namespace gpu {

/* Neighbours in one state space or several, and one target or several. */
struct project_job {
    placed_neighbours near;   /* [spaces][n], k places each */
    uint32_t spaces, n, k;
    const uint32_t *place;    /* [n] where predictions go; NULL: to their own numbers */
    const double *target;     /* [targets][rows] */
    uint32_t targets, rows;
    const uint32_t *library;  /* [spaces] library rows; NULL, or too few below `least` */
    uint32_t least;
    double closest;           /* syn_points: least */
    double *prediction;       /* [spaces][targets][n] */
    double *variance;         /* likewise; may be NULL */
};

__device__ inline double weight_of(double distance, double nearest, double closest)
{
    return exp(-distance / (nearest > closest ? nearest : closest));
}

/* A thread a prediction row, state space and target. */
static __global__ void project_rows(SYN_GPU_JOB project_job job)
{
    const double none = __longlong_as_double(0x7ff8000000000000ll);
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= job.n)
        return;
    for (uint32_t at = blockIdx.y; at < job.spaces * job.targets; at += gridDim.y) {
        uint32_t space = at / job.targets;
        size_t from = (size_t) space * job.n + i, to = (size_t) at * job.n + i;
        const double *value = job.target + (size_t) (at % job.targets) * job.rows;
        const double *distance = job.near.distance + from * job.k;
        const uint32_t *row = job.near.row + from * job.k;
        uint32_t found = job.near.found[from];
        if (job.place)
            to = job.place[i];
        if (job.library && job.library[space] < job.least)
            found = 0;
        double sum = 0, weights = 0, off = 0;
        for (uint32_t j = 0; j < found; j++) {
            double w = weight_of(distance[j], distance[0], job.closest);
            sum = __dadd_rn(sum, __dmul_rn(w, value[row[j]]));
            weights = __dadd_rn(weights, w);
        }
        double mean = found > 0 ? sum / weights : none;
        job.prediction[to] = mean;
        if (!job.variance)
            continue;
        for (uint32_t j = 0; j < found; j++) {
            double w = weight_of(distance[j], distance[0], job.closest);
            double by = value[row[j]] - mean;
            off = __dadd_rn(off, __dmul_rn(__dmul_rn(w, by), by));
        }
        job.variance[to] = found > 0 ? off / weights : none;
    }
}

/* How many rows of a library have all coordinates of each view: a block a view. */
static __global__ void count_complete(placed_points points, placed_rows library,
                               const uint32_t *column, uint32_t dims, uint32_t views,
                               uint32_t *out)
{
    __shared__ uint32_t n;
    for (uint32_t view = blockIdx.x; view < views; view += gridDim.x) {
        __syncthreads();
        if (threadIdx.x == 0)
            n = 0;
        __syncthreads();
        uint32_t mine = 0;
        for (uint32_t i = threadIdx.x; i < library.n; i += blockDim.x) {
            bool all = true;
            for (uint32_t d = 0; d < dims; d++) {
                size_t at = (size_t) column[(size_t) view * dims + d] * points.rows;
                all = all && isfinite(points.coordinate[at + library.row[i]]);
            }
            mine += all;
        }
        atomicAdd(&n, mine);
        __syncthreads();
        if (threadIdx.x == 0)
            out[view] = n;
    }
}

}  // namespace gpu

#endif
