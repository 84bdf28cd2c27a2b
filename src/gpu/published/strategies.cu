/* The published strategies' host: a thread for each device, between which the candidates
   of a batch are divided. */
extern "C" {
#include "gpu/published/strategies.h"
}

#include "gpu/base/crew.cuh"
#include "gpu/published/machines.cuh"
#include "gpu/published/occurrence.cuh"

#include <cstring>
#include <memory>

namespace gpu {
namespace {

constexpr size_t SMALL = 1024;            /* candidates: less is not worth halving */
constexpr size_t BATCH = (size_t) 1 << 20;  /* candidates of one device at a time */

/* One device with the recording on it. All but interrupt() is called by its thread. */
class worker {
    int device_;
    std::atomic<bool> stopped_{false};
    size_t piece_ = BATCH;  /* candidates that fit in its memory */
    stream stream_, signals_;
    stopwatch time_, all_time_;  /* of kernels; with copying */
    arrays own_;  /* of the pointers that follow */
    strategy_events events_ = {};
    strategy_batch batch_ = {};
    /* Kernels look at it so often that it has to be in memory of the device. */
    uint32_t *stop_ = nullptr;
    std::unique_ptr<strategy> strategy_;

    void upload(const strategy_task &task)
    {
        const syn_recording *r = task.recording;
        (syn_recording &) events_ = *r;
        events_.intervals = task.n_intervals;
        own_.upload(&events_.tick, r->tick, r->events, stream_);
        own_.upload(&events_.unit, r->unit, r->events, stream_);
        own_.upload(&events_.group, r->group, r->events, stream_);
        own_.upload(&events_.by_unit, r->by_unit, r->events, stream_);
        own_.upload(&events_.first, r->first, (size_t) r->units + 1, stream_);
        own_.upload(&events_.bounds, task.intervals, task.n_intervals, stream_);
        own_.ensure_clear(&stop_, 1, stream_);
        batch_.stop = stop_;
        wait_for(stream_);
    }

    void count_piece(const syn_candidate_batch &batch, size_t begin, size_t n,
                     uint32_t *count)
    {
        size_t row = n * sizeof(uint32_t), pitch = batch.n * sizeof(uint32_t);
        batch_.size = batch.size;
        batch_.n = batch_.all = (uint32_t) n;
        own_.ensure(&batch_.unit, batch.size * n);
        own_.ensure(&batch_.interval, (batch.size - 1) * n);
        own_.ensure(&batch_.count, n);
        auto put = [&](const uint32_t *to, const uint32_t *from, size_t rows) {
            check(cudaMemcpy2DAsync((uint32_t *) to, row, from + begin, pitch, row, rows,
                                    cudaMemcpyHostToDevice, stream_));
        };
        double published = notes().published_seconds;
        all_time_.start(stream_);
        put(batch_.unit, batch.unit, batch.size);
        put(batch_.interval, batch.interval, batch.size - 1);
        time_.start(stream_);
        strategy_->count(batch_, stream_);
        time_.stop(stream_);
        download(count + begin, batch_.count, n, stream_);
        all_time_.stop(stream_);
        wait_for(stream_);
        seconds += time_.seconds() - (notes().published_seconds - published);
        copy_seconds += all_time_.seconds() - time_.seconds();
        peak_memory = std::max<uint64_t>(peak_memory, memory_in_use());
    }
public:
    double seconds = 0;        /* of kernels, of the last call */
    double copy_seconds = 0;   /* of candidates and counts, of the last call */
    uint64_t peak_memory = 0;

    worker(const strategy_task &task, int device) : device_(device)
    {
        upload(task);
        if (task.options.strategy == SYN_GPU_OCCURRENCE)
            strategy_.reset(new occurrences(task, events_));
        else
            strategy_.reset(new machine_counter(task, events_, processors_of(device)));
    }

    const strategy_notes &notes() const { return strategy_->notes; }

    /* Counts in smaller pieces where the device has no memory for large ones. */
    void count(const syn_candidate_batch &batch, size_t begin, size_t n, uint32_t *count)
    {
        seconds = copy_seconds = 0;
        strategy_->notes = {};
        for (size_t at = 0; at < n && !stopped_;) {
            size_t piece = std::min(piece_, n - at);
            strategy_notes before = notes();
            try {
                count_piece(batch, begin + at, piece, count);
                at += piece;
            } catch (const failure &why) {
                if (why.error != cudaErrorMemoryAllocation || piece <= SMALL)
                    throw;
                strategy_->notes = before;
                wait_for(stream_);
                piece_ = (piece + 1) / 2;
            }
        }
    }

    void interrupt()
    {
        static const uint32_t yes = 1;
        stopped_ = true;
        if (cudaSetDevice(device_) == cudaSuccess)
            cudaMemcpyAsync(stop_, &yes, sizeof yes, cudaMemcpyHostToDevice, signals_);
        cudaStreamSynchronize(signals_);
    }
};

/* All devices, and the calling thread, which alone polls. */
class device_counter {
    strategy_task task_;
    syn_gpu_call *call_;
    std::vector<int> devices_;
    std::vector<std::unique_ptr<worker>> workers_;

