/* What all code that starts kernels shares: checked calls of CUDA, the current device,
   and memory, streams and events that free themselves. */
#ifndef SYN_GPU_BASE_DEVICE_CUH
#define SYN_GPU_BASE_DEVICE_CUH

#include "gpu/base/session.cuh"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

/* Whether this process is a fork of the one that loaded the library. */
bool syn_gpu_forked();

/* Whether this process has a context on a device, by its number. Makes none. */
bool syn_gpu_in_use(int device);

/* One plain clause for the user, SYN_GPU_TEXT bytes. */
void syn_gpu_explain(cudaError_t error, char *text);

namespace gpu {

/* Thrown by check(), caught before control goes back to C. */
struct failure {
    cudaError_t error;
};

inline void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        cudaGetLastError();
        throw failure{error};
    }
}

/* Seconds of a clock that only goes forward. */
inline double seconds_now()
{
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

/* Bytes of shared memory that a block of a kernel can have on a device. */
inline int shared_limit(int device)
{
    int bytes = 0;
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                 device));
    return bytes;
}

/* Lets blocks of a kernel have so many bytes of dynamic shared memory. */
template <class KERNEL> void allow_shared(KERNEL kernel, size_t bytes)
{
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int) bytes));
}

/* Blocks of a kernel, with so much dynamic shared memory, that a multiprocessor of the
   current device has room for; at least one. */
template <class KERNEL> int blocks_at_once(KERNEL kernel, int threads, size_t shared)
{
    int each = 0;
    allow_shared(kernel, shared);
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared));
    return std::max(each, 1);
}

/* Blocks for `n` threads, or whatever else, at least one. */
inline unsigned blocks_for(size_t n, size_t per_block)
{
    return (unsigned) std::max<size_t>((n + per_block - 1) / per_block, 1);
}

/* Blocks along the second or third dimension of a grid for `n` parts: the kernel goes on
   to part + gridDim.y where there are more than a grid may have. */
inline unsigned most_of_grid(size_t n)
{
    return (unsigned) std::min<size_t>(std::max<size_t>(n, 1), 65535);
}

/* Gives the caller's device back at the end, but only where this process uses it already:
   making it current would otherwise make a context there, some hundred megabytes on a
   device that nobody asked for. */
class device_scope {
    int before_ = 0;
    bool known_;
public:
    device_scope() : known_(!syn_gpu_forked() && cudaGetDevice(&before_) == cudaSuccess)
    {
    }
    ~device_scope()
    {
        if (!known_)
            return;
        if (syn_gpu_in_use(before_))
            cudaSetDevice(before_);
        cudaGetLastError();
    }
    device_scope(const device_scope &) = delete;
    device_scope &operator=(const device_scope &) = delete;
};

/* Device memory that only grows; what it held is lost when it does. */
template <class T> class array {
    block block_;
    size_t room_ = 0;
public:
    array() = default;
    ~array() { give_block(memory::device, block_); }
    array(const array &) = delete;
    array &operator=(const array &) = delete;

    array(array &&other) noexcept { swap(other); }

    void swap(array &other) noexcept
    {
        std::swap(block_, other.block_);
        std::swap(room_, other.room_);
    }

    T *get() const { return (T *) block_.data; }
    size_t room() const { return room_; }
    size_t bytes() const { return room_ * sizeof(T); }

    /* Room for n elements, and for a zero-sized request still a valid pointer. */
    void ensure(size_t n)
    {
        n = n ? n : 1;
        if (n <= room_)
            return;
        array().swap(*this);
        block_ = take_block(memory::device, n * sizeof(T));
        room_ = n;
    }

    void upload(const T *from, size_t n, cudaStream_t stream)
    {
        ensure(n);
        check(cudaMemcpyAsync(get(), from, n * sizeof(T), cudaMemcpyHostToDevice,
                              stream));
    }
};

/* Page-locked host memory. */
template <class T> class pinned {
    block block_;
public:
    explicit pinned(size_t n) : block_(take_block(memory::host, n * sizeof(T))) {}
    ~pinned() { give_block(memory::host, block_); }
    pinned(const pinned &) = delete;
    pinned &operator=(const pinned &) = delete;
    T *get() const { return (T *) block_.data; }
};

class stream {
    cudaStream_t stream_ = nullptr;
public:
    stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~stream() { cudaStreamDestroy(stream_); }
    stream(const stream &) = delete;
    stream &operator=(const stream &) = delete;
    operator cudaStream_t() const { return stream_; }
};

class event {
    cudaEvent_t event_ = nullptr;
public:
    event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
    ~event() { cudaEventDestroy(event_); }
    event(const event &) = delete;
    event &operator=(const event &) = delete;
    operator cudaEvent_t() const { return event_; }
};

/* Time between two points of a stream. */
class stopwatch {
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
public:
    stopwatch()
    {
        check(cudaEventCreate(&begin_));
        check(cudaEventCreate(&end_));
    }
    ~stopwatch()
    {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    stopwatch(const stopwatch &) = delete;
    stopwatch &operator=(const stopwatch &) = delete;
    void start(cudaStream_t stream) { check(cudaEventRecord(begin_, stream)); }
    void stop(cudaStream_t stream) { check(cudaEventRecord(end_, stream)); }
    double seconds() const
    {
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin_, end_));
        return 1e-3 * ms;
    }
};

}  // namespace gpu

#endif
