/* A device's part in mining patterns: what it holds, and how it goes through roots. */
#pragma once

#include "gpu/patterns/search.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <atomic>

namespace gpu {

/* ---- what all devices share: the recording in the order of the search ---- */

constexpr uint32_t PATTERN_STRIP = 32;  /* lags that rows put together */

/* Roots first up to end. */
struct root_range {
    uint32_t first, end;
};

/* The recording by rank. Bins are numbered anew: gaps longer than a window are cut. */
struct pattern_recording {
    std::vector<uint32_t> first, bin, unit, rank;
    std::vector<size_t> share;  /* [units + 1] the first share of a root or later ones */
    root_range whole = {0, 0};  /* roots of which all shares are to be mined */
    uint64_t bins = 0;

    explicit pattern_recording(const syn_pattern_search &s)
        : first(1, 0), unit(s.ranked, s.ranked + s.raster->units)
    {
        const syn_raster &r = *s.raster;
        std::vector<uint32_t> number = renumber(r, s.options->window);
        bin.reserve(r.events);
        first.reserve(r.units + 1);
        for (uint32_t u : unit) {
            for (uint32_t i = r.unit_first[u]; i < r.unit_first[u + 1]; i++)
                bin.push_back(number[r.unit_bin[i]]);
            first.push_back((uint32_t) bin.size());
        }
        uint32_t lags = s.options->window - 1;
        rank.resize((size_t) r.units * s.options->window);
        for (uint32_t u = 0; u < r.units; u++)
            rank[u] = u;
        for (size_t p = r.units; p < rank.size(); p++)
            rank[p] = (uint32_t) ((p - r.units) / lags);
        find_roots(s);
    }

private:
    std::vector<uint32_t> renumber(const syn_raster &r, uint32_t window)
    {
        std::vector<uint32_t> number(r.bins);
        for (uint32_t b = 0; b < r.bins; b++) {
            if (b > 0)
                bins += std::min<uint64_t>(r.number[b] - r.number[b - 1], window);
            number[b] = (uint32_t) bins;
        }
        bins++;
        return number;
    }

