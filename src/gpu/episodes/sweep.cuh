/* Counting without a table of next occurrences: a warp goes through the events that the
   ends of a list own, whatever their symbols. This takes as long as there are events in
   the windows, and no memory: for many units, of which few fire within a window. */
#pragma once

#include "gpu/episodes/count.cuh"

namespace gpu {

/* Symbols that a warp counts at a time, of some pages: their tallies fit what a block has
   of shared memory on every device. */
constexpr uint32_t MOST_SWEPT = 6000;

/* What is kept of a symbol, as in `tally`. */
struct swept {
    uint32_t busy, hits;
};

/* The ends that a warp has at hand, one a lane: the events open .. open + n - 1 that it
   owns, and how many the lanes before own. */
struct owner {
    uint32_t start, open, n, before;
};

/* The window of an end; nothing for a lane without one. */
template <class T> __device__ inline uint2 window_of(const place<T> *places, uint2 end)
{
    if (end.x == NOTHING)
        return make_uint2(NOTHING, NOTHING);
    place<T> here = places[end.x];
    return make_uint2(here.event + here.open, here.event + here.shut);
}

/* Scores the lanes' events, which come in time order: of those that have one symbol, the
   first whose start is free. */
__device__ inline void score_events(swept *tallies, uint32_t symbol, bool counts,
                                    uint32_t start, uint32_t event)
{
    const uint32_t lane = threadIdx.x % WARP;
    bool scores = counts && start >= tallies[symbol].busy;
    while (uint32_t all = __ballot_sync(WHOLE_WARP, scores)) {
        __syncwarp();  /* all have looked before one writes */
        uint32_t same = __match_any_sync(WHOLE_WARP, scores ? symbol : NOTHING - lane);
        if (scores && lane == __ffs(same) - 1) {
            tallies[symbol].busy = event + 1;
            tallies[symbol].hits++;
            scores = false;
        }
        __syncwarp();
        if (__popc(all) > 1)
            scores = scores && start >= tallies[symbol].busy;
    }
}

/* Goes through what 32 ends own, 32 events at a time. */
__device__ inline void sweep_owned(const events_view &events, const owner &mine,
                                   uint32_t total, uint32_t first, uint32_t symbols,
                                   swept *tallies)
{
    for (uint32_t base = 0; base < total; base += WARP) {
        uint32_t at = base + threadIdx.x % WARP, from = 0;
        for (uint32_t step = WARP / 2; step > 0; step /= 2)
            from += __shfl_sync(WHOLE_WARP, mine.before, from + step) <= at ? step : 0;
        uint32_t open = __shfl_sync(WHOLE_WARP, mine.open, from);
        uint32_t before = __shfl_sync(WHOLE_WARP, mine.before, from);
        uint32_t start = __shfl_sync(WHOLE_WARP, mine.start, from);
        uint32_t event = open + at - before, symbol = symbols;
        if (at < total)
            symbol = events.symbol[event] - first;
        score_events(tallies, symbol < symbols ? symbol : 0, symbol < symbols, start,
                     event);
        __syncwarp();
    }
}

/* All ends of a list. The next ones are fetched before they are needed. */
template <class T>
__device__ void sweep_list(const level_job<T> &job, const place<T> *places,
                           const uint2 *ends, uint32_t length, uint32_t first,
                           uint32_t symbols, swept *tallies)
{
    const uint32_t lane = threadIdx.x % WARP;
    auto end_at = [&](uint32_t i) {
        return i < length ? ends[i] : make_uint2(NOTHING, 0);
    };
    uint2 end = end_at(lane), window = window_of(places, end);
    for (uint32_t i = 0; i < length; i += WARP) {
        uint2 next = end_at(i + WARP + lane), later = window_of(places, next);
        uint32_t after = __shfl_down_sync(WHOLE_WARP, window.x, 1);
        uint32_t across = __shfl_sync(WHOLE_WARP, later.x, 0), total;
        uint32_t shut = min(window.y, lane == WARP - 1 ? across : after);
        owner mine = {end.y, window.x, shut > window.x ? shut - window.x : 0, 0};
        mine.before = sum_below(mine.n, &total);
        sweep_owned(job.events, mine, total, first, symbols, tallies);
        end = next;
        window = later;
    }
}

template <int K, class T>
__device__ void sweep_task(const level_job<T> &count, uint32_t some_pages,
                           const task &what, swept *tallies)
{
    const uint32_t lane = threadIdx.x % WARP, width = count.columns.width;
    uint32_t node = what.item / count.columns.n;
    uint32_t column = what.item - node * count.columns.n;
    uint32_t page = column % count.columns.pages;
    uint32_t pages = min(some_pages, count.columns.pages - page), symbols = pages * width;
    size_t mirror = (size_t) count.here.suffix[node] * count.columns.n + column;
    const uint32_t *masks = count.above.mask + mirror * K;
    for (uint32_t s = lane; s < symbols; s += WARP)
        tallies[s] = {0, 0};
    __syncwarp();
    sweep_list<T>(count, count.places + (size_t) (column / count.columns.pages) *
                             count.events.n,
                  count.end + count.here.offset[node], count.here.length[node],
                  page * width, symbols, tallies);
    for (uint32_t p = 0; p < pages; p++) {
        uint32_t wanted[K], hits[K], any = 0;
        SYN_UNROLL(j, K) {
            wanted[j] = masks[p * K + j];
            any |= wanted[j];
            uint32_t symbol = lane * K + j;
            hits[j] = symbol < width ? tallies[p * width + symbol].hits : 0;
        }
        if (any)
            keep_found<K>(count, what.item + p, wanted, hits);
    }
    __syncwarp();
}

/* A block is a warp. It takes tasks from the common pile until that is empty; a task is
   to count `pages` from its item's on. */
template <int K, class T>
__global__ void __launch_bounds__(WARP)
    sweep_children(SYN_GPU_JOB level_job<T> count, uint32_t pages)
{
    extern __shared__ uint2 tallies[];
    const uint32_t tasks = count.head->tasks;
    if (count.head->list_ends > count.end_room)
        return;
    for (;;) {
        uint32_t next = tasks;
        if (threadIdx.x == 0 && !*(volatile const uint32_t *) count.stop)
            next = atomicAdd(&count.head->taken, 1);
        next = __shfl_sync(WHOLE_WARP, next, 0);
        if (next >= tasks)
            return;
        sweep_task<K, T>(count, pages, count.tasks[next], (swept *) tallies);
    }
}

}  // namespace gpu
