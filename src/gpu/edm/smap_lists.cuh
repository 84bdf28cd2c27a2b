/* Sums of S-maps whose neighbours are listed: a block for each prediction and theta. */
#ifndef SYN_GPU_EDM_SMAP_LISTS_CUH
#define SYN_GPU_EDM_SMAP_LISTS_CUH

#include "gpu/edm/smap_survey.cuh"

namespace gpu {

/* One launch: what smap_product.cuh finds for the whole library, with one split. */
struct smap_listing {
    smap_points points;
    smap_lists lists;
    const uint32_t *library;     /* rows of the data */
    uint32_t *row;               /* [predictions][k] of `lists`, to be turned to places */
    const double *theta;
    const ushort2 *factor;
    smap_left_out *out;          /* only `known` matters */
    smap_distances *distance;
    double *sum, *spread;
};

enum { SMAP_LIST_THREADS = 128, SMAP_LIST_POINTS = 32 };

/* Turns rows into places, and finds the mean and the least distance: a warp for each
   prediction. */
__global__ void smap_look_up(SYN_GPU_JOB smap_listing job)
{
    uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
    const smap_points &p = job.points;
    if (i >= p.predictions)
        return;
    uint32_t found = job.lists.found[i], known = 0;
    size_t first = (size_t) i * job.lists.k;
    double sum = 0, least = 1e308;
    for (uint32_t j = lane; j < found; j += WARP) {
        uint32_t place = first_from(job.library, p.n, job.row[first + j]);
        double distance = job.lists.distance[first + j];
        job.row[first + j] = place;
        sum += distance;
        if (p.library[(size_t) (p.shape.wide + 1) * p.padded + place] > 0) {
            known++;
            least = distance < least ? distance : least;
        }
    }
    sum = warp_total(sum);
    known = warp_sum(known);
    for (int o = WARP / 2; o > 0; o /= 2)
        least = fmin(least, __shfl_xor_sync(WHOLE_WARP, least, o));
    if (lane == 0) {
        job.distance[i] = {found > 0 ? sum / found : 0, least};
        job.out[i] = {0, 0, UINT32_MAX, known};
    }
}

__host__ __device__ inline size_t smap_list_shared(const smap_shape &shape)
{
    return sizeof(double) * SMAP_LIST_POINTS * (shape.places + 1);
}

/* Fetches the next neighbours and their squared weights, and adds to the spread. */
__device__ inline void take_listed(const smap_listing &job, uint32_t prediction,
                                   uint32_t from, uint32_t n, const smap_fall &fall,
                                   double *point, double *weight, double *spread)
{
    const smap_points &p = job.points;
    const uint32_t *place = job.lists.place + (size_t) prediction * job.lists.k + from;
    const double *distance = job.lists.distance + (size_t) prediction * job.lists.k + from;
    for (uint32_t i = threadIdx.x; i < n * p.shape.places; i += SMAP_LIST_THREADS)
        point[i] = p.library[(size_t) (i % p.shape.places) * p.padded +
                             place[i / p.shape.places]];
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n; i += SMAP_LIST_THREADS) {
        const double *last = point + i * p.shape.places + p.shape.wide;
        double w = smap_weight(distance[i], fall);
        weight[i] = w * w * last[1];  /* 0 where the target is missing */
        spread[0] += w * last[1];
        spread[1] += w * last[0];
        spread[2] += w * last[0] * last[0];
    }
    __syncthreads();
}

__global__ void __launch_bounds__(SMAP_LIST_THREADS)
    smap_add_listed(SYN_GPU_JOB smap_listing job)
{
    extern __shared__ double2 memory[];
    const smap_points &p = job.points;
    double *point = (double *) memory, *weight = point + SMAP_LIST_POINTS * p.shape.places;
    uint32_t columns = p.shape.columns;
    for (uint32_t at = blockIdx.x; at < p.predictions; at += gridDim.x) {
        uint32_t found = job.lists.found[at];
        smap_distances d = job.distance[at];
        smap_fall fall = smap_fall_of(smap_rate(d, job.theta[blockIdx.y]), d.least);
        size_t place = (size_t) blockIdx.y * p.predictions + at;
        double *sum = job.sum + place * columns, spread[3] = {0, 0, 0};
        for (uint32_t from = 0; from == 0 || from < found; from += SMAP_LIST_POINTS) {
            uint32_t n = found - from < SMAP_LIST_POINTS ? found - from : SMAP_LIST_POINTS;
            take_listed(job, at, from, n, fall, point, weight, spread);
            for (uint32_t c = threadIdx.x; c < columns; c += SMAP_LIST_THREADS) {
                ushort2 factor = job.factor[c];
                double part = from > 0 ? sum[c] : 0;
                for (uint32_t i = 0; i < n; i++) {
                    const double *x = point + i * p.shape.places;
                    part = fma(weight[i] * x[factor.x], x[factor.y], part);
                }
                sum[c] = part;
            }
            __syncthreads();
        }
        /* Only the first warp has neighbours of its own. */
        for (int j = 0; j < 3; j++) {
            spread[j] = warp_total(spread[j]);
            if (threadIdx.x == 0)
                job.spread[place * 3 + j] = spread[j];
        }
    }
}

}  // namespace gpu

#endif
