/* Candidates for the nearest neighbours in one number of dimensions, and the nearest of
   them. */
#pragma once

#include "gpu/edm/neighbours/tiles.cuh"

#include <cfloat>

namespace gpu {

/* ---- candidates ---- */

/* Which library rows may be among the nearest: pairs of rows in single precision.

   x and y are a predicted and a library row, moved to the middle of the library. As
   |x - y|^2 / 2 = |x|^2 / 2 - (x.y - |y|^2 / 2), a row is a candidate if x.y - |y|^2 / 2
   reaches a limit that belongs to x alone: one multiplication and addition a coordinate.
   The limit stands for the k-th distance so far, less all that rounding may do
   (limit_of()).

   A block takes 128 predicted rows and goes through tiles of 128 library rows, a thread
   8 by 8 of them. Candidates go to the predicted row's list. Tiles are searched in
   turns, each a few times as many as those before; after a turn the candidates'
   distances in double precision give new limits (choose_nearest()). So lists stay short.
   First come the tiles near in time, then others, evenly spread.

   Of rows that are as near as the k-th, only those matter that come before it in the
   order of ties (core/base/rank.h), which few tiles have after the first turns. Where
   no number is rounded, as with counts, the filter sees which are as near. If the k-th
   is at the very point that is predicted, no other is nearer. Library rows with the
   same coordinates share a number (number_twins()), by which the filter knows those
   that tie with the k-th neighbour. So ties make lists no longer. */

enum {
    FILTER_DIMS = 20,  /* most coordinates that are compared in one go */
    FILTER_CHUNK = 12, /* or so many at a time */
    FILTER_BUFFERS = 3
};

struct row_state : row_limits {
    uint32_t listed;  /* candidates, perhaps more than there is room for */
    uint32_t lost;    /* whether there have been more */
};

struct filter_job {
    row_tiles library, predicted;  /* tiles of each */
    tile_turn turn;
    uint32_t dims;
    const uint32_t *twin;/* [library] */
    row_state *state;    /* [predicted] */
    uint32_t *list;      /* [predicted][room] places in the library */
    uint32_t room;
};

struct filter_shared {
    float x[FILTER_DIMS * (1 + FILTER_BUFFERS)][TILE];  /* coordinates of both */
    float half[FILTER_BUFFERS][TILE];
    float limit[FILTER_BUFFERS][TILE];  /* for a tile of the library */
    float limit_of[TILE], beyond_of[TILE];
    uint32_t rank_of[TILE], twin_of[TILE], row[TILE];
    pending_rows pending;
};

/* Where a block is: a tile of the library, and coordinates. */
struct filter_place {
    turn_place at;
    uint32_t dim;
    uint32_t slot;  /* 0, 1, 2, 0, 1, ... from tile to tile */
};

struct filter_walk {
    const filter_job &job;
    filter_shared &s;
    home_tiles home;

    /* Predicted rows' coordinates stay where they are if there are few. */
    __device__ bool few() const { return job.dims <= FILTER_DIMS; }

    __device__ uint32_t chunk() const { return few() ? job.dims : FILTER_CHUNK; }

    __device__ float (*of_x(uint32_t b) const)[TILE]
    {
        return s.x + (few() ? 0 : b * FILTER_CHUNK);
    }

    __device__ float (*of_y(uint32_t b) const)[TILE]
    {
        return s.x + (few() ? (b + 1) * FILTER_DIMS
                            : (b + FILTER_BUFFERS) * FILTER_CHUNK);
    }

    __device__ filter_place first(uint32_t turn, uint32_t slot) const
    {
        return {tile_from(job.turn, home, turn), 0, slot};
    }

    __device__ filter_place next(const filter_place &p) const
    {
        if (p.dim + chunk() < job.dims)
            return {p.at, p.dim + chunk(), p.slot};
        return first(p.at.turn + gridDim.y, (p.slot + 1) % FILTER_BUFFERS);
    }

    __device__ uint32_t width(const filter_place &p) const
    {
        return min(chunk(), job.dims - p.dim);
    }

