/* Predicting targets from the neighbours of libraries, and correlating what is predicted.

   A block holds a tile, some targets of the same E, and its warps go through libraries;
   each reads a library's table once for all targets of the tile. Sums run along: nothing
   is kept but three numbers a target.

   Rows of 128 bytes, a step each: eight lanes read a neighbour's row, so a warp predicts
   four points together without bank conflicts. Where such a tile does not fit in shared
   memory its rows are 16 bytes, in several planes, and a lane predicts a point by itself;
   the neighbours of eight points that are read together are put in an order in which they
   lie in different banks. Beyond that rows of 128 bytes are read from device memory. */
#ifndef SYN_GPU_CAUSAL_LOOKUP_CUH
#define SYN_GPU_CAUSAL_LOOKUP_CUH

#include "gpu/causal_neighbours.cuh"

#include <cuda_fp16.h>

#include <type_traits>

namespace gpu {

enum {
    LOOKUP_WARPS = 16,
    LOOKUP_THREADS = LOOKUP_WARPS * EDM_WARP,
    ROW_BYTES = 128,       /* of a step in a tile of whole rows */
    ROW_LANES = 8,         /* that read one together */
    VECTOR_BYTES = 16      /* that a lane reads */
};

/* Targets of a tile, all of one E. */
struct tile {
    uint32_t e;            /* E - 1 */
    uint32_t first;        /* place of its first target */
    uint32_t n;            /* targets, the rest of the tile is empty */
};

/* What a block does: a tile and some libraries. */
struct lookup_item {
    uint32_t tile, from, to;
};

struct lookup_job {
    table_shape shape;
    const uint32_t *table; /* [libraries][shape.size] */
    const tile *tiles;
    const unsigned char *values;  /* [tiles][bytes of a tile] */
    size_t tile_bytes;
    uint32_t planes;
    uint32_t steps, targets;
    const uint32_t *target;       /* [place] number of the target */
    const double *moments;        /* [place][3] n, sum and sum of squares of the target */
    const lookup_item *items;
    float *rho;                   /* [libraries][targets] */
};

/* ---- values, in single or half precision ---- */

/* A lane's part of a row: 4 floats ... */
struct single_lane {
    enum { N = 4 };
    float4 v;

    __device__ void read(const unsigned char *at) { v = *(const float4 *) at; }

    __device__ float at(int i) const
    {
        return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
    }
};

/* ... or 8 halves. */
struct half_lane {
    enum { N = 8 };
    uint4 v;

    __device__ void read(const unsigned char *at) { v = *(const uint4 *) at; }

