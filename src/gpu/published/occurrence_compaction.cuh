/* How what the threads of a step have found gets into the next list, without gaps. */
#ifndef SYN_GPU_PUBLISHED_OCCURRENCE_COMPACTION_CUH
#define SYN_GPU_PUBLISHED_OCCURRENCE_COMPACTION_CUH

#include "gpu/published/occurrence_lists.cuh"

namespace gpu {

/* What partial occurrence i has become, from place `at` on. */
__device__ inline void write_longer(const step_job &job, uint32_t i,
                                    const found_rows &found, partial_list to,
                                    unsigned long long at)
{
    uint32_t other = job.from.other[i];
    for (uint32_t j = 0; j < found.n; j++) {
        to.key[at + j] = found.candidate | (found.begin + j);
        to.other[at + j] = other;
    }
}

/* ---- counters: places are given in the order in which threads ask, which is any ---- */

/* "one-counter": every thread adds to the list's one counter. */
__global__ void extend_by_counter(SYN_GPU_JOB step_job job, partial_list to,
                                  unsigned long long room, unsigned long long *length)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= job.n)
        return;
    found_rows found = find_successors(job, i);
    if (found.n == 0)
        return;
    unsigned long long at = atomicAdd(length, (unsigned long long) found.n);
    if (at + found.n <= room)
        write_longer(job, i, found, to, at);
}

/* "block-counters", the published AtomicCompact: threads add to a counter of their block,
   in shared memory, and the block once to the list's. */
__global__ void extend_by_blocks(SYN_GPU_JOB step_job job, partial_list to,
                                 unsigned long long room, unsigned long long *length)
{
    __shared__ unsigned long long in_block, base;
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        in_block = 0;
    __syncthreads();
    found_rows found = {};
    unsigned long long at = 0;
    if (i < job.n)
        found = find_successors(job, i);
    if (found.n > 0)
        at = atomicAdd(&in_block, (unsigned long long) found.n);
    __syncthreads();
    if (threadIdx.x == 0)
        base = in_block > 0 ? atomicAdd(length, in_block) : 0;
    __syncthreads();
    if (found.n > 0 && base + at + found.n <= room)
        write_longer(job, i, found, to, base + at);
}

/* ---- "sparse-scan": a prefix sum over an array with gaps ---- */

constexpr uint32_t EMPTY = UINT32_MAX;  /* more than any row */

struct is_filled {
    __host__ __device__ uint32_t operator()(uint32_t place) const
    {
        return place != EMPTY;
    }
};

/* Each thread writes what it finds to its own `width` places, as far as they go. One more
   place, after all others, is empty. */
__global__ void extend_sparse(SYN_GPU_JOB step_job job, uint32_t width, uint32_t *sparse,
                              uint32_t *most)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == job.n)
        sparse[(size_t) i * width] = EMPTY;
    if (i >= job.n)
        return;
    found_rows found = find_successors(job, i);
    if (found.n > width)
        atomicMax(most, found.n);
    for (uint32_t j = 0; j < width; j++)
        sparse[(size_t) i * width + j] = j < found.n ? found.begin + j : EMPTY;
}

/* A thread per place: those that are filled are moved together. */
__global__ void pack_sparse(SYN_GPU_JOB step_job job, uint32_t width,
                            const uint32_t *offset, const uint32_t *sparse,
                            partial_list to)
{
    uint32_t place = blockIdx.x * blockDim.x + threadIdx.x, i = place / width;
    if (i >= job.n || sparse[place] == EMPTY)
        return;
    unsigned long long candidate = job.from.key[i] >> job.shift << job.shift;
    to.key[offset[place]] = candidate | sparse[place];
    to.other[offset[place]] = job.from.other[i];
}

/* ---- "count-scan-write": every thread searches twice ---- */

__global__ void count_longer(SYN_GPU_JOB step_job job, uint32_t *count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= job.n)
        count[i] = i < job.n ? find_successors(job, i).n : 0;
}

__global__ void search_and_write(SYN_GPU_JOB step_job job, const uint32_t *offset,
                                 partial_list to)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < job.n)
        write_longer(job, i, find_successors(job, i), to, offset[i]);
}

/* ---- "in-order", ours: what the one search has found is remembered ---- */

__global__ void find_longer(SYN_GPU_JOB step_job job, uint32_t *count, uint32_t *begin)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == job.n)
        count[i] = 0;
    if (i >= job.n)
        return;
    found_rows found = job.back ? find_predecessors(job, i) : find_successors(job, i);
    count[i] = found.n;
    begin[i] = found.begin;
}

__global__ void write_found(SYN_GPU_JOB step_job job, const uint32_t *offset,
                            const uint32_t *begin, partial_list to)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= job.n || offset[i] == offset[i + 1])
        return;
    unsigned long long candidate = job.from.key[i] >> job.shift << job.shift;
    write_longer(job, i, {candidate, begin[i], offset[i + 1] - offset[i]}, to, offset[i]);
}

/* ---- thinning ---- */

/* The key and the start of an occurrence that was tracked back: the same as if it had
   been tracked from its first event. */
struct key_by_end {
    partial_list list;
    uint32_t shift;
    __host__ __device__ unsigned long long operator()(uint32_t i) const
    {
        return (list.key[i] >> shift << shift) | list.other[i];
    }
};

struct start_of {
    partial_list list;
    const uint32_t *start;  /* of a row */
    uint32_t shift;
    __host__ __device__ uint32_t operator()(uint32_t i) const
    {
        return start[list.key[i] & ((1ull << shift) - 1)];
    }
};

}  // namespace gpu

#endif
