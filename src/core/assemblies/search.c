/* Runs the search. Every surrogate goes through all that the recording goes through up to
   the best groups on each rung; only groups whose evidence is above that of most
   surrogates are looked at further, so a recording of independent units has a group no
   more often than so. */
#include "core/assemblies/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"

/* ---- scores of surrogates ----

   Standardises evidence, so that no width and no size has more weight than others. */

static const double LEAST_DEVIATION = 0.4;  /* of the largest evidence over surrogates */

static syn_status scores_make(syn_scores *out, uint32_t surrogates, uint32_t rungs,
                              syn_budget *budget)
{
    size_t places = (size_t)rungs * SYN_SIZES + 1;
    *out = (syn_scores){.surrogates = surrogates, .places = places, .budget = budget};
    SYN_TAKE_ZEROS(budget, out->maximum, surrogates * places);
    SYN_TAKE_ZEROS(budget, out->mean, places);
    SYN_TAKE_ZEROS(budget, out->deviation, places);
    SYN_TAKE_ZEROS(budget, out->score, surrogates);
    for (size_t k = 0; k < surrogates; k++)
        for (size_t i = 0; i + 1 < places; i++)
            out->maximum[k * places + i] = syn_candidate_least((uint32_t)(i % SYN_SIZES));
    return SYN_OK;
}

static double deviation_of(double squares, double n)
{
    double deviation = n > 1 && squares > 0 ? sqrt(squares / (n - 1)) : 0;
    return deviation > LEAST_DEVIATION ? deviation : LEAST_DEVIATION;
}

/* One rung and class of sizes, or chains. A surrogate is compared with all others, as the
   recording is in none either. */