    /* Begins to copy a chunk into one of the buffers. */
    __device__ void load(const filter_place &p, uint32_t b, bool with_x) const
    {
        if (p.at.more) {
            size_t from = ((size_t) p.at.tile * job.dims + p.dim) * TILE;
            size_t from_x = ((size_t) blockIdx.x * job.dims + p.dim) * TILE;
            copy_floats((float *) of_y(b), job.library.x + from, width(p) * TILE);
            if (with_x)
                copy_floats((float *) of_x(b), job.predicted.x + from_x, width(p) * TILE);
            if (p.dim == 0) {
                copy_floats(s.half[p.slot], job.library.half + (size_t) p.at.tile * TILE,
                            TILE);
                uint32_t i = threadIdx.x;
                if (i < TILE) {
                    bool beyond = s.beyond_of[i] != s.limit_of[i] &&
                                  tile_after(job.turn, p.at.tile,
                                             syn_row_rank(s.row[i])) > s.rank_of[i];
                    s.limit[p.slot][i] = beyond ? s.beyond_of[i] : s.limit_of[i];
                }
            }
        }
        close_copies();
    }

    /* Whether a row that comes after the k-th if it is as near may be nearer. */
    __device__ bool may_be_nearer(uint32_t query, uint32_t place) const
    {
        float beyond = s.beyond_of[query];
        if (beyond == INFINITY || job.twin[place] == s.twin_of[query])
            return false;
        if (beyond == s.limit_of[query])
            return true;
        uint64_t y = (uint64_t) (place - place % TILE) * job.dims + place % TILE;
        uint32_t x = blockIdx.x * job.dims * TILE + query;
        float sum = job.library.half[place];
#pragma unroll 1
        for (uint32_t d = 0; d < job.dims; d++)
            sum = fmaf(job.predicted.x[x + d * TILE], job.library.x[y + d * TILE], sum);
        return sum >= beyond;
    }

