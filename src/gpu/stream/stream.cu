/* The counts of a stream's window on a GPU: what plain C calls. */
#include "gpu/stream/stream.h"

#include "gpu/stream/move_window.cuh"

#include <cstdio>
#include <new>

namespace {

using gpu::live::window;

/* Runs something on the device of a window. */
template <class F> syn_status on_device(void *self, syn_stream *s, F run)
{
    window *own = (window *) self;
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_not_forked();
        gpu::device_scope scope;
        gpu::memory_limit limit(s->options.max_memory);
        gpu::check(cudaSetDevice(own->device()));
        run(own);
    });
    std::snprintf(s->device->reason, SYN_STREAM_TEXT, "%s", end.reason);
    return end.status;
}

syn_status move(void *self, syn_stream *s, uint32_t since, uint32_t begin, int all)
{
    return on_device(self, s, [&](window *own) { own->move(s, since, begin, all); });
}

syn_status count(void *self, syn_stream *s, size_t size)
{
    return on_device(self, s, [&](window *own) { own->count(s, size); });
}

syn_status renumber(void *self, syn_stream *s, uint32_t by)
{
    return on_device(self, s, [&](window *own) { own->renumber(s, by); });
}

/* Nothing is thrown through the core. */
template <class F> void note(void *self, F run)
{
    try {
        run((window *) self);
    } catch (const std::bad_alloc &) {
        ((window *) self)->note_short();
    }
}

void moved(void *self, const syn_stream *s, uint32_t suffix, uint32_t from, uint32_t to,
           uint32_t width)
{
    note(self, [&](window *own) { own->note_move(s, {from, to, width, 0, 0}, suffix); });
}

void touched(void *self, uint32_t id)
{
    note(self, [&](window *own) { own->note_touched(id); });
}

void left(void *self, uint32_t id)
{
    note(self, [&](window *own) { own->note_left(id); });
}

void close(void *self)
{
    gpu::device_scope scope;
    delete (window *) self;
}

}  // namespace

extern "C" syn_status syn_gpu_stream_open(const syn_stream_options *options, int device,
                                          syn_stream_device *out, char *reason)
{
    *out = {};
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_devices(&device, 1);
        out->self = new window(device, options->n_intervals);
    });
    out->move = move;
    out->count = count;
    out->renumber = renumber;
    out->moved = moved;
    out->touched = touched;
    out->left = left;
    out->close = close;
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}