    __device__ float at(int i) const
    {
        uint32_t two = i < 2 ? v.x : i < 4 ? v.y : i < 6 ? v.z : v.w;
        __half2 both = *(const __half2 *) &two;
        return i % 2 ? __high2float(both) : __low2float(both);
    }
};

/* What a lane's targets are predicted to be: the weighted mean of neighbours' values. */
template <class LANE> struct prediction {
    float v[LANE::N];

    __device__ void clear()
    {
#pragma unroll
        for (int i = 0; i < LANE::N; i++)
            v[i] = 0;
    }

    __device__ void add(float weight, const LANE &x)
    {
#pragma unroll
        for (int i = 0; i < LANE::N; i++)
            v[i] = fmaf(weight, x.at(i), v[i]);
    }

    __device__ void scale(float by)
    {
#pragma unroll
        for (int i = 0; i < LANE::N; i++)
            v[i] *= by;
    }
};

/* A whole number of up to 23 bits: behind those of 2^23 they make a float. */
__device__ inline float whole(uint32_t bits)
{
    return __uint_as_float(0x4b000000u | bits) - 8388608.0f;
}

/* Running sums of a lane's targets; those of the target itself where any are missing.
   Predictions are taken from a first one, so that nothing is lost where they hardly
   differ. */
template <int N, bool MISSING> struct lane_sums {
    float first[N], p[N], pp[N], py[N];
    float n[MISSING ? N : 1];
    double y[MISSING ? N : 1], yy[MISSING ? N : 1];
    bool begun;

    __device__ void clear()
    {
        begun = false;
#pragma unroll
        for (int i = 0; i < N; i++) {
            first[i] = p[i] = pp[i] = py[i] = 0;
            if (MISSING)
                n[i] = y[i] = yy[i] = 0;
        }
    }

    /* All lanes come here with their first predictions; those of the lanes in `alike`
       share targets, and the first of these that has a prediction is the first one. */
    __device__ void begin(const float (&told)[N], bool is, uint32_t alike)
    {
        begun = true;
#pragma unroll
        for (int i = 0; i < N; i++) {
            float v = told[i];
            uint32_t have = __ballot_sync(~0u, is && !isnan(v)) & alike;
            float other = __shfl_sync(~0u, v, have ? __ffs(have) - 1 : 0);
            first[i] = have ? other : 0;
        }
    }

    __device__ void add(int i, float prediction, float observed)
    {
        float off = prediction - first[i];
        if (MISSING) {
            if (isnan(off) || isnan(observed))
                return;
            double seen = observed;
            n[i] += 1;
            y[i] += seen;
            yy[i] = fma(seen, seen, yy[i]);
        }
        p[i] += off;
        pp[i] = fmaf(off, off, pp[i]);
        py[i] = fmaf(off, observed, py[i]);
    }

    /* Adds the sums of lanes that share targets: they differ in the bits of their numbers
       from `from` to before `to`. */
    __device__ void gather(int from, int to)
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            for (int o = from; o < to; o *= 2) {
                p[i] += __shfl_xor_sync(~0u, p[i], o);
                pp[i] += __shfl_xor_sync(~0u, pp[i], o);
                py[i] += __shfl_xor_sync(~0u, py[i], o);
                if (MISSING) {
                    n[i] += __shfl_xor_sync(~0u, n[i], o);
                    y[i] += __shfl_xor_sync(~0u, y[i], o);
                    yy[i] += __shfl_xor_sync(~0u, yy[i], o);
                }
            }
    }

    /* Sums of the target are those of all points, unless some are missing: then a pair
       without missing values gets the same as where no other has any. */
    __device__ float rho(int i, const double *moments) const
    {
        double of_n = moments[0], of_y = moments[1], of_yy = moments[2];
        if (MISSING && n[i] != of_n) {
            of_n = n[i];
            of_y = y[i];
            of_yy = yy[i];
        }
        return correlation(of_n, p[i], pp[i], py[i], of_y, of_yy);
    }
};

template <int N, bool MISSING>
__device__ void write_rho(const lookup_job &job, const lane_sums<N, MISSING> &sums,
                          const tile &of, uint32_t library, uint32_t lane_first)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        uint32_t in_tile = lane_first + i;
        if (in_tile < of.n) {
            uint32_t place = of.first + in_tile;
            job.rho[(size_t) library * job.targets + job.target[place]] =
                sums.rho(i, job.moments + 3 * (size_t) place);
        }
    }
}

/* The tile where it is read: in shared memory, if that is where it goes. */
template <bool STAGED>
__device__ const unsigned char *stage_tile(const lookup_job &job, uint32_t tile,
                                           unsigned char *room)
{
    const unsigned char *values = job.values + tile * job.tile_bytes;
    if (STAGED) {
        for (size_t i = threadIdx.x * VECTOR_BYTES; i < job.tile_bytes;
             i += LOOKUP_THREADS * VECTOR_BYTES)
            *(uint4 *) (room + i) = *(const uint4 *) (values + i);
        __syncthreads();
        values = room;
    }
    return values;
}

/* ---- rows of 128 bytes ---- */

/* Adds N neighbours with narrow entries, words FROM to FROM + N - 1 of 16 bytes; their
   rows are read together. */
