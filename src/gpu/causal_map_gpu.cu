/* The door of causal maps: what is kept on each device, and blocks of libraries dealt out
   to them in batches. */
#include "gpu/causal_map_gpu.h"

#include "gpu/causal_lookup.cuh"
#include "gpu/causal_neighbours.cuh"
#include "gpu/device.cuh"
#include "gpu/outcome.cuh"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using gpu::array;
using gpu::check;
using gpu::refusal;

constexpr double BATCH_SECONDS = 0.06;  /* about; Ctrl-C waits for two */
constexpr uint32_t MOST_DEVICES = 16;

double now()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/* ---- where the points are ---- */

/* The layout on a device, with the place of each step. */
struct placed_layout {
    array<int32_t> step, place;
    array<unsigned char> use;

    void upload(const syn_map_layout &layout)
    {
        std::vector<int32_t> place(layout.steps, 0);
        for (uint32_t p = 0; p < layout.places; p++)
            if (layout.step[p] >= 0)
                place[layout.step[p]] = p;
        step.ensure(layout.places);
        this->place.ensure(layout.steps);
        use.ensure(layout.places);
        check(cudaMemcpy(step.get(), layout.step, layout.places * sizeof(int32_t),
                         cudaMemcpyHostToDevice));
        check(cudaMemcpy(this->place.get(), place.data(), layout.steps * sizeof(int32_t),
                         cudaMemcpyHostToDevice));
        check(cudaMemcpy(use.get(), layout.use, layout.places, cudaMemcpyHostToDevice));
    }
};

/* From which step to which there are predicted points of E dimensions. */
void find_range(const syn_map_layout &layout, uint32_t E, uint32_t *from, uint32_t *to)
{
    uint32_t run = 0;
    *from = *to = 0;
    for (uint32_t p = 0; p < layout.places; p++) {
        run = layout.step[p] < 0 ? 0 : run + 1;
        if (run < E || !(layout.use[p] & SYN_MAP_PREDICTED))
            continue;
        uint32_t t = layout.step[p];
        *from = *to ? std::min(*from, t) : t;
        *to = std::max(*to, t + 1);
    }
}

/* Fills in all of the shape; every part is followed by room to read ahead into. */
gpu::table_shape make_shape(const syn_map_layout &layout, uint32_t wanted,
                            gpu::entries kind)
{
    gpu::table_shape shape = {};
    shape.wanted = wanted;
    uint64_t words = 0;
    for (uint32_t e = 0; e < SYN_MAP_DIMS; e++) {
        if (!(wanted >> e & 1))
            continue;
        find_range(layout, e + 1, &shape.from[e], &shape.to[e]);
        uint64_t rows = shape.to[e] - shape.from[e], k = e + 2;
        shape.offset[e] = words;
        uint64_t together = kind == gpu::entries::packed ? 32 : 4;
        words += gpu::row_words(kind, k) * (rows / together + 2) * together;
        words = (words + 3) / 4 * 4;
    }
    if (words > UINT32_MAX)
        throw refusal(SYN_TOO_LARGE, "%u steps are more than a GPU's tables hold",
                      layout.steps);
    shape.size = words;
    return shape;
}

gpu::search_job make_search(const placed_layout &at, const syn_map_layout &layout,
                            const syn_map_options &options, uint32_t wanted)
{
    gpu::search_job job = {};
    job.length = gpu::placed_length(layout.places);
    job.places = layout.places;
    job.steps = layout.steps;
    job.exclusion = options.exclusion;
    job.Tp = options.Tp;
    job.wanted = wanted;
    if (options.tau == 1 || options.tau == -1)  /* so that steps are in order */
        job.sample = std::min<uint32_t>(gpu::SAMPLE, layout.places / 4);
    job.step = at.step.get();
    job.place = at.place.get();
    job.use = at.use.get();
    return job;
}

/* ---- libraries on a device ---- */

struct placed_libraries {
    array<float> value, floor, placed, start;
    array<unsigned char> drawn;

