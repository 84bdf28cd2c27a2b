/* The published strategies' host: a thread for each device, between which the candidates
   of a batch are divided. */
#include "gpu/published/strategies.h"

#include "gpu/base/device.cuh"
#include "gpu/published/occurrence.cuh"
#include "gpu/base/outcome.cuh"
#include "gpu/published/published.cuh"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <thread>

namespace {

using gpu::check;
using gpu::outcome;
using gpu::outcome_of;

constexpr size_t SMALL = 1024;            /* candidates: less is not worth halving */
constexpr size_t BATCH = (size_t) 1 << 20;  /* candidates of one device at a time */
constexpr auto POLL_EVERY = std::chrono::milliseconds(50);

struct task {
    const syn_recording *recording;
    const syn_interval *intervals;
    uint32_t n_intervals;
    syn_gpu_strategy_options options;
};

/* One that runs state machines. */
std::unique_ptr<gpu::strategy> make_published(const syn_gpu_strategy_options &o,
                                              gpu::machines &shared,
                                              gpu::strategy_notes *notes)
{
    bool published = o.published != 0;
    switch (o.strategy) {
    case SYN_GPU_PTPE:
        return std::unique_ptr<gpu::strategy>(new gpu::ptpe(shared, notes));
    case SYN_GPU_MTPE:
        return std::unique_ptr<gpu::strategy>(
            new gpu::mtpe(shared, o.segments, published, notes));
    case SYN_GPU_HYBRID:
        return std::unique_ptr<gpu::strategy>(
            new gpu::hybrid(shared, o.a, o.b, o.segments, published, notes));
    default:
        return std::unique_ptr<gpu::strategy>(
            new gpu::two_pass(shared, o.a, o.b, o.segments, published, notes));
    }
}

/* One device with the recording on it. All but interrupt() is called by its thread. */
class worker {
    const task &task_;
    int device_;
    std::atomic<bool> stopped_{false};
    size_t piece_ = BATCH;  /* candidates that fit in its memory */
    gpu::stream stream_, signals_;
    gpu::stopwatch time_, all_time_;  /* of kernels; with copying */
    gpu::array<int64_t> tick_, bounds_;
    gpu::array<uint32_t> unit_of_, group_, by_unit_, row_, first_;
    gpu::array<uint32_t> unit_, interval_, count_, stop_;
    gpu::strategy_notes notes_;
    std::unique_ptr<gpu::machines> machines_;  /* none for a thread per occurrence */
    std::unique_ptr<gpu::strategy> strategy_;

    void upload();
    void count_piece(const syn_candidate_batch &batch, size_t begin, size_t n,
                     uint32_t *count);
public:
    double seconds = 0;        /* of kernels, of the last call */
    double copy_seconds = 0;   /* of candidates and counts, of the last call */
    uint64_t peak_memory = 0;

