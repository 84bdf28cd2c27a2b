/* Lag histograms on a device. A block takes a reference and a target. Its threads share
   the spikes of the reference, each a run of them, and go along with the target's: a
   spike of the reference meets those of the target within reach, and each is one
   increment of a histogram in shared memory. Both directions of a pair are counted, which
   costs twice the increments of the processor's way and spares turning them round.

   For units of n spikes, m of which are within reach of a spike, a pair takes n steps of
   finding and n m increments: 1,000 units of 18,000 spikes and 40 ms are 1.8e10 steps and
   7e9 increments, some 0.1 s where a step takes 15 instructions. */
extern "C" {
#include "gpu/correlation/lags.h"
}

#include "core/base/radix.h"
#include "core/base/seek.h"
#include "gpu/base/crew.cuh"
#include "gpu/base/launch.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace gpu {
namespace {

constexpr uint32_t THREADS = 128;
constexpr uint32_t MOST_TARGETS = 64;  /* of a batch */
constexpr double STEPS = 2e9;          /* of a batch: well under a second */

struct lag_job {
    const int64_t *tick;    /* [events] unit after unit, in time order */
    const uint32_t *first;  /* [units + 1] where a unit's begin */
    uint32_t units, lags;
    int64_t bin, reach;
    uint32_t target;        /* first one of the batch */
    int32_t *count;         /* [targets][units][2 * lags + 1] */
    int *too_many;          /* set where a count does not fit */
};

/* Counts what the reference's spikes from `at` to below `end` meet among the target's,
   up to below `last`; how many that are. */
__device__ inline uint64_t count_run(const lag_job &job, uint32_t at, uint32_t end,
                                     uint32_t next, uint32_t last, uint32_t *histogram)
{
    uint64_t pairs = 0;
    if (at < end) {
        int64_t least = job.tick[at] - job.reach + 1;
        SYN_SEEK(uint32_t, middle, next, last, job.tick[middle] < least);
    }
    for (; at < end; at++) {
        int64_t tick = job.tick[at], lag;
        while (next < last && tick - job.tick[next] >= job.reach)
            next++;
        for (uint32_t met = next;
             met < last && (lag = job.tick[met] - tick) < job.reach; met++, pairs++) {
            uint64_t twice = 2 * (uint64_t) (lag < 0 ? -lag : lag);
            uint32_t k = (uint32_t) ((twice + (uint64_t) job.bin) /
                                     (2 * (uint64_t) job.bin));
            atomicAdd(&histogram[lag < 0 ? job.lags - k : job.lags + k], 1);
        }
    }
    return pairs;
}

__global__ void __launch_bounds__(THREADS) count_lags(SYN_GPU_JOB lag_job job)
{
    extern __shared__ uint32_t histogram[];
    __shared__ unsigned long long all;
    uint32_t a = blockIdx.x, b = job.target + blockIdx.y, length = 2 * job.lags + 1;
    uint32_t from = job.first[a], n = job.first[a + 1] - from, t = threadIdx.x;
    for (uint32_t k = t; k < length; k += THREADS)
        histogram[k] = 0;
    if (t == 0)
        all = 0;
    __syncthreads();
    uint64_t pairs = count_run(
        job, from + (uint32_t) ((uint64_t) n * t / THREADS),
        from + (uint32_t) ((uint64_t) n * (t + 1) / THREADS), job.first[b],
        job.first[b + 1], histogram);
    atomicAdd(&all, (unsigned long long) pairs);
    __syncthreads();
    /* A spike makes no pair with itself. */
    if (t == 0 && a == b)
        histogram[job.lags] -= n;
    __syncthreads();
    int32_t *to = job.count + ((size_t) blockIdx.y * job.units + a) * length;
    bool fits = all <= UINT32_MAX;
    for (uint32_t k = t; k < length; k += THREADS) {
        fits = fits && histogram[k] <= INT32_MAX;
        to[k] = (int32_t) histogram[k];
    }
    if (!fits)
        *job.too_many = 1;
}

/* A recording on a device, and the histograms of one batch of targets. */
class lag_counter {
    const syn_recording &recording_;
    int32_t *out_;
    stream stream_;
    arrays own_;  /* of the pointers of the job */
    lag_job job_ = {};
    array<int64_t> tick_, other_tick_;
    array<uint32_t> unit_, other_unit_;
    array<unsigned char> scratch_;
    uint32_t most_;
    size_t shared_;

