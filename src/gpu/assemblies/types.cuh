/* What kernels that find peaks work on. */
#ifndef SYN_GPU_ASSEMBLIES_TYPES_CUH
#define SYN_GPU_ASSEMBLIES_TYPES_CUH

#ifndef SYN_EVERYWHERE
#define SYN_EVERYWHERE static __host__ __device__ inline
#endif

#include "gpu/base/warp.cuh"

#include <cmath>
#include <cstdint>
#include <cstring>

extern "C" {
#include "core/assemblies/excess.h"
#include "core/assemblies/source.h"
}

namespace gpu {

enum {
    PEAK_THREADS = 256,   /* of a block, which works on one pair at a time */
    PEAK_WARPS = PEAK_THREADS / WARP,
    LEAST_LISTED = 2048   /* windows that a block has room for, at least */
};

/* An item is a pair of units in one of several surrogates, or in the recording:
   item = surrogate * pairs + pair. Pointers are to the device. */
struct peak_job {
    syn_ladder ladder;
    uint32_t word[SYN_LADDER_RUNGS + 1];  /* where the marks of a rung's windows begin, a
                                             bit a window, 32 a word */
    uint32_t listed;           /* windows that a block has room for: all of a rung fit */
    int32_t least;             /* z of a peak, in parts of SYN_PEAK_SCALE */
    uint32_t units, pairs;
    const double *clumps;      /* [rungs * units] */
    const double *common;      /* [places] or NULL: nothing is common to pairs */
    const double *spread;      /* [places] or NULL */
    /* surrogates */
    uint32_t segments;
    uint32_t parts;            /* a segment's spikes of the first unit are taken in so
                                  many parts, each by a warp */
    const uint32_t *n, *first, *bin;  /* as in syn_binned */
    const uint32_t *shift;     /* [surrogates][units][segments] bins */
    /* the recording */
    const uint32_t *train;     /* [units + 1] where the spikes of a unit begin */
    const int64_t *tick;       /* [events] unit after unit, increasing */
    int64_t ticks;             /* of a bin */
    /* what is found */
    uint32_t most;             /* peaks that an item may have */
    syn_peak *scratch;         /* [blocks][most] */
    syn_peak *peak;            /* [room] items in the order in which they were done */
    uint32_t room;
    unsigned long long *used;  /* peaks found, also where there is no room for them */
    uint32_t *at, *count;      /* [items] where the peaks of an item begin, how many */
    unsigned long long *next;  /* items taken */
    int *too_large;            /* set where a count passes 2^31 - 1 */
};

/* Where a block keeps what. */
struct peak_room {
    int32_t *sum;      /* [2 * margin + 2] counts of lags, then their running sums; the
                          last is of those out of reach */
    uint32_t *mark;    /* [words] windows whose excess may be large enough */
    uint32_t *before;  /* [words + 1] marks before those of a word */
    uint32_t *window;  /* [listed] numbers of marked windows: 32 * word + bit */
    int32_t *z;        /* [listed] theirs, in parts of SYN_PEAK_SCALE */
};

inline __host__ __device__ size_t peak_room_bytes(const peak_job &job)
{
    size_t words = job.word[job.ladder.rungs];
    size_t bins = 2 * (size_t) job.ladder.margin + 2;
    return (bins + 2 * words + 1 + 2 * (size_t) job.listed) * sizeof(uint32_t);
}

__device__ inline peak_room carve_room(const peak_job &job, uint32_t *memory)
{
    uint32_t words = job.word[job.ladder.rungs];
    peak_room r;
    r.sum = (int32_t *) memory;
    r.mark = memory + 2 * job.ladder.margin + 2;
    r.before = r.mark + words;
    r.window = r.before + words + 1;
    r.z = (int32_t *) (r.window + job.listed);
    return r;
}

/* An item as the pair a < b of a surrogate. */
struct peak_item {
    unsigned long long number;
    uint32_t surrogate, a, b;
};

/* The inverse of syn_pair_number(). */
__device__ inline peak_item item_of(const peak_job &job, unsigned long long number)
{
    peak_item x;
    x.number = number;
    x.surrogate = (uint32_t) (number / job.pairs);
    uint32_t pair = (uint32_t) (number % job.pairs);
    uint32_t b = (uint32_t) ((1 + sqrt(1 + 8.0 * pair)) / 2);
    while (syn_pair_number(0, b) > pair)
        b--;
    while (syn_pair_number(0, b + 1) <= pair)
        b++;
    x.b = b;
    x.a = pair - (uint32_t) syn_pair_number(0, b);
    return x;
}

}  // namespace gpu

#endif
