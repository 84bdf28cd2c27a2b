/* The next level's nodes: the children that counting kept, in order. */
#ifndef SYN_GPU_EPISODES_FILL_CUH
#define SYN_GPU_EPISODES_FILL_CUH

#include <cstdint>

#include "gpu/episodes/share.cuh"
#include "gpu/episodes/types.cuh"

namespace gpu {

enum { FILL_WARPS = 8 };  /* of a block */

struct fill_job {
    level_view above, here, next;  /* `next` is filled with the children of `here` */
    columns_view columns;
    const uint32_t *unit;
    const uint32_t *counts[DEVICES];
    sharing share;
    header *head;  /* of `next` */
};

struct tally_of_candidates {
    unsigned long long all, own;
};

/* Nothing follows a new node yet. */
__device__ inline void clear_node(const level_view &level, uint32_t node,
                                  uint32_t columns, int width)
{
    for (uint32_t i = node * columns; i < (node + 1) * columns; i++) {
        level.children[i] = 0;
        for (int j = 0; j < width; j++)
            level.mask[(size_t) i * width + j] = 0;
    }
}

/* Children in order of (parent, column, symbol), as `base` numbers them. A child's
   suffix is the child of its parent's suffix that the same step leads to. */
template <int K>
__device__ void fill_item(const fill_job &job, uint32_t item, tally_of_candidates *sum)
{
    const uint32_t lane = threadIdx.x % WARP, n = job.columns.n;
    uint32_t node = item / n, column = item - node * n;
    uint32_t interval = column / job.columns.pages;
    uint32_t page = column % job.columns.pages * job.columns.width;
    uint32_t there = job.here.suffix[node] * n + column;
    const uint32_t *mask = job.here.mask + (size_t) item * K;
    const uint32_t *mirror = job.above.mask + (size_t) there * K;
    uint32_t rank = rank_of_lane<K>(mask);
    uint32_t id = job.here.base[item] + rank, slot = job.here.slot[item];
    const uint32_t *counts = job.counts[slot >> SLOT_BITS] + rank;
    uint32_t suffix = job.above.base[there] + rank_of_lane<K>(mirror);
    uint32_t length = job.here.length[node];
    slot &= (1u << SLOT_BITS) - 1;
    for (int j = 0; j < K; j++) {
        if (mask[j] >> lane & 1) {
            job.next.parent[id] = node;
            job.next.suffix[id] = suffix;
            job.next.unit[id] = job.unit[page + lane * K + j];
            job.next.interval[id] = interval;
            job.next.step[id] = lane * K + j + column * 256;
            job.next.count[id] = counts[slot++];
            uint32_t candidates = job.here.base[(suffix + 1) * n] -
                                  job.here.base[suffix * n];
            clear_node(job.next, id, n, K);
            sum->all += candidates;
            sum->own += job.share.takes(id, length) ? candidates : 0;
            id++;
        }
        suffix += mirror[j] >> lane & 1;
    }
}

/* By all blocks. */
template <int K> __device__ void fill_items(const fill_job &job)
{
    __shared__ tally_of_candidates sum;
    const uint32_t lane = threadIdx.x % WARP, columns = job.columns.n;
    uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    uint32_t warps = gridDim.x * blockDim.x / WARP;
    uint32_t items = *job.next.nodes > 0 ? *job.here.nodes * columns : 0;
    uint32_t group = min(items / warps + 1, (uint32_t) WARP);  /* seen together */
    if (threadIdx.x == 0)
        sum = {0, 0};
    __syncthreads();
    tally_of_candidates mine = {0, 0};
    for (uint32_t first = warp * group; first < items; first += warps * group) {
        uint32_t item = first + lane;
        bool any = item < items && lane < group && job.here.children[item] > 0;
        for (uint32_t left = __ballot_sync(ALL, any); left; left &= left - 1)
            fill_item<K>(job, first + __ffs(left) - 1, &mine);
    }
    if (mine.all)
        atomicAdd(&sum.all, mine.all);
    if (mine.own)
        atomicAdd(&sum.own, mine.own);
    __syncthreads();
    if (threadIdx.x == 0 && sum.all) {
        atomicAdd(&job.head->candidates, sum.all);
        atomicAdd(&job.head->own, sum.own);
    }
}

template <int K>
__global__ void __launch_bounds__(FILL_WARPS *WARP)
    fill_level(SYN_GPU_JOB fill_job job)
{
    fill_items<K>(job);
}

}  // namespace gpu

#endif
