/* Numbers what is frequent: the children of all items of a level, in order, get the
   numbers of the nodes of the next. */
#ifndef SYN_GPU_EPISODES_NUMBER_CUH
#define SYN_GPU_EPISODES_NUMBER_CUH

#include <cstdint>

#include "gpu/episodes/types.cuh"

namespace gpu {

enum {
    NUMBER_WARPS = 8,
    NUMBER_EACH = 4,  /* items of a thread */
    NUMBER_TILE = NUMBER_WARPS * WARP * NUMBER_EACH
};

/* How far a tile is: nothing, its own sum, or the sum of all up to it. In one word with
   the sum, and with the run, so that the words of former runs mean nothing. */
enum tile_stage { TILE_BEGUN, TILE_SUMMED, TILE_DONE };

constexpr uint32_t MOST_RUNS = 1u << 30;

struct number_job {
    level_view here, next;
    uint32_t columns;
    uint32_t count_room;             /* found counts that there is room for */
    unsigned long long end_room;     /* ends that there was room for */
    unsigned long long next_room;    /* ends that there is room for in the next lists */
    unsigned long long *tiles;       /* [tiles] */
    uint32_t run;                    /* from 1, another one each time */
    header *head, *new_head;         /* of `here`, and of `next` */
};

__device__ inline unsigned long long tile_word(uint32_t run, tile_stage stage,
                                               uint32_t sum)
{
    return (unsigned long long) run << 34 | (unsigned long long) stage << 32 | sum;
}

/* By one warp: the sum of the tiles before `tile`, 32 of them at a time. */
__device__ inline uint32_t sum_of_tiles_before(const number_job &job, uint32_t tile)
{
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t sum = 0;
    for (uint32_t end = tile; end > 0;) {
        uint32_t before = lane + 1, stage = TILE_DONE, own = 0;
        if (before <= end) {
            unsigned long long word;
            do {
                word = *(volatile unsigned long long *) &job.tiles[end - before];
                stage = word >> 34 == job.run ? word >> 32 & 3 : TILE_BEGUN;
            } while (stage == TILE_BEGUN);
            own = (uint32_t) word;
        }
        /* Up to the last tile that knows the sum of all before it. */
        uint32_t done = __ballot_sync(ALL, stage == TILE_DONE);
        uint32_t last = done ? __ffs(done) - 1 : WARP - 1;
        sum += sum_of_warp(lane <= last ? own : 0);
        if (done || end <= WARP)
            break;
        end -= WARP;
    }
    return sum;
}

/* The level cannot be made where something found did not fit: then it has no nodes, and
   what follows does nothing until the host has made room. */
__device__ inline void end_numbering(const number_job &job, uint32_t nodes,
                                     uint32_t items, uint32_t total)
{
    bool fits = total <= job.next.room && job.head->found <= job.count_room &&
                job.head->list_ends <= job.end_room &&
                ends_expected(*job.head, total) <= job.next_room;
    job.here.base[items] = total;
    job.here.child[nodes] = total;
    *job.new_head = {};
    *job.next.nodes = fits ? total : 0;
}

/* By all blocks, of NUMBER_WARPS each. A block waits for tiles that it has had itself, or
   that blocks before it have begun. */
__device__ inline void number_items(const number_job &job)
{
    __shared__ uint32_t sums[NUMBER_WARPS], sum_before;
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t nodes = *job.here.nodes, items = nodes * job.columns;
    const uint32_t tiles = items > 0 ? (items - 1) / NUMBER_TILE + 1 : 1;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        uint32_t first = tile * NUMBER_TILE + threadIdx.x * NUMBER_EACH, own = 0, all;
        uint32_t n[NUMBER_EACH];
#pragma unroll
        for (uint32_t i = 0; i < NUMBER_EACH; i++) {
            n[i] = first + i < items ? job.here.children[first + i] : 0;
            own += n[i];
        }
        uint32_t before = sum_below(own, &all);
        if (lane == 0)
            sums[warp] = all;
        __syncthreads();
        uint32_t total = 0;
        for (uint32_t w = 0; w < NUMBER_WARPS; w++) {
            before += w < warp ? sums[w] : 0;
            total += sums[w];
        }
        if (warp == 0) {
            volatile unsigned long long *mine = &job.tiles[tile];
            if (tile > 0 && lane == 0)
                *mine = tile_word(job.run, TILE_SUMMED, total);
            uint32_t sum = sum_of_tiles_before(job, tile);
            if (lane == 0) {
                *mine = tile_word(job.run, TILE_DONE, sum + total);
                sum_before = sum;
            }
        }
        __syncthreads();
        before += sum_before;
#pragma unroll
        for (uint32_t i = 0; i < NUMBER_EACH; i++) {
            if (first + i < items) {
                job.here.base[first + i] = before;
                if ((first + i) % job.columns == 0)
                    job.here.child[(first + i) / job.columns] = before;
            }
            before += n[i];
        }
        if (tile == tiles - 1 && threadIdx.x == 0)
            end_numbering(job, nodes, items, sum_before + total);
        __syncthreads();
    }
}

__global__ void __launch_bounds__(NUMBER_WARPS * WARP)
    number_children(SYN_GPU_JOB number_job job)
{
    number_items(job);
}

}  // namespace gpu

#endif
