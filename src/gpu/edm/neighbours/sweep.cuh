/* Candidates for the nearest neighbours in all numbers of dimensions at once, and the
   nearest of them. */
#pragma once

#include "gpu/edm/neighbours/tiles.cuh"

#include <cfloat>

namespace gpu {

/* ---- candidates ---- */

/* Which library rows may be among the nearest in any number of dimensions E. As
   filter.cuh, but it adds squares of differences, and compares their sum with the limit
   of E after each coordinate. A row that is a candidate for any E is listed once. */

enum { SWEEP_DIMS = 20 };  /* most dimensions */

/* Coordinates of library rows that do not reach so far, and the limit of predicted rows
   that do not. */
constexpr float SWEEP_FAR = 3e18f, SWEEP_NEVER = -1;

struct sweep_filter_job {
    const float *library, *predicted;  /* [tiles][E][TILE] coordinates */
    tile_turn turn;
    uint32_t E;
    row_limits *limits;                /* [tiles][E][TILE] of squared distances */
    const uint32_t *twin;              /* [E][library] */
    uint32_t *listed, *list;           /* [predicted], [predicted][room] */
    uint32_t room;
};

struct sweep_shared {
    float x[SWEEP_DIMS][TILE];
    float y[2][SWEEP_DIMS][TILE];
    float limit[2][SWEEP_DIMS][TILE];  /* for a tile of the library */
    float limit_of[SWEEP_DIMS][TILE], beyond_of[SWEEP_DIMS][TILE];
    uint32_t rank_of[SWEEP_DIMS][TILE];
    uint32_t row[TILE], ties[TILE];    /* whether ties matter to a row */
    pending_rows pending;
};

struct sweep_walk {
    const sweep_filter_job &job;
    sweep_shared &s;
    home_tiles home;

    /* What does not change from tile to tile. */
    __device__ void begin() const
    {
        size_t from = (size_t) blockIdx.x * job.E * TILE;
        float *x = (float *) s.x, *limit = (float *) s.limit_of;
        float *beyond = (float *) s.beyond_of;
        uint32_t *rank = (uint32_t *) s.rank_of;
        for (uint32_t i = threadIdx.x; i < job.E * TILE; i += FILTER_THREADS) {
            const row_limits &of = job.limits[from + i];
            x[i] = job.predicted[from + i];
            limit[i] = of.limit;
            beyond[i] = of.beyond;
            rank[i] = of.rank;
        }
        uint32_t at = blockIdx.x * TILE + threadIdx.x;
        if (threadIdx.x < TILE)
            s.row[threadIdx.x] =
                at < job.turn.predicted.n ? job.turn.predicted.row[at] : 0;
        s.pending.start();
        __syncthreads();
        if (threadIdx.x < TILE) {
            uint32_t q = threadIdx.x, any = 0;
            for (uint32_t e = 0; e < job.E; e++)
                any |= s.beyond_of[e][q] != s.limit_of[e][q];
            s.ties[q] = any;
        }
        __syncthreads();
    }

    __device__ void load(const turn_place &at, uint32_t b) const
    {
        if (at.more) {
            size_t from = (size_t) at.tile * job.E * TILE;
            uint32_t q = threadIdx.x % TILE;
            copy_floats((float *) s.y[b], job.library + from, job.E * TILE);
            uint32_t soon = s.ties[q] ? tile_after(job.turn, at.tile,
                                                   syn_row_rank(s.row[q])) : 0;
            for (uint32_t e = threadIdx.x / TILE; e < job.E; e += FILTER_THREADS / TILE)
                s.limit[b][e][q] =
                    soon > s.rank_of[e][q] ? s.beyond_of[e][q] : s.limit_of[e][q];
        }
        close_copies();
    }

