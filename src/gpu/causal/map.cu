/* The door of causal maps: blocks of libraries dealt out to devices in batches. */
#include "gpu/causal/map.h"

#include "gpu/base/crew.cuh"
#include "gpu/causal/mapper.cuh"

#include <cstdio>
#include <new>
#include <numeric>

using gpu::array;
using gpu::check;

struct syn_gpu_map {
    std::vector<std::unique_ptr<gpu::mapper>> mappers;
    std::unique_ptr<gpu::crew> work;
    uint32_t libraries = 0;
    double begun = 0;

    ~syn_gpu_map()
    {
        gpu::device_scope scope;
        work.reset();
        for (std::unique_ptr<gpu::mapper> &one : mappers) {
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
    map->mappers.resize(n_devices);
    gpu::crew all;
    auto open = [&](int i) {
        try {
            check(cudaSetDevice(devices[i]));
            map->mappers[i].reset(
                new gpu::mapper(*targets, *layout, *options, half, devices[i]));
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

void work_as(gpu::mapper *mine, gpu::crew *work, uint32_t devices,
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
    work->end();
}

/* The series of a search: value[n][steps]. */
struct skill_series {
    uint32_t n;
    const double *value;
};

struct skill_slot : gpu::batch_slot {
    syn_map_libraries ready = {};
    array<double> sums;
    array<float> found;

    ~skill_slot() { syn_map_libraries_free(&ready); }

    /* Makes the series of the batch ready, on this thread. */
    void prepare(const skill_series &all, const syn_map_layout &layout,
                 syn_map_options options)
    {
        options.threads = 1;
        syn_map_libraries_free(&ready);
        if (syn_map_libraries_make(n, all.value + (size_t) first * layout.steps, first,
                                   &layout, &options, &ready) != SYN_OK)
            throw std::bad_alloc();
    }
};

/* Skill of every E on one device. */
void find_skill(const skill_series &all, const syn_map_layout &layout,
                const syn_map_options &options, int device, gpu::crew *work,
                uint32_t devices, float *rho)
{
    gpu::placed_layout at;
    at.upload(layout);
    uint32_t E_max = options.E_max;
    gpu::search_job job = gpu::make_search(at, layout, options, (1u << E_max) - 1);
    bool staged = gpu::search_shared(job, true) <= (size_t) gpu::shared_limit(device);
    uint32_t parts = gpu::search_blocks(job) * gpu::SEARCH_WARPS;
    double bytes = 8.0 * parts * gpu::WARP * gpu::SUMS + 5.0 * job.steps +
                   5.0 * job.length;
    double fit = std::min(0.8 * gpu::free_memory() / gpu::BATCHES / bytes,
                          gpu::BATCH_SECONDS / gpu::search_seconds(job));
    uint32_t batch = (uint32_t) std::min(8192.0, std::max(1.0, fit));
    std::vector<uint32_t> E(E_max);
    std::iota(E.begin(), E.end(), 1);
    skill_slot slot[gpu::BATCHES];
    auto next = [&](uint32_t *first) {
        return work->take(batch, all.n, devices, first);
    };
    auto start = [&](skill_slot *s) {
        gpu::search_job mine = job;
        s->prepare(all, layout, options);
        s->libraries.put(s->ready, 0, s->n, &mine, s->work);
        s->sums.ensure((size_t) s->n * parts * gpu::WARP * gpu::SUMS);
        s->found.ensure((size_t) s->n * E_max);
        gpu::with_top(E_max, staged, [&](auto top, auto fits) {
            gpu::launch_skill<decltype(top)::value, decltype(fits)::value>(
                mine, s->n, s->sums.get(), s->work);
        });
        gpu::add_skill<<<(s->n * E_max + 127) / 128, 128, 0, s->work>>>(
            s->sums.get(), s->n, parts, E_max, s->found.get());
        check(cudaGetLastError());
    };
    auto collect = [&](skill_slot *s) {
        float *to = rho + (size_t) s->first * E_max;
        check(cudaMemcpyAsync(to, s->found.get(), (size_t) s->n * E_max * sizeof(float),
                              cudaMemcpyDeviceToHost, s->work));
        check(cudaStreamSynchronize(s->work));
        syn_map_drop_small(&s->ready, &layout, E.data(), E_max, to);
    };
    gpu::keep_busy(slot, next, start, collect);
}

}  // namespace

extern "C" syn_status syn_gpu_map_dimensions(uint32_t n, const double *value,
                                             const syn_map_layout *layout,
                                             const syn_map_options *options,
                                             const int *devices, int n_devices,
                                             const syn_watch *watch, float *rho,
                                             syn_gpu_map_report *report, char *reason)
{
    std::memset(report, 0, sizeof *report);
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_request(devices, n_devices);
        gpu::device_scope scope;
        double begun = gpu::seconds_now();
        gpu::crew work;
        work.start(devices, n_devices, [&](int device) {
            find_skill({n, value}, *layout, *options, device, &work, n_devices, rho);
        });
        work.wait(n, watch, "embedding");
        report->seconds = report->neighbours = gpu::seconds_now() - begun;
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
        gpu::check_request(devices, n_devices);
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
        gpu::check_not_forked();
        map->work.reset(new gpu::crew);
        map->libraries = libraries->n;
        map->begun = gpu::seconds_now();
        for (const std::unique_ptr<gpu::mapper> &one : map->mappers)
            map->work->threads.emplace_back(work_as, one.get(), map->work.get(),
                                            (uint32_t) map->mappers.size(), libraries,
                                            rho);
    });
    /* Where a thread could not be started, those that were end before the caller frees
       what they write to. */
    if (end.status != SYN_OK && !syn_gpu_forked())
        map->work.reset();
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}

extern "C" syn_status syn_gpu_map_finish(syn_gpu_map *map, const syn_watch *watch,
                                         syn_gpu_map_report *report, char *reason)
{
    std::memset(report, 0, sizeof *report);
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_not_forked();
        if (!map->work)
            return;
        std::unique_ptr<gpu::crew> work(map->work.release());
        work->wait(map->libraries, watch, "mapping");
        report->seconds = gpu::seconds_now() - map->begun;
        for (const std::unique_ptr<gpu::mapper> &one : map->mappers) {
            report->neighbours = std::max(report->neighbours, one->neighbours);
            report->correlations = std::max(report->correlations, one->correlations);
        }
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}

/* In a fork there are neither the threads nor the contexts to end: all of it is left. */
extern "C" void syn_gpu_map_close(syn_gpu_map *map)
{
    if (!syn_gpu_forked())
        delete map;
}
