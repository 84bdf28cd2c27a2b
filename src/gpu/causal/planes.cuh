/* Correlations by rows of 16 bytes in planes, a lane a point. */
#ifndef SYN_GPU_CAUSAL_PLANES_CUH
#define SYN_GPU_CAUSAL_PLANES_CUH

#include "gpu/causal/lookup.cuh"

namespace gpu {

#ifndef LANE_WARPS
#define LANE_WARPS 16
#endif
#ifndef LANE_TOGETHER
#define LANE_TOGETHER 2
#endif

/* Warps of a block, as many as there are registers for. */
__host__ __device__ constexpr uint32_t lane_warps(uint32_t planes, bool missing)
{
    return planes == 1 && !missing ? LANE_WARPS : LOOKUP_WARPS;
}

/* Adds N neighbours of a lane's point to its targets in every plane. */
template <class LANE, int PLANES, int N>
__device__ void predict_lane(const unsigned char *values, size_t plane,
                              const uint32_t *entry, prediction<LANE> *p)
{
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
                            job.shape.offset[of.e] + WARP + lane;
    uint32_t scale_at = lane % 8 * GROUPS + lane / 8 - WARP - lane;
    values += first_plane * plane;
    lane_sums<LANE::N, MISSING> sums[PLANES];
#pragma unroll
    for (int q = 0; q < PLANES; q++)
        sums[q].clear();
    uint32_t ahead[MORE], ahead_scale = entry[(int32_t) scale_at];
#pragma unroll
    for (int i = 0; i < MORE; i++)
        if (i < k)
            ahead[i] = entry[i * WARP];
    for (uint32_t block = 0; block < rows; block += WARP) {
        prediction<LANE> p[PLANES];
        uint32_t scale = ahead_scale;
#pragma unroll
        for (int q = 0; q < PLANES; q++)
            p[q].clear();
        for (uint32_t j = 0; j < k; j += MORE) {
            uint32_t now[MORE], next = j + MORE;
            if (next >= k) {  /* of the next 32 rows */
                next = 0;
                entry += words * WARP;
                ahead_scale = entry[(int32_t) scale_at];
            }
#pragma unroll
            for (int i = 0; i < MORE; i++) {
                now[i] = ahead[i];
                if (next + i < k)
                    ahead[i] = entry[(next + i) * WARP];
            }
#pragma unroll
            for (int i = 0; i < MORE; i += LANE_TOGETHER) {
                if (j + i + LANE_TOGETHER - 1 < k)
                    predict_lane<LANE, PLANES, LANE_TOGETHER>(values, plane, now + i, p);
                else
#pragma unroll
                    for (int u = 0; u < LANE_TOGETHER - 1; u++)
                        if (j + i + u < k)
                            predict_lane<LANE, PLANES, 1>(values, plane, now + i + u, p);
            }
        }
        uint32_t row = block + lane % 8 + (scale & 3) * 8;
        bool is = row < rows && !(MISSING && isnan(__uint_as_float(scale)));
        const unsigned char *observed =
            values + (size_t) (from + row * job.every) * VECTOR_BYTES;
#pragma unroll
        for (int q = 0; q < PLANES; q++) {
            p[q].scale(__uint_as_float(scale));
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
__global__ void __launch_bounds__(lane_warps(PLANES, MISSING) * WARP, 1)
correlate_lanes(SYN_GPU_JOB lookup_job job)
{
    extern __shared__ unsigned char tile_room[];
    lookup_item item = job.items[blockIdx.x];
    tile of = job.tiles[item.tile];
    const unsigned char *values = stage_tile<true>(job, item.tile, tile_room);
    for (uint32_t l = item.from + threadIdx.x / WARP; l < item.to;
         l += blockDim.x / WARP)
        for (uint32_t plane = 0; plane < job.planes && is_open(job, l, item.tile);
             plane += PLANES)
            correlate_by_lanes<LANE, PLANES, MISSING>(job, of, values, plane, l);
}

}  // namespace gpu

#endif
