/* The door of counts in surrogates: batches of them dealt out to devices. */
#include "gpu/null/counts.h"

#include "core/base/radix.h"
#include "gpu/base/crew.cuh"
#include "gpu/null/walk.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <cstdio>
#include <vector>

using gpu::array;
using gpu::check;

namespace {

constexpr uint32_t THREADS = 128;
constexpr double STEPS = 5e10;        /* of lanes in a batch, at most: some 0.2 s */
constexpr size_t SCRATCH = 256 << 20; /* bytes for making units, at most */
constexpr size_t LEAST_WARPS = 256;   /* what a batch leaves room for */

/* ---- kernels that make lines ---- */

struct make_job {
    syn_surrogate_plan plan;   /* points to the device */
    gpu::null_keys keys;
    uint64_t index;            /* of the batch's first surrogate */
    uint32_t n;
    int64_t *tick;             /* [n][events] */
    uint64_t *key;             /* [n][events] */
    uint32_t *scratch;         /* [threads][plan.scratch] */
};

/* A thread a unit of a surrogate, over and over. */
__global__ void make_units(make_job job)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t *scratch = job.scratch + (size_t) thread * job.plan.scratch;
    size_t units = (size_t) job.n * job.keys.units;
    for (size_t i = thread; i < units; i += (size_t) gridDim.x * blockDim.x) {
        uint32_t batch = (uint32_t) (i / job.keys.units);
        uint32_t unit = (uint32_t) (i % job.keys.units);
        size_t at = (size_t) batch * job.keys.events + job.keys.first[unit];
        gpu::make_unit(job.plan, job.keys, job.index + batch, batch, unit, job.tick + at,
                       scratch, job.key + at);
    }
}

/* Events by (surrogate, unit), to be sorted. */
__global__ void label_events(gpu::null_keys keys, const uint64_t *key, uint32_t n,
                             uint32_t *label, uint32_t *event)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t batch = i / keys.events;
    uint32_t unit = (uint32_t) (key[i] & (((uint64_t) 1 << keys.unit_bits) - 1));
    label[i] = batch << keys.unit_bits | unit;
    event[i] = i - batch * keys.events;
}

/* A thread an event: bounds increase, so each is looked for after the last. */
__global__ void find_beyond(gpu::null_keys keys, const uint64_t *key, uint32_t n,
                            uint32_t *beyond)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t batch = i / keys.events, event = i - batch * keys.events, from = event;
    size_t before = (size_t) batch * keys.events;
    for (uint32_t b = 0; b < keys.bounds; b++) {
        from = gpu::look_beyond(keys, key + before, event, from, b);
        beyond[before * keys.bounds + (size_t) b * keys.events + event] = from;
    }
}

/* ---- what a device holds ---- */

struct request {
    const syn_line_layout *layout;
    const syn_trie *trie;
    size_t episodes;
    const syn_null_options *options;
    uint32_t *count;
};

class null_counter {
    const request &job_;
    cudaStream_t stream_;
    /* The plan and the tree. */
    gpu::surrogate_arrays plan_arrays_;
    array<uint32_t> branch_[8], node_, place_;
    array<int64_t> shift_, bound_;
    syn_surrogate_plan plan_;
    gpu::null_keys keys_;
    gpu::null_tree tree_;
    std::vector<uint32_t> places_;
    uint32_t room_ = 0;
    /* A batch. */
    uint32_t batch_ = 0, warps_ = 0, makers_ = 0;
    array<uint64_t> key_, other_key_;
    array<uint32_t> label_, other_label_, event_, other_event_, beyond_, count_, next_,
        scratch_, length_, gathered_;
    array<gpu::null_end> ends_;
    array<unsigned char> sorting_;
    gpu::pinned<int> ended_{1};

    void put_tree();
    size_t bytes_of_one() const;
    void choose_batch();
    template <class Sort> void sort(Sort run);
    uint64_t *make_lines(uint64_t index, uint32_t n, const uint32_t **by_unit);
    void count_batch(uint64_t index, uint32_t n);
public:
    null_counter(const request &job, cudaStream_t stream);
    uint32_t batch() const { return batch_; }
    void run(uint32_t first, uint32_t n, const std::atomic<bool> &stop);
};