    __device__ void list(uint32_t query, uint32_t place) const
    {
        uint32_t row = job.turn.library.row[place];
        if (rows_apart(row, s.row[query]) <= job.turn.exclusion ||
            (syn_rank_after(row, syn_row_rank(s.row[query])) > s.rank_of[query] &&
             !may_be_nearer(query, place)))
            return;
        uint32_t i = blockIdx.x * TILE + query;
        uint32_t at = atomicAdd(&job.state[i].listed, 1u);
        if (at < job.room)
            job.list[(size_t) i * job.room + at] = place;
    }

};

__global__ void __launch_bounds__(FILTER_THREADS, 2)
    filter_rows(SYN_GPU_JOB filter_job job)
{
    extern __shared__ float4 filter_memory[];
    filter_shared &s = *(filter_shared *) filter_memory;
    filter_walk walk = {job, s, home_of(job.turn, blockIdx.x)};
    thread_place own = place_of_thread();
    auto list = [&](uint32_t query, uint32_t place) { walk.list(query, place); };
    if (threadIdx.x < TILE) {
        uint32_t i = blockIdx.x * TILE + threadIdx.x;
        bool there = i < job.turn.predicted.n;
        row_limits none = {INFINITY, INFINITY}, now = there ? job.state[i] : none;
        s.limit_of[threadIdx.x] = now.limit;
        s.beyond_of[threadIdx.x] = now.beyond;
        s.rank_of[threadIdx.x] = now.rank;
        s.twin_of[threadIdx.x] = now.twin;
        s.row[threadIdx.x] = there ? job.turn.predicted.row[i] : 0;
    }
    s.pending.start();
    __syncthreads();
    filter_place at = walk.first(job.turn.from + blockIdx.y, 0);
    walk.load(at, 0, true);
    filter_place later = at.at.more ? walk.next(at) : at;
    walk.load(later, 1, !walk.few());
    float sum[8][8], x[8], y[8];
    for (uint32_t b = 0; at.at.more; b = (b + 1) % FILTER_BUFFERS) {
        wait_for_copies();
        if (s.pending.full_after_barrier())
            s.pending.flush(list);
        filter_place last = later.at.more ? walk.next(later) : later;
        walk.load(last, (b + 2) % FILTER_BUFFERS, !walk.few());
        uint32_t width = walk.width(at);
        const float (*of_x)[TILE] = walk.of_x(b), (*of_y)[TILE] = walk.of_y(b);
        if (at.dim == 0) {
            get_eight(y, s.half[at.slot] + own.column);
            SYN_UNROLL(i, 8)
                SYN_UNROLL(j, 8)
                    sum[i][j] = y[j];
        }
#pragma unroll 4
        for (uint32_t d = 0; d < width; d++) {
            get_eight(x, of_x[d] + own.query);
            get_eight(y, of_y[d] + own.column);
            SYN_UNROLL(i, 8)
                SYN_UNROLL(j, 8)
                    sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
        }
        if (at.dim + width == job.dims) {
            get_eight(x, s.limit[at.slot] + own.query);
            uint32_t pass[2] = {0, 0};
            SYN_UNROLL(i, 8) {
                bool any = false;
                SYN_UNROLL(j, 8)
                    any = any || sum[i][j] >= x[i];
                if (any)
                    SYN_UNROLL(j, 8)
                        pass[i / 4] |= (uint32_t) (sum[i][j] >= x[i]) << (i % 4 * 8 + j);
            }
            s.pending.add(pass, own, at.at.tile, list);
        }
        at = later;
        later = last;
    }
    __syncthreads();
    s.pending.flush(list);
}

/* ---- the nearest ---- */

/* The nearest of the candidates that the filter has listed, by their distances in double
   precision, and the limits of the next turn. */

struct choose_job : choosing {
    const double *norm;     /* [predicted] see row_tiles */
    const uint32_t *whole;
    double scale;           /* of filter_frame */
    uint32_t k;
    row_state *state;
};

/* What a warp needs of shared memory for lists of so many. */
__host__ __device__ inline size_t choose_bytes(uint32_t room)
{
    return (size_t) room * (sizeof(double) + sizeof(uint32_t));
}

/* The limit for candidates as near as `squared`. The filter multiplies and adds `dims`
   numbers, none larger than the sum of their sizes, and each time is off by 2^-24 of
   that; so are its coordinates, of themselves. */
__device__ inline float limit_of(double squared, double scale, double norm, bool whole,
                                 uint32_t dims)
{
    if (!(squared < 1e300))
        return -FLT_MAX;
    double scaled = squared * scale * scale;
    if (whole)
        return __double2float_rd((norm - scaled) / 2);
    double apart = sqrt(scaled) * (1 + 3e-16 * (dims + 4));
    apart = apart + 5.97e-8 * (2 * sqrt(norm) + apart) + dims * 1e-40;
    double of_y = sqrt(norm) + apart;
    double sums = sqrt(norm) * of_y + of_y * of_y / 2, off = 5.97e-8 * (dims + 4);
    double limit = (norm - apart * apart) / 2 - off / (1 - off) * sums * 1.001 -
                   dims * 1e-40;
    return limit > -FLT_MAX ? __double2float_rd(limit) : -FLT_MAX;
}

struct choose_walk {
    const choose_job &job;
    uint32_t i, row;
    near_list<uint32_t> near;

    __device__ double squared(uint32_t place) const
    {
        uint32_t dims = job.points.dims, width = (dims + 1) / 2;
        const double2 *y = (const double2 *) job.by_row + (size_t) place * width;
        const double *x = job.points.coordinate + row;
        double sum = 0;
        for (uint32_t d = 0; d < dims; d += 2) {
            double2 both = y[d / 2];
            sum = add_square(sum, both.x, x[(size_t) d * job.points.rows]);
            if (d + 1 < dims)
                sum = add_square(sum, both.y, x[(size_t) (d + 1) * job.points.rows]);
        }
        return sum;
    }

