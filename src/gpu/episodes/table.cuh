/* What is made of a recording before the first level: windows and next occurrences. */
#ifndef SYN_GPU_EPISODES_TABLE_CUH
#define SYN_GPU_EPISODES_TABLE_CUH

#include <cstdint>

#include "core/base/seek.h"
#include "gpu/episodes/types.cuh"

namespace gpu {

/* First event after `e` whose lag is above `limit`; events->n when there is none. */
__device__ inline uint32_t first_beyond(const events_view &events, uint32_t e,
                                        int64_t limit)
{
    int64_t now = events.tick[e];
    uint32_t from = e + 1;
    SYN_SEEK_NEAR(uint32_t, at, from, events.n, events.tick[at] - now <= limit);
    return from;
}

/* ---- events by tick and by unit ---- */

/* A thread an event: its symbol, the first event on its tick, and its own number. */
__global__ void describe_events(uint32_t n, const int64_t *tick, const uint32_t *unit,
                                const uint16_t *symbol_of, uint16_t *symbol,
                                uint32_t *group, uint32_t *number)
{
    uint32_t e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    symbol[e] = symbol_of[unit[e]];
    number[e] = e;
    uint32_t step = 1, least = e;  /* on this tick */
    while (least >= step && tick[least - step] == tick[e]) {
        least -= step;
        step *= 2;
    }
    for (; step > 0; step /= 2)
        if (least >= step && tick[least - step] == tick[e])
            least -= step;
    group[e] = least;
}

/* The other way round: where each event is in `by_unit`. */
__global__ void find_rows(uint32_t n, const uint32_t *by_unit, uint32_t *row)
{
    uint32_t r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n)
        row[by_unit[r]] = r;
}

/* ---- windows ---- */

/* A thread an event, blockIdx.y an interval and perhaps further ones. */
template <class T>
__global__ void find_windows(events_view events, const int64_t *bounds,
                             uint32_t intervals, place<T> *places, header *head)
{
    uint32_t e = blockIdx.x * blockDim.x + threadIdx.x, reach = 0, widest = 0;
    for (uint32_t k = blockIdx.y; k < intervals && e < events.n; k += gridDim.y) {
        uint32_t open = first_beyond(events, e, bounds[2 * k]) - e;
        uint32_t shut = first_beyond(events, e, bounds[2 * k + 1]) - e;
        place<T> here = {e, (T) open, (T) shut};
        places[(size_t) k * events.n + events.row[e]] = here;
        reach = max(reach, shut - 1);
        widest = max(widest, shut - open);
    }
    reach = warp_greatest(reach);
    widest = warp_greatest(widest);
    if (threadIdx.x % WARP != 0)
        return;
    if (reach > *(volatile uint32_t *) &head->reach)
        atomicMax(&head->reach, reach);
    if (widest > *(volatile uint32_t *) &head->widest)
        atomicMax(&head->widest, widest);
}

/* The ends of single units: every event, its start the first event on its tick. `links`,
   which go with a table, may be NULL. */
__global__ void list_units(events_view events, uint2 *end, link *links)
{
    uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= events.n)
        return;
    uint32_t event = events.by_unit[row];
    end[row] = make_uint2(row, events.group[event]);
    if (!links)
        return;
    uint32_t next = row + 1 < events.n ? events.by_unit[row + 1] : NOTHING;
    bool same = next != NOTHING && events.symbol[next] == events.symbol[event];
    link here = {row, same ? next : NOTHING};
    links[event] = here;
}

enum { TABLE_SPAN = 128 };  /* events whose rows one warp makes */

/* A warp makes the rows of TABLE_SPAN events of column blockIdx.y, going back in time: an
   event that enters the window is the first of its symbol. */
template <int K, class T>
__global__ void make_table(events_view events, columns_view columns,
                           const place<uint16_t> *places, unsigned char *table)
{
    uint32_t lane = threadIdx.x % WARP, column = blockIdx.y;
    uint32_t begin = (blockIdx.x * blockDim.x + threadIdx.x) / WARP * TABLE_SPAN;
    constexpr uint32_t row_size = row_bytes<K, T>::row;
    unsigned char *rows = table + (size_t) column * (events.n + 1) * row_size +
                          lane * row_bytes<K, T>::lane;
    if (begin >= events.n)
        return;
    if (begin == 0)  /* what padding reads */
        store_pack<K, T>(rows + (size_t) events.n * row_size, {});
    places += (size_t) (column / columns.pages) * events.n;
    uint32_t page = column % columns.pages * columns.width;
    uint32_t mine = page + lane * K;
    bool spare = lane == WARP - 1;
    uint32_t end = min(begin + TABLE_SPAN, events.n);

    uint32_t next[K];
    for (int j = 0; j < K; j++)
        next[j] = NOTHING;
    uint32_t entered = end - 1 + places[events.row[end - 1]].shut;
    uint32_t top = entered;  /* lane l holds the symbol of event top - 1 - l */
    uint32_t held = top > lane ? events.symbol[top - 1 - lane] : NOTHING;
    for (uint32_t above = end, n; above > begin; above -= n) {
        n = min(above - begin, (uint32_t) WARP);
        uint32_t my_row = lane < n ? events.row[above - 1 - lane] : 0;
        place<uint16_t> my_place = places[my_row];
        for (uint32_t i = 0; i < n; i++) {
            uint32_t e = above - 1 - i;
            uint32_t row = __shfl_sync(ALL, my_row, i);
            uint32_t open = e + __shfl_sync(ALL, (uint32_t) my_place.open, i);
            uint32_t shut = e + __shfl_sync(ALL, (uint32_t) my_place.shut, i);
            while (entered > open) {
                if (top - entered == WARP) {
                    top = entered;
                    held = top > lane ? events.symbol[top - 1 - lane] : NOTHING;
                }
                uint32_t symbol = __shfl_sync(ALL, held, top - entered);
                entered--;
                for (int j = 0; j < K; j++)
                    if (symbol == mine + j)
                        next[j] = entered;
            }
            row_pack<K, T> packed = {};
            for (int j = 0; j < K; j++)
                packed.set(j, spare ? 1 : next[j] < shut ? (T) (next[j] - open + 1) : 0);
            store_pack<K, T>(rows + (size_t) row * row_size, packed);
        }
    }
}

}  // namespace gpu

#endif
