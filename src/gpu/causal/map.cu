/* The door of causal maps: blocks of libraries dealt out to devices in batches. */
extern "C" {
#include "gpu/causal/map.h"
}

#include "gpu/causal/mapper.cuh"

#include <new>
#include <numeric>

namespace gpu {

/* ---- numbers of dimensions ---- */

/* In how many dimensions series forecast themselves best, on one device of several. */

/* The series of a search: value[n][steps]; `first` is the number of the first of them. */
struct skill_series {
    uint32_t n;
    const double *value;
    uint32_t first;
};

struct skill_slot : batch_slot {
    syn_map_libraries ready = {};
    double *sums = nullptr;
    float *found = nullptr;

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

enum { FIRST_BATCH = 128 };  /* series, which fill a device */

/* Skill of every E, E_max of each series, on the current device. */
class skill_search {
    const skill_series &all_;
    const syn_map_layout &layout_;
    const syn_map_options &options_;
    syn_gpu_tables *tables_;       /* NULL: nothing is kept */
    kept_tables *kept_ = nullptr;
    arrays own_;                   /* of the pointers that follow */
    search_job job_ = {}, both_;   /* for forecasts, and for these and a map */
    bool staged_;
    uint32_t parts_, batch_;
    skill_slot slot_[BATCHES];

public:
    skill_search(const skill_series &all, const syn_map_layout &layout,
                 const syn_map_options &options, int device, syn_gpu_tables *tables)
        : all_(all), layout_(layout), options_(options), tables_(tables)
    {
        uint32_t wanted = (1u << options.E_max) - 1;
        make_search(&job_, &own_, layout, options, wanted, slot_[0].work);
        if (tables)
            keep(device);
        staged_ = search_shared(job_, true) <= (size_t) shared_limit(device);
        parts_ = search_blocks(job_) * SEARCH_WARPS;
        double bytes = 8.0 * parts_ * WARP * SUMS + 5.0 * job_.steps + 5.0 * job_.length;
        double fit = std::min(0.8 * free_memory() / BATCHES / bytes,
                              BATCH_SECONDS / search_seconds(job_));
        batch_ = (uint32_t) std::min(8192.0, std::max(1.0, fit));
        if (batch_ > DEALT_TOGETHER)
            batch_ = batch_ / DEALT_TOGETHER * DEALT_TOGETHER;
    }

    /* Batches grow: the device need not wait until many series are ready. */
    void run(crew *work, float *rho)
    {
        uint32_t batch = std::min<uint32_t>(FIRST_BATCH, batch_);
        auto next = [&](uint32_t *first) {
            uint32_t n = work->take(batch, first);
            batch = std::min(2 * batch, batch_);
            return n;
        };
        keep_busy(slot_, next, [&](skill_slot *s) { start(s); },
                  [&](skill_slot *s) { collect(s, rho); });
    }

private:
    /* All steps have neighbours in a map: also the last one, which forecasts nothing. */
    void keep(int device)
    {
        kept_ = tables_->on(device);
        std::vector<unsigned char> use(layout_.use, layout_.use + layout_.places);
        use.back() |= SYN_MAP_PREDICTED;
        both_ = job_;
        own_.upload(&both_.use, use, slot_[0].work);
        wait_for(slot_[0].work);
    }

    void start(skill_slot *s)
    {
        s->prepare(all_, layout_, options_);
        uint32_t *table = nullptr;
        if (kept_ && !s->ready.missing)
            table = kept_->add({all_.first + s->first, s->n}, tables_->shape,
                               s->work);
        size_t most = std::max(s->n, std::min(batch_, all_.n));
        s->own.ensure(&s->sums, most * parts_ * WARP * SUMS);
        s->own.ensure(&s->found, most * options_.E_max);
        s->put(table ? both_ : job_, s->ready, 0, most);
        with_top(options_.E_max, staged_, [&](auto top, auto staged) {
            if (table)
                launch_search(find_both<top, staged>, s->search, staged, s->n, s->work,
                              tables_->shape, tables_->kind, table, s->sums);
            else
                launch_search(find_skill<top, staged>, s->search, staged, s->n, s->work,
                              s->sums);
        });
        launch(add_skill, (s->n * options_.E_max + 127) / 128, 128, 0, s->work, s->sums,
               s->n, parts_, options_.E_max, s->found);
    }

