/* The host's side of the search for neighbours: which rows are searched how, and in what
   memory. */
#include "gpu/edm/neighbours.cuh"

#include "gpu/edm/choose.cuh"
#include "gpu/edm/exact_walk.cuh"
#include "gpu/edm/plan.cuh"
#include "gpu/edm/twins.cuh"
#include "gpu/base/outcome.cuh"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpu {

namespace {

enum {
    FILTER_K = 128,          /* most neighbours with the filter */
    MOST_TOGETHER = 1 << 17, /* predicted rows at a time, */
    EXACT_TOGETHER = 1 << 16 /* and where all distances are found */
};

constexpr double TURN_FACTOR = 4;  /* a turn has about so many times the rows so far */

constexpr double PAIRS_A_SECOND = 1e13;  /* times coordinates, about, */
constexpr double EXACT_A_SECOND = 2e12;  /* and in double precision */

/* A predicted row's candidates, at the most. */
uint32_t room_for(uint32_t k)
{
    return std::max(512u, power_from(16 * k));
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
    frame_maker maker;
    array<double> by_row;
    array<float> x, half;

    array<float> of_x;      /* of predicted rows */
    array<double> norm;
    array<uint32_t> whole, list, lost, twin, table, shuffled, again, number;
    array<row_state> state, state_again;
    array<near_place> lists;
    int processors;

    void make_tiles();
    void find_filtered(const placed_rows &p, uint32_t k, uint32_t exclusion,
                       uint32_t first, const placed_neighbours &out);
    void place(const placed_rows &p);
    void turn(filter_job *filter, choose_job *choose);
    uint32_t count_lost();
    void find_exactly(const placed_rows &p, uint32_t k, uint32_t exclusion,
                      const uint32_t *which, const uint32_t *numbers,
                      const placed_neighbours &out);
};

filter_frame frame_maker::make(const placed_points &points, const placed_rows &library,
                               cudaStream_t stream)
{
    uint32_t dims = points.dims;
    filter_frame frame = {};
    std::vector<axis_range> parts((size_t) dims * RANGE_BLOCKS);
    std::vector<double> middle(dims);
    ranges_.ensure(parts.size());
    find_ranges<<<dim3(RANGE_BLOCKS, most_of_grid(dims)), RANGE_THREADS, 0, stream>>>(
        points, library, ranges_.get());
    check(cudaGetLastError());
    check(cudaMemcpyAsync(parts.data(), ranges_.get(), parts.size() * sizeof(axis_range),
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
    centre_.upload(middle.data(), dims, stream);
    check(cudaStreamSynchronize(stream));
    frame.centre = centre_.get();
    return frame;
}

void neighbour_search::work::make_tiles()
{
    uint32_t tiles = tiles_of(library.n);
    x.ensure((size_t) tiles * points.dims * TILE);
    half.ensure((size_t) tiles * TILE);
    by_row.ensure((size_t) library.n * (points.dims + 1));
    fill_tiles<<<tiles, TILE, 0, stream>>>(
        points, library, frame, row_tiles{x.get(), half.get(), nullptr, nullptr},
        by_row.get());
    shuffled.ensure((size_t) tiles * TILE);
    sort_tiles<<<tiles, TILE, 0, stream>>>(library, shuffled.get());
    twin.ensure(library.n);
    table.ensure(power_from(2 * library.n));
    check(cudaMemsetAsync(table.get(), 0xff, power_from(2 * library.n) * sizeof(uint32_t),
                          stream));
    number_twins<<<blocks_for(library.n, 128), 128, 0, stream>>>(
        by_row.get(), (points.dims + 1) & ~1u, points.dims, library.n, table.get(),
        power_from(2 * library.n), twin.get());
    check(cudaGetLastError());
}

void neighbour_search::work::find_exactly(const placed_rows &p, uint32_t k,
                                          uint32_t exclusion, const uint32_t *which,
                                          const uint32_t *numbers,
                                          const placed_neighbours &out)
{
    exact_job job = {points, library, p,
                     {1, nullptr, points.dims, 0, nullptr, nullptr, k, 0}, which, numbers,
                     exclusion, 0, nullptr, k, out, p.n};
    search_all(job, exact_memory{&lists}, stream);
}

/* Tiles of predicted rows. */
void neighbour_search::work::place(const placed_rows &p)
{
    uint32_t tiles = tiles_of(p.n);
    of_x.ensure((size_t) tiles * points.dims * TILE);
    norm.ensure((size_t) tiles * TILE);
    whole.ensure((size_t) tiles * TILE);
    fill_tiles<<<tiles, TILE, 0, stream>>>(
        points, p, frame, row_tiles{of_x.get(), nullptr, norm.get(), whole.get()},
        nullptr);
    check(cudaGetLastError());
}

void neighbour_search::work::turn(filter_job *filter, choose_job *choose)
{
    uint32_t n = filter->turn.predicted.n;
    filter_rows<<<dim3(tiles_of(n), parts_of(filter->turn, processors)), FILTER_THREADS,
                  sizeof(filter_shared), stream>>>(*filter);
    choose_nearest<<<blocks_for(n, choose->warps), choose->warps * WARP,
                     choose->warps * choose_bytes(choose->room), stream>>>(*choose);
    check(cudaGetLastError());
}

uint32_t neighbour_search::work::count_lost()
{
    uint32_t n = 0;
    check(cudaMemcpyAsync(&n, lost.get(), sizeof n, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    return n;
}

/* Rows that have had more candidates than there is room for are searched again, with the
   limits they have got; those that still have more, in double precision. */
void neighbour_search::work::find_filtered(const placed_rows &p, uint32_t k,
                                           uint32_t exclusion, uint32_t first,
                                           const placed_neighbours &out)
{
    uint32_t tiles = tiles_of(library.n), room = room_for(k);
    place(p);
    state.ensure(p.n);
    list.ensure((size_t) p.n * room);
    lost.ensure((size_t) p.n + 1);
    check(cudaMemsetAsync(lost.get(), 0, sizeof(uint32_t), stream));
    begin_rows<<<blocks_for(p.n, 256), 256, 0, stream>>>(state.get(), norm.get(), p.n);
    filter_job filter = {row_tiles{x.get(), half.get(), nullptr, nullptr},
                         row_tiles{of_x.get(), nullptr, nullptr, nullptr},
                         {library, p, exclusion, tiles, shuffled.get(),
                          golden_step(tiles),
                          0, 0, true},
                         points.dims, twin.get(), state.get(), list.get(), room};
    choose_job choose = {points, library, p, by_row.get(), norm.get(), whole.get(),
                         frame.scale, k, state.get(), list.get(), room,
                         std::min(8u, (uint32_t) (LIST_BYTES / choose_bytes(room))),
                         twin.get(), first, nullptr, false, out, lost.get() + 1,
                         lost.get()};
    each_turn(&filter.turn, TURN_FACTOR, [&](bool last) {
        choose.last = last;
        turn(&filter, &choose);
    });
    uint32_t n = count_lost();
    if (n == 0)
        return;
    again.ensure(n);
    number.ensure(n);
    state_again.ensure(n);
    begin_again<<<blocks_for(n, 256), 256, 0, stream>>>(
        lost.get() + 1, n, p, first, state.get(), state_again.get(), again.get(),
        number.get());
    check(cudaMemsetAsync(lost.get(), 0, sizeof(uint32_t), stream));
    filter.turn.predicted = choose.predicted_rows = {n, again.get()};
    filter.state = choose.state = state_again.get();
    filter.turn.homes = false;
    choose.number = number.get();
    place(filter.turn.predicted);
    filter.turn.from = 0;
    turn(&filter, &choose);
    n = count_lost();
    if (n > 0)
        find_exactly({n, again.get()}, k, exclusion, lost.get() + 1, number.get(), out);
}

neighbour_search::neighbour_search(const placed_points &points,
                                   const placed_rows &library, cudaStream_t stream)
    : work_(new work)
{
    work &w = *work_;
    w.points = points;
    w.library = library;
    w.stream = stream;
    w.processors = device_number(cudaDevAttrMultiProcessorCount);
    if (!filters(library.n, 1))
        return;
    allow_shared(filter_rows, sizeof(filter_shared));
    w.frame = w.maker.make(points, library, stream);
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
    double bytes = 12.0 * k;
    if (filtered)
        bytes += 4.0 * room_for(k) + 5.0 * w.points.dims + 64;
    rows = std::min(rows, 0.1 * free_memory() / bytes);
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
    for (uint32_t first = 0; first < prediction.n; first += MOST_TOGETHER) {
        uint32_t n = std::min<uint32_t>(MOST_TOGETHER, prediction.n - first);
        w.find_filtered({n, prediction.row + first}, k, exclusion, first, out);
    }
}

}  // namespace gpu