template <int FROM, int N, class LANE>
__device__ void add_narrow(const unsigned char *values, const uint4 &entry,
                           prediction<LANE> *p)
{
    const uint32_t word[4] = {entry.x, entry.y, entry.z, entry.w};
    LANE x[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i].read(values + (word[FROM + i] >> 21 << 7));
#pragma unroll
    for (int i = 0; i < N; i++)
        p->add(whole(word[FROM + i] & MOST_21), x[i]);
}

/* The same for the first n of the words from FROM on. */
template <int FROM, class LANE>
__device__ void add_some(const unsigned char *values, const uint4 &entry, uint32_t n,
                         prediction<LANE> *p)
{
    if (n >= 4 - FROM)
        add_narrow<FROM, 4 - FROM>(values, entry, p);
    else if (n == 3)
        add_narrow<FROM, FROM ? 1 : 3>(values, entry, p);
    else if (n == 2)
        add_narrow<FROM, 2>(values, entry, p);
    else
        add_narrow<FROM, 1>(values, entry, p);
}

/* Goes through a library with narrow entries, VECTORS times 16 bytes a point. Those of the
   next points are read while these are predicted. */
template <class LANE, int VECTORS, bool MISSING>
__device__ void correlate_narrow(const lookup_job &job, const tile &of,
                                 const unsigned char *values, uint32_t library)
{
    uint32_t lane = threadIdx.x % EDM_WARP, k = of.e + 2;
    uint32_t from = job.shape.from[of.e], rows = job.shape.to[of.e] - from;
    uint32_t row = lane / ROW_LANES, last = k + 1 - 4 * (VECTORS - 1);
    const uint4 *entry = (const uint4 *) (job.table + (size_t) library * job.shape.size +
                                          job.shape.offset[of.e]) + row * VECTORS;
    const unsigned char *mine = values + lane % ROW_LANES * VECTOR_BYTES;
    const unsigned char *observed = mine + (size_t) from * ROW_BYTES;
    lane_sums<LANE::N, MISSING> sums;
    sums.clear();
    uint4 ahead[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
        ahead[i] = entry[i];
    for (; row - lane / ROW_LANES < rows; row += EDM_WARP / ROW_LANES) {
        LANE x;
        prediction<LANE> p;
        uint4 now[VECTORS];
        entry += VECTORS * (EDM_WARP / ROW_LANES);
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            now[i] = ahead[i];
            ahead[i] = entry[i];
        }
        p.clear();
        if (VECTORS == 1)
            add_some<1>(mine, now[0], last - 1, &p);
        else
            add_narrow<1, 3>(mine, now[0], &p);
#pragma unroll
        for (int i = 1; i < VECTORS - 1; i++)
            add_narrow<0, 4>(mine, now[i], &p);
        if (VECTORS > 1)
            add_some<0>(mine, now[VECTORS - 1], last, &p);
        float scale = __uint_as_float(now[0].x);
        bool is = row < rows && !(MISSING && isnan(scale));
        p.scale(scale);
        if (!sums.begun)
            sums.begin(p.v, is, 0x01010101u << lane % ROW_LANES);
        if (!is)
            continue;
        x.read(observed + row * ROW_BYTES);
#pragma unroll
        for (int i = 0; i < LANE::N; i++)
            sums.add(i, p.v[i], x.at(i));
    }
    sums.gather(ROW_LANES, EDM_WARP);
    if (lane < ROW_LANES)
        write_rho(job, sums, of, library, lane * LANE::N);
}

