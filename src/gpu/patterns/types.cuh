/* Patterns of a recording on a device: what its kernels share.

   Units are numbered by their rank, rare ones first. A place says which item it is, in
   the order of the search: first those at lag 0 by rank, then the others by rank, then
   lag. A root is a unit at lag 0; its windows open at its bins. A child of a root is one
   more item; below it sets are searched in masks: a bit for each window of the child. */
#ifndef SYN_GPU_PATTERNS_TYPES_CUH
#define SYN_GPU_PATTERNS_TYPES_CUH

#include "gpu/base/warp.cuh"

#include <cstdint>

namespace gpu {

enum {
    PATTERN_PATH = 256,     /* items of the largest set that is searched here */
    PATTERN_NEAR = 1024,    /* words of shared memory that a warp gives out */
    PATTERN_WARPS = 4,      /* of a block */
    PATTERN_BLOCKS = 5,     /* of a multiprocessor: fewer registers would spill more */
    PATTERN_CHUNK = 1 << 13 /* numbers that a warp takes from the pool at a time */
};

constexpr uint32_t NO_PLACE = 0xffffffffu;

/* The recording, and what patterns must pass. */
struct pattern_job {
    uint32_t units, places;
    uint32_t window;        /* bins */
    uint32_t strip;         /* lags from 1 on that rows put together, at most 32 */
    uint32_t strips;        /* of a unit */
    uint32_t words;         /* of 32 bins */
    uint32_t unit_words;    /* (units + 31) / 32 */
    uint32_t row_words;     /* a bit for each unit at lag 0, and for each strip */
    uint32_t min_spikes, max_spikes, min_units, min_count, max_count;
    int closed;             /* as in syn_node_rules */
    int barred, maximal;
    int narrow;             /* whether numbers found have 16 bits */
    const uint32_t *bits;   /* [units][words] the bins of a unit, bit by bit */
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

/* A strip of a unit in the window that opens at `bin`. */
__device__ inline uint32_t strip_of(const pattern_job &job, uint32_t rank, uint32_t bin,
                                    uint32_t strip)
{
    return bins_from(job, rank, bin + 1 + strip * job.strip) &
           low_bits(strip_lags(job, strip));
}

}  // namespace gpu

#endif
