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
constexpr double PART_OF_BUDGET = 0.4; /* for lists that are made, and as much for those
                                          that are looked at; the search needs the rest */
constexpr uint32_t BATCHES = 8;        /* at least, of all surrogates */
constexpr double BYTES_FOR_TWO = 5e8;  /* of a device, that two work on: while one fetches
                                          lists, the other goes on */
constexpr uint32_t TURNS = 3;          /* in which each of those does a batch */

/* Some surrogates, whose lists all devices fill. */
struct batch {
    const uint64_t from;
    const uint32_t n;
    std::vector<syn_peaks> list;
    std::vector<std::atomic<bool>> taken;  /* devices, each by one thread */
    gpu::crew crew;

    batch(uint64_t first, uint32_t surrogates, size_t devices)
        : from(first), n(surrogates), list(surrogates), taken(devices)
    {
    }
    /* Stops, and frees what nobody took. */
    ~batch()
    {
        crew.stop = true;
        crew.join();
        for (syn_peaks &peaks : list)
            syn_peaks_free(&peaks);
    }
};

}  // namespace

struct syn_gpu_peaks {
    const syn_pair_source *source;
    gpu::memory_limit limit;
    std::vector<int> devices;  /* numbers of the following */
    std::vector<std::unique_ptr<peak_device>> device;
    std::unique_ptr<batch> next;  /* which is made while those before are looked at */
    uint32_t most = 0;            /* surrogates of a batch; 0 before the first */
    char reason[SYN_GPU_TEXT] = "";

    explicit syn_gpu_peaks(const syn_pair_source *of)
        : source(of), limit(of->pairs->budget->limit)
    {
    }
};

namespace {

size_t limit_of(const syn_gpu_peaks &p)
{
    return p.source->pairs->budget->limit;
}

/* Bytes that may be held on the current device, which may be named more than once. */
double device_bytes(const syn_gpu_peaks &p, size_t times)
{
    double free = MEMORY_SHARE * (double) gpu::free_memory();
    return std::min(free, (double) limit_of(p)) / (double) times;
}

void open_devices(syn_gpu_peaks *p, const int *devices, int n)
{
    gpu::check_request(devices, n);
    std::vector<double> bytes;
    for (int i = 0; i < n; i++) {
        gpu::check(cudaSetDevice(devices[i]));
        double here = device_bytes(*p, (size_t) std::count(devices, devices + n,
                                                           devices[i]));
        size_t times = here >= BYTES_FOR_TWO ? 2 : 1;
        p->devices.insert(p->devices.end(), times, devices[i]);
        bytes.insert(bytes.end(), times, here / (double) times);
    }
    for (size_t i = 0; i < bytes.size(); i++) {
        gpu::check(cudaSetDevice(p->devices[i]));
        p->device.emplace_back(new peak_device(p->source, p->devices[i], bytes[i]));
    }
}

/* Each thread takes the next device that has its number. */
peak_device *claim(const syn_gpu_peaks *p, batch *b, int number)
{
    for (size_t i = 0; i < b->taken.size(); i++)
        if (p->devices[i] == number && !b->taken[i].exchange(true))
            return p->device[i].get();
    return nullptr;
}

void work_as_member(const syn_gpu_peaks *p, batch *b, peak_device *device)
{
    uint32_t first = 0, n, devices = (uint32_t) p->devices.size();
    uint32_t share = (b->n + TURNS * devices - 1) / (TURNS * devices);
    while ((n = b->crew.take(std::min(device->batch(), share), b->n, devices,
                             &first)) > 0)
        device->surrogates(b->from + first, n, b->list.data() + first, b->crew.stop);
}

/* Begins to make surrogates. */
void begin(syn_gpu_peaks *p, uint64_t from, uint32_t n)
{
    p->next.reset(new batch(from, n, p->devices.size()));
    batch *b = p->next.get();
    b->crew.start(p->devices.data(), (int) p->devices.size(), [p, b](int number) {
        work_as_member(p, b, claim(p, b, number));
    });
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
        gpu::crew crew;
        crew.start(p->devices.data(), 1,
                   [&](int) { p->device[0]->recording(out, crew.stop); });
        crew.wait(1, watch, "units");
        for (auto &device : p->device)
            device->expect(p->device[0]->most_found());
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
    double count = (double) syn_pair_count(pairs->units);
    double left = (double) syn_budget_left(pairs->budget) -
                  syn_search_bytes(peaks * count, pairs->threads);
    double fit = PART_OF_BUDGET * left / ((of_pair + peaks * sizeof(syn_peak)) * count);
    return fit < 1 ? 1 : fit < n ? (uint32_t) fit : n;
}

/* Waits for a batch. False where the budget was passed and fewer may fit: there were
   several, or others were held at the time, that is, it was not made alone. */
bool finish(syn_gpu_peaks *p, const syn_watch *watch, bool alone)
{
    uint32_t n = p->next->n;
    try {
        p->next->crew.wait(n, watch, "surrogates");
        return true;
    } catch (const refusal &why) {
        p->next.reset();
        if (why.status != SYN_OVER_BUDGET || (alone && n == 1))
            throw;
    }
    p->most = (n + 1) / 2;
    return false;
}

/* How many of n surrogates are made together. */
uint32_t together(syn_gpu_peaks *p, uint32_t n)
{
    if (p->most == 0)
        p->most = (n + BATCHES - 1) / BATCHES;
    return std::min(p->most, with_room(*p, n));
}

/* While the caller looks at a batch, devices make the next one. Where the budget is
   passed, fewer are tried. */
syn_status surrogates(void *self, uint64_t from, uint32_t n, syn_peaks *out,
                      uint32_t *made, const syn_watch *watch)
{
    syn_gpu_peaks *p = (syn_gpu_peaks *) self;
    std::memset(out, 0, n * sizeof *out);
    return end_as(p, gpu::outcome_of([&] {
        gpu::device_scope scope;
        bool ready = p->next && p->next->from == from && p->next->n <= n;
        if (!ready)
            p->next.reset();
        for (bool done = false; !done; ready = false) {
            if (!ready)
                begin(p, from, together(p, n));
            done = finish(p, watch, !ready);
        }
        *made = p->next->n;
        std::copy(p->next->list.begin(), p->next->list.end(), out);
        p->next->list.clear();
        if (*made < n)
            begin(p, from + *made, together(p, n - *made));
    }));
}

}  // namespace

extern "C" syn_status syn_gpu_peaks_open(const syn_pair_source *source,
                                         const int *devices, int n_devices,
                                         syn_gpu_peaks **out, char *reason)
{
    *out = nullptr;
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::device_scope scope;
        std::unique_ptr<syn_gpu_peaks> peaks(new syn_gpu_peaks(source));
        open_devices(peaks.get(), devices, n_devices);
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
