/* Products of small matrices of doubles by all lanes of a warp. */
#pragma once

#include "gpu/base/warp.cuh"

namespace gpu {

#if __CUDA_ARCH__ < 800
/* What multiply_8x8x4() does, by exchange. Not inlined: it would be too much for the
   compiler. */
static __device__ __noinline__ double2 exchange_8x8x4(double2 c, double a, double b)
{
    uint32_t lane = threadIdx.x % WARP, row = lane & ~3u, column = lane % 4 * 8;
    for (uint32_t k = 0; k < 4; k++) {
        double along = __shfl_sync(WHOLE_WARP, a, row + k);
        double left = __shfl_sync(WHOLE_WARP, b, column + k);
        double right = __shfl_sync(WHOLE_WARP, b, column + 4 + k);
        c.x = fma(along, left, c.x);
        c.y = fma(along, right, c.y);
    }
    return c;
}
#endif

/* c += a b for a (8 x 4), b (4 x 8) and c (8 x 8). With lane = 4 g + t, a lane holds
   a[g][t], b[t][g], and c[g][2 t] and its right neighbour. */
__device__ inline void multiply_8x8x4(double *c, double a, double b)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a), "d"(b));
#else
    double2 sum = exchange_8x8x4(make_double2(c[0], c[1]), a, b);
    c[0] = sum.x;
    c[1] = sum.y;
#endif
}

/* The same for a (16 x 4) and c (16 x 8): a lane holds a[g][t] and a[g + 8][t], and of
   the rows g and g + 8 of c two numbers each. */
__device__ inline void multiply_16x8x4(double *c, const double *a, double b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(b));
#else
    multiply_8x8x4(c, a[0], b);
    multiply_8x8x4(c + 2, a[1], b);
#endif
}

/* The same for a (16 x 8) and b (8 x 8), as two products of four columns of a and rows of
   b each, numbered i: a lane holds a[g][t] and a[g + 8][t] of product i in a[2 i] and
   a[2 i + 1], and b[t][g] in b[i]. Processors from 9.0 on have an instruction for
   both. */
__device__ inline void multiply_16x8x8(double *c, const double *a, const double *b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
        "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
    multiply_16x8x4(c, a, b[0]);
    multiply_16x8x4(c, a + 2, b[1]);
#endif
}

/* The same for a (16 x 4 N) and b (4 N x 8), as N such products: a[0] of the rows g, a[1]
   of the rows g + 8. */
template <int N>
__device__ inline void multiply_16x8(double (&c)[4], const double (&a)[2][N],
                                     const double (&b)[N])
{
    static_assert(N % 2 == 0, "pairs of products");
#pragma unroll
    for (int k = 0; k < N; k += 2) {
        double two[] = {a[0][k], a[1][k], a[0][k + 1], a[1][k + 1]};
        multiply_16x8x8(c, two, b + k);
    }
}

}  // namespace gpu
