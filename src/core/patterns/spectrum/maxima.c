/* Keeps the maxima in a table that several threads may raise at once. */
#include "core/patterns/spectrum/maxima.h"

#include <string.h>

/* ---- the table ---- */

/* Fewer than min_spikes where there can be no pattern. */
static uint32_t table_sizes(const syn_pattern_options *o, uint32_t items)
{
    return o->max_spikes < items ? o->max_spikes : items;
}

/* Sizes are read in blocks of lanes. */
static size_t table_stride(const syn_pattern_options *o, uint32_t items)
{
    return (size_t)table_sizes(o, items) + 1 + SYN_MAXIMA_LANES;
}

double syn_maxima_bytes(const syn_pattern_options *o, int by_duration, uint32_t items)
{
    return (double)table_stride(o, items) * (by_duration ? o->window : 1) *
           sizeof(uint32_t);
}

syn_status syn_maxima_make(syn_maxima *out, const syn_pattern_options *o, int by_duration,
                           uint32_t items, syn_budget *budget)
{
    *out = (syn_maxima){.budget = budget, .sizes = table_sizes(o, items),
                        .durations = by_duration ? o->window : 1, .least = o->min_count,
                        .limit = o->max_count, .min_spikes = o->min_spikes,
                        .stride = table_stride(o, items)};
    SYN_TAKE(budget, out->need, out->stride * out->durations);
    syn_maxima_clear(out);
    return SYN_OK;
}

void syn_maxima_clear(syn_maxima *m)
{
    for (uint32_t d = 0; d < m->durations; d++) {
        uint32_t *need = m->need + d * m->stride;
        for (uint32_t z = 0; z < m->stride; z++)
            need[z] = z >= m->min_spikes && z <= m->sizes ? m->least : UINT32_MAX;
    }
}

void syn_maxima_free(syn_maxima *maxima)
{
    if (maxima->budget)
        syn_budget_free(maxima->budget, maxima->need);
    memset(maxima, 0, sizeof *maxima);
}

uint32_t syn_maxima_most(const syn_maxima *m, uint32_t duration, uint32_t size)
{
    uint32_t need = m->need[duration * m->stride + size];
    if (need == UINT32_MAX)
        return m->limit;
    return need > m->least ? need - 1 : 0;
}

uint32_t syn_maxima_largest(const syn_maxima *m)
{
    uint32_t largest = 0;
    for (uint32_t d = 0; d < m->durations; d++)
        for (uint32_t z = largest > 0 ? largest + 1 : m->min_spikes; z <= m->sizes; z++) {
            if (syn_maxima_most(m, d, z) == 0)
                break;
            largest = z;
        }
    return largest;
}

/* Whoever raises a size raises those below it as well, so the first that needs more ends
   it. */
void syn_maxima_raise(syn_maxima *m, uint32_t duration, uint32_t size,
                      uint32_t occurrences)
{
    if (occurrences > m->limit)
        return;
    uint32_t *need = m->need + duration * m->stride;
    uint32_t now = occurrences == m->limit ? UINT32_MAX : occurrences + 1;
    for (uint32_t z = size; z >= m->min_spikes; z--) {
        uint32_t before = __atomic_load_n(need + z, __ATOMIC_RELAXED);
        while (before < now &&
               !__atomic_compare_exchange_n(need + z, &before, now, 1, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
            ;
        if (before >= now)
            return;
    }
}
