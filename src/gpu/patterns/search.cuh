/* The search for patterns: warps take tasks, some children of a root each, and what is
   not done when a launch ends goes on in the next. */
#ifndef SYN_GPU_PATTERNS_SEARCH_CUH
#define SYN_GPU_PATTERNS_SEARCH_CUH

#include "gpu/patterns/children.cuh"

namespace gpu {

/* The queue, and where warps keep what they have under way. */
struct pattern_queue {
    unsigned long long *next;  /* task to be taken */
    pattern_warp *state;       /* [warps] */
    uint32_t *arena;           /* [warps][room] */
    uint32_t room;
    long long cycles;          /* a launch goes on for */
};

/* The set of the root at hand; its places begin the path. */
__device__ inline pattern_set root_set(const pattern_search &s)
{
    const pattern_root &root = s.batch.root[s.my->root];
    uint32_t rank = s.batch.first + s.my->root;
    uint32_t windows = s.job.first[rank + 1] - s.job.first[rank];
    return {1 + root.full, root.units, root.last, windows};
}

__device__ inline const uint32_t *root_list(const pattern_search &s)
{
    return s.batch.list + (size_t) s.my->root * s.job.places;
}

/* The first child after the root's own set. */
__device__ inline uint32_t children_before(const pattern_search &s,
                                           const pattern_root &root)
{
    const uint32_t *list = root_list(s);
    uint32_t low = 0, end = root.listed;
    while (low < end) {
        uint32_t middle = (low + end) / 2;
        if (list[middle] < root.last)
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

/* Sets out on a part of a root. The root's own set is kept by the part that has the first
   child after it, or else by the last one. */
__device__ inline void begin_task(const pattern_search &s, uint32_t r, uint32_t part)
{
    pattern_warp *my = s.my;
    const pattern_root root = s.batch.root[r];
    if (s.lane == 0)
        my->root = r;
    __syncwarp();
    const uint32_t *full = root_list(s) + s.job.places - 1;  /* backwards */
    for (uint32_t k = s.lane; k <= root.full; k += WARP)
        my->path[k] = k == 0 ? s.batch.first + r : full[-(int64_t) (k - 1)];
    if (s.lane == 0) {
        uint32_t begin = part * PATTERN_TOGETHER, end = begin + PATTERN_TOGETHER;
        uint32_t own = children_before(s, root);
        my->task = r * s.batch.parts + part;
        my->next = begin;
        my->end = end < root.listed ? end : root.listed;
        bool mine = (own >= begin && own < my->end) ||
                    (own == root.listed && my->end == root.listed);
        my->root_at = mine && !root.hidden ? own : NO_PLACE;
        my->deepest = NO_PLACE;
        my->top = {0, 0};
        my->segment = -1;
        my->busy = 1;
    }
    __syncwarp();
}

/* Takes the next task that is not empty; false when there are no more. Roots with most
   windows come first. */
__device__ inline bool take_task(const pattern_search &s, const pattern_queue &queue)
{
    const pattern_batch &batch = s.batch;
    for (;;) {
        unsigned long long t = 0;
        if (s.lane == 0)
            t = atomicAdd(queue.next, 1ull);
        t = __shfl_sync(WHOLE_WARP, t, 0);
        if (t >= (uint64_t) batch.roots * batch.parts)
            return false;
        uint32_t part = (uint32_t) (t % batch.parts);
        uint32_t r = batch.roots - 1 - (uint32_t) (t / batch.parts);
        const pattern_root &root = batch.root[r];
        bool there = root.state != ROOT_NONE &&
                     (part == 0 || part * PATTERN_TOGETHER < root.listed);
        /* Another warp may be giving the root up: all lanes must hear the same. */
        if (!there || __any_sync(WHOLE_WARP, root.failed))
            continue;
        begin_task(s, r, part);
        return true;
    }
}

/* One step of a task among the children of its root; after the last the task ends. */
__device__ inline void step_root(const pattern_search &s)
{
    pattern_warp *my = s.my;
    uint32_t next = my->next;
    pattern_set set = root_set(s);
    bool own = my->root_at == next;
    __syncwarp();
    if (own) {
        if (s.lane == 0)
            my->root_at = NO_PLACE;
        s.keep(set);
        return;
    }
    if (next >= my->end) {
        s.close_segment();
        if (s.lane == 0)
            my->busy = 0;
        __syncwarp();
        return;
    }
    if (s.lane == 0)
        my->next = next + 1;
    __syncwarp();
    root_child c = {};
    c.place = root_list(s)[next];
    c.rank = s.job.rank[c.place];
    c.lag = lag_of(s.job, c.place, c.rank);
    c.root = s.batch.first + my->root;
    uint32_t begin = s.job.first[c.root];
    c.bin = s.job.bin + begin;
    c.row = s.batch.row + (size_t) (begin - s.job.first[s.batch.first]) * s.job.row_words;
    c.windows = s.batch.count[(size_t) my->root * s.job.places + c.place];
    meet_child(s, set, c);
}

/* Ends the task where its root was given up, or all there is room for was found. */
__device__ inline void give_up(const pattern_search &s)
{
    bool lost = s.batch.root[s.my->root].failed || s.batch.used[USED_OVERFLOW];
    if (!__any_sync(WHOLE_WARP, lost))
        return;
    s.close_segment();
    if (s.lane == 0)
        s.my->busy = 0;
    __syncwarp();
}

__global__ void __launch_bounds__(PATTERN_WARPS *WARP)
    search_patterns(SYN_GPU_JOB pattern_job job, SYN_GPU_JOB pattern_batch batch,
                    pattern_queue queue)
{
    extern __shared__ uint64_t pattern_shared[];
    long long begun = clock64();
    uint32_t mine = threadIdx.x / WARP;
    size_t warp = (size_t) blockIdx.x * PATTERN_WARPS + mine;
    pattern_warp *my = (pattern_warp *) pattern_shared + mine;
    pattern_search s = {job, batch, my, queue.arena + warp * queue.room, queue.room,
                        threadIdx.x % WARP};
    uint32_t *now = (uint32_t *) my, *saved = (uint32_t *) (queue.state + warp);
    for (uint32_t w = s.lane; w < sizeof *my / 4; w += WARP)
        now[w] = saved[w];
    __syncwarp();
    bool more = true;
    for (uint32_t steps = 1; more; steps++) {
        if (!my->busy)
            more = take_task(s, queue);
        else if (my->deepest != NO_PLACE)
            step_masks(s);
        else
            step_root(s);
        if (steps % 16 == 0 && more) {
            if (my->busy)
                give_up(s);
            bool late = clock64() - begun > queue.cycles;
            if (__any_sync(WHOLE_WARP, late))
                break;
        }
    }
    if (s.lane == 0 && more)
        atomicAdd(batch.used + USED_BUSY, 1u);
    __syncwarp();
    for (uint32_t w = s.lane; w < sizeof *my / 4; w += WARP)
        saved[w] = now[w];
}

}  // namespace gpu

#endif
