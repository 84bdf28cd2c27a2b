/* dither.c for x86-64 processors with AVX2. */
#include "core/surrogates/dither.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#define SYN_DITHER_KIND syn_dither_256
#include "core/surrogates/dither.c"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
