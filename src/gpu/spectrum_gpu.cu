/* The door of surrogates' maxima: surrogates dealt out to devices in batches. */
#include "gpu/spectrum_gpu.h"

#include "gpu/spectrum_host.cuh"

#include <cstdio>

static_assert((int) SYN_GPU_SPECTRUM_SIZES == (int) gpu::SPECTRUM_SIZES,
              "one number of sizes");

namespace {

void check_options(const syn_gpu_spectrum_options &o)
{
    gpu::check_request(o.devices, o.n_devices);
    if (o.patterns->min_units >= gpu::SPECTRUM_SIZES ||
        o.patterns->min_spikes >= gpu::SPECTRUM_SIZES)
        throw gpu::refusal(SYN_TOO_LARGE, "GPUs count patterns of fewer than %d spikes",
                           (int) gpu::SPECTRUM_SIZES);
}

/* Nothing to be found: no spikes, or no pattern that could pass. */
bool is_empty(const syn_gpu_spectrum_options &o)
{
    const syn_pattern_options &p = *o.patterns;
    return o.n == 0 || o.plan->trains.events == 0 || p.min_units > p.max_spikes ||
           p.min_spikes > p.max_spikes || p.min_occ > p.max_occ;
}

void work_as(const syn_gpu_spectrum_options &o, const gpu::spectrum_order &order,
             int device, gpu::crew *work, uint32_t *maximum, uint8_t *left,
             std::atomic<uint64_t> *sets)
{
    try {
        gpu::check(cudaSetDevice(device));
        gpu::spectrum_device mine(o, order, device);
        uint32_t first = 0, n;
        while ((n = work->take(mine.room(), o.n, o.n_devices, &first)) > 0)
            mine.run(first, n, work->stop, maximum, left);
        *sets += (uint64_t) mine.sets();
    } catch (...) {
        work->fail(std::current_exception());
    }
    work->finished++;
}

void find_maxima(const syn_gpu_spectrum_options &o, const syn_watch *watch,
                 uint32_t *maximum, uint8_t *left, syn_gpu_spectrum_report *report)
{
    check_options(o);
    size_t durations = o.by_duration ? o.patterns->window : 1;
    std::memset(maximum, 0, o.n * durations * gpu::SPECTRUM_SIZES * sizeof *maximum);
    std::memset(left, 0, o.n);
    if (is_empty(o))
        return;
    gpu::device_scope scope;
    double begun = gpu::seconds_now();
    gpu::spectrum_order order(o.plan->trains, o.width, o.patterns->window);
    std::atomic<uint64_t> sets{0};
    {
        gpu::crew work;
        for (int i = 0; i < o.n_devices; i++)
            work.threads.emplace_back([&, i] {
                work_as(o, order, o.devices[i], &work, maximum, left, &sets);
            });
        work.wait(o.n, watch, "surrogates");
    }
    for (uint32_t s = 0; s < o.n; s++)
        report->left += left[s];
    report->sets = (double) sets;
    report->seconds = gpu::seconds_now() - begun;
}

}  // namespace

extern "C" syn_status syn_gpu_spectrum(const syn_gpu_spectrum_options *options,
                                       const syn_watch *watch, uint32_t *maximum,
                                       uint8_t *left, syn_gpu_spectrum_report *report,
                                       char *reason)
{
    std::memset(report, 0, sizeof *report);
    gpu::outcome end = gpu::outcome_of(
        [&] { find_maxima(*options, watch, maximum, left, report); });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}