/* The same with wide entries, and a tile in device memory. */
template <class LANE, bool MISSING>
__device__ void correlate_wide(const lookup_job &job, const tile &of,
                               const unsigned char *values, uint32_t library)
{
    uint32_t lane = threadIdx.x % EDM_WARP, k = of.e + 2;
    uint32_t vectors = row_words(entries::wide, k) / 4;
    uint32_t from = job.shape.from[of.e], rows = job.shape.to[of.e] - from;
    const uint4 *entry = (const uint4 *) (job.table + (size_t) library * job.shape.size +
                                          job.shape.offset[of.e]);
    const unsigned char *mine = values + lane % ROW_LANES * VECTOR_BYTES;
    const unsigned char *observed = mine + (size_t) from * ROW_BYTES;
    lane_sums<LANE::N, MISSING> sums;
    sums.clear();
    for (uint32_t begin = 0; begin < rows; begin += EDM_WARP / ROW_LANES) {
        uint32_t row = begin + lane / ROW_LANES;
        LANE x, y;
        prediction<LANE> p;
        float weight = 0;
        p.clear();
#pragma unroll 2
        for (uint32_t j = 0; j < vectors; j++) {
            uint4 two = entry[(size_t) row * vectors + j];
            x.read(mine + two.y);
            p.add(__uint_as_float(two.x), x);
            weight += __uint_as_float(two.x);
            if (2 * j + 1 == k)
                break;
            y.read(mine + two.w);
            p.add(__uint_as_float(two.z), y);
            weight += __uint_as_float(two.z);
        }
        bool is = row < rows;
        p.scale(1 / weight);
        if (!sums.begun)
            sums.begin(p.v, is, 0x01010101u << lane % ROW_LANES);
        if (!is)
            continue;
        x.read(observed + (size_t) row * ROW_BYTES);
#pragma unroll
        for (int i = 0; i < LANE::N; i++)
            sums.add(i, p.v[i], x.at(i));
    }
    sums.gather(ROW_LANES, EDM_WARP);
    if (lane < ROW_LANES)
        write_rho(job, sums, of, library, lane * LANE::N);
}

/* Narrow entries where the tile is in shared memory, wide ones where it is not. */
template <class LANE, bool MISSING, bool STAGED>
__global__ void __launch_bounds__(LOOKUP_THREADS, 1)
correlate_rows(__grid_constant__ const lookup_job job)
{
    extern __shared__ unsigned char tile_room[];
    lookup_item item = job.items[blockIdx.x];
    tile of = job.tiles[item.tile];
    const unsigned char *values = stage_tile<STAGED>(job, item.tile, tile_room);
    auto each = [&](auto correlate) {
        uint32_t first = item.from + threadIdx.x / EDM_WARP;
        for (uint32_t l = first; l < item.to; l += LOOKUP_WARPS)
            correlate(l);
    };
    if (!STAGED) {
        each([&](uint32_t l) { correlate_wide<LANE, MISSING>(job, of, values, l); });
        return;
    }
#define SYN_CASE(V)                                                                     \
    case V:                                                                             \
        each([&](uint32_t l) { correlate_narrow<LANE, V, MISSING>(job, of, values, l); }); \
        break
    switch (STAGED ? row_words(entries::narrow, of.e + 2) / 4 : 0) {
        SYN_CASE(1);
        SYN_CASE(2);
        SYN_CASE(3);
        SYN_CASE(4);
        SYN_CASE(5);
        SYN_CASE(6);
        SYN_CASE(7);
        SYN_CASE(8);
    }
#undef SYN_CASE
}

/* ---- rows of 16 bytes in planes ---- */

/* Adds N neighbours of a lane's point to its targets in every plane; returns their
   weight. */
template <class LANE, int PLANES, int N>
__device__ float predict_lane(const unsigned char *values, size_t plane,
                              const uint32_t *entry, prediction<LANE> *p)
{
    float weight = 0;
#pragma unroll
    for (int q = 0; q < PLANES; q++) {
        LANE x[N];
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i].read(values + q * plane + (entry[i] & 0xffffu) * VECTOR_BYTES);
#pragma unroll
        for (int i = 0; i < N; i++)
            p[q].add(whole(entry[i] >> 16), x[i]);
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        weight += whole(entry[i] >> 16);
    return weight;
}

