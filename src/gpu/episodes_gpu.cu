/* The window engine's host: launches level after level, and gathers what they find. */
#include "gpu/episodes_gpu.h"

#include "gpu/device.cuh"
#include "gpu/episodes_count.cuh"
#include "gpu/episodes_level.cuh"
#include "gpu/episodes_lists.cuh"
#include "gpu/episodes_results.cuh"
#include "gpu/episodes_table.cuh"
#include "gpu/episodes_types.cuh"
#include "gpu/synfire_gpu.h"

#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace {

using gpu::check;
using gpu::level;
using gpu::refusal;

/* Ends that a warp making lists stages; more of them leave room for fewer warps. */
constexpr size_t SHORT_PART = 448, LONG_PART = 704;

constexpr size_t STAGING = (size_t) 1 << 20;  /* page-locked words for results */

double seconds_now()
{
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

unsigned blocks_for(size_t n, size_t per_block)
{
    return (unsigned) std::max<size_t>((n + per_block - 1) / per_block, 1);
}

class miner {
    const syn_recording *recording_;
    const syn_mine_options *options_;
    const syn_watch *watch_;
    syn_episodes *out_;
    size_t intervals_, results_ = 0;
    size_t mean_list_;  /* ends of the lists that the next ones are made from */
    int width_ = 1, processors_ = 1, shared_ = 0;
    std::vector<uint32_t> unit_of_;  /* symbol to unit */
    double polled_ = 0;

    gpu::stream stream_, copies_;
    gpu::event counted_, filled_;
    gpu::pinned<gpu::header> head_{1};
    gpu::pinned<uint32_t> staging_{STAGING};
    gpu::array<gpu::header> device_head_;
    gpu::array<int64_t> tick_, bounds_;
    gpu::array<uint32_t> group_, by_unit_, row_, row_end_, unit_, counts_,
        segment_;
    gpu::array<gpu::place> places_;
    gpu::array<gpu::link> links_;
    gpu::array<uint8_t> symbol_, scratch_;
    gpu::array<uint16_t> table_;
    gpu::array<uint2> list_[2];
    level level_[3];

    gpu::events_view events() const;
    gpu::level_view &view(size_t k) { return level_[k % 3].view; }
    size_t symbols() const { return unit_of_.size(); }
    size_t memory() const;
    void poll(size_t size);
    void wait(size_t size);
    void start_count(size_t size);
    void count(size_t size);
    void fill(size_t size, size_t n);
    void start_lists(size_t size);
    void copy(const uint32_t *from, size_t n, uint32_t *to);
    void collect(size_t size);
    template <int K> void table_of_width();
    template <int TEAM> void launch_lists(gpu::list_job job, size_t staged);
    template <int K> void count_of_width(const gpu::count_job &job, unsigned segments);
public:
    miner(const syn_recording *recording, const syn_mine_options *options,
          const syn_watch *watch, syn_episodes *out, int device);
    void upload();
    void mine();
};

miner::miner(const syn_recording *recording, const syn_mine_options *options,
             const syn_watch *watch, syn_episodes *out, int device)
    : recording_(recording), options_(options), watch_(watch), out_(out),
      intervals_(options->n_intervals), mean_list_(recording->events / out->level[0].n)
{
    check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device));
    check(cudaDeviceGetAttribute(&shared_, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                 device));
    shared_ -= 1024;  /* for what the kernels declare themselves */
    const syn_episode_level *units = &out->level[0];
    unit_of_.assign(units->unit, units->unit + units->n);
    while ((size_t) width_ * gpu::WARP < symbols() + 1)
        width_ *= 2;
}

gpu::events_view miner::events() const
{
    gpu::events_view view = {recording_->events, tick_.get(), group_.get(),
                             by_unit_.get(), row_.get(), symbol_.get(), row_end_.get(),
                             unit_.get()};
    return view;
}

