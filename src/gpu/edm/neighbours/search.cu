/* The host's side of the search for neighbours: which rows are searched how, and in what
   memory. */
#include "gpu/edm/neighbours/exact.cuh"
#include "gpu/edm/neighbours/filter.cuh"
#include "gpu/edm/neighbours/sweep.cuh"

#include <numeric>

namespace gpu {

namespace {

enum {
    FILTER_K = 128,            /* most neighbours with the filter */
    MOST_TOGETHER = 1 << 17,   /* predicted rows at a time, */
    EXACT_TOGETHER = 1 << 16,  /* where all distances are found, */
    SWEEP_TOGETHER = 1 << 16,  /* and in all numbers of dimensions */
    NEAR_ROOM = 160            /* candidates that are near enough with one E */
};

constexpr uint32_t FILTER_LEAST = 4096;   /* rows of a library that is worth a filter */
constexpr size_t LIST_BYTES = 48 * 1024;  /* of shared memory, for a block's lists */

constexpr double PAIRS_A_SECOND = 1e13;  /* times coordinates, about, */
constexpr double EXACT_A_SECOND = 2e12;  /* and in double precision */

uint32_t power_from(uint32_t n)
{
    uint32_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

/* A step that is no divisor and spreads the first tiles evenly, however many they are. */
uint32_t golden_step(uint32_t tiles)
{
    uint32_t step = std::max(1u, (uint32_t) (tiles * 0.6180339887498949));
    while (std::gcd(tiles, step) > 1)
        step++;
    return step;
}

/* Goes through the turns of a search: those near in time, then about four times as many
   tiles as before. run(last) does one. */
template <class F> void each_turn(tile_turn *t, F run)
{
    double first = HOME_TILES, seen = first, times = t->tiles / first;
    int turns = std::max(1, (int) std::ceil(std::log(times) / std::log(4.0)));
    t->homes = true;
    t->from = t->to = 0;
    run(false);
    for (int i = 0; i < turns; i++) {
        bool last = i + 1 == turns;
        seen *= std::pow(times, 1.0 / turns);
        t->from = t->to;
        t->to = last ? t->tiles
                     : std::max(t->from + 1, std::min(t->tiles, (uint32_t) seen));
        run(last);
    }
}

/* Parts into which a turn's tiles are cut, so that there are blocks enough. */
uint32_t parts_of(const tile_turn &t, int processors)
{
    if (t.from == t.to)
        return HOME_TILES;
    return std::min(t.to - t.from,
                    blocks_for(32 * (size_t) processors, tiles_of(t.predicted.n)));
}

/* A predicted row's candidates, at the most. */
uint32_t room_for(uint32_t k)
{
    return std::max(512u, power_from(16 * k));
}

/* The same in all numbers of dimensions: about four times the neighbours. */
uint32_t room_for_all(uint32_t E)
{
    return std::max(512u, power_from(2 * E * (E + 3)));
}

/* Rows to hand out together, in whole tiles. */
uint32_t whole_tiles(double rows)
{
    return std::max(1u, (uint32_t) rows / TILE * TILE);
}

/* A library in tiles for a filter, and a search with it. */
struct filtered {
    placed_points points;
    placed_rows library;
    cudaStream_t stream;
    uint32_t width;  /* of a row of `by_row` */
    int processors = processors_of(current_device());
    filter_frame frame = {};
    array<double> centre, by_row;
    array<float> x, of_x;
    array<uint32_t> twin, table, shuffled, list, lost_rows, again, number;
    array<near_place> lists;

    filtered(const placed_points &p, const placed_rows &l, cudaStream_t s, uint32_t wide)
        : points(p), library(l), stream(s), width(wide)
    {
    }

    void make_frame();

    /* Numbers the points that `dims` coordinates give. */
    void number_points(uint32_t dims, uint32_t *to)
    {
        uint32_t n = library.n, slots = power_from(2 * n);
        fill(table.ensure(slots), 0xff, slots, stream);
        launch(number_twins, blocks_for(n, 128), 128, 0, stream, by_row.get(), width,
               dims, n, table.get(), slots, to);
    }

    void sort_places()
    {
        uint32_t tiles = tiles_of(library.n);
        shuffled.ensure((size_t) tiles * TILE);
        launch(sort_tiles, tiles, TILE, 0, stream, library, shuffled.get());
    }

    tile_turn turn_of(const placed_rows &p, uint32_t exclusion) const
    {
        uint32_t tiles = tiles_of(library.n);
        return {library, p, exclusion, tiles, shuffled.get(), golden_step(tiles)};
    }

    choosing choosing_of(const placed_rows &p, uint32_t room, uint32_t first,
                         const placed_neighbours &out)
    {
        lost_rows.ensure((size_t) p.n + 1);
        return {points, library, p, by_row.get(), twin.get(),
                list.ensure((size_t) p.n * room), room, 0, first, nullptr, false, out,
                lost_rows.get() + 1, lost_rows.get()};
    }

    /* Rows that have had more candidates than there is room for. */
    uint32_t count_lost()
    {
        uint32_t n = 0;
        download(&n, lost_rows.get(), 1, stream);
        check(cudaStreamSynchronize(stream));
        return n;
    }

    /* One turn after the other: turn() does one. Lost rows are searched again, with the
       limits they have got, which begin_again(n) gives them; those that are lost again,
       in double precision, in the spaces that it returns. */
    template <class TURN, class AGAIN>
    void search(tile_turn *at, choosing *choose, uint32_t k, uint32_t stride, TURN turn,
                AGAIN begin_again)
    {
        fill(lost_rows.get(), 0, 1, stream);
        each_turn(at, [&](bool last) {
            choose->last = last;
            turn();
        });
        uint32_t n = count_lost();
        if (n == 0)
            return;
        again.ensure(n);
        spaces in = begin_again(n, number.ensure(n));
        fill(lost_rows.get(), 0, 1, stream);
        at->predicted = choose->predicted_rows = {n, again.get()};
        at->homes = false;
        at->from = 0;
        choose->number = number.get();
        turn();
        n = count_lost();
        if (n > 0)
            search_all({points, library, {n, again.get()}, in, lost_rows.get() + 1,
                        number.get(), at->exclusion, k, choose->out, stride},
                       &lists, stream);
    }
};

/* Finds the middle of a library, and the scale in which nothing overflows or vanishes;
   whole numbers times a power of two become whole numbers. Waits for the stream. */
void filtered::make_frame()
{
    uint32_t dims = points.dims;
    array<axis_range> ranges;
    std::vector<axis_range> parts((size_t) dims * RANGE_BLOCKS);
    std::vector<double> middle(dims);
    launch(find_ranges, dim3(RANGE_BLOCKS, most_of_grid(dims)), RANGE_THREADS, 0, stream,
           points, library, ranges.ensure(parts.size()));
    download(parts.data(), ranges.get(), parts.size(), stream);
    check(cudaStreamSynchronize(stream));
    std::vector<axis_range> axis(dims, axis_range{1e308, -1e308, 0, 2000});
    int unit = 2000;
    for (size_t i = 0; i < parts.size(); i++) {
        axis_range &a = axis[i / RANGE_BLOCKS];
        a.join(parts[i]);
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
    frame = {centre.upload(middle, stream),
             whole ? std::ldexp(1.0, -unit) : std::ldexp(1.0, 40 - exponent),
             whole ? whole_most : -1};
    check(cudaStreamSynchronize(stream));
}

}  // namespace

void search_all(exact_job job, array<near_place> *lists, cudaStream_t stream)
{
    uint32_t n = job.prediction.n, most_k = job.in.k + (job.in.n - 1) * job.in.more_k;
    if (n == 0 || job.in.n == 0)
        return;
    job.room = power_from(std::min(most_k, job.library.n) * 3 / 2 + 2 * WARP);
    size_t shared = (size_t) EXACT_WARPS * job.room * sizeof(near_place);
    dim3 grid(std::min(blocks_for(n, EXACT_WARPS), 1u << 16), most_of_grid(job.in.n));
    job.lists = nullptr;
    if (job.room > EXACT_SHARED) {
        size_t most = std::max<size_t>(free_memory() / 4 / shared, 1);
        grid.x = (unsigned) std::min<size_t>(grid.x, std::min<size_t>(most, 2048));
        grid.y = (unsigned) std::min<size_t>(grid.y, std::max<size_t>(most / grid.x, 1));
        job.lists = lists->ensure((size_t) grid.x * grid.y * EXACT_WARPS * job.room);
        shared = 0;
    }
    launch(search_exactly, grid, EXACT_WARPS * WARP, shared, stream, job);
}

/* ---- one number of dimensions ---- */

struct neighbour_search::work : filtered {
    array<float> half;
    array<double> norm;  /* of predicted rows */
    array<uint32_t> whole;
    array<row_state> state, state_again;

    work(const placed_points &p, const placed_rows &l, cudaStream_t s)
        : filtered(p, l, s, (p.dims + 1) & ~1u)
    {
        if (!filters(l.n, 1))
            return;
        allow_shared(filter_rows, sizeof(filter_shared));
        make_frame();
        uint32_t tiles = tiles_of(l.n);
        row_tiles to = {x.ensure((size_t) tiles * p.dims * TILE),
                        half.ensure((size_t) tiles * TILE), nullptr, nullptr};
        launch(fill_tiles, tiles, TILE, 0, s, p, l, frame, to,
               by_row.ensure((size_t) l.n * width));
        sort_places();
        number_points(p.dims, twin.ensure(l.n));
    }

    /* Tiles of predicted rows, and where these begin: with the limits that those that
       were lost had. */
    row_state *begin(const placed_rows &p, const uint32_t *lost, array<row_state> *into)
    {
        uint32_t tiles = tiles_of(p.n);
        row_tiles to = {of_x.ensure((size_t) tiles * points.dims * TILE), nullptr,
                        norm.ensure((size_t) tiles * TILE),
                        whole.ensure((size_t) tiles * TILE)};
        launch(fill_tiles, tiles, TILE, 0, stream, points, p, frame, to,
               (double *) nullptr);
        launch(begin_rows, blocks_for(p.n, 256), 256, 0, stream, into->ensure(p.n),
               norm.get(), p.n, lost, state.get());
        return into->get();
    }

    void find_filtered(const placed_rows &p, uint32_t k, uint32_t exclusion,
                       uint32_t first, const placed_neighbours &out)
    {
        uint32_t room = room_for(k);
        row_state *at = begin(p, nullptr, &state);
        choose_job choose = {choosing_of(p, room, first, out), norm.get(), whole.get(),
                             frame.scale, k, at};
        filter_job filter = {{x.get(), half.get(), nullptr, nullptr},
                             {of_x.get(), nullptr, nullptr, nullptr},
                             turn_of(p, exclusion), points.dims, twin.get(), at,
                             choose.list, room};
        choose.warps = std::min(8u, (uint32_t) (LIST_BYTES / choose_bytes(room)));
        auto turn = [&] {
            uint32_t n = filter.turn.predicted.n;
            launch(filter_rows, dim3(tiles_of(n), parts_of(filter.turn, processors)),
                   FILTER_THREADS, sizeof(filter_shared), stream, filter);
            launch(choose_nearest, blocks_for(n, choose.warps), choose.warps * WARP,
                   choose.warps * choose_bytes(room), stream, choose);
        };
        auto begin_again = [&](uint32_t n, uint32_t *numbers) -> spaces {
            launch(gather_lost, blocks_for(n, 256), 256, 0, stream, choose.lost_rows, n,
                   p, (const uint32_t *) nullptr, first, again.get(),
                   (uint32_t *) nullptr, numbers);
            filter.state = choose.state = begin({n, again.get()}, choose.lost_rows,
                                                &state_again);
            return {1, nullptr, points.dims, 0, nullptr, nullptr, k, 0};
        };
        search(&filter.turn, &choose, k, p.n, turn, begin_again);
    }
};

neighbour_search::neighbour_search(const placed_points &points,
                                   const placed_rows &library, cudaStream_t stream)
    : work_(new work(points, library, stream))
{
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
    double bytes = 12.0 * k;
    if (filtered)
        bytes += 4.0 * room_for(k) + 5.0 * w.points.dims + 64;
    return whole_tiles(std::min({0.05 * rate / pairs, 0.1 * free_memory() / bytes,
                                 (double) (filtered ? MOST_TOGETHER : EXACT_TOGETHER)}));
}

void neighbour_search::find(const placed_rows &prediction, uint32_t k, uint32_t exclusion,
                            const placed_neighbours &out)
{
    work &w = *work_;
    if (!filters(w.library.n, k)) {
        spaces in = {1, nullptr, w.points.dims, 0, nullptr, nullptr, k, 0};
        search_all({w.points, w.library, prediction, in, nullptr, nullptr, exclusion, k,
                    out, prediction.n}, &w.lists, w.stream);
        return;
    }
    for (uint32_t first = 0; first < prediction.n; first += MOST_TOGETHER) {
        uint32_t n = std::min<uint32_t>(MOST_TOGETHER, prediction.n - first);
        w.find_filtered({n, prediction.row + first}, k, exclusion, first, out);
    }
}

/* ---- all numbers of dimensions ---- */

struct sweep_search::work : filtered {
    const uint32_t *reach;  /* of the library */
    uint32_t E;
    array<row_limits> limits, limits_again;
    array<uint32_t> listed, lost, reach_again;

    work(const placed_points &p, const placed_reach &l, cudaStream_t s)
        : filtered(p, l.rows, s, (p.dims + SWEEP_STEP - 1) / SWEEP_STEP * SWEEP_STEP),
          reach(l.steps), E(p.dims)
    {
        allow_shared(filter_dimensions, sizeof(sweep_shared));
        make_frame();
        uint32_t tiles = tiles_of(library.n);
        launch(fill_sweep_tiles, tiles, TILE, 0, s, p, library, reach, E, frame,
               SWEEP_FAR, x.ensure((size_t) tiles * E * TILE),
               by_row.ensure((size_t) library.n * width), width);
        sort_places();
        twin.ensure((size_t) E * library.n);
        for (uint32_t e = 0; e < E; e++)
            number_points(e + 1, twin.get() + (size_t) e * library.n);
    }

    /* Tiles and limits of predicted rows. */
    row_limits *begin(const placed_reach &p, const uint32_t *lost_of,
                      array<row_limits> *into)
    {
        uint32_t tiles = tiles_of(p.rows.n);
        row_limits *at = into->ensure((size_t) tiles * E * TILE);
        launch(fill_sweep_tiles, tiles, TILE, 0, stream, points, p.rows, p.steps, E,
               frame, 0.0f, of_x.ensure((size_t) tiles * E * TILE), (double *) nullptr,
               width);
        launch(begin_dimensions, dim3(tiles, E), TILE, 0, stream, at, p.rows.n, p.steps,
               E, lost_of, limits.get());
        fill(listed.ensure(p.rows.n), 0, p.rows.n, stream);
        fill(lost.ensure(p.rows.n), 0, p.rows.n, stream);
        return at;
    }

    void find_some(const placed_reach &p, uint32_t exclusion, uint32_t first,
                   const placed_neighbours &out, uint32_t stride)
    {
        uint32_t room = room_for_all(E);
        row_limits *at = begin(p, nullptr, &limits);
        sweep_choose_job choose = {choosing_of(p.rows, room, first, out), p.steps, width,
                                   E, frame, at, listed.get(), 0, lost.get(), stride};
        sweep_filter_job filter = {x.get(), of_x.get(), turn_of(p.rows, exclusion), E, at,
                                   twin.get(), listed.get(), choose.list, room};
        auto turn = [&] {
            const tile_turn &t = filter.turn;
            launch(filter_dimensions,
                   dim3(tiles_of(t.predicted.n), parts_of(t, processors)),
                   FILTER_THREADS, sizeof(sweep_shared), stream, filter);
            choose.near_room = t.homes && t.from == t.to ? HOME_TILES * TILE : NEAR_ROOM;
            size_t bytes = sweep_bytes(room, choose.near_room);
            choose.warps = (uint32_t) std::max<size_t>(1, LIST_BYTES / bytes);
            launch(choose_dimensions, blocks_for(t.predicted.n, choose.warps),
                   choose.warps * WARP, choose.warps * bytes, stream, choose);
        };
        auto begin_again = [&](uint32_t n, uint32_t *numbers) -> spaces {
            launch(gather_lost, blocks_for(n, 256), 256, 0, stream, choose.lost_rows, n,
                   p.rows, p.steps, first, again.get(), reach_again.ensure(n), numbers);
            filter.limits = choose.limits = begin({{n, again.get()}, reach_again.get()},
                                                  choose.lost_rows, &limits_again);
            filter.predicted = of_x.get();
            choose.reach = reach_again.get();
            return {E, nullptr, 1, 1, reach, choose.reach, 2, 1};
        };
        search(&filter.turn, &choose, E + 1, stride, turn, begin_again);
    }
};

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
    : work_(new work(points, library, stream))
{
}

sweep_search::~sweep_search() = default;

uint32_t sweep_search::batch() const
{
    const work &w = *work_;
    double bytes = 4.0 * room_for_all(w.E) + w.E * (12.0 * (w.E + 1) + 40.0) + 100;
    return whole_tiles(std::min({0.05 * 5e12 / ((double) w.library.n * w.E),
                                 0.1 * free_memory() / bytes, (double) SWEEP_TOGETHER}));
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
