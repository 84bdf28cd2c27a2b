/* How several devices share the work: all hold the same events and levels; the lists of a
   level with enough nodes are dealt out, and those of the nodes below it stay where their
   ancestor's is. Each device counts what it has lists for, and gets the rest from the
   others. */
#ifndef SYN_GPU_EPISODES_SHARE_CUH
#define SYN_GPU_EPISODES_SHARE_CUH

#include <cstdint>

#include "gpu/episodes/mine.h"
#include "gpu/episodes/types.cuh"

namespace gpu {

/* A slot is a place among a device's found counts, and above SLOT_BITS the device. */
enum { DEVICES = SYN_GPU_MOST, SLOT_BITS = 28 };

constexpr uint32_t ELSEWHERE = 0xffffffffu;  /* the length of another device's list */

/* Which lists of a level this device makes. Hashed, so that siblings, whose work is
   alike, are spread evenly. */
struct sharing {
    uint32_t device, devices;
    bool deal;  /* whether this is the level that is dealt out */

    __host__ __device__ bool takes(uint32_t node, uint32_t parents_length) const
    {
        if (!deal)
            return parents_length != ELSEWHERE;
        return (node * 2654435761u >> 16) % devices == device;
    }
};

/* What a device found of a level's items: masks, numbers of children, slots, side by
   side. */
struct merge_job {
    level_view here;
    uint32_t items, devices;
    const uint32_t *words[DEVICES];  /* NULL for a device that found nothing */
};

/* A thread an item: takes over what was found by the device that counted it. */
template <int K> __global__ void merge_items(SYN_GPU_JOB merge_job job)
{
    uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= job.items)
        return;
    for (uint32_t d = 0; d < job.devices; d++) {
        const uint32_t *words = job.words[d];
        if (!words)
            continue;
        const uint32_t *children = words + (size_t) job.items * K;
        if (children[item] == 0)
            continue;
        for (int j = 0; j < K; j++)
            job.here.mask[(size_t) item * K + j] = words[(size_t) item * K + j];
        job.here.children[item] = children[item];
        job.here.slot[item] = children[job.items + item];
        return;
    }
}

}  // namespace gpu

#endif
