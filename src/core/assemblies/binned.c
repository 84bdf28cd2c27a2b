/* Puts spikes into bins of their segments. */
#include "core/assemblies/binned.h"

syn_status syn_binned_make(syn_binned *out, const syn_trains *trains, int64_t bin,
                           syn_budget *budget)
{
    *out = (syn_binned){.units = trains->units, .segments = trains->trials};
    size_t places = (size_t)trains->units * trains->trials;
    SYN_TAKE(budget, out->n, trains->trials);
    SYN_TAKE_ZEROS(budget, out->first, places + 1);
    SYN_TAKE(budget, out->bin, (size_t)trains->events + 1);
    for (uint32_t k = 0; k < trains->trials; k++) {
        int64_t bins = (trains->stop[k] - trains->start[k]) / bin + 1;
        if (bins > INT32_MAX)
            return SYN_TOO_LARGE;
        out->n[k] = (uint32_t)bins;
    }
    for (uint32_t u = 0; u < trains->units; u++)
        for (uint32_t e = trains->first[u]; e < trains->first[u + 1]; e++) {
            uint32_t k = trains->trial[e];
            out->bin[e] = (uint32_t)((trains->tick[e] - trains->start[k]) / bin);
            out->first[(size_t)u * trains->trials + k + 1]++;
        }
    for (size_t i = 0; i < places; i++)
        out->first[i + 1] += out->first[i];
    return SYN_OK;
}
