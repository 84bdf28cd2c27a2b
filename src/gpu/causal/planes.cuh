/* Correlations by rows of 16 bytes in planes, a lane a point, and the order of packed
   entries that this needs. */
#ifndef SYN_GPU_CAUSAL_PLANES_CUH
#define SYN_GPU_CAUSAL_PLANES_CUH

#include "gpu/causal/lookup.cuh"

namespace gpu {

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
    uint32_t lane = threadIdx.x % WARP, k = of.e + 2;
    uint32_t words = row_words(entries::packed, k);
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
            ahead[i] = entry[i * WARP];
    for (uint32_t row = lane; row - lane < rows; row += WARP) {
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
                entry += words * WARP;
            }
#pragma unroll
            for (int i = 0; i < MORE; i++) {
                now[i] = ahead[i];
                if (next + i < k)
                    ahead[i] = entry[(next + i) * WARP];
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
        const unsigned char *observed =
            values + (size_t) (from + row * job.every) * VECTOR_BYTES;
#pragma unroll
        for (int q = 0; q < PLANES; q++) {
            p[q].scale(1 / weight);
            sums[q].template begin<LANE>(p[q].v, observed + q * plane, is, ~0u);
        }
        if (!is)
            continue;
#pragma unroll
        for (int q = 0; q < PLANES; q++)
            add_point(&sums[q], p[q], observed + q * plane);
    }
#pragma unroll
    for (int q = 0; q < PLANES; q++) {
        sums[q].gather(1, WARP);
        if (lane == 0)
            write_rho(job, sums[q], of, library, (first_plane + q) * LANE::N);
    }
}

template <class LANE, int PLANES, bool MISSING>
__global__ void __launch_bounds__(LOOKUP_THREADS, 1)
correlate_lanes(SYN_GPU_JOB lookup_job job)
{
    extern __shared__ unsigned char tile_room[];
    lookup_item item = job.items[blockIdx.x];
    tile of = job.tiles[item.tile];
    const unsigned char *values = stage_tile<true>(job, item.tile, tile_room);
    for (uint32_t l = item.from + threadIdx.x / WARP; l < item.to; l += LOOKUP_WARPS)
        for (uint32_t plane = 0; plane < job.planes && is_open(job, l, item.tile);
             plane += PLANES)
            correlate_by_lanes<LANE, PLANES, MISSING>(job, of, values, plane, l);
}

/* Reorders packed entries: of the eight points that a quarter of a warp reads together,
   each next neighbour should lie in another bank group; groups that have most neighbours
   left come first. A thread eight points; grid: (blocks, E wanted, libraries). */
__global__ void spread_over_banks(SYN_GPU_JOB table_shape shape,
                                  uint32_t *table)
{
    uint32_t e = __fns(shape.wanted, 0, blockIdx.y + 1), k = e + 2;
    uint32_t rows = shape.to[e] - shape.from[e];
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 8 >= rows)
        return;
    uint32_t *entry = table + (size_t) blockIdx.z * shape.size + shape.offset[e] +
                      (size_t) (i / 4) * row_words(entries::packed, k) * WARP +
                      i % 4 * 8;
    uint64_t left = 0;  /* neighbours in each bank group, 8 bits each */
    for (uint32_t j = 0; j < k; j++)
        for (uint32_t lane = 0; lane < 8; lane++)
            left += 1ull << 8 * (entry[j * WARP + lane] & 7);
    for (uint32_t j = 0; j < k; j++) {
        uint32_t used = 0;
        for (uint32_t turn = 0; turn < 8; turn++) {
            uint32_t lane = (turn + j) & 7;  /* all have the first choice in turn */
            int32_t best = -1;
            uint32_t at = j, group = 0;
            for (uint32_t other = j; other < k; other++) {
                uint32_t g = entry[other * WARP + lane] & 7;
                int32_t score = (left >> 8 * g & 255) + (used >> g & 1 ? 0 : 256);
                if (score > best) {
                    best = score;
                    at = other;
                    group = g;
                }
            }
            uint32_t chosen = entry[at * WARP + lane];
            entry[at * WARP + lane] = entry[j * WARP + lane];
            entry[j * WARP + lane] = chosen;
            used |= 1u << group;
            left -= 1ull << 8 * group;
        }
    }
}

}  // namespace gpu

#endif
