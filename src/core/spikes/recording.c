/* Makes a recording ready for mining. One pass over the sorted events numbers them,
   merges repeats and moves trials apart; the next drops rare units; a counting sort then
   lists the events of each unit. */
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

/* Stable counting sort of the event numbers by unit. */
static void sort_by_unit(syn_recording *r)
{
    for (uint32_t i = 0; i < r->events; i++)
        r->first[r->unit[i] + 2]++;
    for (uint32_t u = 0; u < r->units; u++)
        r->first[u + 2] += r->first[u + 1];
    for (uint32_t i = 0; i < r->events; i++) {
        r->row[i] = r->first[r->unit[i] + 1]++;
        r->by_unit[r->row[i]] = i;
    }
}

/* Removes the events of units that have fewer than `min_count`. */
static void drop_rare(syn_recording *r, uint32_t min_count)
{
    uint32_t *count = r->first;  /* still all zero */
    for (uint32_t i = 0; i < r->events; i++)
        count[r->unit[i]]++;
    uint32_t kept = 0, group = 0;
    for (uint32_t i = 0; i < r->events; i++) {
        if (count[r->unit[i]] < min_count)
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
    memset(r->first, 0, ((size_t)r->units + 2) * sizeof *r->first);
}

syn_status syn_recording_make(syn_recording *out, size_t n, const double *tick,
                              const int *unit, const int *trial, int first,
                              uint32_t units, uint32_t min_count, int64_t reach)
{
    memset(out, 0, sizeof *out);
    if (n >= INT32_MAX)
        return SYN_TOO_LARGE;
    out->units = units;
    if (allocate(out, n, units) != SYN_OK)
        return SYN_NO_MEMORY;

    int64_t shift = 0;
    int last_trial = first - 1;
    for (size_t i = 0; i < n; i++) {
        if (unit[i] < first || (trial && trial[i] < first))
            continue;
        uint32_t u = (uint32_t)(unit[i] - first);
        uint32_t e = out->events;
        int64_t t = (int64_t)tick[i] + shift;
        if (trial && trial[i] != last_trial) {
            if (e > 0) {
                if (out->tick[e - 1] > INT64_MAX / 4)
                    return SYN_TOO_LARGE;
                int64_t apart = out->tick[e - 1] + reach + 1;
                shift += t < apart ? apart - t : 0;
                t = (int64_t)tick[i] + shift;
            }
            last_trial = trial[i];
        }
        if (e > 0 && t == out->tick[e - 1] && out->unit[e - 1] == u)
            continue;
        out->tick[e] = t;
        out->unit[e] = u;
        out->source[e] = (uint32_t)i;
        out->events++;
    }
    drop_rare(out, min_count);
    sort_by_unit(out);
    return SYN_OK;
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