    /* Copies libraries from `first` on and lays them out. */
    void put(const syn_map_libraries &libraries, uint32_t first, uint32_t n,
             gpu::search_job *job, cudaStream_t stream)
    {
        size_t steps = libraries.steps, at = first * steps;
        value.upload(libraries.value + at, n * steps, stream);
        floor.upload(libraries.floor + first, n, stream);
        if (libraries.drawn)
            drawn.upload(libraries.drawn + at, n * steps, stream);
        placed.ensure((size_t) n * job->length);
        start.ensure((size_t) n * job->length);
        job->value = value.get();
        job->floor = floor.get();
        job->placed = placed.get();
        job->start = start.get();
        dim3 grid((job->length + 255) / 256, n);
        gpu::lay_out<<<grid, 256, 0, stream>>>(
            *job, libraries.drawn ? drawn.get() : nullptr, placed.get(), start.get());
        check(cudaGetLastError());
    }
};

/* Calls body with constants: a number of dimensions of at least `top`, and `staged`. */
template <class F> void with_top(uint32_t top, bool staged, F body)
{
    if (!staged)
        body(std::integral_constant<int, SYN_MAP_DIMS>(), std::false_type());
    else if (top <= 5)
        body(std::integral_constant<int, 5>(), std::true_type());
    else if (top <= 10)
        body(std::integral_constant<int, 10>(), std::true_type());
    else if (top <= 20)
        body(std::integral_constant<int, 20>(), std::true_type());
    else
        body(std::integral_constant<int, SYN_MAP_DIMS>(), std::true_type());
}

uint32_t top_of(uint32_t wanted)
{
    uint32_t top = 0;
    while (wanted >> top)
        top++;
    return top;
}

int shared_limit(int device)
{
    int bytes = 0;
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                 device));
    return bytes;
}

template <class KERNEL> void allow_shared(KERNEL kernel, size_t bytes)
{
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int) bytes));
}

template <int TOP, bool STAGED>
void launch_tables(const gpu::search_job &job, const gpu::table_shape &shape,
                   gpu::entries kind, uint32_t n, uint32_t *table, cudaStream_t stream)
{
    size_t shared = gpu::search_shared(job, STAGED);
    allow_shared(gpu::find_tables<TOP, STAGED>, shared);
    dim3 grid(gpu::search_blocks(job.places), n);
    gpu::find_tables<TOP, STAGED>
        <<<grid, gpu::SEARCH_WARPS * gpu::EDM_WARP, shared, stream>>>(
            job, shape, gpu::ROW_BYTES, kind, table);
    check(cudaGetLastError());
}

template <int TOP, bool STAGED>
void launch_skill(const gpu::search_job &job, uint32_t n, double *sums,
                  cudaStream_t stream)
{
    size_t shared = gpu::search_shared(job, STAGED);
    allow_shared(gpu::find_skill<TOP, STAGED>, shared);
    dim3 grid(gpu::search_blocks(job.places), n);
    gpu::find_skill<TOP, STAGED>
        <<<grid, gpu::SEARCH_WARPS * gpu::EDM_WARP, shared, stream>>>(job, sums);
    check(cudaGetLastError());
}

/* Seconds that finding a library's neighbours takes, about. */
double search_seconds(const gpu::search_job &job)
{
    double terms = (double) job.places * job.places * top_of(job.wanted);
    return 4e-13 * terms + 2e-8 * job.places;
}

/* ---- targets on a device ---- */

/* How targets are read: see causal_lookup.cuh. */
struct lookup_plan {
    gpu::entries kind;
    bool staged, half;
    uint32_t per_row, planes;  /* targets of a row, and rows of a step */
};

lookup_plan plan_lookup(uint32_t steps, bool half, int shared)
{
    lookup_plan plan = {gpu::entries::narrow, true, half, 0, 1};
    uint32_t size = half ? 2 : 4;
    plan.per_row = gpu::ROW_BYTES / size;
    size_t planes = (size_t) shared / ((size_t) steps * gpu::VECTOR_BYTES);
    if (planes >= gpu::ROW_BYTES / gpu::VECTOR_BYTES)
        return plan;
    if (planes >= 1 && steps < 65535) {
        plan.kind = gpu::entries::packed;
        plan.per_row = gpu::VECTOR_BYTES / size;
        plan.planes = std::min<size_t>(planes, half ? 2 : 4);
    } else {
        plan.kind = gpu::entries::wide;
        plan.staged = false;
    }
    return plan;
}

