/* The host's side of the search in all numbers of dimensions. */
#include "gpu/edm/sweep.cuh"

#include "gpu/edm/exact.cuh"
#include "gpu/edm/plan.cuh"
#include "gpu/edm/sweep_choose.cuh"
#include "gpu/edm/twins.cuh"

namespace gpu {

namespace {

enum {
    SWEEP_TOGETHER = 1 << 15,  /* predicted rows at a time */
    HOME_ROOM = HOME_TILES * TILE,
    NEAR_ROOM = 160            /* candidates that are near enough with one E */
};

constexpr double SWEEP_FACTOR = 4;  /* a turn has about so many times the rows so far */

/* Neighbours of all E together, about four times. */
uint32_t room_for_all(uint32_t E)
{
    return std::max(512u, power_from(2 * E * (E + 3)));
}

/* sweep_limits of predicted rows. */
struct limit_arrays {
    array<float> limit, beyond;
    array<double> squared;
    array<uint32_t> rank, twin;

    sweep_limits room(size_t n)
    {
        limit.ensure(n);
        beyond.ensure(n);
        squared.ensure(n);
        rank.ensure(n);
        twin.ensure(n);
        return {limit.get(), beyond.get(), squared.get(), rank.get(), twin.get()};
    }
};

}  // namespace

struct sweep_search::work {
    placed_points points;
    placed_reach library;
    cudaStream_t stream;
    frame_maker maker;
    filter_frame frame = {};
    uint32_t E, width;
    int processors;
    array<float> x, of_x;
    array<double> by_row;
    array<uint32_t> twin, table, shuffled;
    limit_arrays limits, limits_again;
    array<uint32_t> listed, list, lost, lost_rows, again, reach_again, number;
    array<near_place> lists;

