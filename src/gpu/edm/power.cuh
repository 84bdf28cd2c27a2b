/* Weights that need not be right to the last bit, but are the same wherever they are made:
   each is off by 1e-12 of it or so, in half as many operations as gpu/edm/weights.cuh. */
#ifndef SYN_GPU_EDM_POWER_CUH
#define SYN_GPU_EDM_POWER_CUH

#include <cuda_runtime.h>

#include <cstdint>

namespace gpu {

/* The square root of a number from 1e-290 to 1e300, to 2e-12 of it. */
__device__ inline double quick_root(double square)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(square));
    double root = square * y, half = 0.5 * y;
    return fma(root, fma(-root, half, 0.5), root);
}

/* 2 to the power of x, up to 0, to 1e-12 of it; 0 for x below -1000. */
__device__ inline double power_of_two(double x)
{
    constexpr double magic = 6755399441055744.0;
    double shifted = x + magic, part = x - (shifted - magic);
    double sum = 1.3255155774211807e-06;  /* Chebyshev's polynomial for -0.5 to 0.5 */
    sum = fma(sum, part, 1.5310079734365998e-05);
    sum = fma(sum, part, 0.00015403456200718986);
    sum = fma(sum, part, 0.0013333450566891498);
    sum = fma(sum, part, 0.0096181291588577737);
    sum = fma(sum, part, 0.05550410941206721);
    sum = fma(sum, part, 0.24022650695815662);
    sum = fma(sum, part, 0.69314718054593372);
    sum = fma(sum, part, 1.0000000000000002);
    int high = __double2hiint(sum) + __double2loint(shifted) * (1 << 20);
    /* The first bits of -1000, which is larger than those of all from there to 0. */
    bool tiny = (uint32_t) __double2hiint(x) > 0xc08f4000u;
    return tiny ? 0 : __hiloint2double(high, __double2loint(sum));
}

}  // namespace gpu

#endif
