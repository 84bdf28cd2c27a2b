/* Counts the lags of a pair of units in shared memory, by a block. */
#ifndef SYN_GPU_ASSEMBLIES_COUNT_CUH
#define SYN_GPU_ASSEMBLIES_COUNT_CUH

#include "gpu/assemblies/types.cuh"

namespace gpu {

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
                uint4 at = mine[j];
                count_lag<AGAIN>(sum, at.x + one, n, beyond);
                count_lag<AGAIN>(sum, at.y + one, n, beyond);
                count_lag<AGAIN>(sum, at.z + one, n, beyond);
                count_lag<AGAIN>(sum, at.w + one, n, beyond);
                if (!both)
                    continue;
                count_lag<AGAIN>(sum, at.x + other, n, beyond);
                count_lag<AGAIN>(sum, at.y + other, n, beyond);
                count_lag<AGAIN>(sum, at.z + other, n, beyond);
                count_lag<AGAIN>(sum, at.w + other, n, beyond);
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

__device__ inline void count_surrogate(const peak_job &job, const peak_item &x,
                                       int32_t *sum)
{
    uint32_t tasks = job.segments * job.parts;
    for (uint32_t i = threadIdx.x / WARP; i < tasks; i += PEAK_WARPS) {
        uint32_t k = i / job.parts, part = i % job.parts;
        if (job.n[k] > 2 * job.ladder.margin)
            count_segment<false>(job, x, k, part, sum);
        else
            count_segment<true>(job, x, k, part, sum);
    }
}

/* The lags of spikes of b from one of a, by a thread; see core/correlation/lags.h. */
__device__ inline void count_around(const peak_job &job, const peak_item &x, int64_t tick,
                                    int32_t *sum)
{
    int64_t ticks = job.ticks, margin = job.ladder.margin;
    int64_t reach = ((2 * margin + 1) * ticks + 1) / 2;
    uint32_t low = job.train[x.b], high = job.train[x.b + 1], end = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tick - job.tick[middle] < reach)
            high = middle;
        else
            low = middle + 1;
    }
    for (; low < end && job.tick[low] - tick < reach; low++) {
        int64_t lag = job.tick[low] - tick, far = lag < 0 ? -lag : lag;
        int64_t bins = (2 * far + ticks) / (2 * ticks);
        atomicAdd(sum + (lag < 0 ? margin - bins : margin + bins), 1);
    }
}

__device__ inline void count_recorded(const peak_job &job, const peak_item &x,
                                      int32_t *sum)
{
    uint32_t i = job.train[x.a] + threadIdx.x, end = job.train[x.a + 1];
    for (; i < end; i += PEAK_THREADS)
        count_around(job, x, job.tick[i], sum);
}

/* The sum of the threads before this one, by a block; `all` gets that of all of them. */
__device__ inline unsigned long long block_sum_below(unsigned long long value,
                                                     unsigned long long *all)
{
    __shared__ unsigned long long of_warp[PEAK_WARPS];
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    unsigned long long sum = value, before = 0;
    for (uint32_t o = 1; o < WARP; o *= 2) {
        unsigned long long other = __shfl_up_sync(WHOLE_WARP, sum, o);
        sum += lane >= o ? other : 0;
    }
    if (lane == WARP - 1)
        of_warp[warp] = sum;
    __syncthreads();
    *all = 0;
    for (uint32_t w = 0; w < PEAK_WARPS; w++) {
        before += w < warp ? of_warp[w] : 0;
        *all += of_warp[w];
    }
    return before + sum - value;
}

/* Makes running sums of counts. */
__device__ inline void sum_counts(const peak_job &job, int32_t *sum)
{
    uint32_t length = 2 * job.ladder.margin + 1;
    /* An odd number, so that the threads of a warp use different banks. */
    uint32_t each = (length + PEAK_THREADS - 1) / PEAK_THREADS | 1;
    uint32_t from = min(threadIdx.x * each, length), to = min(from + each, length);
    unsigned long long total = 0, all;
    for (uint32_t i = from; i < to; i++)
        total += (uint32_t) sum[i];
    uint32_t at = (uint32_t) block_sum_below(total, &all);
    if (all > INT32_MAX)
        *job.too_large = 1;
    for (uint32_t i = from; i < to; i++)
        sum[i] = (int32_t) (at += (uint32_t) sum[i]);
}

}  // namespace gpu

#endif
