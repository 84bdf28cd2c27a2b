/* The door of peaks on devices: surrogates dealt out to them. */
#include "gpu/assemblies/find.cuh"
#include "gpu/base/crew.cuh"
#include "gpu/base/launch.cuh"

extern "C" {
#include "gpu/assemblies/peaks.h"
}

#include <cub/device/device_scan.cuh>

#include <cstring>
#include <memory>

namespace gpu {
namespace {

constexpr double FIRST_GUESS = 48;    /* peaks of a pair */
constexpr double MOST_BYTES = 2e9;    /* of a batch: more would be no faster */
constexpr double MOST_OF_BATCH = 2e9; /* items, and peaks, of a batch */
constexpr double CHUNK_SECONDS = 0.08;
constexpr uint32_t LEAST_TASKS = 4 * PEAK_WARPS; /* for the warps of a block */
constexpr uint32_t MOST_BINS = 1u << 30;

/* What one device holds to find peaks, and how it works through surrogates. */
class peak_device {
    const syn_pair_source *source_;
    const double bytes_;  /* that may be held */
    stream stream_;
    peak_job job_ = {};
    arrays own_;               /* of the pointers of the job, */
    uint32_t *shift_ = nullptr, *start_ = nullptr;
    syn_peak *ordered_ = nullptr;  /* and of these */
    array<unsigned char> scratch_;
    size_t shared_ = 0;        /* bytes of a block */
    peak_tally tally_ = {};    /* of the last batch */
    double held_ = 0;          /* bytes of what is the same in all surrogates */
    double each_ = FIRST_GUESS; /* peaks of a pair that room is made for */
    double found_ = 0;         /* peaks of a pair, of the batch that had most so far */
    double chunk_;             /* items that are started together */

    /* ---- what stays ---- */

    /* Sizes, and the memory that blocks work in. */
    void lay_out()
    {
        const syn_lagged *p = source_->pairs;
        job_.ladder = p->ladder;
        job_.least = source_->least;
        job_.units = p->units;
        job_.pairs = (uint32_t) syn_pair_count(p->units);
        job_.ticks = p->bin;
        job_.listed = LEAST_LISTED;
        for (uint32_t r = 0; r < p->ladder.rungs; r++) {
            uint32_t windows = 2 * p->ladder.reach[r] + 1;
            job_.word[r + 1] = job_.word[r] + (windows + WARP - 1) / WARP;
            job_.listed = std::max(job_.listed, windows);
            job_.most += (windows + 1) / 2; /* of two next to each other one is no peak */
        }
        shared_ = peak_room_bytes(job_);
        if (shared_ > (size_t) shared_limit(number) - 1024)
            throw refusal(SYN_TOO_LARGE, "lags of up to %u bins are more than its "
                          "multiprocessors have memory for", p->ladder.lags);
    }

    void put_spikes()
    {
        const syn_lagged *p = source_->pairs;
        const syn_binned *b = source_->binned;
        size_t cells = (size_t) b->units * b->segments;
        for (uint32_t k = 0; k < b->segments; k++)
            if (b->n[k] > MOST_BINS)
                throw refusal(SYN_TOO_LARGE, "a segment of %u bins is more than %u",
                              b->n[k], MOST_BINS);
        own_.upload(&job_.n, b->n, b->segments, stream_);
        own_.upload(&job_.first, b->first, cells + 1, stream_);
        own_.upload(&job_.bin, b->bin, b->first[cells], stream_);
        own_.upload(&job_.clumps, p->clumps, (size_t) p->units * p->ladder.rungs,
                    stream_);
        job_.segments = b->segments;
        job_.parts = std::max(1u, LEAST_TASKS / b->segments);
    }

    template <bool RECORDED> size_t blocks() const
    {
        int each = blocks_at_once(find_peaks<RECORDED>, PEAK_THREADS, shared_);
        return (size_t) processors_of(number) * (size_t) each;
    }

    /* ---- a batch ---- */

    void make_room(uint32_t n)
    {
        size_t items = (size_t) n * job_.pairs;
        double peaks = std::ceil((double) items * each_);
        if (peaks > UINT32_MAX)
            throw refusal(SYN_TOO_LARGE, "a surrogate has more peaks than 2^32");
        own_.ensure_all(items, &job_.at, &job_.count, &start_);
        own_.ensure_all((size_t) peaks, &job_.peak, &ordered_);
        job_.room = (uint32_t) peaks;
        fill(job_.tally, 0, 1, stream_);
    }

