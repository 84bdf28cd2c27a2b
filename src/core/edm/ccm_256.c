/* ccm_lanes.c for x86-64 processors with AVX2 and BMI. */
#include "core/edm/ccm_lanes.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("bmi,avx2"))), apply_to = function)
#else
#pragma GCC target("bmi,avx2")
#endif

#define SYN_CCM_WIDE 4
#define SYN_CCM_KIND syn_ccm_kind_256
#include "core/edm/ccm_lanes.c"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

const syn_ccm_kind syn_ccm_kind_256 = {NULL, NULL};

#endif
