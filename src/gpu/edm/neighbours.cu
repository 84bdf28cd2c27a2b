/* The host's side of the search for neighbours: which rows are searched how, and in what
   memory. */
#include "gpu/edm/neighbours.cuh"

#include "gpu/edm/choose.cuh"
#include "gpu/edm/exact_walk.cuh"
#include "gpu/base/outcome.cuh"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpu {

namespace {

enum {
    FILTER_LEAST = 4096,     /* library rows from which on the filter is sooner */
    FILTER_K = 128,          /* most neighbours with the filter */
    MOST_TOGETHER = 1 << 17, /* predicted rows at a time, */
    EXACT_TOGETHER = 1 << 16 /* and where all distances are found */
};

constexpr double TURN_FACTOR = 7;  /* a turn has about so many times the rows so far */

constexpr double PAIRS_A_SECOND = 1e13;  /* times coordinates, about, */
constexpr double EXACT_A_SECOND = 2e12;  /* and in double precision */

uint32_t power_from(uint32_t n)
{
    uint32_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

/* A predicted row's candidates, at the most. */
uint32_t room_for(uint32_t k)
{
    return std::max(512u, power_from(16 * k));
}

int multiprocessors()
{
    int device = 0, n = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device));
    return n;
}

template <class K> void allow_shared(K kernel, size_t bytes)
{
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int) bytes));
}

}  // namespace

/* ---- all distances ---- */

void search_all(exact_job job, const exact_memory &memory, cudaStream_t stream)
{
    uint32_t n = job.prediction.n, most_k = job.in.k + (job.in.n - 1) * job.in.more_k;
    if (n == 0 || job.in.n == 0)
        return;
    job.room = power_from(std::min(most_k, job.library.n) * 3 / 2 + 2 * WARP);
    size_t shared = (size_t) EXACT_WARPS * job.room * sizeof(near_place);
    dim3 grid(std::min(blocks_for(n, EXACT_WARPS), 1u << 16), most_of_grid(job.in.n));
    job.lists = nullptr;
    if (job.room > EXACT_SHARED) {
        size_t block = shared;
        size_t most = std::max<size_t>(free_memory() / 4 / block, 1);
        grid.x = (unsigned) std::min<size_t>(grid.x, std::min<size_t>(most, 2048));
        grid.y = (unsigned) std::min<size_t>(grid.y, std::max<size_t>(most / grid.x, 1));
        memory.lists->ensure((size_t) grid.x * grid.y * EXACT_WARPS * job.room);
        job.lists = memory.lists->get();
        shared = 0;
    }
    search_exactly<<<grid, EXACT_WARPS * WARP, shared, stream>>>(job);
    check(cudaGetLastError());
}

/* ---- a library ---- */

struct neighbour_search::work {
    placed_points points;
    placed_rows library;
    cudaStream_t stream;
    filter_frame frame = {};
    array<double> centre, by_row;
    array<float> x, half;
    array<axis_range> ranges;

    array<float> of_x;      /* of predicted rows */
    array<double> norm;
    array<uint32_t> whole, list, lost;
    array<row_state> state;
    array<near_place> lists;
    int processors;

    void make_frame();
    void make_tiles();
    void find_filtered(const placed_rows &p, uint32_t k, uint32_t exclusion,
                       uint32_t first, const placed_neighbours &out);
    void find_lost(const placed_rows &p, uint32_t k, uint32_t exclusion,
                   const placed_neighbours &out);
    void find_exactly(const placed_rows &p, uint32_t k, uint32_t exclusion,
                      const uint32_t *which, const uint32_t *whole_n,
                      const placed_neighbours &out);
};

/* The middle of the library, and the scale in which nothing overflows or vanishes, or, of
   whole numbers times a power of two, the whole numbers. */
