/* Maxima of surrogates on a device: what its kernels share.

   Units are numbered by their rank, rare ones first. An item is a rank and a lag, in one
   word: rank << lag_bits | lag. Windows of a root open at its bins; the items that are in
   enough of them are its list, and a row of the root is a window: a bit for each item
   listed. */
#ifndef SYN_GPU_SPECTRUM_TYPES_CUH
#define SYN_GPU_SPECTRUM_TYPES_CUH

#include "gpu/base/bit_counters.cuh"
#include "gpu/base/surrogate.cuh"
#include "gpu/base/warp.cuh"

#include <cstdint>

namespace gpu {

enum {
    SPECTRUM_SIZES = 128,    /* sizes of patterns from 0 that the device keeps count of */
    SPECTRUM_WIDE = 8,       /* nodes with rows, one below the other */
    SPECTRUM_NEAR = 1024,    /* words of shared memory that a warp gives out */
    SPECTRUM_TOGETHER = 8,   /* children of a root that are one task */
    SPECTRUM_WARPS = 4,      /* of a block */
    SPECTRUM_BLOCKS = 4,     /* of a multiprocessor: with more, registers would spill, */
    MASK_BLOCKS = 6          /* with masks alone from here on */
};

constexpr uint32_t SPECTRUM_DONE = 0xffffffffu;  /* no more can be reached there */

/* What makes a surrogate, and what its patterns must pass. */
struct spectrum_task {
    syn_surrogate_plan plan;  /* its arrays are the device's */
    int64_t width;            /* ticks of a bin */
    uint32_t units, events;
    uint32_t window;          /* bins */
    uint32_t lag_bits;
    uint32_t blocks;          /* of 32 lags in a window */
    uint32_t words;           /* of 32 bins in a surrogate */
    uint32_t row_words;       /* of a row with all items there can be */
    uint32_t min_spikes, min_units, min_count, max_count;
    uint32_t most;            /* the largest size that counts */
    uint32_t durations;       /* rows of maxima: 1, or one a lag */
    int checked;              /* whether the closure of a set matters, */
    int strict;               /* and it has to be the set itself */
    int limited;              /* whether `most` is a filter, and no lack of room */
    const uint32_t *unit;     /* [units] of each rank */
    const uint32_t *rank;     /* [units] of each unit */
    const uint32_t *owner;    /* [events] the unit of a spike */
    const uint32_t *base;     /* [trials] the number of the first bin */
};

/* Surrogates in hand. */
struct spectrum_batch {
    uint64_t first;           /* number of the first surrogate */
    uint32_t n;
    uint32_t makers;          /* threads that have scratch */
    int64_t *tick;            /* [n][events] */
    uint32_t *scratch;        /* [makers][plan.scratch] */
    uint32_t *bits;           /* [n][words][units] the bins of a unit: bit by bit */
    uint32_t *bin;            /* [n][events] the windows of each unit, increasing */
    uint32_t *windows;        /* [n][units], by rank as all that follows */
    uint32_t *listed;         /* [n][units] */
    uint32_t *item;           /* [n][units][row_words * 32] */
    uint32_t *count;          /* the same: windows that have the item */
    uint32_t *row;            /* [n][events][row_words] */
    uint32_t *longest;        /* [units] list of a root */
    uint32_t *maximum;        /* [n][durations][SPECTRUM_SIZES] */
    uint32_t *failed;         /* [n] whether the search had no room to end */
};

/* ---- windows ---- */

/* 32 lags of a unit in the window that opens at `bin`, from lag 32 * block on. */
__device__ inline uint32_t lags_of(const spectrum_task &task, const uint32_t *bits,
                                   uint32_t rank, uint32_t bin, uint32_t block)
{
    uint32_t from = bin + 32 * block, left = task.window - 32 * block;
    const uint32_t *at = bits + (size_t) (from / 32) * task.units + rank;
    uint32_t lags = __funnelshift_r(at[0], at[task.units], from % 32);
    return left < 32 ? lags & ((1u << left) - 1) : lags;
}

}  // namespace gpu

#endif
