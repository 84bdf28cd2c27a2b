/* The counts of a stream's window on a GPU: what plain C calls. */
extern "C" {
#include "gpu/stream/stream.h"
}

#include "gpu/stream/window.cuh"

#include <new>

namespace {

using gpu::live::window;

/* Runs something on the device of a window. */
template <class F> syn_status on_device(void *self, syn_stream *s, F run)
{
    window *own = (window *) self;
    return gpu::status_of(s->device->reason, [&] {
        gpu::check_not_forked();
        gpu::device_scope scope;
        gpu::memory_limit limit(s->options.max_memory);
        gpu::check(cudaSetDevice(own->device()));
        run(own);
    });
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

}  // namespace

syn_status syn_gpu_stream_open(const syn_stream_options *options, syn_gpu_call *call,
                               syn_stream_device *out)
{
    *out = {};
    out->move = [](void *self, syn_stream *s, uint32_t since, uint32_t begin, int all) {
        return on_device(self, s,
                         [&](window *own) { own->move(s, since, begin, all); });
    };
    out->count = [](void *self, syn_stream *s, size_t size) {
        return on_device(self, s, [&](window *own) { own->count(s, size); });
    };
    out->renumber = [](void *self, syn_stream *s, uint32_t by) {
        return on_device(self, s, [&](window *own) { own->renumber(s, by); });
    };
    out->moved = [](void *self, const syn_stream *s, uint32_t suffix, uint32_t from,
                    uint32_t to, uint32_t width) {
        note(self,
             [&](window *own) { own->note_move(s, {from, to, width, 0, 0}, suffix); });
    };
    out->touched = [](void *self, uint32_t id) {
        note(self, [&](window *own) { own->note_touched(id); });
    };
    out->left = [](void *self, uint32_t id) {
        note(self, [&](window *own) { own->note_left(id); });
    };
    out->close = [](void *self) {
        gpu::device_scope scope;
        delete (window *) self;
    };
    return gpu::status_of(call->reason, [&] {
        gpu::check_devices(call->devices, 1);
        out->self = new window(call->devices[0], options->n_intervals);
    });
}
