/* Makes a recording ready for mining. One pass over the sorted spikes numbers the events
   and moves trials apart; the next drops rare units; a counting sort then lists the
   events of each unit. */
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

/* The spikes inside trials, one trial after the other, and in `first` how many the unit
   before has. */
static syn_status read_events(syn_recording *out, const syn_spikes *spikes, int64_t reach,
                              const syn_watch *watch)
{
    uint32_t *unit_of = out->unit, *source = out->source, *count = out->first + 1, e = 0;
    int64_t *tick_of = out->tick, shift = 0, t = 0;
    const double *tick = spikes->tick;
    const int *unit = spikes->unit, *trial = spikes->trial;
    int last_trial = 0;
    for (size_t i = 0; i < spikes->n; i++) {
        if (syn_spikes_poll(watch, i, spikes->n) != SYN_OK)
            return SYN_INTERRUPTED;
        int now = trial ? trial[i] : 1;
        if (now < 1)
            continue;
        if (now != last_trial && e > 0) {
            if (t > INT64_MAX / 4)
                return SYN_TOO_LARGE;
            int64_t apart = t + reach + 1 - ((int64_t)tick[i] + shift);
            shift += apart > 0 ? apart : 0;
        }
        last_trial = now;
        t = tick_of[e] = (int64_t)tick[i] + shift;
        unit_of[e] = (uint32_t)(unit[i] - 1);
        count[unit_of[e]]++;
        if (source)
            source[e] = (uint32_t)i;
        e++;
    }
    out->events = e;
    return SYN_OK;
}

/* Removes the events of units that have fewer than `min_count`. */
static syn_status drop_rare(syn_recording *r, uint32_t min_count, const syn_watch *watch)
{
    uint32_t *count = r->first + 1, *unit = r->unit, *source = r->source;
    uint32_t n = r->events, kept = 0;
    int64_t *tick = r->tick;
    int rare = 0;
    for (uint32_t u = 0; u < r->units; u++)
        rare |= count[u] > 0 && count[u] < min_count;
    if (!rare)
        return SYN_OK;
    for (uint32_t i = 0; i < n; i++) {
        if (syn_spikes_poll(watch, i, n) != SYN_OK)
            return SYN_INTERRUPTED;
        tick[kept] = tick[i];
        unit[kept] = unit[i];
        if (source)
            source[kept] = source[i];
        kept += count[unit[i]] >= min_count;
    }
    r->events = kept;
    for (uint32_t u = 0; u < r->units; u++)
        count[u] = count[u] < min_count ? 0 : count[u];
    return SYN_OK;
}

static syn_status read_recording(syn_recording *out, const syn_spikes *spikes,
                                 uint32_t min_count, int64_t reach, int sources,
                                 const syn_watch *watch)
{
    memset(out, 0, sizeof *out);
    if (spikes->n >= INT32_MAX)
        return SYN_TOO_LARGE;
    out->units = spikes->units;
    syn_status status = allocate(out, spikes->n, spikes->units, sources);
    if (status == SYN_OK)
        status = read_events(out, spikes, reach, watch);
    if (status == SYN_OK)
        status = drop_rare(out, min_count, watch);
    for (uint32_t u = 0; status == SYN_OK && u < out->units; u++)
        out->first[u + 1] += out->first[u];
    return status;
}

syn_status syn_recording_read(syn_recording *out, const syn_spikes *spikes,
                              uint32_t min_count, int64_t reach, const syn_watch *watch)
{
    return read_recording(out, spikes, min_count, reach, 0, watch);
}

/* ---- events by tick and by unit ---- */

/* A stable counting sort: `next` is where the next event of each unit goes. */
static syn_status sort_events(syn_recording *r, uint32_t *next, const syn_watch *watch)
{
    const uint32_t *unit = r->unit;
    const int64_t *tick = r->tick;
    uint32_t *group = r->group, *row = r->row, *by_unit = r->by_unit;
    uint32_t n = r->events, first = 0;
    int64_t before = n > 0 ? tick[0] : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (syn_spikes_poll(watch, i, n) != SYN_OK)
            return SYN_INTERRUPTED;
        first = tick[i] == before ? first : i;
        before = tick[i];
        group[i] = first;
        row[i] = next[unit[i]]++;
        by_unit[row[i]] = i;
    }
    return SYN_OK;
}

syn_status syn_recording_arrange(syn_recording *r, const syn_watch *watch)
{
    size_t n = (size_t)r->events + 1, units = (size_t)r->units + 1;
    uint32_t *next = malloc(units * sizeof *next);
    r->group = malloc(n * sizeof *r->group);
    r->by_unit = malloc(n * sizeof *r->by_unit);
    r->row = malloc(n * sizeof *r->row);
    syn_status status = SYN_NO_MEMORY;
    if (next && r->group && r->by_unit && r->row) {
        memcpy(next, r->first, units * sizeof *next);
        status = sort_events(r, next, watch);
    }
    free(next);
    return status;
}

/* ---- all of it ---- */

syn_status syn_recording_make(syn_recording *out, const syn_spikes *spikes,
                              uint32_t min_count, int64_t reach, const syn_watch *watch)
{
    syn_status status = read_recording(out, spikes, min_count, reach, 1, watch);
    return status == SYN_OK ? syn_recording_arrange(out, watch) : status;
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
