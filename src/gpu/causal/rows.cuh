/* Correlations without tensor cores: by rows of 128 bytes, which eight lanes read
   together, and by rows of 16 bytes in planes, a lane a point. */
#pragma once

#include "gpu/causal/lookup.cuh"

namespace gpu {

/* ---- rows of 128 bytes ---- */

/* Adds N neighbours with narrow entries, words FROM to FROM + N - 1 of 16 bytes; their
   rows are read together. */
template <int FROM, int N, class LANE>
__device__ void add_narrow(const unsigned char *values, const uint4 &entry,
                           prediction<LANE> *p)
{
    const uint32_t word[4] = {entry.x, entry.y, entry.z, entry.w};
    LANE x[N];
    SYN_UNROLL(i, N)
        x[i].read(values + (word[FROM + i] >> 21 << 7));
    SYN_UNROLL(i, N)
        p->add(whole(word[FROM + i] & MOST_21), x[i]);
}

/* The same for the first n of the words from FROM on. */
template <int FROM, class LANE>
__device__ void add_some(const unsigned char *values, const uint4 &entry, uint32_t n,
                         prediction<LANE> *p)
{
    if (n >= 4 - FROM)
        add_narrow<FROM, 4 - FROM>(values, entry, p);
    else if (n == 3)
        add_narrow<FROM, FROM ? 1 : 3>(values, entry, p);
    else if (n == 2)
        add_narrow<FROM, 2>(values, entry, p);
    else
        add_narrow<FROM, 1>(values, entry, p);
}

/* The lanes that have the same targets. */
__device__ inline uint32_t row_mates(uint32_t lane)
{
    return 0x01010101u << lane % ROW_LANES;
}

/* Goes through a library with narrow entries, VECTORS times 16 bytes a point. Those of
   the next points are read while these are predicted. */
template <class LANE, int VECTORS, bool MISSING>
__device__ void correlate_narrow(const lookup_job &job, const tile &of,
                                 const unsigned char *values, uint32_t library)
{
    uint32_t lane = threadIdx.x % WARP, k = of.e + 2;
    uint32_t from = job.shape.from[of.e], rows = job.shape.to[of.e] - from;
    uint32_t row = lane / ROW_LANES, last = k + 1 - 4 * (VECTORS - 1);
    const uint4 *entry = (const uint4 *) (job.table + (size_t) library * job.shape.size +
                                          job.shape.offset[of.e]) + row * VECTORS;
    const unsigned char *mine = values + lane % ROW_LANES * VECTOR_BYTES;
    const unsigned char *observed = mine + (size_t) from * ROW_BYTES;
    uint32_t pace = job.every * ROW_BYTES;
    lane_sums<LANE::N, MISSING> sums;
    sums.clear();
    uint4 ahead[VECTORS];
    SYN_UNROLL(i, VECTORS)
        ahead[i] = entry[i];
    for (; row - lane / ROW_LANES < rows; row += WARP / ROW_LANES) {
        prediction<LANE> p;
        uint4 now[VECTORS];
        entry += VECTORS * (WARP / ROW_LANES);
        SYN_UNROLL(i, VECTORS) {
            now[i] = ahead[i];
            ahead[i] = entry[i];
        }
        p.clear();
        if (VECTORS == 1)
            add_some<1>(mine, now[0], last - 1, &p);
        else
            add_narrow<1, 3>(mine, now[0], &p);
#pragma unroll
        for (int i = 1; i < VECTORS - 1; i++)
            add_narrow<0, 4>(mine, now[i], &p);
        if (VECTORS > 1)
            add_some<0>(mine, now[VECTORS - 1], last, &p);
        float scale = __uint_as_float(now[0].x);
        bool is = row < rows && !(MISSING && isnan(scale));
        p.scale(scale);
        sums.template begin<LANE>(p.v, observed + row * pace, is, row_mates(lane));
        if (is)
            add_point(&sums, p, observed + row * pace);
    }
    sums.gather(ROW_LANES, WARP);
    if (lane < ROW_LANES)
        write_rho(job, sums, of, library, lane * LANE::N);
}

/* The same with wide entries, and a tile in device memory. */
template <class LANE, bool MISSING>
__device__ void correlate_wide(const lookup_job &job, const tile &of,
                               const unsigned char *values, uint32_t library)
{
    uint32_t lane = threadIdx.x % WARP, k = of.e + 2;
    uint32_t vectors = row_words(entries::wide, k) / 4;
    uint32_t from = job.shape.from[of.e], rows = job.shape.to[of.e] - from;
    const uint4 *entry = (const uint4 *) (job.table + (size_t) library * job.shape.size +
                                          job.shape.offset[of.e]);
    const unsigned char *mine = values + lane % ROW_LANES * VECTOR_BYTES;
    const unsigned char *observed = mine + (size_t) from * ROW_BYTES;
    uint32_t pace = job.every * ROW_BYTES;
    lane_sums<LANE::N, MISSING> sums;
    sums.clear();
    for (uint32_t begin = 0; begin < rows; begin += WARP / ROW_LANES) {
        uint32_t row = begin + lane / ROW_LANES;
        LANE x, y;
        prediction<LANE> p;
        float weight = 0;
        p.clear();
#pragma unroll 2
        for (uint32_t j = 0; j < vectors; j++) {
            uint4 two = entry[(size_t) row * vectors + j];
            x.read(mine + two.y);
            p.add(__uint_as_float(two.x), x);
            weight += __uint_as_float(two.x);
            if (2 * j + 1 == k)
                break;
            y.read(mine + two.w);
            p.add(__uint_as_float(two.z), y);
            weight += __uint_as_float(two.z);
        }
        bool is = row < rows;
        p.scale(1 / weight);
        const unsigned char *here = observed + (size_t) row * pace;
        sums.template begin<LANE>(p.v, here, is, row_mates(lane));
        if (is)
            add_point(&sums, p, here);
    }
    sums.gather(ROW_LANES, WARP);
    if (lane < ROW_LANES)
        write_rho(job, sums, of, library, lane * LANE::N);
}

/* Narrow entries where the tile is in shared memory, wide ones where it is not. */
template <class LANE, bool MISSING, bool STAGED>
__global__ void __launch_bounds__(LOOKUP_THREADS, 1)
correlate_rows(SYN_GPU_JOB lookup_job job)
{
    extern __shared__ unsigned char tile_room[];
    lookup_item item = job.items[blockIdx.x];
    tile of = job.tiles[item.tile];
    const unsigned char *values = stage_tile<STAGED>(job, item.tile, tile_room);
    auto each = [&](auto correlate) {
        uint32_t first = item.from + threadIdx.x / WARP;
        for (uint32_t l = first; l < item.to; l += blockDim.x / WARP)
            if (is_open(job, l, item.tile))
                correlate(l);
    };
    if (!STAGED) {
        each([&](uint32_t l) { correlate_wide<LANE, MISSING>(job, of, values, l); });
        return;
    }
    auto narrow = [&](auto vectors) {
        each([&](uint32_t l) {
            correlate_narrow<LANE, decltype(vectors)::value, MISSING>(job, of, values, l);
        });
    };
    with_number<1, 2, 3, 4, 5, 6>(row_words(entries::narrow, of.e + 2) / 4, narrow);
}

/* ---- planes ---- */

enum { QUAD = 4 };         /* neighbours whose entries are read together */

/* Warps of a block: with little to do for each entry that they read, twice as many hide
   how long that takes. */
__host__ __device__ constexpr uint32_t lane_warps(uint32_t planes)
{
    return planes > 1 ? LOOKUP_WARPS : 2 * LOOKUP_WARPS;
}

/* The first N of four neighbours of a lane's point, added to its targets in every plane
   of a tile that begins at the address `values`. */
template <class LANE, int PLANES, int N>
__device__ void predict_lane(uint32_t values, uint32_t plane,
                             const uint32_t (&entry)[QUAD], prediction<LANE> *p)
{
    SYN_UNROLL(q, PLANES) {
        LANE x[N];
        SYN_UNROLL(i, N)
            x[i].read_shared(values + q * plane + (entry[i] & 0xffffu) * VECTOR_BYTES);
        SYN_UNROLL(i, N)
            p[q].add(whole(entry[i] >> 16), x[i]);
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
    SYN_UNROLL(q, PLANES)
        sums[q].clear();
    uint32_t ahead[QUAD] = {};
    read_quad(table + at, lane, even >= QUAD, ahead);
    for (uint32_t block = 0; block < rows; block += WARP) {
        prediction<LANE> p[PLANES];
        uint32_t scale = *scales;
        scales += words;
        SYN_UNROLL(q, PLANES)
            p[q].clear();
        for (uint32_t j = 0; j < k; j += QUAD) {
            uint32_t now[QUAD];
            SYN_UNROLL(i, QUAD)
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
        SYN_UNROLL(q, PLANES) {
            p[q].scale(__uint_as_float(scale));
            sums[q].template begin<LANE>(p[q].v, observed + q * plane, is, ~0u);
        }
        if (!is)
            continue;
        SYN_UNROLL(q, PLANES)
            add_point(&sums[q], p[q], observed + q * plane);
    }
    SYN_UNROLL(q, PLANES) {
        sums[q].gather(1, WARP);
        if (lane == 0)
            write_rho(job, sums[q], of, library, (first_plane + q) * LANE::N);
    }
}

template <class LANE, int PLANES, bool MISSING>
__global__ void __launch_bounds__(
    (MISSING ? LOOKUP_WARPS : lane_warps(PLANES)) * WARP, 1)
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
