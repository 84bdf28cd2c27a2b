/* The door of causal maps: blocks of libraries dealt out to devices in batches. */
#include "gpu/causal/map.h"

#include "gpu/base/crew.cuh"
#include "gpu/causal/dimensions.cuh"
#include "gpu/causal/mapper.cuh"

#include <cstdio>

using gpu::check;

struct syn_gpu_map {
    std::vector<std::unique_ptr<gpu::mapper>> mappers;
    std::vector<std::thread> threads;  /* one for each mapper, from the first block on */
    gpu::block_queue queue;

    /* Ends all work. */
    void stop()
    {
        queue.close();
        for (std::thread &thread : threads)
            thread.join();
        threads.clear();
    }

    ~syn_gpu_map()
    {
        gpu::device_scope scope;
        stop();
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

/* Where memory is short, kept neighbours make room for the targets: to find them again
   takes time, and without targets there is no map. */
gpu::mapper *open_mapper(const syn_map_targets &targets, const syn_map_layout &layout,
                         const syn_map_options &options, bool half,
                         syn_gpu_tables *tables, int device)
{
    check(cudaSetDevice(device));
    try {
        return new gpu::mapper(targets, layout, options, half, tables, device);
    } catch (const gpu::failure &why) {
        gpu::kept_tables *kept = tables ? tables->on(device) : nullptr;
        if (why.error != cudaErrorMemoryAllocation || !kept || !kept->drop())
            throw;
    }
    return new gpu::mapper(targets, layout, options, half, tables, device);
}

void open_map(const syn_map_targets *targets, const syn_map_layout *layout,
              const syn_map_options *options, int half, syn_gpu_tables *tables,
              const int *devices, int n_devices, syn_gpu_map *map)
{
    map->mappers.resize(n_devices);
    gpu::crew all;
    auto open = [&](int i) {
        try {
            map->mappers[i].reset(open_mapper(*targets, *layout, *options, half, tables,
                                              devices[i]));
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

/* The work of one device, number `who` of the map's; its error ends all work. */
void work_as(syn_gpu_map *map, size_t who)
{
    gpu::mapper *mine = map->mappers[who].get();
    try {
        check(cudaSetDevice(mine->device()));
        mine->run(&map->queue, who);
    } catch (...) {
        map->queue.close(std::current_exception());
    }
    mine->abandon();
}

/* Waits for the oldest block, polling `watch`. */
void wait_for_oldest(syn_gpu_map *map, const syn_watch *watch)
{
    uint32_t taken = 0, all = 0;
    while (!map->queue.oldest_done(&taken, &all)) {
        syn_status status = syn_poll(watch, "mapping", taken, all);
        if (status != SYN_OK) {
            map->stop();
            throw gpu::refusal(status, "%s", "");
        }
    }
    if (map->queue.error()) {
        map->stop();
        std::rethrow_exception(map->queue.error());
    }
}

}  // namespace

extern "C" syn_status syn_gpu_tables_open(const syn_map_layout *layout,
                                          const syn_map_options *options, int half,
                                          double most, const int *devices, int n_devices,
                                          syn_gpu_tables **out, char *reason)
{
    *out = nullptr;
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_request(devices, n_devices);
        gpu::device_scope scope;
        std::unique_ptr<syn_gpu_tables> tables(new syn_gpu_tables);
        for (int i = 0; i < n_devices; i++) {
            check(cudaSetDevice(devices[i]));
            gpu::lookup_plan plan = gpu::plan_lookup(layout->steps, options->E_max, half,
                                                     true, gpu::shared_limit(devices[i]));
            /* Different devices may read tables in different ways. */
            if (i > 0 && plan.kind != tables->kind)
                return;
            tables->kind = plan.kind;
            tables->of.emplace_back(devices[i], std::min(most, gpu::room_to_keep()));
        }
        uint32_t wanted = (1u << options->E_max) - 1;
        tables->shape = gpu::make_shape(*layout, wanted, tables->kind, 1);
        *out = tables.release();
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}

extern "C" void syn_gpu_tables_close(syn_gpu_tables *tables)
{
    if (!syn_gpu_forked())
        delete tables;
}

extern "C" syn_status syn_gpu_map_dimensions(uint32_t n, const double *value,
                                             uint32_t first, const syn_map_layout *layout,
                                             const syn_map_options *options,
                                             syn_gpu_tables *tables, const int *devices,
                                             int n_devices, const syn_watch *watch,
                                             float *rho, syn_gpu_map_report *report,
                                             char *reason)
{
    std::memset(report, 0, sizeof *report);
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_request(devices, n_devices);
        gpu::device_scope scope;
        double begun = gpu::seconds_now();
        gpu::crew work;
        work.start(devices, n_devices, [&](int device) {
            gpu::skill_series all = {n, value, first};
            gpu::skill_search search(all, *layout, *options, device, tables);
            search.run(&work, n_devices, rho);
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
                                       syn_gpu_tables *tables, const int *devices,
                                       int n_devices, syn_gpu_map **out, char *reason)
{
    *out = nullptr;
    std::unique_ptr<syn_gpu_map> map;
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_request(devices, n_devices);
        gpu::device_scope scope;
        map.reset(new syn_gpu_map);
        open_map(targets, layout, options, half, tables, devices, n_devices, map.get());
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    if (end.status == SYN_OK)
        *out = map.release();
    return end.status;
}

extern "C" syn_status syn_gpu_map_begin(syn_gpu_map *map,
                                        const syn_map_libraries *libraries,
                                        uint32_t first, float *rho, char *reason)
{
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_not_forked();
        size_t devices = map->mappers.size();
        std::vector<std::vector<gpu::range>> kept;
        for (const std::unique_ptr<gpu::mapper> &one : map->mappers)
            kept.push_back(one->kept({first, libraries->n}));
        std::unique_ptr<gpu::block_work> block(new gpu::block_work{
            libraries, first, rho, gpu::dealer(libraries->n, kept), libraries->n,
            gpu::seconds_now(), std::vector<gpu::map_seconds>(devices)});
        map->queue.push(std::move(block));
        while (map->threads.size() < devices)
            map->threads.emplace_back(work_as, map, map->threads.size());
    });
    /* Where a thread could not be started, those that were end before the caller frees
       what they write to. */
    if (end.status != SYN_OK && !syn_gpu_forked())
        map->stop();
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}

extern "C" syn_status syn_gpu_map_finish(syn_gpu_map *map, const syn_watch *watch,
                                         syn_gpu_map_report *report, char *reason)
{
    std::memset(report, 0, sizeof *report);
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_not_forked();
        if (map->queue.empty())
            return;
        wait_for_oldest(map, watch);
        std::unique_ptr<gpu::block_work> block = map->queue.pop();
        report->seconds = gpu::seconds_now() - block->begun;
        for (const gpu::map_seconds &one : block->took) {
            report->neighbours = std::max(report->neighbours, one.neighbours);
            report->correlations = std::max(report->correlations, one.correlations);
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
