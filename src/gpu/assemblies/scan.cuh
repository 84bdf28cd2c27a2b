/* Looks through the windows of a pair for peaks, by a block: core/assemblies/scan.c.

   Windows whose excess may be large enough are marked, a bit each. As they are few, they
   are listed, in order, and only then their z is worked out, a thread a window. Where
   there are more than the list has room for, it takes some rungs at a time. */
#ifndef SYN_GPU_ASSEMBLIES_SCAN_CUH
#define SYN_GPU_ASSEMBLIES_SCAN_CUH

#include "gpu/assemblies/types.cuh"

namespace gpu {

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

/* Rungs from the first one to below the last, whose windows are listed together. */
struct rung_range {
    uint32_t first, last;
};

__device__ inline uint32_t marks_in(const peak_job &job, const peak_room &r,
                                    rung_range rungs)
{
    return r.before[job.word[rungs.last]] - r.before[job.word[rungs.first]];
}

__device__ inline rung_range next_rungs(const peak_job &job, const peak_room &r,
                                        uint32_t first)
{
    rung_range rungs = {first, job.ladder.rungs};
    while (rungs.last > first + 1 && marks_in(job, r, rungs) > job.listed)
        rungs.last--;
    return rungs;
}

__device__ inline void list_windows(const peak_job &job, const peak_room &r,
                                    rung_range rungs)
{
    uint32_t first = job.word[rungs.first], last = job.word[rungs.last];
    for (uint32_t w = first + threadIdx.x; w < last; w += PEAK_THREADS) {
        uint32_t at = r.before[w] - r.before[first];
        for (uint32_t marks = r.mark[w]; marks; marks &= marks - 1)
            r.window[at++] = w * WARP + (uint32_t) __ffs((int) marks) - 1;
    }
}

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
        uint32_t peaks = __ballot_sync(WHOLE_WARP, peak);
        if (peak) {
            syn_peak *to = out + found + __popc(peaks & lanes_below());
            to->lag = lag_of(job, rung, r.window[k] - job.word[rung] * WARP);
            to->rung = (uint16_t) rung;
            to->z = (int16_t) r.z[k];
        }
        found += (uint32_t) __popc(peaks);
    }
    return found;
}

/* Takes an item's peaks from where a block made them to where all are, by a warp. */
__device__ inline void store_peaks(const peak_job &job, const peak_item &x,
                                   const syn_peak *from, uint32_t n)
{
    uint32_t lane = threadIdx.x % WARP;
    unsigned long long at = 0;
    if (lane == 0)
        at = atomicAdd(job.used, (unsigned long long) n);
    at = __shfl_sync(WHOLE_WARP, at, 0);
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
    for (uint32_t rung = 0; rung < job.ladder.rungs;) {
        rung_range rungs = next_rungs(job, r, rung);
        uint32_t n = marks_in(job, r, rungs);
        list_windows(job, r, rungs);
        __syncthreads();
        judge_windows(job, x, r, n);
        __syncthreads();
        if (threadIdx.x < WARP)
            found = take_peaks(job, r, n, mine, found);
        __syncthreads();
        rung = rungs.last;
    }
    if (threadIdx.x < WARP) {
        __syncwarp();
        store_peaks(job, x, mine, found);
    }
}

}  // namespace gpu

#endif
