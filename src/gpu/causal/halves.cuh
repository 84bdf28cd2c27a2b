/* Correlations with targets in half precision, by tensor cores.

   A warp takes 32 points together, four groups of eight, and goes through their
   neighbours two at a time. One instruction reads chunks of 16 bytes, eight targets, of
   two neighbours of a group's points: two chunks of each. They are the first factor of a
   product of matrices, 16 targets by 16 neighbours. The second factor, 16 neighbours by
   eight points, has a neighbour's weight in the column of its point, so that products add
   up to the points' predictions, in single precision. Where a tile has an odd number of
   chunks its last one is the second factor, with the weights of 16 points as the first.

   Row r of the neighbours of group q belongs to point r ^ 2 q. So each lane has the
   weights of one point to give, and reads only these.

   No target has missing values here: these would spoil the products of other points.
   Points may lack neighbours. */
#ifndef SYN_GPU_CAUSAL_HALVES_CUH
#define SYN_GPU_CAUSAL_HALVES_CUH

#include "gpu/causal/chunks.cuh"

#include <type_traits>

namespace gpu {

enum { PAIRS_AHEAD = 2 };  /* of neighbours, whose entries are read in advance */

/* Warps of a block, as many as there are registers for. */
__host__ __device__ constexpr uint32_t product_warps(uint32_t chunks)
{
    return chunks == ROW_BYTES / VECTOR_BYTES ? 12 : 16;
}

/* ---- sums ---- */

/* Sums of N targets of a lane. Predictions are taken from a first one, as in lane_sums;
   where points are missing, what is observed is taken from what it is there, and added
   up. */
template <int N, bool MISSING> struct product_sums {
    float first[N], p[N], pp[N], py[N];
    float from[MISSING ? N : 1], y[MISSING ? N : 1], yy[MISSING ? N : 1];

    __device__ void clear()
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            first[i] = p[i] = pp[i] = py[i] = 0;
            if (MISSING)
                from[i] = y[i] = yy[i] = 0;
        }
    }

    __device__ void add(int i, float prediction, float observed)
    {
        float off = prediction - first[i];
        if (MISSING) {
            observed -= from[i];
            y[i] += observed;
            yy[i] = fmaf(observed, observed, yy[i]);
        }
        p[i] += off;
        pp[i] = fmaf(off, off, pp[i]);
        py[i] = fmaf(off, observed, py[i]);
    }

    /* Takes predictions from `prediction`, and what is observed from `observed`. */
    __device__ void begin(const float (&prediction)[N], const float (&observed)[N])
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            first[i] = prediction[i];
            if (MISSING)
                from[i] = observed[i];
        }
    }

    /* Calls each(sum) for all sums. */
    template <class F> __device__ void all(F each)
    {
        each(p);
        each(pp);
        each(py);
        if constexpr (MISSING) {
            each(y);
            each(yy);
        }
    }

    /* Those of `n` points of target i, of what was observed as it is. */
    __device__ lane_sums<1, MISSING> of(int i, float n) const
    {
        lane_sums<1, MISSING> s;
        s.first[0] = first[i];
        s.p[0] = p[i];
        s.pp[0] = pp[i];
        s.py[0] = py[i];
        if constexpr (MISSING) {
            double at = from[i], sum = y[i];
            s.py[0] = (float) (py[i] + at * p[i]);
            s.n[0] = n;
            s.y[0] = sum + n * at;
            s.yy[0] = yy[i] + at * (2 * sum + n * at);
        }
        return s;
    }
};

/* Adds up over lanes whose numbers differ in bits from `low` to before `high`. */
template <int N>
__device__ inline void add_lanes(float (&of)[N], int low, int high)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        for (int o = low; o < high; o *= 2)
            of[i] += __shfl_xor_sync(WHOLE_WARP, of[i], o);
}

/* Slot s of a lane is for chunk s ^ 2 (lane % 4) if these are turned: that of the same
   targets in the lane beside it is another one. */
template <int N> __device__ inline void add_turned(float (&of)[N])
{
#pragma unroll
    for (int bit = 1; bit < 4; bit *= 2) {
        float other[N];
#pragma unroll
        for (int s = 0; s < N; s++)
            other[s] = __shfl_xor_sync(WHOLE_WARP, of[s ^ 2 * bit], bit);
#pragma unroll
        for (int s = 0; s < N; s++)
            of[s] += other[s];
    }
}

