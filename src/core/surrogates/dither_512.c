/* dither.c for x86-64 processors with AVX-512. */
#include "core/surrogates/dither.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC target("avx512f")
#endif

#define SYN_DITHER_KIND syn_dither_512
#include "core/surrogates/dither.c"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
