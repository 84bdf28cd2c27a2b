/* Correlations by rows of 16 bytes in planes, a lane a point. */
#ifndef SYN_GPU_CAUSAL_PLANES_CUH
#define SYN_GPU_CAUSAL_PLANES_CUH

#include "gpu/causal/lookup.cuh"

namespace gpu {

#ifndef LANE_WARPS
#define LANE_WARPS 32
#endif
#ifndef COARSE_WARPS
#define COARSE_WARPS 24
#endif
enum { QUAD = 4 };         /* neighbours whose entries are read together */

/* Warps of a block, as many as there are registers for. */
__host__ __device__ constexpr uint32_t lane_warps(uint32_t planes, bool half)
{
    return planes > 1 ? LOOKUP_WARPS : half ? COARSE_WARPS : LANE_WARPS;
}

/* The first N of four neighbours of a lane's point, added to its targets in every plane
   of a tile that begins at the address `values`. */
template <class LANE, int PLANES, int N>
__device__ void predict_lane(uint32_t values, uint32_t plane,
                             const uint32_t (&entry)[QUAD], prediction<LANE> *p)
{
#pragma unroll
    for (int q = 0; q < PLANES; q++) {
        LANE x[N];
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i].read_shared(values + q * plane + (entry[i] & 0xffffu) * VECTOR_BYTES);
        LANE::template add_packed<N>(entry, x, p[q].v);
    }
}

/* The entries of a lane's point, four at a time; where there are two left these are side
   by side, too. */
__device__ inline void read_quad(const uint32_t *table, uint32_t lane, bool four,
                                 uint32_t (&to)[QUAD])
{
    if (four) {
        uint4 all = *(const uint4 *) (table + 4 * lane);
        to[0] = all.x;
        to[1] = all.y;
        to[2] = all.z;
        to[3] = all.w;
    } else {
        uint2 two = *(const uint2 *) (table + 2 * lane);
        to[0] = two.x;
        to[1] = two.y;
    }
}

/* Targets in PLANES planes from `first_plane` on. */
template <class LANE, int PLANES, bool MISSING>
__device__ void correlate_by_lanes(const lookup_job &job, const tile &of,
                                   const unsigned char *values, uint32_t first_plane,
                                   uint32_t library)
{
    uint32_t lane = threadIdx.x % WARP, k = of.e + 2, even = (k + 1) / 2 * 2;
    uint32_t from = job.shape.from[of.e], rows = job.shape.to[of.e] - from;
    uint32_t plane = job.steps * VECTOR_BYTES;
    const uint32_t *table =
        job.table + (size_t) library * job.shape.size + job.shape.offset[of.e];
    const uint32_t *scales = table + lane % 8 * GROUPS + lane / 8;
    uint32_t words = (1 + even) * WARP, at = WARP, next_points = words + WARP;
    uint32_t shared = held((uint32_t) __cvta_generic_to_shared(values) +
                           first_plane * plane);
    values += first_plane * plane;
    lane_sums<LANE::N, MISSING> sums[PLANES];
#pragma unroll
    for (int q = 0; q < PLANES; q++)
        sums[q].clear();
    uint32_t ahead[QUAD] = {};
    read_quad(table + at, lane, even >= QUAD, ahead);
    for (uint32_t block = 0; block < rows; block += WARP) {
        prediction<LANE> p[PLANES];
        uint32_t scale = *scales;
        scales += words;
#pragma unroll
        for (int q = 0; q < PLANES; q++)
            p[q].clear();
        for (uint32_t j = 0; j < k; j += QUAD) {
            uint32_t now[QUAD];
#pragma unroll
            for (int i = 0; i < QUAD; i++)
                now[i] = ahead[i];
            uint32_t left = j + QUAD < k ? even - j - QUAD : even;
            at = j + QUAD < k ? at + QUAD * WARP : next_points;
            read_quad(table + at, lane, left >= QUAD, ahead);
            if (j + 4 <= k)
                predict_lane<LANE, PLANES, 4>(shared, plane, now, p);
            else if (j + 3 == k)
                predict_lane<LANE, PLANES, 3>(shared, plane, now, p);
            else if (j + 2 == k)
                predict_lane<LANE, PLANES, 2>(shared, plane, now, p);
            else
                predict_lane<LANE, PLANES, 1>(shared, plane, now, p);
        }
        next_points += words;
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
__global__ void __launch_bounds__(
    (MISSING ? LOOKUP_WARPS : lane_warps(PLANES, LANE::N == half_lane::N)) * WARP, 1)
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
