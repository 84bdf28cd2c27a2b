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
#pragma once

#include "gpu/causal/lookup.cuh"

namespace gpu {

/* ---- chunks: eight targets of a step ----

   They lie in planes of their own; or rows of 128 bytes, eight chunks, are read by turns:
   point i of eight reads chunk c ^ i, so that eight always read from different banks. */

enum { CHUNK_TARGETS = 8 };

/* ---- products ---- */

/* Reads 16 bytes at an address from each lane: matrices of eight such rows, of which a
   lane gets columns of two rows ... */
__device__ inline void read_columns(uint32_t at, uint32_t (&to)[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at));
}

/* ... from the first 16 lanes only ... */
__device__ inline void read_columns(uint32_t at, uint32_t (&to)[2])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(at));
}

/* ... or two columns of a row. */
__device__ inline void read_rows(uint32_t at, uint32_t (&to)[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at));
}

/* sum[16][8] += a[16][8] b[8][8] */
__device__ inline void add_narrow_product(float (&sum)[4], uint32_t a_top, uint32_t a_low,
                                          uint32_t b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a_top), "r"(a_low), "r"(b));
}

/* sum[16][8] += a[16][16] b[16][8]; parts of a: upper left, lower left, upper right,
   lower right. */
__device__ inline void add_product(float (&sum)[4], const uint32_t (&a)[4],
                                   uint32_t b_top, uint32_t b_low)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_top), "r"(b_low));
#else
    add_narrow_product(sum, a[0], a[1], b_top);
    add_narrow_product(sum, a[2], a[3], b_low);
#endif
}

/* ---- how a tile is read ---- */

/* Halves of two numbers. */
__device__ inline float half_of(uint32_t two, int i)
{
    __half2 both = *(const __half2 *) &two;
    return i ? __high2float(both) : __low2float(both);
}

/* A tile in shared memory, as a lane sees it that gives the address of row lane % 8 of a
   matrix. Bit 3 of a lane's number tells which of two chunks it reads. */
template <int CHUNKS, bool TURNED> struct chunk_tile {
    uint32_t base;         /* of what the lane reads of step 0 in the first chunks */
    uint32_t plane;        /* bytes */
    uint32_t single;       /* address of the chunk that is left over */

    __device__ chunk_tile(uint32_t values, uint32_t plane_bytes, uint32_t lane)
        : plane(plane_bytes)
    {
        uint32_t second = lane >> 3 & 1;
        base = values + (TURNED ? (second ^ lane % 8) * VECTOR_BYTES : second * plane);
        base = held(base);
        single = held(values + (CHUNKS - 1) * plane);
    }

    /* Chunks 2 m and 2 m + 1 of a step; of point row ^ 2 q if these are turned. */
    __device__ uint32_t at(uint32_t step, int m, int q) const
    {
        if (TURNED)
            return step * ROW_BYTES + (base ^ 2 * VECTOR_BYTES * (m ^ q));
        return step * VECTOR_BYTES + base + 2 * m * plane;
    }

    __device__ uint32_t left_over(uint32_t step) const
    {
        return step * VECTOR_BYTES + single;
    }
};

/* Which of two neighbours' weights a lane gives, and where in the product. */
struct lane_weights {
    uint32_t first, second;  /* selectors of bytes */
    uint32_t group[GROUPS];  /* all bits for that whose weights it has, else none */

    __device__ explicit lane_weights(uint32_t lane)
    {
        uint32_t g = lane / 4;
        first = held(g % 2 ? 0x1044 : 0x4410);
        second = held(g % 2 ? 0x3244 : 0x4432);
#pragma unroll
        for (uint32_t q = 0; q < GROUPS; q++)
            group[q] = held((lane % 4 ^ g / 2) == q ? ~0u : 0);
    }
};

/* Entries of 32 points and two neighbours of each: steps of the rows that a lane gives
   the address of, and the weights of one point. Lanes whose numbers differ in bit 3 read
   the same steps. */
struct entry_pair {
    uint2 steps;           /* groups 0 and 2, 1 and 3 */
    uint32_t weights;

    /* Where a lane's steps are among the words of a pair. */
    static __device__ uint32_t steps_at(uint32_t lane)
    {
        return 2 * (lane % 8 + lane / 16 * 8);
    }

    __device__ void read(const uint32_t *steps_there, const uint32_t *weights_there)
    {
        steps = *(const uint2 *) steps_there;
        weights = *weights_there;
    }

    __device__ uint32_t step(int q) const
    {
        uint32_t two = q % 2 ? steps.y : steps.x;
        return q < 2 ? two & 0xffff : two >> 16;
    }

    /* Of group q or q + 1, as bit 3 of the lane tells. */
    __device__ uint32_t either_step(int q, uint32_t lane) const
    {
        uint32_t two = lane & 8 ? steps.y : steps.x;
        return q < 2 ? two & 0xffff : two >> 16;
    }
};

/* What a lane has of 32 points. Of two chunks: targets lane / 4 of each, points
   2 (lane % 4) and the next of each group. Of the one left over: point lane / 4 of each
   group, targets 2 (lane % 4) and the next. */
