/* The kernels: pairs are taken one after the other by blocks, and what they found is put
   in order. */
#ifndef SYN_GPU_ASSEMBLIES_FIND_CUH
#define SYN_GPU_ASSEMBLIES_FIND_CUH

#include "gpu/assemblies/count.cuh"
#include "gpu/assemblies/scan.cuh"

namespace gpu {

/* Items from `from` to below `to`: those of surrogates, or of the recording. */
template <bool RECORDED>
__global__ void __launch_bounds__(PEAK_THREADS)
    find_peaks(SYN_GPU_JOB peak_job job, unsigned long long from, unsigned long long to)
{
    extern __shared__ uint32_t memory[];
    __shared__ peak_item item;
    peak_room room = carve_room(job, memory);
    for (;;) {
        if (threadIdx.x == 0)
            item = item_of(job, from + atomicAdd(job.next, 1ull));
        for (uint32_t i = threadIdx.x; i <= 2 * job.ladder.margin; i += PEAK_THREADS)
            room.sum[i] = 0;
        __syncthreads();
        peak_item x = item;
        if (x.number >= to)
            return;
        if (RECORDED)
            count_recorded(job, x, room.sum);
        else
            count_surrogate(job, x, room.sum);
        __syncthreads();
        sum_counts(job, room.sum);
        __syncthreads();
        scan_pair(job, x, room);
        __syncthreads();
    }
}

/* A thread a shift of a unit in a segment, over and over. */
static __global__ void draw_shifts(SYN_GPU_JOB peak_job job, uint64_t key, uint64_t first,
                                   uint64_t shifts, uint32_t *shift)
{
    uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < shifts; i += (uint64_t) gridDim.x * blockDim.x) {
        uint32_t k = (uint32_t) (i % job.segments);
        uint64_t unit = i / job.segments;
        shift[i] = syn_binned_shift(key, first + unit / job.units,
                                    (uint32_t) (unit % job.units), k, job.n[k]);
    }
}

/* Puts the peaks of items in the order of items, from start[] on; a warp an item. */
static __global__ void gather_peaks(SYN_GPU_JOB peak_job job, const uint32_t *start,
                                    unsigned long long items, syn_peak *out)
{
    unsigned long long warps = (unsigned long long) gridDim.x * (blockDim.x / WARP);
    unsigned long long i = ((unsigned long long) blockIdx.x * blockDim.x + threadIdx.x);
    for (i /= WARP; i < items; i += warps)
        for (uint32_t k = threadIdx.x % WARP; k < job.count[i]; k += WARP)
            out[(size_t) start[i] + k] = job.peak[(size_t) job.at[i] + k];
}

}  // namespace gpu

#endif
