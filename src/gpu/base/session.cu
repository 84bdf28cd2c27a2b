/* Memory that is kept between calls. */
#include "gpu/base/device.cuh"
#include "gpu/base/devices.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace {

using gpu::block;
using gpu::check;

/* Bytes that are kept at the most: of a device this part of what it has, and no more than
   the first number; page-locked the second. A block of more than half of that is not
   kept: what is done with it takes longer than getting it. */
constexpr size_t MOST_OF_DEVICE = (size_t) 1 << 33, MOST_OF_HOST = (size_t) 1 << 26;
constexpr size_t PART_OF_DEVICE = 16;

constexpr size_t MOST_BLOCKS = 256;  /* of a kind */

/* Whether a block serves somebody who asks for so many bytes. */
bool serves(const block &kept, size_t bytes)
{
    return kept.bytes >= bytes && kept.bytes <= bytes + bytes / 16 + 4096;
}

struct store {
    gpu::memory kind;
    size_t most;               /* bytes that may be kept */
    size_t held = 0, kept = 0; /* bytes */
    std::vector<block> idle;   /* those that were given last come last */
    size_t settled = 0;        /* of these, the first that no work uses any more */

    store(gpu::memory of, size_t bytes) : kind(of), most(bytes)
    {
        idle.reserve(MOST_BLOCKS);  /* giving memory back must not need any */
    }
};

/* One device's. */
struct shelf {
    std::mutex lock;
    store device{gpu::memory::device, 0};  /* measure() says how much it may keep */
    store host{gpu::memory::host, MOST_OF_HOST};

    store &of(gpu::memory kind) { return kind == gpu::memory::host ? host : device; }
};

std::atomic<size_t> limit{SIZE_MAX};

/* Shelves by device. They are never destroyed: at the end of the process CUDA may be gone
   before them, and frees what there is itself. */
struct session {
    std::mutex lock;
    std::vector<std::unique_ptr<shelf>> shelves;

    shelf &of(int device)
    {
        std::lock_guard<std::mutex> hold(lock);
        if (shelves.size() <= (size_t) device)
            shelves.resize(device + 1);
        if (!shelves[device])
            shelves[device].reset(new shelf);
        return *shelves[device];
    }
};

session &all()
{
    static session *only = new session;
    return *only;
}

void free_memory_of(gpu::memory kind, const block &what)
{
    int now = 0;
    gpu::device_scope scope;
    if (cudaGetDevice(&now) != cudaSuccess || now != what.device)
        cudaSetDevice(what.device);
    if (kind == gpu::memory::host)
        cudaFreeHost(what.data);
    else
        cudaFree(what.data);
    cudaGetLastError();
}

/* Frees the blocks that lie there longest until no more are kept. */
void keep_at_most(store *s, size_t bytes, size_t blocks = MOST_BLOCKS)
{
    size_t n = 0;
    for (; s->kept > bytes || s->idle.size() - n > blocks; n++) {
        free_memory_of(s->kind, s->idle[n]);
        s->kept -= s->idle[n].bytes;
    }
    s->idle.erase(s->idle.begin(), s->idle.begin() + n);
    s->settled -= std::min(s->settled, n);
}

cudaError_t allocate(gpu::memory kind, block *out)
{
    return kind == gpu::memory::host ? cudaMallocHost(&out->data, out->bytes)
                                     : cudaMalloc(&out->data, out->bytes);
}

/* Where memory runs short all that is kept goes, and then it is tried once more. */
block new_block(shelf *from, gpu::memory kind, int device, size_t bytes)
{
    block out;
    out.bytes = bytes;
    out.device = device;
    cudaError_t error = allocate(kind, &out);
    if (error == cudaErrorMemoryAllocation &&
        from->device.kept + from->host.kept > 0) {
        cudaGetLastError();
        keep_at_most(&from->device, 0);
        keep_at_most(&from->host, 0);
        error = allocate(kind, &out);
    }
    check(error);
    return out;
}

/* Work that was under way when a block was given may still use it. */
void settle(shelf *s, const store &wanted, size_t at)
{
    if (at < wanted.settled)
        return;
    check(cudaDeviceSynchronize());
    s->device.settled = s->device.idle.size();
    s->host.settled = s->host.idle.size();
}

