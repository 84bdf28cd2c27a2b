/* Correlations with targets in half precision, by tensor cores.

   A warp takes 32 points together, and goes through their neighbours: all first ones, all
   second ones, and so on. One instruction reads a chunk of 16 bytes, eight targets, of
   one neighbour for each of the points, as the second factor of a product of matrices
   whose row is the point. The first factor has the points' weights on its diagonal, so
   that products add up to the points' predictions, in single precision.

   Chunks of a step lie in planes of their own; or rows of 128 bytes, eight chunks, are
   read by turns: point i of eight reads chunk c ^ i, so that eight always read from
   different banks.

   No target has missing values here: these would spoil the products of other points.
   Points may lack neighbours. */
#ifndef SYN_GPU_CAUSAL_HALVES_CUH
#define SYN_GPU_CAUSAL_HALVES_CUH

#include "gpu/causal/lookup.cuh"

#include <type_traits>

namespace gpu {

enum {
    CHUNK_TARGETS = 8,
    PAIRS_AHEAD = 2        /* of neighbours, whose entries are read in advance */
};

/* Warps of a block: registers are for half as many where a lane has eight chunks. */
__host__ __device__ constexpr uint32_t chunk_warps(bool turned)
{
    return turned ? LOOKUP_WARPS / 2 : LOOKUP_WARPS;
}

/* A lane's part of a chunk: two targets. */
struct two_halves {
    enum { N = 2 };
    __half2 v;

    __device__ void read(const unsigned char *at) { v = *(const __half2 *) at; }

    __device__ float at(int i) const { return i ? __high2float(v) : __low2float(v); }
};

/* A tile in shared memory, as a lane sees it: point `turn` of eight reads from it. */
template <bool TURNED> struct chunk_tile {
    const unsigned char *values;
    uint32_t plane;        /* bytes */

    __device__ uint32_t offset(uint32_t step, uint32_t c, uint32_t turn) const
    {
        if (TURNED)
            return step * ROW_BYTES + (c ^ turn) * VECTOR_BYTES;
        return step * VECTOR_BYTES + c * plane;
    }
};

/* Entries of 32 points and two neighbours of each: the steps of a lane's own point, and
   weights of the points whose predictions it gets, two for each neighbour. */
struct entry_pair {
    uint32_t steps;
    uint4 weights;

    __device__ void read(const uint32_t *at, uint32_t lane)
    {
        steps = at[lane];
        weights = *(const uint4 *) (at + WARP + lane / 4 * 4);
    }
};

/* How a lane takes its part of the diagonal from the weights of two groups of eight
   points: element lane / 4, if it is one of the two that the lane has, else nothing. */
struct diagonal {
    uint32_t low, high;    /* selectors of bytes */

    __device__ explicit diagonal(uint32_t lane)
    {
        uint32_t g = lane / 4;
        bool has = lane % 4 == g / 2;
        low = !has ? 0x4444 : g % 2 ? 0x1044 : 0x4410;
        high = !has ? 0x4444 : g % 2 ? 0x3244 : 0x4432;
    }
};

/* Reads 16 bytes at an address from each lane, as the second factor of four products. */
__device__ inline void read_chunks(uint32_t at, uint32_t (&b)[GROUPS])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                 : "r"(at));
}

/* Adds the product of a diagonal matrix, 16 by 16, and one of 16 rows. */
__device__ inline void add_product(float *sum, const uint32_t (&a)[2], uint32_t b_first,
                                   uint32_t b_second)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %6, %6, %5}, {%7, %8}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(0), "r"(b_first), "r"(b_second));
#else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(0), "r"(b_first));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(0), "r"(a[1]), "r"(b_second));
#endif
}

/* What a lane has of 32 points: point lane / 4 of each group of eight, and targets
   2 (lane % 4) and the next of each chunk. */
template <int CHUNKS> struct chunk_predictions {
    float v[CHUNKS][GROUPS][2];

    __device__ void clear()
    {
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
#pragma unroll
            for (int q = 0; q < GROUPS; q++)
                v[c][q][0] = v[c][q][1] = 0;
    }

    /* Adds a neighbour of each point. */
    template <bool TURNED>
    __device__ void add(const chunk_tile<TURNED> &tile, uint32_t base, uint32_t step,
                        uint32_t turn, uint32_t w01, uint32_t w23, const diagonal &of)
    {
        uint32_t first[2] = {__byte_perm(w01, 0, of.low), __byte_perm(w01, 0, of.high)};
        uint32_t second[2] = {__byte_perm(w23, 0, of.low), __byte_perm(w23, 0, of.high)};
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            uint32_t b[GROUPS];
            read_chunks(base + tile.offset(step, c, turn), b);
            add_product(v[c][0], first, b[0], b[1]);
            add_product(v[c][2], second, b[2], b[3]);
        }
    }
};

/* Sums of a lane's targets. Predictions are taken from a first one, as in lane_sums;
   where points are missing, what is observed is taken from what it is there, and added
   up. */