    /* Whether a row is as near as its limit says with any number of dimensions, and, if
       it is where the k-th neighbour is, comes no later in the order of ties. */
    __device__ bool wanted(uint32_t query, uint32_t place) const
    {
        uint32_t row = job.turn.library.row[place];
        uint32_t rank = syn_rank_after(row, syn_row_rank(s.row[query]));
        size_t tile = (size_t) (place / TILE) * job.E * TILE;
        const float *y = job.library + tile + place % TILE;
        float sum = 0;
        if (rows_apart(row, s.row[query]) <= job.turn.exclusion)
            return false;
        for (uint32_t e = 0; e < job.E; e++) {
            bool later = rank > s.rank_of[e][query];
            float gap = s.x[e][query] - y[e * TILE];
            sum = fmaf(gap, gap, sum);
            if (sum > (later ? s.beyond_of : s.limit_of)[e][query])
                continue;
            size_t of = ((size_t) blockIdx.x * job.E + e) * TILE + query;
            if (!later || job.twin[(size_t) e * job.turn.library.n + place] !=
                              job.limits[of].twin)
                return true;
        }
        return false;
    }

    __device__ void list(uint32_t query, uint32_t place) const
    {
        if (!wanted(query, place))
            return;
        uint32_t i = blockIdx.x * TILE + query;
        uint32_t at = atomicAdd(&job.listed[i], 1u);
        if (at < job.room)
            job.list[(size_t) i * job.room + at] = place;
    }
};

/* The bits of the least of numbers that are not negative: they are in their order. */
__device__ inline int least_of_eight(const float (&of)[8])
{
    int least = __float_as_int(of[0]);
    SYN_UNROLL(j, 3)
        least = least_of_three(least, __float_as_int(of[2 * j + 1]),
                               __float_as_int(of[2 * j + 2]));
    return min(least, __float_as_int(of[7]));
}

__global__ void __launch_bounds__(FILTER_THREADS, 2)
    filter_dimensions(SYN_GPU_JOB sweep_filter_job job)
{
    extern __shared__ float4 sweep_memory[];
    sweep_shared &s = *(sweep_shared *) sweep_memory;
    sweep_walk walk = {job, s, home_of(job.turn, blockIdx.x)};
    thread_place own = place_of_thread();
    auto list = [&](uint32_t query, uint32_t place) { walk.list(query, place); };
    walk.begin();
    turn_place at = tile_from(job.turn, walk.home, job.turn.from + blockIdx.y);
    walk.load(at, 0);
    float sum[8][8], x[8], y[8], limit[8];
    for (uint32_t b = 0; at.more; b ^= 1) {
        wait_for_all_copies();
        if (s.pending.full_after_barrier())
            s.pending.flush(list);
        turn_place later = tile_from(job.turn, walk.home, at.turn + gridDim.y);
        walk.load(later, b ^ 1);
        uint32_t pass[2] = {0, 0};
        SYN_UNROLL(i, 8)
            SYN_UNROLL(j, 8)
                sum[i][j] = 0;
        for (uint32_t e = 0; e < job.E; e++) {
            get_eight(x, s.x[e] + own.query);
            get_eight(y, s.y[b][e] + own.column);
            get_eight(limit, s.limit[b][e] + own.query);
            SYN_UNROLL(i, 8) {
                SYN_UNROLL(j, 8) {
                    float gap = x[i] - y[j];
                    sum[i][j] = fmaf(gap, gap, sum[i][j]);
                }
                if (least_of_eight(sum[i]) <= __float_as_int(limit[i]))
                    SYN_UNROLL(j, 8)
                        pass[i / 4] |= (uint32_t) (sum[i][j] <= limit[i])
                                       << (i % 4 * 8 + j);
            }
        }
        s.pending.add(pass, own, at.tile, list);
        at = later;
    }
    __syncthreads();
    s.pending.flush(list);
}

/* ---- the nearest ---- */

/* The nearest of the candidates that the filter has listed, in each number of dimensions:
   a warp takes a predicted row, adds up its candidates' distances four coordinates at a
   time, and picks out those that are near enough with each of them. */

enum { SWEEP_STEP = 4 };  /* coordinates at a time */

/* `by_row` is infinite where a row does not reach; `twin` is [E][library], `out`
   [E][stride][E + 1]. */
struct sweep_choose_job : choosing {
    const uint32_t *reach;   /* [predicted] the largest E of each */
    uint32_t width;          /* E, made a multiple of SWEEP_STEP */
    uint32_t E;
    filter_frame frame;
    row_limits *limits;
    uint32_t *listed;
    uint32_t near_room;      /* of those that are near enough with one E */
    uint32_t *lost;          /* [predicted] whether any list was too short */
    uint32_t stride;
};

/* What a warp has in shared memory: so little that many warps are under way, as each
   waits for others most of the time. */
struct sweep_memory_of {
    double *sum;      /* [room] */
    double *squared;  /* [SWEEP_STEP][near_room] */
    uint32_t *keep;   /* [room / WARP] */
    uint16_t *near;   /* [SWEEP_STEP][near_room] numbers of candidates */