/* The smallest block that serves, if any does. */
block take_from(shelf *from, gpu::memory kind, int device, size_t bytes)
{
    store &s = from->of(kind);
    size_t at = s.idle.size();
    for (size_t i = 0; i < s.idle.size(); i++)
        if (serves(s.idle[i], bytes) &&
            (at == s.idle.size() || s.idle[i].bytes < s.idle[at].bytes))
            at = i;
    if (at == s.idle.size())
        return {nullptr, 0, device};
    settle(from, s, at);
    block out = s.idle[at];
    s.idle.erase(s.idle.begin() + at);
    s.settled--;
    s.kept -= out.bytes;
    return out;
}

/* What a device may keep, once it is known how much it has. */
void measure(store *s)
{
    size_t free_bytes = 0, all_bytes = 0;
    if (s->most > 0)
        return;
    check(cudaMemGetInfo(&free_bytes, &all_bytes));
    s->most = std::min(all_bytes / PART_OF_DEVICE, MOST_OF_DEVICE);
}

}  // namespace

int gpu::double_ratio(int device)
{
    constexpr int MOST = 64;
    static std::atomic<int> known[MOST];  /* 0 where nobody has asked */
    int ratio = device < MOST ? known[device].load() : 0;
    if (ratio > 0)
        return ratio;
    check(cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio,
                                 device));
    ratio = std::max(ratio, 1);
    if (device < MOST)
        known[device] = ratio;
    return ratio;
}

gpu::block gpu::take_block(memory kind, size_t bytes)
{
    int device = current_device();
    shelf &from = all().of(device);
    std::lock_guard<std::mutex> hold(from.lock);
    measure(&from.device);
    store &s = from.of(kind);
    block out = take_from(&from, kind, device, bytes);
    size_t wanted = s.held + std::max(out.bytes, bytes);
    if (kind == memory::device && wanted + s.kept > limit)
        keep_at_most(&s, limit > wanted ? limit - wanted : 0);
    if (!out.data)
        out = new_block(&from, kind, device, bytes);
    s.held += out.bytes;
    return out;
}

void gpu::give_block(memory kind, const block &given, bool unused) noexcept
{
    if (!given.data || syn_gpu_forked())
        return;
    shelf &to = all().of(given.device);
    std::lock_guard<std::mutex> hold(to.lock);
    store &s = to.of(kind);
    s.held -= given.bytes;
    if (given.bytes > s.most / 2)
        return free_memory_of(kind, given);
    keep_at_most(&s, s.most - given.bytes, MOST_BLOCKS - 1);
    s.idle.insert(unused ? s.idle.begin() + s.settled : s.idle.end(), given);
    s.settled += unused;
    s.kept += given.bytes;
}

/* Of the current device: bytes that can be taken, and all that it has. */
static size_t look(size_t *all_bytes)
{
    size_t free_bytes = 0;
    int device = gpu::current_device();
    check(cudaMemGetInfo(&free_bytes, all_bytes));
    shelf &here = all().of(device);
    std::lock_guard<std::mutex> hold(here.lock);
    return free_bytes + here.device.kept;
}

size_t gpu::free_memory()
{
    size_t all_bytes = 0;
    return look(&all_bytes);
}

size_t gpu::memory_in_use()
{
    size_t all_bytes = 0, free_bytes = look(&all_bytes);
    return all_bytes - free_bytes;
}

gpu::memory_limit::memory_limit(size_t bytes) : before_(limit.exchange(bytes)) {}

gpu::memory_limit::~memory_limit()
{
    limit = before_;
}

extern "C" uint64_t syn_gpu_release(void)
{
    uint64_t bytes = 0;
    if (syn_gpu_forked())
        return 0;
    std::lock_guard<std::mutex> hold(all().lock);
    for (std::unique_ptr<shelf> &one : all().shelves) {
        if (!one)
            continue;
        std::lock_guard<std::mutex> with(one->lock);
        bytes += one->device.kept + one->host.kept;
        keep_at_most(&one->device, 0);
        keep_at_most(&one->host, 0);
    }
    return bytes;
}