template <int CHUNKS> struct chunk_predictions {
    enum { PAIRS = CHUNKS / 2, LEFT = CHUNKS % 2 };
    float pair[PAIRS][GROUPS][4];
    float left[GROUPS / 2][4];

    __device__ void clear()
    {
        SYN_UNROLL(q, GROUPS)
            SYN_UNROLL(i, 4) {
                SYN_UNROLL(m, PAIRS)
                    pair[m][q][i] = 0;
                if (LEFT)
                    left[q / 2][i] = 0;
            }
    }

    /* Adds two neighbours of each point, or ONE. */
    template <bool ONE, bool TURNED>
    __device__ void add(const chunk_tile<CHUNKS, TURNED> &tile,
                        const entry_pair &entry, const lane_weights &of,
                        uint32_t lane)
    {
        uint32_t a = __byte_perm(entry.weights, 0, of.first);
        uint32_t b = __byte_perm(entry.weights, 0, of.second);
        SYN_UNROLL(q, GROUPS) {
            uint32_t step = entry.step(q);
            uint32_t first = a & of.group[q], second = b & of.group[q];
            SYN_UNROLL(m, PAIRS) {
                uint32_t x[ONE ? 2 : 4];
                read_columns(tile.at(step, m, q), x);
                if constexpr (ONE)
                    add_narrow_product(pair[m][q], x[0], x[1], first);
                else
                    add_product(pair[m][q], x, first, second);
            }
        }
#pragma unroll
        for (int q = 0; q < LEFT * GROUPS; q += 2) {
            uint32_t x[ONE ? 2 : 4];
            read_columns(tile.left_over(entry.either_step(q, lane)), x);
            uint32_t first[4] = {a & of.group[q], 0, 0, a & of.group[q + 1]};
            add_product(left[q / 2], first, x[0], x[1]);
            if constexpr (!ONE) {
                uint32_t second[4] = {b & of.group[q], 0, 0, b & of.group[q + 1]};
                add_product(left[q / 2], second, x[2], x[3]);
            }
        }
    }
};

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
        SYN_UNROLL(i, N) {
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
        SYN_UNROLL(i, N) {
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
    SYN_UNROLL(i, N)
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
        SYN_UNROLL(s, N)
            other[s] = __shfl_xor_sync(WHOLE_WARP, of[s ^ 2 * bit], bit);
        SYN_UNROLL(s, N)
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
        SYN_UNROLL(s, N)
            other[s] = __shfl_xor_sync(WHOLE_WARP, of[TURNED ? s ^ 2 * bit : s], bit);
        SYN_UNROLL(s, N)
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
    SYN_UNROLL(q, GROUPS) {
        float scale[2] = {part(even, q), part(odd, q)};
        uint32_t row = points.row(q, lane % 8, part(own, q), !TURNED);
        float value[2][N], seen[2][N];
        SYN_UNROLL(m, PAIRS) {
            uint32_t x[2];
            read_columns(tile.at(points.step(row), m, 0), x);
            SYN_UNROLL(i, 4) {
                int s = sums->slot(m, i);
                value[i % 2][s] = of.pair[m][q][i] * scale[i % 2];
                seen[i % 2][s] = half_of(x[i / 2], i % 2);
            }
        }
        bool is[2];
        SYN_UNROLL(i, 2)
            is[i] = ALL || points.is<MISSING>(
                               points.row(q, 2 * t + i, scale[i], !TURNED), scale[i]);
        if (sums->open) {
            first_point begin(is[0], is[1]);
            float v[N], y[N];
            SYN_UNROLL(s, N) {
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
        SYN_UNROLL(i, 2)
            if (is[i]) {
                sums->n_pair += 1;
                SYN_UNROLL(s, N)
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
    SYN_UNROLL(q, GROUPS) {
        float scale = part(mine, q), value[2], seen[2];
        SYN_UNROLL(i, 2) {
            value[i] = of.left[q / 2][q % 2 * 2 + i] * scale;
            seen[i] = half_of(x[q], i);
        }
        bool is = ALL || points.is<MISSING>(points.row(q, g, scale, true), scale);
        if (sums->open_left) {
            uint32_t have = __ballot_sync(WHOLE_WARP, is);
            uint32_t at = have ? __ffs(have) - 1 : 0;
            float v[2], y[2];
            SYN_UNROLL(i, 2) {
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
            SYN_UNROLL(i, 2)
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
    SYN_UNROLL(s, (TURNED ? 2 : 2 * PAIRS)) {
        uint32_t chunk = TURNED ? s ^ 2 * t : s;
        if (TURNED || s % 4 == t)
            write_rho(job, sums->pair.of(s, sums->n_pair), of, library,
                      chunk * CHUNK_TARGETS + g);
    }
    if constexpr (CHUNKS % 2) {
        sums->left.all([](auto &sum) { add_lanes(sum, 4, WARP); });
        for (int o = 4; o < WARP; o *= 2)
            sums->n_left += MISSING ? __shfl_xor_sync(WHOLE_WARP, sums->n_left, o) : 0;
        SYN_UNROLL(i, 2)
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
        SYN_UNROLL(i, PAIRS_AHEAD)
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
            SYN_UNROLL(i, PAIRS_AHEAD)
                now[i] = ahead[i];
            at = j + PAIRS_AHEAD < pairs ? at + 2 * PAIRS_AHEAD * WARP : next_points;
            read(at);
            SYN_UNROLL(i, PAIRS_AHEAD) {
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
