/* node.c for x86-64 processors with AVX2, POPCNT and BMI2. */
#include "core/patterns/closure/node.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang attribute push(                                                            \
    __attribute__((target("popcnt,bmi,bmi2,avx2"))), apply_to = function)
#else
#pragma GCC target("popcnt,bmi,bmi2,avx2")
#endif

#define SYN_MASKS 256
#define SYN_NODE_KIND syn_node_kind_256
#include "core/patterns/closure/node.c"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

const syn_node_kind syn_node_kind_256 = {NULL, NULL, NULL};

#endif
