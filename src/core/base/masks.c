/* Chooses the widest kind of registers that this processor has, for the loops of
   masks.h. */
#include "core/base/masks.h"

int syn_mask_bits(int vector_bits)
{
#if defined(__x86_64__) && defined(__GNUC__)
    int most = vector_bits == 0 ? 512 : vector_bits;
    __builtin_cpu_init();
    if (most < 256 || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2"))
        return 0;
    int widest = __builtin_cpu_supports("avx512vl") &&
                 __builtin_cpu_supports("avx512vpopcntdq");
    return most >= 512 && widest ? 512 : 256;
#else
    (void)vector_bits;
    return 0;
#endif
}
