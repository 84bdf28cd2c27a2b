/* What changes in the device's tables when the host keeps other episodes. */
#ifndef SYN_GPU_STREAM_CHANGES_CUH
#define SYN_GPU_STREAM_CHANGES_CUH

#include "gpu/stream/types.cuh"

namespace gpu {
namespace live {

/* `width` candidates of each of `n` episodes move from place `from` to place `to`. */
struct candidate_move {
    uint32_t from, to, width, first, n;
};

struct moves_job {
    const kept_view *kept;
    const candidate_move *move;  /* [n] one after the other */
    uint32_t n;
    const uint32_t *id;          /* those of a move from its `first` on */
};

/* By one block. An episode takes part in a move once; moves never overlap themselves. */
__global__ void move_candidates_of(SYN_GPU_JOB moves_job job)
{
    for (uint32_t m = 0; m < job.n; m++) {
        const candidate_move what = job.move[m];
        for (uint32_t i = threadIdx.x; i < what.n && what.from != what.to;
             i += blockDim.x) {
            const kept_view &k = job.kept[job.id[what.first + i]];
            for (uint32_t w = 0; w < what.width; w++) {
                k.count[what.to + w] = k.count[what.from + w];
                k.free[what.to + w] = k.free[what.from + w];
            }
        }
        __syncthreads();
    }
}

/* Words that go from one place to another. */
struct words_copy {
    uint32_t *to;
    const uint32_t *from;
    uint32_t n;
};

enum { WORDS_AT_ONCE = 8 };  /* of a lane: words of the host come from afar */

/* A warp takes a copy; none writes what another one reads. */
__global__ void copy_all(const words_copy *copies, uint32_t n)
{
    uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (i >= n)
        return;
    const words_copy own = copies[i];
    for (uint32_t w = threadIdx.x % WARP; w < own.n; w += WORDS_AT_ONCE * WARP) {
        uint32_t word[WORDS_AT_ONCE];
#pragma unroll
        for (uint32_t a = 0; a < WORDS_AT_ONCE; a++)
            word[a] = w + a * WARP < own.n ? own.from[w + a * WARP] : 0;
#pragma unroll
        for (uint32_t a = 0; a < WORDS_AT_ONCE; a++)
            if (w + a * WARP < own.n)
                own.to[w + a * WARP] = word[a];
    }
}

/* A list that moves to a larger block. */
struct list_move {
    uint32_t list, mask;
    end *ends;
};

__global__ void grow_lists(end_list *list, const list_move *moves)
{
    const list_move what = moves[blockIdx.x];
    end_list *own = &list[what.list];
    for (uint32_t i = own->head + threadIdx.x; i < own->tail; i += blockDim.x)
        what.ends[i & what.mask] = own->at(i);
    __syncthreads();
    if (threadIdx.x == 0) {
        own->ends = what.ends;
        own->mask = what.mask;
    }
}

struct ring_move {
    ring_view from, to;
    uint32_t begin, end;  /* events */
};

/* Moves the ring to a larger one, a warp an event. */
__global__ void grow_ring(SYN_GPU_JOB ring_move job)
{
    const uint32_t lane = threadIdx.x % WARP, warps = gridDim.x * blockDim.x / WARP;
    const uint32_t stride = job.from.intervals * job.from.units;
    uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    for (uint32_t e = job.begin + first; e < job.end; e += warps) {
        size_t old = e & job.from.mask, now = e & job.to.mask;
        const uint32_t *from = (const uint32_t *) (job.from.next + old * stride);
        uint32_t *to = (uint32_t *) (job.to.next + now * stride);
        for (uint32_t w = lane; w < stride / 2; w += WARP)
            to[w] = from[w];
        for (uint32_t k = lane; k < job.from.intervals; k += WARP)
            job.to.follows[k * ((size_t) job.to.mask + 1) + now] =
                job.from.follows[k * ((size_t) job.from.mask + 1) + old];
    }
}

struct renumber_job {
    window_view window;
    uint32_t begin, end, by;  /* events, by their old numbers */
    const uint32_t *id;       /* [kept] episodes with candidates */
    uint32_t kept;
};

__device__ inline uint32_t lower(uint32_t event, uint32_t by)
{
    return event > by ? event - by : 0;
}

/* A block takes the list of a unit, an episode with its list, or some events. */
__global__ void renumber_all(SYN_GPU_JOB renumber_job job)
{
    const ring_view &ring = job.window.ring;
    end_list *list = nullptr;
    if (blockIdx.x < ring.units) {
        list = &job.window.list[blockIdx.x];
    } else if (blockIdx.x - ring.units < job.kept) {
        const kept_view &k = job.window.kept[job.id[blockIdx.x - ring.units]];
        list = k.size > 1 ? &job.window.list[k.list] : nullptr;
        for (uint32_t i = threadIdx.x; i < k.n; i += blockDim.x)
            k.free[i] = lower(k.free[i], job.by);
    } else {
        uint32_t some = blockIdx.x - ring.units - job.kept;
        uint32_t e = job.begin + some * blockDim.x + threadIdx.x;
        for (uint32_t k = 0; e < job.end && k < ring.intervals; k++) {
            followed *own = &ring.follows[k * ((size_t) ring.mask + 1) + (e & ring.mask)];
            *own = {lower(own->since, job.by), lower(own->until, job.by)};
        }
    }
    for (uint32_t i = list ? list->front : 0; list && i + threadIdx.x < list->tail;
         i += blockDim.x) {
        end *own = &list->at(i + threadIdx.x);
        *own = {own->event - job.by, own->start - job.by};
    }
}

}  // namespace live
}  // namespace gpu

#endif