/* Whether points may lack neighbours or targets. */
bool anything_missing(const syn_map_targets &targets, const syn_map_layout &layout,
                      const syn_map_options &options)
{
    uint64_t around = 2 * (uint64_t) options.exclusion + 2 + SYN_MAP_DIMS;
    uint64_t lag = options.tau < 0 ? -(int64_t) options.tau : options.tau;
    uint64_t ends = (options.E_max - 1) * lag +
                    (options.Tp < 0 ? -(int64_t) options.Tp : options.Tp);
    return targets.missing || options.lib_size > 0 || around + ends > layout.steps;
}

std::vector<gpu::tile> make_tiles(const syn_map_targets &targets, uint32_t per_tile)
{
    std::vector<gpu::tile> tiles;
    for (uint32_t e = SYN_MAP_DIMS; e-- > 0;) {
        uint32_t end = targets.group[e + 1];
        for (uint32_t first = targets.group[e]; first < end; first += per_tile)
            tiles.push_back({e, first, std::min(per_tile, end - first)});
    }
    return tiles;
}

/* A batch's way through a device. */
struct slot {
    placed_libraries libraries;
    array<uint32_t> table;
    array<float> rho;
    array<gpu::lookup_item> items;
    std::unique_ptr<gpu::pinned<float>> host;
    size_t host_room = 0;
    uint32_t first = 0, n = 0;  /* libraries it has */
    cudaEvent_t begun = nullptr, found = nullptr, done = nullptr, copied = nullptr;

    void prepare()
    {
        for (cudaEvent_t *event : {&begun, &found, &done})
            if (!*event)
                check(cudaEventCreate(event));
        if (!copied)
            check(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming |
                                                    cudaEventBlockingSync));
    }

    ~slot()
    {
        for (cudaEvent_t event : {begun, found, done, copied})
            if (event)
                cudaEventDestroy(event);
    }
};

class mapper {
    int device_;
    syn_map_options options_;
    lookup_plan plan_;
    placed_layout layout_;
    gpu::search_job search_;
    gpu::lookup_job lookup_;
    array<unsigned char> values_;
    array<gpu::tile> tiles_;
    array<uint32_t> target_;
    array<double> moments_;
    std::vector<gpu::tile> tile_;
    gpu::stream work_, copy_;
    slot slot_[2];
    uint32_t batch_ = 0;
    int processors_ = 0;
    bool staged_search_ = true, missing_;
public:
    double neighbours = 0, correlations = 0;

    mapper(const syn_map_targets &targets, const syn_map_layout &layout,
           const syn_map_options &options, bool half, int device)
        : device_(device), options_(options)
    {
        int shared = shared_limit(device);
        check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount,
                                     device));
        plan_ = plan_lookup(targets.steps, half, shared);
        missing_ = anything_missing(targets, layout, options);
        layout_.upload(layout);
        uint32_t wanted = 0;
        for (uint32_t e = 0; e < SYN_MAP_DIMS; e++)
            wanted |= (targets.group[e + 1] > targets.group[e] ? 1u : 0u) << e;
        search_ = make_search(layout_, layout, options, wanted);
        staged_search_ = gpu::search_shared(search_, true) <= (size_t) shared;
        lookup_ = {};
        lookup_.shape = make_shape(layout, wanted, plan_.kind);
        lookup_.steps = targets.steps;
        lookup_.targets = targets.n;
        lookup_.planes = plan_.planes;
        put_targets(targets);
        choose_batch();
    }

    uint32_t batch() const { return batch_; }
    int device() const { return device_; }

    /* Works through batches until next() has none: next(&first) gives how many. */
    template <class F>
    void run(const syn_map_libraries &libraries, float *rho, F next)
    {
        uint32_t turn = 0;
        neighbours = correlations = 0;
        for (;;) {
            slot &s = slot_[turn++ % 2];
            collect(&s, rho);
            s.n = next(&s.first);
            if (s.n == 0)
                break;
            start(&s, libraries);
        }
        collect(&slot_[turn % 2], rho);
    }

    /* After an error or an interrupt. */
    void abandon()
    {
        cudaStreamSynchronize(work_);
        cudaStreamSynchronize(copy_);
        cudaGetLastError();
        slot_[0].n = slot_[1].n = 0;
    }

