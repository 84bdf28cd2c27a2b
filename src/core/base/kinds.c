/* Finds the kind of processor that this process runs on, at most as wide as is asked
   for. */
#include "core/base/kinds.h"

syn_kind syn_kind_here(int vector_bits)
{
#if SYN_WIDE_KINDS
    int most = vector_bits == 0 ? 512 : vector_bits;
    __builtin_cpu_init();
    if (most < 256 || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("popcnt"))
        return SYN_KIND_ANY;
    if (most < 512 || !__builtin_cpu_supports("avx512f") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return SYN_KIND_256;
    return __builtin_cpu_supports("avx512vpopcntdq") ? SYN_KIND_COUNTS : SYN_KIND_512;
#else
    (void)vector_bits;
    return SYN_KIND_ANY;
#endif
}
