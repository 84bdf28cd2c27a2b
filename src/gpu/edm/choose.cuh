/* The nearest of the candidates that the filter has listed, by their distances in double
   precision, and the limits of the next turn. */
#ifndef SYN_GPU_EDM_CHOOSE_CUH
#define SYN_GPU_EDM_CHOOSE_CUH

#include "gpu/edm/filter.cuh"
#include "gpu/edm/nearest.cuh"

namespace gpu {

struct choose_job {
    placed_points points;
    placed_rows library_rows, predicted_rows;
    const double *by_row;  /* [library][dims, made even] coordinates */
    const double *norm;    /* [predicted] see row_tiles */
    const uint32_t *whole;
    double scale;          /* of filter_frame */
    uint32_t k;
    row_state *state;
    uint32_t *list;
    uint32_t room;
    uint32_t warps;        /* of a block */
    const uint32_t *twin;  /* [library] */
    uint32_t first;        /* number of the first predicted row in `out`, */
    const uint32_t *number;/* or those of all of them; may be NULL */
    bool last;             /* the neighbours are wanted, not limits */
    placed_neighbours out;
    uint32_t *lost, *n_lost;
};

/* What a warp needs of shared memory for lists of so many. */
__host__ __device__ inline size_t choose_bytes(uint32_t room)
{
    return (size_t) room * (sizeof(double) + sizeof(uint32_t));
}

/* How far apart two points may be in the filter's coordinates, which are off by 2^-24 of
   themselves: the root of `scaled` is their distance, that of `norm` the size of one. */
__device__ inline double filter_distance(double scaled, double norm, uint32_t dims)
{
    const double off = 5.97e-8, tiny = 1e-40;
    double d = sqrt(scaled) * (1 + 3e-16 * (dims + 4));
    return d + off * (2 * sqrt(norm) + d) + dims * tiny;
}

/* The limit for candidates as near as `squared`. The filter multiplies and adds `dims`
   numbers, none larger than the sum of their sizes, and each time is off by 2^-24 of
   that. */
__device__ inline float limit_of(double squared, double scale, double norm, bool whole,
                                 uint32_t dims)
{
    if (!(squared < 1e300))
        return -FLT_MAX;
    double scaled = squared * scale * scale;
    if (whole)
        return __double2float_rd((norm - scaled) / 2);
    double apart = filter_distance(scaled, norm, dims), of_y = sqrt(norm) + apart;
    double sums = sqrt(norm) * of_y + of_y * of_y / 2, off = 5.97e-8 * (dims + 4);
    double limit = (norm - apart * apart) / 2 - off / (1 - off) * sums * 1.001 -
                   dims * 1e-40;
    return limit > -FLT_MAX ? __double2float_rd(limit) : -FLT_MAX;
}

struct choose_walk {
    const choose_job &job;
    uint32_t i, row;
    near_list near;

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

    __device__ uint32_t rank_of(uint32_t place) const
    {
        return syn_rank_after(job.library_rows.row[place], syn_row_rank(row));
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
                              (d == now.squared && rank_of(place) <= now.rank));
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

    __device__ uint32_t number() const
    {
        return job.number ? job.number[i] : job.first + i;
    }

    __device__ void hand_out(uint32_t at, const near_place &near) const
    {
        size_t to = (size_t) number() * job.k + at;
        job.out.row[to] = job.library_rows.row[near.place];
        job.out.distance[to] = __dsqrt_rn(near.squared);
    }

    /* The best so far begin the next turn's list; the k-th gives the limits. */
    __device__ void go_on(uint32_t at, const near_place &near, row_state now) const
    {
        job.list[(size_t) i * job.room + at] = near.place;
        if (at + 1 < job.k)
            return;
        bool whole = job.whole[i];
        now.squared = near.squared;
        now.rank = near.rank;
        now.twin = job.twin[near.place];
        now.limit = limit_of(now.squared, job.scale, job.norm[i], whole, job.points.dims);
        now.beyond = whole ? nextafterf(now.limit, INFINITY) : now.limit;
        if (now.squared == 0)
            now.beyond = INFINITY;
        now.listed = job.k;
        job.state[i] = now;
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
            job.lost[atomicAdd(job.n_lost, 1u)] = i;
        if (job.norm[i] < 0)
            return;
    }
    uint32_t kept = walk.gather(now);
    auto place = [](uint32_t listed) { return listed; };
    auto rank = [&](uint32_t place) { return walk.rank_of(place); };
    auto nearest = make_nearest(walk.near, kept, place, rank);
    bool hand_out = job.last && !now.lost;
    auto sink = [&](uint32_t at, const near_place &near, uint32_t) {
        hand_out ? walk.hand_out(at, near) : walk.go_on(at, near, now);
    };
    uint32_t n = nearest.each(job.k, sink);
    if (threadIdx.x % WARP > 0)
        return;
    if (job.last)
        job.out.found[walk.number()] = n;
    if (n < job.k) {
        job.state[i].listed = n;
        job.state[i].lost = now.lost;
    }
}

/* Where all begin. */
static __global__ void begin_rows(row_state *state, const double *norm, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float limit = norm[i] < 0 ? INFINITY : -FLT_MAX;
    state[i] = {limit, limit, 0, norm[i] < 0, DBL_MAX, ~0u, ~0u};
}

/* Those that had too many candidates begin again, with the limits they have: `row` and
   `number` of each. */
static __global__ void begin_again(const uint32_t *lost, uint32_t n, placed_rows rows,
                            uint32_t first, const row_state *before, row_state *state,
                            uint32_t *row, uint32_t *number)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    row_state now = before[lost[i]];
    now.listed = now.lost = 0;
    state[i] = now;
    row[i] = rows.row[lost[i]];
    number[i] = first + lost[i];
}

}  // namespace gpu

#endif
