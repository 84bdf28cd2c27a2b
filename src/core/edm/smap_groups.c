/* Groups of targets. */
#include "core/edm/smap_groups.h"

#include <math.h>
#include <stdlib.h>

/* Orders targets by where they are known. */
static int by_gaps(const double *x, const double *y, uint32_t steps)
{
    for (uint32_t t = 0; t < steps; t++)
        if (isnan(x[t]) != isnan(y[t]))
            return isnan(x[t]) ? -1 : 1;
    return 0;
}

/* A target while they are ordered. */
typedef struct gaps {
    const double *value;
    uint32_t steps, number;
} gaps;

static int compare_gaps(const void *a, const void *b)
{
    const gaps *x = a, *y = b;
    int order = by_gaps(x->value, y->value, x->steps);
    return order != 0 ? order : x->number < y->number ? -1 : 1;
}

syn_status syn_smap_groups_order(const syn_series *targets, uint32_t **order)
{
    uint32_t n = targets->n, steps = targets->steps;
    gaps *all = malloc(n * sizeof *all + 1);
    *order = malloc(n * sizeof **order + 1);
    if (all && *order) {
        for (uint32_t i = 0; i < n; i++)
            all[i] = (gaps){targets->value + (size_t)i * steps, steps, i};
        qsort(all, n, sizeof *all, compare_gaps);
        for (uint32_t i = 0; i < n; i++)
            (*order)[i] = all[i].number;
    }
    syn_status status = all && *order ? SYN_OK : SYN_NO_MEMORY;
    free(all);
    return status;
}

/* How many targets from place `first` on are a group. */
static uint32_t group_size(const syn_series *targets, const uint32_t *order,
                           uint32_t first)
{
    size_t steps = targets->steps;
    const double *x = targets->value + order[first] * steps;
    uint32_t n = 1;
    while (first + n < targets->n && n < SYN_SMAP_TARGETS &&
           by_gaps(x, targets->value + order[first + n] * steps, (uint32_t)steps) == 0)
        n++;
    return n;
}

/* A number near the mean; of a constant, that; 0 where nothing is known. */
static double centre_of(const double *x, uint32_t steps)
{
    double first = NAN, sum = 0, n = 0;
    for (uint32_t t = 0; t < steps; t++)
        if (!isnan(x[t])) {
            first = n > 0 ? first : x[t];
            sum += x[t] - first;
            n++;
        }
    return n > 0 ? first + sum / n : 0;
}

syn_status syn_smap_group_make(const syn_series *targets, const uint32_t *order,
                               uint32_t first, syn_smap_group *out)
{
    size_t steps = targets->steps;
    *out = (syn_smap_group){group_size(targets, order, first), order + first,
                            targets->value, NULL};
    out->centre = malloc(out->n * sizeof *out->centre);
    if (!out->centre)
        return SYN_NO_MEMORY;
    for (uint32_t c = 0; c < out->n; c++)
        out->centre[c] = centre_of(targets->value + out->target[c] * steps,
                                   (uint32_t)steps);
    return SYN_OK;
}

void syn_smap_group_free(syn_smap_group *group)
{
    free(group->centre);
}
