/* The next level's nodes, and their lists of valid ends. */
#ifndef SYN_GPU_EPISODES_LISTS_CUH
#define SYN_GPU_EPISODES_LISTS_CUH

#include <cstdint>

#include "gpu/episodes/share.cuh"
#include "gpu/episodes/types.cuh"

namespace gpu {

enum {
    FILL_WARPS = 8,  /* of a block */
    ABREAST = 4      /* ends a lane looks at side by side, to hide latency */
};

struct fill_job {
    level_view above, here, next;  /* `next` is filled with the children of `here` */
    columns_view columns;
    const uint32_t *unit;
    const uint32_t *counts[DEVICES];
    sharing share;
    header *head;  /* of `next` */
};

struct tally_of_candidates {
    unsigned long long all, own;
};

/* Nothing follows a new node yet. */
__device__ inline void clear_node(const level_view &level, uint32_t node,
                                  uint32_t columns, int width)
{
    for (uint32_t i = node * columns; i < (node + 1) * columns; i++) {
        level.children[i] = 0;
        for (int j = 0; j < width; j++)
            level.mask[(size_t) i * width + j] = 0;
    }
}

/* Children in order of (parent, column, symbol), as `base` numbers them. A child's
   suffix is the child of its parent's suffix that the same step leads to. */
template <int K>
__device__ void fill_item(const fill_job &job, uint32_t item, tally_of_candidates *sum)
{
    const uint32_t lane = threadIdx.x % WARP, n = job.columns.n;
    uint32_t node = item / n, column = item - node * n;
    uint32_t interval = column / job.columns.pages;
    uint32_t page = column % job.columns.pages * job.columns.width;
    uint32_t there = job.here.suffix[node] * n + column;
    const uint32_t *mask = job.here.mask + (size_t) item * K;
    const uint32_t *mirror = job.above.mask + (size_t) there * K;
    uint32_t rank = rank_of_lane<K>(mask);
    uint32_t id = job.here.base[item] + rank, slot = job.here.slot[item];
    const uint32_t *counts = job.counts[slot >> SLOT_BITS] + rank;
    uint32_t suffix = job.above.base[there] + rank_of_lane<K>(mirror);
    uint32_t length = job.here.length[node];
    slot &= (1u << SLOT_BITS) - 1;
    for (int j = 0; j < K; j++) {
        if (mask[j] >> lane & 1) {
            job.next.parent[id] = node;
            job.next.suffix[id] = suffix;
            job.next.unit[id] = job.unit[page + lane * K + j];
            job.next.interval[id] = interval;
            job.next.step[id] = lane * K + j + column * 256;
            job.next.count[id] = counts[slot++];
            uint32_t candidates = job.here.base[(suffix + 1) * n] -
                                  job.here.base[suffix * n];
            clear_node(job.next, id, n, K);
            sum->all += candidates;
            sum->own += job.share.takes(id, length) ? candidates : 0;
            id++;
        }
        suffix += mirror[j] >> lane & 1;
    }
}

template <int K>
__global__ void __launch_bounds__(FILL_WARPS *WARP)
    fill_level(SYN_GPU_JOB fill_job job)
{
    __shared__ tally_of_candidates sum;
    const uint32_t lane = threadIdx.x % WARP, columns = job.columns.n;
    uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    uint32_t warps = gridDim.x * FILL_WARPS;
    uint32_t items = *job.next.nodes > 0 ? *job.here.nodes * columns : 0;
    uint32_t group = min(items / warps + 1, (uint32_t) WARP);  /* seen together */
    if (threadIdx.x == 0)
        sum = {0, 0};
    __syncthreads();
    tally_of_candidates mine = {0, 0};
    for (uint32_t first = warp * group; first < items; first += warps * group) {
        uint32_t item = first + lane;
        bool any = item < items && lane < group && job.here.children[item] > 0;
        for (uint32_t left = __ballot_sync(ALL, any); left; left &= left - 1)
            fill_item<K>(job, first + __ffs(left) - 1, &mine);
    }
    if (mine.all)
        atomicAdd(&sum.all, mine.all);
    if (mine.own)
        atomicAdd(&sum.own, mine.own);
    __syncthreads();
    if (threadIdx.x == 0 && sum.all) {
        atomicAdd(&job.head->candidates, sum.all);
        atomicAdd(&job.head->own, sum.own);
    }
}

/* A list is counted along by several warps when it is longer than the work would be if
   all were equal, but not when it is shorter than LEAST_SEGMENT ends. */
constexpr unsigned long long LEAST_SEGMENT = 256, MOST_SEGMENT = 4096;

/* Where the tasks of counting along a level's lists go. */
struct task_plan {
    task *tasks;          /* room for one an item and one a segment */
    columns_view columns;
    uint32_t pages;       /* of an interval that one task counts: 1 with a table */
    uint32_t words;       /* of an item's mask */
    uint32_t warps;       /* that count at a time; 0 where lists are not cut */
    uint32_t room;        /* segments */
    uint32_t mean;        /* ends of a list, about, unless lists were made `before` */
    const header *before;
    header *head;

