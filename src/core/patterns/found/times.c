#include "core/patterns/found/times.h"

#include <stdlib.h>
#include <string.h>

enum { POLL_EVERY = 1 << 20 };  /* looks at bins: a few milliseconds of work */

static uint32_t bins_of(const syn_raster *r, uint32_t unit)
{
    return unit == UINT32_MAX ? 0 : r->unit_first[unit + 1] - r->unit_first[unit];
}

/* Copies of the windows `from` those in which `unit` fires at `lag`; returns how many. */
static uint32_t narrow(const syn_raster *r, const uint32_t *from, uint32_t n,
                       uint32_t unit, uint32_t lag, uint32_t *to)
{
    uint32_t fired = bins_of(r, unit), at = 0, kept = 0;
    const uint32_t *of_unit = fired > 0 ? r->unit_bin + r->unit_first[unit] : NULL;
    for (uint32_t i = 0; i < n; i++) {
        int64_t number = r->number[from[i]] + lag;
        at = syn_raster_seek(r, of_unit, at, fired, number);
        if (at == fired)
            break;
        if (r->number[of_unit[at]] == number)
            to[kept++] = from[i];
    }
    return kept;
}

/* The windows of one pattern's first item, of its first two, and so on: the next pattern
   often begins with the same items. */
typedef struct trail {
    const uint32_t *unit, *lag;  /* the items */
    uint32_t depth;              /* how many of them */
    uint32_t *bin;
    size_t room;
    size_t *begin;               /* [depth + 1] where windows begin in `bin` */
} trail;

static syn_status trail_make(trail *t, const syn_pattern_list *patterns)
{
    uint32_t most = 0;
    for (size_t p = 0; p < patterns->n; p++)
        most = patterns->size[p] > most ? patterns->size[p] : most;
    memset(t, 0, sizeof *t);
    t->begin = calloc((size_t)most + 1, sizeof *t->begin);
    return t->begin ? SYN_OK : SYN_NO_MEMORY;
}

static void trail_free(trail *t)
{
    free(t->bin);
    free(t->begin);
}

static int make_room(uint32_t **bin, size_t *room, size_t needed)
{
    if (needed <= *room)
        return 1;
    uint32_t *more = realloc(*bin, (needed + needed / 2) * sizeof **bin);
    if (!more)
        return 0;
    *bin = more;
    *room = needed + needed / 2;
    return 1;
}

/* Leads the trail on to the item at place `depth`. Adds what that took to `*work`. */
static syn_status trail_step(trail *t, const syn_raster *r, size_t *work)
{
    uint32_t k = t->depth, unit = t->unit[k];
    size_t end = t->begin[k];
    uint32_t n = k == 0 ? bins_of(r, unit) : (uint32_t)(end - t->begin[k - 1]);
    if (!make_room(&t->bin, &t->room, end + n))
        return SYN_NO_MEMORY;
    uint32_t *to = t->bin + end;
    *work += n + 1;
    if (k > 0)
        n = narrow(r, t->bin + t->begin[k - 1], n, unit, t->lag[k], to);
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
    syn_status status = SYN_OK;
    while (t->depth < size && status == SYN_OK)
        status = trail_step(t, r, work);
    return status;
}

static syn_status keep_windows(const trail *t, size_t most, syn_pattern_windows *out,
                               uint32_t *count)
{
    size_t begin = t->begin[t->depth - 1], n = t->begin[t->depth] - begin;
    if (n > most - out->n)
        return SYN_TOO_LARGE;
    if (!make_room(&out->bin, &out->room, out->n + n))
        return SYN_NO_MEMORY;
    if (n > 0)
        memcpy(out->bin + out->n, t->bin + begin, n * sizeof *out->bin);
    out->n += n;
    *count = (uint32_t)n;
    return SYN_OK;
}

syn_status syn_find_windows(const syn_raster *raster, const syn_pattern_list *patterns,
                            size_t most, const syn_watch *watch,
                            syn_pattern_windows *out)
{
    trail t;
    memset(out, 0, sizeof *out);
    syn_status status = trail_make(&t, patterns);
    out->count = malloc((patterns->n + 1) * sizeof *out->count);
    if (!out->count)
        status = SYN_NO_MEMORY;
    const uint32_t *unit = patterns->unit, *lag = patterns->lag;
    size_t work = POLL_EVERY;
    for (size_t p = 0; p < patterns->n && status == SYN_OK; p++) {
        uint32_t size = patterns->size[p];
        if (work >= POLL_EVERY) {
            work = 0;
            status = syn_poll(watch, "patterns", (double)p, (double)patterns->n);
        }
        if (status == SYN_OK)
            status = trail_follow(&t, raster, unit, lag, size, &work);
        if (status == SYN_OK)
            status = keep_windows(&t, most, out, &out->count[p]);
        work += status == SYN_OK ? out->count[p] : 0;
        unit += size;
        lag += size;
    }
    trail_free(&t);
    return status;
}

void syn_pattern_windows_free(syn_pattern_windows *windows)
{
    free(windows->bin);
    free(windows->count);
    memset(windows, 0, sizeof *windows);
}
