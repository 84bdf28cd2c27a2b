/* Levels one after the other in one launch: what the steps of a level are for large
   problems, each a kernel that the host starts, are here turns of blocks that wait for
   each other. Where a level takes about as long as an answer of the host, that is much
   faster. The host follows the levels as they come. */
#ifndef SYN_GPU_EPISODES_AHEAD_CUH
#define SYN_GPU_EPISODES_AHEAD_CUH

#include <cstdint>

#include "gpu/episodes/count.cuh"
#include "gpu/episodes/fill.cuh"
#include "gpu/episodes/lists.cuh"
#include "gpu/episodes/number.cuh"
#include "gpu/episodes/types.cuh"

namespace gpu {

/* Levels have memory by turns: the one that is made, two below it, and one that waits. */
constexpr size_t LEVELS = 4;

constexpr size_t HEADERS = 128;  /* of levels, by turns */

enum { AHEAD_WARPS = 8 };  /* of a block */

/* The steps of a level. */
template <class W> struct level_jobs {
    count_job count;
    number_job number;
    fill_job fill;
    list_job<W> lists;
};

template <class W> struct ahead_job {
    level_jobs<W> first;      /* of the size `from` */
    uint32_t from, to;        /* sizes of the levels to be made; all are of one launch */
    uint32_t max_size;
    level_view level[LEVELS];
    uint2 *ends[2];           /* lists of levels by turns, and how many ends fit */
    unsigned long long end_room[2];
    uint32_t *counts[2];      /* of what is found, by turns, and how many fit */
    uint32_t count_room[2];
    header *headers;
    uint32_t *meeting;        /* [2] blocks that have come, and twice the meetings there
                                 were: one more than that where the host said stop */
    header *seen;             /* page-locked, as are the next two: copies of `headers` */
    uint32_t *results;        /* the levels, one after the other */
    uint32_t *progress;       /* the last size that is here */
    uint32_t room;            /* words of `results` */
};

/* All blocks come here before one goes on. Returns whether the host wants them to end, of
   which all hear the same. */
__device__ inline bool meet_all_blocks(uint32_t *meeting, const uint32_t *stop)
{
    __shared__ bool stops;
    __syncthreads();
    if (threadIdx.x == 0) {
        volatile uint32_t *passed = meeting + 1;
        uint32_t before = *passed, after;
        __threadfence();
        if (atomicAdd(meeting, 1) == gridDim.x - 1) {
            after = before + 2 + (*(volatile const uint32_t *) stop != 0);
            *(volatile uint32_t *) meeting = 0;
            __threadfence();
            *passed = after;
        } else {
            do
                after = *passed;
            while (after == before);
        }
        __threadfence();
        stops = after % 2;
    }
    __syncthreads();
    return stops;
}

/* By one warp. */
__device__ inline void copy_view(level_view *to, const level_view &from)
{
    static_assert(sizeof(level_view) == WARP * sizeof(uint32_t), "a word a lane");
    ((uint32_t *) to)[threadIdx.x % WARP] =
        ((const uint32_t *) &from)[threadIdx.x % WARP];
}

/* What is another from level to level, by the first warp of a block. */
template <class W>
__device__ void set_jobs(const ahead_job<W> &job, uint32_t size, level_jobs<W> *jobs)
{
    const level_view &above = job.level[(size - 2) % LEVELS];
    const level_view &here = job.level[(size - 1) % LEVELS];
    const level_view &next = job.level[size % LEVELS];
    const uint32_t now = size % 2, below = now ^ 1;
    header *head = job.headers + (size - 1) % HEADERS;
    header *new_head = job.headers + size % HEADERS;
    copy_view(&jobs->count.above, above);
    copy_view(&jobs->count.here, here);
    copy_view(&jobs->number.here, here);
    copy_view(&jobs->number.next, next);
    copy_view(&jobs->fill.above, above);
    copy_view(&jobs->fill.here, here);
    copy_view(&jobs->fill.next, next);
    copy_view(&jobs->lists.here, here);
    copy_view(&jobs->lists.next, next);
    if (threadIdx.x > 0)
        return;
    jobs->count.end = jobs->lists.end = job.ends[below];
    jobs->count.end_room = jobs->number.end_room = job.end_room[below];
    jobs->count.counts = job.counts[now];
    jobs->count.count_room = jobs->number.count_room = job.count_room[now];
    jobs->count.head = jobs->number.head = head;
    jobs->number.new_head = jobs->fill.head = jobs->lists.head = new_head;
    jobs->number.next_room = jobs->lists.room = job.end_room[now];
    jobs->number.run = job.first.number.run + (size - job.from);
    jobs->fill.counts[0] = job.counts[now];
    jobs->lists.made = job.ends[now];
    jobs->lists.plan.before = head;
    jobs->lists.plan.head = new_head;
}

/* Writes the nodes of a level and the children of the one below to the host's memory. */
__device__ inline void deliver(const fill_job &job, uint32_t nodes, uint32_t parents,
                               uint32_t *to)
{
    uint32_t all = 5 * nodes + parents + 1;
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < all; i += gridDim.x * blockDim.x) {
        uint32_t array = i / max(nodes, 1u);
        to[i] = i < 5 * nodes
                    ? job.next.parent[(size_t) array * job.next.room + i - array * nodes]
                    : job.here.child[i - 5 * nodes];
    }
}