static void standardise(syn_scores *s, size_t place)
{
    size_t places = s->places;
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

/* The score of a candidate, and how many members it has in the class of sizes in which
   its evidence is most above the mean of surrogates: deviations of surrogates differ by
   more from one set of them to another, and would name another class. Above the bar the
   classes end before evidence falls: members that come after that may be those of another
   group. */
static double scores_of(const syn_scores *scores, const syn_candidate *candidate,
                        uint32_t *size)
{
    const double *mean = scores->mean + (size_t)candidate->rung * SYN_SIZES;
    const double *deviation = scores->deviation + (size_t)candidate->rung * SYN_SIZES;
    double best = -INFINITY, most = -INFINITY;
    *size = candidate->size;
    for (uint32_t k = 0; k < SYN_SIZES; k++) {
        double above = syn_candidate_evidence(candidate, k) - mean[k];
        uint32_t own = syn_size_of_class(k);
        if (above < most && best > scores->bar)
            break;
        best = above / deviation[k] > best ? above / deviation[k] : best;
        if (above <= most)
            continue;
        most = above;
        *size = own < candidate->size ? own : candidate->size;
    }
    return best;
}

static double score_of_chain(const syn_scores *scores, const syn_chain *chain)
{
    size_t place = scores->places - 1;
    return (chain->evidence - scores->mean[place]) / scores->deviation[place];
}

enum {
    MOVES = 10  /* ways to move members apart */
};

/* By which share the expected number of activations may be wrong. To tell members, many
   activations say most, also with as many by chance; those that are listed are to be
   mostly right. */
static const double UNSURE = 0.25;

void syn_assembly_search_free(syn_assembly_search *s)
{
    for (int t = 0; s->searcher && t < s->options.ground.threads; t++)
        syn_searcher_free(s->searcher + t);
    for (int t = 0; s->moments && t < s->options.ground.threads; t++)
        syn_moments_free(s->moments + t);
    SYN_GIVE(s->budget, s->searcher, s->moments);
    SYN_GIVE(s->scores.budget, s->scores.maximum, s->scores.mean, s->scores.deviation,
             s->scores.score);
    memset(&s->scores, 0, sizeof s->scores);
    syn_peaks_free(&s->peaks);
    syn_refiner_free(&s->refiner);
    SYN_GIVE(s->budget, s->group, s->named);
    syn_ground_free(&s->ground);
    syn_calm_free(&s->calm);
    memset(s, 0, sizeof *s);
}

/* Progress of the whole. A batch of surrogates is that far as its pairs are; to look for
   groups in their peaks takes little beside that. */
typedef struct progress {
    const syn_watch *watch;
    double done, total;
    uint32_t batch;          /* surrogates that are being made; 0 for none */
    const syn_assembly_search *search;  /* where groups are looked for; NULL before */
} progress;

static int poll(void *data, const char *stage, double done, double total)
{
    const progress *p = data;
    if (p->search)
        return syn_poll(p->watch, "groups", p->search->looked_at, p->search->listed) !=
               SYN_OK;
    int making = p->batch > 0 && total > 0 && strcmp(stage, "pairs") == 0;
    double more = making ? p->batch * done / total : 0;
    return syn_poll(p->watch, "surrogates", p->done + more, p->total) != SYN_OK;
}

/* ---- groups on all rungs ---- */

/* The best groups of a list of peaks for each list and rung. */
typedef struct hunt {
    syn_assembly_search *search;
    const syn_peaks *peaks;    /* [lists] */
    uint32_t from;             /* surrogates of the search before the first list */
    syn_candidate *candidate;  /* [threads * SYN_CANDIDATES], or of the recording
                                  [rungs * SYN_CANDIDATES] */
    uint32_t *candidates;      /* [rungs] of the recording; NULL for surrogates */
} hunt;

/* The largest evidence of a chain in a surrogate. */
static double hunt_chains(syn_moments *moments, const syn_peaks *peaks,
                          uint64_t surrogate)
{
    syn_chain chain[SYN_CHAINS];
    uint32_t n;
    syn_moments_lay_surrogate(moments, surrogate);
    syn_chains_find(moments, peaks, chain, &n);
    return n > 0 ? chain->evidence : 0;
}

static syn_status hunt_surrogate(void *context, size_t item, int worker)
{
    const hunt *h = context;
    syn_assembly_search *s = h->search;
    uint32_t rungs = s->ground.pairs.ladder.rungs, n;
    uint32_t rung = (uint32_t)(item % (rungs + 1)), list = (uint32_t)(item / (rungs + 1));
    syn_candidate *found = h->candidate + (size_t)worker * SYN_CANDIDATES;
    /* The largest evidence on this rung of the surrogate stays, and that of chains. */
    double *maximum = s->scores.maximum + (h->from + list) * s->scores.places +
                      (size_t)rung * SYN_SIZES;
    if (rung == rungs) {
        if (s->moments)
            *maximum = hunt_chains(s->moments + worker, h->peaks + list,
                                   s->options.first + h->from + list);
        return SYN_OK;
    }
    syn_status status =
        syn_candidates_find(s->searcher + worker, h->peaks + list, rung, found, &n);
    if (status == SYN_OK) {
        for (uint32_t k = 0; k < SYN_SIZES; k++)
            for (uint32_t i = 0; i < n; i++) {
                double evidence = syn_candidate_evidence(found + i, k);
                maximum[k] = evidence > maximum[k] ? evidence : maximum[k];
            }
    }
    return status;
}

static syn_status hunt_recording(void *context, size_t item, int worker)
{
    const hunt *h = context;
    return syn_candidates_find(h->search->searcher + worker, h->peaks, (uint32_t)item,
                               h->candidate + item * SYN_CANDIDATES,
                               h->candidates + item);
}

/* ---- surrogates ---- */

static syn_status hunt_surrogates(syn_assembly_search *s, syn_peaks *list,
                                  syn_candidate *room, progress *p,
                                  const syn_watch *watch)
{
    uint32_t n = s->options.surrogates;
    for (uint32_t from = 0, made; from < n; from += made) {
        p->done = from;
        syn_status status =
            s->ground.source.surrogates(s->ground.source.self, s->options.first + from,
                                        n - from, list, &p->batch, watch);
        made = p->batch;
        p->batch = 0;
        p->done = from + made;
        hunt h = {.search = s, .peaks = list, .from = from, .candidate = room};
        SYN_NEXT(status, syn_parallel_for(
                             (size_t)made * (s->ground.pairs.ladder.rungs + 1),
                             s->options.ground.threads, watch, "surrogates",
                             hunt_surrogate, &h));
        for (uint32_t k = 0; k < n - from; k++)
            syn_peaks_free(list + k);
        if (status != SYN_OK)
            return status;
    }
    p->done = n;
    return SYN_OK;
}

static syn_status find_maxima(syn_assembly_search *s, progress *p, const syn_watch *watch)
{
    if (s->options.known) {
        memcpy(s->scores.maximum, s->options.known,
               s->scores.surrogates * s->scores.places * sizeof *s->options.known);
        p->done = s->scores.surrogates;
        return SYN_OK;
    }
    syn_peaks *list = syn_budget_zeros(s->budget, s->options.surrogates, sizeof *list);
    syn_candidate *room = syn_budget_alloc(
        s->budget, (size_t)s->options.ground.threads * SYN_CANDIDATES, sizeof *room);
    syn_status status = list && room ? hunt_surrogates(s, list, room, p, watch)
                                     : syn_budget_refusal(s->budget);
    SYN_GIVE(s->budget, list, room);
    return status;
}

/* The bar is such that so many surrogates pass it as may. */
static syn_status find_bar(syn_assembly_search *s)
{
    for (size_t place = 0; place + !s->moments < s->scores.places; place++)
        standardise(&s->scores, place);
    double *sorted;
    SYN_TAKE(s->scores.budget, sorted, s->scores.surrogates);
    memcpy(sorted, s->scores.score, s->scores.surrogates * sizeof *sorted);
    qsort(sorted, s->scores.surrogates, sizeof *sorted, falling);
    s->scores.bar = sorted[s->options.exceeded];
    syn_budget_free(s->scores.budget, sorted);
    return SYN_OK;
}

/* ---- groups ---- */

/* A candidate of the recording above the bar. */
typedef struct found {
    double score, whole;
    uint32_t size;
    const syn_candidate *candidate;
} found;

/* By what is not cut, so that the width is the one at which the excess is largest. */
static int better_first(const void *x, const void *y)
{
    const found *a = x, *b = y;
    if (a->whole != b->whole)
        return a->whole < b->whole ? 1 : -1;
    return (a->candidate > b->candidate) - (a->candidate < b->candidate);
}

static uint32_t above_bar(syn_assembly_search *s, const hunt *h, found *out)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < s->ground.pairs.ladder.rungs; r++)
        for (uint32_t k = 0; k < h->candidates[r]; k++) {
            found f = {.candidate = h->candidate + r * SYN_CANDIDATES + k};
            f.score = scores_of(&s->scores, f.candidate, &f.size);
            s->best = f.score > s->best ? f.score : s->best;
            if (f.score <= s->scores.bar)
                continue;
            f.whole = syn_candidate_whole(f.candidate, f.size);
            out[n++] = f;
        }
    qsort(out, n, sizeof *out, better_first);
    return n;
}