/* What a lane gets from the lane of eight targets whose number is lane ^ away. */
template <bool TURNED, int N>
__device__ inline void take_from(float (&of)[N], uint32_t away)
{
#pragma unroll
    for (int bit = 1; bit < 4; bit *= 2) {
        float other[N];
#pragma unroll
        for (int s = 0; s < N; s++)
            other[s] = __shfl_xor_sync(WHOLE_WARP, of[TURNED ? s ^ 2 * bit : s], bit);
#pragma unroll
        for (int s = 0; s < N; s++)
            of[s] = away & bit ? other[s] : of[s];
    }
}

/* All sums of a warp for the tile's chunks. */
template <int CHUNKS, bool TURNED, bool MISSING> struct chunk_sums {
    enum { PAIRS = CHUNKS / 2, LEFT = CHUNKS % 2 };
    product_sums<2 * PAIRS, MISSING> pair;
    product_sums<2, MISSING> left;
    float n_pair, n_left;       /* points */
    bool open, open_left;       /* whether there has been none yet */

    __device__ void clear()
    {
        pair.clear();
        left.clear();
        n_pair = n_left = 0;
        open = open_left = true;
    }

    /* The slot of element i of a product of two chunks. */
    static __device__ constexpr int slot(int m, int i)
    {
        return 2 * m + (TURNED ? i == 1 || i == 2 : i / 2);
    }
};

/* Points of a block, from a lane's view. */
struct block_points {
    uint32_t from, first, rows, every;

    __device__ uint32_t row(uint32_t q, uint32_t point, float scale, bool dealt) const
    {
        return first + point + 8 * (dealt ? __float_as_uint(scale) & 3 : q);
    }

    template <bool MISSING> __device__ bool is(uint32_t row, float scale) const
    {
        return row < rows && !(MISSING && isnan(scale));
    }

    __device__ uint32_t step(uint32_t row) const
    {
        return from + min(row, rows - 1) * every;
    }
};

/* Scales of a lane's points, one over the sum of their weights, whose last two bits are
   the group that a point has been dealt from: scale[4 point + group]. */
__device__ inline float4 scales_of(const uint32_t *scales, uint32_t point)
{
    return *(const float4 *) (scales + 4 * point);
}

__device__ inline float part(const float4 &of, int i)
{
    return i == 0 ? of.x : i == 1 ? of.y : i == 2 ? of.z : of.w;
}

/* The point of a group that sums begin with: number i, 0 or 1, of lane `at` of the four
   that have the same targets. */
struct first_point {
    uint32_t at, i;
    bool is;

    __device__ first_point(bool even, bool odd)
    {
        uint32_t evens = __ballot_sync(WHOLE_WARP, even) & 15;
        uint32_t odds = __ballot_sync(WHOLE_WARP, odd) & 15;
        is = (evens | odds) != 0;
        i = evens == 0;
        at = is ? __ffs(i ? odds : evens) - 1 : 0;
    }
};

/* Adds the predictions of 32 points for pairs of chunks. */
template <bool ALL, int CHUNKS, bool TURNED, bool MISSING>
__device__ void add_pairs(const chunk_tile<CHUNKS, TURNED> &tile,
                          const chunk_predictions<CHUNKS> &of, const uint32_t *scales,
                          const block_points &points, uint32_t lane,
                          chunk_sums<CHUNKS, TURNED, MISSING> *sums)
{
    constexpr int PAIRS = CHUNKS / 2, N = 2 * PAIRS;
    uint32_t t = lane % 4;
    float4 even = scales_of(scales, 2 * t), odd = scales_of(scales, 2 * t + 1), own = {};
    if (!TURNED)
        own = scales_of(scales, lane % 8);
#pragma unroll
    for (int q = 0; q < GROUPS; q++) {
        float scale[2] = {part(even, q), part(odd, q)};
        uint32_t row = points.row(q, lane % 8, part(own, q), !TURNED);
        float value[2][N], seen[2][N];
#pragma unroll
        for (int m = 0; m < PAIRS; m++) {
            uint32_t x[2];
            read_columns(tile.at(points.step(row), m, 0), x);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int s = sums->slot(m, i);
                value[i % 2][s] = of.pair[m][q][i] * scale[i % 2];
                seen[i % 2][s] = half_of(x[i / 2], i % 2);
            }
        }
        bool is[2];
#pragma unroll
        for (int i = 0; i < 2; i++)
            is[i] = ALL || points.is<MISSING>(
                               points.row(q, 2 * t + i, scale[i], !TURNED), scale[i]);
        if (sums->open) {
            first_point begin(is[0], is[1]);
            float v[N], y[N];
#pragma unroll
            for (int s = 0; s < N; s++) {
                v[s] = begin.i ? value[1][s] : value[0][s];
                y[s] = begin.i ? seen[1][s] : seen[0][s];
            }
            take_from<TURNED>(v, t ^ begin.at);
            if (MISSING)
                take_from<TURNED>(y, t ^ begin.at);
            if (begin.is)
                sums->pair.begin(v, y);
            sums->open = !begin.is;
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
            if (is[i]) {
                sums->n_pair += 1;
#pragma unroll
                for (int s = 0; s < N; s++)
                    sums->pair.add(s, value[i][s], seen[i][s]);
            }
    }
}

