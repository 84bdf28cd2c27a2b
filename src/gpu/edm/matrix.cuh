/* Products of small matrices in double precision, by tensor cores where there are any for
   it. */
#ifndef SYN_GPU_EDM_MATRIX_CUH
#define SYN_GPU_EDM_MATRIX_CUH

#include "gpu/base/warp.cuh"

namespace gpu {

/* c += a b for matrices of 8 x 4 and 4 x 8 whose elements the lanes of a warp hold: of a
   in row lane / 4, of b in column lane / 4, and both at lane % 4 of the other dimension;
   of c in row lane / 4 and columns 2 (lane % 4) and the next. */
__device__ inline void multiply_8x8x4(double &c0, double &c1, double a, double b)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c0), "+d"(c1)
        : "d"(a), "d"(b));
#else
    int lane = threadIdx.x % WARP, column = 2 * (lane % 4);
    for (int k = 0; k < 4; k++) {
        double by = __shfl_sync(WHOLE_WARP, a, lane / 4 * 4 + k);
        c0 = fma(by, __shfl_sync(WHOLE_WARP, b, column * 4 + k), c0);
        c1 = fma(by, __shfl_sync(WHOLE_WARP, b, (column + 1) * 4 + k), c1);
    }
#endif
}

/* The same for 16 x 4 n and 4 n x 8, of such parts: a[half][part] of rows 8 half and those
   after it, b[part], c[2 half] and the next. */
template <int N>
__device__ inline void multiply_16x8(double (&c)[4], const double (&a)[2][N],
                                     const double (&b)[N])
{
#if __CUDA_ARCH__ >= 900
    constexpr int whole = N / 4 * 4, last = N % 4;
#pragma unroll
    for (int k = 0; k < whole; k += 4)
        asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
            "{%0, %1, %2, %3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0][k]), "d"(a[1][k]), "d"(a[0][k + 1]), "d"(a[1][k + 1]),
              "d"(a[0][k + 2]), "d"(a[1][k + 2]), "d"(a[0][k + 3]), "d"(a[1][k + 3]),
              "d"(b[k]), "d"(b[k + 1]), "d"(b[k + 2]), "d"(b[k + 3]));
    if constexpr (last >= 2)
        asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0][whole]), "d"(a[1][whole]), "d"(a[0][whole + 1]),
              "d"(a[1][whole + 1]), "d"(b[whole]), "d"(b[whole + 1]));
    if constexpr (last % 2 == 1)
        asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
            "{%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0][N - 1]), "d"(a[1][N - 1]), "d"(b[N - 1]));
#else
#pragma unroll
    for (int part = 0; part < N; part++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            multiply_8x8x4(c[2 * half], c[2 * half + 1], a[half][part], b[part]);
#endif
}

}  // namespace gpu

#endif