    void place_library();
    void number_points();
    sweep_limits begin(const placed_reach &p, const uint32_t *lost_of,
                       limit_arrays *into, const sweep_limits &before);
    void turn(sweep_filter_job *filter, sweep_choose_job *choose);
    uint32_t count_lost();
    void find_some(const placed_reach &p, uint32_t exclusion, uint32_t first,
                   const placed_neighbours &out, uint32_t stride);
    void find_lost(sweep_filter_job filter, sweep_choose_job choose, uint32_t n,
                   uint32_t first);
};

void sweep_search::work::place_library()
{
    uint32_t tiles = tiles_of(library.rows.n);
    x.ensure((size_t) tiles * E * TILE);
    by_row.ensure((size_t) library.rows.n * width);
    fill_sweep_tiles<<<tiles, TILE, 0, stream>>>(points, library.rows, library.steps, E,
                                                 frame, SWEEP_FAR, x.get(), by_row.get(),
                                                 width);
    shuffled.ensure((size_t) tiles * TILE);
    sort_tiles<<<tiles, TILE, 0, stream>>>(library.rows, shuffled.get());
    check(cudaGetLastError());
}

void sweep_search::work::number_points()
{
    uint32_t n = library.rows.n, slots = power_from(2 * n);
    twin.ensure((size_t) E * n);
    table.ensure(slots);
    for (uint32_t e = 0; e < E; e++) {
        check(cudaMemsetAsync(table.get(), 0xff, slots * sizeof(uint32_t), stream));
        number_twins<<<blocks_for(n, 128), 128, 0, stream>>>(
            by_row.get(), width, e + 1, n, table.get(), slots,
            twin.get() + (size_t) e * n);
    }
    check(cudaGetLastError());
}

/* Tiles and limits of predicted rows. */
sweep_limits sweep_search::work::begin(const placed_reach &p, const uint32_t *lost_of,
                                       limit_arrays *into, const sweep_limits &before)
{
    uint32_t tiles = tiles_of(p.rows.n);
    of_x.ensure((size_t) tiles * E * TILE);
    sweep_limits at = into->room((size_t) tiles * E * TILE);
    fill_sweep_tiles<<<tiles, TILE, 0, stream>>>(points, p.rows, p.steps, E, frame, 0,
                                                 of_x.get(), nullptr, width);
    begin_dimensions<<<dim3(tiles, E), TILE, 0, stream>>>(at, p.rows.n, p.steps, E,
                                                          lost_of, before);
    check(cudaMemsetAsync(listed.get(), 0, p.rows.n * sizeof(uint32_t), stream));
    check(cudaMemsetAsync(lost.get(), 0, p.rows.n * sizeof(uint32_t), stream));
    check(cudaGetLastError());
    return at;
}

void sweep_search::work::turn(sweep_filter_job *filter, sweep_choose_job *choose)
{
    const tile_turn &t = filter->turn;
    uint32_t n = t.predicted.n;
    bool home = t.homes && t.from == t.to;
    uint32_t room = choose->room;
    filter_dimensions<<<dim3(tiles_of(n), parts_of(t, processors)), FILTER_THREADS,
                        sizeof(sweep_shared), stream>>>(*filter);
    choose->near_room = home ? HOME_ROOM : NEAR_ROOM;
    size_t bytes = sweep_bytes(room, choose->near_room);
    choose->warps = (uint32_t) std::max<size_t>(1, LIST_BYTES / bytes);
    choose_dimensions<<<blocks_for(n, choose->warps), choose->warps * WARP,
                        choose->warps * bytes, stream>>>(*choose);
    check(cudaGetLastError());
}

uint32_t sweep_search::work::count_lost()
{
    uint32_t n = 0;
    check(cudaMemcpyAsync(&n, lost_rows.get(), sizeof n, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    return n;
}

void sweep_search::work::find_some(const placed_reach &p, uint32_t exclusion,
                                   uint32_t first, const placed_neighbours &out,
                                   uint32_t stride)
{
    uint32_t tiles = tiles_of(library.rows.n), room = room_for_all(E), n = p.rows.n;
    listed.ensure(n);
    list.ensure((size_t) n * room);
    lost.ensure(n);
    lost_rows.ensure((size_t) n + 1);
    check(cudaMemsetAsync(lost_rows.get(), 0, sizeof(uint32_t), stream));
    sweep_limits at = begin(p, nullptr, &limits, {});
    sweep_filter_job filter = {
        x.get(), of_x.get(),
        {library.rows, p.rows, exclusion, tiles, shuffled.get(), golden_step(tiles), 0, 0,
         true}, E, at, twin.get(), listed.get(), list.get(), room};
    sweep_choose_job choose = {
        points, library.rows, p.rows, p.steps, by_row.get(), width, E, frame, at,
        listed.get(), list.get(), room, 0, lost.get(), twin.get(), 0, first, nullptr,
        false, out, stride, lost_rows.get() + 1, lost_rows.get()};
    each_turn(&filter.turn, SWEEP_FACTOR, [&](bool last) {
        choose.last = last;
        turn(&filter, &choose);
    });
    uint32_t some = count_lost();
    if (some > 0)
        find_lost(filter, choose, some, first);
}

/* Rows that have had more candidates than there is room for are searched again, with the
   limits they have got; those that still have more, in double precision. */
void sweep_search::work::find_lost(sweep_filter_job filter, sweep_choose_job choose,
                                   uint32_t n, uint32_t first)
{
    again.ensure(n);
    reach_again.ensure(n);
    number.ensure(n);
    gather_lost<<<blocks_for(n, 256), 256, 0, stream>>>(
        lost_rows.get() + 1, n, choose.predicted_rows, choose.reach, first, again.get(),
        reach_again.get(), number.get());
    placed_reach p = {{n, again.get()}, reach_again.get()};
    filter.limits = choose.limits =
        begin(p, lost_rows.get() + 1, &limits_again, choose.limits);
    check(cudaMemsetAsync(lost_rows.get(), 0, sizeof(uint32_t), stream));
    filter.turn.predicted = choose.predicted_rows = p.rows;
    filter.predicted = of_x.get();
    filter.turn.homes = false;
    filter.turn.from = 0;
    choose.reach = p.steps;
    choose.number = number.get();
    turn(&filter, &choose);
    n = count_lost();
    if (n == 0)
        return;
    spaces in = {E, nullptr, 1, 1, library.steps, reach_again.get(), 2, 1};
    search_all({points, library.rows, {n, again.get()}, in, lost_rows.get() + 1,
                number.get(), filter.turn.exclusion, 0, nullptr, E + 1, choose.out,
                choose.stride}, {&lists}, stream);
}

bool sweep_search::fits(uint32_t library, uint32_t dims, int device)
{
    int most = 0;
    if (cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
        cudaSuccess)
        cudaGetLastError();
    return library >= FILTER_LEAST && dims <= SWEEP_DIMS &&
           (size_t) most >= sizeof(sweep_shared);
}

sweep_search::sweep_search(const placed_points &points, const placed_reach &library,
                           cudaStream_t stream)
    : work_(new work)
{
    work &w = *work_;
    w.points = points;
    w.library = library;
    w.stream = stream;
    w.E = points.dims;
    w.width = (w.E + SWEEP_STEP - 1) / SWEEP_STEP * SWEEP_STEP;
    w.processors = device_number(cudaDevAttrMultiProcessorCount);
    allow_shared(filter_dimensions, sizeof(sweep_shared));
    w.frame = w.maker.make(points, library.rows, stream);
    w.place_library();
    w.number_points();
}

sweep_search::~sweep_search() = default;

uint32_t sweep_search::batch() const
{
    const work &w = *work_;
    double rows = 0.05 * 5e12 / ((double) w.library.rows.n * w.E);
    double bytes = 4.0 * room_for_all(w.E) + w.E * (12.0 * (w.E + 1) + 40.0) + 100;
    rows = std::min({rows, 0.1 * free_memory() / bytes, (double) SWEEP_TOGETHER});
    return std::max(1u, (uint32_t) rows / TILE * TILE);
}

void sweep_search::find(const placed_reach &prediction, uint32_t exclusion,
                        const placed_neighbours &out)
{
    uint32_t all = prediction.rows.n;
    for (uint32_t first = 0; first < all; first += SWEEP_TOGETHER) {
        uint32_t n = std::min<uint32_t>(SWEEP_TOGETHER, all - first);
        work_->find_some({{n, prediction.rows.row + first}, prediction.steps + first},
                         exclusion, first, out, all);
    }
}

}  // namespace gpu
