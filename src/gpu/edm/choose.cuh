/* The nearest of the candidates that the filter has listed, by their distances in double
   precision, and the limits of the next turn. */
#ifndef SYN_GPU_EDM_CHOOSE_CUH
#define SYN_GPU_EDM_CHOOSE_CUH

#include "gpu/edm/filter.cuh"

namespace gpu {

struct choose_job {
    placed_points points;
    placed_rows library_rows, predicted_rows;
    const double *by_row;  /* [library][dims] coordinates */
    const double *norm;    /* [predicted] see row_tiles */
    const uint32_t *whole;
    double scale;          /* of filter_frame */
    uint32_t k, exclusion;
    row_state *state;
    uint32_t *list;
    uint32_t room;         /* a power of two */
    uint32_t warps;        /* of a block */
    uint32_t first;        /* number of the first predicted row in `out` */
    bool last;             /* the neighbours are wanted, not limits */
    placed_neighbours out;
    uint32_t *lost, *n_lost;
};

/* The limit for candidates as near as `squared`. The filter's coordinates are off by
   2^-24 of themselves, so that two points are at most `apart` away in them where their
   distance is the root of `squared`. It multiplies and adds `dims` numbers, none larger than
   the sum of their sizes, and each time is off by 2^-24 of that. */
__device__ inline float limit_of(double squared, double scale, double norm, bool whole,
                                 uint32_t dims)
{
    if (!(squared < 1e300))
        return -FLT_MAX;
    double scaled = squared * scale * scale;
    if (whole)
        return __double2float_rd((norm - scaled) / 2);
    const double off = 5.97e-8, tiny = 1e-40;
    double of_x = sqrt(norm), d = sqrt(scaled) * (1 + 3e-16 * (dims + 4));
    double apart = d + off * (2 * of_x + d) + dims * tiny, of_y = of_x + apart;
    double sums = of_x * of_y + of_y * of_y / 2;
    double slack = off * (dims + 4) / (1 - off * (dims + 4)) * sums * 1.001 + dims * tiny;
    double limit = (norm - apart * apart) / 2 - slack;
    return limit > -FLT_MAX ? __double2float_rd(limit) : -FLT_MAX;
}

struct choose_walk {
    const choose_job &job;
    uint32_t i, row;
    near_place *near;

    __device__ double squared(uint32_t place) const
    {
        const double *y = job.by_row + (size_t) place * job.points.dims;
        double sum = 0;
        for (uint32_t d = 0; d < job.points.dims; d++)
            sum = add_square(sum, y[d],
                             job.points.coordinate[(size_t) d * job.points.rows + row]);
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
            uint32_t apart = rows_apart(job.library_rows.row[place], row);
            there = there && (d < now.squared ||
                              (d == now.squared && apart <= now.k_apart));
            uint32_t all = __ballot_sync(WHOLE_WARP, there);
            if (there)
                near[kept + __popc(all & lanes_below())] = {d, apart, place};
            kept += __popc(all);
        }
        __syncwarp();
        sort_any(near, kept);
        return min(kept, job.k);
    }

    __device__ void hand_out(uint32_t n) const
    {
        size_t to = job.first + i;
        for (uint32_t j = threadIdx.x % WARP; j < n; j += WARP) {
            job.out.row[to * job.k + j] = job.library_rows.row[near[j].place];
            job.out.distance[to * job.k + j] = __dsqrt_rn(near[j].squared);
        }
        if (threadIdx.x % WARP == 0)
            job.out.found[to] = n;
    }

    /* The best so far begin the next turn's list. */
    __device__ void go_on(uint32_t n, row_state now) const
    {
        uint32_t *list = job.list + (size_t) i * job.room;
        for (uint32_t j = threadIdx.x % WARP; j < n; j += WARP)
            list[j] = near[j].place;
        if (threadIdx.x % WARP > 0)
            return;
        now.listed = n;
        if (n == job.k) {
            bool whole = job.whole[i];
            now.squared = near[n - 1].squared;
            now.k_apart = near[n - 1].apart;
            now.limit = limit_of(now.squared, job.scale, job.norm[i], whole,
                                 job.points.dims);
            now.apart = whole ? now.k_apart : ~0u;
        }
        job.state[i] = now;
    }
};

__global__ void choose_nearest(SYN_GPU_JOB choose_job job)
{
    extern __shared__ near_place choose_memory[];
    uint32_t warp = threadIdx.x / WARP, i = blockIdx.x * job.warps + warp;
    if (i >= job.predicted_rows.n)
        return;
    choose_walk walk = {job, i, job.predicted_rows.row[i],
                        choose_memory + (size_t) warp * job.room};
    row_state now = job.state[i];
    now.lost |= now.listed > job.room;
    if (now.lost) {
        /* It has no more candidates, and is searched in another way in the end. */
        now.limit = INFINITY;
        now.listed = 0;
        if (threadIdx.x % WARP == 0) {
            job.state[i] = now;
            if (job.last)
                job.lost[atomicAdd(job.n_lost, 1u)] = job.first + i;
        }
        return;
    }
    uint32_t n = walk.gather(now);
    if (job.last)
        walk.hand_out(n);
    else
        walk.go_on(n, now);
}

/* Where all begin. */
__global__ void begin_rows(row_state *state, const double *norm, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        state[i] = {norm[i] < 0 ? INFINITY : -FLT_MAX, ~0u, 0, norm[i] < 0, DBL_MAX, ~0u};
}

}  // namespace gpu

#endif
