/* Standardises evidence, so that no width and no size has more weight than others. */
#include "core/assemblies/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST_DEVIATION = 0.4;  /* of the largest evidence over surrogates */

syn_status syn_scores_make(syn_scores *out, uint32_t surrogates, uint32_t rungs,
                           syn_budget *budget)
{
    size_t places = (size_t)rungs * SYN_SIZES;
    memset(out, 0, sizeof *out);
    out->surrogates = surrogates;
    out->rungs = rungs;
    out->budget = budget;
    SYN_TAKE_ZEROS(budget, out->maximum, surrogates * places);
    SYN_TAKE_ZEROS(budget, out->mean, places);
    SYN_TAKE_ZEROS(budget, out->deviation, places);
    SYN_TAKE_ZEROS(budget, out->score, surrogates);
    for (size_t i = 0; i < surrogates * places; i++)
        out->maximum[i] = syn_candidate_least((uint32_t)(i % SYN_SIZES));
    return SYN_OK;
}

void syn_scores_free(syn_scores *s)
{
    if (!s->budget)
        return;
    SYN_GIVE(s->budget, s->maximum, s->mean, s->deviation, s->score);
    memset(s, 0, sizeof *s);
}

void syn_scores_keep(syn_scores *scores, uint32_t surrogate, uint32_t rung,
                     const syn_candidate *candidate, uint32_t n)
{
    double *maximum = scores->maximum +
                      ((size_t)surrogate * scores->rungs + rung) * SYN_SIZES;
    for (uint32_t k = 0; k < SYN_SIZES; k++)
        for (uint32_t i = 0; i < n; i++) {
            double evidence = syn_candidate_evidence(candidate + i, k);
            maximum[k] = evidence > maximum[k] ? evidence : maximum[k];
        }
}

static double deviation_of(double squares, double n)
{
    double deviation = n > 1 && squares > 0 ? sqrt(squares / (n - 1)) : 0;
    return deviation > LEAST_DEVIATION ? deviation : LEAST_DEVIATION;
}

/* One rung and class of sizes. A surrogate is compared with all others, as the recording
   is in none either. */
static void standardise(syn_scores *s, size_t place)
{
    size_t places = (size_t)s->rungs * SYN_SIZES;
    const double *maximum = s->maximum + place;
    double n = s->surrogates, sum = 0, squares = 0;
    for (uint32_t k = 0; k < s->surrogates; k++)
        sum += maximum[k * places];
    double mean = s->mean[place] = sum / n;
    for (uint32_t k = 0; k < s->surrogates; k++)
        squares += (maximum[k * places] - mean) * (maximum[k * places] - mean);
    s->deviation[place] = deviation_of(squares, n);
    for (uint32_t k = 0; k < s->surrogates; k++) {
        double off = maximum[k * places] - mean;
        double others = n > 1 ? -off / (n - 1) : 0;  /* their mean, from `mean` */
        double left = squares - off * off - (n - 1) * others * others;
        double score = (off - others) / deviation_of(left, n - 1);
        if (place == 0 || score > s->score[k])
            s->score[k] = score;
    }
}

static int falling(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

syn_status syn_scores_settle(syn_scores *scores, uint32_t exceeded)
{
    for (size_t place = 0; place < (size_t)scores->rungs * SYN_SIZES; place++)
        standardise(scores, place);
    double *sorted;
    SYN_TAKE(scores->budget, sorted, scores->surrogates);
    memcpy(sorted, scores->score, scores->surrogates * sizeof *sorted);
    qsort(sorted, scores->surrogates, sizeof *sorted, falling);
    scores->bar = sorted[exceeded];
    syn_budget_free(scores->budget, sorted);
    return SYN_OK;
}

double syn_scores_of(const syn_scores *scores, const syn_candidate *candidate,
                     uint32_t *size)
{
    const double *mean = scores->mean + (size_t)candidate->rung * SYN_SIZES;
    const double *deviation = scores->deviation + (size_t)candidate->rung * SYN_SIZES;
    double best = -INFINITY;
    *size = candidate->size;
    for (uint32_t k = 0; k < SYN_SIZES; k++) {
        double score = (syn_candidate_evidence(candidate, k) - mean[k]) / deviation[k];
        uint32_t own = syn_size_of_class(k);
        if (score < best && best > scores->bar)
            break;
        if (score <= best)
            continue;
        best = score;
        *size = own < candidate->size ? own : candidate->size;
    }
    return best;
}
