/* Measures excess: deviances, and what is common to many histograms. */
#include "core/assemblies/excess.h"

#include <math.h>
#include <string.h>

enum { REFINED = 4 };

static const double CLIP = 2;
/* Mean of the square of a standard normal number that is cut at CLIP. */
static const double CLIPPED = 0.9205;

/* ---- what is common ---- */

static void settle_first(const syn_excess_moments *m, double *common, double *spread)
{
    if (m->bottom <= 0 || m->scale <= 0)
        return;
    double c = m->top / m->bottom;
    double squares = m->squares - 2 * c * m->cross + c * c * m->scale;
    *common = c;
    *spread = squares > m->variance ? (squares - m->variance) / m->scale : 0;
}

static void settle_refined(const syn_excess_moments *m, double *common, double *spread)
{
    if (m->bottom <= 0 || m->scale <= 0)
        return;
    *common += m->top / m->bottom;
    *common = *common > -0.9 ? *common : -0.9;
    *spread += m->squares / m->scale;
    *spread = *spread > 0 ? *spread : 0;
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
                if (expected <= 0)
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
                    double variance = expected * counts * many->clumps[i] *
                                          (1 + common[k]) +
                                      spread[k] * expected * expected;
                    double deviation = sqrt(variance),
                           u = (excess - common[k] * expected) / deviation;
                    u = u > CLIP ? CLIP : u < -CLIP ? -CLIP : u;
                    double weight = expected * expected / variance;
                    here->top += u * expected / deviation;
                    here->bottom += weight;
                    double square = !many->few ? u * u : u < 0 ? 2 * u * u : 0;
                    here->squares += (square / CLIPPED - 1) * weight;
                    here->scale += weight * weight;
                }
            }
        for (int32_t k = many->mirrored ? 0 : many->from; k <= many->to; k++) {
            if (round == 0)
                settle_first(m + k, common + k, spread + k);
            else
                settle_refined(m + k, common + k, spread + k);
            if (round == REFINED && m[k].bottom > 0)
                spread[k] += 1 / m[k].bottom;
            if (many->mirrored) {
                common[-k] = common[k];
                spread[-k] = spread[k];
            }
        }
    }
}