size_t miner::memory() const
{
    size_t bytes = tick_.bytes() + bounds_.bytes() + group_.bytes() + by_unit_.bytes() +
                   row_.bytes() + row_end_.bytes() + unit_.bytes() + counts_.bytes() +
                   segment_.bytes() + symbol_.bytes() + scratch_.bytes() +
                   table_.bytes() + places_.bytes() + links_.bytes() +
                   list_[0].bytes() + list_[1].bytes();
    for (const level &one : level_)
        bytes += one.bytes();
    return bytes;
}

/* Everything whose size is known, so that mining allocates only as it outgrows it. */
void miner::upload()
{
    const syn_recording *r = recording_;
    size_t n = r->events;
    std::vector<uint8_t> symbol(n);
    std::vector<uint32_t> row_end(symbols());
    std::vector<uint8_t> symbol_of(r->units, (uint8_t) SYN_GPU_UNITS);
    for (size_t s = 0; s < symbols(); s++) {
        symbol_of[unit_of_[s]] = (uint8_t) s;
        row_end[s] = r->first[unit_of_[s] + 1];
    }
    for (size_t e = 0; e < n; e++)
        symbol[e] = symbol_of[r->unit[e]];
    std::vector<int64_t> bounds(2 * intervals_);
    for (size_t k = 0; k < intervals_; k++) {
        bounds[2 * k] = options_->intervals[k].low;
        bounds[2 * k + 1] = options_->intervals[k].high;
    }
    tick_.upload(r->tick, n, stream_);
    group_.upload(r->group, n, stream_);
    by_unit_.upload(r->by_unit, n, stream_);
    row_.upload(r->row, n, stream_);
    symbol_.upload(symbol.data(), n, stream_);
    row_end_.upload(row_end.data(), symbols(), stream_);
    unit_.upload(unit_of_.data(), symbols(), stream_);
    bounds_.upload(bounds.data(), 2 * intervals_, stream_);

    places_.ensure(n * intervals_);
    links_.ensure(n);
    table_.ensure((n + 1) * intervals_ * gpu::WARP * width_);
    size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes));
    size_t room = std::min<size_t>(std::max<size_t>(512 * n, 1 << 16), 1 << 25);
    room = std::max(std::min(room, free_bytes / (16 * sizeof(uint2))), n);
    for (gpu::array<uint2> &list : list_)
        list.ensure(room);
    device_head_.ensure(1);
    counts_.ensure(room / 16 + 1024);
    for (level &one : level_)
        one.resize(room / 64 + 1024, intervals_, width_, stream_);

    /* The root, whose children are the units, and is its own suffix. */
    level_[0].resize(1, intervals_, width_, stream_);
    std::vector<uint32_t> mask(intervals_ * width_, 0);
    for (size_t k = 0; k < intervals_; k++)
        for (size_t s = 0; s < symbols(); s++)
            mask[k * width_ + s % width_] |= 1u << s / width_;
    std::vector<uint32_t> base(intervals_ + 1, 0);
    check(cudaMemcpyAsync(view(0).mask, mask.data(), mask.size() * sizeof(uint32_t),
                          cudaMemcpyHostToDevice, stream_));
    check(cudaMemcpyAsync(view(0).base, base.data(), base.size() * sizeof(uint32_t),
                          cudaMemcpyHostToDevice, stream_));

    level_[1].resize(symbols(), intervals_, width_, stream_);
    std::vector<uint32_t> suffix(symbols(), 0);
    std::vector<unsigned long long> offset(symbols());
    for (size_t s = 0; s < symbols(); s++)
        offset[s] = r->first[unit_of_[s]];
    const uint32_t *count = out_->level[0].count;
    size_t bytes = symbols() * sizeof(uint32_t);
    check(cudaMemcpyAsync(view(1).suffix, suffix.data(), bytes, cudaMemcpyHostToDevice,
                          stream_));
    check(cudaMemcpyAsync(view(1).count, count, bytes, cudaMemcpyHostToDevice, stream_));
    check(cudaMemcpyAsync(view(1).length, count, bytes, cudaMemcpyHostToDevice, stream_));
    check(cudaMemcpyAsync(view(1).offset, offset.data(), 2 * bytes,
                          cudaMemcpyHostToDevice, stream_));
    check(cudaMemsetAsync(device_head_.get(), 0, sizeof(gpu::header), stream_));
    check(cudaStreamSynchronize(stream_));
}