static void start_group(const found *f, syn_assembly *out)
{
    *out = (syn_assembly){.rung = f->candidate->rung, .score = f->score, .size = f->size};
    memcpy(out->member, f->candidate->member, f->size * sizeof *out->member);
}

/* Takes away the peaks that a group explains: of pairs with a member of `with`. */
static void explain(syn_assembly_search *s, const syn_assembly *g,
                    const syn_assembly *with)
{
    const syn_ladder *l = &s->ground.pairs.ladder;
    for (uint32_t x = 0; x < g->size; x++)
        for (uint32_t y = 0; y < g->size; y++) {
            uint32_t a = g->member[x].unit, b = g->member[y].unit;
            if (a >= b ||
                !(syn_assembly_member(with, a) || syn_assembly_member(with, b)))
                continue;
            size_t p = syn_pair_number(a, b);
            for (size_t i = s->peaks.first[p]; i < s->peaks.first[p + 1]; i++) {
                syn_peak *peak = s->peaks.peak + i;
                if (syn_assembly_has_pair(g, a, b, peak->lag, peak->rung, l))
                    peak->z = 0;
            }
        }
}

/* Whether half of its members are, at the same lags, in a group found before. */
static int known(const syn_assembly_search *s, const syn_assembly *g)
{
    for (uint32_t k = 0; k < s->groups; k++)
        if (2 * syn_assembly_shared(g, s->group + k, &s->ground.pairs.ladder) >= g->size)
            return 1;
    return 0;
}

/* Whether a group has two members of a candidate at their lag. */
static int touches(const syn_assembly_search *s, const syn_assembly *g,
                   const syn_member *m, uint32_t size)
{
    for (uint32_t x = 0; x < size; x++)
        for (uint32_t y = x + 1; y < size; y++)
            if (syn_assembly_has_pair(g, m[x].unit, m[y].unit, m[y].lag - m[x].lag,
                                      m->rung, &s->ground.pairs.ladder))
                return 1;
    return 0;
}

/* Of the groups that others are to be of, the one that shares most with a candidate, two
   members at least. */
