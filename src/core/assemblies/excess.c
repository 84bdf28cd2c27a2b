/* Measures excess: deviances, and what is common to many histograms. */
#include "core/assemblies/excess.h"

#include <math.h>
#include <string.h>

enum { REFINED = 4 };

static const double CLIP = 2;
/* Standard deviations that something common has: of a hundred recordings of independent
   units, one has so many at any lag and width. */
static const double STANDS_OUT = 4.5;
/* Mean of the square of a standard normal number that is cut at CLIP. */
static const double CLIPPED = 0.9205;

/* ---- whether anything is common ---- */

/* Excess of a window without a spread, and its variance, from the counts themselves. */
static double excess_of(syn_sides s, double common, double *variance)
{
    double part = (1 + common) / SYN_BESIDE;
    *variance = s.in + part * part * s.beside;
    return s.in - part * s.beside;
}

/* Whether all histograms together have more or fewer counts at a lag than beside it. */
static int lag_stands_out(const syn_ladder *ladder, uint32_t rung,
                          const syn_excess_many *many, int32_t k, double common)
{
    int32_t half = (int32_t)ladder->half[rung], lag = k * (int32_t)ladder->step[rung];
    syn_sides all = {0};
    double clumped = 0;
    for (size_t i = 0; i < many->n; i++)
        for (int side = 0; side < (k > 0 ? 2 : 1); side++) {
            syn_sides s = syn_sides_look(many->sum[i], half, side ? -lag : lag);
            all.in += s.in;
            all.beside += s.beside;
            clumped += many->clumps[i] * s.beside;
        }
    syn_excess_scale e = {.clumps = all.beside > 0 ? clumped / all.beside : 1,
                          .common = common};
    double z = syn_excess_z(all, e);
    return z > STANDS_OUT || z < -STANDS_OUT;
}

/* Whether shares of histograms differ by more than counts do, at all lags together. Lags
   a width apart say something new. */
static int pairs_differ(const syn_ladder *ladder, uint32_t rung,
                        const syn_excess_many *many, const double *common)
{
    int32_t half = (int32_t)ladder->half[rung], step = (int32_t)ladder->step[rung];
    double lags = (many->to - many->from) * (double)step + 1, width = 2 * half + 1;
    double more = 0, noise = 0;
    for (size_t i = 0; i < many->n; i++) {
        double sum = 0;
        for (int32_t k = many->from; k <= many->to; k++) {
            double variance, excess = excess_of(
                syn_sides_look(many->sum[i], half, k * step), common[k], &variance);
            variance *= many->clumps[i];
            more += excess * excess - variance;
            sum += variance;
        }
        noise += 2 * sum * sum / (1 + lags / width);
    }
    return more > STANDS_OUT * sqrt(noise);
}

int syn_excess_shared(const syn_ladder *ladder, uint32_t rung,
                      const syn_excess_many *many, const double *common)
{
    int shared = pairs_differ(ladder, rung, many, common);
    for (int32_t k = 0; k <= many->to; k++)
        shared |= lag_stands_out(ladder, rung, many, k, common[k]);
    return shared;
}

/* ---- what is common ---- */

/* Takes over what a round found: the first one sets, later ones correct. */
static void settle(const syn_excess_moments *m, int round, double *common, double *spread)
{
    if (m->bottom <= 0 || m->scale <= 0)
        return;
    double c = m->top / m->bottom;
    if (round == 0) {
        double squares = m->squares - 2 * c * m->cross + c * c * m->scale;
        *common = c;
        *spread = squares > m->variance ? (squares - m->variance) / m->scale : 0;
    } else {
        *common = *common + c > -0.9 ? *common + c : -0.9;
        *spread += m->squares / m->scale;
        *spread = *spread > 0 ? *spread : 0;
    }
}

/* What is expected in a window, for its variance, by the counts in it and beside it
   together: so of few counts, those that make a large excess weigh as much as those that
   make none. (Around activations, a unit without counts beside a window says nothing:
   there, what is beside it is enough.) */
static double base_of(syn_sides s, double more, double common)
{
    return SYN_TIMES(more, s.in + s.beside) / (SYN_BESIDE + SYN_TIMES(more, 1 + common));
}

void syn_excess_fit(const syn_ladder *ladder, uint32_t rung, const syn_excess_many *many,
                    double *common, double *spread, syn_excess_moments *m)
{
    size_t lags = many->from <= many->to ? (size_t)(many->to - many->from) + 1 : 0;
    m += (int32_t)ladder->reach[rung];
    for (int32_t k = many->from; k <= many->to; k++)
        common[k] = spread[k] = 0;
    for (int round = many->few ? 1 : 0; round <= REFINED; round++) {
        memset(m + many->from, 0, lags * sizeof *m);
        int32_t step = (int32_t)ladder->step[rung], half = (int32_t)ladder->half[rung];
        for (size_t i = 0; i < many->n; i++)
            for (int32_t k = many->from; k <= many->to; k++) {
                syn_sides s = syn_sides_look(many->sum[i], half, k * step);
                const int32_t *predicted = many->predicted ? many->predicted[i] : NULL;
                double more = 1 + syn_excess_common(0, predicted, half, k * step);
                double expected = SYN_TIMES(s.beside / SYN_BESIDE, more);
                double excess = s.in - expected, counts = 1 + more / SYN_BESIDE;
                double base = many->mirrored ? base_of(s, more, common[k]) : expected;
                if (base <= 0)
                    continue;
                syn_excess_moments *here = m + (many->mirrored && k < 0 ? -k : k);
                if (round == 0) {
                    here->top += excess;
                    here->bottom += expected;
                    here->squares += excess * excess;
                    here->cross += expected * excess;
                    here->variance += expected * counts * many->clumps[i];
                    here->scale += expected * expected;
                } else {
                    /* Of few, excess of an assembly makes none of the variance: what is
                       below the mean counts twice instead. */
                    double variance = base * counts * many->clumps[i] *
                                          (1 + common[k]) +
                                      spread[k] * base * base;
                    double deviation = sqrt(variance),
                           u = (excess - common[k] * expected) / deviation;
                    u = u > CLIP ? CLIP : u < -CLIP ? -CLIP : u;
                    double weight = base * base / variance;
                    here->top += u * base / deviation;
                    here->bottom += weight;
                    double square = !many->few ? u * u : u < 0 ? 2 * u * u : 0;
                    here->squares += (square / CLIPPED - 1) * weight;
                    here->scale += weight * weight;
                }
            }
        for (int32_t k = many->mirrored ? 0 : many->from; k <= many->to; k++) {
            settle(m + k, round, common + k, spread + k);
            if (round == REFINED && m[k].bottom > 0)
                spread[k] += 1 / m[k].bottom;
            if (many->mirrored) {
                common[-k] = common[k];
                spread[-k] = spread[k];
            }
        }
    }
}