    void find_roots(const syn_pattern_search &s)
    {
        uint32_t units = s.raster->units;
        share.resize((size_t) units + 1);
        size_t k = 0;
        for (uint32_t r = 0; r <= units; r++) {
            while (k < s.shares && s.share[k].root < r)
                k++;
            share[r] = k;
        }
        if (s.shares == 0)
            return;
        const syn_pattern_share &front = s.share[0], &back = s.share[s.shares - 1];
        whole.first = front.root + (front.number > 0);
        whole.end = back.root + (back.number + 1 == back.of);
        whole.end = std::max(whole.end, whole.first);
    }
};

inline pattern_job make_job(const syn_pattern_search &s,
                            const pattern_recording &recording)
{
    const syn_pattern_options &o = *s.options;
    pattern_job job = {};
    (syn_pattern_options &) job = o;
    job.units = s.raster->units;
    job.places = job.units * o.window;
    job.strip = std::max(1u, std::min(o.window - 1, PATTERN_STRIP));
    job.strips = (o.window - 1 + job.strip - 1) / job.strip;
    job.words = (uint32_t) ((recording.bins + o.window) / 32 + 3);
    job.unit_words = (job.units + 31) / 32;
    job.row_words = job.unit_words * (1 + job.strips);
    job.closed = o.target == SYN_PATTERNS_CLOSED || o.target == SYN_PATTERNS_MAXIMAL;
    job.barred = o.target != SYN_PATTERNS_FREQUENT;
    job.maximal = o.target == SYN_PATTERNS_MAXIMAL;
    job.narrow = s.out->width == sizeof(uint16_t);
    return job;
}

/* How the memory of a device is used: bytes. */
struct pattern_memory {
    double all;
    double arenas() const { return 0.31 * all; }
    double lent() const { return 0.08 * all; }
    double streams() const { return 0.01 * all; }
    double roots() const { return 0.2 * all; }
    double pool() const { return 0.15 * all; }
    double sorted() const { return 0.2 * all; }  /* with what sorting takes */
};

inline double root_bytes(const pattern_job &job, const pattern_recording &recording,
                         uint32_t root)
{
    double windows = recording.first[root + 1] - recording.first[root];
    return 20.0 * job.places + 4.0 * windows * job.row_words;
}

/* Ranges of roots that fit into so many bytes, the last roots first: they have most work.
   Roots that do not fit by themselves are left out. */
inline std::vector<root_range> cut_roots(const pattern_job &job,
                                         const pattern_recording &recording, double bytes,
                                         uint32_t at_least)
{
    const root_range &whole = recording.whole;
    uint64_t parts = job.places;
    /* Warps and tasks have numbers of 32 bits. */
    uint64_t most = std::min<uint64_t>(0xf0000000u / parts, 4000000000u / job.units);
    double all = 0;
    for (uint32_t r = whole.first; r < whole.end; r++)
        all += root_bytes(job, recording, r);
    bytes = std::min(bytes, std::max(all / at_least, all / 4096));
    std::vector<root_range> out;
    for (uint32_t end = whole.end, r = end; r > whole.first;) {
        double held = 0;
        while (r > whole.first && end - r < std::max<uint64_t>(most, 1) &&
               (held == 0 || held + root_bytes(job, recording, r - 1) <= bytes))
            held += root_bytes(job, recording, --r);
        out.push_back({r, end});
        end = r;
    }
    return out;
}

/* ---- a device ---- */

constexpr double PATTERN_SECONDS = 0.05;     /* of a launch; Ctrl-C waits for two */
constexpr size_t PATTERN_SLAB = 16 << 20;    /* bytes that are copied at a time */
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

class pattern_device {
    const pattern_recording &recording_;
    pattern_job job_;
    pattern_batch batch_ = {};
    pattern_queue queue_ = {};
    pattern_found sorted_ = {};
    pattern_memory memory_;
    stream stream_;
    arrays own_;  /* of the pointers of all these */
    uint64_t *place_ = nullptr, *key_[2] = {};   /* two, for sorting */
    uint32_t *number_[2] = {};
    array<uint8_t> scratch_;
    pinned<uint32_t> seen_;
    pinned<uint8_t> slab_;
    uint32_t blocks_ = 0;
    std::vector<pattern_root> roots_;
    std::vector<found_size> found_;

    static constexpr unsigned THREADS = 128;

    size_t shared() const { return TREE_WARPS * sizeof(pattern_warp); }
    size_t warps() const { return (size_t) blocks_ * TREE_WARPS; }

    template <class KERNEL, class... ARGUMENTS>
    void start(KERNEL kernel, size_t threads, const ARGUMENTS &...with)
    {
        launch(kernel, over(threads, THREADS), stream_, with...);
    }

    void upload_recording(const syn_pattern_search &s)
    {
        own_.upload(&job_.first, recording_.first, stream_);
        own_.upload(&job_.bin, recording_.bin, stream_);
        own_.upload(&job_.unit, recording_.unit, stream_);
        own_.upload(&job_.rank, recording_.rank, stream_);
        own_.upload(&job_.idle, s.idle, job_.units, stream_);
        uint32_t events = s.raster->events;
        own_.ensure_clear(&job_.bits, (size_t) job_.units * job_.words, stream_);
        start(set_pattern_bits, events, job_, events, job_.bits);
    }