static const syn_assembly *closest_among(const syn_assembly_search *s,
                                         const syn_assembly *start)
{
    const syn_assembly *closest = NULL;
    uint32_t most = 1;
    for (uint32_t k = 0; k < s->amongs; k++) {
        uint32_t n = syn_assembly_shared(start, s->among + k, &s->ground.pairs.ladder);
        if (n > most) {
            most = n;
            closest = s->among + k;
        }
    }
    return closest;
}

/* Whether a group that begins with others is to be grown: not where groups are to be of
   some, and it is of none. */
static int may_begin(syn_assembly_search *s, syn_grower *grower,
                     const syn_assembly *start)
{
    grower->among = s->refiner.among = closest_among(s, start);
    if (!s->among || grower->among)
        return 1;
    explain(s, start, start);
    return 0;
}

/* Refines a group that began with others, and keeps it unless it is known. Where it is
   kept, the other members that it began with may be those of another: the peaks of their
   pairs stay. */
static syn_status add_group(syn_assembly_search *s, const syn_assembly *start,
                            syn_assembly group, size_t *room, const syn_watch *watch)
{
    SYN_TRY(syn_assembly_refine(&s->refiner, &group, watch));
    explain(s, &group, &group);
    int is_new = group.size >= 3 && !known(s, &group);
    explain(s, start, is_new ? &group : start);
    if (!is_new)
        return SYN_OK;
    SYN_GROW(s->budget, s->group, *room, (size_t)s->groups + 1);
    s->group[s->groups++] = group;
    return SYN_OK;
}

/* Looks at all candidates that have nothing in common with one looked at before them;
   what is left of the others is found anew. `*n` is how many there were. */
static syn_status one_round(syn_assembly_search *s, syn_grower *grower,
                            const hunt *h, found *list, size_t *room, uint32_t *n,
                            const syn_watch *watch)
{
    SYN_TRY(syn_parallel_for(s->ground.pairs.ladder.rungs, s->options.ground.threads,
                             watch, "groups", hunt_recording, (void *)h));
    *n = above_bar(s, h, list);
    uint32_t groups = s->groups;
    s->listed = s->listed > *n ? s->listed : *n;
    for (uint32_t k = 0; k < *n; k++) {
        uint32_t done = s->listed - (*n - k);
        s->looked_at = done > s->looked_at ? done : s->looked_at;
        int seen = 0;
        for (uint32_t g = groups; g < s->groups && !seen; g++)
            seen = touches(s, s->group + g, list[k].candidate->member, list[k].size);
        for (uint32_t j = 0; j < k && !seen; j++) {
            syn_assembly before;
            start_group(list + j, &before);
            seen = touches(s, &before, list[k].candidate->member, list[k].size);
        }
        if (seen)
            continue;
        syn_assembly start, group;
        start_group(list + k, &start);
        if (!may_begin(s, grower, &start))
            continue;
        group = start;
        SYN_TRY(syn_assembly_grow(grower, &group, watch));
        SYN_TRY(add_group(s, &start, group, room, watch));
    }
    return SYN_OK;
}

/* Looks at chains above the bar, of members that no group has together. The peaks that
   they began with are taken away, so that others are found next. */
static syn_status round_of_chains(syn_assembly_search *s, syn_grower *grower,
                                  size_t *room, uint32_t *n, const syn_watch *watch)
{
    syn_chain chain[SYN_CHAINS];
    uint32_t all;
    syn_chains_find(s->moments, &s->peaks, chain, &all);
    for (*n = 0; *n < all; ++*n) {
        const syn_chain *c = chain + *n;
        double score = score_of_chain(&s->scores, c);
        s->best = score > s->best ? score : s->best;
        if (score <= s->scores.bar)
            break;
        syn_assembly start = {.rung = c->rung, .score = score, .size = c->size};
        memcpy(start.member, c->member, c->size * sizeof *c->member);
        int seen = 0;
        for (uint32_t g = 0; g < s->groups && !seen; g++)
            seen = touches(s, s->group + g, c->member, c->size);
        if (seen)
            explain(s, &start, &start);
        else if (may_begin(s, grower, &start))
            SYN_TRY(add_group(s, &start, start, room, watch));
        SYN_TRY(syn_poll(watch, "groups", 0, 0));
    }
    return SYN_OK;
}

