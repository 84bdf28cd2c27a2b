/* scan.c for x86-64 processors with AVX-512. */
#include "core/edm/scan.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,popcnt"))),                  \
                             apply_to = function)
#else
#pragma GCC target("avx512f,popcnt")
#endif

#define SYN_SCAN_BITS 512
#define SYN_SCAN_KIND syn_scan_512
#include "core/edm/scan.c"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

const syn_scan_kind syn_scan_512 = {NULL, NULL, NULL};

#endif
