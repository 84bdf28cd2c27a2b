/* The search for maxima: warps take tasks, some children of a root each, and what is not
   done when a launch ends goes on in the next. Children of roots are taken by their
   number of windows, by a kernel for each length of masks: a multiprocessor waits longer
   for instructions than for anything else when its warps are all over a large kernel. */
#ifndef SYN_GPU_SPECTRUM_SEARCH_CUH
#define SYN_GPU_SPECTRUM_SEARCH_CUH

#include "gpu/spectrum/wide.cuh"

namespace gpu {

/* The queue, and where warps keep what they have under way. */
struct spectrum_queue {
    unsigned long long *next;  /* task to be taken */
    uint32_t *busy;            /* warps that have not seen its end */
    const unsigned long long *first;  /* [units + 1] the first task of roots, those of the
                                         highest rank before the others; of a root,
                                         each surrogate has as many */
    warp_state *state;         /* [warps] */
    uint32_t *arena;           /* [warps][room] */
    uint32_t room;
    long long cycles;          /* a launch goes on for */
};

/* The root {unit}, which has no windows of its own to be checked against others, is met
   once. */
__device__ inline void begin_root(const searcher &s, uint32_t root, uint32_t part,
                                  bool met)
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
    if (!met)
        return;
    s.refresh();
    const uint32_t *bin = node.bin;
    s.visit(1, node.units, node.windows, [&] { return bin; });
}

/* Whether a part of a root has anything for the search with such masks. The root itself
   goes with those that have too many windows for masks. */
template <int WORDS>
__device__ inline bool has_task(const searcher &s, size_t k, uint32_t part)
{
    const spectrum_task &task = s.task;
    uint32_t j = part * SPECTRUM_TOGETHER + s.lane;
    bool mine = s.lane < SPECTRUM_TOGETHER && j < s.batch.listed[k] &&
                is_for<WORDS>(s.batch.count[k * task.row_words * 32 + j]);
    bool itself = WORDS == 0 && part == 0 &&
                  s.batch.windows[k] >= task.min_count;
    return __any_sync(WHOLE_WARP, mine || itself);
}

/* Takes the next task that is not empty; false when there are no more. Roots with most
   windows come first, so that all warps end at about the same time. */
template <int WORDS>
__device__ inline bool take_task(const searcher &s, const spectrum_queue &queue)
{
    const spectrum_task &task = s.task;
    uint32_t place = s.my->place;
    for (;;) {
        unsigned long long t = 0;
        if (s.lane == 0)
            t = atomicAdd(queue.next, 1ull);
        t = __shfl_sync(WHOLE_WARP, t, 0);
        if (t >= queue.first[task.units])
            return false;
        while (t >= queue.first[place + 1])
            place++;
        uint64_t within = t - queue.first[place];
        uint32_t parts = (uint32_t) (queue.first[place + 1] - queue.first[place]) /
                         s.batch.n;
        uint32_t surrogate = (uint32_t) (within / parts), root = task.units - 1 - place;
        uint32_t part = (uint32_t) (within % parts);
        size_t k = (size_t) surrogate * task.units + root;
        /* Another warp may be giving the surrogate up: all lanes must hear the same. */
        if (!has_task<WORDS>(s, k, part) ||
            __any_sync(WHOLE_WARP, s.batch.failed[surrogate]))
            continue;
        __syncwarp();
        if (s.lane == 0) {
            s.my->surrogate = surrogate;
            s.my->place = place;
        }
        __syncwarp();
        begin_root(s, root, part, WORDS == 0 && part == 0);
        return true;
    }
}

template <int WORDS>
__global__ void __launch_bounds__(SPECTRUM_WARPS *WARP,
                                  WORDS == 0 ? SPECTRUM_BLOCKS : MASK_BLOCKS)
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
            search_masks<WORDS>(s);
        else if (my->wides > 0)
            step_wide<WORDS>(s);
        else
            more = take_task<WORDS>(s, queue);
        bool late = clock64() - begun > queue.cycles;
        if (__any_sync(WHOLE_WARP, late))
            break;
    }
    __syncwarp();
    if (s.lane == 0) {
        if (more)
            atomicAdd(queue.busy, 1u);
        else
            my->place = 0;
    }
    __syncwarp();
    copy_words(queue.state + warp, my);
}

/* What is found in many windows bounds the others, so it comes first. */
using search_kernel = void (*)(spectrum_task, spectrum_batch, spectrum_queue);
constexpr search_kernel SEARCHES[] = {search_maxima<0>, search_maxima<MASK_WORDS>,
                                      search_maxima<2>, search_maxima<1>};

}  // namespace gpu

#endif
