#include "core/pattern_overlaps.h"

#include <stdlib.h>
#include <string.h>

enum { COUNTERS = 1 << 17 };  /* so few that they stay in a cache */

syn_status syn_unit_index_make(syn_unit_index *x, const syn_ranked_pattern *pattern,
                               uint32_t n, uint32_t units)
{
    size_t items = 0;
    for (uint32_t p = 0; p < n; p++)
        items += pattern[p].size;
    memset(x, 0, sizeof *x);
    x->pattern = pattern;
    x->n = n;
    x->units = units;
    x->entry = malloc((items + 1) * sizeof *x->entry);
    x->from = calloc((size_t)units + 1, sizeof *x->from);
    x->to = malloc(((size_t)units + 1) * sizeof *x->to);
    if (!x->entry || !x->from || !x->to)
        return SYN_NO_MEMORY;
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t k = 0; k < pattern[p].size; k++)
            x->from[pattern[p].unit[k] + 1]++;
    for (uint32_t unit = 0; unit < units; unit++)
        x->from[unit + 1] += x->from[unit];
    memcpy(x->to, x->from, ((size_t)units + 1) * sizeof *x->to);
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t k = 0; k < pattern[p].size; k++)
            x->entry[x->to[pattern[p].unit[k]]++] =
                (syn_unit_entry){.rank = p, .lag = pattern[p].lag[k]};
    return SYN_OK;
}

void syn_unit_index_free(syn_unit_index *x)
{
    free(x->entry);
    free(x->from);
    free(x->to);
    memset(x, 0, sizeof *x);
}

void syn_unit_index_tidy(syn_unit_index *x, const uint8_t *live)
{
    for (uint32_t unit = 0; unit < x->units; unit++) {
        size_t kept = x->from[unit];
        for (size_t i = x->from[unit]; i < x->to[unit]; i++)
            if (live[x->entry[i].rank])
                x->entry[kept++] = x->entry[i];
        x->to[unit] = kept;
    }
}

void syn_unit_index_pass(syn_unit_index *x, uint32_t rank)
{
    const syn_ranked_pattern *p = &x->pattern[rank];
    for (uint32_t k = 0; k < p->size; k++) {
        size_t *from = &x->from[p->unit[k]];
        while (*from < x->to[p->unit[k]] && x->entry[*from].rank <= rank)
            ++*from;
    }
}

syn_status syn_overlaps_make(syn_overlaps *o, const syn_unit_index *index,
                             uint32_t window)
{
    memset(o, 0, sizeof *o);
    if (window > INT32_MAX / 2)
        return SYN_TOO_LARGE;
    o->window = window;
    o->shifts = 2 * window - 1;
    o->at_once = o->shifts < COUNTERS ? COUNTERS / o->shifts : 1;
    size_t n = (size_t)o->at_once * o->shifts;
    uint32_t largest = index->n > 0 ? index->pattern[0].size : 0;
    o->shared = calloc(n, sizeof *o->shared);
    o->touched = malloc(n * sizeof *o->touched);
    o->next = malloc(((size_t)largest + 1) * sizeof *o->next);
    return o->shared && o->touched && o->next ? SYN_OK : SYN_NO_MEMORY;
}

void syn_overlaps_free(syn_overlaps *o)
{
    free(o->shared);
    free(o->touched);
    free(o->next);
    memset(o, 0, sizeof *o);
}

void syn_overlaps_begin(syn_overlaps *o, const syn_unit_index *index, uint32_t rank)
{
    o->index = index;
    o->pattern = &index->pattern[rank];
    for (uint32_t k = 0; k < o->pattern->size; k++)
        o->next[k] = index->from[o->pattern->unit[k]];
}

/* The least rank at which the search for some item goes on; `n` where there is none. */
static uint32_t least_rank(const syn_overlaps *o)
{
    const syn_unit_index *x = o->index;
    uint32_t least = x->n;
    for (uint32_t k = 0; k < o->pattern->size; k++) {
        size_t i = o->next[k];
        if (i < x->to[o->pattern->unit[k]] && x->entry[i].rank < least)
            least = x->entry[i].rank;
    }
    return least;
}

uint32_t syn_overlaps_more(syn_overlaps *o)
{
    const syn_unit_index *x = o->index;
    const syn_ranked_pattern *p = o->pattern;
    uint32_t touched = 0;
    o->low = least_rank(o);
    uint32_t end = x->n - o->low > o->at_once ? o->low + o->at_once : x->n;
    for (uint32_t k = 0; k < p->size; k++) {
        size_t i = o->next[k], to = x->to[p->unit[k]];
        uint32_t zero = p->lag[k] + o->window - 1;
        for (; i < to && x->entry[i].rank < end; i++) {
            uint32_t at = (x->entry[i].rank - o->low) * o->shifts;
            at += zero - x->entry[i].lag;
            if (o->shared[at]++ == 0)
                o->touched[touched++] = at;
        }
        o->next[k] = i;
    }
    return touched;
}
