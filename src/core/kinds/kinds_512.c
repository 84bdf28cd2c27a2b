/* The kernels for processors of SYN_KIND_512 and above. */
#define SYN_WIDTH 512
#include "core/base/kinds.h"

#if SYN_WIDE_KINDS
SYN_TARGET_BEGIN("avx2,fma,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl")

#include "core/assemblies/lanes.c"
#include "core/causal/kind.c"
#include "core/edm/ccm/lanes.c"
#include "core/edm/forecast/kind.c"
#include "core/edm/forecast/squares.c"
#include "core/edm/neighbours/scan.c"
#include "core/edm/smap/fit.c"
#include "core/edm/smap/lanes.c"
#include "core/episodes/rows.c"
#include "core/surrogates/dither.c"

SYN_TARGET_END
#endif