template <int CHUNKS, bool MISSING> struct chunk_sums {
    float first[CHUNKS][2], p[CHUNKS][2], pp[CHUNKS][2], py[CHUNKS][2];
    float y[MISSING ? CHUNKS : 1][2], yy[MISSING ? CHUNKS : 1][2], n;
    uint32_t begin;        /* the step of the first one */
    bool open;             /* whether there has been none yet */

    __device__ void clear()
    {
        n = 0;
        begin = 0;
        open = true;
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                first[c][i] = p[c][i] = pp[c][i] = py[c][i] = 0;
                if (MISSING)
                    y[c][i] = yy[c][i] = 0;
            }
    }

    __device__ void add(int c, int i, float prediction, float observed)
    {
        float off = prediction - first[c][i];
        p[c][i] += off;
        pp[c][i] = fmaf(off, off, pp[c][i]);
        py[c][i] = fmaf(off, observed, py[c][i]);
        if (MISSING) {
            y[c][i] += observed;
            yy[c][i] = fmaf(observed, observed, yy[c][i]);
        }
    }

    /* Takes the predictions of point `of` of eight, which this lane or others have. */
    template <bool TURNED>
    __device__ void begin_with(const float (&v)[CHUNKS][2], uint32_t of, uint32_t lane)
    {
        uint32_t away = lane / 4 ^ of;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float f[CHUNKS];
#pragma unroll
            for (int c = 0; c < CHUNKS; c++)
                f[c] = TURNED ? v[c][i]
                              : __shfl_sync(WHOLE_WARP, v[c][i], 4 * of + lane % 4);
            /* Chunk c of point g is chunk c ^ 1 of point g ^ 1, and so on. */
            if constexpr (TURNED)
#pragma unroll
                for (int bit = 1; bit < CHUNKS; bit *= 2) {
                    float other[CHUNKS];
#pragma unroll
                    for (int c = 0; c < CHUNKS; c++)
                        other[c] = __shfl_xor_sync(WHOLE_WARP, f[c ^ bit], 4 * bit);
#pragma unroll
                    for (int c = 0; c < CHUNKS; c++)
                        f[c] = away & bit ? other[c] : f[c];
                }
#pragma unroll
            for (int c = 0; c < CHUNKS; c++)
                first[c][i] = f[c];
        }
        open = false;
    }

    /* Adds up a sum over the lanes that have the same target. */
    template <bool TURNED, int N> __device__ static void gather(float (&of)[N][2])
    {
#pragma unroll
        for (int bit = 1; bit < 8; bit *= 2)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float other[N];
#pragma unroll
                for (int c = 0; c < N; c++)
                    other[c] = __shfl_xor_sync(WHOLE_WARP, of[TURNED ? c ^ bit : c][i],
                                               4 * bit);
#pragma unroll
                for (int c = 0; c < N; c++)
                    of[c][i] += other[c];
            }
    }

    template <bool TURNED> __device__ void gather_all()
    {
        gather<TURNED>(p);
        gather<TURNED>(pp);
        gather<TURNED>(py);
        if constexpr (MISSING) {
            gather<TURNED>(y);
            gather<TURNED>(yy);
            for (int o = 4; o < WARP; o *= 2)
                n += __shfl_xor_sync(WHOLE_WARP, n, o);
        }
    }

    /* The sums of a chunk, of what was observed as it is rather than from `at`. */
    __device__ lane_sums<2, MISSING> of_chunk(int c, const two_halves &at) const
    {
        lane_sums<2, MISSING> s;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            s.first[i] = first[c][i];
            s.p[i] = p[c][i];
            s.pp[i] = pp[c][i];
            s.py[i] = py[c][i];
            if constexpr (MISSING) {
                double from = at.at(i), sum = y[c][i];
                s.py[i] = (float) (py[c][i] + from * p[c][i]);
                s.n[i] = n;
                s.y[i] = sum + n * from;
                s.yy[i] = yy[c][i] + from * (2 * sum + n * from);
            }
        }
        return s;
    }
};

/* Adds predictions of 32 points, whose sums of weights are one over `scale`; the last two
   bits of that are the group that the point comes from. ALL: there are all of them. */
template <bool ALL, int CHUNKS, bool TURNED, bool MISSING>
__device__ void add_points(const lookup_job &job, const chunk_tile<TURNED> &tile,
                           const chunk_predictions<CHUNKS> &of,
                           const float (&scale)[GROUPS], uint32_t from,
                           uint32_t block, uint32_t rows, uint32_t lane,
                           chunk_sums<CHUNKS, MISSING> *sums)
{
    uint32_t g = lane / 4;
#pragma unroll
    for (int q = 0; q < GROUPS; q++) {
        uint32_t row = block + g + (__float_as_uint(scale[q]) & 3) * 8;
        bool is = ALL || (row < rows && !(MISSING && isnan(scale[q])));
        uint32_t step = from + (ALL ? row : min(row, rows - 1)) * job.every;
        float v[CHUNKS][2];
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
#pragma unroll
            for (int i = 0; i < 2; i++)
                v[c][i] = of.v[c][q][i] * scale[q];
        if (sums->open) {
            uint32_t have = __ballot_sync(WHOLE_WARP, is);
            uint32_t first = have ? (__ffs(have) - 1) / 4 : 0;
            if (have) {
                sums->begin = __shfl_sync(WHOLE_WARP, step, 4 * first);
                sums->template begin_with<TURNED>(v, first, lane);
            }
        }
        if (!is)
            continue;
        sums->n += 1;
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            two_halves y, at;
            y.read(tile.values + tile.offset(step, c, g) + lane % 4 * sizeof y.v);
            if (MISSING)
                at.read(tile.values + tile.offset(sums->begin, c, g) +
                        lane % 4 * sizeof y.v);
#pragma unroll
            for (int i = 0; i < 2; i++)
                sums->add(c, i, v[c][i], MISSING ? y.at(i) - at.at(i) : y.at(i));
        }
    }
}