void neighbour_search::work::make_frame()
{
    uint32_t dims = points.dims;
    std::vector<axis_range> parts((size_t) dims * RANGE_BLOCKS);
    std::vector<double> middle(dims);
    ranges.ensure(parts.size());
    find_ranges<<<dim3(RANGE_BLOCKS, most_of_grid(dims)), RANGE_THREADS, 0, stream>>>(
        points, library, ranges.get());
    check(cudaGetLastError());
    check(cudaMemcpyAsync(parts.data(), ranges.get(), parts.size() * sizeof(axis_range),
                          cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    std::vector<axis_range> axis(dims, axis_range{1e308, -1e308, 0, 2000});
    int unit = 2000;
    for (size_t i = 0; i < parts.size(); i++) {
        axis_range &a = axis[i / RANGE_BLOCKS];
        a.low = std::min(a.low, parts[i].low);
        a.high = std::max(a.high, parts[i].high);
        a.sum += parts[i].sum;
        unit = std::min(unit, parts[i].unit);
    }
    unit = unit == 2000 ? 0 : unit;
    double most = 0;
    for (uint32_t d = 0; d < dims; d++) {
        double mean = axis[d].sum / library.n;
        double near = std::ldexp(std::rint(std::ldexp(mean, -unit)), unit);
        mean = std::isfinite(near) ? near : mean;
        middle[d] = axis[d].low > axis[d].high
                        ? 0 : std::min(std::max(mean, axis[d].low), axis[d].high);
        most = std::max({most, axis[d].high - middle[d], middle[d] - axis[d].low});
    }
    double whole_most = std::floor(std::sqrt(2097152.0 / dims));
    bool whole = std::ldexp(most, -unit) <= whole_most;
    int exponent = 0;
    std::frexp(most, &exponent);
    frame.scale = whole ? std::ldexp(1.0, -unit) : std::ldexp(1.0, 40 - exponent);
    frame.whole_most = whole ? whole_most : -1;
    centre.upload(middle.data(), dims, stream);
    check(cudaStreamSynchronize(stream));
    frame.centre = centre.get();
}

void neighbour_search::work::make_tiles()
{
    uint32_t tiles = tiles_of(library.n);
    x.ensure((size_t) tiles * points.dims * TILE);
    half.ensure((size_t) tiles * TILE);
    by_row.ensure((size_t) library.n * points.dims);
    fill_tiles<<<tiles, TILE, 0, stream>>>(
        points, library, frame, row_tiles{x.get(), half.get(), nullptr, nullptr},
        by_row.get());
    check(cudaGetLastError());
}

void neighbour_search::work::find_exactly(const placed_rows &p, uint32_t k,
                                          uint32_t exclusion, const uint32_t *which,
                                          const uint32_t *whole_n,
                                          const placed_neighbours &out)
{
    exact_job job = {points, library, p,
                     spaces{1, nullptr, points.dims, 0, nullptr, nullptr, k, 0}, which, whole_n,
                     exclusion, 0, nullptr, k, out};
    search_all(job, exact_memory{&lists}, stream);
}

/* A step that is no divisor and spreads the first tiles evenly, however many they are. */
static uint32_t golden_step(uint32_t tiles)
{
    auto divisor = [](uint32_t a, uint32_t b) {
        while (b > 0) {
            uint32_t rest = a % b;
            a = b;
            b = rest;
        }
        return a;
    };
    uint32_t step = std::max(1u, (uint32_t) (tiles * 0.6180339887498949));
    while (divisor(tiles, step) > 1)
        step++;
    return step;
}

void neighbour_search::work::find_filtered(const placed_rows &p, uint32_t k,
                                           uint32_t exclusion, uint32_t first,
                                           const placed_neighbours &out)
{
    uint32_t tiles = tiles_of(library.n), of = tiles_of(p.n), room = room_for(k);
    of_x.ensure((size_t) of * points.dims * TILE);
    norm.ensure((size_t) of * TILE);
    whole.ensure((size_t) of * TILE);
    state.ensure((size_t) of * TILE);
    list.ensure((size_t) p.n * room);
    row_tiles predicted = {of_x.get(), nullptr, norm.get(), whole.get()};
    fill_tiles<<<of, TILE, 0, stream>>>(points, p, frame, predicted, nullptr);
    begin_rows<<<blocks_for(p.n, 256), 256, 0, stream>>>(state.get(), norm.get(), p.n);
    filter_job job = {row_tiles{x.get(), half.get(), nullptr, nullptr}, predicted, library,
                      p, points.dims, exclusion, tiles, golden_step(tiles), 0, 0,
                      state.get(), list.get(), room};
    choose_job chosen = {points, library, p, by_row.get(), norm.get(), whole.get(),
                         frame.scale, k, exclusion, state.get(), list.get(), room,
                         std::max(1u, 48u * 1024 / (room * (uint32_t) sizeof(near_place))),
                         first, false, out, lost.get() + 1, lost.get()};
    chosen.warps = std::min(chosen.warps, 8u);
    size_t shared = (size_t) chosen.warps * room * sizeof(near_place);
    int turns = std::max(1, (int) std::ceil(std::log(tiles / 3.0) / std::log(TURN_FACTOR)));
    double factor = std::pow(tiles / 3.0, 1.0 / turns), seen = 3;
    for (int turn = -1; turn < turns; turn++) {
        uint32_t parts = HOME_TILES;
        if (turn >= 0) {
            seen *= factor;
            job.from = job.to;
            job.to = turn + 1 == turns ? tiles : std::min(tiles, (uint32_t) seen);
            job.to = std::max(job.to, std::min(job.from + 1, tiles));
            parts = std::min(job.to - job.from,
                             blocks_for(32 * (size_t) processors, of));
        }
        chosen.last = turn + 1 == turns;
        if (turn < 0 || job.to > job.from)
            filter_rows<<<dim3(of, parts), FILTER_THREADS, sizeof(filter_shared), stream>>>(
                job);
        choose_nearest<<<blocks_for(p.n, chosen.warps), chosen.warps * WARP, shared,
                         stream>>>(chosen);
        check(cudaGetLastError());
    }
}

/* The rows that the filter could not find the neighbours of. */
void neighbour_search::work::find_lost(const placed_rows &p, uint32_t k,
                                       uint32_t exclusion, const placed_neighbours &out)
{
    uint32_t n = 0;
    check(cudaMemcpyAsync(&n, lost.get(), sizeof n, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    if (n == 0)
        return;
    placed_rows some = {p.n, p.row};
    find_exactly(some, k, exclusion, lost.get() + 1, lost.get(), out);
}

neighbour_search::neighbour_search(const placed_points &points, const placed_rows &library,
                                   cudaStream_t stream)
    : work_(new work)
{
    work &w = *work_;
    w.points = points;
    w.library = library;
    w.stream = stream;
    w.processors = multiprocessors();
    if (!filters(library.n, 1))
        return;
    allow_shared(filter_rows, sizeof(filter_shared));
    w.make_frame();
    w.make_tiles();
}

neighbour_search::~neighbour_search() = default;

bool neighbour_search::filters(uint32_t library, uint32_t k)
{
    return library >= FILTER_LEAST && k <= FILTER_K;
}

uint32_t neighbour_search::batch(uint32_t k) const
{
    const work &w = *work_;
    bool filtered = filters(w.library.n, k);
    double rate = filtered ? PAIRS_A_SECOND : EXACT_A_SECOND;
    double pairs = (double) std::max(w.library.n, 1u) * (w.points.dims + 2);
    double rows = 0.05 * rate / pairs;
    rows = std::min(rows, (double) (filtered ? MOST_TOGETHER : EXACT_TOGETHER));
    rows = std::min(rows, 0.1 * free_memory() / (12.0 * k + (filtered ? 4.0 * room_for(k) +
                                                 5.0 * w.points.dims + 64 : 0.0)));
    return std::max(1u, (uint32_t) rows / TILE * TILE);
}

void neighbour_search::find(const placed_rows &prediction, uint32_t k, uint32_t exclusion,
                            const placed_neighbours &out)
{
    work &w = *work_;
    if (prediction.n == 0)
        return;
    if (!filters(w.library.n, k)) {
        w.find_exactly(prediction, k, exclusion, nullptr, nullptr, out);
        return;
    }
    w.lost.ensure((size_t) prediction.n + 1);
    check(cudaMemsetAsync(w.lost.get(), 0, sizeof(uint32_t), w.stream));
    for (uint32_t first = 0; first < prediction.n; first += MOST_TOGETHER) {
        uint32_t n = std::min<uint32_t>(MOST_TOGETHER, prediction.n - first);
        w.find_filtered({n, prediction.row + first}, k, exclusion, first, out);
    }
    w.find_lost(prediction, k, exclusion, out);
}

}  // namespace gpu
