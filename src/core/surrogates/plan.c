/* Prepares surrogates and makes them on the processor. The plan holds what all
   surrogates of a recording share: the refractory period of each unit and, for some
   methods, a table of its intervals. Dithering has loops of its own (dither.c); all
   other methods are in unit.h, which runs on GPUs as well. */

#include <string.h>

#include "core/base/parallel.h"
#include "core/surrogates/dither.h"
#include "core/surrogates/isi.h"

void syn_surrogate_plan_free(syn_surrogate_plan *plan)
{
    if (plan->budget) {
        SYN_GIVE(plan->budget, plan->refractory, plan->table);
    }
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

typedef struct planning {
    syn_surrogate_plan *plan;
    syn_isi_maker *maker;  /* [threads] NULL without tables */
} planning;

static syn_status plan_unit(void *context, size_t unit, int worker)
{
    const planning *p = context;
    syn_surrogate_plan *plan = p->plan;
    double deadline = syn_seconds() + SYN_SLICE_SECONDS;
    uint32_t u = (uint32_t)unit;
    syn_isi_maker *m = p->maker ? p->maker + worker : NULL;
    if (!m || !m->busy)
        plan->refractory[u] = shortest_interval(&plan->trains, u,
                                                plan->options.refractory);
    if (!m)
        return SYN_OK;
    if (!m->busy)
        syn_isi_begin(m, u, plan->refractory[u]);
    syn_status status =
        syn_isi_go_on(m, deadline, plan->table + unit * plan->table_length);
    m->busy = status == SYN_UNFINISHED;
    return status;
}

/* What makes tables, for as many threads as fit in the budget, in memory of a part of
   it. */
static syn_status make_tables(syn_surrogate_plan *out, int threads, syn_budget *part,
                              const syn_watch *watch)
{
    planning p = {.plan = out};
    uint32_t units = out->trains.units, fit = 0;
    syn_status status = SYN_OK;
    SYN_TAKE_ZEROS(part, p.maker, (size_t)threads);
    while (status == SYN_OK && fit < (uint32_t)threads && fit < units) {
        status = syn_isi_maker_make(p.maker + fit, &out->trains, &out->options, part);
        fit += status == SYN_OK;
    }
    return fit > 0 ? syn_parallel_for(units, (int)fit, watch, "looking at units",
                                      plan_unit, &p)
                   : status;
}

syn_status syn_surrogate_plan_make(syn_surrogate_plan *out, const syn_trains *trains,
                                   const syn_surrogate_options *options, int threads,
                                   syn_budget *budget, const syn_watch *watch)
{
    *out = (syn_surrogate_plan){.trains = *trains, .options = *options, .budget = budget,
                                .scratch = scratch_words(trains, options)};
    SYN_TAKE_ZEROS(budget, out->refractory, (size_t)trains->units + 1);
    if (options->method != SYN_SURROGATE_JOINT_ISI &&
        options->method != SYN_SURROGATE_ISI_DITHER) {
        planning p = {.plan = out};
        return syn_parallel_for(trains->units, threads, watch, "looking at units",
                                plan_unit, &p);
    }
    out->table_length = syn_isi_table_length(options->isi_bins);
    SYN_TAKE_ZEROS(budget, out->table, (size_t)trains->units * out->table_length + 1);
    syn_budget part = syn_budget_part(budget);
    syn_status status = make_tables(out, threads, &part, watch);
    syn_budget_end(&part);
    return status;
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
