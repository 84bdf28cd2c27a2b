/* Weights of S-maps: what the kernels compute for each pair of a prediction and a point of
   the library. In double precision throughout, as a weight that is off by 1e-7 may move a
   model by much more. The functions are inlined operation by operation, without the slow
   paths of the mathematical library. */
#ifndef SYN_GPU_EDM_WEIGHTS_CUH
#define SYN_GPU_EDM_WEIGHTS_CUH

#include <cuda_runtime.h>

#include <cstdint>

namespace gpu {

/* The square root of a number from 0 to 1e300 (below 2e-300 it is 0), to 1e-12 of it. The
   instruction gives 20 bits of its inverse, which one step doubles. */
__device__ inline double root_of(double square)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(square));
    double root = square * y, rest = fma(-root, 0.5 * y, 0.5);
    root = fma(root, rest, root);
    return __double2hiint(square) > 0x01a00000 ? root : 0;
}

/* 2 to the power of x, for x up to 0, to 1e-12 of it; below -1021, 2^-1021. Comparisons
   look at the upper half of a number, as doubles have fewer units than integers. */
__device__ inline double power_of_2(double x)
{
    constexpr double magic = 6755399441055744.0;
    x = (uint32_t) __double2hiint(x) < 0xc08fe800u ? x : -1021;
    double shifted = x + magic;  /* its last bits are the nearest whole number */
    double r = x - (shifted - magic);
    double sum = 1.3259628985906602e-06;
    sum = fma(sum, r, 1.5310081465713665e-05);
    sum = fma(sum, r, 1.5403433832261726e-04);
    sum = fma(sum, r, 1.3333450558565829e-03);
    sum = fma(sum, r, 9.6181291938020053e-03);
    sum = fma(sum, r, 5.5504109412185088e-02);
    sum = fma(sum, r, 2.4022650695641112e-01);
    sum = fma(sum, r, 6.9314718054592916e-01);
    sum = fma(sum, r, 1.0000000000000133e+00);
    return __hiloint2double(__double2hiint(sum) + __double2loint(shifted) * (1 << 20),
                            __double2loint(sum));
}

/* How weights fall with distance: exp(rate (least - distance)). */
struct smap_fall {
    double rate, start;  /* both by log 2 */
};

__device__ inline smap_fall smap_fall_of(double rate, double least)
{
    constexpr double per_log2 = 1.4426950408889634;
    return {rate * per_log2, rate * per_log2 * least};
}

/* The weight of a point: at most 1, also for one that is no neighbour and nearer than the
   least distance of those. */
__device__ inline double smap_weight(double distance, const smap_fall &fall)
{
    double x = fma(-fall.rate, distance, fall.start);
    return power_of_2(__double2hiint(x) < 0 ? x : 0);
}

/* Adds the square of a difference. */
__device__ inline double add_square(double sum, double a, double b)
{
    double apart = a - b;
    return fma(apart, apart, sum);
}

}  // namespace gpu

#endif
