/* node.c for x86-64 processors with VPOPCNTDQ, AVX-512VL and BMI2. */
#include "core/patterns/closure/node.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang attribute push(                                                            \
    __attribute__((target("popcnt,bmi,bmi2,avx2,avx512f,avx512vl,avx512vpopcntdq"))),    \
    apply_to = function)
#else
#pragma GCC target("popcnt,bmi,bmi2,avx2,avx512f,avx512vl,avx512vpopcntdq")
#endif

#define SYN_MASKS 512
#define SYN_NODE_KIND syn_node_kind_512
#include "core/patterns/closure/node.c"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

const syn_node_kind syn_node_kind_512 = {NULL, NULL, NULL};

#endif
