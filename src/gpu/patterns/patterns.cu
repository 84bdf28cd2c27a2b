/* The door of mining patterns: roots dealt out to devices, some at a time, and what they
   find handed over to the search. */
extern "C" {
#include "gpu/patterns/patterns.h"
}

#include "gpu/base/crew.cuh"
#include "gpu/patterns/host.cuh"

namespace {

using gpu::pattern_end;
using gpu::refusal;
using gpu::root_range;

constexpr uint32_t RANGES = 8;         /* of roots for each of several devices */

/* One call's work. What it shares with the thread that waits is under the lock: that also
   polls the search's watch, which looks at the parts. */
struct request {
    const syn_gpu_call *call;
    syn_pattern_search *search;
    const gpu::pattern_recording *recording;
    std::vector<root_range> todo;  /* the next one last */
    gpu::crew crew;
    std::mutex lock;

    request(const syn_gpu_call *of, syn_pattern_search *s,
            const gpu::pattern_recording *by)
        : call(of), search(s), recording(by), crew((uint32_t) s->shares)
    {
    }
};

/* What was found goes to the first part of the roots. */
void hand_over(request *r, gpu::pattern_device *device, root_range range)
{
    size_t first = r->recording->share[range.first], end = r->recording->share[range.end];
    std::vector<gpu::found_piece> pieces;
    for (const gpu::found_size &f : device->found()) {
        size_t bytes = (f.size + 1) * device->width();
        size_t most = std::max<size_t>(gpu::PATTERN_SLAB / bytes, 1);
        for (uint64_t k = 0; k < f.patterns; k += most) {
            size_t n = (size_t) std::min<uint64_t>(most, f.patterns - k);
            void *room = nullptr;
            std::lock_guard<std::mutex> hold(r->lock);
            syn_status status = syn_pattern_room(r->search, r->search->out->part + first,
                                                 f.size, n, &room);
            if (status != SYN_OK)
                throw refusal(status, "%s", "");
            pieces.push_back({f.first + k * (f.size + 1), n * bytes, room});
        }
    }
    device->copy(pieces, r->search->options->threads);
    std::lock_guard<std::mutex> hold(r->lock);
    for (size_t k = first; k < end; k++)
        r->search->out->part[k].done = 1;
}

/* Cuts a range whose search was too much for a device; a single root is left out. */
void cut_range(request *r, root_range range)
{
    std::lock_guard<std::mutex> hold(r->lock);
    if (range.end - range.first == 1)
        return;
    uint32_t middle = range.first + (range.end - range.first) / 2;
    r->todo.push_back({range.first, middle});
    r->todo.push_back({middle, range.end});
}

/* Leaves roots out that were given up; what is between them is searched again. False
   where there are none. */
bool leave_out(request *r, const gpu::pattern_device &device, root_range range)
{
    std::lock_guard<std::mutex> hold(r->lock);
    uint32_t begin = range.first;
    for (uint32_t root = range.first; root < range.end; root++)
        if (device.failed(root)) {
            if (root > begin)
                r->todo.push_back({begin, root});
            begin = root + 1;
        }
    bool any = begin > range.first;
    if (any && range.end > begin)
        r->todo.push_back({begin, range.end});
    return any;
}

void work_as_member(request *r, int number)
{
    gpu::pattern_device device(*r->search, *r->recording, number,
                               gpu::bytes_for(number, *r->call,
                                              r->search->budget->limit));
    for (;;) {
        root_range range;
        {
            std::lock_guard<std::mutex> hold(r->lock);
            if (r->crew.stop || r->todo.empty())
                break;
            range = r->todo.back();
            r->todo.pop_back();
        }
        pattern_end end = device.run(range, r->crew.stop);
        if (end == pattern_end::too_much)
            cut_range(r, range);
        else if (end == pattern_end::done && !leave_out(r, device, range))
            hand_over(r, &device, range);
    }
}

void mine(const syn_gpu_call &by, syn_pattern_search *search)
{
    gpu::memory_limit limit(search->budget->limit);
    gpu::pattern_recording recording(*search);
    gpu::check(cudaSetDevice(by.devices[0]));
    double bytes = gpu::bytes_for(by.devices[0], by, search->budget->limit);
    gpu::pattern_job job = gpu::make_job(*search, recording);
    /* Whether devices have room for the recording. */
    double bits = 4.0 * job.units * job.words, lists = 4.0 * job.places;
    bool fits = recording.bins < (1u << 31) && bits + lists < 0.05 * bytes;
    if (search->raster->events == 0 || !fits)
        return;
    uint32_t several = by.n > 1 ? RANGES * (uint32_t) by.n : 1;
    request r(&by, search, &recording);
    r.todo = gpu::cut_roots(job, recording, gpu::pattern_memory{bytes}.roots(), several);
    std::reverse(r.todo.begin(), r.todo.end());
    auto poll = [](void *data, const char *stage, double done, double total) -> int {
        request *of = (request *) data;
        std::lock_guard<std::mutex> hold(of->lock);
        return syn_poll(of->search->watch, stage, done, total) != SYN_OK;
    };
    syn_watch watch = {poll, &r};
    r.crew.start(by.devices, by.n, [&](int number) { work_as_member(&r, number); });
    r.crew.wait(&watch, "units");
}

}  // namespace

syn_status syn_gpu_mine_patterns(void *self, struct syn_pattern_search *search)
{
    syn_gpu_call *call = (syn_gpu_call *) self;
    return gpu::status_with(call, [&] { mine(*call, search); });
}
