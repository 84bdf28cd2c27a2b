/* The skill of one library and target from sums over the predicted rows. */
#include "core/edm/ccm/ccm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double syn_ccm_middle(const double *target, const syn_rows *rows)
{
    double least = INFINITY, most = -INFINITY;
    for (uint32_t i = 0; i < rows->n; i++) {
        double y = target[rows->row[i]];
        least = y < least ? y : least;
        most = y > most ? y : most;
    }
    if (!(least <= most))
        return 0;
    return least < most ? least / 2 + most / 2 : least;
}

/* n times the variance of n values, from sums of their differences to the first of them;
   0 where they differ from each other by rounding alone. */
static double spread(double n, double first, double sum, double square)
{
    double out = square - sum * sum / n;
    /* The sum of the squares of the values themselves. */
    double size = square + first * (2 * sum + n * first);
    return out > 1e-24 * size ? out : 0;
}

void syn_ccm_skill_put(const double *s, syn_ccm_skill *out, size_t at)
{
    double n = s[SYN_CCM_N];
    out->rho[at] = out->mae[at] = out->rmse[at] = NAN;
    if (n < 3)
        return;
    out->mae[at] = s[SYN_CCM_ERROR] / n;
    out->rmse[at] = sqrt(s[SYN_CCM_ERROR_SQUARE] / n);
    double both = spread(n, s[SYN_CCM_FIRST_TARGET], s[SYN_CCM_TARGET],
                         s[SYN_CCM_TARGET_SQUARE]) *
                  spread(n, s[SYN_CCM_FIRST_PREDICTION], s[SYN_CCM_PREDICTION],
                         s[SYN_CCM_PREDICTION_SQUARE]);
    double product = s[SYN_CCM_PRODUCT] - s[SYN_CCM_TARGET] * s[SYN_CCM_PREDICTION] / n;
    if (both > 0)
        out->rho[at] = fmax(-1, fmin(1, product / sqrt(both)));
}

syn_status syn_ccm_skill_make(size_t n, uint32_t targets, syn_ccm_skill *out)
{
    size_t room = (n * targets + 1) * sizeof *out->rho;
    out->n = n;
    out->targets = targets;
    out->rho = malloc(room);
    out->mae = malloc(room);
    out->rmse = malloc(room);
    return out->rho && out->mae && out->rmse ? SYN_OK : SYN_NO_MEMORY;
}

void syn_ccm_free(syn_ccm_skill *skill)
{
    free(skill->rho);
    free(skill->mae);
    free(skill->rmse);
    memset(skill, 0, sizeof *skill);
}
