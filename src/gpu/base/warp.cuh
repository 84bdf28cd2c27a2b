/* What the lanes of a warp do together. */
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

/* Kernels hand their job on by reference: where possible without a copy a thread. */
#if defined(__CUDA_ARCH__) && CUDART_VERSION >= 11070
#define SYN_GPU_JOB const __grid_constant__
#else
#define SYN_GPU_JOB const
#endif

/* A loop over i = 0 to n - 1 whose turns the compiler writes out one after the other. */
#define SYN_UNROLL(i, n) _Pragma("unroll") for (int i = 0; i < (n); i++)

namespace gpu {

/* Calls run(number) with the first of some numbers that is no less than `wanted`, as a
   type; the last stands for all that are larger. For host and device: what `run` is for
   decides. */
#pragma nv_exec_check_disable
template <int FIRST, int... LARGER, class F>
__host__ __device__ auto with_number(size_t wanted, F run)
{
    if constexpr (sizeof...(LARGER) > 0)
        if (wanted > FIRST)
            return with_number<LARGER...>(wanted, run);
    return run(std::integral_constant<int, FIRST>());
}

enum { WARP = 32 };

constexpr uint32_t WHOLE_WARP = 0xffffffffu;

/* A bit for each lane before this one. */
__device__ inline uint32_t lanes_below()
{
    uint32_t mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

/* Gives the lanes that have something places from *n on, in their order, and adds their
   number to *n. By a warp. */
__device__ inline uint32_t place_for(bool has, uint32_t *n)
{
    uint32_t lanes = __ballot_sync(WHOLE_WARP, has);
    uint32_t place = *n + __popc(lanes & lanes_below());
    *n += __popc(lanes);
    return place;
}

/* Adds to a counter, once for a warp; every lane gets its value before. */
template <class T> __device__ inline T add_by_warp(T *to, T value)
{
    T before = 0;
    if (threadIdx.x % WARP == 0)
        before = atomicAdd(to, value);
    return __shfl_sync(WHOLE_WARP, before, 0);
}

/* Copies something whose size is whole words, by a warp. */
template <class T> __device__ inline void copy_words(T *to, const T *from)
{
    static_assert(sizeof(T) % sizeof(uint32_t) == 0, "whole words");
    for (uint32_t w = threadIdx.x % WARP; w < sizeof(T) / 4; w += WARP)
        ((uint32_t *) to)[w] = ((const uint32_t *) from)[w];
}

/* The sum of the lanes before this one; `all` gets that of all lanes. */
template <class T, class V> __device__ inline T sum_below(V value, T *all)
{
    T sum = value;
    for (uint32_t o = 1; o < WARP; o *= 2) {
        T other = __shfl_up_sync(WHOLE_WARP, sum, o);
        sum += threadIdx.x % WARP >= o ? other : 0;
    }
    *all = __shfl_sync(WHOLE_WARP, sum, WARP - 1);
    return sum - value;
}

/* The same for the threads of a block of so many warps. `room` may be used again at
   once. */
template <class T, class V, int WARPS>
__device__ inline T block_sum_below(V value, T (&room)[WARPS], T *all)
{
    T of_warp, below = sum_below(value, &of_warp);
    uint32_t warp = threadIdx.x / WARP;
    if (threadIdx.x % WARP == 0)
        room[warp] = of_warp;
    __syncthreads();
    *all = 0;
    for (uint32_t w = 0; w < WARPS; w++) {
        below += w < warp ? room[w] : 0;
        *all += room[w];
    }
    __syncthreads();
    return below;
}

/* One instruction of newer devices. */
__device__ inline int least_of_three(int a, int b, int c)
{
#if CUDART_VERSION >= 12000
    return __vimin3_s32(a, b, c);
#else
    return min(min(a, b), c);
#endif
}

/* The least, the greatest and the sum of a warp's values, in every lane. Before compute
   capability 8.0 there is no instruction for them. */
template <class T, class F> __device__ inline T over_warp(T value, F both)
{
    for (int o = WARP / 2; o > 0; o /= 2)
        value = both(value, __shfl_xor_sync(WHOLE_WARP, value, o));
    return value;
}

__device__ inline uint32_t warp_least(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(WHOLE_WARP, value);
#else
    return over_warp(value, [](uint32_t a, uint32_t b) { return a < b ? a : b; });
#endif
}

__device__ inline uint32_t warp_greatest(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(WHOLE_WARP, value);
#else
    return over_warp(value, [](uint32_t a, uint32_t b) { return a > b ? a : b; });
#endif
}

__device__ inline uint32_t warp_sum(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(WHOLE_WARP, value);
#else
    return over_warp(value, [](uint32_t a, uint32_t b) { return a + b; });
#endif
}

/* The sum of a warp's numbers, in every lane. */
__device__ inline double warp_total(double value)
{
    return over_warp(value, [](double a, double b) { return a + b; });
}

/* The sum over all threads of a block, in an order that depends on their number alone.
   `room` has a place for each warp, and may be used again at once. */
template <int THREADS> __device__ double block_sum(double value, double *room)
{
    value = warp_total(value);
    if (threadIdx.x % WARP == 0)
        room[threadIdx.x / WARP] = value;
    __syncthreads();
    double sum = 0;
    for (int w = 0; w < THREADS / WARP; w++)
        sum += room[w];
    __syncthreads();
    return sum;
}

}  // namespace gpu
