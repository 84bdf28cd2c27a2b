/* Keeps the maxima, and drives one thread's search for them. The table of maxima may
   be raised by several threads at once. The search takes unit after unit as root,
   those with most windows first, since what they reach bounds the others. */
#include "core/patterns/spectrum/maxima.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/masks.h"
#include "core/base/parallel.h"
#include "core/patterns/spectrum/node.h"

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
    memset(out, 0, sizeof *out);
    out->budget = budget;
    out->sizes = table_sizes(o, items);
    out->durations = by_duration ? o->window : 1;
    out->least = o->min_count;
    out->limit = o->max_count;
    out->min_spikes = o->min_spikes;
    out->stride = table_stride(o, items);
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

/* ---- a thread's search ---- */

static const syn_maxima_kind *fastest_kind(int vector_bits)
{
    const syn_maxima_kind *kinds[] = SYN_KINDS(&syn_maxima_any, &syn_maxima_256,
                                               &syn_maxima_256, &syn_maxima_512);
    return kinds[syn_kind_here(vector_bits)];
}

syn_maxima_search *syn_maxima_search_make(const syn_pattern_options *options,
                                          int by_duration, syn_budget *budget)
{
    syn_maxima_search *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->options = options;
    s->by_duration = by_duration;
    s->strict = options->target == SYN_PATTERNS_CLOSED &&
                options->max_spikes < UINT32_MAX;
    s->checks = s->strict || by_duration;
    s->kind = fastest_kind(options->vector_bits);
    s->budget = s->arena.budget = s->tape.budget = budget;
    s->arena.limit = SIZE_MAX;
    return s;
}

void syn_maxima_search_free(syn_maxima_search *s)
{
    if (!s)
        return;
    syn_arena_free(&s->arena);
    syn_tape_free(&s->tape);
    syn_budget_free(s->budget, s->node);
    free(s);
}

syn_status syn_maxima_search_begin(syn_maxima_search *s, const syn_raster *raster,
                                   syn_maxima *maxima, size_t part, size_t parts)
{
    SYN_TRY(syn_tape_fill(&s->tape, raster, s->options->window, s->options->min_count));
    s->maxima = maxima;
    s->part = part;
    s->parts = parts;
    s->left = s->tape.units;
    s->depth = 0;
    return SYN_OK;
}

void *syn_maxima_take(syn_maxima_search *s, size_t bytes)
{
    void *memory = syn_arena_take(&s->arena, bytes);
    if (!memory)
        s->failed = s->arena.refused;
    return memory;
}

syn_maxima_node *syn_maxima_push(syn_maxima_search *s)
{
    syn_maxima_node *node = syn_budget_grow(s->budget, s->node, &s->room, s->depth + 1,
                                            sizeof *node);
    if (!node) {
        s->failed = syn_budget_refusal(s->budget);
        return NULL;
    }
    s->node = node;
    node += s->depth++;
    memset(node, 0, sizeof *node);
    node->mark = syn_arena_here(&s->arena);
    return node;
}

/* Units with most windows come first: what they reach bounds the others. */
static syn_status next_root(syn_maxima_search *s)
{
    uint32_t unit = --s->left;
    if ((s->tape.units - 1 - unit) % s->parts != s->part)
        return SYN_OK;
    syn_arena_clear(&s->arena);
    return syn_maxima_root_make(s, unit);
}

syn_status syn_maxima_search_go_on(syn_maxima_search *s, double deadline)
{
    while (s->depth > 0 || s->left > 0) {
        const syn_maxima_node *node = s->depth > 0 ? s->node + s->depth - 1 : NULL;
        syn_status status = SYN_OK;
        if (!node)
            status = next_root(s);
        else if (node->next < node->children)
            status = s->kind->child(s);
        else
            syn_arena_return(&s->arena, s->node[--s->depth].mark);
        if (status != SYN_OK)
            return status;
        if (s->work < SYN_MAXIMA_WORK)
            continue;
        s->work = 0;
        if (syn_seconds() > deadline)
            return SYN_UNFINISHED;
    }
    return SYN_OK;
}

double syn_maxima_search_visited(const syn_maxima_search *s)
{
    return (double)s->visited;
}
