/* Where the tasks of counting along a level's lists go. */
#ifndef SYN_GPU_EPISODES_PLAN_CUH
#define SYN_GPU_EPISODES_PLAN_CUH

#include <cstdint>

#include "gpu/episodes/share.cuh"
#include "gpu/episodes/types.cuh"

namespace gpu {

/* A list is counted along by several warps when it is longer than the work would be if
   all were equal, but not when it is shorter than LEAST_SEGMENT ends. */
constexpr unsigned long long LEAST_SEGMENT = 256, MOST_SEGMENT = 4096;

/* Where the tasks of counting along a level's lists go. */
struct task_plan {
    task *tasks;          /* room for one an item and one a segment */
    columns_view columns;
    uint32_t pages;       /* of an interval that one task counts: 1 with a table */
    uint32_t words;       /* of an item's mask */
    uint32_t warps;       /* that count at a time; 0 where lists are not cut */
    uint32_t room;        /* segments */
    uint32_t mean;        /* ends of a list, about, unless lists were made `before` */
    const header *before;
    header *head;

    /* Ends of the lists that the next ones are made from, on average. */
    __device__ uint32_t mean_list() const
    {
        return before && before->lists > 0
                   ? (uint32_t) (before->list_ends / before->lists) : mean;
    }

    /* Ends of a segment. */
    __device__ uint32_t segment(uint32_t nodes) const
    {
        if (warps == 0)
            return 1u << 31;
        unsigned long long work = (unsigned long long) mean_list() * nodes * columns.n;
        return (uint32_t) min(max(work / warps, LEAST_SEGMENT), MOST_SEGMENT);
    }
};

/* By one warp, for a node with a list: a task for each column with candidates, or for
   some pages, or several where the list is long. `masks` is that of the node's suffix. */
__device__ inline void plan_node(const task_plan &plan, uint32_t node, uint32_t length,
                                 const uint32_t *masks, uint32_t segment)
{
    const uint32_t lane = threadIdx.x % WARP, columns = plan.columns.n;
    const uint32_t pages = plan.columns.pages, runs = (pages - 1) / plan.pages + 1;
    for (uint32_t begin = 0; begin < columns / pages * runs; begin += WARP) {
        uint32_t run = begin + lane, first = 0, n = 0;
        uint32_t column = run / runs * pages + run % runs * plan.pages;
        if (column < columns && length > 0) {
            uint32_t any = 0, some = min(plan.pages, pages - column % pages);
            for (uint32_t j = 0; j < some * plan.words; j++)
                any |= masks[(size_t) column * plan.words + j];
            n = any ? max((length + segment / 2) / segment, 1) : 0;
        }
        /* Where there is no room left, nobody asks: so the counter stays near it. */
        bool room = n > 1 && *(volatile uint32_t *) &plan.head->segments < plan.room;
        n = room ? n : min(n, 1);
        if (n > 1) {
            first = atomicAdd(&plan.head->segments, n);
            n = first + n <= plan.room ? n : 1;
        }
        uint32_t sum = n;
        for (int step = 1; step < WARP; step *= 2) {
            uint32_t below = __shfl_up_sync(ALL, sum, step);
            sum += lane >= step ? below : 0;
        }
        uint32_t at = 0;
        if (lane == WARP - 1 && sum > 0)
            at = atomicAdd(&plan.head->tasks, sum);
        at = __shfl_sync(ALL, at, WARP - 1) + sum - n;
        for (uint32_t s = 0; s < n; s++)
            plan.tasks[at + s] = {node * columns + column, s, n, first};
    }
}

/* For the units, a warp each. */
__global__ void plan_units(level_view above, level_view here, task_plan plan)
{
    uint32_t node = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (node < here.n && here.length[node] != ELSEWHERE)
        plan_node(plan, node, here.length[node], above.mask, plan.segment(here.n));
}

}  // namespace gpu

#endif