    /* With little memory there are fewer warps, as each needs some. */
    void take_memory()
    {
        double most = memory_.arenas() / 4 / PATTERN_ROOM / TREE_WARPS;
        blocks_ = (uint32_t) std::min<double>(blocks_, std::max(most, 1.0));
        double room = std::min(memory_.arenas() / 4 / (double) warps(), 1e9);
        queue_.room = (uint32_t) std::max(1024.0, room) / 4 * 4;  /* whole 16 bytes */
        own_.ensure(&queue_.arena, warps() * queue_.room);
        double chunks = memory_.pool() / (double) (PATTERN_CHUNK * width());
        batch_.chunks = (uint32_t) std::min(std::max(chunks, 1.0), 4e9);
        size_t pool = (size_t) batch_.chunks * PATTERN_CHUNK * width();
        batch_.pool = own_.take(&batch_.pool, pool);
        double lent = std::min(memory_.lent() / 4 / (double) warps(), 1e6);
        queue_.words_lent = (uint32_t) lent / 4 * 4 + 4;
        own_.ensure(&queue_.lent, warps() * queue_.words_lent);
    }

    const uint32_t *read_used()
    {
        download(seen_.get(), batch_.used, USED, stream_);
        wait_for(stream_);
        return seen_.get();
    }

    /* Lists the children of the roots, and makes their rows. */
    void make_roots(root_range range)
    {
        size_t roots = range.end - range.first, items = roots * job_.places;
        uint64_t windows = recording_.first[range.end] - recording_.first[range.first];
        batch_.first = range.first;
        batch_.roots = (uint32_t) roots;
        own_.ensure_clear(&batch_.used, USED, stream_);
        own_.ensure(&batch_.count, items);
        own_.ensure(&batch_.list, items);
        own_.ensure(&batch_.root, roots);
        own_.ensure(&batch_.row, windows * job_.row_words);
        start(count_pattern_items, roots * job_.units * WARP, job_, batch_);
        start(list_pattern_items, roots * WARP, job_, batch_);
        start(fill_pattern_rows, windows * job_.row_words, job_, batch_);
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
        own_.ensure(&batch_.segment, batch_.segments);
        own_.ensure_clear(&queue_.share, queue_.shares, stream_);
        own_.ensure(&batch_.after, batch_.streams);
        own_.ensure_clear(&queue_.next, 1, stream_);
        own_.ensure_clear(&queue_.first, 3, stream_);
        own_.ensure_clear(&queue_.state, warps(), stream_);
        fill(batch_.after, 0xff, batch_.streams, stream_);
        *seen_.get() = (uint32_t) tasks;
        send(batch_.used + USED_STREAMS, seen_.get(), 1, stream_);
        queue_.end = queue_.first + 1;
        queue_.active = queue_.first + 2;
    }

    /* Launch after launch, until all warps have seen the queue's end. */
    pattern_end search_roots(const std::atomic<bool> &stop)
    {
        take_queue();
        for (;;) {
            fill(batch_.used + USED_BUSY, 0, 1, stream_);
            launch(search_patterns, {blocks_, TREE_WARPS * WARP, shared()}, stream_, job_,
                   batch_, queue_);
            const uint32_t *used = read_used();
            if (used[USED_OVERFLOW])
                return pattern_end::too_much;
            if (stop)
                return pattern_end::stopped;
            if (!used[USED_BUSY])
                return pattern_end::done;
        }
    }

    /* Segments by stream; those of one stream stay in their order. */
    void sort_segments(uint32_t n)
    {
        uint32_t tasks = batch_.roots * batch_.parts;
        own_.ensure(&place_, batch_.streams);
        start(place_streams, tasks, batch_.after, tasks, place_);
        own_.ensure_all(n, &key_[0], &key_[1], &number_[0], &number_[1]);
        start(name_segments, n, batch_.segment, n, place_, key_[0], number_[0]);
        with_scratch(&scratch_, [&](void *memory, size_t &bytes) {
            return cub::DeviceRadixSort::SortPairs(memory, bytes, key_[0], key_[1],
                                                   number_[0], number_[1], n, 0, 64,
                                                   stream_);
        });
    }

