/* Products of small matrices of doubles by all lanes of a warp. */
#ifndef SYN_GPU_EDM_TENSOR_CUH
#define SYN_GPU_EDM_TENSOR_CUH

#include "gpu/base/warp.cuh"

namespace gpu {

/* c += a b for a (8 x 4), b (4 x 8) and c (8 x 8). With lane = 4 g + t, a lane holds
   a[g][t], b[t][g], and c[g][2 t] and its right neighbour. */
__device__ inline void multiply_8x8x4(double *c, double a, double b)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a), "d"(b));
#else
    uint32_t lane = threadIdx.x % WARP, row = lane & ~3u, column = lane % 4 * 8;
    for (uint32_t k = 0; k < 4; k++) {
        double along = __shfl_sync(WHOLE_WARP, a, row + k);
        double left = __shfl_sync(WHOLE_WARP, b, column + k);
        double right = __shfl_sync(WHOLE_WARP, b, column + 4 + k);
        c[0] = fma(along, left, c[0]);
        c[1] = fma(along, right, c[1]);
    }
#endif
}

/* The same for a (16 x 16), b (16 x 8) and c (16 x 8), as four products of four columns
   of a and rows of b each, numbered i: a lane holds a[g][t] and a[g + 8][t] of product i
   in a[2 i] and a[2 i + 1], b[t][g] in b[i], and of the rows g and g + 8 of c two numbers
   each. Processors from 9.0 on have an instruction for all four. */
__device__ inline void multiply_16x8x16(double *c, const double *a, const double *b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
        "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
          "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
    for (int i = 0; i < 4; i++) {
        multiply_8x8x4(c, a[2 * i], b[i]);
        multiply_8x8x4(c + 2, a[2 * i + 1], b[i]);
    }
#endif
}

}  // namespace gpu

#endif
