/* Tables of neighbours that a search for dimensions has found, kept on the devices for
   the map of the same series. */
#ifndef SYN_GPU_CAUSAL_KEPT_CUH
#define SYN_GPU_CAUSAL_KEPT_CUH

#include "gpu/causal/deal.cuh"
#include "gpu/causal/device.cuh"

#include <deque>
#include <mutex>

namespace gpu {

/* Bytes of the current device that neighbours may take. The rest is for the map and its
   batches; who has little to spare keeps nothing. */
inline double room_to_keep()
{
    constexpr double SHARE = 0.85, REST = 6e9;
    double spare = free_memory();
    return std::max(0.0, std::min(SHARE * spare, spare - REST));
}

/* Tables of some libraries, side by side. */
struct kept_batch {
    range of;
    array<uint32_t> table;
};

/* What one device keeps: its thread of the search adds to it, library numbers rising, and
   its thread of the map reads it. Each view of a map has such a thread, so that one of
   them may drop all while another one reads. */
class kept_tables {
    int device_;
    double room_;          /* bytes that may still be taken */
    std::deque<kept_batch> batch_;
    mutable std::mutex lock_;

public:
    kept_tables(int device, double room) : device_(device), room_(room) {}

    int device() const { return device_; }

    /* Empty tables for some libraries, or NULL where there is no room. */
    uint32_t *add(range of, const table_shape &shape, cudaStream_t work)
    {
        std::lock_guard<std::mutex> hold(lock_);
        size_t words = (size_t) of.n * shape.size;
        if (4.0 * words > room_)
            return nullptr;
        kept_batch added;
        added.of = of;
        try {
            added.table.ensure(words);
        } catch (const failure &why) {
            if (why.error != cudaErrorMemoryAllocation)
                throw;
            room_ = 0;  /* somebody else has taken it */
            return nullptr;
        }
        room_ -= 4.0 * words;
        check(cudaMemsetAsync(added.table.get(), 0, added.table.bytes(), work));
        batch_.push_back(std::move(added));
        return batch_.back().table.get();
    }

    /* Those parts of some libraries that are kept here, counted from the first. */
    std::vector<range> within(range of) const
    {
        std::lock_guard<std::mutex> hold(lock_);
        std::vector<range> out;
        for (const kept_batch &one : batch_) {
            uint32_t from = std::max(one.of.first, of.first);
            uint32_t to = std::min(one.of.first + one.of.n, of.first + of.n);
            if (from < to)
                out.push_back({from - of.first, to - from});
        }
        return out;
    }

    /* Gives the tables of libraries that are in one batch to copy(); whether there is
       one. */
    template <class F> bool with(range of, const table_shape &shape, F copy) const
    {
        std::lock_guard<std::mutex> hold(lock_);
        for (const kept_batch &one : batch_)
            if (of.first >= one.of.first && of.first + of.n <= one.of.first + one.of.n) {
                copy(one.table.get() + (size_t) (of.first - one.of.first) * shape.size);
                return true;
            }
        return false;
    }

    /* Gives all memory back, for what needs it more; whether there was any. */
    bool drop()
    {
        std::lock_guard<std::mutex> hold(lock_);
        bool any = !batch_.empty();
        batch_.clear();
        room_ = 0;
        return any;
    }
};

/* Words of the part for E = e + 1 of a table. */
inline size_t part_words(const table_shape &shape, uint32_t e)
{
    uint32_t after = e + 1;
    while (after < SYN_MAP_DIMS && !(shape.wanted >> after & 1))
        after++;
    return (after < SYN_MAP_DIMS ? shape.offset[after] : shape.size) - shape.offset[e];
}

/* Copies what is wanted of n tables. */
inline void copy_tables(const uint32_t *from, const table_shape &kept, uint32_t *to,
                        const table_shape &wanted, uint32_t n, cudaStream_t work)
{
    for (uint32_t e = 0; e < SYN_MAP_DIMS; e++)
        if (wanted.wanted >> e & 1)
            check(cudaMemcpy2DAsync(to + wanted.offset[e], 4 * (size_t) wanted.size,
                                    from + kept.offset[e], 4 * (size_t) kept.size,
                                    4 * part_words(wanted, e), n,
                                    cudaMemcpyDeviceToDevice, work));
}

}  // namespace gpu

/* What all devices keep. */
struct syn_gpu_tables {
    gpu::table_shape shape;
    gpu::entries kind;
    std::deque<gpu::kept_tables> of;

    gpu::kept_tables *on(int device)
    {
        for (gpu::kept_tables &one : of)
            if (one.device() == device)
                return &one;
        return nullptr;
    }

    ~syn_gpu_tables()
    {
        gpu::device_scope scope;
        for (gpu::kept_tables &one : of) {
            cudaSetDevice(one.device());
            one.drop();
        }
    }
};

#endif
