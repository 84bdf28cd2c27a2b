/* Correlations with targets in half precision, by tensor cores.

   A warp takes 32 points together, and goes through their neighbours: all first ones, all
   second ones, and so on. One instruction reads 16 bytes, eight targets, of one neighbour
   for each of the points, as the second factor of a product of matrices whose row is the
   point. The first factor has the points' weights along its diagonal, so that products
   add up to the points' predictions, in single precision.

   16 bytes of a step lie in a plane of their own; or rows of 128 bytes, eight such chunks,
   are read by turns: lane i reads chunk c ^ (i % 8), so that eight lanes always read from
   different banks. */
#ifndef SYN_GPU_CAUSAL_HALVES_CUH
#define SYN_GPU_CAUSAL_HALVES_CUH

#include "gpu/causal/lookup.cuh"

#include <type_traits>

namespace gpu {

enum {
    GROUPS = WARP / 8,     /* of points: a lane has the predictions of one of each */
    CHUNK_TARGETS = 8
};

/* A lane's part of a chunk: two targets. */
struct two_halves {
    enum { N = 2 };
    __half2 v;

    __device__ void read(const unsigned char *at) { v = *(const __half2 *) at; }

    __device__ float at(int i) const { return i ? __high2float(v) : __low2float(v); }
};

/* Entries of 32 points and two neighbours of each: a lane's own steps, and weights of the
   points whose predictions it gets. */
struct entry_pair {
    uint32_t steps;
    uint4 weights;

    __device__ void read(const uint32_t *at, uint32_t lane)
    {
        steps = at[lane];
        weights = *(const uint4 *) (at + WARP + lane / GROUPS * 4);
    }
};

/* Chunks of 16 bytes at addresses of shared memory, one from each lane; as the second
   factor, a part for each eight of them. */
__device__ inline void read_chunks(uint32_t at, uint32_t (&b)[GROUPS])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                 : "r"(at));
}

/* sum += A B, where A has `first` on its diagonal's first half and `second` on the other. */
__device__ inline void add_product(float *sum, uint32_t first, uint32_t second,
                                   uint32_t b_first, uint32_t b_second)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %6, %6, %5}, {%7, %8}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(first), "r"(second), "r"(0), "r"(b_first), "r"(b_second));
#else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(first), "r"(0), "r"(b_first));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(0), "r"(second), "r"(b_second));
#endif
}

/* Predictions of 32 points: for target i of chunk c, and the point of group q, that of
   this lane. */
template <int CHUNKS> struct half_predictions {
    float v[CHUNKS][2 * GROUPS];

    __device__ void clear()
    {
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
#pragma unroll
            for (int i = 0; i < 2 * GROUPS; i++)
                v[c][i] = 0;
    }
};

/* Where a chunk of a step is: `turn` is 0, or what a lane's first chunk begins at. */
template <int CHUNKS, bool TURNED>
__device__ inline uint32_t chunk_at(uint32_t step, int c, uint32_t plane, uint32_t turn)
{
    if (TURNED)
        return (step * ROW_BYTES + turn) ^ (c * VECTOR_BYTES);
    return step * VECTOR_BYTES + c * plane;
}

template <int CHUNKS, bool TURNED>
__device__ inline void add_neighbours(uint32_t values, uint32_t step, uint32_t plane,
                                      uint32_t turn, uint32_t w01, uint32_t w23,
                                      uint32_t low, uint32_t high,
                                      half_predictions<CHUNKS> *p)
{
    uint32_t a0 = __byte_perm(w01, 0, low), a1 = __byte_perm(w01, 0, high);
    uint32_t a2 = __byte_perm(w23, 0, low), a3 = __byte_perm(w23, 0, high);
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        uint32_t b[GROUPS];
        read_chunks(values + chunk_at<CHUNKS, TURNED>(step, c, plane, turn), b);
        add_product(p->v[c], a0, a1, b[0], b[1]);
        add_product(p->v[c] + 4, a2, a3, b[2], b[3]);
    }
}

/* Gives every lane the first prediction of the lane that has the same target for group
   0: chunk c of a lane is chunk c ^ g of the target. */
template <int CHUNKS> __device__ inline void begin_turned(float (&f)[CHUNKS], uint32_t g)
{
#pragma unroll
    for (int bit = 1; bit < CHUNKS; bit *= 2) {
        float other[CHUNKS];
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
            other[c] = __shfl_xor_sync(WHOLE_WARP, f[c ^ bit], bit * GROUPS);
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
            f[c] = g & bit ? other[c] : f[c];
    }
}

