/* kind.c for x86-64 processors with AVX-512. */
#include "core/causal/search.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,fma,popcnt"))),              \
                             apply_to = function)
#else
#pragma GCC target("avx512f,fma,popcnt")
#endif

#define SYN_MAP_BITS 512
#include "core/causal/neighbours.h"
#include "core/causal/predict.h"

const syn_map_kind syn_map_512 = {find_neighbours, predict_tile};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

const syn_map_kind syn_map_512 = {NULL, NULL};

#endif
