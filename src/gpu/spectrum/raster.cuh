/* Maxima of surrogates on a device: what its kernels share.

   Units are numbered by their rank, rare ones first. An item is a rank and a lag, in one
   word: rank << lag_bits | lag. Windows of a root open at its bins; the items that are in
   enough of them are its list, and a row of the root is a window: a bit for each item
   listed. */
#pragma once

#include "core/patterns/mine.h"
#include "gpu/base/bit_counters.cuh"
#include "gpu/base/surrogate.cuh"
#include "gpu/base/tree.cuh"

namespace gpu {

enum {
    SPECTRUM_SIZES = 128,    /* sizes of patterns from 0 that the device keeps count of */
    SPECTRUM_WIDE = 8,       /* nodes with rows, one below the other */
    SPECTRUM_NEAR = 1024,    /* words of shared memory that a warp gives out */
    SPECTRUM_TOGETHER = 8,   /* children of a root that are one task */
    SPECTRUM_BLOCKS = 4,     /* of a multiprocessor: with more, registers would spill, */
    MASK_BLOCKS = 6          /* with masks alone from here on */
};

constexpr uint32_t SPECTRUM_DONE = 0xffffffffu;  /* no more can be reached there */

/* What makes a surrogate, and what its patterns must pass. */
struct spectrum_task : syn_pattern_options {
    syn_surrogate_plan plan;  /* its arrays are the device's */
    int64_t width;            /* ticks of a bin */
    uint32_t units, events;
    uint32_t lag_bits;
    uint32_t blocks;          /* of 32 lags in a window */
    uint32_t words;           /* of 32 bins in a surrogate */
    uint32_t row_words;       /* of a row with all items there can be */
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

/* ---- surrogates in bins, and the windows of their units ---- */

/* A thread makes one unit of one surrogate after the other. */
__global__ void make_trains(spectrum_task task, spectrum_batch batch)
{
    uint32_t me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= batch.makers)
        return;
    uint32_t *scratch = batch.scratch + (size_t) me * task.plan.scratch;
    for (uint64_t k = me; k < (uint64_t) batch.n * task.units; k += batch.makers) {
        uint32_t s = k / task.units, u = k % task.units;
        int64_t *tick = batch.tick + (size_t) s * task.events + task.plan.trains.first[u];
        syn_surrogate_unit(&task.plan, batch.first + s, u, tick, scratch);
    }
}

/* Spikes of one unit in one bin set the same bit. */
__global__ void set_bits(spectrum_task task, spectrum_batch batch)
{
    uint64_t k = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= (uint64_t) batch.n * task.events)
        return;
    uint32_t s = k / task.events, e = k % task.events;
    uint32_t trial = task.plan.trains.trial[e], rank = task.rank[task.owner[e]];
    int64_t within = (batch.tick[k] - task.plan.trains.start[trial]) / task.width;
    uint32_t number = task.base[trial] + (uint32_t) within;
    size_t word = ((size_t) s * task.words + number / 32) * task.units + rank;
    atomicOr(batch.bits + word, 1u << number % 32);
}

/* Lists the bins of a unit; returns how many. */
__device__ inline uint32_t list_windows(const spectrum_task &task, const uint32_t *bits,
                                        uint32_t rank, uint32_t *bin)
{
    uint32_t lane = threadIdx.x % WARP, n = 0;
    for (uint32_t from = 0; from < task.words; from += WARP) {
        uint32_t w = from + lane, all;
        uint32_t word = w < task.words ? bits[(size_t) w * task.units + rank] : 0;
        uint32_t at = n + sum_below(__popc(word), &all);
        for (; word; word &= word - 1)
            bin[at++] = w * 32 + __ffs(word) - 1;
        n += all;
    }
    __syncwarp();
    return n;
}

/* Lists the items in at least min_count of the root's windows, except the root itself and
   items at lag 0 that are roots of lower rank; returns how many. */
