/* smap_fit.c for x86-64 processors with AVX-512F. */
#include "core/edm/smap_fit.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f"))),                \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,avx512f")
#endif

#define SYN_LANE_BITS 512
#define SYN_SMAP_KIND syn_smap_kind_512
#include "core/edm/smap_fit.c"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

const syn_smap_kind syn_smap_kind_512 = {NULL, NULL, NULL, NULL};

#endif
