/* The greedy rule, run along a list of ends by the lanes of a warp, each for its own
   candidate. All that a chain remembers is the first event that is free. */
#ifndef SYN_GPU_STREAM_CHAINS_CUH
#define SYN_GPU_STREAM_CHAINS_CUH

#include "gpu/stream/types.cuh"

namespace gpu {
namespace live {

enum { GROUP = 8 };  /* ends whose rows are fetched at once */

struct chain {
    uint32_t hits, free;
};

/* A lane counts a candidate that stands in one column of the table. */
struct candidate {
    const uint16_t *column;
    bool real;  /* else the lane has none, and only takes part */
};

__device__ inline uint32_t lane_number()
{
    return threadIdx.x % WARP;
}

__device__ inline void step(chain *c, end e, uint32_t next)
{
    if (next > 0 && e.start >= c->free) {
        c->hits++;
        c->free = e.event + next + 1;
    }
}

/* The ends of places `at` + lane, as far as they are below `to`. */
__device__ inline end load_ends(const end_list &list, uint32_t at, uint32_t to)
{
    end none = {0, 0};
    return to - at > lane_number() ? list.at(at + lane_number()) : none;
}

/* A group of ends from number `j` of a warp's on, with what follows each in the lane's
   column. Beyond the last of `n` ends nothing follows. */
struct group {
    end ends[GROUP];
    uint32_t next[GROUP];

    __device__ void load(const ring_view &ring, const candidate &mine, end own,
                         uint32_t j, uint32_t n)
    {
        const uint32_t stride = ring.intervals * ring.units;
#pragma unroll
        for (uint32_t g = 0; g < GROUP; g++) {
            ends[g].event = __shfl_sync(WHOLE_WARP, own.event, j + g);
            ends[g].start = __shfl_sync(WHOLE_WARP, own.start, j + g);
            next[g] = 0;
            if (mine.real && j + g < n)
                next[g] = mine.column[(size_t) (ends[g].event & ring.mask) * stride];
        }
    }
};

/* Runs a chain along the places from `at` to before `to`. */
__device__ inline void run_chain(const ring_view &ring, const end_list &list, uint32_t at,
                                 uint32_t to, const candidate &mine, chain *c)
{
    for (; at != to; at += min(to - at, (uint32_t) WARP)) {
        end own = load_ends(list, at, to);
        uint32_t n = min(to - at, (uint32_t) WARP);
        for (uint32_t j = 0; j < n; j += GROUP) {
            group some;
            some.load(ring, mine, own, j, n);
#pragma unroll
            for (uint32_t g = 0; g < GROUP; g++)
                step(c, some.ends[g], some.next[g]);
        }
    }
}

/* Whether two chains are the same for whatever starts from `start` on. */
__device__ inline bool are_same(const chain &a, const chain &b, uint32_t start)
{
    return a.free == b.free || (a.free <= start && b.free <= start);
}

/* Runs two chains along the places from `at` to before `to`, until those of all lanes are
   the same for the rest of the list and for whatever starts from `open` on. Whether they
   came to that. */
__device__ inline bool run_until_met(const ring_view &ring, const end_list &list,
                                     uint32_t at, uint32_t to, uint32_t open,
                                     const candidate &mine, chain *a, chain *b)
{
    while (at != to) {
        end own = load_ends(list, at, to);
        uint32_t n = min(to - at, (uint32_t) WARP);
        for (uint32_t j = 0; j < n; j += GROUP) {
            group some;
            some.load(ring, mine, own, j, n);
#pragma unroll
            for (uint32_t g = 0; g < GROUP; g++) {
                step(a, some.ends[g], some.next[g]);
                step(b, some.ends[g], some.next[g]);
            }
            bool last = j + GROUP >= n;
            if (last && at + n == to)
                return false;
            uint32_t start = last ? list.at(at + n).start
                                  : __shfl_sync(WHOLE_WARP, own.start, j + GROUP);
            start = min(start, open);
            if (__all_sync(WHOLE_WARP, !mine.real || are_same(*a, *b, start)))
                return true;
        }
        at += n;
    }
    return false;
}

/* Tells the host the counts of a warp's candidates that it wants. */
__device__ inline void report(const report_view &to, bool wanted, uint32_t id,
                              uint32_t place, uint32_t count)
{
    const uint32_t lane = lane_number();
    uint32_t who = __ballot_sync(WHOLE_WARP, wanted), first = 0;
    if (who == 0)
        return;
    if (lane == 0)
        first = atomicAdd(to.n, (uint32_t) __popc(who));
    first = __shfl_sync(WHOLE_WARP, first, 0) + __popc(who & ((1u << lane) - 1));
    if (wanted && first < to.room)
        to.to[first] = {id, place, count};
}

}  // namespace live
}  // namespace gpu

#endif
