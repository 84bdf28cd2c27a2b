/* node.c for x86-64 processors with VPOPCNTDQ, AVX-512VL and BMI2. */
#include "core/patterns/spectrum/node.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang attribute push(                                                            \
    __attribute__((target("popcnt,bmi,bmi2,avx2,avx512f,avx512vl,avx512vpopcntdq"))),    \
    apply_to = function)
#else
#pragma GCC target("popcnt,bmi,bmi2,avx2,avx512f,avx512vl,avx512vpopcntdq")
#endif

#define SYN_MASKS 512
#define SYN_MAXIMA_KIND syn_maxima_512
#include "core/patterns/spectrum/node.c"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

const syn_maxima_kind syn_maxima_512 = {NULL};

#endif