    /* As many items at a time as take some 80 ms, so that the work ends soon when it is
       asked to. */
    template <bool RECORDED>
    void find(unsigned long long items, const std::atomic<bool> &stop)
    {
        grid all = {(unsigned) blocks<RECORDED>(), PEAK_THREADS, shared_};
        event done;
        for (unsigned long long from = 0; from < items && !stop;) {
            unsigned long long to = std::min(items, from + (unsigned long long) chunk_);
            double begun = seconds_now();
            fill(&job_.tally->next, 0, 1, stream_);
            launch(find_peaks<RECORDED>, all, stream_, job_, from, to);
            wait_idly(done, stream_, [] {});
            double grow = CHUNK_SECONDS / std::max(seconds_now() - begun, 1e-6);
            chunk_ = std::max(1.0, chunk_ * std::min(grow, 4.0));
            from = to;
        }
    }

    /* Whether there was room for all peaks of n surrogates; if not, there will be. */
    bool fits(uint32_t n)
    {
        download(&tally_, job_.tally, 1, stream_);
        wait_for(stream_);
        if (tally_.too_large)
            throw refusal(SYN_TOO_LARGE, "a lag was counted more than 2^31 - 1 times");
        double each = (double) tally_.used / ((double) n * job_.pairs);
        found_ = std::max(found_, each);
        if (tally_.used <= job_.room)
            return true;
        each_ = 1.1 * each;
        return false;
    }

    /* Puts the lists of n surrogates in order, and brings them to the host. */
    void take_lists(uint32_t n, syn_peaks *out, const std::atomic<bool> &stop)
    {
        size_t items = (size_t) n * job_.pairs;
        with_scratch(&scratch_, [&](void *memory, size_t &bytes) {
            return cub::DeviceScan::ExclusiveSum(memory, bytes, job_.count, start_,
                                                 (int) items, stream_);
        });
        unsigned blocks = std::min(blocks_for(items, PEAK_WARPS), 65535u);
        launch(gather_peaks, {blocks, PEAK_THREADS}, stream_, job_, start_, items,
               ordered_);
        std::vector<uint32_t> start(items + 1);
        download(start.data(), start_, items, stream_);
        wait_for(stream_);
        start[items] = (uint32_t) tally_.used;
        syn_budget *budget = source_->pairs->budget;
        const uint32_t *here = start.data();  /* where the peaks of each pair begin */
        for (uint32_t s = 0; s < n && !stop; s++, here += job_.pairs, out++) {
            uint32_t peaks = here[job_.pairs] - here[0];
            if (syn_peaks_make(out, job_.units, budget) == SYN_OK)
                out->peak =
                    (syn_peak *) syn_budget_alloc(budget, peaks, sizeof(syn_peak));
            if (!out->peak)
                throw refusal(syn_budget_refusal(budget), "%s", "");
            out->room = peaks;
            for (uint32_t p = 0; p <= job_.pairs; p++)
                out->first[p] = here[p] - here[0];
            download(out->peak, ordered_ + here[0], peaks, stream_);
            wait_for(stream_);
        }
    }

public:
    const int number;

    /* Of the device that is current. `bytes` may be held on it. */
    peak_device(const syn_pair_source *source, int device, double bytes)
        : source_(source), bytes_(bytes), number(device)
    {
        lay_out();
        put_spikes();
        size_t all = std::max(blocks<false>(), blocks<true>());
        own_.ensure(&job_.scratch, all * job_.most);
        held_ = (double) own_.bytes();
        own_.ensure(&job_.tally, 1);
        chunk_ = 4.0 * (double) all;
    }

    /* How many surrogates are made together: each takes its shifts, and its peaks as they
       are found and in order. */
    uint32_t batch() const
    {
        double shifts = (double) job_.units * job_.segments * sizeof(uint32_t);
        double one = shifts + job_.pairs * (3.0 * sizeof(uint32_t) +
                                            2 * each_ * sizeof(syn_peak));
        double room = bytes_ - held_;
        if (one > room)
            throw refusal(SYN_OVER_BUDGET, "a surrogate takes %.0f MB",
                          1e-6 * (one + held_));
        double n = std::min(std::max(MOST_BYTES / one, 1.0), room / one);
        n = std::min(n, MOST_OF_BATCH / (job_.pairs * std::max(each_, 1.0)));
        return (uint32_t) std::max(n, 1.0);
    }

    double most_found() const { return found_; }

