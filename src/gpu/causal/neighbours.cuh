/* What becomes of neighbours: the table of their library, the skill of predicting the
   library itself from them, or both. */
#pragma once

#include "core/base/measure.h"
#include "gpu/causal/search.cuh"

namespace gpu {

/* ---- tables ---- */

enum { ROW_BYTES = 128 };  /* of a step in a tile of whole rows */

/* How the neighbours of a point are written down. A wide entry is a weight and where the
   neighbour's row begins in a tile, in a word (4 bytes) each; a narrow one has 21 bits of
   weight and 11 of the neighbour's step in one word, and one over the sum of the weights
   goes before them. A point fills 16 bytes or several. Packed entries have 16 bits of
   each, and those of 32 points are side by side. */
enum class entries { wide, narrow, packed };

constexpr uint32_t MOST_21 = 0x1fffff, MOST_16 = 0xfffe;  /* weights of the nearest */

enum {
    NARROW_DIMS = 22,    /* most dimensions with narrow entries: 96 bytes of them */
    NARROW_STEPS = 2048  /* and most steps */
};

/* A point without neighbours has NaN for wide weights, or before narrow ones, and this
   for packed ones. */
constexpr uint32_t NO_POINT_16 = 0xffff;

/* Words of a point with k neighbours. */
__host__ __device__ inline uint32_t row_words(entries kind, uint32_t k)
{
    if (kind == entries::packed)
        return 1 + (k + 1) / 2 * 2;  /* room for what arrange_entries() makes of it */
    return ((kind == entries::wide ? 2 * k : k + 1) + 3) & ~3u;
}

/* The table of a library: one part for each E that is wanted. */
struct table_shape {
    uint32_t wanted;                    /* bit E - 1 */
    uint32_t size;                      /* words of a library */
    uint32_t from[SYN_MAP_DIMS];        /* points from this step ... */
    uint32_t to[SYN_MAP_DIMS];          /* ... to before this one */
    uint32_t offset[SYN_MAP_DIMS];      /* where the part begins, in words */
    uint32_t words[SYN_MAP_DIMS];       /* of a point */
};

/* Where word `i` of a point in E = e + 1 dimensions is. */
__host__ __device__ inline size_t table_word(const table_shape &shape, entries kind,
                                             uint32_t e, uint32_t row, uint32_t i)
{
    /* Of packed entries so many points are side by side, of others one. */
    uint32_t together = kind == entries::packed ? WARP : 1, within = row & (together - 1);
    return shape.offset[e] + (size_t) (row - within) * shape.words[e] + i * together +
           within;
}

/* ---- tables and skill ---- */

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
            *(uint2 *) (table + at + 2 * place) = make_uint2(bits, of * ROW_BYTES);
        else
            table[at + place + 1] = of << 21 | bits;
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
        else if (kind == entries::narrow) {
            /* What goes before narrow entries. */
            uint32_t sum = warp_sum(bits);
            float scale = near.found ? reciprocal(sum) : __int_as_float(0x7fc00000);
            if (lane == 0)
                table[at] = __float_as_uint(scale);
        } else if (!near.found)
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
find_tables(SYN_GPU_JOB search_job job, SYN_GPU_JOB table_shape shape, entries kind,
            uint32_t *table)
{
    searcher<TOP> search = begin_search<TOP, STAGED>(job);
    table_sink sink = {shape, table + (size_t) blockIdx.y * shape.size,
                       search.lane, kind, 0};
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

/* ---- both: one search for dimensions and for a map of the same series ----

   A series that is forecast one step ahead has those steps as library points that have a
   step after them. In a map with Tp = 0 the last step is one, too. So the neighbours for
   the map are those for the forecasts, with the last step in place of the farthest one
   wherever it is nearer. The table is the one that a search for the map would write. */

/* The last step as one library point more. Coordinates are earlier steps, one step
   apart, so that its place is the last one, too. */
struct last_point {
    const float *x;        /* [place] of the library */
    const float *limit;    /* by E - 1: all neighbours are at most so far, squared */
    int32_t place, step;   /* of the last step */
    uint32_t top;          /* most dimensions */
    uint32_t exclusion, lane;
    int32_t of;            /* the step of the point that has neighbours */
    float d;               /* in lane e the squared distance of the two for E = e + 1; NaN
                              where they may not be neighbours */

    __device__ void begin(int32_t point)
    {
        const float *last = x + place, *row = last - (step - point);
        float sum = 0;
        of = point;
        d = __int_as_float(0x7fc00000);
        if ((uint32_t) (step - point) <= exclusion)
            return;
#pragma unroll 4
        for (uint32_t e = 0; e < top; e++) {
            float gap = row[-(int32_t) e] - last[-(int32_t) e];
            sum = fmaf(gap, gap, sum);
            d = e == lane ? sum : d;
        }
    }

    /* Puts the last step among the e + 2 nearest if it is one; whether it is. */
    __device__ bool join(uint32_t e, neighbour *near) const
    {
        float mine = __shfl_sync(WHOLE_WARP, d, e);
        if (!(mine <= limit[e]) || __float_as_uint(mine) >= NO_DISTANCE)
            return false;
        if (near->found == e + 2)
            return replace(mine, near);
        if (lane == near->found) {
            near->d = mine;
            near->step = step;
        }
        near->found++;
        return true;
    }

private:
    /* The same k, of which the farthest, and of ties that of the greatest rank, makes
       room. */
    __device__ bool replace(float far, neighbour *near) const
    {
        uint32_t bits = near->is() ? __float_as_uint(near->d) : 0;
        uint32_t mine = __float_as_uint(far);
        uint32_t farthest = warp_greatest(bits);
        if (mine > farthest)
            return false;
        bool tied = near->is() && bits == farthest;
        uint32_t from = syn_row_rank(of);
        uint32_t rank = tied ? syn_rank_after(near->step, from) : 0;
        uint32_t last = warp_greatest(rank);
        if (mine == farthest && syn_rank_after(step, from) > last)
            return false;
        bool leaves = tied && rank == last;
        uint32_t who = __ffs(__ballot_sync(WHOLE_WARP, leaves)) - 1;
        uint32_t gap = __shfl_sync(WHOLE_WARP, near->place, who);
        if (leaves) {
            near->place = near->found - 1;
            near->d = far;
            near->step = step;
        } else if (near->is() && near->place > gap) {
            near->place--;
        }
        return true;
    }
};

/* Writes tables and adds up the skill of forecasts. */
struct both_sink {
    table_sink table;
    skill_sink skill;
    last_point last;

    __device__ void begin(int32_t of)
    {
        table.begin(of);
        skill.begin(of);
        last.begin(of);
    }

    __device__ void operator()(uint32_t e, neighbour near)
    {
        float after = skill.what_follows(near), weight = weight_of(near);
        skill.add(e, weight, after);
        if (last.join(e, &near))
            weight = weight_of(near);
        table.put(e, near, weight);
    }

    /* Nothing comes after the last step that it could be compared with. */
    __device__ void end()
    {
        if (last.of < last.step)
            skill.end();
    }
};

/* Grid: (search_blocks, libraries). In the job all steps are predicted, and all but the
   last are library points; Tp is 1. */
template <int TOP, bool STAGED>
__global__ void __launch_bounds__(SEARCH_WARPS *WARP, SEARCH_BLOCKS)
find_both(SYN_GPU_JOB search_job job, SYN_GPU_JOB table_shape shape, entries kind,
          uint32_t *table, double *sums)
{
    searcher<TOP> search = begin_search<TOP, STAGED>(job);
    const float *value = job.value + (size_t) blockIdx.y * job.steps;
    double sum[SUMS] = {};
    both_sink sink = {
        {shape, table + (size_t) blockIdx.y * shape.size, search.lane, kind, 0},
        {value, search.lane, job.Tp, 0, 0, sum},
        {search.x, search.s.limit, (int32_t) job.places - 1, (int32_t) job.steps - 1,
         (uint32_t) (32 - __clz(job.wanted)), job.exclusion, search.lane, 0, 0}};
    search_rows(job, search, sink);
    keep_sums(sums, sum);
}

}  // namespace gpu
