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
    int32_t place, step;   /* of the last step */
    uint32_t exclusion, lane;
    int32_t row, of;       /* the point that has neighbours: its place and step */
    uint32_t dims;         /* `d` has the terms of so many */
    float d;               /* squared distance between the two */

    __device__ void begin(int32_t point)
    {
        of = point;
        row = place - (step - point);
        dims = 0;
        d = 0;
    }

    /* The e + 2 nearest, with the last step among them if it is one. */
    __device__ neighbour join(uint32_t e, neighbour near)
    {
        if (e < dims) {
            dims = 0;
            d = 0;
        }
        for (; dims <= e; dims++) {
            float gap = x[row - (int32_t) dims] - x[place - (int32_t) dims];
            d = fmaf(gap, gap, d);
        }
        bool may_be = (uint32_t) (step - of) > exclusion &&
                      __float_as_uint(d) < NO_DISTANCE;
        if (!may_be)
            return near;
        if (near.found == e + 2)
            return replace(near);
        if (lane == near.found) {
            near.d = d;
            near.step = step;
        }
        near.found++;
        return near;
    }

private:
    /* The same k, of which the farthest, and of ties the latest by key, makes room. */
    __device__ neighbour replace(neighbour near) const
    {
        uint32_t bits = near.is() ? __float_as_uint(near.d) : 0;
        uint32_t mine = __float_as_uint(d);
        uint32_t farthest = warp_greatest(bits);
        if (mine > farthest)
            return near;
        uint32_t key = near.is() && bits == farthest ? time_key(near.step, of) + 1 : 0;
        uint32_t latest = warp_greatest(key);
        if (mine == farthest && time_key(step, of) + 1 > latest)
            return near;
        bool leaves = key == latest;
        uint32_t from = __ffs(__ballot_sync(WHOLE_WARP, leaves)) - 1;
        uint32_t gap = __shfl_sync(WHOLE_WARP, near.place, from);
        if (leaves) {
            near.place = near.found - 1;
            near.d = d;
            near.step = step;
        } else if (near.is() && near.place > gap) {
            near.place--;
        }
        return near;
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

    __device__ void operator()(uint32_t e, const neighbour &near)
    {
        skill(e, near);
        table(e, last.join(e, near));
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
    float floor = job.floor[blockIdx.y];
    double sum[SUMS] = {};
    both_sink sink = {
        {shape, table + (size_t) blockIdx.y * shape.size, floor, search.lane, unit, kind,
         0},
        {value, floor, search.lane, job.Tp, 0, 0, sum},
        {search.x, (int32_t) job.places - 1, (int32_t) job.steps - 1, job.exclusion,
         search.lane, 0, 0, 0, 0}};
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