    worker(const task &task, int device);
    const gpu::strategy_notes &notes() const { return notes_; }
    void count(const syn_candidate_batch &batch, size_t begin, size_t n, uint32_t *count);
    void interrupt();
};

worker::worker(const task &task, int device) : task_(task), device_(device)
{
    int processors = 0;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    upload();
    gpu::strategy_events events = {
        task.recording->events, task.recording->units, tick_.get(), unit_of_.get(),
        group_.get(), by_unit_.get(), row_.get(), first_.get(), bounds_.get(),
        task.n_intervals};
    gpu::strategy_host host = {task.recording, task.intervals, task.n_intervals,
                               task.options.min_count, device, processors};
    if (task.options.strategy == SYN_GPU_OCCURRENCE) {
        strategy_ = gpu::make_occurrence(events, host, task.options.compaction,
                                         task.options.dedup != 0);
    } else {
        machines_.reset(new gpu::machines(events, host));
        strategy_ = make_published(task.options, *machines_, &notes_);
    }
}

void worker::upload()
{
    const syn_recording *r = task_.recording;
    std::vector<int64_t> bounds(2 * task_.n_intervals);
    for (uint32_t k = 0; k < task_.n_intervals; k++) {
        bounds[2 * k] = task_.intervals[k].low;
        bounds[2 * k + 1] = task_.intervals[k].high;
    }
    tick_.upload(r->tick, r->events, stream_);
    unit_of_.upload(r->unit, r->events, stream_);
    group_.upload(r->group, r->events, stream_);
    by_unit_.upload(r->by_unit, r->events, stream_);
    row_.upload(r->row, r->events, stream_);
    first_.upload(r->first, (size_t) r->units + 1, stream_);
    bounds_.upload(bounds.data(), bounds.size(), stream_);
    stop_.ensure(1);
    check(cudaMemsetAsync(stop_.get(), 0, sizeof(uint32_t), stream_));
    check(cudaStreamSynchronize(stream_));
}

void worker::count_piece(const syn_candidate_batch &batch, size_t begin, size_t n,
                         uint32_t *count)
{
    size_t row = n * sizeof(uint32_t), pitch = batch.n * sizeof(uint32_t);
    unit_.ensure(batch.size * n);
    interval_.ensure((batch.size - 1) * n);
    count_.ensure(n);
    double published = notes_.published_seconds;
    all_time_.start(stream_);
    check(cudaMemcpy2DAsync(unit_.get(), row, batch.unit + begin, pitch, row, batch.size,
                            cudaMemcpyHostToDevice, stream_));
    check(cudaMemcpy2DAsync(interval_.get(), row, batch.interval + begin, pitch, row,
                            batch.size - 1, cudaMemcpyHostToDevice, stream_));
    time_.start(stream_);
    strategy_->count({batch.size, (uint32_t) n, unit_.get(), interval_.get(),
                      count_.get(), stop_.get()}, stream_);
    time_.stop(stream_);
    check(cudaMemcpyAsync(count + begin, count_.get(), row, cudaMemcpyDeviceToHost,
                          stream_));
    all_time_.stop(stream_);
    check(cudaStreamSynchronize(stream_));
    seconds += time_.seconds() - (notes_.published_seconds - published);
    copy_seconds += all_time_.seconds() - time_.seconds();
    peak_memory = std::max<uint64_t>(peak_memory, gpu::memory_in_use());
}

/* Counts in smaller pieces where the device has no memory for large ones. */
void worker::count(const syn_candidate_batch &batch, size_t begin, size_t n,
                   uint32_t *count)
{
    seconds = copy_seconds = 0;
    for (size_t at = 0; at < n && !stopped_;) {
        size_t piece = std::min(piece_, n - at);
        gpu::strategy_notes before = notes_;
        try {
            count_piece(batch, begin + at, piece, count);
            at += piece;
        } catch (const gpu::failure &why) {
            if (why.error != cudaErrorMemoryAllocation || piece <= SMALL)
                throw;
            notes_ = before;
            check(cudaStreamSynchronize(stream_));
            piece_ = (piece + 1) / 2;
        }
    }
}

void worker::interrupt()
{
    static const uint32_t yes = 1;
    stopped_ = true;
    if (cudaSetDevice(device_) == cudaSuccess)
        cudaMemcpyAsync(stop_.get(), &yes, sizeof yes, cudaMemcpyHostToDevice, signals_);
    cudaStreamSynchronize(signals_);
}

/* All devices, and the calling thread, which alone polls. */
class crew {
    task task_;
    std::vector<int> devices_;
    std::vector<std::unique_ptr<worker>> workers_;
    char *reason_;
    syn_gpu_strategy_report report_ = {};

