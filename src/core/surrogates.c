#include "core/surrogates.h"

#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/surrogate_dither.h"
#include "core/surrogate_isi.h"
#include "core/surrogate_unit.h"

void syn_surrogate_plan_free(syn_surrogate_plan *plan)
{
    free(plan->refractory);
    free(plan->table);
    memset(plan, 0, sizeof *plan);
}

static int64_t shortest_interval(const syn_trains *t, uint32_t unit, int64_t shortest)
{
    for (uint32_t e = t->first[unit] + 1; e < t->first[unit + 1]; e++)
        if (t->trial[e] == t->trial[e - 1] && t->tick[e] - t->tick[e - 1] < shortest)
            shortest = t->tick[e] - t->tick[e - 1];
    return shortest;
}

/* Spikes of the longest run. */
static uint32_t longest_run(const syn_trains *t)
{
    uint32_t longest = 0;
    for (uint32_t u = 0; u < t->units; u++)
        for (uint32_t e = t->first[u], run = 0; e < t->first[u + 1]; e++) {
            run = e > t->first[u] && t->trial[e] == t->trial[e - 1] ? run + 1 : 1;
            longest = run > longest ? run : longest;
        }
    return longest;
}

/* Words with a bit for each bin of the longest trial or of a window. */
static uint32_t bin_words(const syn_trains *t, const syn_surrogate_options *o)
{
    int64_t bins = 0;
    for (uint32_t k = 0; k < t->trials; k++) {
        int64_t here = (t->stop[k] - t->start[k] + 1) / o->bin;
        bins = here > bins ? here : bins;
    }
    if (o->method == SYN_SURROGATE_WINDOW_SHUFFLE && o->window / o->bin < bins)
        bins = o->window / o->bin;
    return (uint32_t)(bins / 32 + 1);
}

static uint32_t scratch_words(const syn_trains *t, const syn_surrogate_options *o)
{
    switch (o->method) {
    case SYN_SURROGATE_DITHER_REFRACTORY:
    case SYN_SURROGATE_SLIDING_SHUFFLE:
        return longest_run(t);
    case SYN_SURROGATE_BIN_SHUFFLE:
    case SYN_SURROGATE_WINDOW_SHUFFLE:
        return bin_words(t, o);
    default:
        return 0;
    }
}

static syn_status plan_unit(void *context, size_t unit, int worker)
{
    syn_surrogate_plan *plan = context;
    const syn_surrogate_options *o = &plan->options;
    uint32_t u = (uint32_t)unit;
    (void)worker;
    plan->refractory[u] = shortest_interval(&plan->trains, u, o->refractory);
    if (!plan->table)
        return SYN_OK;
    return syn_isi_table(&plan->trains, o, u, plan->refractory[u],
                         plan->table + unit * plan->table_length);
}

syn_status syn_surrogate_plan_make(syn_surrogate_plan *out, const syn_trains *trains,
                                   const syn_surrogate_options *options, int threads,
                                   const syn_watch *watch)
{
    memset(out, 0, sizeof *out);
    out->trains = *trains;
    out->options = *options;
    out->scratch = scratch_words(trains, options);
    out->refractory = calloc((size_t)trains->units + 1, sizeof *out->refractory);
    if (!out->refractory)
        return SYN_NO_MEMORY;
    if (options->method == SYN_SURROGATE_JOINT_ISI ||
        options->method == SYN_SURROGATE_ISI_DITHER) {
        out->table_length = syn_isi_table_length(options->isi_bins);
        out->table = calloc((size_t)trains->units * out->table_length + 1,
                            sizeof *out->table);
        if (!out->table)
            return SYN_NO_MEMORY;
    }
    return syn_parallel_for(trains->units, threads, watch, "looking at units", plan_unit,
                            out);
}

void syn_surrogate_unit_ticks(const syn_surrogate_plan *plan, uint64_t index,
                              uint32_t unit, int64_t *tick, uint32_t *scratch)
{
    if (plan->options.method != SYN_SURROGATE_DITHER) {
        syn_surrogate_unit(plan, index, unit, tick, scratch);
        return;
    }
    syn_surrogate_train train = syn_surrogate_take(plan, index, unit);
    syn_dither_fastest(plan->options.vector_bits)(&train, tick);
}

void syn_surrogate_ticks(const syn_surrogate_plan *plan, uint64_t index, int64_t *tick,
                         uint32_t *scratch)
{
    for (uint32_t u = 0; u < plan->trains.units; u++)
        syn_surrogate_unit_ticks(plan, index, u, tick + plan->trains.first[u], scratch);
}
