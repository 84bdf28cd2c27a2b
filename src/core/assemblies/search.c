/* Runs the search. Every surrogate goes through all that the recording goes through up to
   the best groups on each rung; only groups whose evidence is above that of most
   surrogates are looked at further, so a recording of independent units has a group no
   more often than so. */
#include "core/assemblies/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/base/parallel.h"

/* ---- scores of surrogates ----

   Standardises evidence, so that no width and no size has more weight than others. */

static const double LEAST_DEVIATION = 0.4;  /* of the largest evidence over surrogates */

static syn_status scores_make(syn_scores *out, uint32_t surrogates, uint32_t rungs,
                              syn_budget *budget)
{
    size_t places = (size_t)rungs * SYN_SIZES + 1;
    *out = (syn_scores){.surrogates = surrogates, .places = places};
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

/* The score of a candidate, and how many members it has in the class of sizes in which
   its evidence is most above the mean of surrogates: deviations of surrogates differ by
   more from one set of them to another, and would name another class. Above the bar the
   classes end before evidence falls: members that come after that may be those of another
   group. */
static double scores_of(const syn_scores *scores, const syn_candidate *candidate,
                        uint32_t *size)
{
    const syn_assembly *group = &candidate->group;
    const double *mean = scores->mean + (size_t)group->rung * SYN_SIZES;
    const double *deviation = scores->deviation + (size_t)group->rung * SYN_SIZES;
    double best = -INFINITY, most = -INFINITY;
    *size = group->size;
    for (uint32_t k = 0; k < SYN_SIZES; k++) {
        double above = syn_candidate_evidence(candidate, k) - mean[k];
        uint32_t own = syn_size_of_class(k);
        if (above < most && best > scores->bar)
            break;
        best = above / deviation[k] > best ? above / deviation[k] : best;
        if (above <= most)
            continue;
        most = above;
        *size = own < group->size ? own : group->size;
    }
    return best;
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
    syn_trains_free(&s->ground.segments.trains);
    if (s->budget)
        syn_budget_end(s->budget);
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
    syn_assembly chain[SYN_CHAINS];
    uint32_t n;
    syn_moments_lay(moments, &surrogate);
    syn_chains_find(moments, peaks, chain, &n);
    return n > 0 ? chain->score : 0;
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
        SYN_TRY(s->ground.source.surrogates(s->ground.source.self,
                                            s->options.first + from, n - from, list,
                                            &p->batch, watch));
        made = p->batch;
        p->batch = 0;
        p->done = from + made;
        hunt h = {.search = s, .peaks = list, .from = from, .candidate = room};
        SYN_TRY(syn_parallel_for((size_t)made * (s->ground.pairs.ladder.rungs + 1),
                                 s->options.ground.threads, watch, "surrogates",
                                 hunt_surrogate, &h));
        for (uint32_t k = 0; k < n - from; k++)
            syn_peaks_free(list + k);
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
    syn_peaks *list;
    syn_candidate *room;
    SYN_TAKE_ZEROS(s->budget, list, s->options.surrogates);
    SYN_TAKE(s->budget, room, (size_t)s->options.ground.threads * SYN_CANDIDATES);
    SYN_TRY(hunt_surrogates(s, list, room, p, watch));
    SYN_GIVE(s->budget, list, room);
    return SYN_OK;
}

/* The bar is such that so many surrogates pass it as may. */
static syn_status find_bar(syn_assembly_search *s)
{
    for (size_t place = 0; place + !s->moments < s->scores.places; place++)
        standardise(&s->scores, place);
    double *sorted;
    SYN_TAKE(s->budget, sorted, s->scores.surrogates);
    memcpy(sorted, s->scores.score, s->scores.surrogates * sizeof *sorted);
    qsort(sorted, s->scores.surrogates, sizeof *sorted, syn_by_falling);
    s->scores.bar = sorted[s->options.exceeded];
    syn_budget_free(s->budget, sorted);
    return SYN_OK;
}

/* ---- groups ---- */

/* What a group begins with: a candidate or a chain of the recording above the bar. */
typedef struct beginning {
    syn_assembly group;
    double whole;     /* of a candidate */
    uint32_t number;  /* among all above the bar */
} beginning;

/* Those of a round, and whether they are chains. */
typedef struct beginnings {
    beginning *list;
    uint32_t n;
    int chains;
    hunt hunt;
    syn_grower grower;
    size_t room;  /* of the search's groups */
} beginnings;

/* By what is not cut, so that the width is the one at which the excess is largest. */
static int better_first(const void *x, const void *y)
{
    const beginning *a = x, *b = y;
    if (a->whole != b->whole)
        return a->whole < b->whole ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Whether a score is above the bar; the best one is noted. */
static int passes(syn_assembly_search *s, double score)
{
    s->best = score > s->best ? score : s->best;
    return score > s->scores.bar;
}

static syn_status list_candidates(syn_assembly_search *s, beginnings *x,
                                  const syn_watch *watch)
{
    SYN_TRY(syn_parallel_for(s->ground.pairs.ladder.rungs, s->options.ground.threads,
                             watch, "groups", hunt_recording, &x->hunt));
    x->n = 0;
    for (uint32_t r = 0; r < s->ground.pairs.ladder.rungs; r++)
        for (uint32_t k = 0; k < x->hunt.candidates[r]; k++) {
            const syn_candidate *c = x->hunt.candidate + r * SYN_CANDIDATES + k;
            beginning *to = x->list + x->n;
            *to = (beginning){.group = c->group, .number = x->n};
            to->group.score = scores_of(&s->scores, c, &to->group.size);
            to->whole = syn_candidate_whole(c, to->group.size);
            x->n += passes(s, to->group.score) != 0;
        }
    qsort(x->list, x->n, sizeof *x->list, better_first);
    s->listed = s->listed > x->n ? s->listed : x->n;
    return SYN_OK;
}

/* Chains above the bar, the best one first. */
static void list_chains(syn_assembly_search *s, beginnings *x)
{
    syn_assembly chain[SYN_CHAINS];
    size_t place = s->scores.places - 1;
    uint32_t all;
    syn_chains_find(s->moments, &s->peaks, chain, &all);
    for (x->n = 0; x->n < all; x->n++) {
        chain[x->n].score = (chain[x->n].score - s->scores.mean[place]) /
                            s->scores.deviation[place];
        if (!passes(s, chain[x->n].score))
            break;
        x->list[x->n].group = chain[x->n];
    }
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
                   const syn_assembly *start)
{
    const syn_member *m = start->member;
    for (uint32_t x = 0; x < start->size; x++)
        for (uint32_t y = x + 1; y < start->size; y++)
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

/* Makes groups of what a round begins with. A candidate that has two members at their lag
   in common with one before it, or with a group of this round, waits: what is left of it
   is found anew in the next round. A chain of which any group has two members at their
   lag becomes no group; but the peaks of its pairs are taken away, so that the next round
   finds other chains. */
static syn_status one_round(syn_assembly_search *s, beginnings *x, const syn_watch *watch)
{
    uint32_t groups = x->chains ? 0 : s->groups;
    for (uint32_t k = 0; k < x->n; k++) {
        const syn_assembly *start = &x->list[k].group;
        syn_assembly group = *start;
        uint32_t done = x->chains ? 0 : s->listed - (x->n - k);
        s->looked_at = done > s->looked_at ? done : s->looked_at;
        SYN_TRY(syn_poll(watch, "groups", 0, 0));
        int seen = 0;
        for (uint32_t g = groups; g < s->groups && !seen; g++)
            seen = touches(s, s->group + g, start);
        for (uint32_t j = 0; j < k && !seen && !x->chains; j++)
            seen = touches(s, &x->list[j].group, start);
        if (seen && x->chains)
            explain(s, start, start);
        if (seen || !may_begin(s, &x->grower, start))
            continue;
        if (!x->chains)
            SYN_TRY(syn_assembly_grow(&x->grower, &group, watch));
        SYN_TRY(add_group(s, start, group, &x->room, watch));
    }
    return SYN_OK;
}

syn_status syn_assembly_search_groups(syn_assembly_search *s, const syn_watch *watch)
{
    uint32_t rungs = s->ground.pairs.ladder.rungs;
    size_t places = (size_t)rungs * SYN_CANDIDATES;
    beginnings x = {.hunt = {.search = s, .peaks = &s->peaks}};
    SYN_TAKE(s->budget, x.list, places);
    SYN_TAKE(s->budget, x.hunt.candidate, places);
    SYN_TAKE_ZEROS(s->budget, x.hunt.candidates, rungs);
    SYN_TRY(syn_grower_make(&x.grower, &s->ground.pairs, s->budget));
    do {
        SYN_TRY(list_candidates(s, &x, watch));
        SYN_TRY(one_round(s, &x, watch));
    } while (x.n > 0);
    x.chains = s->moments != NULL;
    if (x.chains)
        syn_moments_lay(s->moments, NULL);
    for (int more = x.chains; more; more = x.n > 0) {
        list_chains(s, &x);
        SYN_TRY(one_round(s, &x, watch));
    }
    SYN_GIVE(s->budget, x.list, x.hunt.candidate, x.hunt.candidates, x.grower.may,
             x.grower.best);
    return SYN_OK;
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