/* Targets in PLANES planes from `first_plane` on. */
template <class LANE, int PLANES, bool MISSING>
__device__ void correlate_by_lanes(const lookup_job &job, const tile &of,
                                   const unsigned char *values, uint32_t first_plane,
                                   uint32_t library)
{
    constexpr int MORE = 8;  /* entries read in advance */
    uint32_t lane = threadIdx.x % EDM_WARP, k = of.e + 2;
    uint32_t from = job.shape.from[of.e], rows = job.shape.to[of.e] - from;
    size_t plane = (size_t) job.steps * VECTOR_BYTES;
    const uint32_t *entry = job.table + (size_t) library * job.shape.size +
                            job.shape.offset[of.e] + lane;
    values += first_plane * plane;
    lane_sums<LANE::N, MISSING> sums[PLANES];
#pragma unroll
    for (int q = 0; q < PLANES; q++)
        sums[q].clear();
    uint32_t ahead[MORE];
#pragma unroll
    for (int i = 0; i < MORE; i++)
        if (i < k)
            ahead[i] = entry[i * EDM_WARP];
    for (uint32_t row = lane; row - lane < rows; row += EDM_WARP) {
        LANE x;
        prediction<LANE> p[PLANES];
        float weight = 0;
        uint32_t first = ahead[0];
#pragma unroll
        for (int q = 0; q < PLANES; q++)
            p[q].clear();
        for (uint32_t j = 0; j < k; j += MORE) {
            uint32_t now[MORE], next = j + MORE;
            if (next >= k) {  /* of the next 32 rows */
                next = 0;
                entry += k * EDM_WARP;
            }
#pragma unroll
            for (int i = 0; i < MORE; i++) {
                now[i] = ahead[i];
                if (next + i < k)
                    ahead[i] = entry[(next + i) * EDM_WARP];
            }
#pragma unroll
            for (int i = 0; i < MORE; i += 2) {
                if (j + i + 1 < k)
                    weight += predict_lane<LANE, PLANES, 2>(values, plane, now + i, p);
                else if (j + i < k)
                    weight += predict_lane<LANE, PLANES, 1>(values, plane, now + i, p);
            }
        }
        bool is = row < rows && !(MISSING && first >> 16 == NO_POINT_16);
#pragma unroll
        for (int q = 0; q < PLANES; q++) {
            p[q].scale(1 / weight);
            if (!sums[q].begun)
                sums[q].begin(p[q].v, is, ~0u);
        }
        if (!is)
            continue;
#pragma unroll
        for (int q = 0; q < PLANES; q++) {
            x.read(values + q * plane + (size_t) (from + row) * VECTOR_BYTES);
#pragma unroll
            for (int i = 0; i < LANE::N; i++)
                sums[q].add(i, p[q].v[i], x.at(i));
        }
    }
#pragma unroll
    for (int q = 0; q < PLANES; q++) {
        sums[q].gather(1, EDM_WARP);
        if (lane == 0)
            write_rho(job, sums[q], of, library, (first_plane + q) * LANE::N);
    }
}

template <class LANE, int PLANES, bool MISSING>
__global__ void __launch_bounds__(LOOKUP_THREADS, 1)
correlate_lanes(__grid_constant__ const lookup_job job)
{
    extern __shared__ unsigned char tile_room[];
    lookup_item item = job.items[blockIdx.x];
    tile of = job.tiles[item.tile];
    const unsigned char *values = stage_tile<true>(job, item.tile, tile_room);
    for (uint32_t l = item.from + threadIdx.x / EDM_WARP; l < item.to; l += LOOKUP_WARPS)
        for (uint32_t plane = 0; plane < job.planes; plane += PLANES)
            correlate_by_lanes<LANE, PLANES, MISSING>(job, of, values, plane, l);
}

/* Reorders packed entries: of the eight points that a quarter of a warp reads together,
   each next neighbour should lie in another bank group; groups that have most neighbours
   left come first. A thread eight points; grid: (blocks, E wanted, libraries). */