    /* Gathers those of the list that may be among the nearest. */
    __device__ uint32_t gather(const row_state &now) const
    {
        const uint32_t *list = job.list + (size_t) i * job.room;
        uint32_t n = min(now.listed, job.room), kept = 0, lane = threadIdx.x % WARP;
        for (uint32_t from = 0; from < n; from += WARP) {
            bool there = from + lane < n;
            uint32_t place = there ? list[from + lane] : 0;
            double d = there ? squared(place) : 0;
            there = there && (d < now.squared ||
                              (d == now.squared && job.rank_of(place, row) <= now.rank));
            uint32_t all = __ballot_sync(WHOLE_WARP, there);
            if (there) {
                uint32_t at = kept + __popc(all & lanes_below());
                near.squared[at] = d;
                near.place[at] = place;
            }
            kept += __popc(all);
        }
        __syncwarp();
        return kept;
    }
};

static __global__ void choose_nearest(SYN_GPU_JOB choose_job job)
{
    extern __shared__ double choose_memory[];
    uint32_t warp = threadIdx.x / WARP, i = blockIdx.x * job.warps + warp;
    if (i >= job.predicted_rows.n)
        return;
    double *memory = choose_memory + warp * (choose_bytes(job.room) / sizeof(double));
    choose_walk walk = {job, i, job.predicted_rows.row[i],
                        {memory, (uint32_t *) (memory + job.room)}};
    row_state now = job.state[i];
    __syncwarp();
    now.lost |= now.listed > job.room || job.norm[i] < 0;
    if (now.lost && job.last) {
        if (threadIdx.x % WARP == 0)
            job.lost_rows[atomicAdd(job.n_lost, 1u)] = i;
        if (job.norm[i] < 0)
            return;
    }
    uint32_t kept = walk.gather(now);
    auto place = [](uint32_t listed) { return listed; };
    auto rank = [&](uint32_t place) { return job.rank_of(place, walk.row); };
    nearest_of nearest{walk.near, kept, place, rank};
    nearest.cut(job.k, job.last ? FEW_MORE : few_beyond(job.k));
    bool whole = job.whole[i], hand_out = job.last && !now.lost;
    auto go_on = [&](double squared, uint32_t rank, uint32_t twin, uint32_t listed) {
        row_state next = now;
        next.squared = squared;
        next.rank = rank;
        next.twin = twin;
        next.limit = limit_of(squared, job.scale, job.norm[i], whole, job.points.dims);
        next.beyond = whole ? nextafterf(next.limit, INFINITY) : next.limit;
        if (squared == 0)
            next.beyond = INFINITY;
        next.listed = listed;
        job.state[i] = next;
    };
    /* A turn that is not the last need not put them in order: the farthest of a few more
       than k gives the limits as well, unless it ties with others. */
    if (!job.last && nearest.n >= job.k) {
        double most = nearest.farthest();
        if (most > 0) {
            for (uint32_t at = threadIdx.x % WARP; at < nearest.n; at += WARP)
                job.list[(size_t) i * job.room + at] = walk.near.place[at];
            if (threadIdx.x % WARP == 0)
                go_on(most, ~0u, ~0u, nearest.n);
            return;
        }
    }
    /* The best so far begin the next turn's list; the k-th gives the limits. */
    auto sink = [&](uint32_t at, const near_place &near, uint32_t) {
        if (hand_out) {
            size_t to = (size_t) job.number_of(i) * job.k + at;
            job.out.row[to] = job.library_rows.row[near.place];
            job.out.distance[to] = __dsqrt_rn(near.squared);
            return;
        }
        job.list[(size_t) i * job.room + at] = near.place;
        if (at + 1 == job.k)
            go_on(near.squared, near.rank, job.twin[near.place], job.k);
    };
    uint32_t n = nearest.each(job.k, sink);
    if (threadIdx.x % WARP > 0)
        return;
    if (job.last)
        job.out.found[job.number_of(i)] = n;
    if (n < job.k) {
        job.state[i].listed = n;
        job.state[i].lost = now.lost;
    }
}

/* Nothing is known of any row, or, with `lost`, the limits of those are. */
static __global__ void begin_rows(row_state *state, const double *norm, uint32_t n,
                                  const uint32_t *lost, const row_state *before)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float limit = norm[i] < 0 ? INFINITY : -FLT_MAX;
    row_state now = {{limit, limit, DBL_MAX, ~0u, ~0u}, 0, norm[i] < 0};
    if (lost) {
        now = before[lost[i]];
        now.listed = now.lost = 0;
    }
    state[i] = now;
}

}  // namespace gpu
