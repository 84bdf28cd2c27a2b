/* Libraries on a device: where their points are, the kernels that find neighbours, and
   neighbours that are kept for the map of the same series. */
#pragma once

#include "gpu/base/launch.cuh"
#include "gpu/causal/neighbours.cuh"
#include "gpu/causal/queue.cuh"

namespace gpu {

constexpr double BATCH_SECONDS = 0.05;  /* about; Ctrl-C waits for those under way */
constexpr int BATCHES = 3;  /* under way: the last warps of one leave room for the next */

/* Fills in all of the shape, for points that are `every` so many steps; every part is
   followed by room to read ahead into. */
inline table_shape make_shape(const syn_map_layout &layout, uint32_t wanted, entries kind,
                              uint32_t every)
{
    table_shape shape = {};
    shape.wanted = wanted;
    uint64_t words = 0;
    for (uint32_t e = 0; e < SYN_MAP_DIMS; e++) {
        if (!(wanted >> e & 1))
            continue;
        /* From which step to which there are predicted points. */
        for (uint32_t p = 0, run = 0; p < layout.places; p++) {
            run = layout.step[p] < 0 ? 0 : run + 1;
            if (run < e + 1 || !(layout.use[p] & SYN_MAP_PREDICTED))
                continue;
            uint32_t t = layout.step[p];
            shape.from[e] = shape.to[e] ? std::min(shape.from[e], t) : t;
            shape.to[e] = std::max(shape.to[e], t + 1);
        }
        uint64_t rows = (shape.to[e] - shape.from[e] + every - 1) / every, k = e + 2;
        shape.to[e] = shape.from[e] + rows;
        shape.offset[e] = words;
        uint64_t together = kind == entries::packed ? 32 : 4;
        shape.words[e] = row_words(kind, k);
        words += shape.words[e] * (rows / together + 2) * together;
        words = (words + 3) / 4 * 4;
    }
    if (words > UINT32_MAX)
        throw refusal(SYN_TOO_LARGE, "%u steps are more than a GPU's tables hold",
                      layout.steps);
    shape.size = words;
    return shape;
}

/* Whether steps only go up, or only down, from place to place: then places that are far
   from each other hold steps that are. They do not where coordinates are later steps and
   the two halves of a split are each laid out backwards, nor for |tau| above 1. */
inline bool in_order(const syn_map_layout &layout)
{
    int64_t before = -1;
    bool up = true, down = true;
    for (uint32_t p = 0; p < layout.places; p++) {
        int64_t step = layout.step[p];
        if (step < 0)
            continue;
        up = up && (before < 0 || step > before);
        down = down && (before < 0 || step < before);
        before = step;
    }
    return up || down;
}

/* Makes a job without libraries; steps and uses of places belong to its pointers. */
inline void make_search(search_job *job, arrays *own, const syn_map_layout &layout,
                        const syn_map_options &options, uint32_t wanted,
                        cudaStream_t stream)
{
    std::vector<int32_t> step(placed_length(layout.places), -1);
    std::copy(layout.step, layout.step + layout.places, step.begin());
    job->length = (uint32_t) step.size();
    job->places = layout.places;
    job->steps = layout.steps;
    job->exclusion = options.exclusion;
    job->Tp = options.Tp;
    job->wanted = wanted;
    if ((options.tau == 1 || options.tau == -1) && in_order(layout))
        job->sample = std::min<uint32_t>(SAMPLE, layout.places / 4);
    own->upload(&job->step, step, stream);
    own->upload(&job->use, layout.use, layout.places, stream);
    wait_for(stream);
}

/* ---- libraries on a device ---- */

/* A batch under way: libraries `first` to first + n - 1, and a stream of their own. */
struct batch_slot {
    stream work;
    arrays own;  /* of the pointers of the search, and of those that follow */
    search_job search;
    const unsigned char *drawn = nullptr;
    uint32_t first = 0, n = 0;

    /* Copies n libraries from `at` on and lays them out; there is room for `most`, so
       that none is made later. */
    void put(const search_job &job, const syn_map_libraries &libraries, uint32_t at,
             size_t most)
    {
        size_t steps = libraries.steps, from = at * steps;
        search = job;
        own.ensure(&search.value, most * steps);
        own.ensure(&search.placed, most * job.length);
        own.ensure(&search.may, most * (job.length / WARP));
        if (libraries.drawn)
            own.upload(&drawn, libraries.drawn + from, n * steps, work);
        send(search.value, libraries.value + from, n * steps, work);
        launch(lay_out, dim3((job.length + 255) / 256, n), 256, 0, work, search,
               libraries.drawn ? drawn : nullptr);
    }
};

/* Calls body with constants: a number of dimensions of at least `top`, and `staged`. */
template <class F> void with_top(uint32_t top, bool staged, F body)
{
    if (!staged)
        return body(std::integral_constant<int, SYN_MAP_DIMS>(), std::false_type());
    with_number<10, 20, SYN_MAP_DIMS>(top, [&](auto n) { body(n, std::true_type()); });
}

inline uint32_t top_of(uint32_t wanted)
{
    uint32_t top = 0;
    while (wanted >> top)
        top++;
    return top;
}

/* Starts a kernel that finds neighbours in n libraries: `more` are its other
   arguments. */
template <class KERNEL, class... MORE>
void launch_search(KERNEL kernel, const search_job &job, bool staged, uint32_t n,
                   cudaStream_t stream, MORE... more)
{
    size_t shared = search_shared(job, staged);
    allow_shared(kernel, shared);
    launch(kernel, dim3(search_blocks(job), n), SEARCH_WARPS * WARP, shared, stream, job,
           more...);
}

/* Seconds that finding a library's neighbours takes, about: of an H200, to look at a
   column and to choose among those that are near. */
inline double search_seconds(const search_job &job)
{
    double terms = (double) job.places * top_of(job.wanted);
    return terms * (1.1e-13 * job.places + 7.5e-10);
}

/* ---- tables that are kept for the map of the same series ---- */

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

/* Copies what is wanted of n tables. */
inline void copy_tables(const uint32_t *from, const table_shape &kept, uint32_t *to,
                        const table_shape &wanted, uint32_t n, cudaStream_t work)
{
    size_t end = wanted.size;  /* of a part, which the next one follows */
    for (uint32_t e = SYN_MAP_DIMS; e-- > 0;) {
        if (!(wanted.wanted >> e & 1))
            continue;
        check(cudaMemcpy2DAsync(to + wanted.offset[e], 4 * (size_t) wanted.size,
                                from + kept.offset[e], 4 * (size_t) kept.size,
                                4 * (end - wanted.offset[e]), n, cudaMemcpyDeviceToDevice,
                                work));
        end = wanted.offset[e];
    }
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