    /* Ends of the lists that the next ones are made from, on average. */
    __device__ uint32_t mean_list() const
    {
        return before && before->lists > 0
                   ? (uint32_t) (before->list_ends / before->lists) : mean;
    }

    /* Ends of a segment. */
    __device__ uint32_t segment(uint32_t nodes) const
    {
        if (warps == 0)
            return 1u << 31;
        unsigned long long work = (unsigned long long) mean_list() * nodes * columns.n;
        return (uint32_t) min(max(work / warps, LEAST_SEGMENT), MOST_SEGMENT);
    }
};

/* By one warp, for a node with a list: a task for each column with candidates, or for
   some pages, or several where the list is long. `masks` is that of the node's suffix. */
__device__ inline void plan_node(const task_plan &plan, uint32_t node, uint32_t length,
                                 const uint32_t *masks, uint32_t segment)
{
    const uint32_t lane = threadIdx.x % WARP, columns = plan.columns.n;
    const uint32_t pages = plan.columns.pages, runs = (pages - 1) / plan.pages + 1;
    for (uint32_t begin = 0; begin < columns / pages * runs; begin += WARP) {
        uint32_t run = begin + lane, first = 0, n = 0;
        uint32_t column = run / runs * pages + run % runs * plan.pages;
        if (column < columns && length > 0) {
            uint32_t any = 0, some = min(plan.pages, pages - column % pages);
            for (uint32_t j = 0; j < some * plan.words; j++)
                any |= masks[(size_t) column * plan.words + j];
            n = any ? max((length + segment / 2) / segment, 1) : 0;
        }
        /* Where there is no room left, nobody asks: so the counter stays near it. */
        bool room = n > 1 && *(volatile uint32_t *) &plan.head->segments < plan.room;
        n = room ? n : min(n, 1);
        if (n > 1) {
            first = atomicAdd(&plan.head->segments, n);
            n = first + n <= plan.room ? n : 1;
        }
        uint32_t sum = n;
        for (int step = 1; step < WARP; step *= 2) {
            uint32_t below = __shfl_up_sync(ALL, sum, step);
            sum += lane >= step ? below : 0;
        }
        uint32_t at = 0;
        if (lane == WARP - 1 && sum > 0)
            at = atomicAdd(&plan.head->tasks, sum);
        at = __shfl_sync(ALL, at, WARP - 1) + sum - n;
        for (uint32_t s = 0; s < n; s++)
            plan.tasks[at + s] = {node * columns + column, s, n, first};
    }
}

/* For the units, a warp each. */
__global__ void plan_units(level_view above, level_view here, task_plan plan)
{
    uint32_t node = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (node < here.n && here.length[node] != ELSEWHERE)
        plan_node(plan, node, here.length[node], above.mask, plan.segment(here.n));
}

template <class T> struct list_job {
    events_view events;
    level_view here, next;    /* lists of `next` are made from those of `here` */
    uint32_t from, to;        /* these nodes of `next`, as far as they are there; `to` is
                                 one past the last */
    columns_view columns;
    sharing share;
    const place<T> *places;
    const link *links;        /* NULL without a table */
    const uint16_t *table;    /* NULL where there is none */
    uint32_t stride;          /* symbols of a row of the table */
    const uint2 *end;         /* lists of `here` */
    uint2 *made;
    unsigned long long room;  /* of `made` */
    uint32_t staged;          /* ends a warp can hold before it knows where they go */
    uint32_t processors;
    task_plan plan;
    const uint32_t *stop;     /* set by the host */
    header *head;             /* of `next` */

    __device__ uint32_t last() const { return min(to, *next.nodes); }
};

/* The list a child's is made from. Each end of it owns the events of its window that are
   in no later end's window. */
template <class T> struct source_list {
    const uint2 *end;
    uint32_t length;
    const uint16_t *column;  /* of the child's symbol in the table */
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
    uint32_t event[ABREAST], open[ABREAST + 1], shut[ABREAST];
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
            w->event[a] = here.event;
            w->shut[a] = ours ? here.event + here.shut : 0;
        }
    }
