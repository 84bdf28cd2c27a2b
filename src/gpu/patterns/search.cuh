/* The search for patterns: warps take tasks, some children of a root each, and what is
   not done when a launch ends goes on in the next. */
#ifndef SYN_GPU_PATTERNS_SEARCH_CUH
#define SYN_GPU_PATTERNS_SEARCH_CUH

#include "gpu/patterns/share.cuh"

namespace gpu {

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

/* Sets out on children of a root: its set begins the path. */
__device__ inline void begin_root(const pattern_search &s, uint32_t r, uint32_t next,
                                  uint32_t end, uint32_t root_at, uint32_t stream)
{
    pattern_warp *my = s.my;
    const pattern_root root = s.batch.root[r];
    if (s.lane == 0) {
        my->root = r;
        my->next = next;
        my->end = end;
        my->root_at = root_at;
        my->stream = stream;
        my->segment = NO_PLACE;
        my->deepest = NO_PLACE;
        my->top = {0, 0};
        my->busy = 1;
    }
    __syncwarp();
    const uint32_t *full = root_list(s) + s.job.places - 1;  /* backwards */
    for (uint32_t k = s.lane; k <= root.full; k += WARP)
        my->path[k] = k == 0 ? s.batch.first + r : full[-(int64_t) (k - 1)];
    __syncwarp();
}

/* Sets out on a part of a root: one of its children. The root's own set is kept by the
   part that has the first child after it, or else by the last one. */
__device__ inline void begin_task(const pattern_search &s, uint32_t r, uint32_t part)
{
    const pattern_root root = s.batch.root[r];
    uint32_t own = root.before, end = part < root.listed ? part + 1 : part;
    bool mine = own == part || (own == root.listed && end == root.listed);
    begin_root(s, r, part, end, mine && !root.hidden ? own : NO_PLACE,
               r * s.batch.parts + part);
}

/* Takes the next task that is not empty; false when there are no more. Roots with most
   windows come first. */
__device__ inline bool take_task(const pattern_search &s, const pattern_queue &queue)
{
    const pattern_batch &batch = s.batch;
    for (;;) {
        unsigned long long t = *(const volatile unsigned long long *) queue.next;
        if (s.lane == 0 && t < tasks_of(batch))
            t = atomicAdd(queue.next, 1ull);
        t = __shfl_sync(WHOLE_WARP, t, 0);
        if (t >= tasks_of(batch))
            return false;
        uint32_t part = (uint32_t) (t % batch.parts);
        uint32_t r = batch.roots - 1 - (uint32_t) (t / batch.parts);
        const pattern_root &root = batch.root[r];
        bool there = root.state != ROOT_NONE &&
                     (part == 0 || part < root.listed);
        /* Another warp may be giving the root up: all lanes must hear the same. */
        if (!there || __any_sync(WHOLE_WARP, root.failed))
            continue;
        begin_task(s, r, part);
        return true;
    }
}

/* The task is done. */
__device__ inline void end_task(const pattern_search &s, const pattern_queue &queue)
{
    s.close_segment();
    if (s.lane == 0) {
        s.my->busy = 0;
        __threadfence();
        atomicSub(queue.active, 1u);
    }
    __syncwarp();
}

/* Meets a child of the root, by its place in the list. */
__device__ inline void visit_child(const pattern_search &s, const pattern_set &set,
                                   uint32_t index)
{
    root_child c = {};
    uint32_t root = s.batch.first + s.my->root, begin = s.job.first[root];
    c.place = root_list(s)[index];
    c.rank = s.job.rank[c.place];
    c.lag = lag_of(s.job, c.place, c.rank);
    c.bin = s.job.bin + begin;
    c.row = s.batch.row + (size_t) (begin - s.job.first[s.batch.first]) * s.job.row_words;
    c.windows = s.batch.count[(size_t) s.my->root * s.job.places + c.place];
    meet_child(s, set, c);
}

/* One step of a task among the children of its root; after the last the task ends. */
__device__ inline void step_root(const pattern_search &s, const pattern_queue &queue)
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
        end_task(s, queue);
        return;
    }
    if (s.lane == 0)
        my->next = next + 1;
    __syncwarp();
    visit_child(s, set, next);
}

/* Takes a piece of what others have given away. */
__device__ inline bool take_share(const pattern_search &s, const pattern_queue &queue)
{
    pattern_share share;
    uint32_t piece, *copied;
    if (!take_piece(s, queue, &share, &piece, &copied))
        return false;
    uint32_t from = share.from + piece * share.step, until = from + share.step;
    until = until < share.until ? until : share.until;
    begin_root(s, share.root, 0, 0, NO_PLACE, share.stream + piece);
    take_node(s, lent_by(queue, share.giver), from, until, copied);
    return true;
}

/* Takes whatever there is to do, or waits a little; `more` is false when there will be
   nothing more. */
__device__ inline void take_work(const pattern_search &s, const pattern_queue &queue,
                                 bool *more)
{
    if (take_task(s, queue) || take_share(s, queue)) {
        if (s.lane == 0)
            atomicAdd(queue.active, 1u);
        __syncwarp();
        return;
    }
    /* Who ends too early leaves nothing undone: the last one to have a task goes on until
       there is no more to take. */
    bool end = look_at(queue.active) == 0;
    __threadfence();
    end = end && look_at(queue.first) >= shares_end(queue);
    end = end || look_at(s.batch.used + USED_OVERFLOW);
    *more = !__any_sync(WHOLE_WARP, end);
    __nanosleep(2000);
}

/* Ends the task where its root was given up, or all there is room for was found. */
__device__ inline bool give_up(const pattern_search &s, const pattern_queue &queue)
{
    bool lost = s.batch.root[s.my->root].failed || look_at(s.batch.used + USED_OVERFLOW);
    if (!__any_sync(WHOLE_WARP, lost))
        return false;
    end_task(s, queue);
    return true;
}

__global__ void __launch_bounds__(PATTERN_WARPS *WARP, PATTERN_BLOCKS)
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
    copy_words(my, queue.state + warp);
    __syncwarp();
    bool more = true;
    for (uint32_t steps = 1; more; steps++) {
        bool busy = my->busy, deeper = my->deepest != NO_PLACE;
        __syncwarp();
        if (!busy)
            take_work(s, queue, &more);
        else if (deeper)
            step_masks(s);
        else
            step_root(s, queue);
        if (steps % 4 == 0 && more) {
            busy = my->busy;
            __syncwarp();
            if (busy && !give_up(s, queue) && others_wait(s, queue))
                give_some(s, queue);
            bool late = clock64() - begun > queue.cycles;
            if (__any_sync(WHOLE_WARP, late))
                break;
        }
    }
    if (s.lane == 0 && more)
        atomicAdd(batch.used + USED_BUSY, 1u);
    __syncwarp();
    copy_words(queue.state + warp, my);
}

}  // namespace gpu

#endif