    __device__ sweep_memory_of(double *at, uint32_t room, uint32_t near_room)
        : sum(at), squared(sum + room),
          keep((uint32_t *) (squared + SWEEP_STEP * near_room)),
          near((uint16_t *) (keep + room / WARP))
    {
    }
};

__host__ __device__ inline size_t sweep_bytes(uint32_t room, uint32_t near_room)
{
    size_t doubles = room + SWEEP_STEP * near_room;
    size_t bytes = room / WARP * sizeof(uint32_t) +
                   SWEEP_STEP * near_room * sizeof(uint16_t);
    return (doubles + (bytes + sizeof(double) - 1) / sizeof(double)) * sizeof(double);
}

/* The limit of candidates with E = dims, with what rounding may add to the squared
   distance. */
__device__ inline float sweep_limit_of(double squared, double scale, double norm,
                                       bool whole, uint32_t dims)
{
    const double off = 5.97e-8, most = 1e36;
    double scaled = squared * scale * scale;
    if (!(scaled < most))
        return (float) most;
    if (whole)
        return (float) scaled;
    double d = sqrt(scaled) * (1 + 3e-16 * (dims + 4));
    d += off * (2 * sqrt(norm) + d) + dims * 1e-40;
    double limit = d * d * (1 + 1.01 * off * (dims + 4)) + dims * 1e-40;
    return limit < most ? __double2float_ru(limit) : (float) most;
}

struct sweep_chooser {
    const sweep_choose_job &job;
    sweep_memory_of m;
    uint32_t i, row, n, lane;
    uint32_t *list;  /* [room] places of the candidates */
    double norm;     /* of lane e: the squared norm of the first e + 1 coordinates */
    uint32_t rough;  /* bits of coordinates that are not whole */
    bool lost;

    __device__ row_limits &limits(uint32_t e) const
    {
        return job.limits[((size_t) (i / TILE) * job.E + e) * TILE + i % TILE];
    }

    /* The norms. Whether the filter can take the row, in its first `E` coordinates. */
    __device__ bool measure(uint32_t E)
    {
        bool in = lane < E;
        double x = in ? job.points.coordinate[(size_t) lane * job.points.rows + row] : 0;
        double v = in ? (x - job.frame.centre[lane]) * job.frame.scale : 0;
        bool whole = rint(v) == v && fabs(v) <= job.frame.whole_most;
        rough = __ballot_sync(WHOLE_WARP, !whole);
        norm = v * v;
        for (int o = 1; o < WARP; o *= 2) {
            double other = __shfl_up_sync(WHOLE_WARP, norm, o);
            norm += lane >= (uint32_t) o ? other : 0;
        }
        return __all_sync(WHOLE_WARP, fabs(v) <= FRAME_MOST);
    }

    __device__ void read()
    {
        uint32_t listed = job.listed[i];
        lost = lost || listed > job.room;
        n = min(listed, job.room);
        list = job.list + (size_t) i * job.room;
        for (uint32_t c = lane; c < n; c += WARP)
            m.sum[c] = 0;
        for (uint32_t c = lane; c < job.room / WARP; c += WARP)
            m.keep[c] = 0;
        __syncwarp();
    }

