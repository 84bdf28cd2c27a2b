/* Lists of peaks that grow pair by pair. */
#include "core/assemblies/peaks.h"

#include <string.h>

syn_status syn_peaks_make(syn_peaks *out, uint32_t units, syn_budget *budget)
{
    *out = (syn_peaks){.units = units, .budget = budget};
    SYN_TAKE_ZEROS(budget, out->first, syn_pair_count(units) + 1);
    return SYN_OK;
}

void syn_peaks_free(syn_peaks *peaks)
{
    SYN_GIVE(peaks->budget, peaks->first, peaks->peak);
    memset(peaks, 0, sizeof *peaks);
}

syn_status syn_peaks_add(syn_peaks *peaks, size_t p, const syn_peak *peak, size_t n)
{
    size_t at = peaks->first[p];
    if (n > 0) {
        SYN_GROW(peaks->budget, peaks->peak, peaks->room, at + n);
        memcpy(peaks->peak + at, peak, n * sizeof *peak);
    }
    peaks->first[p + 1] = at + n;
    return SYN_OK;
}