private:
    uint32_t per_tile() const { return plan_.per_row * plan_.planes; }

    void put_targets(const syn_map_targets &targets)
    {
        tile_ = make_tiles(targets, per_tile());
        size_t n = tile_.size(), steps = targets.steps;
        lookup_.tile_bytes = steps * plan_.planes *
                             (plan_.kind == gpu::entries::packed ? gpu::VECTOR_BYTES
                                                                 : gpu::ROW_BYTES);
        values_.ensure(n * lookup_.tile_bytes);
        tiles_.upload(tile_.data(), n, work_);
        target_.upload(targets.target, targets.n, work_);
        moments_.ensure(3 * (size_t) targets.n);
        array<float> plain;
        plain.upload(targets.value, (size_t) targets.n * steps, work_);
        if (plan_.half)
            fill_tiles<__half>(plain.get());
        else
            fill_tiles<float>(plain.get());
        check(cudaStreamSynchronize(work_));
        lookup_.tiles = tiles_.get();
        lookup_.values = values_.get();
        lookup_.target = target_.get();
        lookup_.moments = moments_.get();
    }

    template <class T> void fill_tiles(const float *plain)
    {
        if (tile_.empty())
            return;
        uint32_t n = tile_.size(), steps = lookup_.steps;
        T *out = (T *) values_.get();
        dim3 grid(((uint64_t) steps * plan_.per_row + 255) / 256, n);
        gpu::fill_tiles<T><<<grid, 256, 0, work_>>>(plain, tiles_.get(), target_.get(),
                                                    steps, options_.Tp, plan_.per_row,
                                                    plan_.planes, out);
        check(cudaGetLastError());
        gpu::find_moments<T><<<n, 256, 0, work_>>>(out, tiles_.get(), lookup_.shape,
                                                   steps, plan_.per_row, plan_.planes,
                                                   moments_.get());
        check(cudaGetLastError());
    }

    /* Libraries of a batch: what fits well in time and memory. */
    void choose_batch()
    {
        double gathers = 0;
        for (const gpu::tile &t : tile_)
            gathers += (double) (t.e + 2) * lookup_.steps * per_tile();
        double each = search_seconds(search_) + gathers / 3e12;
        size_t free = 0, all = 0;
        check(cudaMemGetInfo(&free, &all));
        double bytes = 4.0 * lookup_.shape.size + 4.0 * lookup_.targets +
                       13.0 * lookup_.steps + 8.0 * search_.length;
        double fit = std::min(0.4 * free / bytes, BATCH_SECONDS / each);
        batch_ = (uint32_t) std::min(4096.0, std::max(1.0, fit));
        if (batch_ > gpu::LOOKUP_WARPS)
            batch_ = batch_ / gpu::LOOKUP_WARPS * gpu::LOOKUP_WARPS;
        else if (0.4 * free / bytes >= gpu::LOOKUP_WARPS)
            batch_ = gpu::LOOKUP_WARPS;
    }

    /* Tiles times libraries in pieces, large enough to pay for reading a tile. */
    std::vector<gpu::lookup_item> deal(uint32_t n) const
    {
        uint32_t group = 4 * gpu::LOOKUP_WARPS;
        while (group > gpu::LOOKUP_WARPS &&
               tile_.size() * ((n + group - 1) / group) < 6 * (size_t) processors_)
            group /= 2;
        std::vector<gpu::lookup_item> items;
        for (uint32_t t = 0; t < tile_.size();) {
            uint32_t end = t;
            while (end < tile_.size() && tile_[end].e == tile_[t].e)
                end++;
            for (uint32_t from = 0; from < n; from += group)
                for (uint32_t i = t; i < end; i++)
                    items.push_back({i, from, std::min(n, from + group)});
            t = end;
        }
        return items;
    }

    void start(slot *s, const syn_map_libraries &libraries)
    {
        s->prepare();
        gpu::search_job search = search_;
        size_t most = std::max(s->n, std::min(batch_, libraries.n));
        if (s->table.room() < most * lookup_.shape.size) {
            s->table.ensure(most * lookup_.shape.size);
            check(cudaMemsetAsync(s->table.get(), 0, s->table.bytes(), work_));
        }
        s->rho.ensure(most * lookup_.targets);
        check(cudaEventRecord(s->begun, work_));
        s->libraries.put(libraries, s->first, s->n, &search, work_);
        find_neighbours(s, search);
        check(cudaEventRecord(s->found, work_));
        std::vector<gpu::lookup_item> items = deal(s->n);
        s->items.upload(items.data(), items.size(), work_);
        gpu::lookup_job lookup = lookup_;
        lookup.table = s->table.get();
        lookup.items = s->items.get();
        lookup.rho = s->rho.get();
        correlate(lookup, items.size(), missing_ || libraries.missing);
        check(cudaEventRecord(s->done, work_));
        check(cudaStreamWaitEvent(copy_, s->done, 0));
        size_t n = (size_t) s->n * lookup_.targets;
        if (s->host_room < n) {
            s->host.reset();
            s->host_room = most * lookup_.targets;
            s->host.reset(new gpu::pinned<float>(s->host_room));
        }
        check(cudaMemcpyAsync(s->host->get(), s->rho.get(), n * sizeof(float),
                              cudaMemcpyDeviceToHost, copy_));
        check(cudaEventRecord(s->copied, copy_));
    }

    void find_neighbours(slot *s, const gpu::search_job &search)
    {
        with_top(top_of(search.wanted), staged_search_, [&](auto top, auto staged) {
            launch_tables<decltype(top)::value, decltype(staged)::value>(
                search, lookup_.shape, plan_.kind, s->n, s->table.get(), work_);
        });
        if (plan_.kind != gpu::entries::packed)
            return;
        dim3 grid((lookup_.steps / 8 + 128) / 128, __builtin_popcount(search.wanted),
                  s->n);
        gpu::spread_over_banks<<<grid, 128, 0, work_>>>(lookup_.shape, s->table.get());
        check(cudaGetLastError());
    }

    template <class KERNEL> void launch(KERNEL kernel, const gpu::lookup_job &job, size_t n)
    {
        size_t shared = plan_.staged ? job.tile_bytes : 0;
        allow_shared(kernel, shared);
        if (n > 0)
            kernel<<<(uint32_t) n, gpu::LOOKUP_THREADS, shared, work_>>>(job);
        check(cudaGetLastError());
    }

    void correlate(const gpu::lookup_job &job, size_t n, bool missing)
    {
        if (plan_.half && missing)
            correlate_of<gpu::half_lane, true>(job, n);
        else if (plan_.half)
            correlate_of<gpu::half_lane, false>(job, n);
        else if (missing)
            correlate_of<gpu::single_lane, true>(job, n);
        else
            correlate_of<gpu::single_lane, false>(job, n);
    }

    template <class LANE, bool MISSING>
    void correlate_of(const gpu::lookup_job &job, size_t n)
    {
        if (plan_.kind == gpu::entries::narrow)
            launch(gpu::correlate_rows<LANE, MISSING, true>, job, n);
        else if (plan_.kind == gpu::entries::wide)
            launch(gpu::correlate_rows<LANE, MISSING, false>, job, n);
        else if (MISSING || plan_.planes == 1)
            launch(gpu::correlate_lanes<LANE, 1, MISSING>, job, n);
        else if (plan_.planes == 2)
            launch(gpu::correlate_lanes<LANE, 2, false>, job, n);
        else if (plan_.planes == 3)  /* never in half precision */
            launch(gpu::correlate_lanes<gpu::single_lane, 3, false>, job, n);
        else
            launch(gpu::correlate_lanes<gpu::single_lane, 4, false>, job, n);
    }

    /* Waits for a batch and gives its correlations to the caller. */
    void collect(slot *s, float *rho)
    {
        if (s->n == 0)
            return;
        check(cudaEventSynchronize(s->copied));
        std::memcpy(rho + (size_t) s->first * lookup_.targets, s->host->get(),
                    (size_t) s->n * lookup_.targets * sizeof(float));
        float ms = 0;
        check(cudaEventElapsedTime(&ms, s->begun, s->found));
        neighbours += ms / 1e3;
        check(cudaEventElapsedTime(&ms, s->found, s->done));
        correlations += ms / 1e3;
        s->n = 0;
    }
};

