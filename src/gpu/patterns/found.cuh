/* Puts what warps have found into its order: by size, then as the search goes. */
#ifndef SYN_GPU_PATTERNS_FOUND_CUH
#define SYN_GPU_PATTERNS_FOUND_CUH

#include "gpu/patterns/types.cuh"

namespace gpu {

/* What was found, in its segments, and where it goes. */
struct pattern_found {
    const void *pool;
    const pattern_segment *segment;
    const uint32_t *order;      /* [segments] those of streams in their order */
    uint32_t segments;
    uint32_t least, sizes;      /* of the smallest, and how many sizes there are */
    const pattern_root *root;
    unsigned long long *count;  /* [sizes][segments] patterns; then how many are before */
    void *out;                  /* all patterns of a size, then those of the next: items,
                                   then how often */
    const uint64_t *begin;      /* [sizes] numbers before */
    const unsigned long long *first; /* [sizes] count[] before */
};

/* A thread a task: gives its stream, and those that follow, their places. */
__global__ void place_streams(const uint32_t *after, uint32_t tasks, uint64_t *place)
{
    uint32_t task = blockIdx.x * blockDim.x + threadIdx.x;
    if (task >= tasks)
        return;
    uint64_t n = (uint64_t) task << 32;
    for (uint32_t stream = task; stream != NO_PLACE; stream = after[stream])
        place[stream] = n++;
}

/* Keys and numbers of segments, to be sorted. */
__global__ void name_segments(const pattern_segment *segment, uint32_t n,
                              const uint64_t *place, uint64_t *key, uint32_t *number)
{
    uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    key[k] = place[segment[k].stream];
    number[k] = k;
}

/* Segments of a root that was given up count for nothing. */
__device__ inline pattern_segment segment_in_order(const pattern_found &f, uint32_t k)
{
    pattern_segment segment = f.segment[f.order[k]];
    if (f.root[segment.root].failed)
        segment.end = segment.begin;
    return segment;
}

/* A thread a segment. */
template <class NUMBER> __global__ void count_found(pattern_found f)
{
    uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= f.segments)
        return;
    pattern_segment s = segment_in_order(f, k);
    const NUMBER *pool = (const NUMBER *) f.pool;
    for (uint64_t at = s.begin; at < s.end; at += pool[at] + 2u)
        f.count[(size_t) (pool[at] - f.least) * f.segments + k]++;
}

/* A warp a segment. */
template <class NUMBER> __global__ void sort_found(pattern_found f)
{
    uint32_t lane = threadIdx.x % WARP;
    uint64_t k = ((uint64_t) blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (k >= f.segments)
        return;
    pattern_segment s = segment_in_order(f, (uint32_t) k);
    const NUMBER *pool = (const NUMBER *) f.pool;
    NUMBER *out = (NUMBER *) f.out;
    for (uint64_t at = s.begin; at < s.end;) {
        uint32_t size = pool[at], often = pool[at + 1], z = size - f.least;
        unsigned long long *next = f.count + (size_t) z * f.segments + k;
        unsigned long long to = *next - f.first[z];
        NUMBER *pattern = out + f.begin[z] + to * (size + 1);
        __syncwarp();
        for (uint32_t j = lane; j < size; j += WARP)
            pattern[j] = pool[at + 2 + j];
        if (lane == 0) {
            pattern[size] = (NUMBER) often;
            *next += 1;
        }
        __syncwarp();
        at += size + 2;
    }
}

}  // namespace gpu

#endif
