/* Finds the windows that hold given patterns. The windows of the first item are cut
   down item by item. The lists on the way are kept, so that the next pattern begins
   where it parts with the one before. */
#include "core/patterns/found/times.h"

#include <string.h>

#include "core/patterns/windows.h"

enum { POLL_EVERY = 1 << 20 };  /* looks at bins: a few milliseconds of work */

/* The windows of one pattern's first item, of its first two, and so on: the next pattern
   often begins with the same items. */
typedef struct trail {
    const uint32_t *unit, *lag;  /* the items */
    uint32_t depth;              /* how many of them */
    uint32_t *bin;
    size_t room;
    size_t *begin;               /* [depth + 1] where windows begin in `bin` */
    syn_budget *budget;
} trail;

static syn_status make_room(trail *t, const syn_pattern_list *patterns,
                            syn_pattern_windows *out)
{
    uint32_t most = 0;
    for (size_t p = 0; p < patterns->n; p++)
        most = patterns->size[p] > most ? patterns->size[p] : most;
    SYN_TAKE(out->budget, out->count, patterns->n + 1);
    SYN_TAKE_ZEROS(t->budget, t->begin, (size_t)most + 1);
    return SYN_OK;
}

/* Leads the trail on to the item at place `depth`. Adds what that took to `*work`. */
static syn_status trail_step(trail *t, const syn_raster *r, size_t *work)
{
    uint32_t k = t->depth, unit = t->unit[k];
    size_t end = t->begin[k];
    uint32_t n = k == 0 ? syn_bins_of(r, unit) : (uint32_t)(end - t->begin[k - 1]);
    SYN_GROW(t->budget, t->bin, t->room, end + n);
    uint32_t *to = t->bin + end;
    *work += n + 1;
    if (k > 0)
        n = syn_windows_with(r, t->bin + t->begin[k - 1], n, unit, t->lag[k], to);
    else if (n > 0)
        memcpy(to, r->unit_bin + r->unit_first[unit], n * sizeof *to);
    t->begin[k + 1] = end + n;
    t->depth = k + 1;
    return SYN_OK;
}

/* Leads the trail to the end of a pattern from where it parts with the one before. */
static syn_status trail_follow(trail *t, const syn_raster *r, const uint32_t *unit,
                               const uint32_t *lag, uint32_t size, size_t *work)
{
    uint32_t same = 0;
    while (same < size && same < t->depth && unit[same] == t->unit[same] &&
           lag[same] == t->lag[same])
        same++;
    t->unit = unit;
    t->lag = lag;
    t->depth = same;
    while (t->depth < size)
        SYN_TRY(trail_step(t, r, work));
    return SYN_OK;
}

static syn_status keep_windows(const trail *t, size_t most, syn_pattern_windows *out,
                               uint32_t *count)
{
    size_t begin = t->begin[t->depth - 1], n = t->begin[t->depth] - begin;
    if (n > most - out->n)
        return SYN_TOO_LARGE;
    SYN_GROW(out->budget, out->bin, out->room, out->n + n);
    if (n > 0)
        memcpy(out->bin + out->n, t->bin + begin, n * sizeof *out->bin);
    out->n += n;
    *count = (uint32_t)n;
    return SYN_OK;
}

syn_status syn_find_windows(const syn_raster *raster, const syn_pattern_list *patterns,
                            size_t most, syn_budget *budget, const syn_watch *watch,
                            syn_pattern_windows *out)
{
    trail t = {.budget = budget};
    *out = (syn_pattern_windows){.budget = budget};
    syn_status status = make_room(&t, patterns, out);
    const uint32_t *unit = patterns->unit, *lag = patterns->lag;
    size_t work = POLL_EVERY;
    for (size_t p = 0; p < patterns->n && status == SYN_OK; p++) {
        uint32_t size = patterns->size[p];
        if (work >= POLL_EVERY) {
            work = 0;
            status = syn_poll(watch, "patterns", (double)p, (double)patterns->n);
        }
        SYN_NEXT(status, trail_follow(&t, raster, unit, lag, size, &work));
        SYN_NEXT(status, keep_windows(&t, most, out, &out->count[p]));
        work += status == SYN_OK ? out->count[p] : 0;
        unit += size;
        lag += size;
    }
    SYN_GIVE(t.budget, t.bin, t.begin);
    return status;
}

void syn_pattern_windows_free(syn_pattern_windows *windows)
{
    SYN_GIVE(windows->budget, windows->bin, windows->count);
    memset(windows, 0, sizeof *windows);
}