    /* Adds up to SWEEP_STEP coordinates from `from` on, and notes which candidates are
       near enough after each: `near` of them. */
    __device__ void add(uint32_t from, uint32_t E, uint32_t (&near)[SWEEP_STEP])
    {
        double x[SWEEP_STEP], limit[SWEEP_STEP];
        uint32_t rank_most[SWEEP_STEP];
        SYN_UNROLL(j, SWEEP_STEP) {
            bool in = from + j < E;
            size_t axis = (size_t) (from + j) * job.points.rows;
            x[j] = in ? job.points.coordinate[axis + row] : 0;
            limit[j] = in ? limits(from + j).squared : -1;
            rank_most[j] = in ? limits(from + j).rank : 0;
            near[j] = 0;
        }
        /* Coordinates come from far: those of the next candidates are on their way. */
        double2 front, back, next_front, next_back;
        auto fetch = [&](uint32_t start, double2 *a, double2 *b) {
            uint32_t place = start + lane < n ? list[start + lane] : 0;
            const double2 *y = (const double2 *) (job.by_row + from +
                                                  (size_t) place * job.width);
            *a = y[0];
            *b = y[1];
        };
        fetch(0, &front, &back);
        for (uint32_t start = 0; start < n; start += WARP, front = next_front,
                      back = next_back) {
            uint32_t c = start + lane;
            bool there = c < n;
            double sum = there ? m.sum[c] : 0;
            fetch(start + WARP, &next_front, &next_back);
            double at[SWEEP_STEP] = {front.x, front.y, back.x, back.y};
            SYN_UNROLL(j, SWEEP_STEP) {
                sum = add_square(sum, at[j], x[j]);
                bool in = there && sum <= limit[j];
                if (in && sum == limit[j])
                    in = job.rank_of(list[c], row) <= rank_most[j];
                uint32_t all = __ballot_sync(WHOLE_WARP, in);
                uint32_t to = near[j] + __popc(all & lanes_below());
                if (in && to < job.near_room) {
                    m.squared[j * job.near_room + to] = sum;
                    m.near[j * job.near_room + to] = (uint16_t) c;
                }
                near[j] += __popc(all);
            }
            if (there)
                m.sum[c] = sum;
        }
        __syncwarp();
    }

    __device__ void go_on(uint32_t e, double squared, uint32_t rank, uint32_t twin) const
    {
        row_limits &of = limits(e);
        of.squared = squared;
        of.rank = rank;
        of.twin = twin;
    }

    /* The limits that follow from go_on(), a lane for each number of dimensions. */
    __device__ void set_limits(uint32_t E) const
    {
        row_limits &own = limits(lane);
        double squared = lane < E ? own.squared : DBL_MAX;
        if (!(squared < DBL_MAX))
            return;
        bool whole = job.frame.whole_most >= 0 && !(rough & ((2u << lane) - 1));
        own.limit = sweep_limit_of(squared, job.frame.scale, norm, whole, lane + 1);
        own.beyond = squared == 0 ? SWEEP_NEVER
                     : whole ? nextafterf(own.limit, -1) : own.limit;
    }

    __device__ void stay(uint32_t c) const
    {
        atomicOr(&m.keep[c / WARP], 1u << c % WARP);
    }

    /* The nearest with e + 1 dimensions, of those that are near enough. */
    __device__ void choose(uint32_t e, uint32_t j, uint32_t near)
    {
        lost = lost || near > job.near_room;
        near_list<uint16_t> of_e = {m.squared + j * job.near_room,
                                    m.near + j * job.near_room};
        auto at_place = [&](uint32_t c) { return list[c]; };
        auto rank = [&](uint32_t place) { return job.rank_of(place, row); };
        nearest_of nearest{of_e, min(near, job.near_room), at_place, rank};
        uint32_t k = e + 2;
        size_t to = (size_t) e * job.stride + job.number_of(i);
        double most = 0;
        nearest.cut(k, job.last ? FEW_MORE : few_beyond(k));
        /* As in choose_nearest(), a turn that is not the last needs no order. */
        if (!job.last && nearest.n >= k)
            most = nearest.farthest();
        if (most > 0) {
            for (uint32_t at = lane; at < nearest.n; at += WARP)
                stay(of_e.place[at]);
            if (lane == 0)
                go_on(e, most, ~0u, ~0u);
            __syncwarp();
            return;
        }
        uint32_t found = nearest.each(k, [&](uint32_t at, const near_place &near,
                                             uint32_t c) {
            if (job.last && !lost) {
                job.out.row[to * (job.E + 1) + at] = job.library_rows.row[near.place];
                job.out.distance[to * (job.E + 1) + at] = __dsqrt_rn(near.squared);
                return;
            }
            stay(c);
            if (at + 1 == k)
                go_on(e, near.squared, near.rank,
                      job.twin[(size_t) e * job.library_rows.n + near.place]);
        });
        if (job.last && lane == 0)
            job.out.found[to] = found;
    }

