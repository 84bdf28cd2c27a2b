/* Predicting targets from the neighbours of libraries, and correlating what is predicted.

   A block holds a tile, some targets of the same E, and its warps go through libraries;
   each reads a library's table once for all targets of the tile. Sums run along: nothing
   is kept but three numbers a target.

   Rows of 128 bytes, a step each: eight lanes read a neighbour's row, so a warp predicts
   four points together without bank conflicts. Where such a tile does not fit in shared
   memory its rows are 16 bytes, in several planes, and a lane predicts a point by itself;
   arrange_entries() has the neighbours of eight points that are read together lie in
   different banks. Beyond that rows of 128 bytes are read from device memory. Targets in
   half precision without missing values are for tensor cores: see gpu/causal/halves.cuh.

   A screen goes through a table of some of the points first, and then through the whole
   one for those libraries and tiles where a pair may reach it. */
#pragma once

#include "gpu/causal/neighbours.cuh"

#include <cuda_fp16.h>

namespace gpu {

enum {
    LOOKUP_WARPS = 16,
    LOOKUP_THREADS = LOOKUP_WARPS * WARP,
    ROW_LANES = 8,         /* that read one together */
    GROUPS = WARP / 8,     /* of eight points, whose rows are read together */
    VECTOR_BYTES = 16      /* that a lane reads */
};

/* Targets of a tile, all of one E. */
struct tile {
    uint32_t e;            /* E - 1 */
    uint32_t first;        /* place of its first target */
    uint32_t n;            /* targets, the rest of the tile is empty */
    uint32_t number;
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
    double *moments;              /* [place][3] n, sum and sum of squares of the target */
    const lookup_item *items;
    float *rho;                   /* [libraries][targets] */
    uint32_t every;               /* points from one of the table to the next */
    uint32_t n_tiles;
    unsigned char *goes_on;       /* [libraries][n_tiles] set by the screen; or NULL */
    bool sample;                  /* the table is that of the screen */
    float reach;                  /* atanh of what the screen lets pass */
};

/* ---- values, in single or half precision ---- */

/* 16 bytes at an address of shared memory. */
__device__ inline uint4 shared_vector(uint32_t at)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(at));
    return v;
}

/* A number that stays in its register: the compiler would find it anew each time. */
__device__ inline uint32_t held(uint32_t x)
{
    asm volatile("" : "+r"(x));
    return x;
}

/* The float of a whole number below 2^23, which is the low bits of 2^23 + number. */
__device__ inline float whole(uint32_t bits)
{
    return __uint_as_float(0x4b000000u | bits) - 8388608.0f;
}

/* A lane's part of a row: 4 floats ... */
struct single_lane {
    enum { N = 4 };
    float4 v;

    __device__ void read(const unsigned char *at) { v = *(const float4 *) at; }

    __device__ void read_shared(uint32_t at)
    {
        uint4 bits = shared_vector(at);
        v = *(const float4 *) &bits;
    }

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

    __device__ void read_shared(uint32_t at) { v = shared_vector(at); }

    __device__ __half2 two(int i) const
    {
        uint32_t bits = i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
        return *(const __half2 *) &bits;
    }

    __device__ float at(int i) const
    {
        return i % 2 ? __high2float(two(i / 2)) : __low2float(two(i / 2));
    }
};

/* What a lane's targets are predicted to be: the weighted mean of neighbours' values. */
template <class LANE> struct prediction {
    float v[LANE::N];

    __device__ void clear()
    {
        SYN_UNROLL(i, LANE::N)
            v[i] = 0;
    }

    __device__ void add(float weight, const LANE &x)
    {
        SYN_UNROLL(i, LANE::N)
            v[i] = fmaf(weight, x.at(i), v[i]);
    }

    __device__ void scale(float by)
    {
        SYN_UNROLL(i, LANE::N)
            v[i] *= by;
    }
};

/* Running sums of a lane's targets; those of the target itself where any are missing.
   Predictions are taken from a first one, so that nothing is lost where they hardly
   differ. */
template <int N, bool MISSING> struct lane_sums {
    float first[N], p[N], pp[N], py[N];
    float n[MISSING ? N : 1];
    double y[MISSING ? N : 1], yy[MISSING ? N : 1];
    uint32_t open;  /* a bit for each target that has had no prediction yet */

    __device__ void clear()
    {
        open = (1u << N) - 1;
        SYN_UNROLL(i, N) {
            first[i] = p[i] = pp[i] = py[i] = 0;
            if (MISSING)
                n[i] = y[i] = yy[i] = 0;
        }
    }

    /* All lanes come here with their predictions and with what is `observed` where these
       count (`is`). Lanes in `alike` share targets; the first of them that has both is
       the first one. Where values are missing that may be long after the first points.
       A prediction without an observation would not do: sums of others that are equal
       but far from it differ by rounding. */
    template <class LANE>
    __device__ void begin(const float (&estimate)[N], const unsigned char *observed,
                          bool is, uint32_t alike)
    {
        /* Without missing values lanes begin together, and need not ask each other. */
        if (MISSING ? !__any_sync(~0u, open) : !open)
            return;
        LANE x = {};
        if (MISSING && is)
            x.read(observed);
        SYN_UNROLL(i, N) {
            float v = estimate[i];
            bool pair = is && !isnan(v) && !(MISSING && isnan(x.at(i)));
            uint32_t have = __ballot_sync(~0u, pair) & alike;
            float other = __shfl_sync(~0u, v, have ? __ffs(have) - 1 : 0);
            if (have && (open >> i & 1)) {
                first[i] = other;
                open &= ~(1u << i);
            }
        }
        if (!MISSING)
            open = 0;
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
        SYN_UNROLL(i, N)
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
        return correlation(of_n, p[i], pp[i], py[i], of_y, of_yy, first[i]);
    }
};