    outcome on_devices(size_t n, const syn_watch *watch,
                       const std::function<void(size_t)> &run);
    void note(uint32_t size, const std::vector<gpu::strategy_notes> &before,
              uint64_t *eliminated);
public:
    crew(const task &task, char *reason)
        : task_(task),
          devices_(task.options.devices, task.options.devices + task.options.n_devices),
          reason_(reason) {}
    outcome open();
    syn_status count(const syn_candidate_batch &batch, const syn_watch *watch,
                     uint32_t *count, uint64_t *eliminated);
    const syn_gpu_strategy_report &report() const { return report_; }
    size_t most() const
    {
        size_t of_a_parent = (size_t) task_.recording->units * task_.n_intervals;
        return std::max(BATCH * devices_.size(), of_a_parent);
    }
    ~crew()
    {
        gpu::device_scope scope;
        for (size_t d = 0; d < workers_.size(); d++)
            if (cudaSetDevice(devices_[d]) == cudaSuccess)
                workers_[d].reset();
    }
};

/* Runs run(d) for the first n devices, each in a thread of its own whose current device
   it is. Returns the first outcome that is not SYN_OK; SYN_INTERRUPTED comes first. */
outcome crew::on_devices(size_t n, const syn_watch *watch,
                         const std::function<void(size_t)> &run)
{
    std::vector<outcome> outcomes(n);
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable changed;
    size_t finished = 0;
    outcome out = outcome_of([&] {
        for (size_t d = 0; d < n; d++) {
            threads.emplace_back([&, d] {
                outcomes[d] = outcome_of([&] {
                    check(cudaSetDevice(devices_[d]));
                    run(d);
                });
                std::lock_guard<std::mutex> lock(mutex);
                finished++;
                changed.notify_one();
            });
        }
    });
    bool interrupted = false;
    std::unique_lock<std::mutex> lock(mutex);
    auto all_done = [&] { return finished == threads.size(); };
    while (!changed.wait_for(lock, POLL_EVERY, all_done)) {
        lock.unlock();
        if (!interrupted && syn_poll(watch, nullptr, 0, 0) != SYN_OK) {
            interrupted = true;
            gpu::device_scope scope;
            for (const std::unique_ptr<worker> &one : workers_)
                if (one)
                    one->interrupt();
        }
        lock.lock();
    }
    lock.unlock();
    for (std::thread &one : threads)
        one.join();
    for (size_t d = 0; d < n && out.status == SYN_OK; d++)
        out = outcomes[d];
    if (interrupted) {
        out = outcome();
        out.status = SYN_INTERRUPTED;
    }
    return out;
}

outcome crew::open()
{
    outcome out = outcome_of([&] {
        gpu::check_devices(devices_.data(), (int) devices_.size());
        workers_.resize(devices_.size());
    });
    if (out.status != SYN_OK || task_.recording->events == 0 || task_.n_intervals == 0)
        return out;
    return on_devices(devices_.size(), nullptr, [&](size_t d) {
        workers_[d].reset(new worker(task_, devices_[d]));
    });
}

/* All candidates of a batch take the same work, so each device gets an equal part of
   them, in order. */
syn_status crew::count(const syn_candidate_batch &batch, const syn_watch *watch,
                       uint32_t *count, uint64_t *eliminated)
{
    if (task_.recording->events == 0) {
        std::memset(count, 0, batch.n * sizeof *count);
        return SYN_OK;
    }
    size_t n = workers_.size();
    size_t part = std::max((batch.n + n - 1) / n, (size_t) gpu::THREADS);
    part = (part + 31) / 32 * 32;
    size_t used = (batch.n + part - 1) / part;
    std::vector<gpu::strategy_notes> before;
    for (const std::unique_ptr<worker> &one : workers_)
        before.push_back(one->notes());
    outcome out = on_devices(used, watch, [&](size_t d) {
        size_t share = std::min(part, batch.n - d * part);
        workers_[d]->count(batch, d * part, share, count);
        report_.candidates[d] += share;
    });
    std::snprintf(reason_, SYN_GPU_TEXT, "%s", out.reason);
    if (out.status != SYN_OK)
        return out.status;
    double longest = 0, copying = 0;
    uint64_t memory = 0;
    for (size_t d = 0; d < used; d++) {
        longest = std::max(longest, workers_[d]->seconds);
        copying = std::max(copying, workers_[d]->copy_seconds);
    }
    for (const std::unique_ptr<worker> &one : workers_)
        memory += one->peak_memory;
    report_.peak_memory = std::max(report_.peak_memory, memory);
    uint32_t size = std::min<uint32_t>(batch.size, SYN_GPU_SIZES);
    report_.seconds[size] += longest;
    report_.copy_seconds[size] += copying;
    note(batch.size, before, eliminated);
    return SYN_OK;
}

/* Adds up what the strategies have noted since `before`. */
void crew::note(uint32_t size, const std::vector<gpu::strategy_notes> &before,
                uint64_t *eliminated)
{
    size = std::min<uint32_t>(size, SYN_GPU_SIZES);
    double published = 0;
    for (size_t d = 0; d < workers_.size(); d++) {
        const gpu::strategy_notes &now = workers_[d]->notes();
        *eliminated += now.eliminated - before[d].eliminated;
        report_.unmatched[size] += now.unmatched - before[d].unmatched;
        report_.miscounted[size] += now.miscounted - before[d].miscounted;
        published = std::max(published,
                             now.published_seconds - before[d].published_seconds);
        report_.segmented[size] += now.segmented - before[d].segmented;
        report_.capacity[size] = std::max(report_.capacity[size], now.capacity);
    }
    report_.published_seconds[size] += published;
}

syn_status count_batch(void *self, const syn_candidate_batch *batch,
                       const syn_watch *watch, uint32_t *count, uint64_t *eliminated)
{
    return ((crew *) self)->count(*batch, watch, count, eliminated);
}

}  // namespace

extern "C" syn_status syn_gpu_counter_open(const syn_recording *recording,
                                           const syn_interval *intervals,
                                           uint32_t n_intervals,
                                           const syn_gpu_strategy_options *options,
                                           syn_counter *out, char *reason)
{
    std::unique_ptr<crew> all;
    std::memset(out, 0, sizeof *out);
    outcome opened = outcome_of([&] {
        all.reset(new crew({recording, intervals, n_intervals, *options}, reason));
    });
    if (opened.status == SYN_OK)
        opened = all->open();
    std::snprintf(reason, SYN_GPU_TEXT, "%s", opened.reason);
    if (opened.status != SYN_OK)
        return opened.status;
    out->count = count_batch;
    out->most = all->most();
    out->self = all.release();
    return SYN_OK;
}

extern "C" void syn_gpu_counter_report(const syn_counter *counter,
                                       syn_gpu_strategy_report *report)
{
    *report = ((const crew *) counter->self)->report();
}

extern "C" void syn_gpu_counter_close(syn_counter *counter)
{
    delete (crew *) counter->self;
    std::memset(counter, 0, sizeof *counter);
}