template <int K> void miner::table_of_width()
{
    dim3 grid(blocks_for(recording_->events, gpu::TABLE_SPAN * 4), (unsigned) intervals_);
    gpu::make_table<K><<<grid, 4 * gpu::WARP, 0, stream_>>>(
        events(), places_.get(), (uint32_t) symbols(),
        (unsigned char *) table_.get());
}

template <int K>
void miner::count_of_width(const gpu::count_job &job, unsigned segments)
{
    size_t items = (size_t) job.here.n * intervals_;
    dim3 grid(blocks_for(items, (size_t) job.group * gpu::COUNT_WARPS), segments);
    gpu::count_children<K><<<grid, gpu::COUNT_WARPS * gpu::WARP, 0, stream_>>>(
        job, (uint32_t) symbols());
}

/* Counts the candidates of `size` and numbers those that are frequent. */
void miner::start_count(size_t size)
{
    gpu::level_view &here = view(size - 1);
    size_t items = here.n * intervals_;
    /* Few items leave the device idle unless each is cut into segments; of very many,
       most have no candidates and are passed over together. */
    size_t wanted = (size_t) processors_ * 64;
    size_t segments = std::min<size_t>(std::max<size_t>(wanted / items, 1), 1024);
    size_t group = std::min<size_t>(std::max<size_t>(items / (4 * wanted), 1), gpu::WARP);
    segment_.ensure(segments > 1 ? items * segments * 3 * width_ * gpu::WARP : 1);
    gpu::count_job job = {
        events(), view(size - 2), here, (uint32_t) intervals_, options_->min_count,
        table_.get(), list_[size % 2].get(), list_[size % 2].room(), counts_.get(),
        (uint32_t) std::min<size_t>(counts_.room(), UINT32_MAX), segment_.get(),
        (uint32_t) segments, (uint32_t) group, device_head_.get()};
    switch (width_) {
    case 1: count_of_width<1>(job, (unsigned) segments); break;
    case 2: count_of_width<2>(job, (unsigned) segments); break;
    case 4: count_of_width<4>(job, (unsigned) segments); break;
    default: count_of_width<8>(job, (unsigned) segments);
    }
    check(cudaGetLastError());
    check(cudaMemcpyAsync(head_.get(), device_head_.get(), sizeof(gpu::header),
                          cudaMemcpyDeviceToHost, stream_));
    check(cudaEventRecord(counted_, stream_));

    size_t bytes = 0;
    check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, here.children, here.base,
                                        (int) items + 1, stream_));
    scratch_.ensure(bytes);
    check(cub::DeviceScan::ExclusiveSum(scratch_.get(), bytes, here.children, here.base,
                                        (int) items + 1, stream_));
}

void miner::poll(size_t size)
{
    char stage[32];
    std::snprintf(stage, sizeof stage, "size %zu", size);
    polled_ = seconds_now();
    if (syn_poll(watch_, stage, 0, 1) == SYN_OK)
        return;
    static const uint32_t yes = 1;
    cudaMemcpyAsync(&device_head_.get()->stop, &yes, sizeof yes, cudaMemcpyHostToDevice,
                    copies_);
    cudaStreamSynchronize(copies_);
    cudaStreamSynchronize(stream_);
    throw refusal(SYN_INTERRUPTED, "%s", "");
}

