/* The kernels that find peaks: blocks take pairs of units one after the other, and what
   they found is put in order. */
#pragma once

#ifndef SYN_EVERYWHERE
#define SYN_EVERYWHERE static __host__ __device__ inline
#endif

#include "core/base/seek.h"
#include "gpu/base/warp.cuh"

#include <cmath>

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

/* What all blocks have found and taken so far. */
struct peak_tally {
    unsigned long long used;  /* peaks found, also where there is no room for them */
    unsigned long long next;  /* items taken */
    int too_large;            /* set where a count passes 2^31 - 1 */
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
    uint32_t *at, *count;      /* [items] where the peaks of an item begin, how many */
    peak_tally *tally;
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

__device__ inline peak_item item_of(const peak_job &job, unsigned long long number)
{
    peak_item x;
    x.number = number;
    x.surrogate = (uint32_t) (number / job.pairs);
    syn_pair_units(number % job.pairs, &x.a, &x.b);
    return x;
}

/* ---- lags of a pair, counted in shared memory by a block ---- */

/* A place that is out of reach of all others, where there is no spike. Segments have at
   most 2^30 bins, and histograms fewer. */
constexpr uint32_t NO_PLACE = 0x7fffffffu;

/* Counts a lag below 2 * n, from the lower end of the histogram, modulo n. What is out of
   reach is counted in the place beyond the histogram, as that takes no branch. Where the
   segment is shorter than the histogram, a lag is counted again and again. */
template <bool AGAIN>
__device__ inline void count_lag(int32_t *sum, uint32_t lag, uint32_t n, uint32_t beyond)
{
    lag = min(min(lag, lag - n), beyond);
    atomicAdd(sum + lag, 1);
    if (AGAIN)
        for (lag += n; lag < beyond; lag += n)
            atomicAdd(sum + lag, 1);
}

/* Spikes of one unit in a segment. Those of the first unit are at places before `by`,
   around the segment, those of the second at their bins: the sum of two places is their
   lag from the lower end of the histogram, modulo n. */
struct peak_train {
    const uint32_t *bin;
    uint32_t spikes, by, n;
    bool first;

