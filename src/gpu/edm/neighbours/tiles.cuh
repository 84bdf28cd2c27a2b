/* Points as the filters take them: moved to the middle of the library, scaled, in
   single precision, 128 rows a tile; in which order the tiles of a library are
   searched, how they come to shared memory. */
#pragma once

#include "gpu/edm/neighbours/neighbours.cuh"

#include <cmath>

namespace gpu {

enum { TILE = 128 };

inline uint32_t tiles_of(uint32_t rows)
{
    return (rows + TILE - 1) / TILE;
}

/* How the coordinates of a library lie. */
struct axis_range {
    double low, high, sum;
    int32_t unit;   /* all are multiples of 2^unit */

    __host__ __device__ void join(const axis_range &o)
    {
        low = fmin(low, o.low);
        high = fmax(high, o.high);
        sum += o.sum;
        unit = unit < o.unit ? unit : o.unit;
    }
};

/* Where the filter's coordinates come from: (x - centre[d]) * scale. */
struct filter_frame {
    const double *centre;  /* [dims] */
    double scale;          /* a power of two */
    double whole_most;     /* coordinates no larger, in whole numbers, have sums of
                              products without rounding; -1: coordinates are not whole */
};

/* Larger coordinates than this have squares beyond single precision, or nearly so. */
constexpr double FRAME_MOST = 1e15;

struct row_tiles {
    float *x;       /* [tiles][dims][TILE] */
    float *half;    /* [tiles][TILE] minus half the squared norm, for no row minus
                       infinity */
    double *norm;   /* [tiles][TILE] of predicted rows: its square, negative for a row
                       that the filter cannot take */
    uint32_t *whole;/* [tiles][TILE] of predicted rows: whether nothing is rounded */
};

/* The exponent of the last bit that a number has; a large one for 0. */
__device__ inline int32_t unit_of(double x)
{
    int64_t bits = __double_as_longlong(x) & 0x7fffffffffffffffll;
    if (bits == 0)
        return 2000;
    int32_t exponent = (int32_t) (bits >> 52);
    int64_t digits = (bits & 0xfffffffffffffll) | (exponent ? 1ll << 52 : 0);
    return (exponent ? exponent : 1) - 1075 + (__ffsll(digits) - 1);
}

enum { RANGE_THREADS = 1024, RANGE_BLOCKS = 16 };

/* Blocks of x: parts of the library; of y: coordinates. `out`: [dims][RANGE_BLOCKS]. */
static __global__ void find_ranges(placed_points points, placed_rows library,
                                   axis_range *out)
{
    __shared__ axis_range warps[RANGE_THREADS / WARP];
    for (uint32_t d = blockIdx.y; d < points.dims; d += gridDim.y) {
        const double *x = points.coordinate + (size_t) d * points.rows;
        axis_range mine = {1e308, -1e308, 0, 2000};
        for (uint32_t i = blockIdx.x * RANGE_THREADS + threadIdx.x; i < library.n;
             i += RANGE_BLOCKS * RANGE_THREADS) {
            double v = x[library.row[i]];
            if (!isfinite(v))
                continue;
            mine.join({v, v, v, unit_of(v)});
        }
        for (int s = WARP / 2; s > 0; s /= 2)
            mine.join({__shfl_xor_sync(WHOLE_WARP, mine.low, s),
                       __shfl_xor_sync(WHOLE_WARP, mine.high, s),
                       __shfl_xor_sync(WHOLE_WARP, mine.sum, s),
                       __shfl_xor_sync(WHOLE_WARP, mine.unit, s)});
        if (threadIdx.x % WARP == 0)
            warps[threadIdx.x / WARP] = mine;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (uint32_t w = 1; w < RANGE_THREADS / WARP; w++)
                mine.join(warps[w]);
            out[(size_t) d * RANGE_BLOCKS + blockIdx.x] = mine;
        }
        __syncthreads();
    }
}

/* Fills tiles of library or predicted rows, a thread a row; `by_row` gets them in double
   precision, [rows][dims, made even], where it is not NULL. */
