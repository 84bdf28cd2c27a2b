/* Rows and how near they are, in an order with no ties: core/edm/nearest.h on devices. */
#ifndef SYN_GPU_EDM_NEAR_CUH
#define SYN_GPU_EDM_NEAR_CUH

#include "gpu/base/rank.cuh"
#include "gpu/base/warp.cuh"

#include <cstdint>

namespace gpu {

struct near_place {
    double squared;  /* distance */
    uint32_t rank;   /* how far it comes after the predicted row (core/base/rank.h) */
    uint32_t place;  /* in the library */
};

__device__ inline bool before(const near_place &a, const near_place &b)
{
    return a.squared != b.squared ? a.squared < b.squared : a.rank < b.rank;
}

__device__ inline uint32_t rows_apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Sorts a[0..n), n a power of two, by the lanes of a warp. */
__device__ inline void sort_near(near_place *a, uint32_t n)
{
    uint32_t lane = threadIdx.x % WARP;
    for (uint32_t size = 2; size <= n; size *= 2)
        for (uint32_t stride = size / 2; stride > 0; stride /= 2) {
            for (uint32_t i = lane; i < n / 2; i += WARP) {
                uint32_t low = 2 * i - (i & (stride - 1)), high = low + stride;
                near_place x = a[low], y = a[high];
                if (before(y, x) == ((low & size) == 0)) {
                    a[low] = y;
                    a[high] = x;
                }
            }
            __syncwarp();
        }
}

/* Sorts a[0..n), where there is room for the next power of two. */
__device__ inline void sort_any(near_place *a, uint32_t n)
{
    uint32_t all = n > 1 ? 1u << (32 - __clz(n - 1)) : 1;
    near_place never = {__longlong_as_double(0x7ff0000000000000ll), ~0u, ~0u};
    for (uint32_t i = n + threadIdx.x % WARP; i < all; i += WARP)
        a[i] = never;
    __syncwarp();
    sort_near(a, all);
}

/* Adds the square of a difference as the CPU does: rounded after each step. */
__device__ inline double add_square(double sum, double a, double b)
{
    double apart = __dsub_rn(a, b);
    return __dadd_rn(sum, __dmul_rn(apart, apart));
}

/* The first of n increasing rows that is `from` or later. */
__device__ inline uint32_t first_from(const uint32_t *row, uint32_t n, uint64_t from)
{
    uint32_t low = 0;
    while (n > 0) {
        uint32_t half = n / 2;
        bool later = row[low + half] < from;
        low = later ? low + half + 1 : low;
        n = later ? n - half - 1 : half;
    }
    return low;
}

}  // namespace gpu

#endif
