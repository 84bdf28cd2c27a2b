/* What becomes of neighbours: the table of their library, or the skill of predicting the
   library itself from them. */
#ifndef SYN_GPU_CAUSAL_NEIGHBOURS_CUH
#define SYN_GPU_CAUSAL_NEIGHBOURS_CUH

#include "core/base/measure.h"
#include "gpu/causal/search.cuh"

namespace gpu {

enum { SUMS = 6 };  /* n, p, p^2, p y, y, y^2 */

/* Fast, and right to a few units in the last of a float's 24 bits; numbers below 1e-38
   are taken as 0. */
__device__ inline float root(float x)
{
    asm("sqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}

__device__ inline float power_of_two(float x)
{
    asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}

__device__ inline float reciprocal(float x)
{
    asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}

/* Weight of this lane's neighbour, as a share of that of the nearest; 0 without one, as
   that is infinitely far, and NaN where no lane has one. */
__device__ inline float weight_of(const neighbour &near)
{
    const float log2_e = 1.442695041f, floor = (float) SYN_LEAST_DISTANCE;
    float far = root(near.d);
    float nearest = __uint_as_float(warp_least(__float_as_uint(far)));
    float rate = log2_e * reciprocal(fmaxf(nearest, floor));
    return power_of_two((nearest - far) * rate);
}

/* Writes neighbours into the table of their library, in the order of the pool, so that
   what is added up is always added up in the same order. Weights are relative to that of
   the nearest. */
struct table_sink {
    const table_shape &shape;
    uint32_t *table;       /* of the library */
    uint32_t lane;
    uint32_t unit;         /* bytes of a row of a tile */
    entries kind;
    uint32_t point;        /* in lane e the point's first word for E = e + 1, or NOWHERE;
                              a library has less than 2^32 words */

    static constexpr uint32_t NOWHERE = UINT32_MAX;

    __device__ void begin(int32_t step)
    {
        uint32_t e = min(lane, SYN_MAP_DIMS - 1u), row = step - shape.from[e];
        bool is = (uint32_t) step >= shape.from[e] && (uint32_t) step < shape.to[e];
        point = is ? (uint32_t) table_word(shape, kind, e, row, 0) : NOWHERE;
    }

    __device__ void end() const {}

    __device__ void write(uint32_t at, uint32_t place, uint32_t bits, uint32_t of) const
    {
        if (kind == entries::packed)
            table[at + place * WARP] = of | bits << 16;
        else if (kind == entries::wide)
            *(uint2 *) (table + at + 2 * place) = make_uint2(bits, of * unit);
        else
            table[at + place + 1] = of << 21 | bits;
    }

    /* What goes before narrow entries. */
    __device__ void write_scale(uint32_t at, uint32_t found, uint32_t bits) const
    {
        uint32_t sum = warp_sum(bits);
        float scale = found ? reciprocal(sum) : __int_as_float(0x7fc00000);
        if (lane == 0)
            table[at] = __float_as_uint(scale);
    }

    __device__ void operator()(uint32_t e, const neighbour &near) const
    {
        put(e, near, weight_of(near));
    }

    /* What lacks neighbours gets others of no weight. */
    __device__ void put(uint32_t e, const neighbour &near, float weight) const
    {
        uint32_t at = __shfl_sync(WHOLE_WARP, point, e);
        if (at == NOWHERE)
            return;
        uint32_t bits = weight * (kind == entries::narrow ? MOST_21 : MOST_16) + 0.5f;
        if (kind == entries::wide)
            bits = __float_as_uint(weight);
        else if (kind == entries::narrow)
            write_scale(at, near.found, bits);
        else if (!near.found)
            bits = NO_POINT_16;
        if (near.place < e + 2)
            write(at, near.place, bits, near.step);
    }
};

/* Predicts the library's own target, Tp later, and adds up what a correlation needs: lane
   e has the sums for E = e + 1. */
struct skill_sink {
    const float *value;    /* [steps] */
    uint32_t lane;
    int32_t Tp, step;
    float predicted;
    double (&sum)[SUMS];

    __device__ void begin(int32_t of)
    {
        step = of;
        predicted = __int_as_float(0x7fc00000);
    }

    __device__ void operator()(uint32_t e, const neighbour &near)
    {
        float after = what_follows(near);
        add(e, weight_of(near), after);
    }

    /* The value that this lane's neighbour has, Tp later; asked for before the weight, so
       that it is there in time. */
    __device__ float what_follows(const neighbour &near) const
    {
        return near.is() ? value[near.step + Tp] : 0;
    }

    __device__ void add(uint32_t e, float weight, float after)
    {
        float part = weight * after;
        /* One half of the lanes adds up weights, and the other one parts. */
        bool upper = lane >= WARP / 2;
        float mine = upper ? part : weight, other = upper ? weight : part;
        mine += __shfl_xor_sync(WHOLE_WARP, other, WARP / 2);
        for (int o = WARP / 4; o > 0; o /= 2)
            mine += __shfl_xor_sync(WHOLE_WARP, mine, o);
        other = __shfl_xor_sync(WHOLE_WARP, mine, WARP / 2);
        if (lane == e)
            predicted = upper ? mine / other : other / mine;
    }

    __device__ void end()
    {
        float observed = value[step + Tp];
        if (isnan(predicted) || isnan(observed))
            return;
        double of = predicted, is = observed;
        sum[0] += 1;
        sum[1] += of;
        sum[2] = fma(of, of, sum[2]);
        sum[3] = fma(of, is, sum[3]);
        sum[4] += is;
        sum[5] = fma(is, is, sum[5]);
    }
};

/* Finds the neighbours of each predicted place of this warp's part. */
template <int TOP, class F>
__device__ void search_rows(const search_job &job, const searcher<TOP> &search, F &sink)
{
    uint32_t warp = blockIdx.x * SEARCH_WARPS + threadIdx.x / WARP;
    uint32_t first = warp * SEARCH_ROWS;
    uint32_t end = min(first + SEARCH_ROWS, job.places);
    bool known = false, tied = false;
    for (uint32_t p = first; p < end; p++) {
        int32_t step = job.step[p];
        if (step < 0 || !(job.use[p] & SYN_MAP_PREDICTED)) {
            known = tied = false;
            continue;
        }
        bool ahead = p + 1 < end && job.step[p + 1] >= 0;
        sink.begin(step);
        tied = search.neighbours((int32_t) p, step, known, tied, ahead, sink);
        sink.end();
        known = ahead;
    }
}

/* The search of this warp in the library of its block, whose values are read from shared
   memory if they fit. */
template <int TOP, bool STAGED>
__device__ searcher<TOP> begin_search(const search_job &job)
{
    extern __shared__ float4 shared[];
    search_scratch *scratch = (search_scratch *) shared;
    uint32_t words = job.length / WARP;
    const float *placed = job.placed + (size_t) blockIdx.y * job.length;
    const uint32_t *may = job.may + (size_t) blockIdx.y * words;
    if (STAGED) {
        float *values = (float *) (scratch + SEARCH_WARPS);
        uint32_t *bits = (uint32_t *) (values + job.length);
        for (uint32_t i = threadIdx.x; i < job.length / 4; i += blockDim.x)
            ((float4 *) values)[i] = ((const float4 *) placed)[i];
        for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
            bits[i] = may[i];
        __syncthreads();
        placed = values;
        may = bits;
    }
    uint32_t lane = threadIdx.x % WARP;
    search_scratch &s = scratch[threadIdx.x / WARP];
    return {job, placed + SEARCH_FRONT, may, s, lane};
}

inline size_t search_shared(const search_job &job, bool staged)
{
    size_t library = job.length * sizeof(float) + job.length / WARP * sizeof(uint32_t);
    return SEARCH_WARPS * sizeof(search_scratch) + (staged ? library : 0);
}

/* Blocks that a library takes. */
inline uint32_t search_blocks(const search_job &job)
{
    uint32_t rows = SEARCH_WARPS * SEARCH_ROWS;
    return (job.places + rows - 1) / rows;
}

/* Grid: (search_blocks, libraries). */
template <int TOP, bool STAGED>
__global__ void __launch_bounds__(SEARCH_WARPS *WARP, SEARCH_BLOCKS)
find_tables(SYN_GPU_JOB search_job job,
            SYN_GPU_JOB table_shape shape, uint32_t unit, entries kind,
            uint32_t *table)
{
    searcher<TOP> search = begin_search<TOP, STAGED>(job);
    table_sink sink = {shape, table + (size_t) blockIdx.y * shape.size,
                       search.lane, unit, kind, 0};
    search_rows(job, search, sink);
}

/* sums[library][block][warp][lane][SUMS] */
__device__ inline void keep_sums(double *sums, const double (&sum)[SUMS])
{
    size_t at = ((size_t) blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    for (int i = 0; i < SUMS; i++)
        sums[at * SUMS + i] = sum[i];
}

/* Grid: (search_blocks, libraries). */
template <int TOP, bool STAGED>
__global__ void __launch_bounds__(SEARCH_WARPS *WARP, SEARCH_BLOCKS)
find_skill(SYN_GPU_JOB search_job job, double *sums)
{
    searcher<TOP> search = begin_search<TOP, STAGED>(job);
    const float *value = job.value + (size_t) blockIdx.y * job.steps;
    double sum[SUMS] = {};
    skill_sink sink = {value, search.lane, job.Tp, 0, 0, sum};
    search_rows(job, search, sink);
    keep_sums(sums, sum);
}

/* Pearson's correlation from sums of predictions, less `first`, and of observations; NaN
   below three pairs and for what differs by rounding alone, as on the CPU. */
__device__ inline float correlation(double n, double p, double pp, double py, double y,
                                    double yy, double first)
{
    double of_p = pp - p * p / n, of_y = yy - y * y / n;
    double square = pp + first * (2 * p + n * first);
    if (!(n >= 3) || !(of_p > SYN_MAP_ROUNDING * fmax(square, n)) ||
        !(of_y > SYN_MAP_ROUNDING * fmax(yy, n)))
        return __int_as_float(0x7fc00000);
    return (float) fmin(1.0, fmax(-1.0, (py - p * y / n) / sqrt(of_p * of_y)));
}

/* A thread a library and E: rho[library][E_max]. */
__global__ void add_skill(const double *sums, uint32_t libraries, uint32_t parts,
                          uint32_t E_max, float *rho)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= libraries * E_max)
        return;
    uint32_t library = i / E_max, e = i % E_max;
    double sum[SUMS] = {};
    for (uint32_t part = 0; part < parts; part++)
        for (int j = 0; j < SUMS; j++)
            sum[j] += sums[(((size_t) library * parts + part) * WARP + e) * SUMS + j];
    rho[i] = correlation(sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], 0);
}

}  // namespace gpu

#endif
