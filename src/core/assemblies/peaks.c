/* Lists of peaks that grow pair by pair. */
#include "core/assemblies/peaks.h"

#include <string.h>

syn_status syn_peaks_make(syn_peaks *out, uint32_t units, syn_budget *budget)
{
    memset(out, 0, sizeof *out);
    out->units = units;
    out->budget = budget;
    out->first = syn_budget_zeros(budget, syn_pair_count(units) + 1, sizeof *out->first);
    return out->first ? SYN_OK : syn_budget_refusal(budget);
}

void syn_peaks_free(syn_peaks *peaks)
{
    if (!peaks->budget)
        return;
    syn_budget_free(peaks->budget, peaks->first);
    syn_budget_free(peaks->budget, peaks->peak);
    memset(peaks, 0, sizeof *peaks);
}

syn_status syn_peaks_add(syn_peaks *peaks, size_t p, const syn_peak *peak, size_t n)
{
    size_t at = peaks->first[p];
    if (n > 0) {
        syn_peak *more = syn_budget_grow(peaks->budget, peaks->peak, &peaks->room, at + n,
                                         sizeof *more);
        if (!more)
            return syn_budget_refusal(peaks->budget);
        peaks->peak = more;
        memcpy(more + at, peak, n * sizeof *more);
    }
    peaks->first[p + 1] = at + n;
    return SYN_OK;
}
