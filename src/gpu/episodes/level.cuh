/* A level of the search, in device memory. */
#ifndef SYN_GPU_EPISODES_LEVEL_CUH
#define SYN_GPU_EPISODES_LEVEL_CUH

#include "gpu/base/device.cuh"
#include "gpu/episodes/types.cuh"

namespace gpu {

class level {
    array<uint32_t> words_;
    array<unsigned long long> offset_;
    array<uint32_t> done_;

    /* Arrays are as far apart as there is room, so that they stay where they are however
       many nodes there turn out to be. */
    void lay_out(size_t room, size_t columns, int width)
    {
        size_t items = room * columns;
        uint32_t *next = words_.get();
        auto take = [&next](size_t words) {
            uint32_t *taken = next;
            next += words;
            return taken;
        };
        view.room = (uint32_t) room;
        view.nodes = take(1);
        /* The five that go to the host stand side by side. */
        view.parent = take(room);
        view.suffix = take(room);
        view.unit = take(room);
        view.interval = take(room);
        view.count = take(room);
        view.step = take(room);
        view.length = take(room);
        view.child = take(room + 1);
        view.mask = take(items * width);
        view.children = take(items);
        view.slot = take(items);
        view.base = take(items + 1);
        view.offset = offset_.get();
        view.done = done_.get();
    }

public:
    level_view view = {};

    size_t bytes() const { return words_.bytes() + offset_.bytes() + done_.bytes(); }

    /* Room for n nodes. Where there was less, what the level held is lost. */
    void ensure(size_t n, size_t columns, int width, cudaStream_t stream)
    {
        view.n = (uint32_t) n;
        if (n <= view.room && view.nodes)
            return;
        size_t room = n + n / 2, items = room * columns;
        words_.ensure(8 * room + 2 + items * (width + 3) + 1);
        offset_.ensure(room);
        done_.ensure(items);
        check(cudaMemsetAsync(done_.get(), 0, done_.bytes(), stream));
        lay_out(room, columns, width);
    }
};

}  // namespace gpu

#endif
