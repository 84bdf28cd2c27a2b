/* The search for maxima: warps take tasks, some children of a root each, and what is not
   done when a launch ends goes on in the next. */
#ifndef SYN_GPU_SPECTRUM_SEARCH_CUH
#define SYN_GPU_SPECTRUM_SEARCH_CUH

#include "gpu/spectrum/wide.cuh"

namespace gpu {

/* The queue, and where warps keep what they have under way. */
struct spectrum_queue {
    unsigned long long *next;  /* task to be taken */
    uint32_t *busy;            /* warps that have not seen its end */
    uint32_t parts;            /* tasks of a root */
    warp_state *state;         /* [warps] */
    uint32_t *arena;           /* [warps][room] */
    uint32_t room;
    long long cycles;          /* a launch goes on for */
};

/* The root {unit}, which has no windows of its own to be checked against others. */
__device__ inline void begin_root(const searcher &s, uint32_t root, uint32_t part)
{
    const spectrum_task &task = s.task;
    const spectrum_batch &batch = s.batch;
    warp_state *my = s.my;
    size_t k = (size_t) my->surrogate * task.units + root;
    uint32_t first = task.plan.trains.first[task.unit[root]];
    size_t event = (size_t) my->surrogate * task.events + first;
    wide_node node;
    node.row = batch.row + event * task.row_words;
    node.bin = batch.bin + event;
    node.item = batch.item + k * task.row_words * 32;
    node.count = batch.count + k * task.row_words * 32;
    node.windows = batch.windows[k];
    node.listed = batch.listed[k];
    node.words = (node.listed + 31) / 32;
    node.size = 1;
    node.units = s.add_unit(0, root << task.lag_bits);
    node.reach = node.listed + 1 < task.most ? node.listed + 1 : task.most;
    node.next = part * SPECTRUM_TOGETHER;
    node.end = node.next + SPECTRUM_TOGETHER;
    node.end = node.end < node.listed ? node.end : node.listed;
    node.mark = {0, 0};
    if (s.lane == 0) {
        my->wide[0] = node;
        my->wides = 1;
        my->mask_words = 0;
        my->top = {0, 0};
        my->duration = 0;
    }
    __syncwarp();
    if (part > 0)
        return;
    s.refresh();
    const uint32_t *bin = node.bin;
    s.visit(1, node.units, node.windows, [&] { return bin; });
}

/* Takes the next task that is not empty; false when there are no more. Roots with most
   windows come first. */
__device__ inline bool take_task(const searcher &s, const spectrum_queue &queue)
{
    const spectrum_task &task = s.task;
    uint64_t per_surrogate = (uint64_t) task.units * queue.parts;
    for (;;) {
        unsigned long long t = 0;
        if (s.lane == 0)
            t = atomicAdd(queue.next, 1ull);
        t = __shfl_sync(WHOLE_WARP, t, 0);
        uint32_t surrogate = (uint32_t) (t / per_surrogate);
        if (t >= per_surrogate * s.batch.n)
            return false;
        uint32_t left = (uint32_t) (t % per_surrogate), part = left % queue.parts;
        uint32_t root = task.units - 1 - left / queue.parts;
        size_t k = (size_t) surrogate * task.units + root;
        bool there = part == 0 ? s.batch.windows[k] >= task.min_count
                               : part * SPECTRUM_TOGETHER < s.batch.listed[k];
        /* Another warp may be giving the surrogate up: all lanes must hear the same. */
        if (!there || __any_sync(WHOLE_WARP, s.batch.failed[surrogate]))
            continue;
        __syncwarp();
        if (s.lane == 0)
            s.my->surrogate = surrogate;
        __syncwarp();
        begin_root(s, root, part);
        return true;
    }
}

__global__ void __launch_bounds__(SPECTRUM_WARPS *WARP, SPECTRUM_BLOCKS)
    search_maxima(SYN_GPU_JOB spectrum_task task,
                  SYN_GPU_JOB spectrum_batch batch, spectrum_queue queue)
{
    extern __shared__ uint64_t spectrum_shared[];
    long long begun = clock64();
    uint32_t mine = threadIdx.x / WARP;
    size_t warp = (size_t) blockIdx.x * SPECTRUM_WARPS + mine;
    warp_state *my = (warp_state *) spectrum_shared + mine;
    searcher s = {task, batch, my, queue.arena + warp * queue.room, queue.room,
                  threadIdx.x % WARP};
    copy_words(my, queue.state + warp);
    __syncwarp();
    bool more = true;
    while (more) {
        if (my->mask_words > 0)
            search_masks(s);
        else if (my->wides > 0)
            step_wide(s);
        else
            more = take_task(s, queue);
        bool late = clock64() - begun > queue.cycles;
        if (__any_sync(WHOLE_WARP, late))
            break;
    }
    if (s.lane == 0 && more)
        atomicAdd(queue.busy, 1u);
    __syncwarp();
    copy_words(queue.state + warp, my);
}

}  // namespace gpu

#endif