    /* Sorting is stable, so the ticks of a unit stay in time order. */
    void by_unit()
    {
        const syn_recording &r = recording_;
        tick_.upload(r.tick, r.events, stream_);
        unit_.upload(r.unit, r.events, stream_);
        cub::DoubleBuffer<uint32_t> units(unit_.get(), other_unit_.ensure(r.events));
        cub::DoubleBuffer<int64_t> ticks(tick_.get(), other_tick_.ensure(r.events));
        with_scratch(&scratch_, [&](void *memory, size_t &bytes) {
            return cub::DeviceRadixSort::SortPairs(
                memory, bytes, units, ticks, (int) r.events, 0,
                (int) syn_radix_bits(r.units), stream_);
        });
        job_.tick = ticks.Current();
        own_.upload(&job_.first, r.first, (size_t) r.units + 1, stream_);
    }

    size_t of_target() const
    {
        return (size_t) job_.units * (2 * (size_t) job_.lags + 1);
    }

    void choose_batch(size_t max_memory)
    {
        double bytes = std::min((double) max_memory, 0.9 * (double) free_memory());
        double events = recording_.events, each = 4.0 * (double) of_target();
        /* Ticks and units twice, and what sorting takes beside. */
        double left = bytes - 26 * events - 1e6;
        if (left < each)
            throw refusal(SYN_OVER_BUDGET,
                          "the spikes and the histograms of one unit take %.0f MB",
                          1e-6 * (bytes - left + each));
        double most = std::min((double) MOST_TARGETS, left / each);
        most = std::min(most, STEPS / (events + 1));
        most_ = (uint32_t) std::max(1.0, most);
    }
public:
    lag_counter(const syn_recording &recording, const syn_lag_options &o,
                size_t max_memory, int32_t *out)
        : recording_(recording), out_(out),
          shared_((2 * (size_t) o.lags + 1) * sizeof(uint32_t))
    {
        int room = shared_limit(current_device()) - 1024;
        if (shared_ > (size_t) room)
            throw refusal(SYN_TOO_LARGE,
                          "%u lags on a side are more than the %d that this GPU takes",
                          o.lags, room / 8 - 1);
        allow_shared(count_lags, shared_);
        job_.units = recording.units;
        job_.lags = o.lags;
        job_.bin = o.bin;
        job_.reach = syn_lag_reach(&o);
        choose_batch(max_memory);
        by_unit();
        own_.ensure(&job_.count, most_ * of_target());
        own_.ensure(&job_.too_many, 1);
    }

    uint32_t batch() const { return most_; }

    void run(uint32_t first, uint32_t n)
    {
        int too_many = 0;
        job_.target = first;
        fill(job_.too_many, 0, 1, stream_);
        launch(count_lags, {dim3(job_.units, n), THREADS, shared_}, stream_, job_);
        download(out_ + first * of_target(), job_.count, n * of_target(), stream_);
        download(&too_many, job_.too_many, 1, stream_);
        wait_for(stream_);
        if (too_many)
            throw refusal(SYN_TOO_LARGE, "%s", "");
    }
};

}  // namespace
}  // namespace gpu

/* ---- the door ---- */

syn_status syn_gpu_lag_histograms(const syn_recording *recording,
                                  const syn_lag_options *o, size_t max_memory,
                                  syn_gpu_call *call, int32_t *count)
{
    return gpu::status_with(call, [&] {
        gpu::memory_limit limit(max_memory);
        if (recording->units == 0)
            return;
        gpu::share_out(*call, recording->units, "units", [&](gpu::crew &work, int) {
            gpu::lag_counter counter(*recording, *o, max_memory, count);
            uint32_t first = 0, n;
            while ((n = work.take(counter.batch(), &first)) > 0)
                counter.run(first, n);
        });
    });
}
