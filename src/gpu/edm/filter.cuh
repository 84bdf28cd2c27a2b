/* Which library rows may be among the nearest: pairs of rows in single precision.

   x and y are a predicted and a library row, moved to the middle of the library. As
   |x - y|^2 / 2 = |x|^2 / 2 - (x.y - |y|^2 / 2), a row is a candidate if x.y - |y|^2 / 2
   reaches a limit that belongs to x alone: one multiplication and addition a coordinate. The
   limit stands for the k-th distance so far, less all that rounding may do (limit_of()).

   A block takes 128 predicted rows and goes through tiles of 128 library rows, a thread 8
   by 8 of them. Candidates go to the predicted row's list. Tiles are searched in turns,
   each a few times as many as those before; after a turn the candidates' distances in
   double precision give new limits (choose.cuh). So lists stay short. First come the
   tiles near in time, then others, evenly spread.

   Where no number is rounded, a distance that equals the k-th is told from one that is
   nearer, and rows that are farther in time than the k-th must be nearer to be candidates:
   counts, which have many ties, need no longer lists than other data. */
#ifndef SYN_GPU_EDM_FILTER_CUH
#define SYN_GPU_EDM_FILTER_CUH

#include "gpu/edm/tiles.cuh"

#include <cfloat>

namespace gpu {

enum {
    FILTER_THREADS = 256,
    FILTER_CHUNK = 24,  /* coordinates at a time */
    HOME_TILES = 3      /* at most, that are searched first */
};

/* What has been found of a predicted row. */
struct row_state {
    float limit;      /* of candidates */
    uint32_t apart;   /* rows farther in time than this must be beyond the limit */
    uint32_t listed;  /* candidates, perhaps more than there is room for */
    uint32_t lost;    /* whether there have been more */
    double squared;   /* distance of the k-th, */
    uint32_t k_apart; /* and how far in time that is */
    uint32_t found;
};

struct filter_job {
    row_tiles library, predicted;  /* tiles of each */
    placed_rows library_rows, predicted_rows;
    uint32_t dims, exclusion;
    uint32_t tiles;      /* of the library */
    uint32_t step;       /* from each to the one that is searched next, modulo `tiles` */
    uint32_t from, to;   /* the tiles of this turn; none for those near in time */
    row_state *state;    /* [predicted] */
    uint32_t *list;      /* [predicted][room] places in the library */
    uint32_t room;
};

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

__device__ inline home_tiles home_of(const filter_job &job, uint32_t block)
{
    const placed_rows &p = job.predicted_rows, &l = job.library_rows;
    uint64_t first = p.row[block * TILE], last = p.row[min(p.n, block * TILE + TILE) - 1];
    uint32_t before = first > job.exclusion
                          ? first_from(l.row, l.n, first - job.exclusion) : 0;
    uint32_t after = first_from(l.row, l.n, last + job.exclusion + 1);
    home_tiles out;
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

__device__ inline void copy_floats(float *to, const float *from, uint32_t n)
{
    for (uint32_t i = 4 * threadIdx.x; i < n; i += 4 * FILTER_THREADS)
        copy_16(to + i, from + i);
}

/* ---- one block ---- */

struct filter_buffer {
    float x[FILTER_CHUNK][TILE];
    float y[FILTER_CHUNK][TILE];
    float half[TILE];
};

struct filter_shared {
    filter_buffer buffer[2];
    float limit[2][TILE];  /* of every other tile */
    row_state state[TILE];
    uint32_t row[TILE];
};

/* Where a block is: a tile of the library, and coordinates. */
struct filter_place {
    uint32_t turn, tile, dim;
    bool more;
    uint32_t odd;  /* 0, 1, 0, 1, ... from tile to tile */
};

struct filter_walk {
    const filter_job &job;
    filter_shared &s;
    home_tiles home;

    __device__ filter_place tile_from(uint32_t turn, uint32_t odd) const
    {
        if (job.from == job.to) {
            uint32_t tile = home.tile(turn);
            return {turn, tile, 0, tile != ~0u, odd};
        }
        while (turn < job.to) {
            uint32_t tile = (uint64_t) turn * job.step % job.tiles;
            if (!home.has(tile))
                return {turn, tile, 0, true, odd};
            turn += gridDim.y;
        }
        return {turn, 0, 0, false, odd};
    }

    __device__ filter_place next(const filter_place &at) const
    {
        if (at.dim + FILTER_CHUNK < job.dims)
            return {at.turn, at.tile, at.dim + FILTER_CHUNK, true, at.odd};
        return tile_from(at.turn + gridDim.y, at.odd ^ 1);
    }

    __device__ uint32_t width(const filter_place &at) const
    {
        return min((uint32_t) FILTER_CHUNK, job.dims - at.dim);
    }

    /* Begins to copy a chunk into one of the buffers. Coordinates of the predicted rows
       that are there already stay. */
    __device__ void load(const filter_place &at, uint32_t b, bool with_x) const
    {
        if (at.more) {
            filter_buffer &to = s.buffer[b];
            size_t from = ((size_t) at.tile * job.dims + at.dim) * TILE;
            size_t from_x = ((size_t) blockIdx.x * job.dims + at.dim) * TILE;
            copy_floats(&to.y[0][0], job.library.x + from, width(at) * TILE);
            if (with_x)
                copy_floats(&to.x[0][0], job.predicted.x + from_x, width(at) * TILE);
            if (at.dim == 0) {
                copy_floats(to.half, job.library.half + (size_t) at.tile * TILE, TILE);
                set_limits(at.tile, s.limit[at.odd]);
            }
        }
        close_copies();
    }

    __device__ void set_limits(uint32_t tile, float *limit) const
    {
        if (threadIdx.x >= TILE)
            return;
        uint32_t first = job.library_rows.row[tile * TILE];
        uint32_t last = job.library_rows.row[min(job.library_rows.n, tile * TILE + TILE) - 1];
        uint32_t row = s.row[threadIdx.x];
        uint32_t apart = row < first ? first - row : row > last ? row - last : 0;
        float mine = s.state[threadIdx.x].limit;
        bool beyond = apart > s.state[threadIdx.x].apart;
        limit[threadIdx.x] = beyond ? nextafterf(mine, INFINITY) : mine;
    }

    __device__ void emit(uint32_t tile, uint32_t query, uint32_t column) const
    {
        uint32_t place = tile * TILE + column, i = blockIdx.x * TILE + query;
        if (rows_apart(job.library_rows.row[place], s.row[query]) <= job.exclusion)
            return;
        uint32_t at = atomicAdd(&job.state[i].listed, 1u);
        if (at < job.room)
            job.list[(size_t) i * job.room + at] = place;
    }
};

/* Rows or columns of a tile that a thread has: 4 from `first` on, and 4 half a tile
   later. */
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

__global__ void __launch_bounds__(FILTER_THREADS, 2)
    filter_rows(SYN_GPU_JOB filter_job job)
{
    extern __shared__ float4 filter_memory[];
    filter_shared &s = *(filter_shared *) filter_memory;
    filter_walk walk = {job, s, home_of(job, blockIdx.x)};
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t query = (warp % 4 * 4 + lane / 8) * 4, column = (warp / 4 * 8 + lane % 8) * 4;
    bool one = job.dims <= FILTER_CHUNK;
    if (threadIdx.x < TILE) {
        uint32_t i = blockIdx.x * TILE + threadIdx.x;
        bool there = i < job.predicted_rows.n;
        s.state[threadIdx.x] = there ? job.state[i] : row_state{INFINITY, ~0u};
        s.row[threadIdx.x] = there ? job.predicted_rows.row[i] : 0;
    }
    __syncthreads();
    filter_place at = walk.tile_from(blockIdx.y, 0);
    walk.load(at, 0, true);
    float sum[8][8], x[8], y[8];
    for (uint32_t b = 0; at.more; b ^= 1) {
        filter_place later = walk.next(at);
        walk.load(later, b ^ 1, !one);
        wait_for_copies();
        __syncthreads();
        const filter_buffer &here = s.buffer[b];
        const float (*of_x)[TILE] = one ? s.buffer[0].x : here.x;
        uint32_t width = walk.width(at);
        if (at.dim == 0) {
            get_eight(y, here.half + column);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] = y[j];
        }
#pragma unroll 4
        for (uint32_t d = 0; d < width; d++) {
            get_eight(x, of_x[d] + query);
            get_eight(y, here.y[d] + column);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
        }
        if (later.dim == 0 || !later.more) {
            get_eight(x, s.limit[at.odd] + query);
#pragma unroll
            for (int i = 0; i < 8; i++) {
                bool any = false;
#pragma unroll
                for (int j = 0; j < 8; j++)
                    any = any || sum[i][j] >= x[i];
                if (any)
#pragma unroll
                    for (int j = 0; j < 8; j++)
                        if (sum[i][j] >= x[i])
                            walk.emit(at.tile, of_eight(query, i), of_eight(column, j));
            }
        }
        __syncthreads();
        at = later;
    }
}

}  // namespace gpu

#endif
