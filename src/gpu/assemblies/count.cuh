/* Counts the lags of a pair of units in shared memory, by a block. */
#ifndef SYN_GPU_ASSEMBLIES_COUNT_CUH
#define SYN_GPU_ASSEMBLIES_COUNT_CUH

#include "gpu/assemblies/types.cuh"

namespace gpu {

/* A bin that is out of reach of all others, where there is no spike. Segments have fewer
   than 2^30 bins. */
constexpr uint32_t NO_BIN = 0x7fffffffu;

/* Counts a lag below 2 * n, from the lower end of the histogram, modulo n. Where the
   segment is shorter than the histogram it is counted again and again. */
template <bool AGAIN>
__device__ inline void count_lag(int32_t *sum, uint32_t lag, uint32_t n, uint32_t last)
{
    lag = min(lag, lag - n);
    if (AGAIN) {
        for (; lag <= last; lag += n)
            atomicAdd(sum + lag, 1);
    } else if (lag <= last) {
        atomicAdd(sum + lag, 1);
    }
}

/* All spikes of a part of those of `a` in a segment with all of `b`, by a warp: a lane
   has two spikes of b, and the spikes of a come by one after the other. */
template <bool AGAIN>
__device__ inline void count_segment(const peak_job &job, const peak_item &x, uint32_t k,
                                     uint32_t part, int32_t *sum)
{
    uint32_t lane = threadIdx.x % WARP, n = job.n[k], last = 2 * job.ladder.margin;
    size_t of_a = (size_t) x.a * job.segments + k, of_b = (size_t) x.b * job.segments + k;
    const uint32_t *shift = job.shift + (size_t) x.surrogate * job.units * job.segments;
    uint32_t by = (job.ladder.margin % n + shift[of_b] + n - shift[of_a]) % n;
    uint32_t end_a = job.first[of_a + 1], end_b = job.first[of_b + 1];
    for (uint32_t b = job.first[of_b]; b < end_b; b += 2 * WARP) {
        uint32_t one = b + lane < end_b ? job.bin[b + lane] : NO_BIN;
        uint32_t other = b + WARP + lane < end_b ? job.bin[b + WARP + lane] : NO_BIN;
        bool two = b + WARP < end_b;
        uint32_t a = job.first[of_a] + part * WARP;
        for (; a < end_a; a += job.parts * WARP) {
            uint32_t bin = a + lane < end_a ? job.bin[a + lane] : 0;
            uint32_t later = by >= bin ? by - bin : by + n - bin;
            uint32_t spikes = min((uint32_t) WARP, end_a - a);
            for (uint32_t j = 0; j < spikes; j++) {
                uint32_t from = __shfl_sync(WHOLE_WARP, later, (int) j);
                count_lag<AGAIN>(sum, from + one, n, last);
                if (two)
                    count_lag<AGAIN>(sum, from + other, n, last);
            }
        }
    }
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
