/* Lists the spikes of each unit by a counting sort, as surrogates need them. */
#include "core/spikes/trains.h"

#include <string.h>

syn_status syn_trains_make(syn_trains *out, const syn_spikes *spikes,
                           const syn_watch *watch)
{
    memset(out, 0, sizeof *out);
    if (spikes->n >= INT32_MAX)
        return SYN_TOO_LARGE;
    out->units = spikes->units;
    out->trials = spikes->trials;
    SYN_ARRAY(&out->memory, out->first, (size_t)out->units + 2);
    SYN_ARRAY(&out->memory, out->tick, spikes->n);
    SYN_ARRAY(&out->memory, out->trial, spikes->n);
    SYN_ARRAY(&out->memory, out->start, out->trials);
    SYN_ARRAY(&out->memory, out->stop, out->trials);
    for (uint32_t k = 0; k < out->trials; k++) {
        out->start[k] = (int64_t)spikes->start[k];
        out->stop[k] = (int64_t)spikes->stop[k];
    }
    /* By a stable counting sort: counts two places on; then next[u] is where the next
       spike of unit u goes, and in the end where unit u + 1 begins. */
    uint32_t *next = out->first + 1;
    const int *unit = spikes->unit, *trial = spikes->trial;
    size_t n = spikes->n;
    for (size_t i = 0; i < n; i++)
        if (!trial || trial[i] >= 1)
            next[unit[i]]++;
    for (uint32_t u = 0; u < out->units; u++)
        out->first[u + 2] += out->first[u + 1];
    for (size_t i = 0; i < n; i++) {
        if (syn_spikes_poll(watch, i, n) != SYN_OK)
            return SYN_INTERRUPTED;
        int now = trial ? trial[i] : 1;
        if (now < 1)
            continue;
        uint32_t at = next[unit[i] - 1]++;
        out->tick[at] = (int64_t)spikes->tick[i];
        out->trial[at] = (uint32_t)(now - 1);
    }
    out->events = out->first[out->units];
    return SYN_OK;
}

double syn_trains_bytes(double events, double units, double trials)
{
    return events * (sizeof(int64_t) + sizeof(uint32_t)) +
           (units + 2) * sizeof(uint32_t) + trials * 2 * sizeof(int64_t);
}

void syn_trains_free(syn_trains *t)
{
    syn_give_back(&t->memory);
    memset(t, 0, sizeof *t);
}
