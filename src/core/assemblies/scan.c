/* Scans histograms rung by rung: the windows whose z is large enough, then those of them
   that are the largest around. */
#include "core/assemblies/scan.h"

#include <string.h>

enum { REGISTER = 16 };  /* numbers in the widest one */

syn_status syn_scan_make(syn_scan *out, const syn_ladder *ladder, const syn_lanes *lanes,
                         int32_t least, syn_budget *budget)
{
    memset(out, 0, sizeof *out);
    out->ladder = ladder;
    out->lanes = lanes;
    out->least = least;
    out->budget = budget;
    size_t n = 2 * (size_t)ladder->lags + 1 + REGISTER;
    syn_lanes_windows *w = &out->windows;
    SYN_TAKE_ZEROS(budget, w->in, n);
    SYN_TAKE_ZEROS(budget, w->all, n);
    SYN_TAKE(budget, w->at, n);
    SYN_TAKE(budget, w->z, n);
    SYN_TAKE(budget, out->peak, ladder->first[ladder->rungs]);
    return SYN_OK;
}

void syn_scan_free(syn_scan *s)
{
    if (!s->budget)
        return;
    SYN_GIVE(s->budget, s->windows.in, s->windows.all, s->windows.at, s->windows.z,
             s->peak);
    memset(s, 0, sizeof *s);
}

/* Picks windows as syn_lanes.pick() does, where pairs have something in common. */
static uint32_t pick(const syn_scan *s, const syn_lanes_windows *w, uint32_t rung)
{
    const double *common = s->common + s->ladder->first[rung];
    const double *spread = s->spread + s->ladder->first[rung];
    double low = (s->least - 1.0) / SYN_PEAK_SCALE;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        syn_sides sides = {.in = w->in[i], .beside = (double)w->all[i] - w->in[i]};
        syn_excess_scale e = {.clumps = s->clumps[rung], .common = common[i],
                              .spread = spread[i]};
        if (!syn_excess_may_pass(sides, e, low * low))
            continue;
        w->at[n] = i;
        w->z[n] = syn_peak_z(syn_excess_z(sides, e));
        n += w->z[n] >= s->least;
    }
    return n;
}

/* Whether none of the n windows picked, within `near` places of number i, is larger. */
static int is_peak(const syn_lanes_windows *w, uint32_t n, uint32_t i, uint32_t near)
{
    for (uint32_t j = i; j-- > 0 && w->at[i] - w->at[j] <= near;)
        if (w->z[j] >= w->z[i])
            return 0;
    for (uint32_t j = i + 1; j < n && w->at[j] - w->at[i] <= near; j++)
        if (w->z[j] > w->z[i])
            return 0;
    return 1;
}

size_t syn_scan_peaks(const syn_scan *s, const int32_t *sum)
{
    const syn_ladder *l = s->ladder;
    size_t found = 0;
    for (uint32_t rung = 0; rung < l->rungs; rung++) {
        syn_lanes_windows w = s->windows;
        int32_t reach = (int32_t)l->reach[rung], step = (int32_t)l->step[rung];
        w.n = 2 * l->reach[rung] + 1;
        s->lanes->fill(&w, sum, (int32_t)l->half[rung], step);
        uint32_t n = s->common ? pick(s, &w, rung)
                               : s->lanes->pick(&w, s->clumps[rung], s->least);
        for (uint32_t i = 0; i < n; i++)
            if (is_peak(&w, n, i, (uint32_t)syn_peak_reach(l, rung)))
                s->peak[found++] = (syn_peak){.lag = ((int32_t)w.at[i] - reach) * step,
                                              .rung = (uint16_t)rung,
                                              .z = (int16_t)w.z[i]};
    }
    return found;
}
