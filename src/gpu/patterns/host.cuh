/* A device's part in mining patterns: what it holds, and how it goes through roots. */
#ifndef SYN_GPU_PATTERNS_HOST_CUH
#define SYN_GPU_PATTERNS_HOST_CUH

#include "gpu/base/device.cuh"
#include "gpu/base/outcome.cuh"
#include "gpu/patterns/found.cuh"
#include "gpu/patterns/plan.cuh"
#include "gpu/patterns/roots.cuh"
#include "gpu/patterns/search.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <atomic>
#include <cstring>

extern "C" {
#include "core/base/parallel.h"
}

namespace gpu {

constexpr double PATTERN_SECONDS = 0.05;     /* of a launch; Ctrl-C waits for two */
constexpr size_t PATTERN_SLAB = 8 << 20;     /* bytes that are copied at a time */
constexpr uint32_t PATTERN_SEGMENTS = 1 << 22;
constexpr uint32_t PATTERN_SHARED = 1 << 23; /* streams of what is given away, at most */
constexpr uint32_t PATTERN_ROOM = 1 << 15;   /* words of a warp, if there is memory */

/* How a search among some roots ended. */
enum class pattern_end { done, stopped, too_much };

/* Patterns of one size on the device, `first` numbers from the beginning. */
struct found_size {
    uint32_t size;
    uint64_t first, patterns;
};

/* Some of them, and where they go: at most a slab. */
struct found_piece {
    uint64_t first;
    size_t bytes;
    void *to;
};

/* A piece that is put where it belongs by several threads: fresh memory is slow to write
   to. */
struct piece_copy {
    const found_piece *piece;
    const uint8_t *from;
};

constexpr size_t PIECE_STEP = 1 << 20;  /* bytes that one thread copies at a time */

inline syn_status copy_step(void *context, size_t step, int)
{
    const piece_copy *c = (const piece_copy *) context;
    size_t at = step * PIECE_STEP;
    std::memcpy((uint8_t *) c->piece->to + at, c->from + at,
                std::min(PIECE_STEP, c->piece->bytes - at));
    return SYN_OK;
}

inline void copy_piece(const found_piece &piece, const uint8_t *from, int threads)
{
    piece_copy copy = {&piece, from};
    size_t steps = (piece.bytes + PIECE_STEP - 1) / PIECE_STEP;
    if (syn_parallel_for(steps, threads, nullptr, "", copy_step, &copy) != SYN_OK)
        throw refusal(SYN_NO_MEMORY, "%s", "the host has no threads left");
}

class pattern_device {
    const pattern_recording &recording_;
    pattern_job job_;
    pattern_batch batch_ = {};
    pattern_queue queue_ = {};
    pattern_memory memory_;
    stream stream_;
    array<uint32_t> bits_, first_, bin_, unit_, rank_;
    array<uint8_t> idle_;
    array<uint32_t> count_, list_, row_, used_, arena_, lent_;
    array<pattern_root> root_;
    array<uint8_t> pool_, out_, scratch_;
    array<pattern_segment> segment_;
    array<uint32_t> after_, queued_, number_, sorted_;
    array<uint64_t> place_, key_, sorted_key_;
    array<pattern_share> share_;
    array<unsigned long long> next_, counted_, before_;
    array<uint64_t> begin_;
    array<pattern_warp> state_;
    pinned<uint32_t> seen_;
    pinned<uint8_t> slab_;
    uint32_t blocks_ = 0;
    std::vector<pattern_root> roots_;
    std::vector<found_size> found_;

    static constexpr unsigned THREADS = 128;

    size_t shared() const { return PATTERN_WARPS * sizeof(pattern_warp); }
    size_t warps() const { return (size_t) blocks_ * PATTERN_WARPS; }
    size_t width() const { return job_.narrow ? sizeof(uint16_t) : sizeof(uint32_t); }

    template <class T> void clear(array<T> &what, size_t n)
    {
        what.ensure(n);
        check(cudaMemsetAsync(what.get(), 0, n * sizeof(T), stream_));
    }

    template <class T> const T *upload(array<T> *to, const std::vector<T> &from)
    {
        to->upload(from.data(), from.size(), stream_);
        return to->get();
    }

