/* A device's part in the maxima of surrogates: what it holds, and how it goes through
   batches of surrogates. */
#ifndef SYN_GPU_SPECTRUM_HOST_CUH
#define SYN_GPU_SPECTRUM_HOST_CUH

#include "core/base/radix.h"
#include "core/patterns/spectrum/spectrum.h"
#include "gpu/base/device.cuh"
#include "gpu/base/outcome.cuh"
#include "gpu/spectrum/raster.cuh"
#include "gpu/spectrum/search.cuh"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <vector>

namespace gpu {

constexpr double SPECTRUM_SECONDS = 0.06;  /* of a launch; Ctrl-C waits for two */
constexpr uint32_t SPECTRUM_MOST = 1024;   /* surrogates of a batch */
constexpr uint32_t SPECTRUM_MAKERS = 1 << 15;
constexpr double SPECTRUM_SHARE = 0.85;    /* of the free memory */

/* ---- what all devices share ---- */

/* The order of units, rare ones first, and where trials begin among bins. */
struct spectrum_order {
    std::vector<uint32_t> unit, rank, owner, base;
    uint64_t bins = 0;  /* with empty ones between trials */

    spectrum_order(const syn_trains &trains, int64_t width, uint32_t window)
        : unit(trains.units), rank(trains.units), owner(trains.events),
          base(trains.trials)
    {
        auto events = [&](uint32_t u) { return trains.first[u + 1] - trains.first[u]; };
        for (uint32_t u = 0; u < trains.units; u++) {
            unit[u] = u;
            std::fill_n(owner.begin() + trains.first[u], events(u), u);
        }
        std::stable_sort(unit.begin(), unit.end(), [&](uint32_t a, uint32_t b) {
            return events(a) < events(b);
        });
        for (uint32_t r = 0; r < trains.units; r++)
            rank[unit[r]] = r;
        for (uint32_t t = 0; t < trains.trials; t++) {
            base[t] = (uint32_t) bins;
            bins += (uint64_t) (trains.stop[t] - trains.start[t]) / width + 1 + window;
            if (bins > INT32_MAX)
                throw refusal(SYN_TOO_LARGE, "%s", "there are more bins than 2^31");
        }
    }
};

inline spectrum_task make_task(const syn_spectrum_options &o,
                               const spectrum_order &order)
{
    const syn_pattern_options &p = *o.patterns;
    spectrum_task task = {};
    task.width = o.width;
    task.units = o.plan->trains.units;
    task.events = o.plan->trains.events;
    task.window = p.window;
    task.lag_bits = (uint32_t) syn_radix_bits(p.window);
    task.blocks = (p.window + 31) / 32;
    task.words = (uint32_t) ((order.bins + 31) / 32 + task.blocks + 1);
    uint64_t items = (uint64_t) task.units * p.window;
    uint32_t unit_bits = (uint32_t) syn_radix_bits(task.units);
    if (unit_bits + task.lag_bits > 31 || items > INT32_MAX / 2)
        throw refusal(SYN_TOO_LARGE, "%u units and %u lags are more than a GPU takes",
                      task.units, p.window);
    task.row_words = (uint32_t) ((items + 31) / 32);
    task.min_spikes = p.min_spikes;
    task.min_units = p.min_units;
    task.min_count = p.min_count;
    task.max_count = p.max_count;
    task.limited = p.max_spikes < SPECTRUM_SIZES;
    task.most = task.limited ? p.max_spikes : SPECTRUM_SIZES - 1;
    task.durations = o.by_duration ? p.window : 1;
    task.strict = p.target == SYN_PATTERNS_CLOSED && p.max_spikes < UINT32_MAX;
    task.checked = task.strict || o.by_duration;
    return task;
}

/* ---- a device ---- */

class spectrum_device {
    const syn_spectrum_options &o_;
    const spectrum_order &order_;
    spectrum_task task_;
    spectrum_batch batch_ = {};
    spectrum_queue queue_ = {};
    stream stream_;
    surrogate_arrays plan_;
    array<uint32_t> unit_, rank_, owner_, base_;
    array<int64_t> ticks_;
    array<uint32_t> scratch_, bits_, bin_, windows_, listed_, item_, count_, row_;
    array<uint32_t> longest_, maximum_, failed_, arena_, busy_;
    array<unsigned long long> next_, first_;
    std::vector<unsigned long long> first_of_;
    array<warp_state> state_;
    pinned<uint32_t> seen_;   /* the warps that are busy */
    std::vector<uint32_t> longest_found_;
    uint32_t room_ = 0;       /* surrogates that a batch may have */
    uint32_t blocks_[std::size(SEARCHES)] = {};
    double sets_ = 0;
    std::vector<uint32_t> maximum_found_, failed_found_;

    size_t shared() const { return SPECTRUM_WARPS * sizeof(warp_state); }

