/* Numbers side by side in the registers of the processor that a file is compiled for:
   SYN_CCM_WIDE doubles, 2 for any and 4 where there are registers of 256 bits. */
#ifndef SYN_EDM_CCM_WIDE_H
#define SYN_EDM_CCM_WIDE_H

#include <stdint.h>
#include <string.h>

#ifndef SYN_CCM_WIDE
#define SYN_CCM_WIDE 2
#endif
enum { WIDE = SYN_CCM_WIDE };
typedef double wide __attribute__((vector_size(8 * SYN_CCM_WIDE)));
typedef int64_t wide_bits __attribute__((vector_size(8 * SYN_CCM_WIDE)));

static inline wide load(const double *from)
{
    wide out;
    memcpy(&out, from, sizeof out);
    return out;
}

static inline void store(double *to, wide value)
{
    memcpy(to, &value, sizeof value);
}

static inline wide all(double x)
{
    return x - (wide){0};
}

static inline wide_bits all_bits(int64_t bits)
{
    return bits - (wide_bits){0};
}

/* `value` where the mask is set, 0 elsewhere. */
static inline wide where(wide_bits mask, wide value)
{
    return (wide)((wide_bits)value & mask);
}

/* value[at[0]], value[at[1]] and so on. */
static inline wide gather(const double *value, const uint32_t *at)
{
#if SYN_CCM_WIDE == 4
    return (wide){value[at[0]], value[at[1]], value[at[2]], value[at[3]]};
#else
    return (wide){value[at[0]], value[at[1]]};
#endif
}

/* exp(x) for x <= 0, to about one unit in the last place; 0 below -700. */
static inline wide exp_of(wide x)
{
    const double to_whole = 6755399441055744.0; /* 1.5 * 2^52: leaves whole numbers */
    wide_bits large = x < -700.0;
    x = (wide)(((wide_bits)x & ~large) | ((wide_bits)all(-700.0) & large));
    wide shifted = x * 1.4426950408889634 + to_whole;
    wide whole = shifted - to_whole;
    wide r = x - whole * 6.93147180369123816490e-01;
    r = r - whole * 1.90821492927058770002e-10;
    wide e = all(1.0 / 6227020800.0);
    e = e * r + 1.0 / 479001600.0;
    e = e * r + 1.0 / 39916800.0;
    e = e * r + 1.0 / 3628800.0;
    e = e * r + 1.0 / 362880.0;
    e = e * r + 1.0 / 40320.0;
    e = e * r + 1.0 / 5040.0;
    e = e * r + 1.0 / 720.0;
    e = e * r + 1.0 / 120.0;
    e = e * r + 1.0 / 24.0;
    e = e * r + 1.0 / 6.0;
    e = e * r + 0.5;
    e = e * r + 1.0;
    e = e * r + 1.0;
    /* The whole power of two goes straight into the exponent. */
    e = (wide)((wide_bits)e + ((wide_bits)shifted << 52));
    return where(~large, e);
}

#endif
