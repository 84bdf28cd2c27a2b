/* The door of surrogates' maxima: surrogates dealt out to devices in batches. */
extern "C" {
#include "gpu/spectrum/spectrum.h"
}

#include "core/base/radix.h"
#include "gpu/base/crew.cuh"
#include "gpu/spectrum/search.cuh"

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

namespace gpu {
namespace {

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

spectrum_task make_task(const syn_spectrum_options &o, const spectrum_order &order)
{
    const syn_pattern_options &p = *o.patterns;
    spectrum_task task = {};
    (syn_pattern_options &) task = p;
    task.width = o.width;
    task.units = o.plan->trains.units;
    task.events = o.plan->trains.events;
    task.lag_bits = (uint32_t) syn_radix_bits(p.window);
    task.blocks = (p.window + 31) / 32;
    task.words = (uint32_t) ((order.bins + 31) / 32 + task.blocks + 1);
    uint64_t items = (uint64_t) task.units * p.window;
    uint32_t unit_bits = (uint32_t) syn_radix_bits(task.units);
    if (unit_bits + task.lag_bits > 31 || items > INT32_MAX / 2)
        throw refusal(SYN_TOO_LARGE, "%u units and %u lags are more than a GPU takes",
                      task.units, p.window);
    task.row_words = (uint32_t) ((items + 31) / 32);
    task.limited = p.max_spikes < SPECTRUM_SIZES;
    task.most = task.limited ? p.max_spikes : SPECTRUM_SIZES - 1;
    task.durations = o.by_duration ? p.window : 1;
    task.strict = p.target == SYN_PATTERNS_CLOSED && p.max_spikes < UINT32_MAX;
    task.checked = task.strict || o.by_duration;
    return task;
}

/* From maxima of all sizes to those there are. */
void store_row(const uint32_t *maximum, uint32_t durations, uint32_t min_spikes,
               syn_spectrum_row *row)
{
    uint32_t largest = 0;
    for (uint32_t d = 0; d < durations; d++)
        for (uint32_t z = min_spikes; z < SPECTRUM_SIZES; z++)
            if (maximum[d * SPECTRUM_SIZES + z] > 0)
                largest = std::max(largest, z);
    if (largest == 0)
        return;
    row->sizes = largest - min_spikes + 1;
    row->most = (uint32_t *) std::malloc((size_t) row->sizes * durations *
                                         sizeof *row->most);
    if (!row->most)
        throw std::bad_alloc();
    for (uint32_t d = 0; d < durations; d++)
        std::copy_n(maximum + d * SPECTRUM_SIZES + min_spikes, row->sizes,
                    row->most + (size_t) d * row->sizes);
}

/* ---- a device ---- */

class spectrum_device {
    const syn_spectrum_options &o_;
    spectrum_task task_;
    spectrum_batch batch_ = {};
    spectrum_queue queue_ = {};
    stream stream_;
    arrays own_;              /* of the pointers of task, batch and queue */
    pinned<uint32_t> seen_;   /* the warps that are busy */
    uint32_t room_ = 0;       /* surrogates that a batch may have */
    uint32_t blocks_[std::size(SEARCHES)] = {};

    size_t shared() const { return TREE_WARPS * sizeof(warp_state); }

    uint32_t warps() const
    {
        return *std::max_element(std::begin(blocks_), std::end(blocks_)) *
               TREE_WARPS;
    }

    /* Room for a node of the unit with most spikes, and what it is made from: mostly it
       takes far less. Then for as many surrogates as fit. */
    void plan_memory(uint32_t wanted)
    {
        size_t free = free_memory();
        double have = SPECTRUM_SHARE * free, units = task_.units, words = task_.row_words;
        double each = task_.events * (12 + 4 * words) + 4 * units * task_.words +
                      units * (8 + 256 * words) + 4.0 * task_.durations * SPECTRUM_SIZES;
        double longest = 0;
        const uint32_t *first = o_.plan->trains.first;
        for (uint32_t u = 0; u < task_.units; u++)
            longest = std::max<double>(longest, first[u + 1] - first[u]);
        double node = longest * (3 + task_.row_words) + 512.0 * task_.row_words + 1024;
        double makers = std::min<double>(SPECTRUM_MAKERS, (double) wanted * task_.units);
        double fixed = (double) warps() * sizeof(warp_state) +
                       4 * makers * o_.plan->scratch;
        double left = have - fixed;
        double room = std::min({1.5 * node, 0.3 * left / warps() / 4, 1e9});
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
        own_.ensure_all(n * events, &batch_.tick, &batch_.bin);
        own_.ensure(&batch_.scratch, (size_t) batch_.makers * o_.plan->scratch);
        own_.ensure(&batch_.bits, roots * task_.words);
        own_.ensure_all(roots, &batch_.windows, &batch_.listed);
        own_.ensure_all(items, &batch_.item, &batch_.count);
        own_.ensure(&batch_.row, n * events * task_.row_words);
        own_.ensure(&batch_.longest, task_.units);
        own_.ensure(&batch_.maximum, n * task_.durations * SPECTRUM_SIZES);
        own_.ensure(&batch_.failed, n);
        own_.ensure(&queue_.state, warps());
        own_.ensure(&queue_.arena, (size_t) warps() * queue_.room);
        own_.ensure(&queue_.first, task_.units + 1);
        own_.ensure_all(1, &queue_.next, &queue_.busy);
    }

    /* The tasks of each root, from the highest rank on. */
    void number_tasks()
    {
        std::vector<uint32_t> longest(task_.units);
        download(longest.data(), batch_.longest, task_.units, stream_);
        wait_for(stream_);
        std::vector<unsigned long long> first(1);
        for (uint32_t root = task_.units; root-- > 0;) {
            uint64_t parts = blocks_for(longest[root], SPECTRUM_TOGETHER);
            first.push_back(first.back() + parts * batch_.n);
        }
        own_.upload(&queue_.first, first, stream_);
    }

