/* Floating-point numbers that are not negative are in the order of their bits: halving
   those finds small numbers among large ones soon. */
#ifndef SYN_BASE_BITS_H
#define SYN_BASE_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t syn_float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float syn_bits_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t syn_double_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