/* Until counting has told what it found. */
void miner::wait(size_t size)
{
    for (;;) {
        cudaError_t state = cudaEventQuery(counted_);
        if (state != cudaErrorNotReady) {
            check(state);
            break;
        }
        if (watch_ && seconds_now() - polled_ > 0.05)
            poll(size);
    }
    cudaGetLastError();
}

/* Counting is repeated when the lists before it or the counts do not fit. */
void miner::count(size_t size)
{
    gpu::header *device = device_head_.get();
    for (;;) {
        wait(size);
        const gpu::header &head = *head_.get();
        gpu::array<uint2> &list = list_[size % 2];
        if (head.list_ends > list.room()) {
            list.ensure(head.list_ends + head.list_ends / 4);
            check(cudaMemsetAsync(&device->list_ends, 0, sizeof head.list_ends, stream_));
            check(cudaMemsetAsync(&device->lists, 0, sizeof head.lists, stream_));
            start_lists(size - 1);
        } else if (head.found > counts_.room()) {
            counts_.ensure((size_t) head.found + head.found / 4);
        } else {
            return;
        }
        check(cudaMemsetAsync(&device->found, 0, sizeof head.found, stream_));
        start_count(size);
    }
}

/* Makes the `n` nodes of `size` out of what counting kept. */
void miner::fill(size_t size, size_t n)
{
    level_[size % 3].resize(n, intervals_, width_, stream_);
    check(cudaMemsetAsync(device_head_.get(), 0, sizeof(gpu::header), stream_));
    gpu::fill_job job = {view(size - 2), view(size - 1), view(size),
                         (uint32_t) intervals_, unit_.get(), counts_.get(),
                         device_head_.get()};
    size_t items = (size_t) view(size - 1).n * intervals_;
    unsigned blocks = std::min(blocks_for(items, gpu::FILL_WARPS * gpu::WARP),
                               (unsigned) processors_ * 8);
    switch (width_) {
    case 1: gpu::fill_level<1><<<blocks, gpu::FILL_WARPS * gpu::WARP, 0, stream_>>>(job);
        break;
    case 2: gpu::fill_level<2><<<blocks, gpu::FILL_WARPS * gpu::WARP, 0, stream_>>>(job);
        break;
    case 4: gpu::fill_level<4><<<blocks, gpu::FILL_WARPS * gpu::WARP, 0, stream_>>>(job);
        break;
    default: gpu::fill_level<8><<<blocks, gpu::FILL_WARPS * gpu::WARP, 0, stream_>>>(job);
    }
    check(cudaGetLastError());
    check(cudaEventRecord(filled_, stream_));
}

template <int TEAM> void miner::launch_lists(gpu::list_job job, size_t staged)
{
    constexpr size_t warps = gpu::list_warps(TEAM);
    size_t bytes = std::min(warps * staged * sizeof(uint2), (size_t) shared_);
    job.staged = (uint32_t) (bytes / (warps * sizeof(uint2)));
    check(cudaFuncSetAttribute(gpu::make_lists<TEAM>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, (int) bytes));
    unsigned blocks = blocks_for((size_t) job.next.n * TEAM, warps);
    gpu::make_lists<TEAM><<<blocks, warps * gpu::WARP, bytes, stream_>>>(job);
    check(cudaGetLastError());
}

/* Makes the lists of the nodes of `size`. */
void miner::start_lists(size_t size)
{
    gpu::level_view &next = view(size);
    const gpu::array<uint2> &made = list_[(size + 1) % 2];
    gpu::list_job job = {events(), view(size - 1), next, (uint32_t) intervals_,
                         places_.get(), links_.get(), table_.get(),
                         (uint32_t) (gpu::WARP * width_),
                         list_[size % 2].get(), made.get(), made.room(),
                         0, device_head_.get()};
    /* A warp's part of a list must fit in what it can stage, or it is gone through twice;
       few nodes need more warps each to fill the device. */
    size_t warps = (size_t) processors_ * 128 / next.n;
    if (mean_list_ >= 12 * LONG_PART)
        launch_lists<32>(job, LONG_PART);
    else if (mean_list_ >= 1024 || warps >= 16)
        launch_lists<16>(job, LONG_PART);
    else if (mean_list_ >= 288 || warps >= 4)
        launch_lists<4>(job, SHORT_PART);
    else
        launch_lists<1>(job, SHORT_PART);
}

