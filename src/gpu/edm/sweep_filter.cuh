/* Which library rows may be among the nearest in any number of dimensions E: as filter.cuh
   for one of them, with squares of differences, which a comparison with the limit of E
   follows after each coordinate. A row that is a candidate for any E is listed once. */
#ifndef SYN_GPU_EDM_SWEEP_FILTER_CUH
#define SYN_GPU_EDM_SWEEP_FILTER_CUH

#include "gpu/edm/turns.cuh"

namespace gpu {

enum { SWEEP_DIMS = 20 };  /* most dimensions */

/* Coordinates of library rows that do not reach so far, and the limit of predicted rows
   that do not. */
constexpr float SWEEP_FAR = 3e18f, SWEEP_NEVER = -1;

/* Limits of predicted rows, all [tiles][E][TILE]. */
struct sweep_limits {
    float *limit;     /* squared distance of candidates, */
    float *beyond;    /* and of those farther in time than the k-th */
    double *squared;  /* distance of the k-th, */
    uint32_t *apart;  /* how far in time that is, */
    uint32_t *twin;   /* and the number of its point */
};

struct sweep_filter_job {
    const float *library, *predicted;  /* [tiles][E][TILE] coordinates */
    tile_turn turn;
    uint32_t E;
    sweep_limits limits;
    const uint32_t *twin;              /* [E][library] */
    uint32_t *listed, *list;           /* [predicted], [predicted][room] */
    uint32_t room;
};

struct sweep_shared {
    float x[SWEEP_DIMS][TILE];
    float y[2][SWEEP_DIMS][TILE];
    float limit[2][SWEEP_DIMS][TILE];  /* for a tile of the library */
    float limit_of[SWEEP_DIMS][TILE], beyond_of[SWEEP_DIMS][TILE];
    uint32_t apart_of[SWEEP_DIMS][TILE];
    uint32_t row[TILE];
    pending_rows pending;
};

struct sweep_walk {
    const sweep_filter_job &job;
    sweep_shared &s;
    home_tiles home;

    /* What does not change from tile to tile. */
    __device__ void begin() const
    {
        size_t from = (size_t) blockIdx.x * job.E * TILE;
        for (uint32_t i = threadIdx.x; i < job.E * TILE; i += FILTER_THREADS) {
            s.x[0][i] = job.predicted[from + i];
            s.limit_of[0][i] = job.limits.limit[from + i];
            s.beyond_of[0][i] = job.limits.beyond[from + i];
            s.apart_of[0][i] = job.limits.apart[from + i];
        }
        uint32_t at = blockIdx.x * TILE + threadIdx.x;
        if (threadIdx.x < TILE)
            s.row[threadIdx.x] =
                at < job.turn.predicted.n ? job.turn.predicted.row[at] : 0;
        s.pending.start();
        __syncthreads();
    }

    __device__ void load(const turn_place &at, uint32_t b) const
    {
        if (at.more) {
            size_t from = (size_t) at.tile * job.E * TILE;
            uint32_t q = threadIdx.x % TILE;
            copy_floats(s.y[b][0], job.library + from, job.E * TILE);
            uint32_t apart = tile_apart(job.turn, at.tile, s.row[q]);
            for (uint32_t e = threadIdx.x / TILE; e < job.E; e += FILTER_THREADS / TILE)
                s.limit[b][e][q] =
                    apart > s.apart_of[e][q] ? s.beyond_of[e][q] : s.limit_of[e][q];
        }
        close_copies();
    }

    __device__ void list(uint32_t query, uint32_t place) const
    {
        uint32_t i = blockIdx.x * TILE + query;
        uint32_t at = atomicAdd(&job.listed[i], 1u);
        if (at < job.room)
            job.list[(size_t) i * job.room + at] = place;
    }

    /* Whether a row at its place is wanted with e + 1 dimensions: where it is, it goes on
       its way to the list. */
    __device__ bool emit(uint32_t tile, uint32_t e, uint32_t query, uint32_t column) const
    {
        uint32_t place = tile * TILE + column;
        uint32_t apart = rows_apart(job.turn.library.row[place], s.row[query]);
        if (apart <= job.turn.exclusion)
            return false;
        size_t of = ((size_t) blockIdx.x * job.E + e) * TILE + query;
        if (apart > s.apart_of[e][query] &&
            job.twin[(size_t) e * job.turn.library.n + place] == job.limits.twin[of])
            return false;
        if (!s.pending.add(query, place))
            list(query, place);
        return true;
    }
};

__global__ void __launch_bounds__(FILTER_THREADS, 2)
    filter_dimensions(SYN_GPU_JOB sweep_filter_job job)
{
    extern __shared__ float4 sweep_memory[];
    sweep_shared &s = *(sweep_shared *) sweep_memory;
    sweep_walk walk = {job, s, home_of(job.turn, blockIdx.x)};
    uint32_t query = place_of_thread().query, column = place_of_thread().column;
    walk.begin();
    turn_place at = tile_from(job.turn, walk.home, job.turn.from + blockIdx.y);
    walk.load(at, 0);
    float sum[8][8], x[8], y[8], limit[8];
    for (uint32_t b = 0; at.more; b ^= 1) {
        wait_for_all_copies();
        if (s.pending.full_after_barrier())
            s.pending.flush([&](uint32_t q, uint32_t place) { walk.list(q, place); });
        turn_place later = tile_from(job.turn, walk.home, at.turn + gridDim.y);
        walk.load(later, b ^ 1);
        uint32_t done[2] = {0, 0};  /* pairs that are candidates already */
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                sum[i][j] = 0;
        for (uint32_t e = 0; e < job.E; e++) {
            get_eight(x, s.x[e] + query);
            get_eight(y, s.y[b][e] + column);
            get_eight(limit, s.limit[b][e] + query);
            bool any = false;
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    float gap = x[i] - y[j];
                    sum[i][j] = fmaf(gap, gap, sum[i][j]);
                    any = any || sum[i][j] <= limit[i];
                }
            if (!any)
                continue;
#pragma unroll
            for (int i = 0; i < 8; i++) {
                uint32_t pass = 0;
#pragma unroll
                for (int j = 0; j < 8; j++)
                    pass |= (uint32_t) (sum[i][j] <= limit[i]) << j;
                for (pass &= ~(done[i / 4] >> i % 4 * 8); pass; pass &= pass - 1) {
                    uint32_t j = __ffs(pass) - 1;
                    if (walk.emit(at.tile, e, of_eight(query, i), of_eight(column, j)))
                        done[i / 4] |= 1u << (i % 4 * 8 + j);
                }
            }
        }
        at = later;
    }
    __syncthreads();
    s.pending.flush([&](uint32_t q, uint32_t place) { walk.list(q, place); });
}

}  // namespace gpu

#endif