    __device__ uint32_t place(uint32_t i, uint32_t nowhere) const
    {
        if (i >= spikes)
            return nowhere;
        uint32_t at = bin[i];
        return !first ? at : by >= at ? by - at : by + n - at;
    }
    /* Turns of a loop in which lanes take spikes. */
    __device__ uint32_t turns() const { return (spikes + WARP - 1) / WARP; }
};

/* All spikes of one unit with a part of those of the other, by a warp: each lane has two
   of the first, and those of the second come by four at a time. */
template <bool AGAIN>
__device__ inline void count_trains(const peak_train &held, const peak_train &passing,
                                    uint32_t part, uint32_t parts, uint32_t beyond,
                                    int32_t *sum)
{
    __shared__ uint4 coming[PEAK_WARPS][WARP / 4];
    uint32_t lane = threadIdx.x % WARP, n = held.n;
    uint4 *mine = coming[threadIdx.x / WARP];
    for (uint32_t from = part * WARP; from < passing.spikes; from += parts * WARP) {
        uint32_t four = (min((uint32_t) WARP, passing.spikes - from) + 3) / 4;
        __syncwarp();
        ((uint32_t *) mine)[lane] = passing.place(from + lane, NO_PLACE / 2 + n);
        __syncwarp();
        for (uint32_t i = 0; i < held.spikes; i += 2 * WARP) {
            uint32_t one = held.place(i + lane, NO_PLACE);
            uint32_t other = held.place(i + WARP + lane, NO_PLACE);
            bool both = i + WARP < held.spikes;
            for (uint32_t j = 0; j < four; j++) {
                const uint32_t at[] = {mine[j].x, mine[j].y, mine[j].z, mine[j].w};
                SYN_UNROLL(k, 4)
                    count_lag<AGAIN>(sum, at[k] + one, n, beyond);
                for (int k = 0; both && k < 4; k++)
                    count_lag<AGAIN>(sum, at[k] + other, n, beyond);
            }
        }
    }
}

template <bool AGAIN>
__device__ inline void count_segment(const peak_job &job, const peak_item &x, uint32_t k,
                                     uint32_t part, int32_t *sum)
{
    uint32_t n = job.n[k];
    size_t of_a = (size_t) x.a * job.segments + k, of_b = (size_t) x.b * job.segments + k;
    const uint32_t *shift = job.shift + (size_t) x.surrogate * job.units * job.segments;
    uint32_t by = (job.ladder.margin % n + shift[of_b] + n - shift[of_a]) % n;
    uint32_t at_a = job.first[of_a], at_b = job.first[of_b];
    peak_train a = {job.bin + at_a, job.first[of_a + 1] - at_a, by, n, true};
    peak_train b = {job.bin + at_b, job.first[of_b + 1] - at_b, by, n, false};
    uint32_t beyond = 2 * job.ladder.margin + 1;
    /* So that fewer lanes are idle. */
    if (a.turns() * b.spikes < b.turns() * a.spikes)
        count_trains<AGAIN>(a, b, part, job.parts, beyond, sum);
    else
        count_trains<AGAIN>(b, a, part, job.parts, beyond, sum);
}

/* The lags of spikes of b from one of a, by a thread; see core/correlation/lags.h. */
__device__ inline void count_around(const peak_job &job, const peak_item &x, int64_t tick,
                                    int32_t *sum)
{
    int64_t ticks = job.ticks, margin = job.ladder.margin;
    int64_t reach = ((2 * margin + 1) * ticks + 1) / 2;
    uint32_t low = job.train[x.b], end = job.train[x.b + 1];
    SYN_SEEK(uint32_t, at, low, end, tick - job.tick[at] >= reach);
    for (; low < end && job.tick[low] - tick < reach; low++) {
        int64_t lag = job.tick[low] - tick, far = lag < 0 ? -lag : lag;
        int64_t bins = (2 * far + ticks) / (2 * ticks);
        atomicAdd(sum + (lag < 0 ? margin - bins : margin + bins), 1);
    }
}

/* Makes running sums of counts. */
__device__ inline void sum_counts(const peak_job &job, int32_t *sum)
{
    __shared__ unsigned long long room[PEAK_WARPS];
    uint32_t length = 2 * job.ladder.margin + 1;
    /* An odd number, so that the threads of a warp use different banks. */
    uint32_t each = (length + PEAK_THREADS - 1) / PEAK_THREADS | 1;
    uint32_t from = min(threadIdx.x * each, length), to = min(from + each, length);
    unsigned long long total = 0, all;
    for (uint32_t i = from; i < to; i++)
        total += (uint32_t) sum[i];
    uint32_t at = (uint32_t) block_sum_below(total, room, &all);
    if (all > INT32_MAX)
        job.tally->too_large = 1;
    for (uint32_t i = from; i < to; i++)
        sum[i] = (int32_t) (at += (uint32_t) sum[i]);
}

/* Looks through the windows of a pair for peaks, by a block: core/assemblies/scan.c.

   Windows whose excess may be large enough are marked, a bit each. As they are few, they
   are listed, in order, and only then their z is worked out, a thread a window. Where
   there are more than the list has room for, it takes some rungs at a time. */

/* ---- one window ---- */

/* Window i of those of a rung, from its lowest lag on. */
__device__ inline int32_t lag_of(const peak_job &job, uint32_t rung, uint32_t i)
{
    return ((int32_t) i - (int32_t) job.ladder.reach[rung]) *
           (int32_t) job.ladder.step[rung];
}

__device__ inline double clumps_of(const peak_job &job, const peak_item &x, uint32_t rung)
{
    const double *clumps = job.clumps + (size_t) rung * job.units;
    return clumps[x.a] * clumps[x.b];
}

__device__ inline syn_excess_scale scale_of(const peak_job &job, double clumps,
                                            uint32_t rung, uint32_t i)
{
    uint32_t place = job.ladder.first[rung] + i;
    syn_excess_scale e;
    e.clumps = clumps;
    e.common = job.common ? job.common[place] : 0;
    e.spread = job.spread ? job.spread[place] : 0;
    return e;
}

/* ---- marks ---- */

__device__ inline void mark_windows(const peak_job &job, const peak_item &x,
                                    const peak_room &r)
{
    const syn_ladder &l = job.ladder;
    const int32_t *sum = r.sum + l.margin;
    uint32_t lane = threadIdx.x % WARP;
    double low = (job.least - 1.0) / SYN_PEAK_SCALE;
    for (uint32_t rung = 0; rung < l.rungs; rung++) {
        uint32_t windows = 2 * l.reach[rung] + 1;
        int32_t half = (int32_t) l.half[rung];
        double clumps = clumps_of(job, x, rung);
        for (uint32_t w = threadIdx.x / WARP; w < (windows + WARP - 1) / WARP;
             w += PEAK_WARPS) {
            uint32_t i = w * WARP + lane;
            int may = 0;
            if (i < windows) {
                syn_sides s = syn_sides_look(sum, half, lag_of(job, rung, i));
                may = syn_excess_may_pass(s, scale_of(job, clumps, rung, i), low * low);
            }
            uint32_t marks = __ballot_sync(WHOLE_WARP, may);
            if (lane == 0)
                r.mark[job.word[rung] + w] = marks;
        }
    }
}

/* By the first warp. */
__device__ inline void count_marks(const peak_job &job, const peak_room &r)
{
    uint32_t words = job.word[job.ladder.rungs], lane = threadIdx.x, before = 0, all;
    for (uint32_t from = 0; from < words; from += WARP) {
        uint32_t w = from + lane;
        uint32_t marks = w < words ? (uint32_t) __popc(r.mark[w]) : 0;
        uint32_t here = before + sum_below(marks, &all);
        if (w < words)
            r.before[w] = here;
        before += all;
    }
    if (lane == 0)
        r.before[words] = before;
}

/* ---- a list of windows ---- */

__device__ inline uint32_t rung_of(const peak_job &job, uint32_t window)
{
    uint32_t rung = 0;
    while (window / WARP >= job.word[rung + 1])
        rung++;
    return rung;
}

__device__ inline void judge_windows(const peak_job &job, const peak_item &x,
                                     const peak_room &r, uint32_t n)
{
    for (uint32_t k = threadIdx.x; k < n; k += PEAK_THREADS) {
        uint32_t rung = rung_of(job, r.window[k]);
        uint32_t i = r.window[k] - job.word[rung] * WARP;
        syn_sides s = syn_sides_look(r.sum + job.ladder.margin,
                                     (int32_t) job.ladder.half[rung],
                                     lag_of(job, rung, i));
        syn_excess_scale e = scale_of(job, clumps_of(job, x, rung), rung, i);
        r.z[k] = syn_peak_z(syn_excess_z(s, e));
    }
}

/* ---- peaks ---- */

/* Whether window k of n that are listed is none other's lesser, see syn_peak. */
__device__ inline bool is_peak(const peak_job &job, const peak_room &r, uint32_t n,
                               uint32_t k, uint32_t rung)
{
    int32_t z = r.z[k];
    if (z < job.least)
        return false;
    uint32_t here = r.window[k], near = (uint32_t) syn_peak_reach(&job.ladder, rung);
    uint32_t from = job.word[rung] * WARP, to = job.word[rung + 1] * WARP;
    for (uint32_t j = k; j-- > 0 && r.window[j] >= from && here - r.window[j] <= near;)
        if (r.z[j] >= z)
            return false;
    for (uint32_t j = k + 1; j < n && r.window[j] < to && r.window[j] - here <= near; j++)
        if (r.z[j] > z)
            return false;
    return true;
}

/* Adds the peaks among n windows to those that the item has already, by a warp; returns
   how many it has. */
__device__ inline uint32_t take_peaks(const peak_job &job, const peak_room &r, uint32_t n,
                                      syn_peak *out, uint32_t found)
{
    for (uint32_t from = 0; from < n; from += WARP) {
        uint32_t k = from + threadIdx.x % WARP, rung = 0;
        bool peak = false;
        if (k < n) {
            rung = rung_of(job, r.window[k]);
            peak = is_peak(job, r, n, k, rung);
        }
        syn_peak *to = out + place_for(peak, &found);
        if (peak) {
            to->lag = lag_of(job, rung, r.window[k] - job.word[rung] * WARP);
            to->rung = (uint16_t) rung;
            to->z = (int16_t) r.z[k];
        }
    }
    return found;
}

/* Takes an item's peaks from where a block made them to where all are, by a warp. */
__device__ inline void store_peaks(const peak_job &job, const peak_item &x,
                                   const syn_peak *from, uint32_t n)
{
    uint32_t lane = threadIdx.x % WARP;
    unsigned long long at = add_by_warp<unsigned long long>(&job.tally->used, n);
    if (lane == 0) {
        job.at[x.number] = (uint32_t) at;
        job.count[x.number] = n;
    }
    for (uint32_t k = lane; at + n <= job.room && k < n; k += WARP)
        job.peak[at + k] = from[k];
}

/* ---- a pair ---- */

/* `r.sum` has the running sums. */
__device__ inline void scan_pair(const peak_job &job, const peak_item &x,
                                 const peak_room &r)
{
    syn_peak *mine = job.scratch + (size_t) blockIdx.x * job.most;
    uint32_t found = 0;
    mark_windows(job, x, r);
    __syncthreads();
    if (threadIdx.x < WARP)
        count_marks(job, r);
    __syncthreads();
    /* Rungs from `rung` to below `end` are listed together. */
    for (uint32_t rung = 0, end; rung < job.ladder.rungs; rung = end) {
        uint32_t first = job.word[rung], before = r.before[first];
        end = job.ladder.rungs;
        while (end > rung + 1 && r.before[job.word[end]] - before > job.listed)
            end--;
        uint32_t last = job.word[end], n = r.before[last] - before;
        for (uint32_t w = first + threadIdx.x; w < last; w += PEAK_THREADS) {
            uint32_t at = r.before[w] - before;
            for (uint32_t marks = r.mark[w]; marks; marks &= marks - 1)
                r.window[at++] = w * WARP + (uint32_t) __ffs((int) marks) - 1;
        }
        __syncthreads();
        judge_windows(job, x, r, n);
        __syncthreads();
        if (threadIdx.x < WARP)
            found = take_peaks(job, r, n, mine, found);
        __syncthreads();
    }
    if (threadIdx.x < WARP) {
        __syncwarp();
        store_peaks(job, x, mine, found);
    }
}

/* ---- kernels ---- */

/* Items from `from` to below `to`: those of surrogates, or of the recording. */
template <bool RECORDED>
__global__ void __launch_bounds__(PEAK_THREADS)
    find_peaks(SYN_GPU_JOB peak_job job, unsigned long long from, unsigned long long to)
{
    extern __shared__ uint32_t memory[];
    __shared__ peak_item item;
    peak_room room = carve_room(job, memory);
    for (;;) {
        if (threadIdx.x == 0)
            item = item_of(job, from + atomicAdd(&job.tally->next, 1ull));
        for (uint32_t i = threadIdx.x; i <= 2 * job.ladder.margin; i += PEAK_THREADS)
            room.sum[i] = 0;
        __syncthreads();
        peak_item x = item;
        if (x.number >= to)
            return;
        if constexpr (RECORDED) {
            uint32_t i = job.train[x.a] + threadIdx.x, end = job.train[x.a + 1];
            for (; i < end; i += PEAK_THREADS)
                count_around(job, x, job.tick[i], room.sum);
        } else {
            uint32_t i = threadIdx.x / WARP, tasks = job.segments * job.parts;
            for (; i < tasks; i += PEAK_WARPS) {
                uint32_t k = i / job.parts, part = i % job.parts;
                if (job.n[k] > 2 * job.ladder.margin)
                    count_segment<false>(job, x, k, part, room.sum);
                else
                    count_segment<true>(job, x, k, part, room.sum);
            }
        }
        __syncthreads();
        sum_counts(job, room.sum);
        __syncthreads();
        scan_pair(job, x, room);
        __syncthreads();
    }
}

/* A thread a shift of a unit in a segment, over and over. */
__global__ void draw_shifts(SYN_GPU_JOB peak_job job, uint64_t key, uint64_t first,
                                   uint64_t shifts, uint32_t *shift)
{
    uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < shifts; i += (uint64_t) gridDim.x * blockDim.x) {
        uint32_t k = (uint32_t) (i % job.segments);
        uint64_t unit = i / job.segments;
        shift[i] = syn_binned_shift(key, first + unit / job.units,
                                    (uint32_t) (unit % job.units), k, job.n[k]);
    }
}

/* Puts the peaks of items in the order of items, from start[] on; a warp an item. */
__global__ void gather_peaks(SYN_GPU_JOB peak_job job, const uint32_t *start,
                                    unsigned long long items, syn_peak *out)
{
    unsigned long long warps = (unsigned long long) gridDim.x * (blockDim.x / WARP);
    unsigned long long i = ((unsigned long long) blockIdx.x * blockDim.x + threadIdx.x);
    for (i /= WARP; i < items; i += warps)
        for (uint32_t k = threadIdx.x % WARP; k < job.count[i]; k += WARP)
            out[(size_t) start[i] + k] = job.peak[(size_t) job.at[i] + k];
}

}  // namespace gpu
