/* The kernels for processors of SYN_KIND_COUNTS: those that count bits. */
#define SYN_WIDTH 512
#define SYN_COUNTS 1
#include "core/base/kinds.h"

#if SYN_WIDE_KINDS
SYN_TARGET_BEGIN("avx2,fma,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,"
                 "avx512vpopcntdq")

#include "core/patterns/closure/node.c"
#include "core/patterns/spectrum/node.c"

SYN_TARGET_END
#endif
