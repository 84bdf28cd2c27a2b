/* The door of peaks on devices: surrogates dealt out to them. */
#include "gpu/assemblies/device.cuh"
#include "gpu/assemblies/peaks.h"

#include <cstdio>
#include <cstring>
#include <memory>

using gpu::peak_device;
using gpu::refusal;

namespace {

constexpr double MEMORY_SHARE = 0.85;  /* of what is free on a device */
constexpr double PART_OF_BUDGET = 0.75;  /* for lists; the search needs the rest */

}  // namespace

struct syn_gpu_peaks {
    const syn_pair_source *source;
    std::vector<int> devices;
    std::vector<std::unique_ptr<peak_device>> device;  /* in the order of `devices` */
    char reason[SYN_GPU_TEXT] = "";
};

namespace {

size_t limit_of(const syn_gpu_peaks &p)
{
    return p.source->pairs->budget->limit;
}

/* Bytes that may be held on a device, which may be named more than once. */
double device_bytes(const syn_gpu_peaks &p, int device)
{
    auto times = std::count(p.devices.begin(), p.devices.end(), device);
    double free = MEMORY_SHARE * (double) gpu::free_memory();
    return std::min(free, (double) limit_of(p)) / (double) times;
}

void open_devices(syn_gpu_peaks *p)
{
    gpu::check_request(p->devices.data(), (int) p->devices.size());
    std::vector<double> bytes;
    for (int number : p->devices) {
        gpu::check(cudaSetDevice(number));
        bytes.push_back(device_bytes(*p, number));
    }
    for (size_t i = 0; i < p->devices.size(); i++) {
        gpu::check(cudaSetDevice(p->devices[i]));
        p->device.emplace_back(new peak_device(p->source, p->devices[i], bytes[i]));
    }
}

/* Lists that all devices fill, and how far they are. */
struct dealt {
    syn_gpu_peaks *peaks;
    uint64_t from;
    uint32_t n;
    syn_peaks *out;
    gpu::crew crew;
    std::atomic<uint32_t> members{0};
};

/* Each thread takes the next device that has its number. */
peak_device *claim(dealt *d, int number, std::vector<std::atomic<bool>> *taken)
{
    for (size_t i = 0; i < taken->size(); i++)
        if (d->peaks->devices[i] == number && !(*taken)[i].exchange(true))
            return d->peaks->device[i].get();
    return nullptr;
}

void work_as_member(dealt *d, peak_device *device)
{
    uint32_t first = 0, n, devices = (uint32_t) d->peaks->devices.size();
    while ((n = d->crew.take(device->batch(), d->n, devices, &first)) > 0)
        device->surrogates(d->from + first, n, d->out + first, d->crew.stop);
}

void make_surrogates(syn_gpu_peaks *p, uint64_t from, uint32_t n, syn_peaks *out,
                     const syn_watch *watch)
{
    gpu::device_scope scope;
    gpu::memory_limit limit(limit_of(*p));
    dealt d;
    d.peaks = p;
    d.from = from;
    d.n = n;
    d.out = out;
    std::vector<std::atomic<bool>> taken(p->devices.size());
    d.crew.start(p->devices.data(), (int) p->devices.size(), [&](int number) {
        work_as_member(&d, claim(&d, number, &taken));
    });
    d.crew.wait(n, watch, "surrogates");
}

syn_status end_as(syn_gpu_peaks *p, const gpu::outcome &end)
{
    std::snprintf(p->reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}

/* Only the first device looks at the recording: it is one of a hundred. */
syn_status recording(void *self, syn_peaks *out, const syn_watch *watch)
{
    syn_gpu_peaks *p = (syn_gpu_peaks *) self;
    std::memset(out, 0, sizeof *out);
    return end_as(p, gpu::outcome_of([&] {
        gpu::device_scope scope;
        gpu::memory_limit limit(limit_of(*p));
        gpu::crew crew;
        crew.start(p->devices.data(), 1,
                   [&](int) { p->device[0]->recording(out, crew.stop); });
        crew.wait(1, watch, "units");
    }));
}

/* How many surrogates the budget has room for, about, of which each has as many peaks as
   that which had most so far. */
uint32_t with_room(const syn_gpu_peaks &p, uint32_t n)
{
    const syn_lagged *pairs = p.source->pairs;
    double peaks = 0, of_pair = sizeof(size_t);
    for (const auto &device : p.device)
        peaks = std::max(peaks, device->most_found());
    double one = (of_pair + peaks * sizeof(syn_peak)) * syn_pair_count(pairs->units);
    double fit = PART_OF_BUDGET * (double) syn_budget_left(pairs->budget) / one;
    return fit < n ? std::max((uint32_t) fit, 1u) : n;
}

/* Where the budget is passed, fewer are tried. */
syn_status surrogates(void *self, uint64_t from, uint32_t n, syn_peaks *out,
                      uint32_t *made, const syn_watch *watch)
{
    syn_gpu_peaks *p = (syn_gpu_peaks *) self;
    std::memset(out, 0, n * sizeof *out);
    for (*made = with_room(*p, n);; *made = (*made + 1) / 2) {
        syn_status status = end_as(p, gpu::outcome_of([&] {
            make_surrogates(p, from, *made, out, watch);
        }));
        if (status != SYN_OVER_BUDGET || *made == 1)
            return status;
        for (uint32_t s = 0; s < *made; s++)
            syn_peaks_free(out + s);
    }
}

}  // namespace

extern "C" syn_status syn_gpu_peaks_open(const syn_pair_source *source,
                                         const int *devices, int n_devices,
                                         syn_gpu_peaks **out, char *reason)
{
    *out = nullptr;
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::device_scope scope;
        std::unique_ptr<syn_gpu_peaks> peaks(new syn_gpu_peaks);
        peaks->source = source;
        peaks->devices.assign(devices, devices + n_devices);
        open_devices(peaks.get());
        *out = peaks.release();
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}

extern "C" syn_peak_source syn_gpu_peaks_functions(syn_gpu_peaks *peaks)
{
    syn_peak_source out;
    out.self = peaks;
    out.recording = recording;
    out.surrogates = surrogates;
    return out;
}

extern "C" const char *syn_gpu_peaks_reason(const syn_gpu_peaks *peaks)
{
    return peaks->reason;
}

extern "C" void syn_gpu_peaks_close(syn_gpu_peaks *peaks)
{
    if (!peaks || syn_gpu_forked())
        return;
    gpu::device_scope scope;
    delete peaks;
}
