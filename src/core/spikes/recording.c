/* Makes a recording ready for mining. One pass over the sorted events numbers them,
   merges repeats and moves trials apart; the next drops rare units; a counting sort then
   lists the events of each unit. */
#include "core/spikes/recording.h"

#include <stdlib.h>
#include <string.h>

/* ---- events in time order ---- */

static syn_status allocate(syn_recording *r, size_t n, uint32_t units, int sources)
{
    r->tick = malloc((n + 1) * sizeof *r->tick);
    r->unit = malloc((n + 1) * sizeof *r->unit);
    r->first = calloc((size_t)units + 1, sizeof *r->first);
    if (sources)
        r->source = malloc((n + 1) * sizeof *r->source);
    int room = r->tick && r->unit && r->first && (r->source || !sources);
    return room ? SYN_OK : SYN_NO_MEMORY;
}

/* All events that are not left out, and in `first` how many the unit before has. Whether
   their ticks can be numbered. */
static int read_events(syn_recording *out, size_t n, const double *tick, const int *unit,
                       const int *trial, int first, int64_t reach)
{
    uint32_t *unit_of = out->unit, *source = out->source, *count = out->first + 1, e = 0;
    int64_t *tick_of = out->tick, shift = 0, before = 0;
    uint32_t unit_before = UINT32_MAX;
    int last_trial = first - 1;
    for (size_t i = 0; i < n; i++) {
        if (unit[i] < first || (trial && trial[i] < first))
            continue;
        uint32_t u = (uint32_t)(unit[i] - first);
        int64_t t = (int64_t)tick[i] + shift;
        if (trial && trial[i] != last_trial) {
            if (e > 0) {
                if (before > INT64_MAX / 4)
                    return 0;
                int64_t apart = before + reach + 1;
                shift += t < apart ? apart - t : 0;
                t = (int64_t)tick[i] + shift;
            }
            last_trial = trial[i];
        }
        /* The next one overwrites a repeat: a branch would often be a surprise. */
        uint32_t other = (t != before) | (u != unit_before);
        before = tick_of[e] = t;
        unit_before = unit_of[e] = u;
        if (source)
            source[e] = (uint32_t)i;
        count[u] += other;
        e += other;
    }
    out->events = e;
    return 1;
}

/* Removes the events of units that have fewer than `min_count`. */
static void drop_rare(syn_recording *r, uint32_t min_count)
{
    uint32_t *count = r->first + 1, *unit = r->unit, *source = r->source;
    uint32_t n = r->events, kept = 0;
    int64_t *tick = r->tick;
    int rare = 0;
    for (uint32_t u = 0; u < r->units; u++)
        rare |= count[u] > 0 && count[u] < min_count;
    if (!rare)
        return;
    for (uint32_t i = 0; i < n; i++) {
        tick[kept] = tick[i];
        unit[kept] = unit[i];
        if (source)
            source[kept] = source[i];
        kept += count[unit[i]] >= min_count;
    }
    r->events = kept;
    for (uint32_t u = 0; u < r->units; u++)
        count[u] = count[u] < min_count ? 0 : count[u];
}

static syn_status read_recording(syn_recording *out, size_t n, const double *tick,
                                 const int *unit, const int *trial, int first,
                                 uint32_t units, uint32_t min_count, int64_t reach,
                                 int sources)
{
    memset(out, 0, sizeof *out);
    if (n >= INT32_MAX)
        return SYN_TOO_LARGE;
    out->units = units;
    if (allocate(out, n, units, sources) != SYN_OK)
        return SYN_NO_MEMORY;
    if (!read_events(out, n, tick, unit, trial, first, reach))
        return SYN_TOO_LARGE;
    drop_rare(out, min_count);
    for (uint32_t u = 0; u < units; u++)
        out->first[u + 1] += out->first[u];
    return SYN_OK;
}

syn_status syn_recording_read(syn_recording *out, size_t n, const double *tick,
                              const int *unit, const int *trial, int first,
                              uint32_t units, uint32_t min_count, int64_t reach)
{
    return read_recording(out, n, tick, unit, trial, first, units, min_count, reach, 0);
}

/* ---- events by tick and by unit ---- */

/* A stable counting sort: `next` is where the next event of each unit goes. */
static void sort_events(syn_recording *r, uint32_t *next)
{
    const uint32_t *unit = r->unit;
    const int64_t *tick = r->tick;
    uint32_t *group = r->group, *row = r->row, *by_unit = r->by_unit;
    uint32_t n = r->events, first = 0;
    int64_t before = n > 0 ? tick[0] : 0;
    for (uint32_t i = 0; i < n; i++) {
        first = tick[i] == before ? first : i;
        before = tick[i];
        group[i] = first;
        row[i] = next[unit[i]]++;
        by_unit[row[i]] = i;
    }
}

syn_status syn_recording_arrange(syn_recording *r)
{
    size_t n = (size_t)r->events + 1, units = (size_t)r->units + 1;
    uint32_t *next = malloc(units * sizeof *next);
    r->group = malloc(n * sizeof *r->group);
    r->by_unit = malloc(n * sizeof *r->by_unit);
    r->row = malloc(n * sizeof *r->row);
    int room = next && r->group && r->by_unit && r->row;
    if (room) {
        memcpy(next, r->first, units * sizeof *next);
        sort_events(r, next);
    }
    free(next);
    return room ? SYN_OK : SYN_NO_MEMORY;
}

/* ---- all of it ---- */

syn_status syn_recording_make(syn_recording *out, size_t n, const double *tick,
                              const int *unit, const int *trial, int first,
                              uint32_t units, uint32_t min_count, int64_t reach)
{
    syn_status status = read_recording(out, n, tick, unit, trial, first, units, min_count,
                                       reach, 1);
    return status == SYN_OK ? syn_recording_arrange(out) : status;
}

void syn_recording_free(syn_recording *r)
{
    free(r->tick);
    free(r->unit);
    free(r->group);
    free(r->source);
    free(r->first);
    free(r->by_unit);
    free(r->row);
    memset(r, 0, sizeof *r);
}