    /* Makes room for so many peaks of a pair, and some more. */
    void expect(double each) { each_ = 1.2 * each + 1; }

    /* Surrogates and the recording: stopped, they leave lists that nobody looks at. */
    void surrogates(uint64_t from, uint32_t n, syn_peaks *out,
                    const std::atomic<bool> &stop)
    {
        for (uint32_t done = 0; done < n && !stop;) {
            uint32_t now = std::min(n - done, batch());
            uint64_t shifts = (uint64_t) now * job_.units * job_.segments;
            make_room(now);
            own_.ensure(&shift_, shifts);
            job_.shift = shift_;
            unsigned blocks = std::min(blocks_for(shifts, PEAK_THREADS), 65535u);
            launch(draw_shifts, {blocks, PEAK_THREADS}, stream_, job_, source_->key,
                   from + done, shifts, shift_);
            find<false>((unsigned long long) now * job_.pairs, stop);
            if (stop)
                return;
            if (!fits(now))
                continue;
            take_lists(now, out + done, stop);
            done += now;
        }
    }

    void recording(syn_peaks *out, const std::atomic<bool> &stop)
    {
        const syn_lagged *p = source_->pairs;
        size_t places = p->ladder.first[p->ladder.rungs];
        own_.upload(&job_.train, p->timed.first, (size_t) p->units + 1, stream_);
        own_.upload(&job_.tick, p->timed.tick, p->timed.first[p->units], stream_);
        own_.upload(&job_.common, p->common, places, stream_);
        own_.upload(&job_.spread, p->spread, places, stream_);
        for (bool again = true; again && !stop;) {
            batch();  /* throws where not even one fits */
            make_room(1);
            find<true>(job_.pairs, stop);
            if (!stop && fits(1)) {
                take_lists(1, out, stop);
                again = false;
            }
        }
        job_.common = job_.spread = nullptr;
    }
};

/* ---- all devices ---- */

constexpr double PART_OF_BUDGET = 0.4; /* for lists that are made, and as much for those
                                          that are looked at; the search needs the rest */
constexpr uint32_t BATCHES = 8;        /* at least, of all surrogates */
constexpr double BYTES_FOR_TWO = 5e8;  /* of a device, that two work on: while one fetches
                                          lists, the other goes on */
constexpr uint32_t TURNS = 3;          /* in which each of those does a batch */

/* Some surrogates, whose lists all devices fill. */
struct batch {
    const uint64_t from;
    const uint32_t n;
    std::vector<syn_peaks> list;
    crew crew;

    batch(uint64_t first, uint32_t surrogates, size_t devices)
        : from(first), n(surrogates), list(surrogates),
          crew(surrogates, (uint32_t) devices)
    {
    }
    /* Stops, and frees what nobody took. */
    ~batch()
    {
        crew.stop = true;
        crew.join();
        for (syn_peaks &peaks : list)
            syn_peaks_free(&peaks);
    }
};

}  // namespace
}  // namespace gpu

struct syn_gpu_peaks {
    const syn_pair_source *source;
    syn_gpu_call *call;
    gpu::memory_limit limit;
    std::vector<int> devices;  /* numbers of the following */
    std::vector<std::unique_ptr<gpu::peak_device>> device;
    std::unique_ptr<gpu::batch> next; /* which is made while those before are looked at */
    uint32_t most = 0;            /* surrogates of a batch; 0 before the first */

    syn_gpu_peaks(const syn_pair_source *of, syn_gpu_call *by)
        : source(of), call(by), limit(of->pairs->budget->limit)
    {
    }
};

