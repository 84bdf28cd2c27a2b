/* One search for dimensions and for a map of the same series.

   A series that is forecast one step ahead has those steps as library points that have a
   step after them. In a map with Tp = 0 the last step is one, too. So the neighbours for
   the map are those for the forecasts, with the last step in place of the farthest one
   wherever it is nearer. The table is the one that a search for the map would write. */
#ifndef SYN_GPU_CAUSAL_BOTH_CUH
#define SYN_GPU_CAUSAL_BOTH_CUH

#include "gpu/causal/device.cuh"

namespace gpu {

/* The last step as one library point more. Coordinates are earlier steps, one step
   apart, so that its place is the last one, too. */
struct last_point {
    const float *x;        /* [place] of the library */
    const float *limit;    /* by E - 1: all neighbours are at most so far, squared */
    int32_t place, step;   /* of the last step */
    uint32_t top;          /* most dimensions */
    uint32_t exclusion, lane;
    int32_t of;            /* the step of the point that has neighbours */
    float d;               /* in lane e the squared distance of the two for E = e + 1; NaN
                              where they may not be neighbours */

    __device__ void begin(int32_t point)
    {
        const float *last = x + place, *row = last - (step - point);
        float sum = 0;
        of = point;
        d = __int_as_float(0x7fc00000);
        if ((uint32_t) (step - point) <= exclusion)
            return;
#pragma unroll 4
        for (uint32_t e = 0; e < top; e++) {
            float gap = row[-(int32_t) e] - last[-(int32_t) e];
            sum = fmaf(gap, gap, sum);
            d = e == lane ? sum : d;
        }
    }

    /* Puts the last step among the e + 2 nearest if it is one; whether it is. */
    __device__ bool join(uint32_t e, neighbour *near) const
    {
        float mine = __shfl_sync(WHOLE_WARP, d, e);
        if (!(mine <= limit[e]) || __float_as_uint(mine) >= NO_DISTANCE)
            return false;
        if (near->found == e + 2)
            return replace(mine, near);
        if (lane == near->found) {
            near->d = mine;
            near->step = step;
        }
        near->found++;
        return true;
    }

private:
    /* The same k, of which the farthest, and of ties that of the greatest rank, makes
       room. */
    __device__ bool replace(float far, neighbour *near) const
    {
        uint32_t bits = near->is() ? __float_as_uint(near->d) : 0;
        uint32_t mine = __float_as_uint(far);
        uint32_t farthest = warp_greatest(bits);
        if (mine > farthest)
            return false;
        bool tied = near->is() && bits == farthest;
        uint32_t from = syn_row_rank(of);
        uint32_t rank = tied ? syn_rank_after(near->step, from) : 0;
        uint32_t last = warp_greatest(rank);
        if (mine == farthest && syn_rank_after(step, from) > last)
            return false;
        bool leaves = tied && rank == last;
        uint32_t who = __ffs(__ballot_sync(WHOLE_WARP, leaves)) - 1;
        uint32_t gap = __shfl_sync(WHOLE_WARP, near->place, who);
        if (leaves) {
            near->place = near->found - 1;
            near->d = far;
            near->step = step;
        } else if (near->is() && near->place > gap) {
            near->place--;
        }
        return true;
    }
};

/* Writes tables and adds up the skill of forecasts. */
struct both_sink {
    table_sink table;
    skill_sink skill;
    last_point last;

    __device__ void begin(int32_t of)
    {
        table.begin(of);
        skill.begin(of);
        last.begin(of);
    }

    __device__ void operator()(uint32_t e, neighbour near)
    {
        float after = skill.what_follows(near), weight = weight_of(near);
        skill.add(e, weight, after);
        if (last.join(e, &near))
            weight = weight_of(near);
        table.put(e, near, weight);
    }

    /* Nothing comes after the last step that it could be compared with. */
    __device__ void end()
    {
        if (last.of < last.step)
            skill.end();
    }
};

/* Grid: (search_blocks, libraries). In the job all steps are predicted, and all but the
   last are library points; Tp is 1. */
template <int TOP, bool STAGED>
__global__ void __launch_bounds__(SEARCH_WARPS *WARP, SEARCH_BLOCKS)
find_both(SYN_GPU_JOB search_job job, SYN_GPU_JOB table_shape shape, uint32_t unit,
          entries kind, uint32_t *table, double *sums)
{
    searcher<TOP> search = begin_search<TOP, STAGED>(job);
    const float *value = job.value + (size_t) blockIdx.y * job.steps;
    double sum[SUMS] = {};
    both_sink sink = {
        {shape, table + (size_t) blockIdx.y * shape.size, search.lane, unit, kind, 0},
        {value, search.lane, job.Tp, 0, 0, sum},
        {search.x, search.s.limit, (int32_t) job.places - 1, (int32_t) job.steps - 1,
         (uint32_t) (32 - __clz(job.wanted)), job.exclusion, search.lane, 0, 0}};
    search_rows(job, search, sink);
    keep_sums(sums, sum);
}

template <int TOP, bool STAGED>
void launch_both(const search_job &job, const table_shape &shape, entries kind,
                 uint32_t n, uint32_t *table, double *sums, cudaStream_t stream)
{
    size_t shared = search_shared(job, STAGED);
    allow_shared(find_both<TOP, STAGED>, shared);
    dim3 grid(search_blocks(job), n);
    find_both<TOP, STAGED><<<grid, SEARCH_WARPS * WARP, shared, stream>>>(
        job, shape, ROW_BYTES, kind, table, sums);
    check(cudaGetLastError());
}

}  // namespace gpu

#endif
