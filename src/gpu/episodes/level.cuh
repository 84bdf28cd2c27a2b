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
public:
    level_view view = {};

    size_t bytes() const { return words_.bytes() + offset_.bytes() + done_.bytes(); }

    /* Room for n nodes, whose former contents are lost. */
    void resize(size_t n, size_t columns, int width, cudaStream_t stream)
    {
        size_t items = n * columns;
        size_t need = 8 * n + 1 + items * (width + 3) + 2;
        if (need > words_.room())
            words_.ensure(need + need / 2);
        if (n > offset_.room())
            offset_.ensure(n + n / 2);
        if (items > done_.room()) {
            done_.ensure(items + items / 2);
            check(cudaMemsetAsync(done_.get(), 0, done_.bytes(), stream));
        }
        /* The five that go to the host come first, side by side. */
        uint32_t *next = words_.get();
        auto take = [&next](size_t words) {
            uint32_t *taken = next;
            next += words;
            return taken;
        };
        view.n = (uint32_t) n;
        view.parent = take(n);
        view.suffix = take(n);
        view.unit = take(n);
        view.interval = take(n);
        view.count = take(n);
        view.step = take(n);
        view.length = take(n);
        view.child = take(n + 1);
        view.mask = take(items * width);
        view.slot = take(items);
        view.children = take(items + 1);
        view.base = take(items + 1);
        view.offset = offset_.get();
        view.done = done_.get();
    }
};

}  // namespace gpu

#endif
