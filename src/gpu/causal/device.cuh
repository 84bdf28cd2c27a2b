/* Libraries on a device: where their points are, and the kernels that find neighbours. */
#ifndef SYN_GPU_CAUSAL_DEVICE_CUH
#define SYN_GPU_CAUSAL_DEVICE_CUH

#include "gpu/causal/neighbours.cuh"
#include "gpu/base/device.cuh"
#include "gpu/base/outcome.cuh"
#include "gpu/base/slots.cuh"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace gpu {

constexpr double BATCH_SECONDS = 0.05;  /* about; Ctrl-C waits for those under way */
constexpr int BATCHES = 3;  /* under way: the last warps of one leave room for the next */

/* The layout on a device: the step of each place, also of the empty ones at the end, and
   its use. */
struct placed_layout {
    array<int32_t> step;
    array<unsigned char> use;

    void upload(const syn_map_layout &layout)
    {
        std::vector<int32_t> steps(placed_length(layout.places), -1);
        std::copy(layout.step, layout.step + layout.places, steps.begin());
        step.ensure(steps.size());
        use.ensure(layout.places);
        check(cudaMemcpy(step.get(), steps.data(), steps.size() * sizeof(int32_t),
                         cudaMemcpyHostToDevice));
        check(cudaMemcpy(use.get(), layout.use, layout.places, cudaMemcpyHostToDevice));
    }
};

/* From which step to which there are predicted points of E dimensions. */
inline void find_range(const syn_map_layout &layout, uint32_t E, uint32_t *from,
                       uint32_t *to)
{
    uint32_t run = 0;
    *from = *to = 0;
    for (uint32_t p = 0; p < layout.places; p++) {
        run = layout.step[p] < 0 ? 0 : run + 1;
        if (run < E || !(layout.use[p] & SYN_MAP_PREDICTED))
            continue;
        uint32_t t = layout.step[p];
        *from = *to ? std::min(*from, t) : t;
        *to = std::max(*to, t + 1);
    }
}

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
        find_range(layout, e + 1, &shape.from[e], &shape.to[e]);
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

inline search_job make_search(const placed_layout &at, const syn_map_layout &layout,
                              const syn_map_options &options, uint32_t wanted)
{
    search_job job = {};
    job.length = placed_length(layout.places);
    job.places = layout.places;
    job.steps = layout.steps;
    job.exclusion = options.exclusion;
    job.Tp = options.Tp;
    job.wanted = wanted;
    if ((options.tau == 1 || options.tau == -1) && in_order(layout))
        job.sample = std::min<uint32_t>(SAMPLE, layout.places / 4);
    job.step = at.step.get();
    job.use = at.use.get();
    return job;
}

/* ---- libraries on a device ---- */

struct placed_libraries {
    array<float> value, placed;
    array<uint32_t> may;
    array<unsigned char> drawn;

    /* Room for n libraries, so that none is made later. */
    void reserve(size_t n, const search_job &job)
    {
        value.ensure(n * job.steps);
        placed.ensure(n * job.length);
        may.ensure(n * (job.length / WARP));
    }

    /* Copies libraries from `first` on and lays them out. */
    void put(const syn_map_libraries &libraries, uint32_t first, uint32_t n,
             search_job *job, cudaStream_t stream)
    {
        size_t steps = libraries.steps, at = first * steps;
        value.upload(libraries.value + at, n * steps, stream);
        if (libraries.drawn)
            drawn.upload(libraries.drawn + at, n * steps, stream);
        placed.ensure((size_t) n * job->length);
        may.ensure((size_t) n * (job->length / WARP));
        job->value = value.get();
        job->placed = placed.get();
        job->may = may.get();
        dim3 grid((job->length + 255) / 256, n);
        lay_out<<<grid, 256, 0, stream>>>(
            *job, libraries.drawn ? drawn.get() : nullptr, placed.get(), may.get());
        check(cudaGetLastError());
    }
};

/* A batch under way: libraries `first` to first + n - 1, and a stream of their own. */
struct batch_slot {
    stream work;
    placed_libraries libraries;
    uint32_t first = 0, n = 0;
};

/* Calls body with constants: a number of dimensions of at least `top`, and `staged`. */
template <class F> void with_top(uint32_t top, bool staged, F body)
{
    if (!staged)
        body(std::integral_constant<int, SYN_MAP_DIMS>(), std::false_type());
    else if (top <= 10)
        body(std::integral_constant<int, 10>(), std::true_type());
    else if (top <= 20)
        body(std::integral_constant<int, 20>(), std::true_type());
    else
        body(std::integral_constant<int, SYN_MAP_DIMS>(), std::true_type());
}

inline uint32_t top_of(uint32_t wanted)
{
    uint32_t top = 0;
    while (wanted >> top)
        top++;
    return top;
}

template <int TOP, bool STAGED>
void launch_tables(const search_job &job, const table_shape &shape,
                   entries kind, uint32_t n, uint32_t *table, cudaStream_t stream)
{
    size_t shared = search_shared(job, STAGED);
    allow_shared(find_tables<TOP, STAGED>, shared);
    dim3 grid(search_blocks(job), n);
    find_tables<TOP, STAGED>
        <<<grid, SEARCH_WARPS * WARP, shared, stream>>>(
            job, shape, ROW_BYTES, kind, table);
    check(cudaGetLastError());
}

template <int TOP, bool STAGED>
void launch_skill(const search_job &job, uint32_t n, double *sums,
                  cudaStream_t stream)
{
    size_t shared = search_shared(job, STAGED);
    allow_shared(find_skill<TOP, STAGED>, shared);
    dim3 grid(search_blocks(job), n);
    find_skill<TOP, STAGED>
        <<<grid, SEARCH_WARPS * WARP, shared, stream>>>(job, sums);
    check(cudaGetLastError());
}

/* Seconds that finding a library's neighbours takes, about: of an H200, to look at a
   column and to choose among those that are near. */
inline double search_seconds(const search_job &job)
{
    double terms = (double) job.places * top_of(job.wanted);
    return terms * (1.1e-13 * job.places + 7.5e-10);
}

}  // namespace gpu

#endif
