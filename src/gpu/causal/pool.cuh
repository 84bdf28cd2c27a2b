/* What a search for neighbours works on: libraries on a device, a warp's pool of columns,
   and how a warp finds the k-th of what its lanes hold. */
#ifndef SYN_GPU_CAUSAL_POOL_CUH
#define SYN_GPU_CAUSAL_POOL_CUH

#include "gpu/base/rank.cuh"
#include "gpu/causal/bounds.cuh"

#include <cuda_runtime.h>

namespace gpu {

enum {
    POOL = 256,            /* columns of a pool */
    SEARCH_WARPS = 8,      /* of a block */
    SEARCH_BLOCKS = 3,     /* that a multiprocessor should have room for */
    SEARCH_ROWS = 16,      /* places that a warp takes: the first is dearer than others */
    SEARCH_FRONT = 32,     /* empty places in front of a library, for the first lags */
    SEARCH_STEP = 4 * WARP,  /* columns that a warp looks at together */
    A_FEW = 4,             /* more than are wanted, kept for the sake of time */
    SAMPLE = 1024          /* columns that the first threshold is taken from, at most */
};

/* Floats of a library in device memory: at least one empty place after the last. */
inline uint32_t placed_length(uint32_t places)
{
    return SEARCH_FRONT + (places / SEARCH_STEP + 1) * SEARCH_STEP;
}

struct search_job {
    uint32_t length;       /* floats of a library in `placed`, and bits of it in `may` */
    uint32_t places, steps, exclusion;
    int32_t Tp;
    uint32_t wanted;       /* bit E - 1 */
    uint32_t sample;       /* columns to take the first threshold from, too */
    const float *placed;   /* [n][length] values in the order of the layout, else NaN */
    const uint32_t *may;   /* [n][length / 32] a bit for each place: it may be a column */
    const float *value;    /* [n][steps] */
    const int32_t *step;   /* [length] of each place; -1 where there is none */
    const unsigned char *use;  /* [places] */
};

/* What a warp uses over and over. The list is read 16 bytes at a time. */
struct alignas(16) search_scratch {
    float limit[WARP];        /* of the squared distance, by E - 1 */
    uint32_t last[WARP];      /* of what is at the limit: only up to this rank */
    float near[WARP];         /* the neighbours: squared distance ... */
    int32_t near_step[WARP];  /* ... and step */
    float list[POOL + 4];     /* squared distances within the limit ... */
    unsigned char slot[POOL];  /* ... and where in the pool */
    int32_t step[POOL];       /* the pool: step, and place or -1 for what may not be a */
    union {                   /* neighbour; while neighbours are found, bounds */
        int32_t column[POOL];
        least_numbers least;
    };
};

/* Values in the order of the layout, and which columns count. A warp writes a word of
   `may`. */
__global__ void lay_out(search_job job, const unsigned char *drawn, float *placed,
                        uint32_t *may)
{
    uint32_t at = blockIdx.x * blockDim.x + threadIdx.x, library = blockIdx.y;
    if (at >= job.length)  /* whole warps: the length is a multiple of theirs */
        return;
    float value = __int_as_float(0x7fc00000);
    bool column = false;
    uint32_t p = at - SEARCH_FRONT;
    if (at >= SEARCH_FRONT && p < job.places && job.step[p] >= 0) {
        size_t i = (size_t) library * job.steps + job.step[p];
        value = job.value[i];
        column = (job.use[p] & SYN_MAP_LIBRARY) && (!drawn || drawn[i]);
    }
    placed[(size_t) library * job.length + at] = value;
    uint32_t word = __ballot_sync(WHOLE_WARP, column);
    uint32_t words = job.length / WARP, front = SEARCH_FRONT / WARP;
    if (at % WARP == 0)
        may[(size_t) library * words + (at / WARP + words - front) % words] = word;
}

/* Where this lane's element goes after `n` others; `all` of the warp's do. */
__device__ inline uint32_t place_in(uint32_t n, uint32_t all)
{
    return n + __popc(all & lanes_below());
}

/* Bits of what is no distance, as a number: those of infinity. */
constexpr uint32_t NO_DISTANCE = 0x7f800000;

/* What has no rank: as what has the last of all, so that more than ranks must tell. */
constexpr uint32_t NO_RANK = UINT32_MAX;

/* The second least of the lanes' distances; infinite when there is only one. */
__device__ inline float second_least(float distance)
{
    uint32_t bits = min(__float_as_uint(distance), NO_DISTANCE);
    uint32_t first = warp_least(bits);
    if (__popc(__ballot_sync(WHOLE_WARP, bits == first)) > 1)
        return __uint_as_float(first);
    return __uint_as_float(warp_least(bits == first ? NO_DISTANCE : bits));
}

/* The k-th of a warp's numbers or, where `slack` allows, one of so many that follow it;
   NONE, as is what is no number, when there are fewer. The search ends soon where numbers
   are equal: its bounds are always among them. */
template <uint32_t NONE = NO_DISTANCE, int ROUNDS>
__device__ inline uint32_t kth(const uint32_t (&of)[ROUNDS], uint32_t k, uint32_t slack)
{
    uint32_t low = NONE, high = 0, n = 0;
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        bool is = of[r] < NONE;
        low = min(low, of[r]);
        high = is ? max(high, of[r]) : high;
        n += __popc(__ballot_sync(WHOLE_WARP, is));
    }
    if (n < k)
        return NONE;
    low = warp_least(low);
    high = warp_greatest(high);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, below = 0, above = NONE;
        n = 0;
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            bool in = of[r] <= middle;
            below = in ? max(below, of[r]) : below;
            above = in ? above : min(above, of[r]);
            n += __popc(__ballot_sync(WHOLE_WARP, in));
        }
        if (n < k) {
            low = warp_least(above);
            continue;
        }
        high = warp_greatest(below);
        if (n <= k + slack)
            break;
    }
    return high;
}

}  // namespace gpu

#endif
