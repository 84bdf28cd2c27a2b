/* In which order tiles of a library are searched, and how they come to shared memory. */
#ifndef SYN_GPU_EDM_TURNS_CUH
#define SYN_GPU_EDM_TURNS_CUH

#include "gpu/edm/tiles.cuh"

namespace gpu {

enum {
    FILTER_THREADS = 256,
    HOME_TILES = 3,      /* at most, that are searched first */
    PENDING = 1024       /* candidates that a block keeps */
};

/* The tiles that a block of predicted rows is compared with in one turn. */
struct tile_turn {
    placed_rows library, predicted;
    uint32_t exclusion;
    uint32_t tiles;     /* of the library */
    const uint32_t *shuffled;  /* [library] the places of a tile's rows in the order of
                                  ties (core/base/rank.h), sorted */
    uint32_t step;      /* from each to the one that is searched next, modulo `tiles` */
    uint32_t from, to;  /* the tiles of this turn; none for those near in time */
    bool homes;         /* those were searched first */
};

/* Of a tile's rows, how soon the first comes after place `from` in the order of ties. */
__device__ inline uint32_t tile_after(const tile_turn &t, uint32_t tile, uint32_t from)
{
    return syn_least_after(t.shuffled + tile * TILE,
                           min(t.library.n - tile * TILE, (uint32_t) TILE), from);
}

/* Tiles of the library that are near in time to a tile of predicted rows. */
struct home_tiles {
    uint32_t low, high;  /* those from low to high, or, if they are many, only both */

    __device__ bool has(uint32_t tile) const
    {
        if (high - low < HOME_TILES)
            return tile >= low && tile <= high;
        return tile == low || tile == high;
    }

    /* Number i of them, or ~0. */
    __device__ uint32_t tile(uint32_t i) const
    {
        if (high - low < HOME_TILES)
            return low + i <= high ? low + i : ~0u;
        return i == 0 ? low : i == 1 ? high : ~0u;
    }
};

__device__ inline home_tiles home_of(const tile_turn &job, uint32_t block)
{
    const placed_rows &p = job.predicted, &l = job.library;
    uint64_t first = p.row[block * TILE], last = p.row[min(p.n, block * TILE + TILE) - 1];
    uint32_t before = first > job.exclusion
                          ? first_from(l.row, l.n, first - job.exclusion) : 0;
    uint32_t after = first_from(l.row, l.n, last + job.exclusion + 1);
    home_tiles out = {};
    if (!job.homes)
        return out;
    out.low = (before > 0 ? before - 1 : after) / TILE;
    out.high = (after < l.n ? after : before - 1) / TILE;
    if (before == 0)
        out.high = out.low + HOME_TILES - 1;
    else if (after == l.n)
        out.low = out.high > HOME_TILES - 1 ? out.high - (HOME_TILES - 1) : 0;
    out.low = min(out.low, job.tiles - 1);
    out.high = max(out.low, min(out.high, job.tiles - 1));
    return out;
}

/* A tile of the library; `more` is false after the last. */
struct turn_place {
    uint32_t turn, tile;
    bool more;
};

/* The first tile that is this block's, from number `turn` on. */
__device__ inline turn_place tile_from(const tile_turn &t, const home_tiles &home,
                                       uint32_t turn)
{
    if (t.from == t.to) {
        uint32_t tile = home.tile(turn);
        return {turn, tile, tile != ~0u};
    }
    for (; turn < t.to; turn += gridDim.y) {
        uint32_t tile = (uint64_t) turn * t.step % t.tiles;
        if (!t.homes || !home.has(tile))
            return {turn, tile, true};
    }
    return {turn, 0, false};
}

/* ---- moving tiles to shared memory ---- */

__device__ inline void copy_16(void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
    uint32_t at = (uint32_t) __cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from));
#else
    *(float4 *) to = *(const float4 *) from;
#endif
}

__device__ inline void close_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
}

/* Waits for all copies except those of the last group. */
__device__ inline void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

__device__ inline void wait_for_all_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 0;" ::: "memory");
#endif
}

__device__ inline void copy_floats(float *to, const float *from, uint32_t n)
{
    for (uint32_t i = 4 * threadIdx.x; i < n; i += 4 * FILTER_THREADS)
        copy_16(to + i, from + i);
}

/* ---- what a thread has of a tile ---- */

/* Rows or columns that a thread has: 4 from `first` on, and 4 half a tile later. */
__device__ inline uint32_t of_eight(uint32_t first, uint32_t i)
{
    return first + i % 4 + i / 4 * (TILE / 2);
}

__device__ inline void get_eight(float (&to)[8], const float *from)
{
    float4 a = *(const float4 *) from, b = *(const float4 *) (from + TILE / 2);
    to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = a.w;
    to[4] = b.x, to[5] = b.y, to[6] = b.z, to[7] = b.w;
}

/* The first of a thread's predicted rows, and of its library rows. */
struct thread_place {
    uint32_t query, column;
};

__device__ inline thread_place place_of_thread()
{
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    return {(warp % 4 * 4 + lane / 8) * 4, (warp / 4 * 8 + lane % 8) * 4};
}

/* ---- candidates on the way to their lists ---- */

/* Lists are in the memory of the device, where it takes long to count on. A block keeps
   some candidates in shared memory and hands them on together; list(query, place) then
   looks whether they are wanted. */
struct pending_rows {
    uint32_t n;
    uint2 row[PENDING];  /* predicted row in its tile, place in the library */

    __device__ void start()
    {
        if (threadIdx.x == 0)
            n = 0;
    }

    /* A thread's candidates of a tile: `pass` has 8 bits for each of its predicted rows.
       For whole warps. */
    template <class F>
    __device__ void add(const uint32_t (&pass)[2], const thread_place &own, uint32_t tile,
                        F list)
    {
        if (!__any_sync(WHOLE_WARP, pass[0] | pass[1]))
            return;
        uint32_t all, at = sum_below(__popc(pass[0]) + __popc(pass[1]), &all), base = 0;
        if (threadIdx.x % WARP == 0)
            base = atomicAdd(&n, all);
        at += __shfl_sync(WHOLE_WARP, base, 0);
        for (uint32_t half = 0; half < 2; half++)
            for (uint32_t left = pass[half]; left; left &= left - 1, at++) {
                uint32_t bit = half * 32 + __ffs(left) - 1;
                uint32_t query = of_eight(own.query, bit / 8);
                uint32_t place = tile * TILE + of_eight(own.column, bit % 8);
                if (at < PENDING)
                    row[at] = {query, place};
                else
                    list(query, place);
            }
    }

    /* A barrier; the same for all threads. */
    __device__ bool full_after_barrier()
    {
        return __syncthreads_or(*(volatile uint32_t *) &n >= PENDING / 2);
    }

    template <class F> __device__ void flush(F list)
    {
        for (uint32_t i = threadIdx.x; i < min(n, (uint32_t) PENDING); i += blockDim.x)
            list(row[i].x, row[i].y);
        __syncthreads();
        start();
        __syncthreads();
    }
};

}  // namespace gpu

#endif