/* Also where each level's list begins: as long as its longest unit. */
void null_counter::put_tree()
{
    const syn_trie &t = *job_.trie;
    const syn_line_layout &layout = *job_.layout;
    shift_.upload(layout.shift, layout.plan->trains.trials, stream_);
    bound_.upload(t.bound, t.bounds, stream_);
    keys_ = {layout.unit_bits, layout.tick_bits, layout.events, layout.units, t.bounds,
             shift_.get(), bound_.get(), plan_.trains.first};
    const uint32_t *from[] = {t.unit, t.level, t.open, t.shut, t.after, t.child, t.of,
                              t.root};
    size_t n[] = {t.nodes, t.nodes, t.nodes, t.nodes, t.nodes, (size_t) t.nodes + 1,
                  (size_t) t.nodes - t.roots, t.roots};
    for (int i = 0; i < 8; i++)
        branch_[i].upload(from[i], n[i], stream_);
    tree_ = {t.nodes, t.roots, branch_[0].get(), branch_[1].get(), branch_[2].get(),
            branch_[3].get(), branch_[4].get(), branch_[5].get(), branch_[6].get(),
            branch_[7].get()};
    node_.upload(t.node, job_.episodes, stream_);
    std::vector<uint32_t> longest(t.depth);
    const uint32_t *first = layout.plan->trains.first;
    for (uint32_t node = 0; node < t.nodes; node++)
        if (t.child[node] < t.child[node + 1]) {
            uint32_t events = first[t.unit[node] + 1] - first[t.unit[node]];
            longest[t.level[node]] = std::max(longest[t.level[node]], events);
        }
    for (uint32_t events : longest) {
        places_.push_back(room_);
        if (events > UINT32_MAX - room_)
            throw gpu::refusal(SYN_TOO_LARGE, "lists of %u spikes and more, one for each "
                               "size, are more than a GPU takes", events);
        room_ += events;
    }
    place_.upload(places_.data(), places_.size(), stream_);
}

/* Bytes of one surrogate of a batch; sorting needs its input's size a second time. */
size_t null_counter::bytes_of_one() const
{
    size_t of_event = 3 * sizeof(uint64_t) + (4 + keys_.bounds) * sizeof(uint32_t);
    return keys_.events * of_event + (tree_.nodes + job_.episodes) * sizeof(uint32_t);
}

/* Surrogates that are counted together, and warps that count them. */
void null_counter::choose_batch()
{
    size_t budget = std::min(gpu::free_memory() / 10 * 9, job_.options->max_memory);
    size_t of_warp = (size_t) room_ * sizeof(gpu::null_end) + (places_.size() + 1) * 4;
    size_t for_warps = std::min(budget / 2, LEAST_WARPS * of_warp) + SCRATCH / 4;
    double steps = 1;
    const syn_trie &t = *job_.trie;
    const uint32_t *first = job_.layout->plan->trains.first;
    for (uint32_t i = 0; i < t.nodes; i++)
        steps += (double) (t.child[i + 1] - t.child[i]) *
                 (first[t.unit[i] + 1] - first[t.unit[i]]);
    if (budget < for_warps + bytes_of_one())
        throw gpu::refusal(SYN_OVER_BUDGET, "a surrogate takes %.0f MB",
                           1e-6 * (double) (for_warps + bytes_of_one()));
    double n = std::min((double) (budget - for_warps) / (double) bytes_of_one(),
                        (double) job_.options->n);
    n = std::min(n, STEPS / steps);
    n = std::min(n, 2147483000.0 / std::max(keys_.events, t.roots));
    /* Numbers of surrogates have to fit into keys and labels. */
    unsigned left = std::min(64 - keys_.tick_bits, 32u) - keys_.unit_bits;
    n = std::min(n, std::ldexp(1.0, (int) left));
    batch_ = (uint32_t) std::max(1.0, n);
    budget -= std::min(budget, batch_ * bytes_of_one() + SCRATCH / 4);
    int device = 0, processors = 0, blocks = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, gpu::count_null, gpu::WARP * gpu::NULL_WARPS, 0));
    size_t warps = (size_t) processors * std::max(blocks, 1) * gpu::NULL_WARPS;
    warps = std::min({warps, budget / std::max<size_t>(of_warp, 1),
                      (size_t) batch_ * t.roots});
    warps_ = (uint32_t) std::max<size_t>(1, warps / gpu::NULL_WARPS) * gpu::NULL_WARPS;
    size_t of_maker = std::max<size_t>(1, plan_.scratch) * sizeof(uint32_t);
    size_t makers = std::min({SCRATCH / 4 / of_maker, (size_t) processors * 1024,
                              (size_t) batch_ * keys_.units});
    makers_ = (uint32_t) std::max<size_t>(1, (makers + THREADS - 1) / THREADS) * THREADS;
}

null_counter::null_counter(const request &job, cudaStream_t stream)
    : job_(job), stream_(stream)
{
    plan_ = plan_arrays_.upload(*job.layout->plan, stream);
    put_tree();
    choose_batch();
    size_t events = (size_t) batch_ * keys_.events;
    key_.ensure(events);
    other_key_.ensure(events);
    label_.ensure(events);
    other_label_.ensure(events);
    event_.ensure(events);
    other_event_.ensure(events);
    beyond_.ensure(events * keys_.bounds);
    count_.ensure((size_t) batch_ * tree_.nodes);
    gathered_.ensure((size_t) batch_ * job_.episodes);
    next_.ensure(1);
    scratch_.ensure((size_t) makers_ * plan_.scratch);
    ends_.ensure((size_t) warps_ * room_);
    length_.ensure((size_t) warps_ * (places_.size() + 1));
}

/* `run(memory, bytes)` as functions of CUB are called: first to ask for their bytes. */
template <class Sort> void null_counter::sort(Sort run)
{
    size_t bytes = 0;
    check(run(nullptr, bytes));
    sorting_.ensure(bytes);
    check(run(sorting_.get(), bytes));
}

