/* Which library rows may be among the nearest in any number of dimensions E. As
   filter.cuh, but it adds squares of differences, and compares their sum with the limit
   of E after each coordinate. A row that is a candidate for any E is listed once. */
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
    float *beyond;    /* and of those that come after the k-th in the order of ties */
    double *squared;  /* distance of the k-th, */
    uint32_t *rank;   /* how far it comes after the predicted row, */
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
    uint32_t rank_of[SWEEP_DIMS][TILE];
    uint32_t row[TILE], ties[TILE];    /* whether ties matter to a row */
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
        float *x = (float *) s.x, *limit = (float *) s.limit_of;
        float *beyond = (float *) s.beyond_of;
        uint32_t *rank = (uint32_t *) s.rank_of;
        for (uint32_t i = threadIdx.x; i < job.E * TILE; i += FILTER_THREADS) {
            x[i] = job.predicted[from + i];
            limit[i] = job.limits.limit[from + i];
            beyond[i] = job.limits.beyond[from + i];
            rank[i] = job.limits.rank[from + i];
        }
        uint32_t at = blockIdx.x * TILE + threadIdx.x;
        if (threadIdx.x < TILE)
            s.row[threadIdx.x] =
                at < job.turn.predicted.n ? job.turn.predicted.row[at] : 0;
        s.pending.start();
        __syncthreads();
        if (threadIdx.x < TILE) {
            uint32_t q = threadIdx.x, any = 0;
            for (uint32_t e = 0; e < job.E; e++)
                any |= s.beyond_of[e][q] != s.limit_of[e][q];
            s.ties[q] = any;
        }
        __syncthreads();
    }

    __device__ void load(const turn_place &at, uint32_t b) const
    {
        if (at.more) {
            size_t from = (size_t) at.tile * job.E * TILE;
            uint32_t q = threadIdx.x % TILE;
            copy_floats((float *) s.y[b], job.library + from, job.E * TILE);
            uint32_t soon = s.ties[q] ? tile_after(job.turn, at.tile,
                                                   syn_row_rank(s.row[q])) : 0;
            for (uint32_t e = threadIdx.x / TILE; e < job.E; e += FILTER_THREADS / TILE)
                s.limit[b][e][q] =
                    soon > s.rank_of[e][q] ? s.beyond_of[e][q] : s.limit_of[e][q];
        }
        close_copies();
    }

    /* Whether a row is as near as its limit says with any number of dimensions, and, if
       it is where the k-th neighbour is, comes no later in the order of ties. */
    __device__ bool wanted(uint32_t query, uint32_t place) const
    {
        uint32_t row = job.turn.library.row[place];
        uint32_t rank = syn_rank_after(row, syn_row_rank(s.row[query]));
        size_t tile = (size_t) (place / TILE) * job.E * TILE;
        const float *y = job.library + tile + place % TILE;
        float sum = 0;
        if (rows_apart(row, s.row[query]) <= job.turn.exclusion)
            return false;
        for (uint32_t e = 0; e < job.E; e++) {
            bool later = rank > s.rank_of[e][query];
            float gap = s.x[e][query] - y[e * TILE];
            sum = fmaf(gap, gap, sum);
            if (sum > (later ? s.beyond_of : s.limit_of)[e][query])
                continue;
            size_t of = ((size_t) blockIdx.x * job.E + e) * TILE + query;
            if (!later || job.twin[(size_t) e * job.turn.library.n + place] !=
                              job.limits.twin[of])
                return true;
        }
        return false;
    }

    __device__ void list(uint32_t query, uint32_t place) const
    {
        if (!wanted(query, place))
            return;
        uint32_t i = blockIdx.x * TILE + query;
        uint32_t at = atomicAdd(&job.listed[i], 1u);
        if (at < job.room)
            job.list[(size_t) i * job.room + at] = place;
    }
};

__global__ void __launch_bounds__(FILTER_THREADS, 2)
    filter_dimensions(SYN_GPU_JOB sweep_filter_job job)
{
    extern __shared__ float4 sweep_memory[];
    sweep_shared &s = *(sweep_shared *) sweep_memory;
    sweep_walk walk = {job, s, home_of(job.turn, blockIdx.x)};
    thread_place own = place_of_thread();
    auto list = [&](uint32_t query, uint32_t place) { walk.list(query, place); };
    walk.begin();
    turn_place at = tile_from(job.turn, walk.home, job.turn.from + blockIdx.y);
    walk.load(at, 0);
    float sum[8][8], x[8], y[8], limit[8];
    for (uint32_t b = 0; at.more; b ^= 1) {
        wait_for_all_copies();
        if (s.pending.full_after_barrier())
            s.pending.flush(list);
        turn_place later = tile_from(job.turn, walk.home, at.turn + gridDim.y);
        walk.load(later, b ^ 1);
        uint32_t pass[2] = {0, 0};
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                sum[i][j] = 0;
        for (uint32_t e = 0; e < job.E; e++) {
            get_eight(x, s.x[e] + own.query);
            get_eight(y, s.y[b][e] + own.column);
            get_eight(limit, s.limit[b][e] + own.query);
#pragma unroll
            for (int i = 0; i < 8; i++) {
                bool any = false;
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    float gap = x[i] - y[j];
                    sum[i][j] = fmaf(gap, gap, sum[i][j]);
                    any = any || sum[i][j] <= limit[i];
                }
                if (any)
#pragma unroll
                    for (int j = 0; j < 8; j++)
                        pass[i / 4] |= (uint32_t) (sum[i][j] <= limit[i])
                                       << (i % 4 * 8 + j);
            }
        }
        s.pending.add(pass, own, at.tile, list);
        at = later;
    }
    __syncthreads();
    s.pending.flush(list);
}

}  // namespace gpu

#endif