    /* Runs run(d) for the first n devices, each in a thread of its own whose current
       device it is. */
    template <class F> void on_devices(size_t n, const syn_watch *watch, F run)
    {
        auto poll = [&] {
            if (syn_poll(watch, nullptr, 0, 0) == SYN_OK)
                return 0;
            device_scope scope;
            for (const std::unique_ptr<worker> &one : workers_)
                if (one)
                    one->interrupt();
            return 1;
        };
        auto call = [](void *data, const char *, double, double) {
            return (*(decltype(poll) *) data)();
        };
        syn_watch own = {call, &poll};
        crew crew;
        for (size_t d = 0; d < n; d++)
            crew.start(&devices_[d], 1, [&run, d](int) { run(d); });
        crew.wait(&own, nullptr);
    }

    /* Adds up what the first `used` devices took and noted. */
    void note(uint32_t size, size_t used, uint64_t *eliminated)
    {
        double longest = 0, copying = 0, published = 0;
        uint64_t memory = 0;
        size = std::min<uint32_t>(size, SYN_GPU_SIZES);
        for (size_t d = 0; d < workers_.size(); d++) {
            const worker &one = *workers_[d];
            const strategy_notes &now = one.notes();
            memory += one.peak_memory;
            if (d >= used)
                continue;
            longest = std::max(longest, one.seconds);
            copying = std::max(copying, one.copy_seconds);
            published = std::max(published, now.published_seconds);
            *eliminated += now.eliminated;
            report.unmatched[size] += now.unmatched;
            report.miscounted[size] += now.miscounted;
            report.segmented[size] += now.segmented;
            report.capacity[size] = std::max(report.capacity[size], now.capacity);
        }
        report.peak_memory = std::max(report.peak_memory, memory);
        report.seconds[size] += longest;
        report.copy_seconds[size] += copying;
        report.published_seconds[size] += published;
    }
public:
    syn_gpu_strategy_report report = {};

    device_counter(const strategy_task &task, const std::vector<int> &devices,
                   syn_gpu_call *call)
        : task_(task), call_(call), devices_(devices), workers_(devices.size())
    {
    }

    /* Where this fails the destructor runs all the same, as the other constructor is
       done: each worker ends on its own device. */
    device_counter(const strategy_task &task, syn_gpu_call *call)
        : device_counter(task, {call->devices, call->devices + call->n}, call)
    {
        if (task_.recording->events > 0 && task_.n_intervals > 0)
            on_devices(devices_.size(), nullptr, [&](size_t d) {
                workers_[d].reset(new worker(task_, devices_[d]));
            });
    }

    ~device_counter()
    {
        device_scope scope;
        for (size_t d = 0; d < workers_.size(); d++)
            if (cudaSetDevice(devices_[d]) == cudaSuccess)
                workers_[d].reset();
    }

    /* All candidates of a batch take the same work, so each device gets an equal part of
       them, in order. */
    syn_status count(const syn_candidate_batch &batch, const syn_watch *watch,
                     uint32_t *count, uint64_t *eliminated)
    {
        if (task_.recording->events == 0) {
            std::memset(count, 0, batch.n * sizeof *count);
            return SYN_OK;
        }
        return status_of(call_->reason, [&] {
            size_t n = workers_.size();
            size_t part = std::max((batch.n + n - 1) / n, (size_t) THREADS);
            part = (part + 31) / 32 * 32;
            size_t used = (batch.n + part - 1) / part;
            on_devices(used, watch, [&](size_t d) {
                size_t share = std::min(part, batch.n - d * part);
                workers_[d]->count(batch, d * part, share, count);
                report.candidates[d] += share;
            });
            note(batch.size, used, eliminated);
        });
    }
};

}  // namespace
}  // namespace gpu

syn_status syn_gpu_counter_open(const syn_recording *recording,
                                const syn_interval *intervals, uint32_t n_intervals,
                                const syn_gpu_strategy_options *options,
                                syn_gpu_call *call, syn_counter *out)
{
    std::memset(out, 0, sizeof *out);
    return gpu::status_with(call, [&] {
        gpu::strategy_task task = {recording, intervals, n_intervals, *options};
        auto all = std::make_unique<gpu::device_counter>(task, call);
        out->count = [](void *self, const syn_candidate_batch *batch,
                        const syn_watch *watch, uint32_t *count, uint64_t *eliminated) {
            return ((gpu::device_counter *) self)->count(*batch, watch, count,
                                                         eliminated);
        };
        out->most = std::max(gpu::BATCH * call->n,
                             (size_t) recording->units * n_intervals);
        out->self = all.release();
    });
}

void syn_gpu_counter_report(const syn_counter *counter, syn_gpu_strategy_report *report)
{
    *report = ((const gpu::device_counter *) counter->self)->report;
}

void syn_gpu_counter_close(syn_counter *counter)
{
    delete (gpu::device_counter *) counter->self;
    std::memset(counter, 0, sizeof *counter);
}