/* ---- work on several devices ---- */

/* A block of libraries in hand: threads, and the first of their errors. */
struct crew {
    std::vector<std::thread> threads;
    std::atomic<uint32_t> next{0}, finished{0};
    std::atomic<bool> stop{false};
    std::mutex lock;
    std::exception_ptr first;

    void fail(std::exception_ptr why)
    {
        std::lock_guard<std::mutex> hold(lock);
        if (!first)
            first = why;
        stop = true;
    }

    /* Up to `batch` libraries of n, and fewer towards the end. */
    uint32_t take(uint32_t batch, uint32_t n, uint32_t devices, uint32_t *from)
    {
        if (stop)
            return 0;
        uint32_t at = next.load();
        for (;;) {
            if (at >= n)
                return 0;
            uint32_t left = n - at, share = devices > 1 ? left / (2 * devices) : left;
            share = (share + gpu::LOOKUP_WARPS - 1) / gpu::LOOKUP_WARPS * gpu::LOOKUP_WARPS;
            uint32_t part = std::min({batch, left, std::max(share, 16u)});
            if (next.compare_exchange_weak(at, at + part)) {
                *from = at;
                return part;
            }
        }
    }

    void join()
    {
        for (std::thread &thread : threads)
            thread.join();
        threads.clear();
    }

