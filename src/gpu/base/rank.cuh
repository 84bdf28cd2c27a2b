/* The order of rows that are equally near, on a device: core/base/rank.h is compiled for
   the device as well as for the host. */
#pragma once

#ifndef SYN_EVERYWHERE
#define SYN_EVERYWHERE static __host__ __device__ inline
#endif

#include "core/base/rank.h"

namespace gpu {

/* Sorts the places in the order of ties of n rows, at most as many as a block has
   threads, into to[n]. `place` is shared memory for as many. */
__device__ inline void sort_places(const uint32_t *row, uint32_t n, uint32_t *place,
                                   uint32_t *to)
{
    uint32_t i = threadIdx.x, mine = i < n ? syn_row_rank(row[i]) : 0, below = 0;
    if (i < n)
        place[i] = mine;
    __syncthreads();
    for (uint32_t j = 0; j < n; j++)
        below += place[j] < mine;
    if (i < n)
        to[below] = mine;
    __syncthreads();
}

}  // namespace gpu
