/* Roots of a recording: the items in their windows, their children, and their rows. */
#ifndef SYN_GPU_PATTERNS_ROOTS_CUH
#define SYN_GPU_PATTERNS_ROOTS_CUH

#include "gpu/patterns/types.cuh"

namespace gpu {

/* The rank, from `low` to before `end`, that window `e` belongs to. */
__device__ inline uint32_t rank_of_window(const pattern_job &job, uint32_t low,
                                          uint32_t end, uint32_t e)
{
    while (end - low > 1) {
        uint32_t middle = (low + end) / 2;
        if (job.first[middle] <= e)
            low = middle;
        else
            end = middle;
    }
    return low;
}

/* A thread a window of a unit. */
__global__ void set_pattern_bits(pattern_job job, uint32_t events, uint32_t *bits)
{
    uint32_t e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= events)
        return;
    uint32_t rank = rank_of_window(job, 0, job.units, e);
    uint32_t bin = job.bin[e];
    atomicOr(bits + (size_t) rank * job.words + bin / 32, 1u << bin % 32);
}

/* A warp a root and unit: in how many windows each of its items is. */
__global__ void count_pattern_items(pattern_job job, pattern_batch batch)
{
    uint32_t lane = threadIdx.x % WARP;
    uint64_t k = ((uint64_t) blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (k >= (uint64_t) batch.roots * job.units)
        return;
    uint32_t r = (uint32_t) (k / job.units), rank = (uint32_t) (k % job.units);
    uint32_t root = batch.first + r;
    uint32_t begin = job.first[root], n = job.first[root + 1] - begin;
    uint32_t *count = batch.count + (size_t) r * job.places;
    for (uint32_t from = 0; from < job.window; from += WARP) {
        uint32_t lags = job.window - from < WARP ? job.window - from : WARP, mine = 0;
        for (uint32_t i = 0; i < n; i += WARP) {
            uint32_t field = 0;
            if (i + lane < n)
                field = bins_from(job, rank, job.bin[begin + i + lane] + from);
            for (uint32_t l = 0; l < lags; l++) {
                uint32_t with = __ballot_sync(WHOLE_WARP, field >> l & 1);
                mine += l == lane ? __popc(with) : 0;
            }
        }
        if (lane < lags)
            count[place_of(job, rank, from + lane)] = mine;
    }
}

/* What a warp lists of a root, place after place. */
struct root_lists {
    const uint32_t *count;
    uint32_t *list;
    uint32_t windows, listed, full, last, barred, holds;
};

__device__ inline void list_root_places(const pattern_job &job, uint32_t root,
                                        root_lists *x)
{
    uint32_t lane = threadIdx.x % WARP;
    for (uint32_t from = 0; from < job.places; from += WARP) {
        uint32_t place = from + lane, n = place < job.places ? x->count[place] : 0;
        bool often = n >= job.min_count && place != root, all = n == x->windows;
        bool before = often && place < root, after = often && place > root;
        x->barred |= __ballot_sync(WHOLE_WARP, before);
        x->holds |= __ballot_sync(WHOLE_WARP, (job.barred && before && all) ||
                                                  (after && all && !job.closed));
        uint32_t joins = __ballot_sync(WHOLE_WARP, after && all && job.closed);
        uint32_t stays = __ballot_sync(WHOLE_WARP, after && !(all && job.closed));
        if (joins >> lane & 1) {
            uint32_t at = x->full + __popc(joins & lanes_below());
            x->list[job.places - 1 - at] = place;
        }
        if (stays >> lane & 1)
            x->list[x->listed + __popc(stays & lanes_below())] = place;
        if (joins)
            x->last = from + 31 - __clz(joins);
        x->full += __popc(joins);
        x->listed += __popc(stays);
    }
    __syncwarp();
}

/* Different units of the root's set. */
__device__ inline uint32_t root_units(const pattern_job &job, const root_lists &x,
                                      uint32_t root)
{
    uint32_t lane = threadIdx.x % WARP, units = 1;
    const uint32_t *full = x.list + job.places - 1;  /* backwards */
    for (uint32_t from = 0; from < x.full; from += WARP) {
        uint32_t k = from + lane;
        uint32_t rank = k < x.full ? job.rank[full[-(int64_t) k]] : root;
        bool is_new = rank != root;
        for (uint32_t j = 0; j < k && is_new; j++)
            is_new = job.rank[full[-(int64_t) j]] != rank;
        units += __popc(__ballot_sync(WHOLE_WARP, is_new));
    }
    return units;
}

/* Of the children listed, those before a place. */
__device__ inline uint32_t children_before(const uint32_t *list, uint32_t listed,
                                           uint32_t place)
{
    uint32_t low = 0, end = listed;
    while (low < end) {
        uint32_t middle = (low + end) / 2;
        if (list[middle] < place)
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

/* A warp a root: its set and its children. */
__global__ void list_pattern_items(pattern_job job, pattern_batch batch)
{
    uint32_t lane = threadIdx.x % WARP;
    uint32_t r = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (r >= batch.roots)
        return;
    uint32_t root = batch.first + r;
    pattern_root out = {};
    root_lists x = {batch.count + (size_t) r * job.places,
                    batch.list + (size_t) r * job.places,
                    job.first[root + 1] - job.first[root], 0, 0, root, 0, 0};
    if (x.windows >= job.min_count && !job.idle[root]) {
        list_root_places(job, root, &x);
        uint32_t size = 1 + x.full;
        bool nowhere = (job.closed && (x.holds || size > job.max_spikes)) ||
                       size + x.listed < job.min_spikes;
        out.state = nowhere ? ROOT_NONE
                            : x.listed == 0 || size >= job.max_spikes ? ROOT_LEAF
                                                                      : ROOT_BRANCH;
        out.listed = out.state == ROOT_BRANCH ? x.listed : 0;
        out.full = x.full;
        out.last = x.last;
        out.before = children_before(x.list, out.listed, x.last);
        out.units = root_units(job, x, root);
        out.hidden = job.maximal ? x.listed + x.barred > 0
                                 : !job.closed && job.barred && x.holds &&
                                       size < job.max_spikes;
        out.failed = size > PATTERN_PATH;
    }
    if (lane == 0) {
        batch.root[r] = out;
        atomicMax(batch.used + USED_LISTED, out.listed);
    }
}

/* Which root window `e` of a batch belongs to. */
__device__ inline uint32_t root_of_window(const pattern_job &job,
                                          const pattern_batch &batch, uint32_t e)
{
    return rank_of_window(job, batch.first, batch.first + batch.roots, e) - batch.first;
}

/* A thread a window and word of its row: for each of 32 units, whether it fires at lag 0,
   or in a strip. */
__global__ void fill_pattern_rows(pattern_job job, pattern_batch batch)
{
    uint32_t begin = job.first[batch.first];
    uint32_t windows = job.first[batch.first + batch.roots] - begin;
    uint64_t k = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t i = (uint32_t) (k % windows), word = (uint32_t) (k / windows);
    if (word >= job.row_words)
        return;
    uint32_t r = root_of_window(job, batch, begin + i);
    if (batch.root[r].state != ROOT_BRANCH)
        return;
    uint32_t bin = job.bin[begin + i], strip = word / job.unit_words, bits = 0;
    uint32_t from = word % job.unit_words * 32;
    for (uint32_t u = 0; u < 32 && from + u < job.units; u++) {
        uint32_t there = strip == 0 ? bins_from(job, from + u, bin) & 1
                                    : strip_of(job, from + u, bin, strip - 1);
        bits |= (there != 0) << u;
    }
    batch.row[(size_t) i * job.row_words + word] = bits;
}

}  // namespace gpu

#endif
