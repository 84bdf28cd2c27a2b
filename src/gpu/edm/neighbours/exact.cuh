/* The search without shortcuts: every library row's distance in double precision. A warp
   takes a prediction row and goes through the library outward in time from it, as the
   nearest are often the nearest in time. It keeps a list with room to spare, and sorts it
   when it is full; what comes after the k-th is dropped. */
#pragma once

#include "gpu/edm/neighbours/neighbours.cuh"

namespace gpu {

enum {
    EXACT_WARPS = 4,    /* of a block */
    EXACT_STEP = 5,     /* coordinates at a time */
    EXACT_SHARED = 512  /* most places of a list in shared memory */
};

/* One prediction row in one space. */
struct exact_walk {
    const exact_job &job;
    const uint32_t *column;
    uint32_t dims, k, row, space;
    near_place *list;
    uint32_t n;
    near_place last;

    __device__ const double *axis(uint32_t d) const
    {
        size_t at = column ? column[d] : d;
        return job.points.coordinate + at * job.points.rows;
    }

    /* The distance of this lane's library row, as far as any lane's may matter. Some
       coordinates are on their way together. */
    __device__ double squared(uint32_t other, bool there) const
    {
        double sum = there ? 0 : __longlong_as_double(0x7ff0000000000000ll);
        for (uint32_t first = 0; first < dims; first += EXACT_STEP) {
            double a[EXACT_STEP], b[EXACT_STEP];
            SYN_UNROLL(d, EXACT_STEP) {
                bool in = first + d < dims;
                const double *x = axis(in ? first + d : 0);
                a[d] = in && there ? x[other] : 0;
                b[d] = in ? x[row] : 0;
            }
            SYN_UNROLL(d, EXACT_STEP)
                if (first + d < dims)
                    sum = add_square(sum, a[d], b[d]);
            if (!__any_sync(WHOLE_WARP, sum <= last.squared))
                break;
        }
        return sum;
    }

    __device__ void cut()
    {
        __syncwarp();
        sort_any(list, n);
        n = min(n, k);
        if (n == k)
            last = list[k - 1];
        __syncwarp();
    }

    __device__ void offer(double d, uint32_t other, uint32_t place, bool there)
    {
        near_place near = {d, syn_rank_after(other, syn_row_rank(row)), place};
        bool wanted = there && before(near, last);
        uint32_t all = __ballot_sync(WHOLE_WARP, wanted);
        if (!all)
            return;
        if (n + WARP > job.room)
            cut();
        if (wanted)
            list[n + __popc(all & lanes_below())] = near;
        n += __popc(all);
    }

    __device__ void run()
    {
        const placed_rows &library = job.library;
        uint32_t lane = threadIdx.x % WARP, half = WARP / 2;
        uint32_t home = first_from(library.row, library.n, row);
        uint32_t most = max(home, library.n - home);
        for (uint32_t from = 0; from < most; from += half) {
            uint32_t on = from + lane % half;
            bool there = lane < half ? on < home : on < library.n - home;
            uint32_t place = lane < half ? home - 1 - on : home + on;
            uint32_t other = there ? library.row[place] : 0;
            there = there && rows_apart(other, row) > job.exclusion &&
                    (!job.in.reach || job.in.reach[place] > space);
            offer(squared(other, there), other, place, there);
        }
        cut();
    }
};

static __global__ void search_exactly(SYN_GPU_JOB exact_job job)
{
    extern __shared__ near_place shared_lists[];
    uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    uint32_t at = blockIdx.x * EXACT_WARPS + warp, warps = gridDim.x * EXACT_WARPS;
    uint32_t n = job.prediction.n;
    size_t list = job.lists ? (size_t) blockIdx.y * warps + at : warp;
    near_place *lists = job.lists ? job.lists : shared_lists;
    const near_place none = {__longlong_as_double(0x7ff0000000000000ll), 0, 0};
    for (uint32_t space = blockIdx.y; space < job.in.n; space += gridDim.y)
        for (uint32_t i = at; i < n; i += warps) {
            uint32_t of = job.which ? job.which[i] : i;
            uint32_t dims = job.in.dims + space * job.in.more;
            const uint32_t *column = job.in.column;
            exact_walk walk = {job, column ? column + (size_t) space * dims : nullptr,
                               dims, job.in.k + space * job.in.more_k,
                               job.prediction.row[of], space,
                               lists + list * job.room, 0, none};
            if (!job.in.reach_of || job.in.reach_of[of] > space)
                walk.run();
            size_t to = (size_t) space * job.stride + (job.number ? job.number[of] : of);
            for (uint32_t j = lane; j < walk.n; j += WARP) {
                job.out.row[to * job.k + j] = job.library.row[walk.list[j].place];
                job.out.distance[to * job.k + j] = __dsqrt_rn(walk.list[j].squared);
            }
            if (lane == 0)
                job.out.found[to] = walk.n;
            __syncwarp();
        }
}

}  // namespace gpu
