/* What the host does with a stream of a device: it starts kernels, and sends them
   what they need. */
#pragma once

#include "gpu/base/outcome.cuh"
#include "gpu/base/warp.cuh"

#include <map>
#include <thread>

namespace gpu {

/* Blocks of a launch, their threads, and the bytes of dynamic shared memory of each. */
struct grid {
    dim3 blocks, threads;
    size_t shared = 0;
};

/* A thread for each of n things. */
inline grid over(size_t n, unsigned threads)
{
    return {blocks_for(n, threads), threads};
}

template <class KERNEL, class... ARGUMENTS>
void launch(KERNEL kernel, const grid &g, cudaStream_t stream, const ARGUMENTS &...with)
{
    launch(kernel, g.blocks, g.threads, g.shared, stream, with...);
}

inline void wait_for(cudaStream_t stream)
{
    check(cudaStreamSynchronize(stream));
}

/* Waits for the work of a stream so far, calling look() every now and then. */
template <class F> void wait_idly(cudaEvent_t done, cudaStream_t stream, F look)
{
    check(cudaEventRecord(done, stream));
    cudaError_t state;
    while ((state = cudaEventQuery(done)) == cudaErrorNotReady) {
        look();
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    check(state);
}

/* Bytes that may be held on the current device, by its number, which may be named more
   than once in a call. */
inline double bytes_for(int device, const syn_gpu_call &call, size_t limit)
{
    auto times = std::count(call.devices, call.devices + call.n, device);
    return std::min(0.85 * (double) free_memory(), (double) limit) / (double) times;
}

/* Runs a function of CUB, as run(memory, bytes): the first call asks how many bytes of
   scratch memory the second one needs. */
template <class F> void with_scratch(array<unsigned char> *scratch, F run)
{
    size_t bytes = 0;
    check(run(nullptr, bytes));
    scratch->ensure(bytes);
    check(run(scratch->get(), bytes));
}

/* Arrays of a device that belong to pointers, such as those of a job for a kernel. A
   pointer stays where it is as long as its array lives. */
class arrays {
    std::map<const void *, array<unsigned char>> of_;
public:
    /* Bytes for a pointer, by its address. What was there is lost where there were
       fewer. */
    void *take(const void *pointer, size_t bytes)
    {
        array<unsigned char> &own = of_[pointer];
        own.ensure(bytes);
        return own.get();
    }

    /* Room for n elements, and for none still a valid pointer. */
    template <class T> void ensure(T **pointer, size_t n)
    {
        *pointer = (T *) take(pointer, std::max<size_t>(n, 1) * sizeof(T));
    }

    /* ensure(), and fills it with zeros. */
    template <class T> void ensure_clear(T **pointer, size_t n, cudaStream_t stream)
    {
        ensure(pointer, n);
        fill(*pointer, 0, n, stream);
    }

    /* ensure() for several pointers. */
    template <class... P> void ensure_all(size_t n, P **...pointers)
    {
        (ensure(pointers, n), ...);
    }

    template <class P, class T>
    void upload(P **pointer, const T *from, size_t n, cudaStream_t stream)
    {
        ensure(pointer, n);
        send((T *) *pointer, from, n, stream);
    }

    template <class P, class T>
    void upload(P **pointer, const std::vector<T> &from, cudaStream_t stream)
    {
        upload(pointer, from.data(), from.size(), stream);
    }

    template <class T> void drop(T **pointer)
    {
        of_.erase(pointer);
        *pointer = nullptr;
    }

    size_t bytes() const
    {
        size_t sum = 0;
        for (const auto &own : of_)
            sum += own.second.bytes();
        return sum;
    }
};

}  // namespace gpu
