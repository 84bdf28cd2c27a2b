/* What all code that starts kernels shares: checked calls of CUDA, the current device,
   and memory, streams and events that free themselves. */
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

extern "C" {
#include "core/base/parallel.h"
}

/* Whether this process is a fork of the one that loaded the library. */
bool syn_gpu_forked();

/* Whether this process has a context on a device, by its number. Makes none. */
bool syn_gpu_in_use(int device);

/* One plain clause for the user, SYN_GPU_TEXT bytes. */
void syn_gpu_explain(cudaError_t error, char *text);

namespace gpu {

/* Base of what must not be copied. */
struct no_copies {
    no_copies() = default;
    no_copies(const no_copies &) = delete;
    no_copies &operator=(const no_copies &) = delete;
};

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

inline int current_device()
{
    int device = 0;
    check(cudaGetDevice(&device));
    return device;
}

inline int attribute_of(int device, cudaDeviceAttr attribute)
{
    int value = 0;
    check(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

inline int processors_of(int device)
{
    return attribute_of(device, cudaDevAttrMultiProcessorCount);
}

/* Bytes of shared memory that a block of a kernel can have on a device. */
inline int shared_limit(int device)
{
    return attribute_of(device, cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

/* How many times as long a device takes in double precision as in single. The driver
   needs milliseconds to say that, so it is asked once. */
int double_ratio(int device);

/* Lets blocks of a kernel have so many bytes of dynamic shared memory. */
template <class KERNEL> void allow_shared(KERNEL kernel, size_t bytes)
{
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int) bytes));
}

/* Starts a kernel: each block has so many threads and bytes of dynamic shared memory. */
template <class... TAKES, class... GIVEN>
void launch(void (*kernel)(TAKES...), dim3 grid, dim3 threads, size_t shared,
            cudaStream_t stream, GIVEN... given)
{
    kernel<<<grid, threads, shared, stream>>>(given...);
    check(cudaGetLastError());
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
class device_scope : no_copies {
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
};

/* ---- memory that is kept ----

   What this process keeps of GPUs from one call to the next: memory of devices, and
   page-locked memory of the host. A call of a millisecond takes some forty blocks, each
   of which would cost 0.07 ms on a device, and 1 ms or more page-locked.

   It keeps little, as other processes use the same devices: see session.cu. What it keeps
   is given back where memory runs short, by syn_gpu_release(), and at the end of the
   process. A forked child neither uses nor frees what its parent keeps. */

enum class memory { device, host };  /* the second is page-locked */

/* Memory that one array holds. */
struct block {
    void *data = nullptr;
    size_t bytes = 0;  /* at least those asked for, and a sixteenth more at the most */
    int device = 0;    /* that was current when it was taken */
};

/* Throws a failure. What the memory holds is anything. */
block take_block(memory kind, size_t bytes);

/* Work that uses the block may still be under way, unless it is `unused`: the block is
   not given to another array before that has ended. */
void give_block(memory kind, const block &given, bool unused = false) noexcept;

/* Bytes of the current device that can be taken, because they are unused or only kept
   here; and bytes that are in use. */
size_t free_memory();
size_t memory_in_use();

/* A size that is often the same where sizes differ a little, so that memory that is kept
   serves: at most an eighth more. */
inline size_t rounded_up(size_t n)
{
    size_t unit = 1;
    while (unit * 16 < n)
        unit *= 2;
    return (n + unit - 1) / unit * unit;
}

/* While it lives, what is kept makes room for what is held: both together stay within
   so many bytes of each device, as far as those that are held do. */
class memory_limit : no_copies {
    size_t before_;
public:
    explicit memory_limit(size_t bytes);
    ~memory_limit();
};

/* ---- arrays, streams and events ---- */

inline void send_bytes(void *to, const void *from, size_t bytes, cudaStream_t stream);

/* Copies to a device. What is sent may change as soon as this returns. */
template <class T> void send(T *to, const T *from, size_t n, cudaStream_t stream)
{
    send_bytes(to, from, n * sizeof(T), stream);
}

/* Memory of a device that only grows; what it held is lost when it does. */
template <class T, memory KIND = memory::device> class array : no_copies {
    block block_;
    size_t room_ = 0;
public:
    array() = default;
    explicit array(size_t n) { ensure(n); }
    ~array() { give_block(KIND, block_); }

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
    T *ensure(size_t n)
    {
        n = n ? n : 1;
        if (n > room_) {
            array().swap(*this);
            block_ = take_block(KIND, n * sizeof(T));
            room_ = n;
        }
        return get();
    }

    T *upload(const T *from, size_t n, cudaStream_t stream)
    {
        send(ensure(n), from, n, stream);
        return get();
    }

    T *upload(const std::vector<T> &from, cudaStream_t stream)
    {
        return upload(from.data(), from.size(), stream);
    }
};

template <class T> void download(T *to, const T *from, size_t n, cudaStream_t stream)
{
    check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToHost, stream));
}

/* Fills n elements with a byte. */
template <class T> void fill(T *to, int byte, size_t n, cudaStream_t stream)
{
    check(cudaMemsetAsync(to, byte, n * sizeof(T), stream));
}

/* Page-locked memory of the host. */
template <class T> using pinned = array<T, memory::host>;

class stream : no_copies {
    cudaStream_t stream_ = nullptr;
public:
    stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~stream() { cudaStreamDestroy(stream_); }
    operator cudaStream_t() const { return stream_; }
};

class event : no_copies {
    cudaEvent_t event_ = nullptr;
public:
    explicit event(unsigned flags = cudaEventDisableTiming)
    {
        check(cudaEventCreateWithFlags(&event_, flags));
    }
    ~event() { cudaEventDestroy(event_); }
    operator cudaEvent_t() const { return event_; }
};

/* ---- large copies ---- */

/* Threads of the host that the call under way may use. */
inline std::atomic<int> copiers{1};

/* Copies within the host by several threads: one alone is slow where memory is fresh. */
inline void copy_together(void *to, const void *from, size_t bytes, int threads)
{
    constexpr size_t STEP = 1 << 18;  /* bytes that one thread copies at a time */
    auto copy_step = [&](size_t step) {
        std::memcpy((uint8_t *) to + step * STEP, (const uint8_t *) from + step * STEP,
                    std::min(STEP, bytes - step * STEP));
    };
    auto call = [](void *context, size_t step, int) {
        (*(decltype(copy_step) *) context)(step);
        return SYN_OK;
    };
    size_t steps = (bytes + STEP - 1) / STEP;
    if (syn_parallel_for(steps, threads, nullptr, "", call, &copy_step) != SYN_OK)
        throw failure{cudaErrorMemoryAllocation};
}

/* Page-locked memory through which halves go to a device by turns. It waits until they
   are there. */
struct way_in : no_copies {
    event sent[2];
    block slab;

    explicit way_in(size_t bytes) : slab(take_block(memory::host, bytes)) {}
    ~way_in()
    {
        for (event &one : sent)
            cudaEventSynchronize(one);
        give_block(memory::host, slab, true);
    }
};

/* CUDA copies what is not page-locked through memory of its own, on one thread. Several
   threads are three times as fast, while what they copied before is on its way. */
inline void send_bytes(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    constexpr size_t PIECE = 1 << 22;
    int threads = copiers;
    if (bytes < PIECE || threads < 2) {
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
        return;
    }
    way_in way(2 * PIECE);
    for (size_t at = 0, k = 0; at < bytes; at += PIECE, k = 1 - k) {
        size_t part = std::min(PIECE, bytes - at);
        uint8_t *half = (uint8_t *) way.slab.data + k * PIECE;
        check(cudaEventSynchronize(way.sent[k]));
        copy_together(half, (const uint8_t *) from + at, part, threads);
        check(cudaMemcpyAsync((uint8_t *) to + at, half, part, cudaMemcpyHostToDevice,
                              stream));
        check(cudaEventRecord(way.sent[k], stream));
    }
}

/* Time between two points of a stream. */
class stopwatch {
    event begin_{cudaEventDefault}, end_{cudaEventDefault};
public:
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
