#include "core/masks.h"

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#endif

#define TARGET
#define KIND(name) name##_portable
#define WITH_BMI2 0
#define WITH_AVX512 0
#include "core/masks_bodies.h"

#if defined(__GNUC__) && defined(__x86_64__)

#define TARGET __attribute__((target("popcnt,bmi,bmi2,avx2")))
#define KIND(name) name##_256
#define WITH_BMI2 1
#define WITH_AVX512 0
#include "core/masks_bodies.h"

#define TARGET                                                                           \
    __attribute__((target("popcnt,bmi,bmi2,avx2,avx512f,avx512vl,avx512vpopcntdq")))
#define KIND(name) name##_512
#define WITH_BMI2 1
#define WITH_AVX512 1
#include "core/masks_bodies.h"

const syn_mask_kind *syn_masks_of(int kind)
{
    __builtin_cpu_init();
    if (kind == SYN_MASKS_512)
        return __builtin_cpu_supports("avx512vpopcntdq") &&
                       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2")
                   ? &kind_512
                   : NULL;
    if (kind == SYN_MASKS_256)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")
                   ? &kind_256
                   : NULL;
    return kind == SYN_MASKS_PORTABLE ? &kind_portable : NULL;
}

#else

const syn_mask_kind *syn_masks_of(int kind)
{
    return kind == SYN_MASKS_PORTABLE ? &kind_portable : NULL;
}

#endif

const syn_mask_kind *syn_masks_fastest(void)
{
    for (int kind = SYN_MASKS_KINDS - 1; kind > SYN_MASKS_PORTABLE; kind--)
        if (syn_masks_of(kind))
            return syn_masks_of(kind);
    return syn_masks_of(SYN_MASKS_PORTABLE);
}

/* Turns a square of 64 x 64 bits about its diagonal, halving the squares that are
   exchanged each time. */
static void turn_square(uint64_t *square)
{
    uint64_t low = 0x00000000FFFFFFFFu;
    for (unsigned half = 32; half > 0; half >>= 1, low ^= low << half)
        for (unsigned k = 0; k < 64; k = (k + half + 1) & ~half) {
            uint64_t change = ((square[k] >> half) ^ square[k + half]) & low;
            square[k] ^= change << half;
            square[k + half] ^= change;
        }
}

void syn_masks_turn(const uint64_t *mask, size_t n, size_t words, uint64_t *row,
                    size_t bits, size_t stride)
{
    for (size_t s = 0; s < stride; s++)
        for (size_t w = 0; w < words; w++) {
            uint64_t square[64];
            for (size_t i = 0; i < 64; i++) {
                size_t from = s * 64 + i;
                square[i] = from < n ? mask[from * words + w] : 0;
            }
            turn_square(square);
            for (size_t j = 0; j < 64 && w * 64 + j < bits; j++)
                row[(w * 64 + j) * stride + s] = square[j];
        }
}
