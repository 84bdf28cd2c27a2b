/* The door of surrogates' maxima: surrogates dealt out to devices in batches. */
#include "gpu/spectrum/spectrum.h"

#include "gpu/base/crew.cuh"
#include "gpu/spectrum/host.cuh"

#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

using gpu::refusal;
using gpu::SPECTRUM_SIZES;

/* One call's work. */
struct request {
    const syn_spectrum_options *options;
    const int *devices;
    int n_devices;
    const syn_watch *watch;
    syn_spectrum *out;
    uint8_t *left;
    syn_gpu_spectrum_report *report;
    gpu::crew *crew;
    std::mutex lock;      /* of the report */
};

void check_options(const request &r)
{
    const syn_pattern_options &p = *r.options->patterns;
    gpu::check_request(r.devices, r.n_devices);
    if (p.min_units >= SPECTRUM_SIZES || p.min_spikes >= SPECTRUM_SIZES)
        throw refusal(SYN_TOO_LARGE, "GPUs count patterns of fewer than %d spikes",
                      (int) SPECTRUM_SIZES);
}

/* No spikes, or no pattern that could pass. */
bool is_empty(const syn_spectrum_options &o)
{
    const syn_pattern_options &p = *o.patterns;
    return o.n == 0 || o.plan->trains.events == 0 || p.min_units > p.max_spikes ||
           p.min_spikes > p.max_spikes || p.min_count > p.max_count;
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

void store_batch(request *r, const gpu::spectrum_device &device, uint32_t first,
                 uint32_t n)
{
    uint32_t durations = r->out->durations;
    for (uint32_t s = 0; s < n; s++) {
        r->left[first + s] = device.failed()[s] != 0;
        if (!r->left[first + s])
            store_row(device.maxima() + (size_t) s * durations * SPECTRUM_SIZES,
                      durations, r->options->patterns->min_spikes,
                      r->out->row + first + s);
    }
}

void work_as_member(request *r, const gpu::spectrum_order &order, int number)
{
    uint32_t wanted = (r->options->n - 1) / (uint32_t) r->n_devices + 1;
    gpu::spectrum_device device(*r->options, order, number, wanted);
    uint32_t first = 0, n;
    while ((n = r->crew->take(device.room(), r->options->n, r->n_devices, &first)) > 0)
        if (device.run(first, n, r->crew->stop))
            store_batch(r, device, first, n);
    std::lock_guard<std::mutex> hold(r->lock);
    r->out->visited += device.sets();
    r->report->making = std::max(r->report->making, device.making);
    r->report->searching = std::max(r->report->searching, device.searching);
}

void find_maxima(request *r)
{
    const syn_spectrum_options &o = *r->options;
    check_options(*r);
    r->out->n = o.n;
    r->out->durations = o.by_duration ? o.patterns->window : 1;
    r->out->row = (syn_spectrum_row *) std::calloc((size_t) o.n + 1, sizeof *r->out->row);
    if (!r->out->row)
        throw std::bad_alloc();
    std::memset(r->left, 0, o.n);
    if (is_empty(o))
        return;
    gpu::device_scope scope;
    double begun = gpu::seconds_now();
    gpu::spectrum_order order(o.plan->trains, o.width, o.patterns->window);
    gpu::crew crew;
    r->crew = &crew;
    crew.start(r->devices, r->n_devices,
               [&](int number) { work_as_member(r, order, number); });
    crew.wait(o.n, r->watch, "surrogates");
    for (uint32_t s = 0; s < o.n; s++)
        r->report->left += r->left[s];
    r->report->seconds = gpu::seconds_now() - begun;
}

}  // namespace

extern "C" syn_status syn_gpu_spectrum(const syn_spectrum_options *options,
                                       const int *devices, int n_devices,
                                       const syn_watch *watch, syn_spectrum *out,
                                       uint8_t *left, syn_gpu_spectrum_report *report,
                                       char *reason)
{
    std::memset(out, 0, sizeof *out);
    std::memset(report, 0, sizeof *report);
    gpu::outcome end = gpu::outcome_of([&] {
        request r = {options, devices, n_devices, watch, out, left, report, nullptr, {}};
        find_maxima(&r);
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}
