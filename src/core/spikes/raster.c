/* Bins spike trains. Events come sorted by tick, so that bins are filled one after the
   other; a bin that ends empty is not kept. A counting sort then lists the bins of each
   unit. */
#include "core/spikes/raster.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/masks.h"
#include "core/base/order.h"

enum {
    TOO_FAR = 62,  /* bin numbers stay below 2^62 */
    WORDS_FOR_UNIT = 16  /* of marks, that are looked at in the time a unit is sorted */
};

syn_status syn_raster_allocate(syn_raster *r, size_t n, uint32_t units, int timed,
                               syn_budget *budget)
{
    size_t each = 3 * sizeof(uint32_t) + (timed ? 2 : 1) * sizeof(int64_t);
    *r = (syn_raster){.units = units};
    size_t bytes = (n + 1) * each + ((size_t)units + 2) * sizeof(uint32_t) +
                   ((size_t)units / 64 + 1) * sizeof(uint64_t);
    if (budget && !syn_budget_take(budget, bytes))
        return SYN_OVER_BUDGET;
    r->budget = budget;
    r->held = bytes;
    SYN_ARRAY(&r->memory, r->number, n + 1);
    SYN_ARRAY(&r->memory, r->first, n + 1);
    SYN_ARRAY(&r->memory, r->unit, n + 1);
    SYN_ARRAY(&r->memory, r->unit_bin, n + 1);
    SYN_ARRAY(&r->memory, r->unit_first, (size_t)units + 2);
    SYN_ARRAY(&r->memory, r->mark, (size_t)units / 64 + 1);
    if (timed)
        SYN_ARRAY(&r->memory, r->opens, n + 1);
    return SYN_OK;
}

/* Units in order, each once, by a bit for each unit there is; how many. */
static uint32_t sort_by_marks(uint64_t *mark, uint32_t units, uint32_t *unit, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        mark[unit[i] / 64] |= (uint64_t)1 << unit[i] % 64;
    for (uint32_t w = 0; w <= units / 64; w++) {
        for (uint64_t left = mark[w]; left; left &= left - 1)
            unit[kept++] = w * 64 + syn_low_bit(left);
        mark[w] = 0;
    }
    return kept;
}

/* The same by comparing them. */
static uint32_t sort_units(uint32_t *unit, uint32_t n)
{
    uint32_t kept = 0;
    qsort(unit, n, sizeof *unit, syn_by_number);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || unit[i] != unit[i - 1])
            unit[kept++] = unit[i];
    return kept;
}

/* Sorts the units of the last bin and drops repeats; a bin without any is not kept. */
static void close_bin(syn_raster *r, uint32_t bin)
{
    uint32_t *unit = r->unit + r->first[bin], n = r->events - r->first[bin];
    int many = n > r->units / WORDS_FOR_UNIT / 64;
    uint32_t kept = n < 2 ? n : many ? sort_by_marks(r->mark, r->units, unit, n)
                                     : sort_units(unit, n);
    r->events = r->first[bin] + kept;
    r->bins = kept > 0 ? bin + 1 : bin;
}

static void open_bin(syn_raster *r, int64_t number)
{
    r->number[r->bins] = number;
    r->first[r->bins] = r->events;
}

/* By a counting sort. */
void syn_raster_index(syn_raster *r)
{
    r->first[r->bins] = r->events;
    memset(r->unit_first, 0, ((size_t)r->units + 2) * sizeof *r->unit_first);
    for (uint32_t e = 0; e < r->events; e++)
        r->unit_first[r->unit[e] + 2]++;
    for (uint32_t u = 0; u < r->units; u++)
        r->unit_first[u + 2] += r->unit_first[u + 1];
    for (uint32_t b = 0; b < r->bins; b++)
        for (uint32_t e = r->first[b]; e < r->first[b + 1]; e++)
            r->unit_bin[r->unit_first[r->unit[e] + 1]++] = b;
}

syn_status syn_raster_bin(syn_raster *out, const syn_spikes *spikes, int64_t width,
                          int64_t window, syn_budget *budget, const syn_watch *watch)
{
    memset(out, 0, sizeof *out);
    if (spikes->n >= INT32_MAX)
        return SYN_TOO_LARGE;
    SYN_TRY(syn_raster_allocate(out, spikes->n, spikes->units, 1, budget));
    const int64_t limit = (int64_t)1 << TOO_FAR;
    int64_t shift = 0, last = -window;  /* the number of the bin being filled */
    int now = 0;                        /* its trial */
    for (size_t i = 0; i < spikes->n; i++) {
        if (syn_spikes_poll(watch, i, spikes->n) != SYN_OK)
            return SYN_INTERRUPTED;
        int trial = spikes->trial ? spikes->trial[i] : 1;
        if (trial < 1)
            continue;
        if (trial != now) {
            if (last > limit - window)
                return SYN_TOO_LARGE;
            shift = last + window;
        }
        int64_t start = (int64_t)spikes->start[trial - 1];
        int64_t bin = ((int64_t)spikes->tick[i] - start) / width;
        if (bin > limit - shift)
            return SYN_TOO_LARGE;
        if (now == 0 || bin + shift != last) {
            if (now > 0)
                close_bin(out, out->bins);
            open_bin(out, bin + shift);
            out->opens[out->bins] = start + bin * width;
            last = bin + shift;
        }
        now = trial;
        out->unit[out->events++] = (uint32_t)(spikes->unit[i] - 1);
    }
    if (now > 0)
        close_bin(out, out->bins);
    syn_raster_index(out);
    return SYN_OK;
}

syn_status syn_raster_sets(syn_raster *out, size_t n, const size_t *first,
                           const uint32_t *item, uint32_t items, syn_budget *budget)
{
    memset(out, 0, sizeof *out);
    if (n > 0 && first[n] - first[0] >= INT32_MAX)
        return SYN_TOO_LARGE;
    size_t events = n > 0 ? first[n] - first[0] : 0;
    SYN_TRY(syn_raster_allocate(out, events, items, 0, budget));
    for (size_t s = 0; s < n; s++) {
        if (first[s] == first[s + 1])
            continue;
        open_bin(out, (int64_t)s);
        for (size_t i = first[s]; i < first[s + 1]; i++)
            out->unit[out->events++] = item[i];
        close_bin(out, out->bins);
    }
    syn_raster_index(out);
    return SYN_OK;
}

void syn_raster_free(syn_raster *r)
{
    syn_give_back(&r->memory);
    if (r->budget)
        syn_budget_give(r->budget, r->held);
    memset(r, 0, sizeof *r);
}