    /* Surrogates, their bins, and the lists and rows of their roots. */
    void make_batch()
    {
        constexpr unsigned THREADS = 128;
        uint64_t events = (uint64_t) batch_.n * task_.events;
        uint64_t roots = (uint64_t) batch_.n * task_.units;
        fill(batch_.bits, 0, roots * task_.words, stream_);
        fill(batch_.longest, 0, task_.units, stream_);
        fill(batch_.maximum, 0, (size_t) batch_.n * task_.durations * SPECTRUM_SIZES,
              stream_);
        fill(batch_.failed, 0, batch_.n, stream_);
        fill(queue_.state, 0, warps(), stream_);
        launch(make_trains, over(batch_.makers, THREADS), stream_, task_, batch_);
        launch(set_bits, over(events, THREADS), stream_, task_, batch_);
        launch(find_items, over(roots * WARP, THREADS), stream_, task_, batch_);
        number_tasks();
        launch(fill_rows, over(events * WARP, THREADS), stream_, task_, batch_);
        wait_for(stream_);
    }

    /* Launch after launch, until all warps have seen the queue's end, or `stop`. */
    void search_with(search_kernel kernel, uint32_t blocks, const std::atomic<bool> &stop)
    {
        *seen_.get() = 1;
        fill(queue_.next, 0, 1, stream_);
        while (*seen_.get() > 0 && !stop) {
            fill(queue_.busy, 0, 1, stream_);
            launch(kernel, {blocks, TREE_WARPS * WARP, shared()}, stream_, task_, batch_,
                   queue_);
            download(seen_.get(), queue_.busy, 1, stream_);
            wait_for(stream_);
        }
    }

public:
    /* Takes memory for up to `wanted` surrogates at a time. */
    spectrum_device(const syn_spectrum_options &o, const spectrum_order &order,
                    int device, uint32_t wanted)
        : o_(o), task_(make_task(o, order)), seen_(1)
    {
        for (size_t k = 0; k < std::size(SEARCHES); k++)
            blocks_[k] = blocks_on(device, SEARCHES[k], shared());
        queue_.cycles = cycles_in(SPECTRUM_SECONDS, device);
        upload_plan(*o.plan, &own_, &task_.plan, stream_);
        own_.upload(&task_.unit, order.unit, stream_);
        own_.upload(&task_.rank, order.rank, stream_);
        own_.upload(&task_.owner, order.owner, stream_);
        own_.upload(&task_.base, order.base, stream_);
        plan_memory(std::min(wanted, SPECTRUM_MOST));
        take_memory();
    }

    uint32_t room() const { return room_; }

    /* `n` surrogates from number `first` on of those asked for: their rows, and which
       were given up. Fills in nothing when stopped. */
    void run(uint32_t first, uint32_t n, const std::atomic<bool> &stop,
             syn_spectrum_row *row, uint8_t *left)
    {
        batch_.first = o_.first + first;
        batch_.n = n;
        make_batch();
        for (size_t k = 0; k < std::size(SEARCHES); k++)
            search_with(SEARCHES[k], blocks_[k], stop);
        if (stop)
            return;
        size_t each = task_.durations * SPECTRUM_SIZES;
        std::vector<uint32_t> maximum(n * each), failed(n);
        download(maximum.data(), batch_.maximum, maximum.size(), stream_);
        download(failed.data(), batch_.failed, n, stream_);
        wait_for(stream_);
        for (uint32_t s = 0; s < n; s++) {
            left[s] = failed[s] != 0;
            if (!left[s])
                store_row(maximum.data() + s * each, task_.durations, task_.min_spikes,
                          row + s);
        }
    }
};

/* ---- the door ---- */

void find_maxima(const syn_spectrum_options &o, const syn_gpu_call &call,
                 syn_spectrum *out, uint8_t *left, uint32_t *n_left)
{
    const syn_pattern_options &p = *o.patterns;
    if (p.min_units >= SPECTRUM_SIZES || p.min_spikes >= SPECTRUM_SIZES)
        throw refusal(SYN_TOO_LARGE, "GPUs count patterns of fewer than %d spikes",
                      (int) SPECTRUM_SIZES);
    out->n = o.n;
    out->durations = o.by_duration ? p.window : 1;
    out->row = (syn_spectrum_row *) std::calloc((size_t) o.n + 1, sizeof *out->row);
    if (!out->row)
        throw std::bad_alloc();
    std::memset(left, 0, o.n);
    /* No spikes, or no pattern that could pass. */
    if (o.n == 0 || o.plan->trains.events == 0 || p.min_units > p.max_spikes ||
        p.min_spikes > p.max_spikes || p.min_count > p.max_count)
        return;
    spectrum_order order(o.plan->trains, o.width, p.window);
    share_out(call, o.n, "surrogates", [&](crew &work, int number) {
        uint32_t wanted = (o.n - 1) / work.devices + 1, first = 0, n;
        spectrum_device device(o, order, number, wanted);
        while ((n = work.take(device.room(), &first)) > 0)
            device.run(first, n, work.stop, out->row + first, left + first);
    });
    for (uint32_t s = 0; s < o.n; s++)
        *n_left += left[s];
}

}  // namespace
}  // namespace gpu

syn_status syn_gpu_spectrum(const syn_spectrum_options *options, syn_gpu_call *call,
                            syn_spectrum *out, uint8_t *left, uint32_t *n_left)
{
    std::memset(out, 0, sizeof *out);
    *n_left = 0;
    return gpu::status_with(
        call, [&] { gpu::find_maxima(*options, *call, out, left, n_left); });
}
