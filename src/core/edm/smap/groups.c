/* Groups of targets. */
#include "core/edm/smap/groups.h"

#include <math.h>
#include <stdlib.h>

/* A target while they are ordered. */
typedef struct gaps {
    const double *value;
    uint32_t steps, number;
    uint32_t missing;  /* values */
} gaps;

static gaps find_gaps(const syn_series *targets, uint32_t number)
{
    uint32_t steps = targets->steps;
    gaps g = {targets->value + (size_t)number * steps, steps, number, 0};
    for (uint32_t t = 0; t < steps; t++)
        g.missing += g.value[t] != g.value[t];
    return g;
}

/* Orders targets by where they are known. */
static int by_gaps(const gaps *x, const gaps *y)
{
    if (x->missing != y->missing)
        return x->missing < y->missing ? -1 : 1;
    for (uint32_t t = 0; t < x->steps && x->missing > 0; t++)
        if (isnan(x->value[t]) != isnan(y->value[t]))
            return isnan(x->value[t]) ? -1 : 1;
    return 0;
}

static int compare_gaps(const void *a, const void *b)
{
    const gaps *x = a, *y = b;
    int order = by_gaps(x, y);
    return order != 0 ? order : x->number < y->number ? -1 : 1;
}

syn_status syn_smap_order_make(const syn_series *targets, syn_smap_order *out)
{
    uint32_t n = targets->n;
    gaps *all = malloc(n * sizeof *all + 1);
    *out = (syn_smap_order){malloc(n * sizeof *out->target + 1),
                            malloc(n * sizeof *out->pattern + 1)};
    syn_status status = all && out->target && out->pattern ? SYN_OK : SYN_NO_MEMORY;
    if (status == SYN_OK) {
        for (uint32_t i = 0; i < n; i++)
            all[i] = find_gaps(targets, i);
        qsort(all, n, sizeof *all, compare_gaps);
        for (uint32_t i = 0; i < n; i++) {
            int other = i > 0 && by_gaps(&all[i - 1], &all[i]) != 0;
            out->target[i] = all[i].number;
            out->pattern[i] = i > 0 ? out->pattern[i - 1] + (uint32_t)other : 0;
        }
    }
    free(all);
    return status;
}

void syn_smap_order_free(syn_smap_order *order)
{
    free(order->target);
    free(order->pattern);
}

/* A number near the mean; of a constant, that; 0 where nothing is known. */
static double centre_of(const double *x, uint32_t steps)
{
    double first = NAN, sum[4] = {0}, n = 0;
    for (uint32_t t = 0; t < steps && isnan(first); t++)
        first = x[t];
    for (uint32_t t = 0; t < steps; t++) {
        int known = x[t] == x[t];
        sum[t % 4] += known ? x[t] - first : 0;
        n += known;
    }
    return n > 0 ? first + (sum[0] + sum[1] + sum[2] + sum[3]) / n : 0;
}

syn_status syn_smap_group_make(const syn_series *targets, const syn_smap_order *order,
                               uint32_t first, syn_smap_group *out)
{
    size_t steps = targets->steps;
    uint32_t n = 1;
    while (first + n < targets->n && n < SYN_SMAP_TARGETS &&
           order->pattern[first + n] == order->pattern[first])
        n++;
    *out = (syn_smap_group){n, order->target + first, targets->value, NULL};
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
