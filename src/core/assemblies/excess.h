/* How far counts in a window of a lag histogram exceed those beside it, and what many
   histograms have in common. */
#ifndef SYN_ASSEMBLIES_EXCESS_H
#define SYN_ASSEMBLIES_EXCESS_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/assemblies/ladder.h"

#ifndef SYN_EVERYWHERE
#define SYN_EVERYWHERE static inline
#endif

/* A product that is not fused with the sum it goes into. */
#if defined(__CUDA_ARCH__)
#define SYN_TIMES(a, b) __dmul_rn(a, b)
#else
#define SYN_TIMES(a, b) ((a) * (b))
#endif
/* Host code of a .cu file works none out. */
#if !defined(__CUDACC__)
#include "core/base/unfused.h"
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

/* Widths beside a window. */
#define SYN_BESIDE (2.0 * SYN_LADDER_BESIDE)

/* Counts of a window and beside it. */
typedef struct syn_sides {
    double in, beside;
} syn_sides;

/* `sum` points to lag 0 of running sums of a histogram, with the margin of the ladder on
   both sides; `lag` is at most the ladder's. */
SYN_EVERYWHERE syn_sides syn_sides_look(const int32_t *sum, int32_t half, int32_t lag)
{
    int32_t width = 2 * half + 1, low = lag - half, high = lag + half, gap = half + 1;
    int32_t far = SYN_LADDER_BESIDE * width;
    syn_sides s;
    s.in = (double)(sum[high] - sum[low - 1]);
    s.beside = (double)(sum[low - gap - 1] - sum[low - gap - far - 1]) +
               (double)(sum[high + gap + far] - sum[high + gap]);
    return s;
}

/* What is known of a window besides its counts. */
typedef struct syn_excess_scale {
    double clumps;  /* variance of counts over that of a Poisson process, at least 1 */
    double common;  /* excess that all have, as a share of what is expected */
    double spread;  /* variance of this share, and of `common` itself */
} syn_excess_scale;

SYN_EVERYWHERE double syn_excess_expected(syn_sides s, syn_excess_scale e)
{
    return SYN_TIMES(s.beside / SYN_BESIDE, 1 + e.common);
}

/* Half a count at least, lest a window beside which nothing was counted decide all. */
SYN_EVERYWHERE double syn_excess_base(syn_sides s, syn_excess_scale e)
{
    double expected = syn_excess_expected(s, e);
    return expected > 0.5 ? expected : 0.5;
}

/* By how much the variance exceeds that of Poisson counts, of `base` expected ones, times
   that number. */
SYN_EVERYWHERE double syn_excess_variance(syn_excess_scale e, double base)
{
    return SYN_TIMES(base, e.clumps + SYN_TIMES(e.spread, base) / (1 + 1 / SYN_BESIDE));
}

/* Signed root of the deviance of a share of in / (in + beside) from what is expected,
   with half a count of continuity correction; 0 where it is not above. */
SYN_EVERYWHERE double syn_excess_deviance(syn_sides s, double common)
{
    double share = (1 + common) / (1 + common + SYN_BESIDE);
    double in = s.in - 0.5, beside = s.beside + 0.5, n = in + beside;
    double expected = SYN_TIMES(n, share);
    if (in <= expected)
        return 0;
    double d = SYN_TIMES(in, syn_logarithm(in / expected)) +
               SYN_TIMES(beside, syn_logarithm(beside / (n - expected)));
    return d > 0 ? sqrt(2 * d) : 0;
}

/* `common` of a pair whose windows differ from those beside them as a histogram
   `predicted` does, of which the running sums are given as for syn_sides_look(); NULL
   where nothing is predicted. Half a count more, on either side, lest few decide all. */
SYN_EVERYWHERE double syn_excess_common(double common, const int32_t *predicted,
                                        int32_t half, int32_t lag)
{
    if (!predicted)
        return common;
    syn_sides p = syn_sides_look(predicted, half, lag);
    return SYN_TIMES(1 + common, (p.in + 0.5) / (p.beside / SYN_BESIDE + 0.5)) - 1;
}

/* Standard normal, about, where there is no excess: the signed root of the deviance, over
   the root of how much more counts vary than those of a Poisson process. */
SYN_EVERYWHERE double syn_excess_z(syn_sides s, syn_excess_scale e)
{
    double excess = s.in - syn_excess_expected(s, e), base = syn_excess_base(s, e);
    double variance = syn_excess_variance(e, base);
    if (excess <= 0)
        return excess / sqrt(SYN_TIMES(variance, 1 + 1 / SYN_BESIDE));
    return syn_excess_deviance(s, e.common) / sqrt(variance / base);
}

/* Whether z may be above the root of `square`: without a logarithm, as the deviance is
   below the square of the excess over what is expected. */
SYN_EVERYWHERE int syn_excess_may_pass(syn_sides s, syn_excess_scale e, double square)
{
    double excess = s.in - syn_excess_expected(s, e);
    return excess > 0 && s.in >= 2 &&
           excess * excess > square * syn_excess_variance(e, syn_excess_base(s, e));
}

/* Histograms that are fitted together. */
typedef struct syn_excess_many {
    const int32_t *const *sum;        /* [n] lag 0 of each, */
    const int32_t *const *predicted;  /* and of what predicts them; or NULL */
    const double *clumps;       /* [n] */
    size_t n;
    int few;                    /* whether exceptions may be a good part of them */
    int mirrored;               /* whether a lag and its opposite are alike, */
    int32_t from, to;           /* of lags from -reach to reach; else any lags of the
                                   rung's grid */
} syn_excess_many;

/* Sums over histograms at a lag. */
typedef struct syn_excess_moments {
    double top, bottom, squares, cross, variance, scale;
} syn_excess_moments;

/* Whether mirrored histograms, whose lags from 0 to `many->to` and their opposites are
   asked for, have something in common on a rung: more or fewer counts at a lag than
   beside it, in all together, or shares that differ by more than counts of independent
   units do. common[k] is the share that the ends of trials bring about. */
int syn_excess_shared(const syn_ladder *ladder, uint32_t rung,
                      const syn_excess_many *many, const double *common);

/* Fits what is common to many histograms on one rung: common[k] and spread[k] for k from
   many->from to many->to, by a few steps of a mean and a variance in which none counts
   for more than two standard deviations, so that few exceptions do not hide themselves.
   Steps begin with the mean and the variance of all; of few, where exceptions may decide
   these, with 0, and the variance is that below the mean. `m` has room for
   2 * reach + 1. */
void syn_excess_fit(const syn_ladder *ladder, uint32_t rung, const syn_excess_many *many,
                    double *common, double *spread, syn_excess_moments *m);

#endif
