/* node.c for x86-64 processors with AVX2, POPCNT and BMI2. */
#include "core/patterns/spectrum/node.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang attribute push(                                                            \
    __attribute__((target("popcnt,bmi,bmi2,avx2"))), apply_to = function)
#else
#pragma GCC target("popcnt,bmi,bmi2,avx2")
#endif

#define SYN_MASKS 256
#define SYN_MAXIMA_KIND syn_maxima_256
#include "core/patterns/spectrum/node.c"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

const syn_maxima_kind syn_maxima_256 = {NULL};

#endif
