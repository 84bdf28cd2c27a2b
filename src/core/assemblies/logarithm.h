/* The natural logarithm in sums, products and quotients alone: all processors and GPUs
   give the same bits, which those of their own libraries do not. Files for CUDA define
   SYN_EVERYWHERE as a function for both before they include this one. */
#ifndef SYN_ASSEMBLIES_LOGARITHM_H
#define SYN_ASSEMBLIES_LOGARITHM_H

#include <stdint.h>
#include <string.h>

#ifndef SYN_EVERYWHERE
#define SYN_EVERYWHERE static inline
#endif

/* A product that is not fused with the sum it goes into. */
#if defined(__CUDA_ARCH__)
#define SYN_TIMES(a, b) __dmul_rn(a, b)
#else
#define SYN_TIMES(a, b) ((a) * (b))
#endif
#if defined(__CUDACC__)
/* Host code there works none out. */
#elif defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

/* Of a normal number above 0, to about the last bit: x = m * 2^e with m between the roots
   of 1/2 and 2, and log(m) = 2 atanh((m - 1) / (m + 1)), by the terms of its series that
   count. */
SYN_EVERYWHERE double syn_logarithm(double x)
{
    const uint64_t root = 0x3fe6a09e667f3bcdu;  /* bits of the root of 1/2 */
    const double ln2 = 0.69314718055994530942;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int64_t power = ((int64_t)(bits - root)) >> 52;
    bits -= (uint64_t)power << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    double s = (m - 1) / (m + 1), square = SYN_TIMES(s, s), sum = 0;
    for (int term = 23; term > 1; term -= 2)
        sum = SYN_TIMES(square, sum + 1.0 / term);
    double of_m = 2 * s + SYN_TIMES(2 * s, sum);
    return SYN_TIMES((double)power, ln2) + of_m;
}

#endif