    uint32_t warps() const
    {
        return *std::max_element(std::begin(blocks_), std::end(blocks_)) *
               SPECTRUM_WARPS;
    }

    void upload_plan()
    {
        size_t units = task_.units;
        task_.plan = plan_.upload(*o_.plan, stream_);
        unit_.upload(order_.unit.data(), units, stream_);
        rank_.upload(order_.rank.data(), units, stream_);
        owner_.upload(order_.owner.data(), task_.events, stream_);
        base_.upload(order_.base.data(), order_.base.size(), stream_);
        task_.unit = unit_.get();
        task_.rank = rank_.get();
        task_.owner = owner_.get();
        task_.base = base_.get();
    }

    /* Bytes that each surrogate of a batch takes. */
    double surrogate_bytes() const
    {
        double events = task_.events, units = task_.units, words = task_.row_words;
        return events * (12 + 4 * words) + 4 * units * task_.words +
               units * (8 + 256 * words) + 4.0 * task_.durations * SPECTRUM_SIZES;
    }

    /* Words that a node of the unit with most spikes, and what it is made from, may
       take; mostly far less. */
    double node_words() const
    {
        const syn_trains &t = o_.plan->trains;
        double most = 0;
        for (uint32_t u = 0; u < t.units; u++)
            most = std::max<double>(most, t.first[u + 1] - t.first[u]);
        return most * (3 + task_.row_words) + 512.0 * task_.row_words + 1024;
    }

    void plan_memory(uint32_t wanted)
    {
        size_t free = free_memory();
        double have = SPECTRUM_SHARE * free, each = surrogate_bytes();
        double makers = std::min<double>(SPECTRUM_MAKERS, (double) wanted * task_.units);
        double fixed = (double) warps() * sizeof(warp_state) +
                       4 * makers * o_.plan->scratch;
        double left = have - fixed;
        double room = std::min({1.5 * node_words(), 0.3 * left / warps() / 4, 1e9});
        queue_.room = (uint32_t) std::max(1024.0, room) / 4 * 4;  /* whole 16 bytes */
        left -= 4.0 * warps() * queue_.room;
        if (left < each)
            throw refusal(SYN_NO_MEMORY,
                          "one surrogate takes %.3g GB of a GPU that has %.3g GB free",
                          (fixed + each) / 1e9, free / 1e9);
        /* A warp takes a spike: no more of them than a grid has room for. */
        double warps_most = 4e9 / std::max<double>(task_.events, task_.units);
        double fit = std::min<double>({(double) wanted, left / each, warps_most});
        room_ = (uint32_t) std::max(fit, 1.0);
        batch_.makers = (uint32_t) makers;
    }

    void take_memory()
    {
        size_t n = room_, events = task_.events, roots = n * task_.units;
        size_t items = roots * task_.row_words * 32;
        ticks_.ensure(n * events);
        scratch_.ensure((size_t) batch_.makers * o_.plan->scratch);
        bits_.ensure(roots * task_.words);
        bin_.ensure(n * events);
        windows_.ensure(roots);
        listed_.ensure(roots);
        item_.ensure(items);
        count_.ensure(items);
        row_.ensure(n * events * task_.row_words);
        longest_.ensure(task_.units);
        maximum_.ensure(n * task_.durations * SPECTRUM_SIZES);
        failed_.ensure(n);
        state_.ensure(warps());
        arena_.ensure((size_t) warps() * queue_.room);
        next_.ensure(1);
        first_.ensure(task_.units + 1);
        busy_.ensure(1);
        batch_.tick = ticks_.get();
        batch_.scratch = scratch_.get();
        batch_.bits = bits_.get();
        batch_.bin = bin_.get();
        batch_.windows = windows_.get();
        batch_.listed = listed_.get();
        batch_.item = item_.get();
        batch_.count = count_.get();
        batch_.row = row_.get();
        batch_.longest = longest_.get();
        batch_.maximum = maximum_.get();
        batch_.failed = failed_.get();
        queue_.state = state_.get();
        queue_.arena = arena_.get();
        queue_.next = next_.get();
        queue_.first = first_.get();
        queue_.busy = busy_.get();
    }

    template <class T> void clear(array<T> &what, size_t n)
    {
        check(cudaMemsetAsync(what.get(), 0, n * sizeof(T), stream_));
    }

    uint32_t read(const uint32_t *from)
    {
        check(cudaMemcpyAsync(seen_.get(), from, sizeof(uint32_t), cudaMemcpyDeviceToHost,
                              stream_));
        check(cudaStreamSynchronize(stream_));
        return *seen_.get();
    }

    /* The tasks of each root, from the highest rank on. */
    void number_tasks()
    {
        longest_found_.resize(task_.units);
        check(cudaMemcpyAsync(longest_found_.data(), batch_.longest,
                              task_.units * sizeof(uint32_t), cudaMemcpyDeviceToHost,
                              stream_));
        check(cudaStreamSynchronize(stream_));
        first_of_.assign(1, 0);
        for (uint32_t root = task_.units; root-- > 0;) {
            uint64_t parts = blocks_for(longest_found_[root], SPECTRUM_TOGETHER);
            first_of_.push_back(first_of_.back() + parts * batch_.n);
        }
        first_.upload(first_of_.data(), first_of_.size(), stream_);
    }

