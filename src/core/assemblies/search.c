/* Runs the search. Every surrogate goes through all that the recording goes through up to
   its best pair; groups grow from pairs alone whose excess is above that of most
   surrogates, so a recording of independent units has a group no more often than so. */
#include "core/assemblies/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOVES = 10 };  /* ways to move members apart */

static const double LEAST_DEVIATION = 0.4;  /* of a largest z over surrogates */

void syn_assembly_search_free(syn_assembly_search *s)
{
    if (!s->budget)
        return;
    syn_budget_free(s->budget, s->peak);
    syn_budget_free(s->budget, s->best);
    syn_budget_free(s->budget, s->seed);
    syn_budget_free(s->budget, s->seed_score);
    syn_budget_free(s->budget, s->maximum);
    syn_budget_free(s->budget, s->score);
    syn_refiner_free(&s->refiner);
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

/* ---- triangles ---- */

static syn_status look(syn_assembly_search *s, const syn_watch *watch)
{
    syn_status status = syn_lagged_count(&s->pairs, &s->segments.recording, watch);
    if (status == SYN_OK)
        status = syn_lagged_best(&s->pairs, s->peak, watch);
    return status == SYN_OK ? syn_triangles_best(&s->pairs, s->peak, s->best, watch)
                            : status;
}

static void keep_maxima(const syn_assembly_search *s, double *maximum)
{
    size_t all = (size_t)s->pairs.units * s->pairs.units;
    for (uint32_t rung = 0; rung < s->pairs.ladder.rungs; rung++) {
        maximum[rung] = SYN_TRIANGLE_LEAST;
        for (size_t k = 0; k < all; k++) {
            double z = s->best[rung * all + k].z;
            maximum[rung] = z > maximum[rung] ? z : maximum[rung];
        }
    }
}

static double score_of(const syn_assembly_search *s, uint32_t rung, double z)
{
    return (z - s->mean[rung]) / s->deviation[rung];
}

static double deviation_of(double squares, double n)
{
    double deviation = n > 1 && squares > 0 ? sqrt(squares / (n - 1)) : 0;
    return deviation > LEAST_DEVIATION ? deviation : LEAST_DEVIATION;
}

/* Mean and standard deviation over surrogates of the largest z on a rung, so that no
   width has more weight than others. The score of a surrogate is by those of all others,
   as the recording is in none either. */
static void standardise(syn_assembly_search *s)
{
    uint32_t n = s->options.surrogates, rungs = s->pairs.ladder.rungs;
    for (uint32_t r = 0; r < rungs; r++) {
        double sum = 0, squares = 0;
        for (uint32_t k = 0; k < n; k++)
            sum += s->maximum[(size_t)k * rungs + r];
        double mean = s->mean[r] = sum / n;
        for (uint32_t k = 0; k < n; k++) {
            double off = s->maximum[(size_t)k * rungs + r] - mean;
            squares += off * off;
        }
        s->deviation[r] = deviation_of(squares, n);
        for (uint32_t k = 0; k < n; k++) {
            double off = s->maximum[(size_t)k * rungs + r] - mean;
            double others = n > 1 ? -off / (n - 1.0) : 0;  /* their mean, from `mean` */
            double left = squares - off * off - (n - 1.0) * others * others;
            double score = (off - others) / deviation_of(left, n - 1.0);
            if (r == 0 || score > s->score[k])
                s->score[k] = score;
        }
    }
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
        syn_status status = look(s, watch);
        if (status != SYN_OK)
            return status;
        keep_maxima(s, s->maximum + (size_t)k * s->pairs.ladder.rungs);
    }
    p->done = n;
    standardise(s);
    double *sorted = syn_budget_alloc(s->budget, n, sizeof *sorted);
    if (!sorted)
        return syn_budget_refusal(s->budget);
    memcpy(sorted, s->score, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, falling);
    s->bar = sorted[s->options.exceeded];
    syn_budget_free(s->budget, sorted);
    return SYN_OK;
}

/* ---- seeds ---- */

typedef struct seed {
    double score;
    syn_triangle triangle;
} seed;

