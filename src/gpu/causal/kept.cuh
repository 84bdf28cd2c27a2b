/* Tables of neighbours that a search for dimensions has found, kept on the devices for
   the map of the same series. */
#ifndef SYN_GPU_CAUSAL_KEPT_CUH
#define SYN_GPU_CAUSAL_KEPT_CUH

#include "gpu/causal/deal.cuh"
#include "gpu/causal/device.cuh"

#include <deque>

namespace gpu {

/* Of the memory that is free at the beginning: the rest is for the map. */
constexpr double KEPT_SHARE = 0.7;

/* Tables of some libraries, side by side. */
struct kept_batch {
    range of;
    array<uint32_t> table;
};

/* What one device keeps; only its thread adds to it, library numbers rising. */
struct kept_tables {
    int device;
    double room;           /* bytes that may still be taken */
    std::deque<kept_batch> batch;

    /* Empty tables for some libraries, or NULL where there is no room. */
    uint32_t *add(range of, const table_shape &shape, cudaStream_t work)
    {
        size_t words = (size_t) of.n * shape.size;
        if (4.0 * words > room)
            return nullptr;
        room -= 4.0 * words;
        batch.emplace_back();
        kept_batch &added = batch.back();
        added.of = of;
        added.table.ensure(words);
        check(cudaMemsetAsync(added.table.get(), 0, added.table.bytes(), work));
        return added.table.get();
    }

    /* Those parts of some libraries that are kept here, counted from the first. */
    std::vector<range> within(range of) const
    {
        std::vector<range> out;
        for (const kept_batch &one : batch) {
            uint32_t from = std::max(one.of.first, of.first);
            uint32_t to = std::min(one.of.first + one.of.n, of.first + of.n);
            if (from < to)
                out.push_back({from - of.first, to - from});
        }
        return out;
    }

    /* The tables of libraries that are in one batch, or NULL. */
    const uint32_t *find(range of, const table_shape &shape) const
    {
        for (const kept_batch &one : batch)
            if (of.first >= one.of.first && of.first + of.n <= one.of.first + one.of.n)
                return one.table.get() + (size_t) (of.first - one.of.first) * shape.size;
        return nullptr;
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
            if (one.device == device)
                return &one;
        return nullptr;
    }

    ~syn_gpu_tables()
    {
        gpu::device_scope scope;
        for (gpu::kept_tables &one : of) {
            cudaSetDevice(one.device);
            one.batch.clear();
        }
    }
};

#endif