/* Adds the sums of lanes that share targets. */
template <int CHUNKS, bool TURNED, bool MISSING>
__device__ inline void gather_chunks(lane_sums<2, MISSING> (&sums)[CHUNKS])
{
    if constexpr (!TURNED) {
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
            sums[c].gather(GROUPS, WARP);
    } else {
#pragma unroll
    for (int bit = 1; bit < CHUNKS; bit *= 2) {
        auto fold = [&](auto part) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float other[CHUNKS];
#pragma unroll
                for (int c = 0; c < CHUNKS; c++)
                    other[c] = __shfl_xor_sync(WHOLE_WARP, part(sums[c ^ bit], i),
                                               bit * GROUPS);
#pragma unroll
                for (int c = 0; c < CHUNKS; c++)
                    part(sums[c], i) += other[c];
            }
        };
        typedef lane_sums<2, MISSING> of;
        fold([](of &s, int i) -> float & { return s.p[i]; });
        fold([](of &s, int i) -> float & { return s.pp[i]; });
        fold([](of &s, int i) -> float & { return s.py[i]; });
    }
    }
}

template <int CHUNKS, bool TURNED, bool MISSING>
__device__ void correlate_chunks(const lookup_job &job, const tile &of,
                                 const unsigned char *values, uint32_t first_chunk,
                                 uint32_t library)
{
    constexpr int MORE = 2;  /* pairs read in advance */
    uint32_t lane = threadIdx.x % WARP, g = lane / GROUPS, t = lane % GROUPS;
    uint32_t k = of.e + 2, pairs = (k + 1) / 2;
    uint32_t from = job.shape.from[of.e], rows = job.shape.to[of.e] - from;
    uint32_t plane = job.steps * VECTOR_BYTES;
    uint32_t turn = TURNED ? lane % 8 * VECTOR_BYTES : 0;
    const uint32_t *entry = job.table + (size_t) library * job.shape.size +
                            job.shape.offset[of.e];
    values += (size_t) first_chunk * plane;
    uint32_t base = (uint32_t) __cvta_generic_to_shared(values);
    /* Which half of two weights goes where: on the diagonal, else nowhere. */
    bool diagonal = t == g / 2;
    uint32_t low = !diagonal ? 0x4444 : g % 2 ? 0x1044 : 0x4410;
    uint32_t high = !diagonal ? 0x4444 : g % 2 ? 0x3244 : 0x4432;
    uint32_t alike = 0x11111111u << t;
    lane_sums<2, MISSING> sums[CHUNKS];
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
        sums[c].clear();
    entry_pair ahead[MORE];
    float4 scale = *(const float4 *) (entry + 4 * g);
#pragma unroll
    for (int i = 0; i < MORE; i++)
        if (i < pairs)
            ahead[i].read(entry + WARP + i * 2 * WARP, lane);
    for (uint32_t block = 0; block < rows; block += WARP) {
        half_predictions<CHUNKS> p;
        p.clear();
        float by[GROUPS] = {scale.x, scale.y, scale.z, scale.w};
        for (uint32_t j = 0; j < pairs; j += MORE) {
            entry_pair now[MORE];
            uint32_t next = j + MORE;
            if (next >= pairs) {  /* of the next points */
                next = 0;
                entry += WARP + pairs * 2 * WARP;
                scale = *(const float4 *) (entry + 4 * g);
            }
#pragma unroll
            for (int i = 0; i < MORE; i++) {
                now[i] = ahead[i];
                if (next + i < pairs)
                    ahead[i].read(entry + WARP + (next + i) * 2 * WARP, lane);
            }
#pragma unroll
            for (int i = 0; i < MORE; i++) {
                const entry_pair &pair = now[i];
                if (2 * (j + i) < k)
                    add_neighbours<CHUNKS, TURNED>(base, pair.steps & 0xffff, plane, turn,
                                                   pair.weights.x, pair.weights.y, low,
                                                   high, &p);
                if (2 * (j + i) + 1 < k)
                    add_neighbours<CHUNKS, TURNED>(base, pair.steps >> 16, plane, turn,
                                                   pair.weights.z, pair.weights.w, low,
                                                   high, &p);
            }
        }
        bool whole = block + WARP <= rows;
        auto add = [&](auto all) {
#pragma unroll
            for (int q = 0; q < GROUPS; q++) {
                uint32_t row = block + 8 * q + g;
                bool is = decltype(all)::value || (row < rows && !isnan(by[q]));
                uint32_t step = from + min(row, rows - 1) * job.every;
#pragma unroll
                for (int c = 0; c < CHUNKS; c++) {
                    const unsigned char *observed =
                        values + 4 * t +
                        chunk_at<CHUNKS, TURNED>(step, c, plane, g * VECTOR_BYTES);
                    float v[2] = {p.v[c][2 * q] * by[q], p.v[c][2 * q + 1] * by[q]};
                    two_halves y;
                    y.read(observed);
                    if constexpr (!TURNED)
                        sums[c].template begin<two_halves>(v, observed, is, alike);
                    if (is)
                        for (int i = 0; i < 2; i++)
                            sums[c].add(i, v[i], y.at(i));
                }
            }
        };
        if constexpr (TURNED)
            if (block == 0) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float f[CHUNKS];
#pragma unroll
                for (int c = 0; c < CHUNKS; c++)
                    f[c] = p.v[c][i] * by[0];
                begin_turned(f, g);
#pragma unroll
                for (int c = 0; c < CHUNKS; c++)
                    sums[c].first[i] = f[c];
            }
        }
        if (!MISSING && whole)
            add(std::true_type());
        else
            add(std::false_type());
    }
    gather_chunks<CHUNKS, TURNED, MISSING>(sums);
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
        if (g == 0)
            write_rho(job, sums[c], of, library,
                      (first_chunk + c) * CHUNK_TARGETS + 2 * t);
}