    ~crew()
    {
        stop = true;
        join();
    }

    /* Polls `watch` until all threads have ended. */
    void wait(uint32_t total, const syn_watch *watch, const char *stage)
    {
        double asked = now();
        syn_status status = SYN_OK;
        while (finished < threads.size()) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            if (status == SYN_OK && now() - asked > 0.05) {
                status = syn_poll(watch, stage, std::min(next.load(), total), total);
                asked = now();
                if (status != SYN_OK)
                    stop = true;
            }
        }
        join();
        if (first)
            std::rethrow_exception(first);
        if (status != SYN_OK)
            throw refusal(status, "%s", "");
    }
};

void check_request(const int *devices, int n)
{
    gpu::check_devices(devices, n);
    if (n < 1 || n > (int) MOST_DEVICES)
        throw refusal(SYN_TOO_LARGE, "%d devices are not 1 to %u", n, MOST_DEVICES);
}

}  // namespace

struct syn_gpu_map {
    std::vector<std::unique_ptr<mapper>> mappers;
    std::unique_ptr<crew> work;
    uint32_t libraries = 0;
    double begun = 0, ended = 0;

    ~syn_gpu_map()
    {
        gpu::device_scope scope;
        work.reset();
        for (std::unique_ptr<mapper> &one : mappers) {
            if (!one)
                continue;
            cudaSetDevice(one->device());
            one.reset();
        }
    }
};

/* ---- the door ---- */

namespace {

void open_map(const syn_map_targets *targets, const syn_map_layout *layout,
              const syn_map_options *options, int half, const int *devices,
              int n_devices, syn_gpu_map *map)
{
    check_request(devices, n_devices);
    map->mappers.resize(n_devices);
    crew all;
    auto open = [&](int i) {
        try {
            check(cudaSetDevice(devices[i]));
            map->mappers[i].reset(new mapper(*targets, *layout, *options, half, devices[i]));
        } catch (...) {
            all.fail(std::current_exception());
        }
    };
    for (int i = 0; i < n_devices; i++)
        all.threads.emplace_back(open, i);
    all.join();
    if (all.first)
        std::rethrow_exception(all.first);
}

void work_as(mapper *mine, crew *work, uint32_t devices,
             const syn_map_libraries *libraries, float *rho)
{
    try {
        check(cudaSetDevice(mine->device()));
        mine->run(*libraries, rho, [&](uint32_t *first) {
            return work->take(mine->batch(), libraries->n, devices, first);
        });
    } catch (...) {
        work->fail(std::current_exception());
    }
    mine->abandon();
    work->finished++;
}

/* Skill of every E on one device. */
void find_skill(const syn_map_libraries &libraries, const syn_map_layout &layout,
                const syn_map_options &options, int device, crew *work, uint32_t devices,
                float *rho)
{
    check(cudaSetDevice(device));
    placed_layout at;
    at.upload(layout);
    uint32_t E_max = options.E_max;
    gpu::search_job job = make_search(at, layout, options,
                                      E_max >= 32 ? ~0u : (1u << E_max) - 1);
    bool staged = gpu::search_shared(job, true) <= (size_t) shared_limit(device);
    uint32_t parts = gpu::search_blocks(job.places) * gpu::SEARCH_WARPS;
    size_t free = 0, all = 0;
    check(cudaMemGetInfo(&free, &all));
    double bytes = 8.0 * parts * gpu::EDM_WARP * gpu::SUMS + 5.0 * job.steps +
                   8.0 * job.length;
    uint32_t batch = std::max(1.0, std::min({8192.0, BATCH_SECONDS / search_seconds(job),
                                             0.5 * free / bytes}));
    gpu::stream stream;
    placed_libraries put;
    array<double> sums;
    array<float> found;
    uint32_t first = 0, n;
    while ((n = work->take(batch, libraries.n, devices, &first)) > 0) {
        put.put(libraries, first, n, &job, stream);
        sums.ensure((size_t) n * parts * gpu::EDM_WARP * gpu::SUMS);
        found.ensure((size_t) n * E_max);
        with_top(E_max, staged, [&](auto top, auto fits) {
            launch_skill<decltype(top)::value, decltype(fits)::value>(job, n, sums.get(),
                                                                      stream);
        });
        gpu::add_skill<<<(n * E_max + 127) / 128, 128, 0, stream>>>(sums.get(), n, parts,
                                                                    E_max, found.get());
        check(cudaGetLastError());
        check(cudaMemcpyAsync(rho + (size_t) first * E_max, found.get(),
                              (size_t) n * E_max * sizeof(float), cudaMemcpyDeviceToHost,
                              stream));
        check(cudaStreamSynchronize(stream));
    }
}

}  // namespace