/* Copies n words to pageable memory through the page-locked block. */
void miner::copy(const uint32_t *from, size_t n, uint32_t *to)
{
    for (size_t i = 0; i < n; i += STAGING) {
        size_t words = std::min(n - i, STAGING);
        check(cudaMemcpyAsync(staging_.get(), from + i, words * sizeof(uint32_t),
                              cudaMemcpyDeviceToHost, copies_));
        check(cudaStreamSynchronize(copies_));
        std::memcpy(to + i, staging_.get(), words * sizeof(uint32_t));
    }
}

/* Brings the nodes of `size` and their parents' children to the host. */
void miner::collect(size_t size)
{
    const gpu::level_view &from = view(size), &parents = view(size - 1);
    syn_episode_level *to = &out_->level[size - 1];
    check(cudaStreamWaitEvent(copies_, filled_, 0));
    size_t n = from.n;
    size_t children = (size_t) parents.n + 1;
    uint32_t *arrays[] = {to->parent, to->suffix, to->unit, to->interval, to->count};
    if (5 * n + children <= STAGING) {
        uint32_t *staged = staging_.get();
        check(cudaMemcpyAsync(staged, from.parent, 5 * n * sizeof(uint32_t),
                              cudaMemcpyDeviceToHost, copies_));
        check(cudaMemcpyAsync(staged + 5 * n, parents.child, children * sizeof(uint32_t),
                              cudaMemcpyDeviceToHost, copies_));
        check(cudaStreamSynchronize(copies_));
        for (size_t i = 0; i < 5; i++)
            std::memcpy(arrays[i], staged + i * n, n * sizeof(uint32_t));
        std::memcpy(to[-1].child, staged + 5 * n, children * sizeof(uint32_t));
    } else {
        for (size_t i = 0; i < 5; i++)
            copy(from.parent + i * n, n, arrays[i]);
        copy(parents.child, children, to[-1].child);
    }
}

void miner::mine()
{
    unsigned blocks = blocks_for(recording_->events, 256);
    dim3 grid(blocks, (unsigned) intervals_);
    gpu::find_windows<<<grid, 256, 0, stream_>>>(events(), bounds_.get(), places_.get(),
                                                 device_head_.get());
    check(cudaGetLastError());
    switch (width_) {
    case 1: table_of_width<1>(); break;
    case 2: table_of_width<2>(); break;
    case 4: table_of_width<4>(); break;
    default: table_of_width<8>();
    }
    check(cudaGetLastError());
    gpu::list_units<<<blocks, 256, 0, stream_>>>(events(), list_[0].get(),
                                               links_.get());
    check(cudaGetLastError());

    unsigned long long candidates =
        (unsigned long long) symbols() * symbols() * intervals_;
    for (size_t size = 2; size <= options_->max_size; size++) {
        size_t parents = view(size - 1).n;
        if (parents == 0)
            break;
        if (parents * intervals_ >= INT32_MAX)
            throw refusal(SYN_TOO_LARGE, "there are %zu episodes of size %zu", parents,
                          size - 1);
        start_count(size);
        if (size > 2)
            collect(size - 1);
        count(size);
        const gpu::header head = *head_.get();
        if (size == 2 && head.reach >= 65535)
            throw refusal(SYN_TOO_LARGE, "a window holds more than 65,534 events");
        if (size > 2) {
            candidates = head.candidates;
            mean_list_ = head.lists ? (size_t) (head.list_ends / head.lists) : 0;
        }
        out_->peak_memory = std::max(out_->peak_memory, memory());
        results_ += (size_t) head.found * 6 * sizeof(uint32_t);
        if (results_ > options_->max_memory)
            throw refusal(SYN_OVER_BUDGET, "the episodes do not fit in `max_memory`");
        gpu::append_level(out_, head.found)->candidates = candidates;
        if (head.found == 0) {
            std::memset(out_->level[size - 2].child, 0, (parents + 1) * sizeof(uint32_t));
            view(size).n = 0;
            break;
        }
        fill(size, head.found);
        if (size < options_->max_size)
            start_lists(size);
        else
            collect(size);
    }
    syn_episode_level *last = &out_->level[out_->n_levels - 1];
    std::memset(last->child, 0, (last->n + 1) * sizeof(uint32_t));
    check(cudaStreamSynchronize(stream_));
}

