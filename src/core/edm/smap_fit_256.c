/* smap_fit.c for x86-64 processors with AVX2 and FMA. */
#include "core/edm/smap_fit.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))),                        \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif

#define SYN_LANE_BITS 256
#define SYN_SMAP_KIND syn_smap_kind_256
#include "core/edm/smap_fit.c"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

const syn_smap_kind syn_smap_kind_256 = {NULL, NULL, NULL, NULL};

#endif