    /* Surrogates, their bins, and the lists and rows of their roots. */
    void make_batch()
    {
        constexpr unsigned THREADS = 128;
        uint64_t events = (uint64_t) batch_.n * task_.events;
        uint64_t roots = (uint64_t) batch_.n * task_.units;
        clear(bits_, roots * task_.words);
        clear(longest_, task_.units);
        clear(maximum_, (size_t) batch_.n * task_.durations * SPECTRUM_SIZES);
        clear(failed_, batch_.n);
        clear(state_, warps());
        make_trains<<<blocks_for(batch_.makers, THREADS), THREADS, 0, stream_>>>(task_,
                                                                                 batch_);
        check(cudaGetLastError());
        set_bits<<<blocks_for(events, THREADS), THREADS, 0, stream_>>>(task_, batch_);
        check(cudaGetLastError());
        find_items<<<blocks_for(roots * WARP, THREADS), THREADS, 0, stream_>>>(task_,
                                                                               batch_);
        check(cudaGetLastError());
        number_tasks();
        fill_rows<<<blocks_for(events * WARP, THREADS), THREADS, 0, stream_>>>(task_,
                                                                               batch_);
        check(cudaGetLastError());
        check(cudaStreamSynchronize(stream_));
    }

    /* Launch after launch, until all warps have seen the queue's end, or `stop`. */
    void search_with(search_kernel kernel, uint32_t blocks, const std::atomic<bool> &stop)
    {
        uint32_t busy = 1;
        clear(next_, 1);
        while (busy > 0 && !stop) {
            clear(busy_, 1);
            kernel<<<blocks, SPECTRUM_WARPS * WARP, shared(), stream_>>>(task_, batch_,
                                                                         queue_);
            check(cudaGetLastError());
            busy = read(queue_.busy);
        }
    }

    void search(const std::atomic<bool> &stop)
    {
        for (size_t k = 0; k < std::size(SEARCHES); k++)
            search_with(SEARCHES[k], blocks_[k], stop);
    }

    void fetch()
    {
        size_t n = batch_.n;
        maximum_found_.resize(n * task_.durations * SPECTRUM_SIZES);
        failed_found_.resize(n);
        check(cudaMemcpy(maximum_found_.data(), batch_.maximum,
                         maximum_found_.size() * sizeof(uint32_t),
                         cudaMemcpyDeviceToHost));
        check(cudaMemcpy(failed_found_.data(), batch_.failed, n * sizeof(uint32_t),
                         cudaMemcpyDeviceToHost));
    }

    void count_sets()
    {
        std::vector<uint64_t> sets(warps());
        check(cudaMemcpy2D(sets.data(), sizeof(uint64_t), &state_.get()->sets,
                           sizeof(warp_state), sizeof(uint64_t), warps(),
                           cudaMemcpyDeviceToHost));
        for (uint64_t one : sets)
            sets_ += (double) one;
    }

public:
    double making = 0, searching = 0;  /* seconds */

    /* Takes memory for up to `wanted` surrogates at a time. */
    spectrum_device(const syn_spectrum_options &o, const spectrum_order &order,
                    int device, uint32_t wanted)
        : o_(o), order_(order), task_(make_task(o, order)), seen_(1)
    {
        int processors = 0, kilohertz = 0;
        check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount,
                                     device));
        check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
        for (size_t k = 0; k < std::size(SEARCHES); k++) {
            int each = blocks_at_once(SEARCHES[k], SPECTRUM_WARPS * WARP, shared());
            blocks_[k] = (uint32_t) (processors * each);
        }
        queue_.cycles = (long long) (SPECTRUM_SECONDS * 1000 * kilohertz);
        upload_plan();
        plan_memory(std::min(wanted, SPECTRUM_MOST));
        take_memory();
    }

    uint32_t room() const { return room_; }

    double sets() const { return sets_; }

    /* Of the last batch: [n][durations][SPECTRUM_SIZES], and [n] given up. */
    const uint32_t *maxima() const { return maximum_found_.data(); }
    const uint32_t *failed() const { return failed_found_.data(); }

    /* `n` surrogates from number `first` on of those asked for; false when stopped. */
    bool run(uint32_t first, uint32_t n, const std::atomic<bool> &stop)
    {
        batch_.first = o_.first + first;
        batch_.n = n;
        double begun = seconds_now();
        make_batch();
        double made = seconds_now();
        search(stop);
        making += made - begun;
        searching += seconds_now() - made;
        if (stop)
            return false;
        fetch();
        count_sets();
        return true;
    }
};

}  // namespace gpu

#endif