__global__ void spread_over_banks(__grid_constant__ const table_shape shape,
                                  uint32_t *table)
{
    uint32_t e = __fns(shape.wanted, 0, blockIdx.y + 1), k = e + 2;
    uint32_t rows = shape.to[e] - shape.from[e];
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 8 >= rows)
        return;
    uint32_t *entry = table + (size_t) blockIdx.z * shape.size + shape.offset[e] +
                      (size_t) (i / 4) * k * EDM_WARP + i % 4 * 8;
    uint64_t left = 0;  /* neighbours in each bank group, 8 bits each */
    for (uint32_t j = 0; j < k; j++)
        for (uint32_t lane = 0; lane < 8; lane++)
            left += 1ull << 8 * (entry[j * EDM_WARP + lane] & 7);
    for (uint32_t j = 0; j < k; j++) {
        uint32_t used = 0;
        for (uint32_t turn = 0; turn < 8; turn++) {
            uint32_t lane = (turn + j) & 7;  /* all have the first choice in turn */
            int32_t best = -1;
            uint32_t at = j, group = 0;
            for (uint32_t other = j; other < k; other++) {
                uint32_t g = entry[other * EDM_WARP + lane] & 7;
                int32_t score = (left >> 8 * g & 255) + (used >> g & 1 ? 0 : 256);
                if (score > best) {
                    best = score;
                    at = other;
                    group = g;
                }
            }
            uint32_t chosen = entry[at * EDM_WARP + lane];
            entry[at * EDM_WARP + lane] = entry[j * EDM_WARP + lane];
            entry[j * EDM_WARP + lane] = chosen;
            used |= 1u << group;
            left -= 1ull << 8 * group;
        }
    }
}

/* ---- tiles ---- */

/* Fills tiles: the value at a step is what the point there predicts, Tp later. Grid:
   (blocks of steps, tiles). Row-wise tiles are planes as wide as a row. */
template <class T>
__global__ void fill_tiles(const float *value, const tile *tiles, const uint32_t *target,
                           uint32_t steps, int32_t Tp, uint32_t per_row, uint32_t planes,
                           T *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= steps * per_row)
        return;
    uint32_t step = i / per_row, in_row = i % per_row;
    tile of = tiles[blockIdx.y];
    int64_t at = (int64_t) step + Tp;
    for (uint32_t plane = 0; plane < planes; plane++) {
        uint32_t j = plane * per_row + in_row;
        float v = 0;
        if (j < of.n && at >= 0 && at < steps)
            v = value[(size_t) target[of.first + j] * steps + at];
        size_t row = ((size_t) blockIdx.y * planes + plane) * steps + step;
        out[row * per_row + in_row] = T(v);
    }
}

/* n, sum and sum of squares of what the points from `from` to `to` predict. A warp a
   target; reads the tile, so that sums are those of rounded values. */
template <class T>
__global__ void find_moments(const T *values, const tile *tiles, table_shape shape,
                             uint32_t steps, uint32_t per_row, uint32_t planes,
                             double *moments)
{
    tile of = tiles[blockIdx.x];
    uint32_t warp = threadIdx.x / EDM_WARP, lane = threadIdx.x % EDM_WARP;
    uint32_t from = shape.from[of.e], to = shape.to[of.e];
    for (uint32_t j = warp; j < of.n; j += blockDim.x / EDM_WARP) {
        uint32_t plane = j / per_row, in_row = j % per_row;
        const T *row = values + ((size_t) blockIdx.x * planes + plane) * steps * per_row +
                       in_row;
        double sum = 0, squares = 0;
        for (uint32_t t = from + lane; t < to; t += EDM_WARP) {
            double y = (float) row[(size_t) t * per_row];
            sum += y;
            squares += y * y;
        }
        for (int o = EDM_WARP / 2; o > 0; o /= 2) {
            sum += __shfl_xor_sync(~0u, sum, o);
            squares += __shfl_xor_sync(~0u, squares, o);
        }
        if (lane == 0) {
            double *out = moments + 3 * (size_t) (of.first + j);
            out[0] = to > from ? to - from : 0;
            out[1] = sum;
            out[2] = squares;
        }
    }
}

}  // namespace gpu

#endif