    void measure_device(int device)
    {
        int processors = 0, kilohertz = 0;
        check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount,
                                     device));
        check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
        int each = blocks_at_once(search_patterns, PATTERN_WARPS * WARP, shared());
        blocks_ = (uint32_t) (processors * each);
        queue_.cycles = (long long) (PATTERN_SECONDS * 1000 * kilohertz);
    }

    void upload_recording(const syn_pattern_search &s)
    {
        uint32_t events = s.raster->events;
        job_.first = upload(&first_, recording_.first);
        job_.bin = upload(&bin_, recording_.bin);
        job_.unit = upload(&unit_, recording_.unit);
        job_.rank = upload(&rank_, recording_.rank);
        idle_.upload(s.idle, job_.units, stream_);
        job_.idle = idle_.get();
        clear(bits_, (size_t) job_.units * job_.words);
        set_pattern_bits<<<blocks_for(events, THREADS), THREADS, 0, stream_>>>(
            job_, events, bits_.get());
        check(cudaGetLastError());
        job_.bits = bits_.get();
    }

    /* With little memory there are fewer warps, as each needs some. */
    void take_memory()
    {
        double most = memory_.arenas() / 4 / PATTERN_ROOM / PATTERN_WARPS;
        blocks_ = (uint32_t) std::min<double>(blocks_, std::max(most, 1.0));
        double room = std::min(memory_.arenas() / 4 / (double) warps(), 1e9);
        queue_.room = (uint32_t) std::max(1024.0, room) / 4 * 4;  /* whole 16 bytes */
        arena_.ensure(warps() * queue_.room);
        double chunks = memory_.pool() / (double) (PATTERN_CHUNK * width());
        batch_.chunks = (uint32_t) std::min(std::max(chunks, 1.0), 4e9);
        pool_.ensure((size_t) batch_.chunks * PATTERN_CHUNK * width());
        batch_.pool = pool_.get();
        queue_.arena = arena_.get();
        double lent = std::min(memory_.lent() / 4 / (double) warps(), 1e6);
        queue_.words_lent = (uint32_t) lent / 4 * 4 + 4;
        lent_.ensure(warps() * queue_.words_lent);
        queue_.lent = lent_.get();
    }

    const uint32_t *read_used()
    {
        check(cudaMemcpyAsync(seen_.get(), used_.get(), USED * sizeof(uint32_t),
                              cudaMemcpyDeviceToHost, stream_));
        check(cudaStreamSynchronize(stream_));
        return seen_.get();
    }

    /* Lists the children of the roots, and makes their rows. */
    void make_roots(root_range range)
    {
        size_t roots = range.end - range.first, items = roots * job_.places;
        uint64_t windows = recording_.first[range.end] - recording_.first[range.first];
        batch_.first = range.first;
        batch_.roots = (uint32_t) roots;
        clear(used_, USED);
        count_.ensure(items);
        list_.ensure(items);
        root_.ensure(roots);
        row_.ensure(windows * job_.row_words);
        batch_.used = used_.get();
        batch_.count = count_.get();
        batch_.list = list_.get();
        batch_.root = root_.get();
        batch_.row = row_.get();
        count_pattern_items<<<blocks_for(roots * job_.units * WARP, THREADS), THREADS, 0,
                              stream_>>>(job_, batch_);
        check(cudaGetLastError());
        list_pattern_items<<<blocks_for(roots * WARP, THREADS), THREADS, 0, stream_>>>(
            job_, batch_);
        check(cudaGetLastError());
        fill_pattern_rows<<<blocks_for(windows * job_.row_words, THREADS), THREADS, 0,
                            stream_>>>(job_, batch_);
        check(cudaGetLastError());
        batch_.parts = std::max(read_used()[USED_LISTED], 1u);
    }

    /* Room for streams and segments, and a queue that begins. */
    void take_queue()
    {
        uint64_t tasks = (uint64_t) batch_.roots * batch_.parts;
        double shared = std::min<double>(memory_.streams() / 12, PATTERN_SHARED);
        batch_.streams = (uint32_t) (tasks + (uint64_t) shared);
        batch_.segments = (uint32_t) std::min<uint64_t>(
            (uint64_t) batch_.streams + batch_.chunks, PATTERN_SEGMENTS);
        queue_.shares = (uint32_t) shared / 8 + 1;
        segment_.ensure(batch_.segments);
        share_.ensure(queue_.shares);
        after_.ensure(batch_.streams);
        clear(next_, 1);
        clear(queued_, 3);
        clear(state_, warps());
        check(cudaMemsetAsync(after_.get(), 0xff, batch_.streams * sizeof(uint32_t),
                              stream_));
        check(cudaMemsetAsync(share_.get(), 0, queue_.shares * sizeof(pattern_share),
                              stream_));
        *seen_.get() = (uint32_t) tasks;
        check(cudaMemcpyAsync(used_.get() + USED_STREAMS, seen_.get(), sizeof(uint32_t),
                              cudaMemcpyHostToDevice, stream_));
        batch_.segment = segment_.get();
        batch_.after = after_.get();
        queue_.next = next_.get();
        queue_.share = share_.get();
        queue_.first = queued_.get();
        queue_.end = queued_.get() + 1;
        queue_.active = queued_.get() + 2;
        queue_.state = state_.get();
    }

    /* Launch after launch, until all warps have seen the queue's end. */
    pattern_end search_roots(const std::atomic<bool> &stop)
    {
        take_queue();
        for (;;) {
            check(cudaMemsetAsync(used_.get() + USED_BUSY, 0, sizeof(uint32_t), stream_));
            search_patterns<<<blocks_, PATTERN_WARPS * WARP, shared(), stream_>>>(
                job_, batch_, queue_);
            check(cudaGetLastError());
            const uint32_t *used = read_used();
            if (used[USED_OVERFLOW])
                return pattern_end::too_much;
            if (stop)
                return pattern_end::stopped;
            if (!used[USED_BUSY])
                return pattern_end::done;
        }
    }

    void fetch_roots()
    {
        roots_.resize(batch_.roots);
        check(cudaMemcpyAsync(roots_.data(), root_.get(),
                              roots_.size() * sizeof(pattern_root),
                              cudaMemcpyDeviceToHost, stream_));
        check(cudaStreamSynchronize(stream_));
    }

    /* Segments by stream; those of one stream stay in their order. */
    void sort_segments(uint32_t n)
    {
        size_t bytes = 0;
        uint32_t tasks = batch_.roots * batch_.parts;
        place_.ensure(batch_.streams);
        place_streams<<<blocks_for(tasks, THREADS), THREADS, 0, stream_>>>(
            after_.get(), tasks, place_.get());
        check(cudaGetLastError());
        key_.ensure(n);
        number_.ensure(n);
        sorted_key_.ensure(n);
        sorted_.ensure(n);
        name_segments<<<blocks_for(n, THREADS), THREADS, 0, stream_>>>(
            segment_.get(), n, place_.get(), key_.get(), number_.get());
        check(cudaGetLastError());
        check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, key_.get(),
                                              sorted_key_.get(), number_.get(),
                                              sorted_.get(), n, 0, 64, stream_));
        scratch_.ensure(bytes);
        check(cub::DeviceRadixSort::SortPairs(scratch_.get(), bytes, key_.get(),
                                              sorted_key_.get(), number_.get(),
                                              sorted_.get(), n, 0, 64, stream_));
    }

    /* How many patterns of each size are in the segments before each. */
    void sum_counts(size_t n)
    {
        size_t bytes = 0;
        check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, counted_.get(),
                                            counted_.get(), n, stream_));
        scratch_.ensure(bytes);
        check(cub::DeviceScan::ExclusiveSum(scratch_.get(), bytes, counted_.get(),
                                            counted_.get(), n, stream_));
    }

    /* Where patterns of each size begin; fills found_. Returns all numbers. */
    uint64_t place_sizes(pattern_found *f)
    {
        std::vector<unsigned long long> before(f->sizes + 1);
        /* One more, behind all, holds how many there are. */
        check(cudaMemcpy2DAsync(before.data(), sizeof before[0], counted_.get(),
                                f->segments * sizeof before[0], sizeof before[0],
                                f->sizes + 1, cudaMemcpyDeviceToHost, stream_));
        check(cudaStreamSynchronize(stream_));
        std::vector<uint64_t> begin(f->sizes);
        uint64_t numbers = 0;
        found_.clear();
        for (uint32_t z = 0; z < f->sizes; z++) {
            found_size of = {f->least + z, numbers, before[z + 1] - before[z]};
            begin[z] = numbers;
            numbers += of.patterns * (of.size + 1);
            if (of.patterns > 0)
                found_.push_back(of);
        }
        f->begin = upload(&begin_, begin);
        f->first = upload(&before_, before);
        check(cudaStreamSynchronize(stream_));
        return numbers;
    }

    /* Puts what was found in order; false where that takes more room than there is. */
    bool sort_all()
    {
        const uint32_t *used = read_used();
        uint32_t n = std::min(used[USED_SEGMENTS], batch_.segments);
        found_.clear();
        if (n == 0)
            return true;
        pattern_found f = {};
        f.pool = pool_.get();
        f.segment = segment_.get();
        f.segments = n;
        f.least = job_.min_spikes;
        f.sizes = used[USED_LARGEST] - job_.min_spikes + 1;
        f.root = root_.get();
        size_t counts = (size_t) f.sizes * n;
        if (8.0 * (double) counts > 0.2 * memory_.sorted())
            return false;
        clear(counted_, counts + n);
        sort_segments(n);
        f.order = sorted_.get();
        f.count = counted_.get();
        if (job_.narrow)
            count_found<uint16_t><<<blocks_for(n, THREADS), THREADS, 0, stream_>>>(f);
        else
            count_found<uint32_t><<<blocks_for(n, THREADS), THREADS, 0, stream_>>>(f);
        check(cudaGetLastError());
        sum_counts(counts + n);
        out_.ensure(place_sizes(&f) * width());
        f.out = out_.get();
        unsigned blocks = blocks_for((size_t) n * WARP, THREADS);
        if (job_.narrow)
            sort_found<uint16_t><<<blocks, THREADS, 0, stream_>>>(f);
        else
            sort_found<uint32_t><<<blocks, THREADS, 0, stream_>>>(f);
        check(cudaGetLastError());
        return true;
    }