    /* The neighbours of all E begin the next turn's list. */
    __device__ void write()
    {
        uint32_t kept = 0;
        __syncwarp();
        for (uint32_t start = 0; start < n; start += WARP) {
            uint32_t all = m.keep[start / WARP];
            uint32_t place = start + lane < n ? list[start + lane] : 0;
            __syncwarp();
            if (all >> lane & 1)
                list[kept + __popc(all & lanes_below())] = place;
            kept += __popc(all);
        }
        if (lane == 0)
            job.listed[i] = kept;
    }

    __device__ void run()
    {
        uint32_t E = min(job.reach[i], job.E);
        bool takes = measure(E);
        lost = job.lost[i] || !takes;
        read();
        uint32_t near[SWEEP_STEP];
        for (uint32_t from = 0; from < E; from += SWEEP_STEP) {
            add(from, E, near);
            SYN_UNROLL(j, SWEEP_STEP)
                if (from + j < E)
                    choose(from + j, j, near[j]);
            __syncwarp();
        }
        if (job.last)
            for (uint32_t e = E + lane; e < job.E; e += WARP)
                job.out.found[(size_t) e * job.stride + job.number_of(i)] = 0;
        if (!job.last)
            write();
        if (!job.last || lost)
            set_limits(E);
        if (lane == 0)
            job.lost[i] = lost;
        if (job.last && lost && lane == 0)
            job.lost_rows[atomicAdd(job.n_lost, 1u)] = i;
    }
};

static __global__ void choose_dimensions(SYN_GPU_JOB sweep_choose_job job)
{
    extern __shared__ double sweep_lists[];
    uint32_t warp = threadIdx.x / WARP, i = blockIdx.x * job.warps + warp;
    if (i >= job.predicted_rows.n)
        return;
    size_t bytes = sweep_bytes(job.room, job.near_room);
    double *memory = sweep_lists + warp * (bytes / sizeof(double));
    sweep_chooser chooser = {job, {memory, job.room, job.near_room}, i,
                             job.predicted_rows.row[i], 0, threadIdx.x % WARP, nullptr};
    chooser.run();
}

/* ---- before the first turn ---- */

/* Tiles of rows of a library or predicted, a thread a row; those of a library also in
   double precision. */
static __global__ void fill_sweep_tiles(placed_points points, placed_rows rows,
                                 const uint32_t *reach, uint32_t E, filter_frame frame,
                                 float far, float *out, double *by_row, uint32_t width)
{
    uint32_t i = blockIdx.x * TILE + threadIdx.x;
    bool there = i < rows.n;
    uint32_t row = there ? rows.row[i] : 0, reaches = there ? reach[i] : 0;
    for (uint32_t d = 0; d < E; d++) {
        bool in = d < reaches;
        double x = in ? points.coordinate[(size_t) d * points.rows + row] : INFINITY;
        double v = in ? (x - frame.centre[d]) * frame.scale : 0;
        out[((size_t) blockIdx.x * E + d) * TILE + threadIdx.x] =
            !in ? far : fabs(v) <= FRAME_MOST ? (float) v : 0;
        if (by_row && there)
            by_row[(size_t) i * width + d] = x;
    }
    for (uint32_t d = E; by_row && there && d < width; d++)
        by_row[(size_t) i * width + d] = 0;
}

/* Nothing is known of any row, or, with `lost`, what was known of those. A thread a row
   and number of dimensions. */
static __global__ void begin_dimensions(row_limits *limits, uint32_t n,
                                        const uint32_t *reach, uint32_t E,
                                        const uint32_t *lost, const row_limits *before)
{
    uint32_t i = blockIdx.x * TILE + threadIdx.x, e = blockIdx.y;
    size_t at = ((size_t) blockIdx.x * E + e) * TILE + threadIdx.x;
    bool in = i < n && e < reach[i];
    float most = in ? 1e36f : SWEEP_NEVER;
    row_limits now = {most, most, DBL_MAX, ~0u, ~0u};
    if (lost && in)
        now = before[((size_t) (lost[i] / TILE) * E + e) * TILE + lost[i] % TILE];
    limits[at] = now;
}

}  // namespace gpu