template <int PLANES>
__device__ uint32_t list_items(const spectrum_task &task, const uint32_t *bits,
                               uint32_t root, const uint32_t *bin, uint32_t n,
                               uint32_t *item, uint32_t *count)
{
    uint32_t lane = threadIdx.x % WARP, listed = 0;
    for (uint32_t from = 0; from < task.units; from += WARP)
        for (uint32_t block = 0; block < task.blocks; block++) {
            uint32_t rank = from + lane, all;
            bit_counters<PLANES> sum;
            sum.clear();
            for (uint32_t i = 0; i < n && rank < task.units; i++)
                sum.add(lags_of(task, bits, rank, bin[i], block));
            uint32_t often = sum.above(task.min_count - 1);
            if (block == 0 && rank <= root)
                often &= ~1u;
            uint32_t at = listed + sum_below(__popc(often), &all);
            for (; often; often &= often - 1, at++) {
                uint32_t bit = __ffs(often) - 1;
                item[at] = rank << task.lag_bits | (block * 32 + bit);
                count[at] = sum.at(bit);
            }
            listed += all;
        }
    return listed;
}

/* A warp a root. */
__global__ void find_items(spectrum_task task, spectrum_batch batch)
{
    uint64_t k = ((uint64_t) blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (k >= (uint64_t) batch.n * task.units)
        return;
    uint32_t s = k / task.units, root = k % task.units, listed = 0;
    const uint32_t *bits = batch.bits + (size_t) s * task.words * task.units;
    uint32_t first = task.plan.trains.first[task.unit[root]];
    uint32_t *bin = batch.bin + (size_t) s * task.events + first;
    uint32_t *item = batch.item + k * task.row_words * 32;
    uint32_t *count = batch.count + k * task.row_words * 32;
    uint32_t n = list_windows(task, bits, root, bin);
    if (n >= task.min_count)
        listed = with_number<8, 12, 31>(32 - __clz(n), [&](auto planes) {
            return list_items<decltype(planes)::value>(task, bits, root, bin, n, item,
                                                       count);
        });
    if (threadIdx.x % WARP == 0) {
        batch.windows[k] = n;
        batch.listed[k] = listed;
        atomicMax(batch.longest + root, listed);
    }
}

/* A warp a row. */
__global__ void fill_rows(spectrum_task task, spectrum_batch batch)
{
    uint32_t lane = threadIdx.x % WARP;
    uint64_t k = ((uint64_t) blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (k >= (uint64_t) batch.n * task.events)
        return;
    uint32_t s = k / task.events, e = k % task.events, unit = task.owner[e];
    uint32_t first = task.plan.trains.first[unit], i = e - first;
    size_t root = (size_t) s * task.units + task.rank[unit];
    if (i >= batch.windows[root])
        return;
    const uint32_t *bits = batch.bits + (size_t) s * task.words * task.units;
    const uint32_t *item = batch.item + root * task.row_words * 32;
    uint32_t listed = batch.listed[root], words = (listed + 31) / 32, bin = batch.bin[k];
    uint32_t *row = batch.row + ((size_t) s * task.events + first) * task.row_words +
                    (size_t) i * words;
    for (uint32_t from = 0; from < words; from += WARP) {
        uint32_t mine = 0;
        for (uint32_t c = 0; c < WARP && from + c < words; c++) {
            uint32_t at = (from + c) * 32 + lane, there = 0;
            if (at < listed) {
                uint32_t number = bin + (item[at] & ((1u << task.lag_bits) - 1));
                uint32_t rank = item[at] >> task.lag_bits;
                size_t word = (size_t) (number / 32) * task.units + rank;
                there = bits[word] >> number % 32 & 1;
            }
            uint32_t word = __ballot_sync(WHOLE_WARP, there);
            mine = c == lane ? word : mine;
        }
        if (from + lane < words)
            row[from + lane] = mine;
    }
}

}  // namespace gpu
