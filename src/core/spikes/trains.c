/* Lists the spikes of each unit by a counting sort, as surrogates need them. */
#include "core/spikes/trains.h"

#include <stdlib.h>
#include <string.h>

static syn_status allocate(syn_trains *t, size_t n)
{
    t->first = calloc((size_t)t->units + 2, sizeof *t->first);
    t->tick = malloc((n + 1) * sizeof *t->tick);
    t->trial = malloc((n + 1) * sizeof *t->trial);
    t->start = malloc(t->trials * sizeof *t->start);
    t->stop = malloc(t->trials * sizeof *t->stop);
    int all = t->first && t->tick && t->trial && t->start && t->stop;
    return all ? SYN_OK : SYN_NO_MEMORY;
}

syn_status syn_trains_make(syn_trains *out, size_t n, const double *tick, const int *unit,
                           const int *trial, int from, uint32_t units, uint32_t trials,
                           const double *start, const double *stop)
{
    memset(out, 0, sizeof *out);
    if (n >= INT32_MAX)
        return SYN_TOO_LARGE;
    out->units = units;
    out->trials = trials;
    if (allocate(out, n) != SYN_OK)
        return SYN_NO_MEMORY;
    for (uint32_t k = 0; k < trials; k++) {
        out->start[k] = (int64_t)start[k];
        out->stop[k] = (int64_t)stop[k];
    }
    /* Counts two places on; then next[u] is where the next spike of unit u goes, and in
       the end where unit u + 1 begins. */
    uint32_t *next = out->first + 1;
    for (size_t i = 0; i < n; i++)
        if (unit[i] >= from && (!trial || trial[i] >= from))
            out->first[unit[i] - from + 2]++;
    for (uint32_t u = 0; u < units; u++)
        out->first[u + 2] += out->first[u + 1];
    for (size_t i = 0; i < n; i++) {
        if (unit[i] < from || (trial && trial[i] < from))
            continue;
        uint32_t at = next[unit[i] - from]++;
        out->tick[at] = (int64_t)tick[i];
        out->trial[at] = trial ? (uint32_t)(trial[i] - from) : 0;
    }
    out->events = out->first[units];
    return SYN_OK;
}

double syn_trains_bytes(double events, double units, double trials)
{
    return events * (sizeof(int64_t) + sizeof(uint32_t)) +
           (units + 2) * sizeof(uint32_t) + trials * 2 * sizeof(int64_t);
}

void syn_trains_free(syn_trains *t)
{
    free(t->first);
    free(t->tick);
    free(t->trial);
    free(t->start);
    free(t->stop);
    memset(t, 0, sizeof *t);
}