/* By what is not cut, so that the width is the one at which the excess is largest. */
static int better_first(const void *x, const void *y)
{
    const seed *p = x, *q = y;
    const syn_triangle *a = &p->triangle, *b = &q->triangle;
    if (a->whole != b->whole)
        return a->whole < b->whole ? 1 : -1;
    if (a->rung != b->rung)
        return a->rung < b->rung ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

static syn_status keep_seeds(syn_assembly_search *s)
{
    size_t all = (size_t)s->pairs.units * s->pairs.units, n = 0, at = 0;
    uint32_t rungs = s->pairs.ladder.rungs;
    for (size_t k = 0; k < rungs * all; k++)
        n += score_of(s, (uint32_t)(k / all), s->best[k].z) > s->bar;
    seed *list = syn_budget_alloc(s->budget, n + 1, sizeof *list);
    s->seed = syn_budget_alloc(s->budget, n + 1, sizeof *s->seed);
    s->seed_score = syn_budget_alloc(s->budget, n + 1, sizeof *s->seed_score);
    if (!list || !s->seed || !s->seed_score) {
        syn_budget_free(s->budget, list);
        return syn_budget_refusal(s->budget);
    }
    for (size_t k = 0; k < rungs * all; k++) {
        double score = score_of(s, (uint32_t)(k / all), s->best[k].z);
        if (score > s->bar)
            list[at++] = (seed){.score = score, .triangle = s->best[k]};
    }
    qsort(list, n, sizeof *list, better_first);
    for (size_t k = 0; k < n; k++) {
        s->seed[k] = list[k].triangle;
        s->seed_score[k] = list[k].score;
    }
    s->seeds = (uint32_t)n;
    syn_budget_free(s->budget, list);
    return SYN_OK;
}

/* ---- groups ---- */

/* Whether a group has two units of a triangle, at their lag. */
static int explained(const syn_assembly_search *s, const syn_triangle *t)
{
    const syn_ladder *l = &s->pairs.ladder;
    for (uint32_t g = 0; g < s->groups; g++) {
        const syn_assembly *x = s->group + g;
        if (syn_assembly_has_pair(x, t->a, t->b, t->lag_b, t->rung, l) ||
            syn_assembly_has_pair(x, t->a, t->c, t->lag_c, t->rung, l) ||
            syn_assembly_has_pair(x, t->b, t->c, t->lag_c - t->lag_b, t->rung, l))
            return 1;
    }
    return 0;
}

/* Whether half of its members are, at the same lags, in a group found before. */
static int known(const syn_assembly_search *s, const syn_assembly *g)
{
    for (uint32_t k = 0; k < s->groups; k++)
        if (2 * syn_assembly_shared(g, s->group + k, &s->pairs.ladder) >= g->size)
            return 1;
    return 0;
}

static syn_status add_group(syn_assembly_search *s, const syn_grower *grower, uint32_t k,
                            size_t *room, const syn_watch *watch)
{
    syn_assembly group;
    syn_assembly_grow(grower, s->seed + k, &group);
    group.score = s->seed_score[k];
    syn_status status = syn_assembly_refine(&s->refiner, &group, watch);
    if (status != SYN_OK || group.size < 3 || known(s, &group))
        return status;
    syn_assembly *more =
        syn_budget_grow(s->budget, s->group, room, (size_t)s->groups + 1, sizeof *more);
    if (!more)
        return syn_budget_refusal(s->budget);
    s->group = more;
    s->group[s->groups++] = group;
    return SYN_OK;
}

static syn_status find_groups(syn_assembly_search *s, const syn_watch *watch)
{
    size_t room = 0;
    syn_grower grower = {0};
    syn_status status = syn_grower_make(&grower, &s->pairs, s->budget);
    for (uint32_t k = 0; status == SYN_OK && k < s->seeds; k++)
        if ((status = syn_poll(watch, "groups", k, s->seeds)) == SYN_OK &&
            !explained(s, s->seed + k))
            status = add_group(s, &grower, k, &room, watch);
    syn_grower_free(&grower, s->budget);
    return status;
}

/* Ticks in all trials. */
static double recorded(const syn_trains *t)
{
    double sum = 0;
    for (uint32_t k = 0; k < t->trials; k++)
        sum += (double)(t->stop[k] - t->start[k] + 1);
    return sum;
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
    size_t places = ladder.rungs * units * units + 1, n = options->surrogates;
    int ok = (out->peak = syn_budget_zeros(budget, places, sizeof *out->peak)) &&
             (out->best = syn_budget_zeros(budget, places, sizeof *out->best)) &&
             (out->maximum = syn_budget_zeros(budget, n * ladder.rungs,
                                              sizeof *out->maximum)) &&
             (out->score = syn_budget_zeros(budget, n, sizeof *out->score));
    if (!ok)
        return syn_budget_refusal(budget);
    status = find_bar(out, &p, &whole);
    if (status == SYN_OK) {
        syn_segments_recorded(&out->segments);
        status = look(out, &whole);
    }
    if (status == SYN_OK)
        status = keep_seeds(out);
    if (status == SYN_OK)
        status = syn_refiner_make(&out->refiner, &out->pairs, &out->segments.recording,
                                  recorded(&out->segments.trains), budget);
    if (status == SYN_OK)
        status = find_groups(out, &whole);
    return status;
}

syn_status syn_assembly_activations(syn_assembly_search *search, uint32_t g,
                                    syn_detected *out)
{
    const syn_assembly *group = search->group + g;
    return syn_detect(&search->refiner.detector, group, group->size, MOVES, out);
}
