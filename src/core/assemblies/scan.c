/* Scans histograms rung by rung: the windows whose z is large enough, then those of them
   that are the largest around. */
#include "core/assemblies/scan.h"

/* Windows of a rung with enough excess, in the order of lags. */
static size_t list_windows(const syn_scan *s, const int32_t *sum, uint32_t rung,
                           syn_peak *out)
{
    const syn_ladder *l = s->ladder;
    int32_t reach = (int32_t)l->reach[rung], step = (int32_t)l->step[rung];
    double low = (s->least - 1.0) / SYN_PEAK_SCALE;
    uint32_t place = l->first[rung];
    size_t n = 0;
    for (int32_t k = -reach; k <= reach; k++, place++) {
        syn_sides sides = syn_sides_look(sum, (int32_t)l->half[rung], k * step);
        syn_excess_scale e = {.clumps = s->clumps[rung],
                              .common = s->common ? s->common[place] : 0,
                              .spread = s->spread ? s->spread[place] : 0};
        if (!syn_excess_may_pass(sides, e, low * low))
            continue;
        int32_t z = syn_peak_z(syn_excess_z(sides, e));
        if (z >= s->least)
            out[n++] = (syn_peak){.lag = k * step, .rung = (uint16_t)rung,
                                  .z = (int16_t)z};
    }
    return n;
}

/* Whether no window within `near` bins of window i is larger. */
static int is_peak(const syn_peak *window, size_t n, size_t i, int32_t near)
{
    int32_t lag = window[i].lag;
    for (size_t j = i; j-- > 0 && lag - window[j].lag <= near;)
        if (window[j].z >= window[i].z)
            return 0;
    for (size_t j = i + 1; j < n && window[j].lag - lag <= near; j++)
        if (window[j].z > window[i].z)
            return 0;
    return 1;
}

size_t syn_scan_peaks(const syn_scan *scan, const int32_t *sum, syn_peak *out)
{
    const syn_ladder *l = scan->ladder;
    size_t found = 0;
    for (uint32_t rung = 0; rung < l->rungs; rung++) {
        syn_peak *window = out + found;
        size_t n = list_windows(scan, sum, rung, window), kept = 0;
        int32_t near = syn_peak_reach(l, rung) * (int32_t)l->step[rung];
        /* Later windows are compared with earlier ones: these are marked, then taken. */
        for (size_t i = 0; i < n; i++)
            if (is_peak(window, n, i, near))
                window[i].rung = SYN_LADDER_RUNGS;
        for (size_t i = 0; i < n; i++)
            if (window[i].rung == SYN_LADDER_RUNGS) {
                window[kept] = window[i];
                window[kept++].rung = (uint16_t)rung;
            }
        found += kept;
    }
    return found;
}
