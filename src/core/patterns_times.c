#include "core/patterns_times.h"

#include <stdlib.h>
#include <string.h>

enum { POLL_EVERY = 1 << 20 };  /* looks at bins: a few milliseconds of work */

static uint32_t bins_of(const syn_raster *r, uint32_t unit)
{
    return unit == UINT32_MAX ? 0 : r->unit_first[unit + 1] - r->unit_first[unit];
}

/* The item at lag 0 whose unit fires in the fewest bins. */
static uint32_t root_of(const syn_raster *r, const uint32_t *unit, const uint32_t *lag,
                        uint32_t size)
{
    uint32_t root = 0;
    int found = 0;
    for (uint32_t k = 0; k < size; k++) {
        if (lag[k] == 0 && (!found || bins_of(r, unit[k]) < bins_of(r, unit[root])))
            root = k;
        found |= lag[k] == 0;
    }
    return root;
}

/* The first of bin[from] .. bin[n - 1] whose number is `number` or more, looked for in
   steps that double: the next one wanted is most often near. */
static uint32_t seek(const syn_raster *r, const uint32_t *bin, uint32_t from, uint32_t n,
                     int64_t number)
{
    uint32_t low = from, step = 1;
    while (low < n && n - low > step && r->number[bin[low + step]] < number) {
        low += step;
        step *= 2;
    }
    uint32_t high = n - low > step ? low + step : n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->number[bin[middle]] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Keeps of the windows bin[n] those in which `unit` fires at `lag`. */
static uint32_t narrow(const syn_raster *r, uint32_t *bin, uint32_t n, uint32_t unit,
                       uint32_t lag)
{
    uint32_t fired = bins_of(r, unit), at = 0, kept = 0;
    const uint32_t *of_unit = fired > 0 ? r->unit_bin + r->unit_first[unit] : NULL;
    for (uint32_t i = 0; i < n; i++) {
        int64_t number = r->number[bin[i]] + lag;
        at = seek(r, of_unit, at, fired, number);
        if (at == fired)
            break;
        if (r->number[of_unit[at]] == number)
            bin[kept++] = bin[i];
    }
    return kept;
}

static syn_status make_room(syn_pattern_windows *out, size_t more)
{
    if (more <= out->room - out->n)
        return SYN_OK;
    size_t room = out->n + more + out->room / 2;
    uint32_t *bin = realloc(out->bin, room * sizeof *bin);
    if (!bin)
        return SYN_NO_MEMORY;
    out->bin = bin;
    out->room = room;
    return SYN_OK;
}

/* Windows of one pattern go behind those found so far, where the bins of its root are
   narrowed down. Adds what that took to `*work`. */
static syn_status find_one(const syn_raster *r, const uint32_t *unit,
                           const uint32_t *lag, uint32_t size, syn_pattern_windows *out,
                           uint32_t *count, size_t *work)
{
    uint32_t root = root_of(r, unit, lag, size);
    uint32_t n = bins_of(r, unit[root]);
    if (make_room(out, n) != SYN_OK)
        return SYN_NO_MEMORY;
    uint32_t *bin = out->bin + out->n;
    if (n > 0)
        memcpy(bin, r->unit_bin + r->unit_first[unit[root]], n * sizeof *bin);
    *work += n + 1;
    for (uint32_t k = 0; k < size && n > 0; k++) {
        if (k == root)
            continue;
        *work += n;
        n = narrow(r, bin, n, unit[k], lag[k]);
    }
    *count = n;
    out->n += n;
    return SYN_OK;
}

syn_status syn_find_windows(const syn_raster *raster, const syn_pattern_list *patterns,
                            size_t most, const syn_watch *watch,
                            syn_pattern_windows *out)
{
    memset(out, 0, sizeof *out);
    out->count = malloc((patterns->n + 1) * sizeof *out->count);
    syn_status status = out->count ? SYN_OK : SYN_NO_MEMORY;
    const uint32_t *unit = patterns->unit, *lag = patterns->lag;
    size_t work = POLL_EVERY;
    for (size_t p = 0; p < patterns->n && status == SYN_OK; p++) {
        uint32_t size = patterns->size[p];
        if (work >= POLL_EVERY) {
            work = 0;
            status = syn_poll(watch, "patterns", (double)p, (double)patterns->n);
        }
        if (status == SYN_OK)
            status = find_one(raster, unit, lag, size, out, &out->count[p], &work);
        if (out->n > most)
            status = SYN_TOO_LARGE;
        unit += size;
        lag += size;
    }
    return status;
}

void syn_pattern_windows_free(syn_pattern_windows *windows)
{
    free(windows->bin);
    free(windows->count);
    memset(windows, 0, sizeof *windows);
}
