#include "core/causal/search.h"

/* All kinds must add up the same distances: no product may be fused with a sum but where
   it is asked for. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#include "core/causal/neighbours.h"
#include "core/causal/predict.h"

const syn_map_kind syn_map_any = {find_neighbours, predict_tile};

const syn_map_kind *syn_map_fastest(int vector_bits)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if ((vector_bits == 0 || vector_bits >= 512) && __builtin_cpu_supports("avx512f"))
        return &syn_map_512;
    if ((vector_bits == 0 || vector_bits >= 256) && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma"))
        return &syn_map_256;
#endif
    (void)vector_bits;
    return &syn_map_any;
}
