/* Which rows of a library are points. */
#ifndef SYN_GPU_EDM_PAIRS_POINTS_CUH
#define SYN_GPU_EDM_PAIRS_POINTS_CUH

#include "gpu/edm/pairs_types.cuh"

namespace gpu {

enum { PREPARE = 256 };

struct found_points {
    uint32_t one;  /* a row that is a point, if any is */
    bool differ;   /* whether they are not all the same */
};

/* Finds those rows for which complete(row) is true, and how many of them come before
   each. Points are the same where alike(row, other) says so. A block for each library,
   with the same result in all threads. */
template <class COMPLETE, class ALIKE>
__device__ found_points find_points(const pairs_job &job, uint32_t which,
                                    COMPLETE complete, ALIKE alike)
{
    __shared__ uint32_t found[PREPARE], one;
    size_t at = (size_t) which * job.padded;
    uint32_t share = (job.padded + PREPARE - 1) / PREPARE;
    uint32_t from = min(threadIdx.x * share, job.padded);
    uint32_t to = min(from + share, job.padded), n = 0;
    if (threadIdx.x == 0)
        one = 0;
    __syncthreads();
    for (uint32_t row = from; row < to; row++) {
        bool is = row < job.rows && complete(row);
        job.part[at + row] = is;
        n += is;
        if (is)
            atomicMax(&one, row);  /* any would do */
    }
    found[threadIdx.x] = n;
    __syncthreads();
    uint32_t sum = 0;
    for (uint32_t i = 0; i < threadIdx.x; i++)
        sum += found[i];
    uint32_t *before = job.before + (size_t) which * (job.padded + 1);
    bool differs = false;
    for (uint32_t row = from; row < to; row++) {
        before[row] = sum;
        if (job.part[at + row] == 0)
            continue;
        sum++;
        differs = differs || !alike(row, one);
    }
    if (threadIdx.x == PREPARE - 1) {
        before[job.padded] = sum;
        job.library[which].rows = sum;
    }
    return {one, __syncthreads_or(differs) != 0};
}

}  // namespace gpu

#endif