#pragma unroll
    for (int a = 0; a < ABREAST; a++) {
        uint32_t later = __shfl_down_sync(ALL, w->open[a], 1);
        uint32_t across = __shfl_sync(ALL, w->open[a + 1], 0);
        w->shut[a] = min(w->shut[a], lane == WARP - 1 ? across : later);
    }
}

/* The first event of the child's symbol in each window, as a row, and the next of its
   unit: from the table, or by search among the unit's events. NOTHING where there is
   none. */
template <class T>
__device__ __forceinline__ void look_up_first(const list_job<T> &job,
                                              const source_list<T> &from,
                                              const owned_windows &w, link *found)
{
#pragma unroll
    for (int a = 0; a < ABREAST; a++) {
        uint32_t next = w.shut[a] > 0 ? from.column[(size_t) w.row[a] * job.stride] : 0;
        uint32_t first = w.event[a] + next - 1;
        found[a] = {NOTHING, NOTHING};
        if (next != 0 && first < w.shut[a])
            found[a] = job.links[first];
    }
}

template <class T>
__device__ __forceinline__ void search_first(const list_job<T> &job,
                                             const source_list<T> &from,
                                             const owned_windows &w, link *found)
{
    uint32_t row[ABREAST], left = from.row_end - from.row_begin;
#pragma unroll
    for (int a = 0; a < ABREAST; a++)
        row[a] = from.row_begin;
    for (; left > 1; left -= left / 2)
#pragma unroll
        for (int a = 0; a < ABREAST; a++) {
            uint32_t at = row[a] + left / 2;
            row[a] = job.events.by_unit[at - 1] < w.open[a] ? at : row[a];
        }
#pragma unroll
    for (int a = 0; a < ABREAST; a++) {
        row[a] += left > 0 && job.events.by_unit[row[a]] < w.open[a];
        found[a] = {NOTHING, NOTHING};
        if (row[a] >= from.row_end || job.events.by_unit[row[a]] >= w.shut[a])
            continue;
        found[a].row = row[a];
        if (row[a] + 1 < from.row_end)
            found[a].next = job.events.by_unit[row[a] + 1];
    }
}