/* The same for the chunk left over. */
template <bool ALL, int CHUNKS, bool TURNED, bool MISSING>
__device__ void add_left(const chunk_tile<CHUNKS, TURNED> &tile,
                         const chunk_predictions<CHUNKS> &of, const uint32_t *scales,
                         const block_points &points, uint32_t lane,
                         chunk_sums<CHUNKS, TURNED, MISSING> *sums)
{
    uint32_t g = lane / 4, x[GROUPS];
    float4 mine = scales_of(scales, g);
    float own = __uint_as_float(scales[4 * (lane % 8) + lane / 8]);
    read_rows(tile.left_over(points.step(points.row(0, lane % 8, own, true))), x);
#pragma unroll
    for (int q = 0; q < GROUPS; q++) {
        float scale = part(mine, q), value[2], seen[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            value[i] = of.left[q / 2][q % 2 * 2 + i] * scale;
            seen[i] = half_of(x[q], i);
        }
        bool is = ALL || points.is<MISSING>(points.row(q, g, scale, true), scale);
        if (sums->open_left) {
            uint32_t have = __ballot_sync(WHOLE_WARP, is);
            uint32_t at = have ? __ffs(have) - 1 : 0;
            float v[2], y[2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                v[i] = __shfl_sync(WHOLE_WARP, value[i], at / 4 * 4 + lane % 4);
                y[i] = MISSING ? __shfl_sync(WHOLE_WARP, seen[i], at / 4 * 4 + lane % 4)
                               : 0;
            }
            if (have)
                sums->left.begin(v, y);
            sums->open_left = !have;
        }
        if (is) {
            sums->n_left += 1;
#pragma unroll
            for (int i = 0; i < 2; i++)
                sums->left.add(i, value[i], seen[i]);
        }
    }
}

/* Adds up the sums of all lanes, and writes the correlations. */
template <int CHUNKS, bool TURNED, bool MISSING>
__device__ void write_sums(const lookup_job &job, const tile &of, uint32_t library,
                           uint32_t lane, chunk_sums<CHUNKS, TURNED, MISSING> *sums)
{
    constexpr int PAIRS = CHUNKS / 2;
    uint32_t g = lane / 4, t = lane % 4;
    sums->pair.all([](auto &sum) {
        if constexpr (TURNED)
            add_turned(sum);
        else
            add_lanes(sum, 1, 4);
    });
    for (int o = 1; o < 4; o *= 2)
        sums->n_pair += MISSING ? __shfl_xor_sync(WHOLE_WARP, sums->n_pair, o) : 0;
    /* Lanes with the same targets write a few each. */
#pragma unroll
    for (int s = 0; s < (TURNED ? 2 : 2 * PAIRS); s++) {
        uint32_t chunk = TURNED ? s ^ 2 * t : s;
        if (TURNED || s % 4 == t)
            write_rho(job, sums->pair.of(s, sums->n_pair), of, library,
                      chunk * CHUNK_TARGETS + g);
    }
    if constexpr (CHUNKS % 2) {
        sums->left.all([](auto &sum) { add_lanes(sum, 4, WARP); });
        for (int o = 4; o < WARP; o *= 2)
            sums->n_left += MISSING ? __shfl_xor_sync(WHOLE_WARP, sums->n_left, o) : 0;
#pragma unroll
        for (int i = 0; i < 2; i++)
            if (g == (uint32_t) i)
                write_rho(job, sums->left.of(i, sums->n_left), of, library,
                          (CHUNKS - 1) * CHUNK_TARGETS + 2 * t + i);
    }
}

