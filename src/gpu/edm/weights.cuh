/* Weights of S-maps: what the kernels compute for each pair of a prediction and a point of
   the library. In double precision throughout, as a weight that is off by 1e-7 may move a
   model by much more. The functions are inlined operation by operation, without the slow
   paths of the mathematical library. */
#ifndef SYN_GPU_EDM_WEIGHTS_CUH
#define SYN_GPU_EDM_WEIGHTS_CUH

#include <cuda_runtime.h>

#include <cstdint>

namespace gpu {

/* The square root of a number from 0 to 1e300 (below 2e-300 it is 0), to a unit in the last place or so. The
   instruction gives 20 bits of its inverse, and each step doubles them. */
__device__ inline double root_of(double square)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(square));
    double root = square * y, half = 0.5 * y;
    double rest = fma(-root, half, 0.5);
    root = fma(root, rest, root);
    half = fma(half, rest, half);
    rest = fma(-root, root, square);
    root = fma(rest, half, root);
    return __double2hiint(square) > 0x01a00000 ? root : 0;  /* 2e-300, about */
}

/* exp(x) for x up to 0, to 1e-15 of it; below -708, exp(-708). Comparisons look at the
   upper half of a number, as doubles have fewer units than integers. */
__device__ inline double exp_of(double x)
{
    constexpr double per_log2 = 1.4426950408889634, magic = 6755399441055744.0;
    constexpr double high = -6.93147180369123816490e-01;  /* two parts of -log(2) */
    constexpr double low = -1.90821492927058770002e-10;
    x = (uint32_t) __double2hiint(x) < 0xc0862000u ? x : -708;
    double shifted = fma(x, per_log2, magic);  /* its last bits: how often log(2) fits */
    double times = shifted - magic, r = fma(times, low, fma(times, high, x));
    double sum = 2.5052108385441720e-08;       /* 1 / 11!, and so on */
    sum = fma(sum, r, 2.7557319223985893e-07);
    sum = fma(sum, r, 2.7557319223985888e-06);
    sum = fma(sum, r, 2.4801587301587302e-05);
    sum = fma(sum, r, 1.9841269841269841e-04);
    sum = fma(sum, r, 1.3888888888888889e-03);
    sum = fma(sum, r, 8.3333333333333332e-03);
    sum = fma(sum, r, 4.1666666666666664e-02);
    sum = fma(sum, r, 1.6666666666666666e-01);
    sum = fma(sum, r, 0.5);
    sum = fma(sum, r, 1.0);
    sum = fma(sum, r, 1.0);
    int power = __double2loint(shifted);
    return __hiloint2double(__double2hiint(sum) + power * (1 << 20),
                            __double2loint(sum));
}

/* The weight exp(rate (least - distance)) of a point: at most 1, also for one that is no
   neighbour and nearer than the least distance of those. */
__device__ inline double smap_weight(double distance, double rate, double least)
{
    double x = rate * (least - distance);
    return exp_of(__double2hiint(x) < 0 ? x : 0);
}

/* Adds the square of a difference. */
__device__ inline double add_square(double sum, double a, double b)
{
    double apart = a - b;
    return fma(apart, apart, sum);
}

}  // namespace gpu

#endif