/* Tells the host that level `size` is there, by one thread. */
template <class W> __device__ void publish(const ahead_job<W> &job, uint32_t size)
{
    job.seen[(size - 1) % HEADERS] = job.headers[(size - 1) % HEADERS];
    __threadfence_system();
    *(volatile uint32_t *) job.progress = size;
}

/* All blocks are there at the same time. Their dynamic shared memory is for the ends that
   they count along, and for the lists that their warps stage. */
template <int K, class T, class W>
__global__ void __launch_bounds__(AHEAD_WARPS * WARP, 2)
    make_levels(SYN_GPU_JOB ahead_job<W> job)
{
    extern __shared__ uint4 shared_room[];
    __shared__ level_jobs<W> jobs;
    const uint32_t *stop = job.first.count.stop;
    end_ring *ring = (end_ring *) shared_room + threadIdx.x / WARP;
    for (uint32_t i = threadIdx.x; i < sizeof jobs / sizeof(uint32_t); i += blockDim.x)
        ((uint32_t *) &jobs)[i] = ((const uint32_t *) &job.first)[i];
    uint32_t used = 0;
    for (uint32_t size = job.from;; size++) {
        __syncthreads();
        if (threadIdx.x < WARP)
            set_jobs(job, size, &jobs);
        __syncthreads();
        count_tasks<K, T>(jobs.count, *ring);
        if (meet_all_blocks(job.meeting, stop))
            return;
        number_items(jobs.number);
        if (meet_all_blocks(job.meeting, stop))
            return;
        uint32_t nodes = __ldcg(jobs.number.next.nodes), words = 0;
        uint32_t parents = __ldcg(jobs.number.here.nodes);
        if (nodes > 0) {
            fill_items<K>(jobs.fill);
            if (meet_all_blocks(job.meeting, stop))
                return;
            words = 5 * nodes + parents + 1;
            bool fits = job.room - used >= words;
            if (fits)
                deliver(jobs.fill, nodes, parents, job.results + used);
            if (size < job.max_size)
                make_all_lists<T>(jobs.lists, (uint2 *) shared_room);
            if (fits)
                __threadfence_system();
            if (meet_all_blocks(job.meeting, stop))
                return;
        }
        if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
            publish(job, size);
        if (nodes == 0 || size == job.to || job.room - used < words)
            return;
        used += words;
    }
}

}  // namespace gpu

#endif
