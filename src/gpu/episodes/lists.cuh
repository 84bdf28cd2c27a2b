/* What is made of a recording before the first level, windows and next occurrences, and
   the lists of valid ends of the nodes of each level. */
#pragma once

#include "core/base/seek.h"
#include "gpu/episodes/types.cuh"

namespace gpu {

/* ---- windows and next occurrences ---- */

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
__global__ void find_windows(events_view events, const syn_interval *bounds,
                             uint32_t intervals, place<T> *places, header *head)
{
    uint32_t e = blockIdx.x * blockDim.x + threadIdx.x, reach = 0, widest = 0;
    for (uint32_t k = blockIdx.y; k < intervals && e < events.n; k += gridDim.y) {
        uint32_t open = first_beyond(events, e, bounds[k].low) - e;
        uint32_t shut = first_beyond(events, e, bounds[k].high) - e;
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
            uint32_t row = __shfl_sync(WHOLE_WARP, my_row, i);
            uint32_t open = e + __shfl_sync(WHOLE_WARP, (uint32_t) my_place.open, i);
            uint32_t shut = e + __shfl_sync(WHOLE_WARP, (uint32_t) my_place.shut, i);
            while (entered > open) {
                if (top - entered == WARP) {
                    top = entered;
                    held = top > lane ? events.symbol[top - 1 - lane] : NOTHING;
                }
                uint32_t symbol = __shfl_sync(WHOLE_WARP, held, top - entered);
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

/* ---- lists ---- */

enum { ABREAST = 4 };  /* ends a lane looks at side by side, to hide latency */

/* The list a child's is made from. Each end of it owns the events of its window that are
   in no later end's window. */
template <class T> struct source_list {
    const uint2 *end;
    uint32_t length;
    size_t column;           /* of the child's symbol in the table */
    const place<T> *places;
    uint32_t row_begin, row_end;  /* of the child's symbol */
};

/* The events of the child's symbol that an end owns: `n` from a row on. */
struct owned_rows {
    uint32_t row, start, n;
};

/* The windows of the ends i + a * WARP + lane, without what belongs to later ends; shut
   before they open where `end` is past the last. */
struct owned_windows {
    uint32_t row[ABREAST], start[ABREAST];  /* of the ends */
    uint32_t open[ABREAST + 1], shut[ABREAST];
};

template <class T>
__device__ __forceinline__ void find_owned_windows(const source_list<T> &from, uint32_t i,
                                                   uint32_t end, owned_windows *w)
{
    const uint32_t lane = threadIdx.x % WARP;
    uint2 e[ABREAST + 1];
#pragma unroll
    for (int a = 0; a <= ABREAST; a++) {
        uint32_t at = i + a * WARP + lane;
        bool used = at < from.length && (a < ABREAST || lane == 0);
        e[a] = used ? from.end[at] : make_uint2(NOTHING, 0);
    }
#pragma unroll
    for (int a = 0; a <= ABREAST; a++) {
        place<T> here = {NOTHING, 0, 0};
        if (e[a].x != NOTHING)
            here = from.places[e[a].x];
        w->open[a] = here.event == NOTHING ? NOTHING : here.event + here.open;
        if (a < ABREAST) {
            bool ours = i + a * WARP + lane < end;
            w->row[a] = e[a].x;
            w->start[a] = e[a].y;
            w->shut[a] = ours ? here.event + here.shut : 0;
        }
    }
    SYN_UNROLL(a, ABREAST) {
        uint32_t later = __shfl_down_sync(WHOLE_WARP, w->open[a], 1);
        uint32_t across = __shfl_sync(WHOLE_WARP, w->open[a + 1], 0);
        w->shut[a] = min(w->shut[a], lane == WARP - 1 ? across : later);
    }
}

/* The first event of the child's symbol in each window, as a row, and the next of its
   unit: from the table, or by search among the unit's events. NOTHING where there is
   none. */
template <class E, class T>
__device__ __forceinline__ void look_up_first(const level_job<T> &job,
                                              const source_list<T> &from,
                                              const owned_windows &w, link *found)
{
    SYN_UNROLL(a, ABREAST) {
        const E *at = (const E *) job.table + from.column +
                      (size_t) w.row[a] * job.stride;
        uint32_t next = w.shut[a] > 0 ? __ldg(at) : 0;
        uint32_t first = w.open[a] + next - 1;
        found[a] = {NOTHING, NOTHING};
        if (next != 0 && first < w.shut[a])
            found[a] = job.links[first];
    }
}

template <class T>
__device__ __forceinline__ void search_first(const level_job<T> &job,
                                             const source_list<T> &from,
                                             const owned_windows &w, link *found)
{
    uint32_t row[ABREAST], left = from.row_end - from.row_begin;
    SYN_UNROLL(a, ABREAST)
        row[a] = from.row_begin;
    for (; left > 1; left -= left / 2)
        SYN_UNROLL(a, ABREAST) {
            uint32_t at = row[a] + left / 2;
            row[a] = job.events.by_unit[at - 1] < w.open[a] ? at : row[a];
        }
    SYN_UNROLL(a, ABREAST) {
        row[a] += left > 0 && job.events.by_unit[row[a]] < w.open[a];
        found[a] = {NOTHING, NOTHING};
        if (row[a] >= from.row_end || job.events.by_unit[row[a]] >= w.shut[a])
            continue;
        found[a].row = row[a];
        if (row[a] + 1 < from.row_end)
            found[a].next = job.events.by_unit[row[a] + 1];
    }
}

/* What the ends i + a * WARP + lane own, those from `end` on nothing. E is the type of
   the entries of a table, and void where there is none. */
template <class E, class T>
__device__ void find_owned(const level_job<T> &job, const source_list<T> &from,
                           uint32_t i, uint32_t end, owned_rows *owned)
{
    owned_windows w;
    link found[ABREAST];
    find_owned_windows(from, i, end, &w);
    if constexpr (!std::is_void_v<E>)
        look_up_first<E>(job, from, w, found);
    else
        search_first(job, from, w, found);
    bool more = false;
    SYN_UNROLL(a, ABREAST) {
        bool any = found[a].row != NOTHING;
        owned[a].row = found[a].row;
        owned[a].start = w.start[a];
        owned[a].n = any + (any && found[a].next < w.shut[a]);
        more |= owned[a].n > 1;
    }
    /* Further events of the symbol: rare but in bursts, where all look side by side and
       some steps ahead. */
    constexpr int STEPS = 4;
    for (uint32_t n = 2; more; n += STEPS) {
        uint32_t event[ABREAST][STEPS];
        SYN_UNROLL(a, ABREAST) {
            SYN_UNROLL(i, STEPS) {
                uint32_t row = owned[a].row + n + i;
                bool asked = owned[a].n == n && row < from.row_end;
                event[a][i] = asked ? job.events.by_unit[row] : NOTHING;
            }
        }
        more = false;
        SYN_UNROLL(a, ABREAST) {
            uint32_t another = 0;
            SYN_UNROLL(i, STEPS)
                another += event[a][i] < w.shut[a];
            owned[a].n += another;
            more |= another == STEPS;
        }
    }
}

/* Where the lanes' owned rows go, from 0; how many there are. */
__device__ inline uint32_t place_owned(const owned_rows *owned, uint32_t *spot)
{
    const uint32_t lane = threadIdx.x % WARP, lower = (1u << lane) - 1;
    uint32_t total = 0;
    SYN_UNROLL(a, ABREAST) {
        uint32_t n = owned[a].n, some = __ballot_sync(WHOLE_WARP, n > 0);
        uint32_t before = __popc(some & lower), all = __popc(some);
        if (__any_sync(WHOLE_WARP, n > 1))
            before = sum_below(n, &all);
        spot[a] = total + before;
        total += all;
    }
    return total;
}

__device__ inline void write_owned(const owned_rows *owned, const uint32_t *spot,
                                   uint2 *out, uint32_t room)
{
    SYN_UNROLL(a, ABREAST)
        for (uint32_t j = 0; j < owned[a].n; j++)
            if (spot[a] + j < room)
                out[spot[a] + j] = make_uint2(owned[a].row + j, owned[a].start);
}

/* Makes what the ends begin .. end - 1 own. Writes to `out` what fits in `room`; returns
   how much there is. */
template <class E, class T>
__device__ uint32_t make_ends(const level_job<T> &job, const source_list<T> &from,
                              uint32_t begin, uint32_t end, uint2 *out, uint32_t room)
{
    uint32_t total = 0;
    for (uint32_t i = begin; i < end; i += ABREAST * WARP) {
        owned_rows owned[ABREAST];
        uint32_t spot[ABREAST];
        find_owned<E>(job, from, i, end, owned);
        uint32_t n = place_owned(owned, spot);
        write_owned(owned, spot, out + total, total < room ? room - total : 0);
        total += n;
    }
    return total;
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
__device__ bool open_child(const level_job<T> &job, uint32_t child, bool first,
                           source_list<T> *from)
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
    uint32_t symbol = step % 256, column = step / 256;
    uint32_t page = column % job.columns.pages * job.columns.width;
    from->end = job.end + job.here.offset[parent];
    from->length = live ? job.here.length[parent] : 0;
    from->column = (size_t) column * (job.events.n + 1) * job.stride + symbol;
    from->places = job.places + (size_t) (column / job.columns.pages) * job.events.n;
    from->row_begin = job.events.row_begin[page + symbol];
    from->row_end = job.events.row_end[page + symbol];
    return live;
}

/* By one warp: the list of a child is made. */
template <class T>
__device__ void close_child(const level_job<T> &job, uint32_t child,
                            unsigned long long spot, uint32_t length, uint32_t segment)
{
    if (threadIdx.x % WARP == 0) {
        atomicAdd(&job.new_head->lists, 1);
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
template <class E, class T>
__device__ void make_list(const level_job<T> &job, uint32_t child, uint32_t team,
                          uint32_t segment, uint2 *staged, uint32_t *totals,
                          unsigned long long *spots)
{
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t part = warp % team, leader = warp - part;
    source_list<T> from = {};
    bool live = open_child(job, child, part == 0 && lane == 0, &from);
    uint32_t size = (from.length + team - 1) / team;
    uint32_t begin = min(part * size, from.length), end = min(begin + size, from.length);
    uint32_t total = make_ends<E>(job, from, begin, end, staged, job.staged);
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
        spots[leader] = atomicAdd(&job.new_head->list_ends, (unsigned long long) all);
    if (team > 1)
        __syncthreads();
    else
        __syncwarp();
    if (!live)
        return;
    if (part == 0)
        close_child(job, child, spots[leader], all, segment);
    if (spots[leader] + all > job.next_room)
        return;
    uint2 *out = job.made + spots[leader] + before;
    if (total <= job.staged) {
        for (uint32_t i = lane; i < total; i += WARP)
            out[i] = staged[i];
    } else {
        make_ends<E>(job, from, begin, end, out, total);
    }
}

/* By all blocks, of LIST_WARPS each; `staging` is for the ends that these stage. */
template <class E, class T>
__device__ void make_all_lists(const level_job<T> &job, uint2 *staging)
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
        make_list<E>(job, job.from + first + warp / team, team, segment,
                     staging + warp * job.staged, totals, spots);
    }
}

template <class E, class T>
__global__ void __launch_bounds__(LIST_WARPS * WARP)
    make_lists(SYN_GPU_JOB level_job<T> job)
{
    extern __shared__ uint2 staging[];
    make_all_lists<E>(job, staging);
}

/* A block makes the list of a child, one tile of the parent's list after another. The
   list gets as much room as the child's unit has events, so that ends can be written as
   they are found. This is for long lists, which fill most of that room. */
enum { LONG_WARPS = 16 };

template <class E, class T>
__global__ void __launch_bounds__(LONG_WARPS * WARP, 2)
    make_long_lists(SYN_GPU_JOB level_job<T> job)
{
    __shared__ uint32_t totals[2][LONG_WARPS];
    __shared__ unsigned long long spot;
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t child = job.from + blockIdx.x, made = 0, side = 0;
    source_list<T> from = {};
    if (block_stops(job.stop) || !open_child(job, child, threadIdx.x == 0, &from))
        return;
    uint32_t most = from.row_end - from.row_begin;
    if (threadIdx.x == 0)
        spot = atomicAdd(&job.new_head->list_ends, (unsigned long long) most);
    __syncthreads();
    if (spot + most > job.next_room)
        return;
    uint2 *out = job.made + spot;
    constexpr uint32_t TILE = LONG_WARPS * ABREAST * WARP;
    for (uint32_t tile = 0; tile < from.length; tile += TILE, side ^= 1) {
        owned_rows owned[ABREAST];
        uint32_t place[ABREAST], before = made;
        find_owned<E>(job, from, tile + warp * ABREAST * WARP, from.length, owned);
        uint32_t n = place_owned(owned, place);
        if (lane == 0)
            totals[side][warp] = n;
        __syncthreads();
        for (uint32_t w = 0; w < LONG_WARPS; w++) {
            before += w < warp ? totals[side][w] : 0;
            made += totals[side][w];
        }
        write_owned(owned, place, out + before, before < most ? most - before : 0);
    }
    if (warp == 0)
        close_child(job, child, spot, made, job.plan.segment(job.last() - job.from));
}

}  // namespace gpu
