/* kind.c for x86-64 processors with AVX2 and FMA. */
#include "core/causal/search.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,popcnt"))),                 \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,popcnt")
#endif

#define SYN_MAP_BITS 256
#include "core/causal/neighbours.h"
#include "core/causal/predict.h"

const syn_map_kind syn_map_256 = {find_neighbours, predict_tile};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

const syn_map_kind syn_map_256 = {NULL, NULL};

#endif
