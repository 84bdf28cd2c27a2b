#include "core/spikes/recording.h"

#include <stdlib.h>
#include <string.h>

static syn_status allocate(syn_recording *r, size_t n, uint32_t units)
{
    r->tick = malloc((n + 1) * sizeof *r->tick);
    r->unit = malloc((n + 1) * sizeof *r->unit);
    r->group = malloc((n + 1) * sizeof *r->group);
    r->source = malloc((n + 1) * sizeof *r->source);
    r->by_unit = malloc((n + 1) * sizeof *r->by_unit);
    r->row = malloc((n + 1) * sizeof *r->row);
    r->first = calloc((size_t)units + 2, sizeof *r->first);
    if (!r->tick || !r->unit || !r->group || !r->source || !r->by_unit || !r->row ||
        !r->first)
        return SYN_NO_MEMORY;
    return SYN_OK;
}

/* The spikes inside trials, one trial after the other. */
static syn_status place_events(syn_recording *r, const syn_spikes *spikes, int64_t reach,
                               const syn_watch *watch)
{
    const double *tick = spikes->tick;
    const int *unit = spikes->unit, *trial = spikes->trial;
    int64_t shift = 0, t = 0;
    int last_trial = 0;
    uint32_t e = 0;
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
        t = (int64_t)tick[i] + shift;
        r->tick[e] = t;
        r->unit[e] = (uint32_t)(unit[i] - 1);
        r->source[e++] = (uint32_t)i;
    }
    r->events = e;
    return SYN_OK;
}

/* Removes the events of units that have fewer than `min_count`. Those of unit u that stay
   are counted in first[u + 2]. */
static syn_status drop_rare(syn_recording *r, uint32_t min_count, const syn_watch *watch)
{
    uint32_t *count = r->first + 2, kept = 0, group = 0, n = r->events;
    for (uint32_t i = 0; i < n; i++)
        count[r->unit[i]]++;
    for (uint32_t u = 0; u < r->units; u++)
        count[u] = count[u] < min_count ? 0 : count[u];
    for (uint32_t i = 0; i < n; i++) {
        if (syn_spikes_poll(watch, i, n) != SYN_OK)
            return SYN_INTERRUPTED;
        if (count[r->unit[i]] == 0)
            continue;
        if (kept == 0 || r->tick[i] != r->tick[kept - 1])
            group = kept;
        if (kept < i) {
            r->tick[kept] = r->tick[i];
            r->unit[kept] = r->unit[i];
            r->source[kept] = r->source[i];
        }
        r->group[kept++] = group;
    }
    r->events = kept;
    return SYN_OK;
}

/* Stable counting sort of the event numbers by unit. */
static syn_status sort_by_unit(syn_recording *r, const syn_watch *watch)
{
    uint32_t *next = r->first + 1, n = r->events;
    for (uint32_t u = 0; u < r->units; u++)
        r->first[u + 2] += r->first[u + 1];
    for (uint32_t i = 0; i < n; i++) {
        if (syn_spikes_poll(watch, i, n) != SYN_OK)
            return SYN_INTERRUPTED;
        uint32_t row = next[r->unit[i]]++;
        r->row[i] = row;
        r->by_unit[row] = i;
    }
    return SYN_OK;
}

syn_status syn_recording_make(syn_recording *out, const syn_spikes *spikes,
                              uint32_t min_count, int64_t reach, const syn_watch *watch)
{
    memset(out, 0, sizeof *out);
    if (spikes->n >= INT32_MAX)
        return SYN_TOO_LARGE;
    out->units = spikes->units;
    syn_status status = allocate(out, spikes->n, spikes->units);
    if (status == SYN_OK)
        status = place_events(out, spikes, reach, watch);
    if (status == SYN_OK)
        status = drop_rare(out, min_count, watch);
    if (status == SYN_OK)
        status = sort_by_unit(out, watch);
    return status;
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
