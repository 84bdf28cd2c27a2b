/* Weights of pairwise S-maps. They need not be right to the last bit, but are the same
   wherever they are made: off by 1e-10 of them at most, in fewer operations than those of
   gpu/edm/weights.cuh. */
#ifndef SYN_GPU_EDM_POWER_CUH
#define SYN_GPU_EDM_POWER_CUH

#include <cuda_runtime.h>

#include <cstdint>

namespace gpu {

/* The square root of a number up to 1e300, to 2e-12 of it. Rounding may have taken the
   number to 0 or below: the root is then about 1e-145. */
__device__ inline double quick_root(double square)
{
    int high = __double2hiint(square);
    high = high > 0x03f00000 ? high : 0x03f00000;  /* of 2 to the power of -960 */
    square = __hiloint2double(high, __double2loint(square));
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(square));
    double root = square * y;
    double half = __hiloint2double(__double2hiint(y) - (1 << 20), __double2loint(y));
    return fma(root, fma(-root, half, 0.5), root);
}

/* 2 to the power of x, up to 0, to 6e-11 of it; 0 for x below -1000. */
__device__ inline double power_of_two(double x)
{
    constexpr double magic = 6755399441055744.0;
    double shifted = x + magic, part = x - (shifted - magic);
    double sum = 1.53036994561262e-05;  /* Chebyshev's polynomial for -0.5 to 0.5 */
    sum = fma(sum, part, 0.00015469729248707151);
    sum = fma(sum, part, 0.0013333478480177519);
    sum = fma(sum, part, 0.0096180256131770427);
    sum = fma(sum, part, 0.055504109063160278);
    sum = fma(sum, part, 0.24022651213499691);
    sum = fma(sum, part, 0.69314718055683633);
    sum = fma(sum, part, 0.99999999995956168);
    int high = __double2hiint(sum) + __double2loint(shifted) * (1 << 20);
    /* The first bits of -1000, which is larger than those of all from there to 0. */
    bool tiny = (uint32_t) __double2hiint(x) > 0xc08f4000u;
    return tiny ? 0 : __hiloint2double(high, __double2loint(sum));
}

}  // namespace gpu

#endif