/* The first level needs no device. */
void mine_units(const syn_recording *r, const syn_mine_options *options,
                syn_episodes *out)
{
    size_t n = 0, i = 0;
    for (uint32_t u = 0; u < r->units; u++)
        n += r->first[u + 1] - r->first[u] >= options->min_count;
    syn_episode_level *level = gpu::append_level(out, n);
    level->candidates = r->units;
    for (uint32_t u = 0; u < r->units; u++) {
        uint32_t count = r->first[u + 1] - r->first[u];
        if (count < options->min_count)
            continue;
        level->parent[i] = level->suffix[i] = level->interval[i] = 0;
        level->unit[i] = u;
        level->count[i++] = count;
    }
    std::memset(level->child, 0, (n + 1) * sizeof(uint32_t));
}

void choose(int device)
{
    int devices = 0;
    check(cudaGetDeviceCount(&devices));
    if (device < 0 || device >= devices)
        throw refusal(SYN_NO_DEVICE, "there is no device %d among %d", device, devices);
    check(cudaSetDevice(device));
}

void mine_on(const syn_recording *recording, const syn_mine_options *options, int device,
             const syn_watch *watch, syn_episodes *out, double *seconds)
{
    if (syn_gpu_forked())
        throw refusal(SYN_NO_DEVICE,
                      "this is a forked process, where CUDA cannot be used");
    gpu::device_scope scope;
    choose(device);
    mine_units(recording, options, out);
    size_t units = out->level[0].n;
    if (units > SYN_GPU_UNITS)
        throw refusal(SYN_TOO_LARGE, "there are %zu frequent units, more than %d", units,
                      (int) SYN_GPU_UNITS);
    if (units > 0 && options->n_intervals > 0 && options->max_size > 1) {
        miner work(recording, options, watch, out, device);
        work.upload();
        double begun = seconds_now();
        work.mine();
        *seconds = seconds_now() - begun;
    }
    gpu::drop_empty_level(out);
}

}  // namespace

extern "C" syn_status syn_gpu_mine_episodes(const syn_recording *recording,
                                            const syn_mine_options *options,
                                            const int *devices, int n_devices,
                                            const syn_watch *watch, syn_episodes *out,
                                            double *seconds, char *reason)
{
    double unused;
    int device = n_devices > 0 ? devices[0] : -1;
    syn_status status = SYN_OK;
    std::memset(out, 0, sizeof *out);
    seconds = seconds ? seconds : &unused;
    *seconds = 0;
    reason[0] = '\0';
    try {
        mine_on(recording, options, device, watch, out, seconds);
    } catch (const refusal &why) {
        status = why.status;
        std::snprintf(reason, SYN_GPU_TEXT, "%s", why.text);
    } catch (const gpu::failure &why) {
        bool memory = why.error == cudaErrorMemoryAllocation;
        status = memory ? SYN_NO_MEMORY : SYN_NO_DEVICE;
        syn_gpu_explain(why.error, reason);
    } catch (const std::bad_alloc &) {
        status = SYN_NO_MEMORY;
        std::snprintf(reason, SYN_GPU_TEXT, "the host has no memory left");
    }
    return status;
}