    void collect(skill_slot *s, float *rho)
    {
        uint32_t E_max = options_.E_max, E[SYN_MAP_DIMS];
        std::iota(E, E + E_max, 1);
        float *to = rho + (size_t) s->first * E_max;
        download(to, s->found, (size_t) s->n * E_max, s->work);
        check(cudaStreamSynchronize(s->work));
        syn_map_drop_small(&s->ready, &layout_, E, E_max, to);
    }
};

}  // namespace gpu

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
    try {
        return new gpu::mapper(targets, layout, options, half, tables, device);
    } catch (const gpu::failure &why) {
        gpu::kept_tables *kept = tables ? tables->on(device) : nullptr;
        if (why.error != cudaErrorMemoryAllocation || !kept || !kept->drop())
            throw;
    }
    return new gpu::mapper(targets, layout, options, half, tables, device);
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

syn_status syn_gpu_tables_open(const syn_map_layout *layout,
                               const syn_map_options *options, int half, double most,
                               syn_gpu_call *call, syn_gpu_tables **out)
{
    *out = nullptr;
    return gpu::status_with(call, [&] {
        std::unique_ptr<syn_gpu_tables> tables(new syn_gpu_tables);
        for (int i = 0; i < call->n; i++) {
            int device = call->devices[i];
            check(cudaSetDevice(device));
            gpu::lookup_plan plan = gpu::plan_lookup(layout->steps, options->E_max, half,
                                                     true, gpu::shared_limit(device));
            /* Different devices may read tables in different ways. */
            if (i > 0 && plan.kind != tables->kind)
                return;
            tables->kind = plan.kind;
            tables->of.emplace_back(device, std::min(most, gpu::room_to_keep()));
        }
        uint32_t wanted = (1u << options->E_max) - 1;
        tables->shape = gpu::make_shape(*layout, wanted, tables->kind, 1);
        *out = tables.release();
    });
}

void syn_gpu_tables_close(syn_gpu_tables *tables)
{
    if (!syn_gpu_forked())
        delete tables;
}

syn_status syn_gpu_map_dimensions(uint32_t n, const double *value, uint32_t first,
                                  const syn_map_layout *layout,
                                  const syn_map_options *options, syn_gpu_tables *tables,
                                  syn_gpu_call *call, float *rho)
{
    return gpu::status_with(call, [&] {
        gpu::share_out(*call, n, "embedding", [&](gpu::crew &work, int device) {
            gpu::skill_series all = {n, value, first};
            gpu::skill_search search(all, *layout, *options, device, tables);
            search.run(&work, rho);
        });
    });
}

syn_status syn_gpu_map_open(const syn_map_targets *targets, const syn_map_layout *layout,
                            const syn_map_options *options, int half,
                            syn_gpu_tables *tables, syn_gpu_call *call,
                            syn_gpu_map **out)
{
    *out = nullptr;
    std::unique_ptr<syn_gpu_map> map;
    return gpu::status_with(call, [&] {
        map.reset(new syn_gpu_map);
        map->mappers.resize(call->n);
        gpu::crew all;
        for (int i = 0; i < call->n; i++)
            all.start(call->devices + i, 1, [&, i](int device) {
                map->mappers[i].reset(open_mapper(*targets, *layout, *options, half,
                                                  tables, device));
            });
        all.join();
        all.rethrow();
        *out = map.release();
    });
}

syn_status syn_gpu_map_begin(syn_gpu_map *map, const syn_map_libraries *libraries,
                             uint32_t first, float *rho, syn_gpu_call *call)
{
    syn_status status = gpu::status_of(call->reason, [&] {
        gpu::check_not_forked();
        size_t devices = map->mappers.size();
        std::vector<std::vector<gpu::range>> kept;
        for (const std::unique_ptr<gpu::mapper> &one : map->mappers)
            kept.push_back(one->kept({first, libraries->n}));
        std::unique_ptr<gpu::block_work> block(new gpu::block_work{
            libraries, first, rho, gpu::dealer(libraries->n, kept), libraries->n,
            std::vector<gpu::map_seconds>(devices)});
        map->queue.push(std::move(block));
        while (map->threads.size() < devices)
            map->threads.emplace_back(work_as, map, map->threads.size());
    });
    /* Where a thread could not be started, those that were end before the caller frees
       what they write to. */
    if (status != SYN_OK && !syn_gpu_forked())
        map->stop();
    return status;
}

syn_status syn_gpu_map_finish(syn_gpu_map *map, syn_gpu_call *call,
                              syn_gpu_map_report *report)
{
    std::memset(report, 0, sizeof *report);
    return gpu::status_of(call->reason, [&] {
        gpu::check_not_forked();
        if (map->queue.empty())
            return;
        wait_for_oldest(map, call->watch);
        std::unique_ptr<gpu::block_work> block = map->queue.pop();
        for (const gpu::map_seconds &one : block->took) {
            report->neighbours = std::max(report->neighbours, one.neighbours);
            report->correlations = std::max(report->correlations, one.correlations);
        }
    });
}

/* In a fork there are neither the threads nor the contexts to end: all of it is left. */
void syn_gpu_map_close(syn_gpu_map *map)
{
    if (!syn_gpu_forked())
        delete map;
}