/* Makes surrogates `index` on; returns their keys. Sorting keeps the order of what is
   equal: units on one tick, events of one unit. */
uint64_t *null_counter::make_lines(uint64_t index, uint32_t n, const uint32_t **by_unit)
{
    int events = (int) (n * keys_.events);
    int above = (int) (keys_.unit_bits + (unsigned) syn_radix_bits(n));
    make_job job = {plan_, keys_, index, n, (int64_t *) other_key_.get(), key_.get(),
                    scratch_.get()};
    make_units<<<makers_ / THREADS, THREADS, 0, stream_>>>(job);
    check(cudaGetLastError());
    cub::DoubleBuffer<uint64_t> keys(key_.get(), other_key_.get());
    sort([&](void *memory, size_t &bytes) {
        return cub::DeviceRadixSort::SortKeys(memory, bytes, keys, events,
                                              (int) keys_.unit_bits,
                                              above + (int) keys_.tick_bits, stream_);
    });
    unsigned blocks = gpu::blocks_for(events, THREADS);
    label_events<<<blocks, THREADS, 0, stream_>>>(
        keys_, keys.Current(), events, label_.get(), event_.get());
    check(cudaGetLastError());
    cub::DoubleBuffer<uint32_t> labels(label_.get(), other_label_.get());
    cub::DoubleBuffer<uint32_t> placed(event_.get(), other_event_.get());
    sort([&](void *memory, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, labels, placed, events, 0,
                                               above, stream_);
    });
    find_beyond<<<blocks, THREADS, 0, stream_>>>(keys_, keys.Current(), events,
                                                 beyond_.get());
    check(cudaGetLastError());
    *by_unit = placed.Current();
    return keys.Current();
}

void null_counter::count_batch(uint64_t index, uint32_t n)
{
    size_t cells = (size_t) n * job_.episodes;
    const uint32_t *by_unit = nullptr;
    check(cudaMemsetAsync(count_.get(), 0, (size_t) n * tree_.nodes * sizeof(uint32_t),
                          stream_));
    check(cudaMemsetAsync(next_.get(), 0, sizeof(uint32_t), stream_));
    /* A recording without spikes has nothing to count. */
    if (keys_.events > 0) {
        const uint64_t *key = make_lines(index, n, &by_unit);
        gpu::null_batch batch = {tree_, keys_, n, key, by_unit, beyond_.get(),
                                 count_.get(), next_.get(), (uint32_t) places_.size(),
                                 place_.get(), room_, ends_.get(), ended_.get()};
        gpu::count_null<<<warps_ / gpu::NULL_WARPS, gpu::WARP * gpu::NULL_WARPS, 0,
                          stream_>>>(batch, length_.get());
        check(cudaGetLastError());
    }
    unsigned blocks = std::min(gpu::blocks_for(cells, THREADS), 65535u);
    gpu::gather_null<<<blocks, THREADS, 0, stream_>>>(
        count_.get(), tree_.nodes, node_.get(), job_.episodes, cells, gathered_.get());
    check(cudaGetLastError());
}

/* Surrogates first to below first + n of those asked for. What is asked to stop leaves
   counts that nobody looks at. */
void null_counter::run(uint32_t first, uint32_t n, const std::atomic<bool> &stop)
{
    volatile int *ended = ended_.get();
    *ended = 0;
    count_batch(job_.options->first + first, n);
    gpu::event done;
    check(cudaEventRecord(done, stream_));
    for (;;) {
        cudaError_t state = cudaEventQuery(done);
        if (state == cudaSuccess)
            break;
        if (state != cudaErrorNotReady)
            check(state);
        if (stop)
            *ended = 1;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    check(cudaMemcpy(job_.count + (size_t) first * job_.episodes, gathered_.get(),
                     (size_t) n * job_.episodes * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost));
}

void work_on(const request &job, uint32_t devices, gpu::crew *work)
{
    gpu::stream stream;
    null_counter counter(job, stream);
    uint32_t first = 0, n;
    while ((n = work->take(counter.batch(), (uint32_t) job.options->n, devices,
                           &first)) > 0)
        counter.run(first, n, work->stop);
}

}  // namespace

/* ---- the door ---- */

extern "C" syn_status syn_gpu_null_counts(const syn_line_layout *layout,
                                          const syn_trie *trie, size_t episodes,
                                          const syn_null_options *options,
                                          const int *devices, int n_devices,
                                          const syn_watch *watch, uint32_t *count,
                                          char *reason)
{
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_request(devices, n_devices);
        gpu::device_scope scope;
        gpu::memory_limit limit(options->max_memory);
        request job = {layout, trie, episodes, options, count};
        gpu::crew work;
        if (episodes > 0)
            work.start(devices, n_devices,
                       [&](int) { work_on(job, (uint32_t) n_devices, &work); });
        work.wait((uint32_t) options->n, watch, "surrogates");
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}