static __global__ void fill_tiles(placed_points points, placed_rows rows,
                                  filter_frame frame, row_tiles out, double *by_row)
{
    uint32_t i = blockIdx.x * TILE + threadIdx.x;
    bool there = i < rows.n;
    size_t tile = (size_t) blockIdx.x * points.dims * TILE;
    uint32_t row = there ? rows.row[i] : 0;
    double norm = 0, most = 0;
    bool whole = frame.whole_most >= 0;
    for (uint32_t d = 0; d < points.dims; d++) {
        double x = there ? points.coordinate[(size_t) d * points.rows + row] : 0;
        if (by_row && there)
            by_row[(size_t) i * ((points.dims + 1) & ~1u) + d] = x;
        double v = there ? (x - frame.centre[d]) * frame.scale : 0;
        float f = (float) v;
        most = isfinite(v) ? fmax(most, fabs(v)) : INFINITY;
        whole = whole && rint(v) == v;
        norm += (double) f * f;
        out.x[tile + d * TILE + threadIdx.x] = isfinite(v) ? f : 0;
    }
    bool use = there && most <= FRAME_MOST;
    if (out.half)
        out.half[i] = use ? (float) (-norm / 2) : -INFINITY;
    if (out.norm) {
        out.norm[i] = use ? norm : -1;
        out.whole[i] = whole && use && most <= frame.whole_most;
    }
}

/* The sorted places of each tile of a library, a block a tile. */
static __global__ void sort_tiles(placed_rows library, uint32_t *shuffled)
{
    __shared__ uint32_t place[TILE];
    uint32_t first = blockIdx.x * TILE;
    sort_places(library.row + first, min(library.n - first, (uint32_t) TILE), place,
                shuffled + first);
}

/* ---- twins: points that are the same have the same number, that of one of them ---- */

constexpr uint32_t NO_PLACE = ~0u;

__device__ inline uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ull;
    return x ^ (x >> 29);
}

__device__ inline bool same_points(const double *a, const double *b, uint32_t dims)
{
    for (uint32_t d = 0; d < dims; d++)
        if (a[d] != b[d])
            return false;
    return true;
}

/* A thread a place. `table` has `slots` of them, a power of two above n, all NO_PLACE:
   the first of several that are the same takes a slot, and others find it there. */
static __global__ void number_twins(const double *by_row, uint32_t width, uint32_t dims,
                             uint32_t n, uint32_t *table, uint32_t slots, uint32_t *twin)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const double *mine = by_row + (size_t) i * width;
    uint64_t hash = 0;
    for (uint32_t d = 0; d < dims; d++)
        hash = mixed(hash + __double_as_longlong(mine[d] + 0.0));
    uint32_t at = (uint32_t) (hash >> 32) & (slots - 1), of = i;
    for (;; at = (at + 1) & (slots - 1)) {
        uint32_t there = *(volatile uint32_t *) &table[at];
        if (there == NO_PLACE)
            there = atomicCAS(&table[at], NO_PLACE, i);
        of = there == NO_PLACE ? i : there;
        if (of == i || same_points(mine, by_row + (size_t) of * width, dims))
            break;
    }
    twin[i] = of;
}

/* ---- in which order tiles of a library are searched ---- */

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
    uint32_t from = 0, to = 0;  /* the tiles of this turn; none for those near in time */
    bool homes = true;  /* those were searched first */
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

/* ---- what both kinds of filter and chooser know of their rows ---- */

/* What has been found of a predicted row. */
struct row_limits {
    float limit;      /* of candidates, */
    float beyond;     /* and of those that come after the k-th in the order of ties */
    double squared;   /* distance of the k-th, */
    uint32_t rank;    /* how far it comes after the predicted row, */
    uint32_t twin;    /* and the number of its point */
};

struct choosing {
    placed_points points;
    placed_rows library_rows, predicted_rows;
    const double *by_row;    /* [library][width] coordinates, the width even */
    const uint32_t *twin;    /* [library] numbers of points */
    uint32_t *list;          /* [predicted][room] places in the library */
    uint32_t room;
    uint32_t warps;          /* of a block */
    uint32_t first;          /* number of the first predicted row in `out`, */
    const uint32_t *number;  /* or those of all of them; may be NULL */
    bool last;               /* the neighbours are wanted, not limits */
    placed_neighbours out;
    uint32_t *lost_rows, *n_lost;

    __device__ uint32_t number_of(uint32_t i) const
    {
        return number ? number[i] : first + i;
    }

    /* How far a library row comes after a row in the order of ties. */
    __device__ uint32_t rank_of(uint32_t place, uint32_t row) const
    {
        return syn_rank_after(library_rows.row[place], syn_row_rank(row));
    }
};

/* Rows whose lists were too short, and how far they reach if that matters. */
static __global__ void gather_lost(const uint32_t *lost, uint32_t n, placed_rows rows,
                                   const uint32_t *reach, uint32_t first, uint32_t *row,
                                   uint32_t *reach_to, uint32_t *number)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    row[i] = rows.row[lost[i]];
    number[i] = first + lost[i];
    if (reach)
        reach_to[i] = reach[lost[i]];
}

}  // namespace gpu
