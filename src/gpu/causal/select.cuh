/* The k nearest of a warp's pool. */
#ifndef SYN_GPU_CAUSAL_SELECT_CUH
#define SYN_GPU_CAUSAL_SELECT_CUH

#include "gpu/causal/pool.cuh"

namespace gpu {

/* A pool of up to ROUNDS * WARP columns, whose squared distances from a row grow by a
   dimension at a time. Each lane has one column of every round. */
template <int ROUNDS> struct pool_distances {
    int32_t column[ROUNDS];  /* any where there is none */
    float d[ROUNDS];

    __device__ void load(const search_scratch &s, uint32_t n, uint32_t lane)
    {
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            uint32_t i = r * WARP + lane;
            int32_t c = i < n ? s.column[i] : -1;
            column[r] = max(c, 0);
            d[r] = c < 0 ? __int_as_float(0x7fc00000) : 0;
        }
    }

    /* Adds dimension e + 1; returns this lane's least distance. */
    __device__ float add(const float *x, int32_t row, int32_t e)
    {
        float of_row = x[row - e], least = __int_as_float(0x7fc00000);
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            float gap = of_row - x[column[r] - e];
            d[r] = fmaf(gap, gap, d[r]);
            least = fminf(least, d[r]);
        }
        return least;
    }
};

/* Lists the pool's columns within the limit. */
template <int ROUNDS>
__device__ inline uint32_t list(search_scratch &s, const pool_distances<ROUNDS> &pool,
                                float limit, uint32_t lane)
{
    uint32_t n = 0;
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        bool in = pool.d[r] <= limit;
        uint32_t all = __ballot_sync(WHOLE_WARP, in);
        if (in) {
            uint32_t at = place_in(n, all);
            s.list[at] = pool.d[r];
            s.slot[at] = r * WARP + lane;
        }
        n += __popc(all);
    }
    __syncwarp();
    return n;
}

/* Adds element i of the list to the `found` nearest, of which there is room for 32. */
__device__ inline uint32_t take(search_scratch &s, uint32_t found, bool member,
                                uint32_t i)
{
    uint32_t members = __ballot_sync(WHOLE_WARP, member);
    uint32_t at = place_in(found, members);
    if (member && at < WARP) {
        s.near[at] = s.list[i];
        s.near_step[at] = s.step[s.slot[i]];
    }
    return found + __popc(members);
}

/* The k nearest of n in the list; of the farthest of these there may be more than are
   wanted, then those count whose ranks are least. */
template <int ROUNDS>
__device__ inline void choose_of(search_scratch &s, uint32_t lane, uint32_t n, uint32_t k,
                                 int32_t step)
{
    uint32_t bits[ROUNDS], rank[ROUNDS], less = 0, most = 0, found = 0;
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        uint32_t i = r * WARP + lane;
        bits[r] = i < n ? __float_as_uint(s.list[i]) : UINT32_MAX;
    }
    uint32_t farthest = kth(bits, k, 0), last = 0;
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        less += __popc(__ballot_sync(WHOLE_WARP, bits[r] < farthest));
        most += __popc(__ballot_sync(WHOLE_WARP, bits[r] <= farthest));
    }
    bool tied = most > k;
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        bool tie = tied && bits[r] == farthest;
        int32_t t = tie ? s.step[s.slot[r * WARP + lane]] : 0;
        rank[r] = tie ? syn_rank_after(t, syn_row_rank(step)) : NO_RANK;
    }
    if (tied)
        last = kth<NO_RANK>(rank, k - less, 0);
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        bool in = bits[r] == farthest && (!tied || rank[r] <= last);
        found = take(s, found, bits[r] < farthest || in, r * WARP + lane);
    }
}

/* The same, for lists longer than a warp or with ties at their end. */
static __device__ __noinline__ void choose(search_scratch &s, uint32_t lane, uint32_t n,
                                           uint32_t k, int32_t step)
{
    __syncwarp();
    if (n <= 2 * WARP)
        choose_of<2>(s, lane, n, k, step);
    else
        choose_of<POOL / WARP>(s, lane, n, k, step);
    __syncwarp();
}

/* What a lane has of the nearest: one of them, or nothing, infinitely far. */
struct neighbour {
    uint32_t found;  /* how many lanes have one */
    uint32_t place;  /* in the order of the pool; without one, an empty place or WARP */
    float d;         /* squared distance */
    int32_t step;    /* without one, any step of the series */

    __device__ bool is() const { return __float_as_uint(d) < NO_DISTANCE; }
};

/* How many of the list's n are nearer than `mine`. Bits of floats that are not negative
   are in their order. The loop is not unrolled: warps wait for instructions more than for
   what the loop costs. */
__device__ inline uint32_t count_nearer(const search_scratch &s, uint32_t n,
                                        uint32_t mine)
{
    uint32_t less = 0;
#pragma unroll 1
    for (uint32_t j = 0; j < n; j += 4) {
        uint4 v = *(const uint4 *) (s.list + j);
        less += ((v.x - mine) >> 31) + ((v.y - mine) >> 31) + ((v.z - mine) >> 31) +
                ((v.w - mine) >> 31);
    }
    return less;
}

/* The k nearest of the n in the list. */
__device__ inline neighbour select(search_scratch &s, uint32_t lane, uint32_t n,
                                   uint32_t k, int32_t step)
{
    const float infinite = __uint_as_float(NO_DISTANCE);
    if (n > k && lane < 4)
        s.list[n + lane] = infinite;
    __syncwarp();
    if (n <= WARP) {
        neighbour mine = {n, lane, lane < n ? s.list[lane] : infinite,
                          lane < n ? s.step[s.slot[lane]] : step};
        if (n <= k)
            return mine;
        bool member = lane < n && count_nearer(s, n, __float_as_uint(mine.d)) < k;
        uint32_t members = __ballot_sync(WHOLE_WARP, member);
        mine.found = __popc(members);
        mine.place = member ? place_in(0, members) : WARP;
        mine.d = member ? mine.d : infinite;
        if (mine.found == k)
            return mine;
    }
    choose(s, lane, n, k, step);
    if (lane >= k)
        return {k, WARP, infinite, step};
    return {k, lane, s.near[lane], s.near_step[lane]};
}

}  // namespace gpu

#endif
