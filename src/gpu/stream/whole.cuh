/* Episodes that are new to the window: their ends are listed, and candidates are counted
   along whole lists for the first time. */
#ifndef SYN_GPU_STREAM_WHOLE_CUH
#define SYN_GPU_STREAM_WHOLE_CUH

#include "gpu/stream/move.cuh"

namespace gpu {
namespace live {

enum {
    LIST_THREADS = 1024,
    SEARCHES = 4,       /* that a thread of these has under way */
    COUNT_WARPS = 16,   /* segments of a list that are counted at once, at the most */
    LEAST_SEGMENT = 96, /* ends of a segment, at least */
    LEAD = 64           /* ends before a segment that its first state is guessed from */
};

struct list_job {
    window_view window;
    const uint32_t *id;  /* [blocks] episodes of two or more events */
};

/* What comes before this thread in a block, of `mine`; `all` gets the sum. */
__device__ inline uint32_t block_sum_below(uint32_t mine, uint32_t *room, uint32_t *all)
{
    uint32_t of_warp, below = sum_below(mine, &of_warp), warp = threadIdx.x / WARP;
    if (threadIdx.x % WARP == 0)
        room[warp] = of_warp;
    __syncthreads();
    uint32_t sum = 0;
    for (uint32_t w = 0; w < blockDim.x / WARP; w++) {
        below += w < warp ? room[w] : 0;
        sum += room[w];
    }
    __syncthreads();
    *all = sum;
    return below;
}

/* The places after the last ends before some events, searched for side by side, as each
   step waits for memory. Widths are the same for all. */
__device__ inline void places_before(const end_list &list, const uint32_t *until,
                                     uint32_t *place)
{
    uint32_t width = 1, n = list.tail - list.front;
    while (width <= n / 2)
        width *= 2;
#pragma unroll
    for (uint32_t s = 0; s < SEARCHES; s++)
        place[s] = 0;
    for (; width > 0 && n > 0; width /= 2) {
#pragma unroll
        for (uint32_t s = 0; s < SEARCHES; s++)
            if (place[s] + width <= n &&
                list.at(list.front + place[s] + width - 1).event < until[s])
                place[s] += width;
    }
}

/* A block lists the ends of an episode anew. They lie at ends of its suffix: those that
   follow an end of its prefix. */
__global__ void __launch_bounds__(LIST_THREADS) list_episodes(SYN_GPU_JOB list_job job)
{
    __shared__ uint32_t room[LIST_THREADS / WARP];
    const ring_view &ring = job.window.ring;
    const kept_view &k = job.window.kept[job.id[blockIdx.x]];
    const end_list prefix = job.window.list[k.parent], suffix = job.window.list[k.suffix];
    const followed *follows = ring.follows + (size_t) k.interval * (ring.mask + 1);
    end_list *own = &job.window.list[k.list];
    uint32_t tail = 0;
    for (uint32_t at = suffix.front; at != suffix.tail;) {
        uint32_t n = min(suffix.tail - at, (uint32_t) (LIST_THREADS * SEARCHES));
        uint32_t until[SEARCHES], since[SEARCHES], place[SEARCHES], valid = 0, many = 0;
        end one[SEARCHES];
#pragma unroll
        for (uint32_t s = 0; s < SEARCHES; s++) {
            uint32_t i = threadIdx.x * SEARCHES + s;
            until[s] = since[s] = 0;
            if (i < n) {
                one[s] = suffix.at(at + i);
                followed reach = follows[one[s].event & ring.mask];
                since[s] = reach.since;
                until[s] = reach.until;
            }
        }
        places_before(prefix, until, place);
#pragma unroll
        for (uint32_t s = 0; s < SEARCHES; s++) {
            if (place[s] == 0)
                continue;
            end last = prefix.at(prefix.front + place[s] - 1);
            if (last.event < since[s])
                continue;
            one[s].start = last.start;
            valid |= 1u << s;
            many++;
        }
        uint32_t all, to = tail + block_sum_below(many, room, &all);
#pragma unroll
        for (uint32_t s = 0; s < SEARCHES; s++)
            if (valid >> s & 1)
                own->at(to++) = one[s];
        tail += all;
        at += n;
    }
    if (threadIdx.x == 0) {
        own->head = own->front = own->fresh = 0;
        own->tail = tail;
    }
}

/* Some candidates of an episode: those from `first` on, a lane each. */
struct count_task {
    uint32_t id, first;
};

struct count_job {
    window_view window;
    const count_task *task;  /* [blocks] */
};

/* What a segment of a list left: the state that it began in, and the chain at its end. */
struct segment {
    uint32_t entry[WARP], hits[WARP], free[WARP];
};

/* Adds up the segments, by one warp. One that began in another state than the one before
   it ended in is gone through again, from both, until they are the same. */
__device__ inline chain join_segments(const ring_view &ring, const end_list &list,
                                      const candidate &mine, const segment *done,
                                      uint32_t segments, uint32_t size, uint32_t open)
{
    const uint32_t lane = lane_number();
    chain sum = {done[0].hits[lane], done[0].free[lane]};
    for (uint32_t s = 1; s < segments && s * size < list.tail - list.front; s++) {
        uint32_t begin = list.front + s * size;
        uint32_t stop = begin + min(size, list.tail - begin);
        chain guess = {0, done[s].entry[lane]}, own = {0, sum.free};
        bool same =
            !mine.real || are_same(own, guess, min(list.at(begin).start, open));
        if (__all_sync(WHOLE_WARP, same)) {
            sum.hits += done[s].hits[lane];
            sum.free = done[s].free[lane];
        } else if (run_until_met(ring, list, begin, stop, open, mine, &own, &guess)) {
            sum.hits += done[s].hits[lane] + own.hits - guess.hits;
            sum.free = done[s].free[lane];
        } else {
            sum.hits += own.hits;
            sum.free = own.free;
        }
    }
    return sum;
}

/* A block counts the candidates of a task, and its warps a segment of the list each. */
__global__ void __launch_bounds__(COUNT_WARPS *WARP)
    count_candidates(SYN_GPU_JOB count_job job)
{
    __shared__ segment done[COUNT_WARPS];
    const uint32_t lane = lane_number(), s = threadIdx.x / WARP;
    const count_task task = job.task[blockIdx.x];
    const kept_view &k = job.window.kept[task.id];
    const ring_view &ring = job.window.ring;
    const end_list list = job.window.list[k.list];
    const uint32_t n = list.tail - list.front, place = task.first + lane;
    uint32_t segments = min(max(n / LEAST_SEGMENT, 1u), (uint32_t) COUNT_WARPS);
    uint32_t size = (n + segments - 1) / segments;
    candidate mine = {ring.next, place < k.n};
    if (mine.real)
        mine.column += k.slot[place];
    if (s < segments) {
        uint32_t begin = list.front + min(s * size, n);
        uint32_t stop = begin + min(size, list.tail - begin);
        chain c = {0, 0};
        uint32_t lead = min((uint32_t) LEAD, begin - list.front);
        run_chain(ring, list, begin - lead, begin, mine, &c);
        done[s].entry[lane] = c.free;
        c.hits = 0;
        run_chain(ring, list, begin, stop, mine, &c);
        done[s].hits[lane] = c.hits;
        done[s].free[lane] = c.free;
    }
    __syncthreads();
    if (s > 0)
        return;
    chain all = join_segments(ring, list, mine, done, segments, size,
                              open_start(list, job.window.open));
    if (mine.real) {
        k.count[place] = all.hits;
        k.free[place] = all.free;
    }
    report(job.window.report, mine.real && all.hits >= job.window.report.least, task.id,
           place, all.hits);
}

}  // namespace live
}  // namespace gpu

#endif
