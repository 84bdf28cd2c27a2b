/* STAND-IN, to be removed: slow and obvious until the fast search is there. */
#include <math.h>
#include <stdlib.h>

#include "core/causal_map.h"
#include "core/parallel.h"

typedef struct work {
    const syn_map_targets *targets;
    const syn_map_libraries *libraries;
    const syn_map_layout *layout;
    const syn_map_options *options;
    float *rho;
} work;

typedef struct near { double d; uint32_t apart, step; } near;

static int before(near a, near b)
{
    if (a.d != b.d) return a.d < b.d;
    if (a.apart != b.apart) return a.apart < b.apart;
    return a.step < b.step;
}

static int whole(const work *w, const float *x, uint32_t p, uint32_t E)
{
    for (uint32_t k = 0; k < E; k++) {
        if (p < k) return 0;
        int32_t s = w->layout->step[p - k];
        if (s < 0 || isnan(x[s])) return 0;
    }
    return 1;
}

static float skill(const work *w, uint32_t lib, uint32_t E, const float *y)
{
    const syn_map_layout *l = w->layout;
    const float *x = w->libraries->value + (size_t)lib * l->steps;
    const unsigned char *drawn =
        w->libraries->drawn ? w->libraries->drawn + (size_t)lib * l->steps : NULL;
    double n = 0, sp = 0, spp = 0, sy = 0, syy = 0, spy = 0;
    uint32_t size = 0;
    for (uint32_t p = 0; p < l->places; p++) {
        if (!(l->use[p] & SYN_MAP_LIBRARY)) continue;
        size += whole(w, x, p, E) && (!drawn || drawn[l->step[p]]);
    }
    if (size < E + 1) return NAN;
    for (uint32_t p = 0; p < l->places; p++) {
        if (!(l->use[p] & SYN_MAP_PREDICTED) || !whole(w, x, p, E)) continue;
        float obs = y[l->step[p] + w->options->Tp];
        if (isnan(obs)) continue;
        near best[SYN_MAP_DIMS + 2];
        uint32_t found = 0;
        for (uint32_t q = 0; q < l->places; q++) {
            if (!(l->use[q] & SYN_MAP_LIBRARY) || !whole(w, x, q, E)) continue;
            if (drawn && !drawn[l->step[q]]) continue;
            uint32_t apart = (uint32_t)abs(l->step[p] - l->step[q]);
            if (apart <= w->options->exclusion) continue;
            float d = 0;
            for (uint32_t k = 0; k < E; k++) {
                float off = x[l->step[p - k]] - x[l->step[q - k]];
                d = fmaf(off, off, d);
            }
            near one = {d, apart, (uint32_t)l->step[q]};
            uint32_t at = found;
            while (at > 0 && before(one, best[at - 1])) { best[at] = best[at - 1]; at--; }
            if (at <= E) best[at] = one;
            if (found < E + 1) found++;
        }
        if (!found) continue;
        double least = sqrt(best[0].d), sum = 0, all = 0;
        if (least < w->libraries->floor[lib]) least = w->libraries->floor[lib];
        for (uint32_t k = 0; k < found; k++) {
            double wt = exp(-sqrt(best[k].d) / least);
            all += wt;
            sum += wt * y[(int32_t)best[k].step + w->options->Tp];
        }
        double pr = sum / all;
        if (isnan(pr)) continue;
        n++; sp += pr; spp += pr * pr; sy += obs; syy += (double)obs * obs; spy += pr * obs;
    }
    double vp = spp - sp * sp / n, vy = syy - sy * sy / n;
    if (n < 3 || !(vp > 1e-9 * n) || !(vy > 1e-9 * n)) return NAN;
    return (float)((spy - sp * sy / n) / sqrt(vp * vy));
}

static syn_status one(void *context, size_t item, int worker)
{
    work *w = context;
    (void)worker;
    if (w->targets) {
        size_t m = w->targets->n, i = item / m, j = item % m;
        w->rho[item] = skill(w, (uint32_t)i, w->targets->E[j],
                             w->targets->value + j * w->layout->steps);
        if (w->rho[item] < w->options->screen) w->rho[item] = NAN;
    } else {
        uint32_t m = w->options->E_max;
        w->rho[item] = skill(w, (uint32_t)(item / m), (uint32_t)(item % m) + 1,
                             w->libraries->value + item / m * w->layout->steps);
    }
    return SYN_OK;
}

syn_status syn_map_dimensions(const syn_map_libraries *libraries,
                              const syn_map_layout *layout,
                              const syn_map_options *options, const syn_watch *watch,
                              float *rho)
{
    work w = {NULL, libraries, layout, options, rho};
    return syn_parallel_for((size_t)libraries->n * options->E_max, options->threads, watch,
                            "", one, &w);
}

syn_status syn_map_cross(const syn_map_targets *targets,
                         const syn_map_libraries *libraries, const syn_map_layout *layout,
                         const syn_map_options *options, const syn_watch *watch,
                         float *rho)
{
    work w = {targets, libraries, layout, options, rho};
    return syn_parallel_for((size_t)libraries->n * targets->n, options->threads, watch, "",
                            one, &w);
}