/* Targets in CHUNKS chunks of a tile. */
template <int CHUNKS, bool TURNED, bool MISSING>
__device__ void correlate_chunks(const lookup_job &job, const tile &of,
                                 const chunk_tile<TURNED> &tile, uint32_t first_chunk,
                                 uint32_t library)
{
    uint32_t lane = threadIdx.x % WARP, g = lane / 4;
    uint32_t k = of.e + 2, pairs = (k + 1) / 2;
    uint32_t from = job.shape.from[of.e], rows = job.shape.to[of.e] - from;
    const uint32_t *entry = job.table + (size_t) library * job.shape.size +
                            job.shape.offset[of.e];
    uint32_t base = (uint32_t) __cvta_generic_to_shared(tile.values);
    diagonal weights(lane);
    chunk_sums<CHUNKS, MISSING> sums;
    sums.clear();
    float4 ahead_scale = *(const float4 *) (entry + 4 * g);
    entry_pair ahead[PAIRS_AHEAD];
    entry += WARP;
#pragma unroll
    for (int i = 0; i < PAIRS_AHEAD; i++)
        if (i < pairs)
            ahead[i].read(entry + i * 2 * WARP, lane);
    for (uint32_t block = 0; block < rows; block += WARP) {
        chunk_predictions<CHUNKS> p;
        float4 all = ahead_scale;
        p.clear();
        for (uint32_t j = 0; j < pairs; j += PAIRS_AHEAD) {
            uint32_t next = j + PAIRS_AHEAD;
            if (next >= pairs) {  /* of the next points */
                next = 0;
                entry += pairs * 2 * WARP;
                ahead_scale = *(const float4 *) (entry + 4 * g);
                entry += WARP;
            }
            entry_pair now[PAIRS_AHEAD];
#pragma unroll
            for (int i = 0; i < PAIRS_AHEAD; i++) {
                now[i] = ahead[i];
                if (next + i < pairs)
                    ahead[i].read(entry + (next + i) * 2 * WARP, lane);
            }
#pragma unroll
            for (int i = 0; i < PAIRS_AHEAD; i++) {
                const uint4 &w = now[i].weights;
                if (2 * (j + i) < k)
                    p.add(tile, base, now[i].steps & 0xffff, lane % 8, w.x, w.y, weights);
                if (2 * (j + i) + 1 < k)
                    p.add(tile, base, now[i].steps >> 16, lane % 8, w.z, w.w, weights);
            }
        }
        float scale[GROUPS] = {all.x, all.y, all.z, all.w};
        if (!MISSING && block + WARP <= rows)
            add_points<true>(job, tile, p, scale, from, block, rows, lane, &sums);
        else
            add_points<false>(job, tile, p, scale, from, block, rows, lane, &sums);
    }
    sums.template gather_all<TURNED>();
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        two_halves at = {};
        if (MISSING)
            at.read(tile.values + tile.offset(sums.begin, c, g) + lane % 4 * sizeof at.v);
        if (g == 0)
            write_rho(job, sums.of_chunk(c, at), of, library,
                      (first_chunk + c) * CHUNK_TARGETS + 2 * (lane % 4));
    }
}

/* TURNED: all eight chunks of rows of 128 bytes together, else CHUNKS planes of 16. */
template <int CHUNKS, bool TURNED, bool MISSING>
__global__ void __launch_bounds__(chunk_warps(TURNED) * WARP, 1)
correlate_halves(SYN_GPU_JOB lookup_job job)
{
    extern __shared__ __align__(VECTOR_BYTES) unsigned char tile_room[];
    lookup_item item = job.items[blockIdx.x];
    tile of = job.tiles[item.tile];
    const unsigned char *values = stage_tile<true>(job, item.tile, tile_room);
    uint32_t plane = job.steps * VECTOR_BYTES, chunks = TURNED ? CHUNKS : job.planes;
    for (uint32_t l = item.from + threadIdx.x / WARP; l < item.to;
         l += chunk_warps(TURNED))
        for (uint32_t c = 0; c < chunks && is_open(job, l, item.tile); c += CHUNKS)
            correlate_chunks<CHUNKS, TURNED, MISSING>(
                job, of, chunk_tile<TURNED>{values + c * plane, plane}, c, l);
}

}  // namespace gpu

#endif