/* Adds what a lane predicts for a point, and what is observed there. */
template <class LANE, bool MISSING>
__device__ void add_point(lane_sums<LANE::N, MISSING> *sums, const prediction<LANE> &p,
                          const unsigned char *observed)
{
    LANE x;
    x.read(observed);
    SYN_UNROLL(i, LANE::N)
        sums->add(i, p.v[i], x.at(i));
}

/* Whether the correlation may be as high as the screen asks for, as far as the `n` points
   of its sample tell. */
__device__ inline bool may_reach(const lookup_job &job, float rho, float n)
{
    float points = n / (float) SYN_MAP_SCREEN_POINTS - 3, rounding = 1e-6f;
    if (isnan(rho) || points <= 0)
        return true;
    float off = (float) SYN_MAP_SCREEN_DEVIATIONS * rsqrtf(points);
    return rho >= tanhf(job.reach - off) - rounding;
}

/* Where the flag of a library and a tile is. */
__device__ inline unsigned char *flag_of(const lookup_job &job, uint32_t library,
                                         uint32_t tile)
{
    return job.goes_on + (size_t) library * job.n_tiles + tile;
}

/* Whether a library and a tile need be looked at. */
__device__ inline bool is_open(const lookup_job &job, uint32_t library, uint32_t tile)
{
    return job.sample || !job.goes_on || *flag_of(job, library, tile);
}

template <int N, bool MISSING>
__device__ void write_rho(const lookup_job &job, const lane_sums<N, MISSING> &sums,
                          const tile &of, uint32_t library, uint32_t lane_first)
{
    SYN_UNROLL(i, N) {
        uint32_t in_tile = lane_first + i;
        if (in_tile < of.n) {
            uint32_t place = of.first + in_tile;
            const double *moments = job.moments + 3 * (size_t) place;
            float rho = sums.rho(i, moments);
            if (!job.sample)
                job.rho[(size_t) library * job.targets + job.target[place]] = rho;
            else if (may_reach(job, rho, MISSING ? sums.n[i] : (float) moments[0]))
                *flag_of(job, library, of.number) = 1;
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
             i += blockDim.x * VECTOR_BYTES)
            *(uint4 *) (room + i) = *(const uint4 *) (values + i);
        __syncthreads();
        values = room;
    }
    return values;
}

/* ---- tiles of targets, and the table of a screen ---- */

/* Fills tiles: the value at a step is what the point there predicts, Tp later. Grid:
   (blocks of steps, at most as many as there are tiles). Row-wise tiles are planes as
   wide as a row. */
template <class T>
__global__ void fill_tiles(const float *value, const tile *tiles, uint32_t n_tiles,
                           const uint32_t *target, uint32_t steps, int32_t Tp,
                           uint32_t per_row, uint32_t planes, T *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= steps * per_row)
        return;
    uint32_t step = i / per_row, in_row = i % per_row;
    int64_t at = (int64_t) step + Tp;
    for (uint32_t number = blockIdx.y; number < n_tiles; number += gridDim.y) {
        tile of = tiles[number];
        for (uint32_t plane = 0; plane < planes; plane++) {
            uint32_t j = plane * per_row + in_row;
            float v = 0;
            if (j < of.n && at >= 0 && at < steps)
                v = value[(size_t) target[of.first + j] * steps + at];
            size_t row = ((size_t) number * planes + plane) * steps + step;
            out[row * per_row + in_row] = T(v);
        }
    }
}

/* n, sum and sum of squares of what the points of a table predict, which are `every` so
   many steps. A warp a target; reads the tile, so that sums are those of rounded
   values. */
template <class T>
__global__ void find_moments(const T *values, const tile *tiles, table_shape shape,
                             uint32_t every, uint32_t steps, uint32_t per_row,
                             uint32_t planes, double *moments)
{
    tile of = tiles[blockIdx.x];
    uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    uint32_t from = shape.from[of.e], rows = shape.to[of.e] - from;
    for (uint32_t j = warp; j < of.n; j += blockDim.x / WARP) {
        uint32_t plane = j / per_row, in_row = j % per_row;
        const T *row = values + ((size_t) blockIdx.x * planes + plane) * steps * per_row +
                       in_row;
        double sum = 0, squares = 0;
        for (uint32_t i = lane; i < rows; i += WARP) {
            double y = (float) row[((size_t) from + i * every) * per_row];
            sum += y;
            squares += y * y;
        }
        sum = warp_total(sum);
        squares = warp_total(squares);
        if (lane == 0) {
            double *out = moments + 3 * (size_t) (of.first + j);
            out[0] = rows;
            out[1] = sum;
            out[2] = squares;
        }
    }
}

/* Every so manieth point of a table. Grid: (blocks, E wanted, libraries). */
__global__ void sample_table(SYN_GPU_JOB table_shape shape,
                             const uint32_t *table,
                             SYN_GPU_JOB table_shape of_sample,
                             uint32_t every, entries kind, uint32_t *sample)
{
    uint32_t e = __fns(shape.wanted, 0, blockIdx.y + 1), words = row_words(kind, e + 2);
    uint32_t at = blockIdx.x * blockDim.x + threadIdx.x, row = at / words, i = at % words;
    if (row >= of_sample.to[e] - of_sample.from[e])
        return;
    const uint32_t *from = table + (size_t) blockIdx.z * shape.size;
    uint32_t *to = sample + (size_t) blockIdx.z * of_sample.size;
    to[table_word(of_sample, kind, e, row, i)] =
        from[table_word(shape, kind, e, row * every, i)];
}

}  // namespace gpu