extern "C" syn_status syn_gpu_map_dimensions(const syn_map_libraries *libraries,
                                             const syn_map_layout *layout,
                                             const syn_map_options *options,
                                             const int *devices, int n_devices,
                                             const syn_watch *watch, float *rho,
                                             syn_gpu_map_report *report, char *reason)
{
    std::memset(report, 0, sizeof *report);
    gpu::outcome end = gpu::outcome_of([&] {
        check_request(devices, n_devices);
        gpu::device_scope scope;
        double begun = now();
        crew work;
        auto member = [&](int device) {
            try {
                find_skill(*libraries, *layout, *options, device, &work, n_devices, rho);
            } catch (...) {
                work.fail(std::current_exception());
            }
            work.finished++;
        };
        for (int i = 0; i < n_devices; i++)
            work.threads.emplace_back(member, devices[i]);
        work.wait(libraries->n, watch, "embedding");
        report->seconds = report->neighbours = now() - begun;
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}

extern "C" syn_status syn_gpu_map_open(const syn_map_targets *targets,
                                       const syn_map_layout *layout,
                                       const syn_map_options *options, int half,
                                       const int *devices, int n_devices,
                                       syn_gpu_map **out, char *reason)
{
    *out = nullptr;
    std::unique_ptr<syn_gpu_map> map;
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::device_scope scope;
        map.reset(new syn_gpu_map);
        open_map(targets, layout, options, half, devices, n_devices, map.get());
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    if (end.status == SYN_OK)
        *out = map.release();
    return end.status;
}

extern "C" syn_status syn_gpu_map_begin(syn_gpu_map *map,
                                        const syn_map_libraries *libraries, float *rho,
                                        char *reason)
{
    gpu::outcome end = gpu::outcome_of([&] {
        map->work.reset(new crew);
        map->libraries = libraries->n;
        map->begun = now();
        for (const std::unique_ptr<mapper> &one : map->mappers)
            map->work->threads.emplace_back(work_as, one.get(), map->work.get(),
                                            (uint32_t) map->mappers.size(), libraries, rho);
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}

extern "C" syn_status syn_gpu_map_finish(syn_gpu_map *map, const syn_watch *watch,
                                         syn_gpu_map_report *report, char *reason)
{
    std::memset(report, 0, sizeof *report);
    gpu::outcome end = gpu::outcome_of([&] {
        if (!map->work)
            return;
        std::unique_ptr<crew> work(map->work.release());
        work->wait(map->libraries, watch, "mapping");
        report->seconds = now() - map->begun;
        for (const std::unique_ptr<mapper> &one : map->mappers) {
            report->neighbours = std::max(report->neighbours, one->neighbours);
            report->correlations = std::max(report->correlations, one->correlations);
        }
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}

extern "C" void syn_gpu_map_close(syn_gpu_map *map)
{
    delete map;
}