namespace gpu {
namespace {

void open_devices(syn_gpu_peaks *p)
{
    std::vector<double> bytes;
    for (int i = 0; i < p->call->n; i++) {
        int device = p->call->devices[i];
        check(cudaSetDevice(device));
        double here = bytes_for(device, *p->call, p->source->pairs->budget->limit);
        size_t times = here >= BYTES_FOR_TWO ? 2 : 1;
        p->devices.insert(p->devices.end(), times, device);
        bytes.insert(bytes.end(), times, here / (double) times);
    }
    for (size_t i = 0; i < bytes.size(); i++) {
        check(cudaSetDevice(p->devices[i]));
        p->device.emplace_back(new peak_device(p->source, p->devices[i], bytes[i]));
    }
}

/* Begins to make surrogates, with a thread for each device. */
void begin(syn_gpu_peaks *p, uint64_t from, uint32_t n)
{
    p->next.reset(new batch(from, n, p->devices.size()));
    batch *b = p->next.get();
    uint32_t turns = TURNS * b->crew.devices, share = (n + turns - 1) / turns;
    for (uint32_t i = 0; i < b->crew.devices; i++)
        b->crew.start(&p->devices[i], 1, [=](int) {
            peak_device *device = p->device[i].get();
            uint32_t first = 0, some;
            while ((some = b->crew.take(std::min(device->batch(), share), &first)) > 0)
                device->surrogates(from + first, some, b->list.data() + first,
                                   b->crew.stop);
        });
}

/* Only the first device looks at the recording: it is one of a hundred. */
syn_status recording(void *self, syn_peaks *out, const syn_watch *watch)
{
    syn_gpu_peaks *p = (syn_gpu_peaks *) self;
    std::memset(out, 0, sizeof *out);
    return status_of(p->call->reason, [&] {
        device_scope scope;
        crew crew(1);
        crew.start(p->devices.data(), 1,
                   [&](int) { p->device[0]->recording(out, crew.stop); });
        crew.wait(watch, "units");
        for (auto &device : p->device)
            device->expect(p->device[0]->most_found());
    });
}

/* How many surrogates the budget has room for, about, of which each has as many peaks as
   that which had most so far. */
uint32_t with_room(const syn_gpu_peaks &p, uint32_t n)
{
    const syn_lagged *pairs = p.source->pairs;
    double peaks = 0, of_pair = sizeof(size_t);
    for (const auto &device : p.device)
        peaks = std::max(peaks, device->most_found());
    double count = (double) syn_pair_count(pairs->units);
    double left = (double) syn_budget_left(pairs->budget) -
                  syn_search_bytes(peaks * count, pairs->threads);
    double fit = PART_OF_BUDGET * left / ((of_pair + peaks * sizeof(syn_peak)) * count);
    return fit < 1 ? 1 : fit < n ? (uint32_t) fit : n;
}

/* Waits for a batch. False where the budget was passed and fewer may fit: there were
   several, or others were held at the time, that is, it was not made alone. */
bool finish(syn_gpu_peaks *p, const syn_watch *watch, bool alone)
{
    uint32_t n = p->next->n;
    try {
        p->next->crew.wait(watch, "surrogates");
        return true;
    } catch (const refusal &why) {
        p->next.reset();
        if (why.status != SYN_OVER_BUDGET || (alone && n == 1))
            throw;
    }
    p->most = (n + 1) / 2;
    return false;
}

/* How many of n surrogates are made together. */
uint32_t together(syn_gpu_peaks *p, uint32_t n)
{
    if (p->most == 0)
        p->most = (n + BATCHES - 1) / BATCHES;
    return std::min(p->most, with_room(*p, n));
}

/* While the caller looks at a batch, devices make the next one. Where the budget is
   passed, fewer are tried. */
syn_status surrogates(void *self, uint64_t from, uint32_t n, syn_peaks *out,
                      uint32_t *made, const syn_watch *watch)
{
    syn_gpu_peaks *p = (syn_gpu_peaks *) self;
    std::memset(out, 0, n * sizeof *out);
    return status_of(p->call->reason, [&] {
        device_scope scope;
        bool ready = p->next && p->next->from == from && p->next->n <= n;
        if (!ready)
            p->next.reset();
        for (bool done = false; !done; ready = false) {
            if (!ready)
                begin(p, from, together(p, n));
            done = finish(p, watch, !ready);
        }
        *made = p->next->n;
        std::copy(p->next->list.begin(), p->next->list.end(), out);
        p->next->list.clear();
        if (*made < n)
            begin(p, from + *made, together(p, n - *made));
    });
}

}  // namespace
}  // namespace gpu

syn_status syn_gpu_peaks_open(const syn_pair_source *source, syn_gpu_call *call,
                              syn_gpu_peaks **out, syn_peak_source *functions)
{
    *out = nullptr;
    return gpu::status_with(call, [&] {
        std::unique_ptr<syn_gpu_peaks> peaks(new syn_gpu_peaks(source, call));
        gpu::open_devices(peaks.get());
        *out = peaks.release();
        functions->self = *out;
        functions->recording = gpu::recording;
        functions->surrogates = gpu::surrogates;
    });
}

void syn_gpu_peaks_close(syn_gpu_peaks *peaks)
{
    if (!peaks || syn_gpu_forked())
        return;
    gpu::device_scope scope;
    delete peaks;
}
