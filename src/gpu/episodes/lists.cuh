/* The lists of valid ends of a level's nodes. The ends of a child are among those of its
   suffix, and both these and the ends of its parent are in order: so its list is made by
   going through the two side by side. */
#ifndef SYN_GPU_EPISODES_LISTS_CUH
#define SYN_GPU_EPISODES_LISTS_CUH

#include <cstdint>

#include "core/base/seek.h"
#include "gpu/episodes/plan.cuh"
#include "gpu/episodes/share.cuh"
#include "gpu/episodes/types.cuh"

namespace gpu {

template <class T> struct list_job {
    events_view events;
    level_view here, next;    /* lists of `next` are made from those of `here` */
    uint32_t from, to;        /* these nodes of `next`, as far as they are there; `to` is
                                 one past the last */
    columns_view columns;
    sharing share;
    const place<T> *places;
    const uint2 *end;         /* lists of `here` */
    bool all_here;            /* all of them, and not those of some nodes */
    uint2 *made;
    unsigned long long room;  /* of `made` */
    uint32_t staged;          /* ends a warp can hold before it knows where they go */
    uint32_t processors;
    task_plan plan;
    const uint32_t *stop;     /* set by the host */
    header *head;             /* of `next` */

    __device__ uint32_t last() const { return min(to, *next.nodes); }
};

/* What the list of a child is made from: each end of its parent owns the events of its
   window that are in no later end's window. Those among them that can be ends of the
   child are the ends of its suffix; where that list is elsewhere, all events of its
   unit are tried. */
template <class T> struct list_source {
    const uint2 *end;         /* the parent's */
    uint32_t length;
    const place<T> *places;
    const uint32_t *by_unit;
    const uint2 *suffix;      /* its ends; NULL where they are elsewhere */
    uint32_t row, possible;   /* first of the unit; how many events can be ends */

    __device__ uint2 end_at(uint32_t i) const
    {
        return i < length ? end[i] : make_uint2(NOTHING, 0);
    }

    __device__ place<T> place_of(uint2 e) const
    {
        return e.x != NOTHING ? places[e.x] : place<T>{NOTHING, 0, 0};
    }

    __device__ uint32_t row_at(uint32_t i) const
    {
        return i >= possible ? NOTHING : suffix ? suffix[i].x : row + i;
    }

    __device__ uint32_t event_of(uint32_t r) const
    {
        return r != NOTHING ? by_unit[r] : NOTHING;
    }
};

/* The window of an end; one that opens never where there is no end. */
struct end_window {
    uint32_t open, shut, start;
};

/* The windows of a warp's 32 ends, and of the 32 after them. What comes next is fetched
   before it is needed. */
template <class T> struct window_batch {
    end_window now, next;
    uint2 end, later;
    place<T> where;

    static __device__ end_window window(uint2 e, place<T> p)
    {
        if (e.x == NOTHING)
            return {NOTHING, 0, 0};
        return {p.event + p.open, p.event + p.shut, e.y};
    }

    __device__ void begin(const list_source<T> &from, uint32_t at)
    {
        at += threadIdx.x % WARP;
        uint2 first = from.end_at(at), second = from.end_at(at + WARP);
        end = from.end_at(at + 2 * WARP);
        later = from.end_at(at + 3 * WARP);
        place<T> here = from.place_of(first), there = from.place_of(second);
        where = from.place_of(end);
        now = window(first, here);
        next = window(second, there);
    }

    /* To the ends from `at` on. */
    __device__ void advance(const list_source<T> &from, uint32_t at)
    {
        now = next;
        next = window(end, where);
        end = later;
        where = from.place_of(end);
        later = from.end_at(at + threadIdx.x % WARP + 3 * WARP);
    }
};

/* 32 events that can be ends, a lane each. */
template <class T> struct possible_batch {
    uint32_t row, event, next_row, next_event, later_row;

    __device__ void begin(const list_source<T> &from, uint32_t at)
    {
        at += threadIdx.x % WARP;
        row = from.row_at(at);
        next_row = from.row_at(at + WARP);
        later_row = from.row_at(at + 2 * WARP);
        event = from.event_of(row);
        next_event = from.event_of(next_row);
    }

    __device__ void advance(const list_source<T> &from, uint32_t at)
    {
        row = next_row;
        event = next_event;
        next_row = later_row;
        next_event = from.event_of(next_row);
        later_row = from.row_at(at + threadIdx.x % WARP + 2 * WARP);
    }
};

/* By one warp: the first of the possible ends that is not before `event`. */
template <class T>
__device__ uint32_t first_possible(const list_source<T> &from, uint32_t event)
{
    uint32_t low = 0, n = from.possible;
    while (n > 0) {
        uint32_t step = (n + WARP - 1) / WARP;
        uint32_t last = (threadIdx.x % WARP + 1) * step - 1;  /* of a 32nd */
        bool before = last < n && from.event_of(from.row_at(low + last)) < event;
        uint32_t passed = __popc(__ballot_sync(ALL, before)) * step;
        low += passed;
        n = min(n - passed, step - 1);
    }
    return low;
}

/* Makes what the ends begin .. end - 1 own. Writes to `out` what fits in `room`; returns
   how much there is. */
template <class T>
__device__ uint32_t merge_ends(const list_source<T> &from, uint32_t begin, uint32_t end,
                               uint2 *out, uint32_t room)
{
    const uint32_t lane = threadIdx.x % WARP, lower = (1u << lane) - 1;
    window_batch<T> windows;
    windows.begin(from, begin);
    uint32_t open = __shfl_sync(ALL, windows.now.open, 0);
    uint32_t next = begin > 0 ? first_possible(from, open) : 0, total = 0;
    possible_batch<T> mine;
    mine.begin(from, next);
    for (;;) {
        uint32_t limit = __shfl_sync(ALL, windows.next.open, 0), owner = 0;
#pragma unroll
        for (uint32_t step = WARP / 2; step > 0; step /= 2) {
            uint32_t later = __shfl_sync(ALL, windows.now.open, owner + step);
            owner += later <= mine.event ? step : 0;
        }
        uint32_t first = __shfl_sync(ALL, windows.now.open, owner);
        uint32_t shut = __shfl_sync(ALL, windows.now.shut, owner);
        uint32_t start = __shfl_sync(ALL, windows.now.start, owner);
        bool owned = first <= mine.event && mine.event < min(shut, limit) &&
                     begin + owner < end;
        uint32_t all = __ballot_sync(ALL, owned), spot = total + __popc(all & lower);
        if (owned && spot < room)
            out[spot] = make_uint2(mine.row, start);
        total += __popc(all);
        if (__any_sync(ALL, mine.event >= limit && mine.event != NOTHING)) {
            begin += WARP;
            if (begin >= end)
                return total;
            windows.advance(from, begin);
        } else {
            next += WARP;
            if (next >= from.possible)
                return total;
            mine.advance(from, next);
        }
    }
}

/* The same where the ends are few: a lane looks for what one of them owns. */
template <class T>
__device__ uint32_t search_ends(const list_source<T> &from, uint32_t begin, uint32_t end,
                                uint2 *out, uint32_t room)
{
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t total = 0, low = 0;
    window_batch<T> windows;
    windows.begin(from, begin);
    for (; begin < end; begin += WARP, windows.advance(from, begin)) {
        uint32_t limit = __shfl_down_sync(ALL, windows.now.open, 1);
        uint32_t across = __shfl_sync(ALL, windows.next.open, 0);
        uint32_t open = windows.now.open, n = 0, all;
        uint32_t shut = min(windows.now.shut, lane == WARP - 1 ? across : limit);
        if (begin + lane < end) {
            SYN_SEEK(uint32_t, at, low, from.possible,
                     from.event_of(from.row_at(at)) < open);
            while (from.event_of(from.row_at(low + n)) < shut)
                n++;
        }
        uint32_t spot = total + sum_below(n, &all);
        for (uint32_t i = 0; i < n; i++)
            if (spot + i < room)
                out[spot + i] = make_uint2(from.row_at(low + i), windows.now.start);
        total += all;
        low = __shfl_sync(ALL, low, min(end - begin, (uint32_t) WARP) - 1);
    }
    return total;
}

/* From so many possible ends for each of the parent's on it is faster to search. */
constexpr uint32_t SPARSE = 24;

template <class T>
__device__ __noinline__ uint32_t make_ends(const list_source<T> &from, uint32_t begin,
                                           uint32_t end, uint2 *out, uint32_t room)
{
    if (begin >= end)
        return 0;
    return from.possible / SPARSE > from.length
               ? search_ends(from, begin, end, out, room)
               : merge_ends(from, begin, end, out, room);
}

/* Whether the host wants this to end: it may be saying so now, and all threads of a
   block, which come here together, must hear the same. */
__device__ inline bool block_stops(const uint32_t *stop)
{
    return __syncthreads_or(*(volatile const uint32_t *) stop);
}

/* Whether this device makes the list of a child, and what from. The length of the others'
   is set by `first`, one of their threads. */
template <class T>
__device__ bool open_child(const list_job<T> &job, uint32_t child, bool first,
                           list_source<T> *from)
{
    if (child >= job.last())
        return false;
    uint32_t suffix = job.next.suffix[child], columns = job.columns.n;
    uint32_t parent = job.next.parent[child], step = job.next.step[child];
    bool here = job.share.takes(child, job.here.length[parent]);
    /* Nothing can follow an episode whose suffix nothing follows. */
    bool live = here && job.here.base[(suffix + 1) * columns] >
                            job.here.base[suffix * columns];
    if (!live && first)
        job.next.length[child] = here ? 0 : ELSEWHERE;
    uint32_t column = step / 256, page = column % job.columns.pages * job.columns.width;
    uint32_t symbol = page + step % 256;
    from->end = job.end + job.here.offset[parent];
    from->length = live ? job.here.length[parent] : 0;
    from->places = job.places + (size_t) (column / job.columns.pages) * job.events.n;
    from->by_unit = job.events.by_unit;
    from->suffix = job.all_here ? job.end + job.here.offset[suffix] : nullptr;
    from->row = job.events.row_begin[symbol];
    from->possible = job.all_here ? job.here.length[suffix]
                                  : job.events.row_end[symbol] - from->row;
    return live;
}

/* By one warp: the list of a child is made. */
template <class T>
__device__ void close_child(const list_job<T> &job, uint32_t child,
                            unsigned long long spot, uint32_t length, uint32_t segment)
{
    if (threadIdx.x % WARP == 0) {
        atomicAdd(&job.head->lists, 1);
        job.next.offset[child] = spot;
        job.next.length[child] = length;
    }
    size_t item = (size_t) job.next.suffix[child] * job.columns.n;
    plan_node(job.plan, child, length, job.here.mask + item * job.plan.words, segment);
}

enum { LIST_WARPS = 8 };  /* of a block */

/* Warps that make a list together: a warp's part of a list must fit in what it can stage,
   or it is gone through twice; few nodes need more warps each to fill the device. */
__device__ inline uint32_t warps_a_list(uint32_t mean, uint32_t processors,
                                        uint32_t lists)
{
    uint32_t warps = processors * 128 / max(lists, 1u);
    return mean >= 1024 || warps >= 16 ? 8 : mean >= 288 || warps >= 4 ? 4 : 1;
}

/* `team` warps of a block make the list of a child, each from its part of the parent's.
   Staged are the ends of this warp; the rest is the block's. */
template <class T>
__device__ void make_list(const list_job<T> &job, uint32_t child, uint32_t team,
                          uint32_t segment, uint2 *staged, uint32_t *totals,
                          unsigned long long *spots)
{
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t part = warp % team, leader = warp - part;
    list_source<T> from = {};
    bool live = open_child(job, child, part == 0 && lane == 0, &from);
    uint32_t size = (from.length + team - 1) / team;
    uint32_t begin = min(part * size, from.length), end = min(begin + size, from.length);
    uint32_t total = make_ends(from, begin, end, staged, job.staged);
    if (lane == 0)
        totals[warp] = total;
    if (team > 1)
        __syncthreads();
    else
        __syncwarp();
    uint32_t before = 0, all = 0;
    for (uint32_t w = 0; w < team; w++) {
        before += w < part ? totals[leader + w] : 0;
        all += totals[leader + w];
    }
    if (live && part == 0 && lane == 0)
        spots[leader] = atomicAdd(&job.head->list_ends, (unsigned long long) all);
    if (team > 1)
        __syncthreads();
    else
        __syncwarp();
    if (!live)
        return;
    if (part == 0)
        close_child(job, child, spots[leader], all, segment);
    if (spots[leader] + all > job.room)
        return;
    uint2 *out = job.made + spots[leader] + before;
    if (total <= job.staged) {
        for (uint32_t i = lane; i < total; i += WARP)
            out[i] = staged[i];
    } else {
        make_ends(from, begin, end, out, total);
    }
}

/* By all blocks, of LIST_WARPS each; `staging` is for the ends that these stage. */
template <class T> __device__ void make_all_lists(const list_job<T> &job, uint2 *staging)
{
    __shared__ uint32_t totals[LIST_WARPS];
    __shared__ unsigned long long spots[LIST_WARPS];
    const uint32_t warp = threadIdx.x / WARP, end = job.last();
    const uint32_t lists = end > job.from ? end - job.from : 0;
    const uint32_t team = warps_a_list(job.plan.mean_list(), job.processors, lists);
    const uint32_t segment = job.plan.segment(lists), each = LIST_WARPS / team;
    for (uint32_t first = blockIdx.x * each; first < lists; first += gridDim.x * each) {
        if (block_stops(job.stop))
            return;
        make_list(job, job.from + first + warp / team, team, segment,
                  staging + warp * job.staged, totals, spots);
    }
}

template <class T>
__global__ void __launch_bounds__(LIST_WARPS * WARP)
    make_lists(SYN_GPU_JOB list_job<T> job)
{
    extern __shared__ uint2 staging[];
    make_all_lists(job, staging);
}

}  // namespace gpu

#endif
