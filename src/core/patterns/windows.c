#include "core/patterns/windows.h"

#include <string.h>

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
    out->end = syn_budget_alloc(budget, (size_t)r->bins + 1, sizeof *out->end);
    if (!out->end)
        return syn_budget_refusal(budget);
    for (uint32_t b = 0; b < r->bins; b++) {
        out->end[b] = syn_raster_window_end(r, b, window);
        uint32_t items = r->first[out->end[b]] - r->first[b];
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
    out->count = syn_budget_zeros(b, items + 1, sizeof *out->count);
    out->touched = syn_budget_alloc(b, items + 1, sizeof *out->touched);
    out->item = syn_budget_alloc(b, (size_t)windows->longest + 1, sizeof *out->item);
    out->bin = syn_budget_alloc(b, (size_t)windows->raster->bins + 1, sizeof *out->bin);
    if (!out->count || !out->touched || !out->item || !out->bin)
        return syn_budget_refusal(b);
    return SYN_OK;
}

void syn_tally_free(syn_tally *tally)
{
    if (tally->budget) {
        syn_budget_free(tally->budget, tally->count);
        syn_budget_free(tally->budget, tally->touched);
        syn_budget_free(tally->budget, tally->item);
        syn_budget_free(tally->budget, tally->bin);
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

/* The first place from `at` on among a unit's bins, which end before `end`, whose number
   is at least `number`; mostly it is near. */
static uint32_t seek(const syn_raster *r, uint32_t at, uint32_t end, int64_t number)
{
    uint32_t reach = 1;
    while (end - at > reach && r->number[r->unit_bin[at + reach]] < number) {
        at += reach;
        reach *= 2;
    }
    uint32_t high = end - at > reach ? at + reach : end;
    while (at < high) {
        uint32_t middle = at + (high - at) / 2;
        if (r->number[r->unit_bin[middle]] < number)
            at = middle + 1;
        else
            high = middle;
    }
    return at;
}

/* Cuts a list of `n` windows down to those with `item`; returns their number. */
static uint32_t keep_windows(const syn_raster *r, uint32_t item, uint32_t *bin,
                             uint32_t n)
{
    uint32_t unit = item % r->units, lag = item / r->units, kept = 0;
    uint32_t at = r->unit_first[unit], end = r->unit_first[unit + 1];
    for (uint32_t i = 0; i < n && at < end; i++) {
        int64_t number = r->number[bin[i]] + lag;
        at = seek(r, at, end, number);
        if (at < end && r->number[r->unit_bin[at]] == number)
            bin[kept++] = bin[i];
    }
    return kept;
}

/* `item` is increasing. */
static int is_among(const uint32_t *item, uint32_t size, uint32_t one)
{
    uint32_t low = 0, high = size;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (item[middle] < one)
            low = middle + 1;
        else
            high = middle;
    }
    return low < size && item[low] == one;
}

int syn_bin_windows_superset(const syn_bin_windows *windows, syn_tally *tally,
                             const uint32_t *item, uint32_t size, uint32_t least)
{
    const syn_raster *r = windows->raster;
    uint32_t from = r->unit_first[item[0]], n = r->unit_first[item[0] + 1] - from;
    memcpy(tally->bin, r->unit_bin + from, n * sizeof *tally->bin);
    for (uint32_t k = 1; k < size; k++)
        n = keep_windows(r, item[k], tally->bin, n);
    uint32_t touched = 0;
    int found = 0;
    for (uint32_t i = 0; i < n && !found; i++) {
        uint32_t items = syn_bin_windows_read(windows, tally->bin[i], tally->item);
        for (uint32_t k = 0; k < items && !found; k++) {
            uint32_t now = tally->item[k], count = ++tally->count[now];
            if (count == 1)
                tally->touched[touched++] = now;
            found = count == least && !is_among(item, size, now);
        }
    }
    while (touched > 0)
        tally->count[tally->touched[--touched]] = 0;
    return found;
}
