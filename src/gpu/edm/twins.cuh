/* Points of a library that are the same have the same number: that of one of them. */
#ifndef SYN_GPU_EDM_TWINS_CUH
#define SYN_GPU_EDM_TWINS_CUH

#include "gpu/edm/near.cuh"

namespace gpu {

constexpr uint32_t NO_PLACE = ~0u;

__device__ inline uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ull;
    return x ^ (x >> 29);
}

__device__ inline bool same_points(const double *a, const double *b, uint32_t dims)
{
    for (uint32_t d = 0; d < dims; d++)
        if (a[d] != b[d])
            return false;
    return true;
}

/* A thread a place. `table` has `slots` of them, a power of two above n, all NO_PLACE:
   the first of several that are the same takes a slot, and others find it there. */
static __global__ void number_twins(const double *by_row, uint32_t width, uint32_t dims,
                             uint32_t n, uint32_t *table, uint32_t slots, uint32_t *twin)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const double *mine = by_row + (size_t) i * width;
    uint64_t hash = 0;
    for (uint32_t d = 0; d < dims; d++)
        hash = mixed(hash + __double_as_longlong(mine[d] + 0.0));
    uint32_t at = (uint32_t) (hash >> 32) & (slots - 1), of = i;
    for (;; at = (at + 1) & (slots - 1)) {
        uint32_t there = *(volatile uint32_t *) &table[at];
        if (there == NO_PLACE)
            there = atomicCAS(&table[at], NO_PLACE, i);
        of = there == NO_PLACE ? i : there;
        if (of == i || same_points(mine, by_row + (size_t) of * width, dims))
            break;
    }
    twin[i] = of;
}

}  // namespace gpu

#endif