    /* Where patterns of each size begin; fills found_. Returns all numbers. */
    uint64_t place_sizes()
    {
        pattern_found &f = sorted_;
        std::vector<unsigned long long> before(f.sizes + 1);
        /* One more, behind all, holds how many there are. */
        check(cudaMemcpy2DAsync(before.data(), sizeof before[0], f.count,
                                f.segments * sizeof before[0], sizeof before[0],
                                f.sizes + 1, cudaMemcpyDeviceToHost, stream_));
        wait_for(stream_);
        std::vector<uint64_t> begin(f.sizes);
        uint64_t numbers = 0;
        found_.clear();
        for (uint32_t z = 0; z < f.sizes; z++) {
            found_size of = {f.least + z, numbers, before[z + 1] - before[z]};
            begin[z] = numbers;
            numbers += of.patterns * (of.size + 1);
            if (of.patterns > 0)
                found_.push_back(of);
        }
        own_.upload(&f.begin, begin, stream_);
        own_.upload(&f.first, before, stream_);
        wait_for(stream_);
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
        pattern_found &f = sorted_;
        f.pool = batch_.pool;
        f.segment = batch_.segment;
        f.segments = n;
        f.least = job_.min_spikes;
        f.sizes = used[USED_LARGEST] - job_.min_spikes + 1;
        f.root = batch_.root;
        size_t counts = (size_t) f.sizes * n;
        if (8.0 * (double) counts > 0.2 * memory_.sorted())
            return false;
        own_.ensure_clear(&f.count, counts + n, stream_);
        sort_segments(n);
        f.order = number_[1];
        start(job_.narrow ? count_found<uint16_t> : count_found<uint32_t>, n, f);
        /* How many patterns of each size are in the segments before each. */
        with_scratch(&scratch_, [&](void *memory, size_t &bytes) {
            return cub::DeviceScan::ExclusiveSum(memory, bytes, f.count, f.count,
                                                 counts + n, stream_);
        });
        f.out = own_.take(&f.out, std::max<uint64_t>(place_sizes() * width(), 1));
        start(job_.narrow ? sort_found<uint16_t> : sort_found<uint32_t>,
              (size_t) n * WARP, f);
        return true;
    }

public:
    /* Holds so many bytes of the device. */
    pattern_device(const syn_pattern_search &s, const pattern_recording &recording,
                   int device, double bytes)
        : recording_(recording), job_(make_job(s, recording)), memory_{bytes},
          seen_(USED), slab_(2 * PATTERN_SLAB)
    {
        blocks_ = blocks_on(device, search_patterns, shared());
        queue_.cycles = cycles_in(PATTERN_SECONDS, device);
        upload_recording(s);
        take_memory();
        wait_for(stream_);
    }

    /* Mines some roots. */
    pattern_end run(root_range range, const std::atomic<bool> &stop)
    {
        make_roots(range);
        pattern_end end = search_roots(stop);
        if (end != pattern_end::done)
            return end;
        roots_.resize(batch_.roots);
        download(roots_.data(), batch_.root, roots_.size(), stream_);
        bool there = sort_all();
        wait_for(stream_);
        return there ? end : pattern_end::too_much;
    }

    /* Of the roots that were mined last, whether one was given up. */
    bool failed(uint32_t root) const { return roots_[root - batch_.first].failed != 0; }

    const std::vector<found_size> &found() const { return found_; }

    /* Bytes of a number. */
    size_t width() const { return job_.narrow ? sizeof(uint16_t) : sizeof(uint32_t); }

    /* Copies what was found to the host: the next piece is on its way while one is put
       where it belongs. */
    void copy(const std::vector<found_piece> &pieces, int threads)
    {
        event there[2];
        for (size_t k = 0; k <= pieces.size(); k++) {
            if (k < pieces.size()) {
                download(slab_.get() + k % 2 * PATTERN_SLAB,
                      (const uint8_t *) sorted_.out + pieces[k].first * width(),
                      pieces[k].bytes, stream_);
                check(cudaEventRecord(there[k % 2], stream_));
            }
            if (k == 0)
                continue;
            check(cudaEventSynchronize(there[(k - 1) % 2]));
            copy_together(pieces[k - 1].to, slab_.get() + (k - 1) % 2 * PATTERN_SLAB,
                          pieces[k - 1].bytes, threads);
        }
    }
};

}  // namespace gpu