/* What the ends i + a * WARP + lane own, those from `end` on nothing. */
template <bool TABLE, class T>
__device__ void find_owned(const list_job<T> &job, const source_list<T> &from, uint32_t i,
                           uint32_t end, owned_rows *owned)
{
    owned_windows w;
    link found[ABREAST];
    find_owned_windows(from, i, end, &w);
    if (TABLE)
        look_up_first(job, from, w, found);
    else
        search_first(job, from, w, found);
    bool more = false;
#pragma unroll
    for (int a = 0; a < ABREAST; a++) {
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
#pragma unroll
        for (int a = 0; a < ABREAST; a++) {
#pragma unroll
            for (int i = 0; i < STEPS; i++) {
                uint32_t row = owned[a].row + n + i;
                bool asked = owned[a].n == n && row < from.row_end;
                event[a][i] = asked ? job.events.by_unit[row] : NOTHING;
            }
        }
        more = false;
#pragma unroll
        for (int a = 0; a < ABREAST; a++) {
            uint32_t another = 0;
#pragma unroll
            for (int i = 0; i < STEPS; i++)
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
#pragma unroll
    for (int a = 0; a < ABREAST; a++) {
        uint32_t n = owned[a].n, some = __ballot_sync(ALL, n > 0);
        uint32_t before = __popc(some & lower), all = __popc(some);
        if (__any_sync(ALL, n > 1)) {
            uint32_t sum = n;
            for (int step = 1; step < WARP; step *= 2) {
                uint32_t below = __shfl_up_sync(ALL, sum, step);
                sum += lane >= step ? below : 0;
            }
            before = sum - n;
            all = __shfl_sync(ALL, sum, WARP - 1);
        }
        spot[a] = total + before;
        total += all;
    }
    return total;
}

__device__ inline void write_owned(const owned_rows *owned, const uint32_t *spot,
                                   uint2 *out, uint32_t room)
{
#pragma unroll
    for (int a = 0; a < ABREAST; a++)
        for (uint32_t j = 0; j < owned[a].n; j++)
            if (spot[a] + j < room)
                out[spot[a] + j] = make_uint2(owned[a].row + j, owned[a].start);
}

/* Makes what the ends begin .. end - 1 own. Writes to `out` what fits in `room`; returns
   how much there is. */
template <bool TABLE, class T>
__device__ uint32_t make_ends(const list_job<T> &job, const source_list<T> &from,
                              uint32_t begin, uint32_t end, uint2 *out, uint32_t room)
{
    uint32_t total = 0;
    for (uint32_t i = begin; i < end; i += ABREAST * WARP) {
        owned_rows owned[ABREAST];
        uint32_t spot[ABREAST];
        find_owned<TABLE>(job, from, i, end, owned);
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
__device__ bool open_child(const list_job<T> &job, uint32_t child, bool first,
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
    from->column = job.table + (size_t) column * (job.events.n + 1) * job.stride + symbol;
    from->places = job.places + (size_t) (column / job.columns.pages) * job.events.n;
    from->row_begin = job.events.row_begin[page + symbol];
    from->row_end = job.events.row_end[page + symbol];
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
template <bool TABLE, class T>
__device__ void make_list(const list_job<T> &job, uint32_t child, uint32_t team,
                          uint32_t segment, uint2 *staged, uint32_t *totals,
                          unsigned long long *spots)
{
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t part = warp % team, leader = warp - part;
    source_list<T> from = {};
    bool live = open_child(job, child, part == 0 && lane == 0, &from);
    uint32_t size = (from.length + team - 1) / team;
    uint32_t begin = min(part * size, from.length), end = min(begin + size, from.length);
    uint32_t total = make_ends<TABLE>(job, from, begin, end, staged, job.staged);
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
        make_ends<TABLE>(job, from, begin, end, out, total);
    }
}

/* The block's dynamic shared memory is what its warps stage. */
template <bool TABLE, class T>
__global__ void __launch_bounds__(LIST_WARPS * WARP)
    make_lists(SYN_GPU_JOB list_job<T> job)
{
    extern __shared__ uint2 staging[];
    __shared__ uint32_t totals[LIST_WARPS];
    __shared__ unsigned long long spots[LIST_WARPS];
    const uint32_t warp = threadIdx.x / WARP, end = job.last();
    const uint32_t lists = end > job.from ? end - job.from : 0;
    const uint32_t team = warps_a_list(job.plan.mean_list(), job.processors, lists);
    const uint32_t segment = job.plan.segment(lists), each = LIST_WARPS / team;
    for (uint32_t first = blockIdx.x * each; first < lists; first += gridDim.x * each) {
        if (block_stops(job.stop))
            return;
        make_list<TABLE>(job, job.from + first + warp / team, team, segment,
                         staging + warp * job.staged, totals, spots);
    }
}

/* A block makes the list of a child, one tile of the parent's list after another. The
   list gets as much room as the child's unit has events, so that ends can be written as
   they are found. This is for long lists, which fill most of that room. */
enum { LONG_WARPS = 16 };

template <bool TABLE, class T>
__global__ void __launch_bounds__(LONG_WARPS * WARP, 2)
    make_long_lists(SYN_GPU_JOB list_job<T> job)
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
        spot = atomicAdd(&job.head->list_ends, (unsigned long long) most);
    __syncthreads();
    if (spot + most > job.room)
        return;
    uint2 *out = job.made + spot;
    constexpr uint32_t TILE = LONG_WARPS * ABREAST * WARP;
    for (uint32_t tile = 0; tile < from.length; tile += TILE, side ^= 1) {
        owned_rows owned[ABREAST];
        uint32_t place[ABREAST], before = made;
        find_owned<TABLE>(job, from, tile + warp * ABREAST * WARP, from.length, owned);
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

#endif
