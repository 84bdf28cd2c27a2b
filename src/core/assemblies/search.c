/* Runs the search. Every surrogate goes through all that the recording goes through up to
   its best pair; groups grow from pairs alone whose excess is above that of most
   surrogates, so a recording of independent units has a group no more often than so. */
#include "core/assemblies/search.h"

#include <stdlib.h>
#include <string.h>

void syn_assembly_search_free(syn_assembly_search *s)
{
    if (!s->budget)
        return;
    syn_budget_free(s->budget, s->peak);
    syn_budget_free(s->budget, s->best);
    syn_budget_free(s->budget, s->maximum);
    syn_budget_free(s->budget, s->group);
    syn_lagged_free(&s->pairs);
    syn_segments_free(&s->segments);
    memset(s, 0, sizeof *s);
}

/* Progress of the whole, whatever a part says of itself. */
typedef struct progress {
    const syn_watch *watch;
    double done, total;
} progress;

static int poll(void *data, const char *stage, double done, double total)
{
    const progress *p = data;
    (void)stage;
    (void)done;
    (void)total;
    return syn_poll(p->watch, "surrogates", p->done, p->total) != SYN_OK;
}

/* ---- pairs ---- */

static double largest(const syn_assembly_search *s)
{
    double most = 0;
    for (size_t b = 1; b < s->pairs.units; b++)
        for (size_t a = 0; a < b; a++) {
            double z = s->peak[b * s->pairs.units + a].z;
            most = z > most ? z : most;
        }
    return most;
}

static syn_status look_at_pairs(syn_assembly_search *s, const syn_watch *watch)
{
    syn_status status = syn_lagged_count(&s->pairs, &s->segments.recording, watch);
    return status == SYN_OK ? syn_lagged_best(&s->pairs, s->peak, watch) : status;
}

static int falling(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

static syn_status find_bar(syn_assembly_search *s, progress *p, const syn_watch *watch)
{
    uint32_t n = s->options.surrogates;
    for (uint32_t k = 0; k < n; k++) {
        p->done = k;
        syn_segments_surrogate(&s->segments, k);
        syn_status status = look_at_pairs(s, watch);
        if (status != SYN_OK)
            return status;
        s->maximum[k] = largest(s);
    }
    p->done = n;
    double *sorted = syn_budget_alloc(s->budget, n, sizeof *sorted);
    if (!sorted)
        return syn_budget_refusal(s->budget);
    memcpy(sorted, s->maximum, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, falling);
    s->bar = sorted[s->options.exceeded];
    syn_budget_free(s->budget, sorted);
    return SYN_OK;
}

static int larger_first(const void *x, const void *y)
{
    const syn_lagged_peak *p = x, *q = y;
    if (p->z != q->z)
        return p->z < q->z ? 1 : -1;
    return p->b != q->b ? (p->b > q->b) - (p->b < q->b) : (p->a > q->a) - (p->a < q->a);
}

static syn_status keep_pairs(syn_assembly_search *s)
{
    size_t units = s->pairs.units, n = 0;
    for (int filling = 0; filling < 2; filling++) {
        n = 0;
        for (size_t b = 1; b < units; b++)
            for (size_t a = 0; a < b; a++) {
                const syn_lagged_peak *peak = s->peak + b * units + a;
                if (peak->z <= s->bar)
                    continue;
                if (filling)
                    s->best[n] = *peak;
                n++;
            }
        if (!filling && !(s->best = syn_budget_alloc(s->budget, n + 1, sizeof *s->best)))
            return syn_budget_refusal(s->budget);
    }
    s->pairs_found = (uint32_t)n;
    qsort(s->best, n, sizeof *s->best, larger_first);
    return SYN_OK;
}

/* ---- groups ---- */

static int explained(const syn_assembly_search *s, const syn_lagged_peak *peak)
{
    for (uint32_t g = 0; g < s->groups; g++)
        if (syn_assembly_explains(s->group + g, peak, &s->pairs.ladder))
            return 1;
    return 0;
}

static syn_status find_groups(syn_assembly_search *s, const syn_watch *watch)
{
    size_t room = 0;
    syn_grower grower = {0};
    syn_status status = syn_grower_make(&grower, &s->pairs, s->budget);
    for (uint32_t k = 0; status == SYN_OK && k < s->pairs_found; k++) {
        if ((status = syn_poll(watch, "pairs", k, s->pairs_found)) != SYN_OK)
            break;
        if (explained(s, s->best + k))
            continue;
        syn_assembly *more = syn_budget_grow(s->budget, s->group, &room,
                                          (size_t)s->groups + 1, sizeof *more);
        if (!more) {
            status = syn_budget_refusal(s->budget);
            break;
        }
        s->group = more;
        syn_assembly_grow(&grower, s->best + k, s->group + s->groups);
        s->groups++;
    }
    syn_grower_free(&grower, s->budget);
    return status;
}

/* ---- all of it ---- */

syn_status syn_assembly_search_run(syn_assembly_search *out, const syn_spikes *spikes,
                          const syn_assembly_search_options *options, syn_budget *budget,
                          const syn_watch *watch)
{
    memset(out, 0, sizeof *out);
    out->options = *options;
    out->budget = budget;
    syn_ladder ladder;
    syn_ladder_make(&ladder, options->lags, options->widest);
    progress p = {.watch = watch, .total = options->surrogates + 1.0};
    syn_watch whole = {.poll = poll, .data = &p};
    size_t units = spikes->units;
    syn_status status = syn_segments_make(
        &out->segments, spikes, options->segment, syn_lagged_reach(&ladder, options->bin),
        options->key, options->threads, budget, watch);
    if (status == SYN_OK)
        status = syn_lagged_make(&out->pairs, &ladder, options->bin, spikes->units,
                                options->threads, budget);
    if (status != SYN_OK)
        return status;
    out->peak = syn_budget_zeros(budget, units * units + 1, sizeof *out->peak);
    out->maximum = syn_budget_zeros(budget, options->surrogates, sizeof *out->maximum);
    if (!out->peak || !out->maximum)
        return syn_budget_refusal(budget);
    status = find_bar(out, &p, &whole);
    if (status == SYN_OK) {
        syn_segments_recorded(&out->segments);
        status = look_at_pairs(out, &whole);
    }
    if (status == SYN_OK)
        status = keep_pairs(out);
    if (status == SYN_OK)
        status = find_groups(out, &whole);
    return status;
}