/* All chunks of a tile with WARPS warps. */
template <int CHUNKS, bool TURNED, bool MISSING, int WARPS>
__global__ void __launch_bounds__(WARPS * WARP, 1)
correlate_halves(SYN_GPU_JOB lookup_job job)
{
    extern __shared__ __align__(128) unsigned char tile_room[];
    lookup_item item = job.items[blockIdx.x];
    tile of = job.tiles[item.tile];
    const unsigned char *from = job.values + item.tile * job.tile_bytes;
    for (size_t i = threadIdx.x * VECTOR_BYTES; i < job.tile_bytes;
         i += WARPS * WARP * VECTOR_BYTES)
        *(uint4 *) (tile_room + i) = *(const uint4 *) (from + i);
    __syncthreads();
    for (uint32_t l = item.from + threadIdx.x / WARP; l < item.to; l += WARPS)
        for (uint32_t c = 0; c < (TURNED ? 1 : job.planes) && is_open(job, l, item.tile);
             c += CHUNKS)
            correlate_chunks<CHUNKS, TURNED, MISSING>(job, of, tile_room, c, l);
}

/* Makes entries of pairs of packed ones. A warp 32 points; grid: (blocks, E wanted,
   libraries). */
__global__ void pair_entries(SYN_GPU_JOB table_shape shape, uint32_t *table)
{
    __shared__ uint32_t room[4][WARP][SYN_MAP_DIMS + 2];
    uint32_t e = __fns(shape.wanted, 0, blockIdx.y + 1), k = e + 2;
    uint32_t rows = shape.to[e] - shape.from[e];
    uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    uint32_t block = blockIdx.x * 4 + warp;
    if (block * WARP >= rows)
        return;
    uint32_t words = row_words(entries::packed, k);
    uint32_t *at = table + (size_t) blockIdx.z * shape.size + shape.offset[e] +
                   (size_t) block * words * WARP;
    uint32_t *mine = room[warp][lane];
    float sum = 0;
    for (uint32_t j = 0; j < k; j++) {
        uint32_t word = at[j * WARP + lane];
        __half w = __float2half(whole(word >> 16) * (1.0f / MOST_16));
        if (word >> 16 == NO_POINT_16)
            w = __float2half(0);
        sum += __half2float(w);
        mine[j] = (word & 0xffff) | (uint32_t) __half_as_ushort(w) << 16;
        if (block * WARP + lane >= rows)
            mine[j] = 0;
    }
    mine[k] = 0;
    __syncwarp();
    uint32_t g = lane / GROUPS, t = lane % GROUPS;
    /* word 4 g + t of scales: point g of group t */
    float mate = __shfl_sync(WHOLE_WARP, sum, 8 * t + g);
    at[lane] = __float_as_uint(mate > 0 ? 1 / mate : __int_as_float(0x7fc00000));
    for (uint32_t i = 0; i < (k + 1) / 2; i++) {
        uint32_t *to = at + WARP + i * 2 * WARP;
        to[lane] = (mine[2 * i] & 0xffff) | mine[2 * i + 1] << 16;
        /* word t of lane group g: neighbour t / 2, groups 2 (t % 2) and the next */
        uint32_t j = 2 * i + t / 2, q = 2 * (t % 2);
        to[WARP + lane] = room[warp][8 * q + g][j] >> 16 |
                          (room[warp][8 * (q + 1) + g][j] & 0xffff0000);
    }
}

}  // namespace gpu

#endif
