/* Patterns of a recording on a device: what its kernels share, and those that come before
   the search and after it.

   Units are numbered by their rank, rare ones first. A place says which item it is, in
   the order of the search: first those at lag 0 by rank, then the others by rank, then
   lag. A root is a unit at lag 0; its windows open at its bins. A child of a root is one
   more item; below it sets are searched in masks: a bit for each window of the child. */
#pragma once

#include "core/base/seek.h"
#include "core/patterns/engine.h"
#include "gpu/base/tree.cuh"

namespace gpu {

enum {
    PATTERN_PATH = 256,     /* items of the largest set that is searched here */
    PATTERN_NEAR = 1024,    /* words of shared memory that a warp gives out */
    PATTERN_BLOCKS = 5,     /* of a multiprocessor: fewer registers would spill more */
    PATTERN_CHUNK = 1 << 13 /* numbers that a warp takes from the pool at a time */
};

/* The recording, and what patterns must pass. */
struct pattern_job : syn_pattern_options {
    uint32_t units, places;
    uint32_t strip;         /* lags from 1 on that rows put together, at most 32 */
    uint32_t strips;        /* of a unit */
    uint32_t words;         /* of 32 bins */
    uint32_t unit_words;    /* (units + 31) / 32 */
    uint32_t row_words;     /* a bit for each unit at lag 0, and for each strip */
    int closed;             /* as in syn_node_rules */
    int barred, maximal;
    int narrow;             /* whether numbers found have 16 bits */
    uint32_t *bits;         /* [units][words] the bins of a unit, bit by bit */
    const uint32_t *first;  /* [units + 1] where the windows of a rank begin */
    const uint32_t *bin;    /* [events] where they open */
    const uint32_t *unit;   /* [units] of each rank */
    const uint32_t *rank;   /* [places] of the unit of an item */
    const uint8_t *idle;    /* [units] ranks that are the root of no pattern */
};

enum pattern_state { ROOT_NONE, ROOT_LEAF, ROOT_BRANCH };

/* A root's own set, and its children. */
struct pattern_root {
    uint32_t state;         /* a pattern_state */
    uint32_t listed;        /* its children, */
    uint32_t full;          /* and items in all its windows, which join its set */
    uint32_t last;          /* the largest place in that, */
    uint32_t before;        /* and how many of the children come before it */
    uint32_t units;         /* of it */
    uint32_t hidden;        /* whether it must not be kept */
    uint32_t failed;        /* whether the search had no room to end */
};

/* Where something was found: numbers begin up to end of the pool. What one stream has
   found comes before what the next one has. */
struct pattern_segment {
    uint32_t stream, root;  /* the root by its place in the batch */
    uint64_t begin, end;
};

/* Roots in hand: they follow each other. */
struct pattern_batch {
    uint32_t first, roots;
    uint32_t parts;              /* tasks of a root: a child each */
    uint32_t *count;             /* [roots][places] windows with the item */
    uint32_t *list;              /* [roots][places] children; those that join last */
    pattern_root *root;          /* [roots] */
    uint32_t *row;               /* [windows][row_words], root after root; a row is a
                                    window: see row_words */
    void *pool;                  /* [chunks][PATTERN_CHUNK] what was found */
    pattern_segment *segment;    /* [segments] */
    uint32_t *after;             /* [streams] which stream follows, or NO_PLACE: those of
                                    tasks come first, and none of them follows another */
    uint32_t chunks, segments, streams;
    uint32_t *used;              /* [USED] see below */
};

/* Counters of a batch. */
enum { USED_CHUNKS, USED_SEGMENTS, USED_STREAMS, USED_LARGEST, USED_OVERFLOW, USED_BUSY,
       USED_LISTED, USED };

__host__ __device__ inline uint32_t place_of(const pattern_job &job, uint32_t rank,
                                             uint32_t lag)
{
    return lag == 0 ? rank : job.units + rank * (job.window - 1) + lag - 1;
}

__host__ __device__ inline uint32_t lag_of(const pattern_job &job, uint32_t place,
                                           uint32_t rank)
{
    return place < job.units ? 0 : place - job.units - rank * (job.window - 1) + 1;
}

/* 32 bins of a unit from `bin` on. */
__device__ inline uint32_t bins_from(const pattern_job &job, uint32_t rank, uint32_t bin)
{
    const uint32_t *at = job.bits + (size_t) rank * job.words + bin / 32;
    return __funnelshift_r(at[0], at[1], bin % 32);
}

/* The lags of a strip. */
__device__ inline uint32_t strip_lags(const pattern_job &job, uint32_t strip)
{
    uint32_t left = job.window - 1 - strip * job.strip;
    return left < job.strip ? left : job.strip;
}

__device__ inline uint32_t low_bits(uint32_t n)
{
    return n >= 32 ? ~0u : (1u << n) - 1;
}

/* ---- roots: the items in their windows, their children, and their rows ---- */

/* The rank, from `low` to before `end`, that window `e` belongs to. */
__device__ inline uint32_t rank_of_window(const pattern_job &job, uint32_t low,
                                          uint32_t end, uint32_t e)
{
    low++;
    SYN_SEEK(uint32_t, at, low, end, job.first[at] <= e);
    return low - 1;
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
struct root_lists : pattern_root {
    const uint32_t *count;
    uint32_t *list;
    uint32_t windows, barred, holds;
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
        bool stays = after && !(all && job.closed);
        uint32_t to = place_for(stays, &x->listed);
        if (joins >> lane & 1) {
            uint32_t at = x->full + __popc(joins & lanes_below());
            x->list[job.places - 1 - at] = place;
        }
        if (stays)
            x->list[to] = place;
        if (joins)
            x->last = from + 31 - __clz(joins);
        x->full += __popc(joins);
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

/* A warp a root: its set and its children. */
__global__ void list_pattern_items(pattern_job job, pattern_batch batch)
{
    uint32_t lane = threadIdx.x % WARP;
    uint32_t r = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (r >= batch.roots)
        return;
    uint32_t root = batch.first + r;
    root_lists x = {};
    x.count = batch.count + (size_t) r * job.places;
    x.list = batch.list + (size_t) r * job.places;
    x.windows = job.first[root + 1] - job.first[root];
    x.last = root;
    if (x.windows >= job.min_count && !job.idle[root]) {
        list_root_places(job, root, &x);
        uint32_t size = 1 + x.full;
        bool nowhere = (job.closed && (x.holds || size > job.max_spikes)) ||
                       size + x.listed < job.min_spikes;
        x.state = nowhere ? ROOT_NONE
                          : x.listed == 0 || size >= job.max_spikes ? ROOT_LEAF
                                                                    : ROOT_BRANCH;
        x.units = root_units(job, x, root);
        x.hidden = job.maximal ? x.listed + x.barred > 0
                               : !job.closed && job.barred && x.holds &&
                                     size < job.max_spikes;
        x.failed = size > PATTERN_PATH;
        x.listed = x.state == ROOT_BRANCH ? x.listed : 0;
        SYN_SEEK(uint32_t, at, x.before, x.listed, x.list[at] < x.last);
    }
    if (lane == 0) {
        batch.root[r] = x;
        atomicMax(batch.used + USED_LISTED, x.listed);
    }
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
    uint32_t end = batch.first + batch.roots;
    uint32_t r = rank_of_window(job, batch.first, end, begin + i) - batch.first;
    if (batch.root[r].state != ROOT_BRANCH)
        return;
    uint32_t bin = job.bin[begin + i], strip = word / job.unit_words, bits = 0, lags = 1;
    uint32_t from = word % job.unit_words * 32;
    if (strip > 0) {
        bin += 1 + (strip - 1) * job.strip;
        lags = low_bits(strip_lags(job, strip - 1));
    }
    for (uint32_t u = 0; u < 32 && from + u < job.units; u++)
        bits |= (uint32_t) ((bins_from(job, from + u, bin) & lags) != 0) << u;
    batch.row[(size_t) i * job.row_words + word] = bits;
}

/* ---- what warps have found, in order: by size, then as the search goes ---- */

/* What was found, in its segments, and where it goes. */
struct pattern_found {
    const void *pool;
    const pattern_segment *segment;
    const uint32_t *order;      /* [segments] those of streams in their order */
    uint32_t segments;
    uint32_t least, sizes;      /* of the smallest, and how many sizes there are */
    const pattern_root *root;
    unsigned long long *count;  /* [sizes][segments] patterns; then how many are before */
    void *out;                  /* all patterns of a size, then those of the next: items,
                                   then how often */
    const uint64_t *begin;      /* [sizes] numbers before */
    const unsigned long long *first; /* [sizes] count[] before */
};

/* A thread a task: gives its stream, and those that follow, their places. */
__global__ void place_streams(const uint32_t *after, uint32_t tasks, uint64_t *place)
{
    uint32_t task = blockIdx.x * blockDim.x + threadIdx.x;
    if (task >= tasks)
        return;
    uint64_t n = (uint64_t) task << 32;
    for (uint32_t stream = task; stream != NO_PLACE; stream = after[stream])
        place[stream] = n++;
}

/* Keys and numbers of segments, to be sorted. */
__global__ void name_segments(const pattern_segment *segment, uint32_t n,
                              const uint64_t *place, uint64_t *key, uint32_t *number)
{
    uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    key[k] = place[segment[k].stream];
    number[k] = k;
}

/* Segments of a root that was given up count for nothing. */
__device__ inline pattern_segment segment_in_order(const pattern_found &f, uint32_t k)
{
    pattern_segment segment = f.segment[f.order[k]];
    if (f.root[segment.root].failed)
        segment.end = segment.begin;
    return segment;
}

/* A thread a segment. */
template <class NUMBER> __global__ void count_found(pattern_found f)
{
    uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= f.segments)
        return;
    pattern_segment s = segment_in_order(f, k);
    const NUMBER *pool = (const NUMBER *) f.pool;
    for (uint64_t at = s.begin; at < s.end; at += pool[at] + 2u)
        f.count[(size_t) (pool[at] - f.least) * f.segments + k]++;
}

/* A warp a segment. */
template <class NUMBER> __global__ void sort_found(pattern_found f)
{
    uint32_t lane = threadIdx.x % WARP;
    uint64_t k = ((uint64_t) blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (k >= f.segments)
        return;
    pattern_segment s = segment_in_order(f, (uint32_t) k);
    const NUMBER *pool = (const NUMBER *) f.pool;
    NUMBER *out = (NUMBER *) f.out;
    for (uint64_t at = s.begin; at < s.end;) {
        uint32_t size = pool[at], often = pool[at + 1], z = size - f.least;
        unsigned long long *next = f.count + (size_t) z * f.segments + k;
        unsigned long long to = *next - f.first[z];
        NUMBER *pattern = out + f.begin[z] + to * (size + 1);
        __syncwarp();
        for (uint32_t j = lane; j < size; j += WARP)
            pattern[j] = pool[at + 2 + j];
        if (lane == 0) {
            pattern[size] = (NUMBER) often;
            *next += 1;
        }
        __syncwarp();
        at += size + 2;
    }
}

}  // namespace gpu