/* ---- a library ---- */

template <int CHUNKS, bool TURNED, bool MISSING>
__device__ void correlate_chunks(const lookup_job &job, const tile &of,
                                 const chunk_tile<CHUNKS, TURNED> &tile,
                                 const lane_weights &weights, uint32_t lane,
                                 uint32_t library)
{
    uint32_t k = of.e + 2, pairs = (k + 1) / 2;
    block_points points = {job.shape.from[of.e], 0,
                           job.shape.to[of.e] - job.shape.from[of.e], job.every};
    const uint32_t *scales = job.table + (size_t) library * job.shape.size +
                             job.shape.offset[of.e];
    const uint32_t *steps = scales + entry_pair::steps_at(lane);
    const uint32_t *weight = scales + WARP + lane;
    uint32_t words = (2 * pairs + 1) * WARP, at = WARP, next_points = words + WARP;
    chunk_sums<CHUNKS, TURNED, MISSING> sums;
    sums.clear();
    entry_pair ahead[PAIRS_AHEAD];
    /* After the last pair lie words of the next points, which are not used here. */
    auto read = [&](uint32_t from) {
#pragma unroll
        for (int i = 0; i < PAIRS_AHEAD; i++)
            if (i < pairs)
                ahead[i].read(steps + from + 2 * i * WARP,
                              weight + from + 2 * i * WARP);
    };
    read(at);
    for (; points.first < points.rows; points.first += WARP) {
        chunk_predictions<CHUNKS> p;
        p.clear();
        for (uint32_t j = 0; j < pairs; j += PAIRS_AHEAD) {
            entry_pair now[PAIRS_AHEAD];
#pragma unroll
            for (int i = 0; i < PAIRS_AHEAD; i++)
                now[i] = ahead[i];
            at = j + PAIRS_AHEAD < pairs ? at + 2 * PAIRS_AHEAD * WARP : next_points;
            read(at);
#pragma unroll
            for (int i = 0; i < PAIRS_AHEAD; i++) {
                if (2 * (j + i) + 1 < k)
                    p.template add<false>(tile, now[i], weights, lane);
                else if (2 * (j + i) < k)
                    p.template add<true>(tile, now[i], weights, lane);
            }
        }
        next_points += words;
        auto add = [&](auto all) {
            constexpr bool ALL = decltype(all)::value;
            add_pairs<ALL>(tile, p, scales, points, lane, &sums);
            if constexpr (CHUNKS % 2)
                add_left<ALL>(tile, p, scales, points, lane, &sums);
        };
        if (!MISSING && points.first + WARP <= points.rows)
            add(std::true_type());
        else
            add(std::false_type());
        scales += words;
    }
    write_sums(job, of, library, lane, &sums);
}

/* TURNED: all eight chunks are in rows of 128 bytes, else each in a plane of its own. */
template <int CHUNKS, bool TURNED, bool MISSING>
__global__ void __launch_bounds__(product_warps(CHUNKS) * WARP, 1)
correlate_halves(SYN_GPU_JOB lookup_job job)
{
    extern __shared__ __align__(ROW_BYTES) unsigned char tile_room[];
    lookup_item item = job.items[blockIdx.x];
    tile of = job.tiles[item.tile];
    const unsigned char *values = stage_tile<true>(job, item.tile, tile_room);
    uint32_t lane = threadIdx.x % WARP;
    chunk_tile<CHUNKS, TURNED> seen((uint32_t) __cvta_generic_to_shared(values),
                                    job.steps * VECTOR_BYTES, lane);
    lane_weights weights(lane);
    for (uint32_t l = item.from + threadIdx.x / WARP; l < item.to;
         l += blockDim.x / WARP)
        if (is_open(job, l, item.tile))
            correlate_chunks<CHUNKS, TURNED, MISSING>(job, of, seen, weights, lane, l);
}

}  // namespace gpu

#endif
