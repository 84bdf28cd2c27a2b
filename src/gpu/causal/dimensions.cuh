/* In how many dimensions series forecast themselves best, on one device of several. */
#ifndef SYN_GPU_CAUSAL_DIMENSIONS_CUH
#define SYN_GPU_CAUSAL_DIMENSIONS_CUH

#include "gpu/base/crew.cuh"
#include "gpu/causal/both.cuh"
#include "gpu/causal/kept.cuh"

#include <new>
#include <numeric>

namespace gpu {

/* The series of a search: value[n][steps]; `first` is the number of the first of them. */
struct skill_series {
    uint32_t n;
    const double *value;
    uint32_t first;
};

struct skill_slot : batch_slot {
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

enum { FIRST_BATCH = 128 };  /* series, which fill a device */

/* Skill of every E, E_max of each series, on the current device. */
class skill_search {
    const skill_series &all_;
    const syn_map_layout &layout_;
    const syn_map_options &options_;
    syn_gpu_tables *tables_;       /* NULL: nothing is kept */
    kept_tables *kept_ = nullptr;
    placed_layout at_, at_both_;   /* for forecasts, and for these and a map */
    search_job job_, both_;
    bool staged_;
    uint32_t parts_, batch_;
    skill_slot slot_[BATCHES];

public:
    skill_search(const skill_series &all, const syn_map_layout &layout,
                 const syn_map_options &options, int device, syn_gpu_tables *tables)
        : all_(all), layout_(layout), options_(options), tables_(tables)
    {
        uint32_t wanted = (1u << options.E_max) - 1;
        at_.upload(layout);
        job_ = both_ = make_search(at_, layout, options, wanted);
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
    void run(crew *work, uint32_t devices, float *rho)
    {
        uint32_t batch = std::min<uint32_t>(FIRST_BATCH, batch_);
        auto next = [&](uint32_t *first) {
            uint32_t n = work->take(batch, all_.n, devices, first);
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
        syn_map_layout both = layout_;
        both.use = use.data();
        at_both_.upload(both);
        both_.step = at_both_.step.get();
        both_.use = at_both_.use.get();
    }

    void start(skill_slot *s)
    {
        s->prepare(all_, layout_, options_);
        uint32_t *table = nullptr;
        if (kept_ && !s->ready.missing)
            table = kept_->add({all_.first + s->first, s->n}, tables_->shape,
                               s->work);
        search_job job = table ? both_ : job_;
        size_t most = std::max(s->n, std::min(batch_, all_.n));
        s->libraries.reserve(most, job);
        s->sums.ensure(most * parts_ * WARP * SUMS);
        s->found.ensure(most * options_.E_max);
        s->libraries.put(s->ready, 0, s->n, &job, s->work);
        with_top(options_.E_max, staged_, [&](auto top, auto fits) {
            constexpr int TOP = decltype(top)::value;
            constexpr bool STAGED = decltype(fits)::value;
            if (table)
                launch_both<TOP, STAGED>(job, tables_->shape, tables_->kind, s->n, table,
                                         s->sums.get(), s->work);
            else
                launch_skill<TOP, STAGED>(job, s->n, s->sums.get(), s->work);
        });
        add_skill<<<(s->n * options_.E_max + 127) / 128, 128, 0, s->work>>>(
            s->sums.get(), s->n, parts_, options_.E_max, s->found.get());
        check(cudaGetLastError());
    }

    void collect(skill_slot *s, float *rho)
    {
        uint32_t E_max = options_.E_max, E[SYN_MAP_DIMS];
        std::iota(E, E + E_max, 1);
        float *to = rho + (size_t) s->first * E_max;
        check(cudaMemcpyAsync(to, s->found.get(), (size_t) s->n * E_max * sizeof(float),
                              cudaMemcpyDeviceToHost, s->work));
        check(cudaStreamSynchronize(s->work));
        syn_map_drop_small(&s->ready, &layout_, E, E_max, to);
    }
};

}  // namespace gpu

#endif
