/* What a search for neighbours works on: libraries on a device, a warp's pool of columns,
   and a bound from its lanes. */
#ifndef SYN_GPU_CAUSAL_POOL_CUH
#define SYN_GPU_CAUSAL_POOL_CUH

#include "gpu/causal/types.cuh"

#include <cuda_runtime.h>

namespace gpu {

enum {
    POOL = 256,            /* columns of a pool */
    POOL_ROUNDS = POOL / WARP,
    SEARCH_WARPS = 8,      /* of a block */
    SEARCH_BLOCKS = 3,     /* that a multiprocessor should have room for */
    SEARCH_FRONT = 32,     /* empty places in front of a library, for the first lags */
    SEARCH_STEP = 4 * WARP,  /* columns that a warp looks at together */
    A_FEW = 4,             /* more than are wanted, kept for the sake of time */
    SAMPLE = 1024,         /* columns that the first threshold is taken from, at most */
    SUMS = 6               /* n, p, p^2, p y, y, y^2 */
};

/* Floats of a library in device memory: at least one empty place after the last. */
inline uint32_t placed_length(uint32_t places)
{
    return SEARCH_FRONT + (places / SEARCH_STEP + 1) * SEARCH_STEP;
}

struct search_job {
    uint32_t length;       /* floats of a library in `placed` and `start` */
    uint32_t places, steps, exclusion;
    uint32_t rows;         /* places that a warp takes */
    int32_t Tp;
    uint32_t wanted;       /* bit E - 1 */
    uint32_t sample;       /* columns to take the first threshold from, too */
    const float *placed;   /* [n][length] values in the order of the layout, else NaN */
    const float *start;    /* [n][length] 0 where a column may be a neighbour, else NaN */
    const float *value;    /* [n][steps] */
    const float *floor;    /* [n] */
    const int32_t *step;   /* [places] */
    const int32_t *place;  /* [steps] */
    const unsigned char *use;  /* [places] */
};

/* What a warp uses over and over. */
struct search_scratch {
    float limit[WARP];        /* of the squared distance, by E - 1 */
    float near[WARP];         /* the neighbours: squared distance ... */
    uint32_t near_slot[WARP]; /* ... and where in the pool */
    float list[POOL + 4];         /* squared distances within the limit */
    uint32_t slot[POOL];
    int32_t column[POOL];         /* the pool: place ... */
    int32_t step[POOL];           /* ... and step */
    unsigned char keep[POOL];
};

/* Values in the order of the layout, and which columns count. */
__global__ void lay_out(search_job job, const unsigned char *drawn, float *placed,
                        float *start)
{
    uint32_t at = blockIdx.x * blockDim.x + threadIdx.x, library = blockIdx.y;
    if (at >= job.length)
        return;
    const float none = __int_as_float(0x7fc00000);
    float value = none, begin = none;
    uint32_t p = at - SEARCH_FRONT;
    if (at >= SEARCH_FRONT && p < job.places && job.step[p] >= 0) {
        size_t i = (size_t) library * job.steps + job.step[p];
        value = job.value[i];
        if ((job.use[p] & SYN_MAP_LIBRARY) && (!drawn || drawn[i]))
            begin = 0;
    }
    placed[(size_t) library * job.length + at] = value;
    start[(size_t) library * job.length + at] = begin;
}

/* A number that at least `k` lanes' values do not exceed, and not many more; infinite
   when fewer than k are finite. Values are not negative, or NaN. */
__device__ inline float bound_of(float value, uint32_t k)
{
    const uint32_t infinite = 0x7f800000u;
    uint32_t bits = __float_as_uint(value);
    bool finite = bits < infinite;
    if (__popc(__ballot_sync(~0u, finite)) < (int) k)
        return __uint_as_float(infinite);
    uint32_t low = warp_least(finite ? bits : infinite);
    uint32_t high = warp_greatest(finite ? bits : 0u);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t n = __popc(__ballot_sync(~0u, finite && bits <= middle));
        if (n >= k)
            high = middle;
        else
            low = middle;
        if (n == k)
            break;
    }
    return __uint_as_float(high);
}

}  // namespace gpu

#endif