syn_status syn_assembly_search_groups(syn_assembly_search *s, const syn_watch *watch)
{
    size_t places = (size_t)s->ground.pairs.ladder.rungs * SYN_CANDIDATES, room = 0;
    hunt h = {.search = s, .peaks = &s->peaks};
    syn_grower grower = {0};
    found *list = syn_budget_alloc(s->budget, places, sizeof *list);
    h.candidate = syn_budget_alloc(s->budget, places, sizeof *h.candidate);
    h.candidates =
        syn_budget_zeros(s->budget, s->ground.pairs.ladder.rungs, sizeof *h.candidates);
    syn_status status = list && h.candidate && h.candidates
                            ? syn_grower_make(&grower, &s->ground.pairs, s->budget)
                            : syn_budget_refusal(s->budget);
    for (uint32_t n = 1; status == SYN_OK && n > 0;)
        status = one_round(s, &grower, &h, list, &room, &n, watch);
    if (s->moments)
        syn_moments_lay_recording(s->moments);
    for (uint32_t n = 1; s->moments && status == SYN_OK && n > 0;)
        status = round_of_chains(s, &grower, &room, &n, watch);
    syn_grower_free(&grower, s->budget);
    SYN_GIVE(s->budget, list, h.candidate, h.candidates);
    return status;
}

/* ---- all of it ---- */

static syn_status make_room(syn_assembly_search *s)
{
    int threads = s->options.ground.threads;
    SYN_TAKE_ZEROS(s->budget, s->searcher, (size_t)threads);
    SYN_TRY(scores_make(&s->scores, s->options.surrogates, s->ground.pairs.ladder.rungs,
                        s->budget));
    for (int t = 0; t < threads; t++)
        SYN_TRY(syn_searcher_make(s->searcher + t, &s->ground.pairs.ladder,
                                  s->ground.pairs.units, s->budget));
    if (!syn_moments_may(&s->ground.pairs, &s->ground.segments))
        return SYN_OK;
    SYN_TAKE_ZEROS(s->budget, s->moments, (size_t)threads);
    for (int t = 0; t < threads; t++)
        SYN_TRY(syn_moments_make(s->moments + t, &s->ground.pairs, &s->ground.segments,
                                 &s->ground.binned, s->options.ground.key, s->budget));
    return SYN_OK;
}

/* All up to the first peaks. */
static syn_status prepare(syn_assembly_search *out, const syn_spikes *spikes,
                          const syn_assembly_search_options *options, syn_budget *budget,
                          const syn_watch *watch)
{
    *out =
        (syn_assembly_search){.options = *options, .budget = budget, .best = -INFINITY};
    out->options.ground.least = SYN_HINT_LEAST;
    SYN_TRY(syn_calm_make(&out->calm, spikes, &options->ground.events, options->step,
                          budget, watch));
    SYN_TRY(syn_ground_make(&out->ground, &out->calm.spikes, spikes,
                            &out->options.ground, budget, watch));
    return make_room(out);
}

syn_status syn_assembly_search_run(syn_assembly_search *out, const syn_spikes *spikes,
                                   const syn_assembly_search_options *options,
                                   syn_budget *budget, const syn_watch *watch)
{
    progress p = {.watch = watch, .total = options->surrogates};
    syn_watch whole = {.poll = poll, .data = &p};
    SYN_TRY(prepare(out, spikes, options, budget, &whole));
    SYN_TRY(syn_ground_recording(&out->ground, &out->peaks, &whole));
    SYN_TRY(find_maxima(out, &p, &whole));
    SYN_TRY(find_bar(out));
    SYN_TRY(syn_refiner_make(&out->refiner, &out->ground.pairs, &out->ground.segments,
                             options->step, budget));
    p.search = out;
    return syn_assembly_search_groups(out, &whole);
}

syn_status syn_assembly_search_maxima(syn_assembly_search *out, const syn_spikes *spikes,
                                      const syn_assembly_search_options *options,
                                      syn_budget *budget, const syn_watch *watch)
{
    progress p = {.watch = watch, .total = options->surrogates};
    syn_watch whole = {.poll = poll, .data = &p};
    SYN_TRY(prepare(out, spikes, options, budget, &whole));
    return find_maxima(out, &p, &whole);
}

syn_status syn_activations_of(syn_refiner *refiner, const syn_assembly *group,
                              syn_detected *out)
{
    SYN_TRY(syn_refiner_learn(refiner, group, MOVES));
    return syn_detect(&refiner->detector, 0, group->size, &refiner->surprise, MOVES,
                      UNSURE, out);
}

syn_status syn_assembly_activations(syn_assembly_search *search, uint32_t g,
                                    syn_detected *out)
{
    return syn_activations_of(&search->refiner, search->group + g, out);
}