public:
    double preparing = 0, searching = 0, sorting = 0;  /* seconds */

    /* Holds so many bytes of the device. */
    pattern_device(const syn_pattern_search &s, const pattern_recording &recording,
                   int device, double bytes)
        : recording_(recording), job_(make_job(s, recording)), memory_{bytes},
          seen_(USED), slab_(2 * PATTERN_SLAB)
    {
        measure_device(device);
        upload_recording(s);
        take_memory();
        check(cudaStreamSynchronize(stream_));
    }

    /* Mines some roots. */
    pattern_end run(root_range range, const std::atomic<bool> &stop)
    {
        double begun = seconds_now();
        make_roots(range);
        double made = seconds_now();
        pattern_end end = search_roots(stop);
        double searched = seconds_now();
        preparing += made - begun;
        searching += searched - made;
        if (end != pattern_end::done)
            return end;
        fetch_roots();
        bool there = sort_all();
        check(cudaStreamSynchronize(stream_));
        sorting += seconds_now() - searched;
        return there ? end : pattern_end::too_much;
    }

    /* Of the roots that were mined last, whether one was given up. */
    bool failed(uint32_t root) const { return roots_[root - batch_.first].failed != 0; }

    const std::vector<found_size> &found() const { return found_; }

    size_t number_bytes() const { return width(); }

    /* Copies what was found to the host: the next piece is on its way while one is put
       where it belongs. */
    void copy(const std::vector<found_piece> &pieces, int threads)
    {
        event there[2];
        for (size_t k = 0; k <= pieces.size(); k++) {
            if (k < pieces.size()) {
                check(cudaMemcpyAsync(slab_.get() + k % 2 * PATTERN_SLAB,
                                      out_.get() + pieces[k].first * width(),
                                      pieces[k].bytes, cudaMemcpyDeviceToHost, stream_));
                check(cudaEventRecord(there[k % 2], stream_));
            }
            if (k == 0)
                continue;
            check(cudaEventSynchronize(there[(k - 1) % 2]));
            copy_piece(pieces[k - 1], slab_.get() + (k - 1) % 2 * PATTERN_SLAB, threads);
        }
    }
};

}  // namespace gpu

#endif
