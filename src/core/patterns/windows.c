/* Reads the items of windows from a raster. A tally counts how often each item occurs
   in a list of windows, and notes which items it has counted, so that clearing costs
   no more than counting. */
#include "core/patterns/windows.h"

#include <string.h>

uint32_t syn_windows_with(const syn_raster *r, const uint32_t *from, uint32_t n,
                          uint32_t unit, uint32_t lag, uint32_t *to)
{
    uint32_t fired = syn_bins_of(r, unit), at = 0, kept = 0;
    const uint32_t *bin = fired > 0 ? r->unit_bin + r->unit_first[unit] : NULL;
    for (uint32_t i = 0; i < n; i++) {
        int64_t number = r->number[from[i]] + lag;
        at = syn_raster_seek(r, bin, at, fired, number);
        if (at == fired)
            break;
        if (r->number[bin[at]] == number)
            to[kept++] = from[i];
    }
    return kept;
}

syn_status syn_bin_windows_measure(syn_bin_windows *out, const syn_raster *r,
                                   uint32_t window, syn_budget *budget)
{
    out->end = NULL;
    out->budget = budget;
    if ((uint64_t)r->units * window > INT32_MAX)
        return SYN_TOO_LARGE;
    out->raster = r;
    out->items = r->units * window;
    out->longest = 0;
    SYN_TAKE(budget, out->end, (size_t)r->bins + 1);
    for (uint32_t b = 0, end = 0; b < r->bins; b++) {
        end = syn_raster_window_end(r, b, window, end);
        out->end[b] = end;
        uint32_t items = r->first[end] - r->first[b];
        if (items > out->longest)
            out->longest = items;
    }
    return SYN_OK;
}

void syn_bin_windows_free(syn_bin_windows *windows)
{
    if (windows->budget)
        syn_budget_free(windows->budget, windows->end);
    windows->end = NULL;
}

uint32_t syn_bin_windows_read(const syn_bin_windows *windows, uint32_t bin,
                              uint32_t *item)
{
    const syn_raster *r = windows->raster;
    uint32_t n = 0;
    for (uint32_t b = bin; b < windows->end[bin]; b++) {
        uint32_t from = (uint32_t)(r->number[b] - r->number[bin]) * r->units;
        for (uint32_t i = r->first[b]; i < r->first[b + 1]; i++)
            item[n++] = from + r->unit[i];
    }
    return n;
}

syn_status syn_tally_start(syn_tally *out, const syn_bin_windows *windows)
{
    syn_budget *b = windows->budget;
    size_t items = windows->items;
    out->budget = b;
    SYN_TAKE_ZEROS(b, out->count, items + 1);
    SYN_TAKE(b, out->touched, items + 1);
    SYN_TAKE(b, out->item, (size_t)windows->longest + 1);
    SYN_TAKE(b, out->bin, (size_t)windows->raster->bins + 1);
    return SYN_OK;
}

void syn_tally_free(syn_tally *tally)
{
    if (tally->budget) {
        SYN_GIVE(tally->budget, tally->count, tally->touched, tally->item, tally->bin);
    }
    memset(tally, 0, sizeof *tally);
}

uint32_t syn_bin_windows_tally(const syn_bin_windows *windows, syn_tally *tally,
                               const uint32_t *bin, uint32_t n)
{
    uint32_t touched = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t items = syn_bin_windows_read(windows, bin[i], tally->item);
        for (uint32_t k = 0; k < items; k++)
            if (tally->count[tally->item[k]]++ == 0)
                tally->touched[touched++] = tally->item[k];
    }
    return touched;
}

int syn_bin_windows_superset(const syn_bin_windows *windows, syn_tally *tally,
                             const uint32_t *item, uint32_t size, uint32_t least)
{
    const syn_raster *r = windows->raster;
    uint32_t n = syn_bins_of(r, item[0]), left = 0;
    memcpy(tally->bin, r->unit_bin + r->unit_first[item[0]], n * sizeof *tally->bin);
    for (uint32_t k = 1; k < size; k++)
        n = syn_windows_with(r, tally->bin, n, item[k] % r->units, item[k] / r->units,
                             tally->bin);
    /* Of the items met, those stay that may still be in enough windows: in the end these
       are the set's own and the ones looked for. */
    for (uint32_t i = 0; i < n && (n - i >= least || left > size); i++) {
        uint32_t items = syn_bin_windows_read(windows, tally->bin[i], tally->item);
        uint32_t seen = left;
        left = 0;
        for (uint32_t k = 0; k < items; k++) {
            uint32_t now = tally->item[k];
            if (tally->count[now] == 0 && n - i >= least)
                tally->touched[seen++] = now;
            tally->count[now] += tally->count[now] > 0 || n - i >= least;
        }
        for (uint32_t k = 0; k < seen; k++) {
            uint32_t *count = tally->count + tally->touched[k];
            if (*count + (n - 1 - i) >= least)
                tally->touched[left++] = tally->touched[k];
            else
                *count = 0;
        }
    }
    for (uint32_t k = 0; k < left; k++)
        tally->count[tally->touched[k]] = 0;
    return left > size;
}
