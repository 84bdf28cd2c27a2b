/* Sets to NaN the correlations whose library has too few points for the target's
   dimension. */
#include "core/causal/map.h"

#include <math.h>
#include <string.h>

/* points[E - 1]: library points that library `i` has in E dimensions, for E = 1 to the
   layout's E_max. */
static void count_points(const syn_map_libraries *libraries, uint32_t i,
                         const syn_map_layout *layout, uint32_t *points)
{
    size_t begin = (size_t)i * libraries->steps;
    const float *value = libraries->value + begin;
    const unsigned char *drawn = libraries->drawn ? libraries->drawn + begin : NULL;
    uint32_t run = 0, most = layout->E_max;
    memset(points, 0, most * sizeof *points);
    for (uint32_t p = 0; p < layout->places; p++) {
        int32_t step = layout->step[p];
        run = step < 0 || isnan(value[step]) ? 0 : run + 1;
        int used = run > 0 && layout->use[p] & SYN_MAP_LIBRARY && (!drawn || drawn[step]);
        if (used)
            points[(run < most ? run : most) - 1]++;
    }
    for (uint32_t E = most - 1; E > 0; E--)
        points[E - 1] += points[E];
}

void syn_map_drop_small(const syn_map_libraries *libraries, const syn_map_layout *layout,
                        const uint32_t *E, uint32_t n, float *rho)
{
    uint32_t points[SYN_MAP_DIMS];
    int alike = !libraries->missing && !libraries->drawn;
    for (uint32_t i = 0; i < libraries->n; i++) {
        if (i == 0 || !alike)
            count_points(libraries, i, layout, points);
        int small = 0;
        for (uint32_t e = 1; e <= layout->E_max; e++)
            small |= points[e - 1] <= e;
        for (uint32_t j = 0; small && j < n; j++)
            if (points[E[j] - 1] <= E[j])
                rho[(size_t)i * n + j] = NAN;
    }
}
