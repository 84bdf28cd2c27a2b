/* Refines groups. Pairs say little of a unit that fires a lot; the activations of a
   group, found from its other members, say much: a histogram of the spikes of each unit
   around them is judged as lag histograms are, against the time beside a window and
   against what all units do there. */
#include "core/assemblies/refine.h"

#include <string.h>

#include "core/base/parallel.h"
#include "core/base/seek.h"

enum { MANY = 8, MOST_ROUNDS = 4, MOVES = 4, LEARN = 2, LEARN_MOVES = 2, FEWEST = 8,
       FEW_UNITS = 100,
       FITTED = 64 };  /* lags that a thread fits at a time, at most */

static const double ADD = 5.5;   /* z of a unit that becomes a member */
static const double STAY = 4.5;  /* z of one that stays */
static const double STAY_OF_MANY = 3;
static const double STAY_BY_PAIRS = 5;  /* support by pairs of one that stays anyway, */
static const double STAY_BY_TWO = 5.5;  /* and where it has two alone: any third unit may
                                           have them by chance with a strong pair */
static const double SHARE = 0.1; /* of the activations that a member takes part in, above
                                    chance, at least */

syn_status syn_refiner_make(syn_refiner *out, const syn_lagged *pairs,
                            const syn_segments *segments, int64_t step,
                            syn_budget *budget)
{
    *out = (syn_refiner){.pairs = pairs, .budget = budget};
    out->detector = (syn_detector){.segments = segments, .ladder = &pairs->ladder,
                                   .bin = pairs->bin, .step = step,
                                   .locked = pairs->locked,
                                   .threads = pairs->threads, .budget = budget};
    SYN_TRY(syn_detector_make(&out->detector));
    size_t units = pairs->units, length = 2 * (size_t)pairs->ladder.margin + 1;
    size_t lags = 2 * (size_t)pairs->ladder.lags + 1;
    size_t places = SYN_REFINE_RUNGS * lags;
    SYN_TAKE(budget, out->sum, units * length);
    if (pairs->locked)
        SYN_TAKE(budget, out->moved, units * length);
    SYN_TAKE(budget, out->row, 2 * units);
    SYN_TAKE(budget, out->clumps, units);
    SYN_TAKE_ZEROS(budget, out->common, places);
    SYN_TAKE_ZEROS(budget, out->spread, places);
    SYN_TAKE(budget, out->moments, lags);
    return SYN_OK;
}

void syn_refiner_free(syn_refiner *r)
{
    syn_detector_free(&r->detector);
    SYN_GIVE(r->budget, r->sum, r->moved, r->row, r->clumps, r->common, r->spread,
             r->moments);
    memset(r, 0, sizeof *r);
}

/* ---- histograms around activations ---- */

static uint32_t lowest_rung(const syn_refiner *r, const syn_assembly *g)
{
    uint32_t rung = g->rung > 0 ? g->rung - 1 : 0;
    uint32_t last = r->pairs->ladder.rungs;
    return last < SYN_REFINE_RUNGS ? 0
           : rung + SYN_REFINE_RUNGS > last ? last - SYN_REFINE_RUNGS
                                            : rung;
}

static uint32_t rungs_of(const syn_refiner *r)
{
    uint32_t rungs = r->pairs->ladder.rungs;
    return rungs < SYN_REFINE_RUNGS ? rungs : SYN_REFINE_RUNGS;
}

/* Lags that are looked at, in bins. */
typedef struct lag_range {
    int32_t low, high;
} lag_range;

static lag_range all_lags(const syn_refiner *r)
{
    int32_t lags = (int32_t)r->pairs->ladder.lags;
    return (lag_range){.low = -lags, .high = lags};
}

/* What others have in common on a rung, which threads find for some lags each. */
typedef struct others {
    const syn_refiner *refiner;
    uint32_t rung;
    syn_excess_many many;
    int32_t each;             /* lags of an item */
    double *common, *spread;  /* at lag 0 */
} others;

static syn_status fit_some(void *context, size_t item, int thread)
{
    const others *o = context;
    syn_excess_many some = o->many;
    (void)thread;
    some.from += (int32_t)item * o->each;
    if (some.to - some.from >= o->each)
        some.to = some.from + o->each - 1;
    syn_excess_fit(&o->refiner->pairs->ladder, o->rung, &some, o->common, o->spread,
                   o->refiner->moments);
    return SYN_OK;
}

static void fit_rung(others *o)
{
    int32_t lags = o->many.to - o->many.from + 1, threads = o->refiner->pairs->threads;
    if (lags <= 0)
        return;
    o->each = (lags + threads - 1) / threads;
    o->each = o->each < FITTED ? o->each : FITTED;
    (void)syn_parallel_for((size_t)((lags + o->each - 1) / o->each), threads, NULL,
                           "groups", fit_some, o);
}

/* What units that are neither members nor `but` have in common there. */
static void fit_others(syn_refiner *r, const syn_assembly *g, uint32_t but,
                       lag_range range)
{
    const syn_ladder *l = &r->pairs->ladder;
    size_t length = 2 * (size_t)l->margin + 1, lags = 2 * (size_t)l->lags + 1;
    memset(r->common, 0, SYN_REFINE_RUNGS * lags * sizeof *r->common);
    memset(r->spread, 0, SYN_REFINE_RUNGS * lags * sizeof *r->spread);
    for (uint32_t k = 0; k < rungs_of(r); k++) {
        uint32_t rung = lowest_rung(r, g) + k;
        others o = {.refiner = r, .rung = rung,
                    .many = {.sum = r->row, .clumps = r->clumps,
                             .predicted = r->moved ? r->row + r->pairs->units : NULL},
                    .common = r->common + k * lags + l->reach[rung],
                    .spread = r->spread + k * lags + l->reach[rung]};
        /* The grid of a rung within a range, as syn_excess_many has it. */
        int32_t reach = (int32_t)l->reach[rung], step = (int32_t)l->step[rung];
        o.many.from = -reach;
        o.many.to = reach;
        while (o.many.from <= reach && o.many.from * step < range.low)
            o.many.from++;
        while (o.many.to >= -reach && o.many.to * step > range.high)
            o.many.to--;
        for (uint32_t u = 0; u < r->pairs->units; u++) {
            if (u == but || syn_assembly_member(g, u))
                continue;
            r->row[o.many.n] = r->sum + u * length + l->margin;
            if (r->moved)
                r->row[r->pairs->units + o.many.n] = r->moved + u * length + l->margin;
            r->clumps[o.many.n++] = r->pairs->clumps[(size_t)rung * r->pairs->units + u];
        }
        if (o.many.n < FEWEST)
            return;
        fit_rung(&o);
    }
}

/* Bins that windows with lags in a range and all beside them reach, within the margin.
   There may be none: of a long sequence, members come later than any lag. */
static lag_range reach_of(const syn_refiner *r, const syn_assembly *g, lag_range range)
{
    const syn_ladder *l = &r->pairs->ladder;
    int32_t half = (int32_t)l->half[lowest_rung(r, g) + rungs_of(r) - 1];
    int32_t beyond = 2 * half + 2 + SYN_LADDER_BESIDE * (2 * half + 1);
    int32_t margin = (int32_t)l->margin, low = range.low - beyond;
    int32_t high = range.high + beyond;
    return (lag_range){.low = low > -margin ? low : -margin,
                       .high = high < margin ? high : margin};
}

/* Around the first `n` activations, in bins of a range. */
typedef struct surroundings {
    const syn_refiner *refiner;
    size_t n, bins;
    lag_range range;
} surroundings;

/* Counts spikes in the rows of their units, or all in one row; `sum` is the first bin of
   the first row. */
static void count_train(const surroundings *a, syn_train own, const uint32_t *unit,
                        int32_t *sum)
{
    const syn_refiner *r = a->refiner;
    int64_t bin = r->pairs->bin, ticks = (int64_t)a->bins * bin;
    size_t length = 2 * (size_t)r->pairs->ladder.margin + 1;
    for (size_t i = 0; i < a->n; i++) {
        int64_t from = r->detector.found[i].tick + a->range.low * bin - (bin - 1) / 2;
        size_t e = 0;
        SYN_SEEK(size_t, at, e, own.n, own.tick[at] < from);
        for (; e < own.n && own.tick[e] < from + ticks; e++)
            sum[(unit ? unit[e] * length : 0) + (size_t)((own.tick[e] - from) / bin)]++;
    }
}

/* Running sums of the spikes of each unit around the activations, in r->sum, and of its
   predictor, in r->moved: what it does there by its responses alone. */
static void sum_around(syn_refiner *r, size_t activations, lag_range range)
{
    if (range.low > range.high)
        return;
    surroundings a = {.refiner = r, .n = activations, .range = range,
                      .bins = (size_t)(range.high - range.low) + 1};
    size_t length = 2 * (size_t)r->pairs->ladder.margin + 1, units = r->pairs->units;
    int32_t *row[2] = {r->sum, r->moved};
    for (int k = 0; k < (r->moved ? 2 : 1); k++) {
        row[k] += range.low + (int32_t)r->pairs->ladder.margin;
        for (size_t u = 0; u < units; u++)
            memset(row[k] + u * length, 0, a.bins * sizeof *row[k]);
    }
    const syn_recording *x = &r->detector.segments->recording;
    count_train(&a, (syn_train){.tick = x->tick, .n = x->events}, x->unit, row[0]);
    for (uint32_t u = 0; r->moved && u < units; u++)
        count_train(&a, syn_locked_train(r->pairs->locked, u), NULL, row[1] + u * length);
    for (int k = 0; k < (r->moved ? 2 : 1); k++)
        for (size_t u = 0; u < units; u++)
            for (size_t i = 1; i < a.bins; i++)
                row[k][u * length + i] += row[k][u * length + i - 1];
}

/* Activations from members other than `but`, and the spikes of all units around them. */
static syn_status look_around(syn_refiner *r, const syn_assembly *g, uint32_t but,
                              lag_range range)
{
    syn_detected detected;
    SYN_TRY(syn_detect(&r->detector, g, but, &r->surprise, MOVES, 0, &detected));
    r->around = detected.n;
    sum_around(r, detected.n, reach_of(r, g, range));
    return SYN_OK;
}

/* The best place of a unit with lags in a range; gives its z. */
static double best_place(const syn_refiner *r, const syn_assembly *g, lag_range range,
                         syn_member *member)
{
    const syn_ladder *l = &r->pairs->ladder;
    size_t length = 2 * (size_t)l->margin + 1, lags = 2 * (size_t)l->lags + 1;
    const int32_t *sum = r->sum + member->unit * length + l->margin;
    const int32_t *predicted =
        r->moved ? r->moved + member->unit * length + l->margin : NULL;
    double best = 0;
    for (uint32_t k = 0; k < rungs_of(r); k++) {
        uint32_t rung = lowest_rung(r, g) + k;
        int32_t step = (int32_t)l->step[rung], reach = (int32_t)l->reach[rung];
        const double *common = r->common + k * lags + reach;
        const double *spread = r->spread + k * lags + reach;
        int32_t half = (int32_t)l->half[rung];
        syn_excess_scale e = {
            .clumps = r->pairs->clumps[(size_t)rung * r->pairs->units + member->unit] *
                      syn_lagged_unsure(r->pairs)};
        for (int32_t i = -reach; i <= reach; i++) {
            if (i * step < range.low || i * step > range.high)
                continue;
            syn_sides s = syn_sides_look(sum, half, i * step);
            e.common = syn_excess_common(common[i], predicted, half, i * step);
            e.spread = spread[i];
            if (!syn_excess_may_pass(s, e, best * best) ||
                s.in - syn_excess_expected(s, e) < SHARE * (double)r->around)
                continue;
            double z = syn_excess_z(s, e);
            if (z > best) {
                best = z;
                member->lag = i * step;
                member->rung = rung;
            }
        }
    }
    return best;
}

/* ---- members in and out ---- */

syn_status syn_refiner_learn(syn_refiner *r, const syn_assembly *g)
{
    syn_surprise_before(&r->detector, g, &r->surprise);
    for (int round = 0; round < LEARN; round++)
        SYN_TRY(syn_surprise_learn(&r->detector, g, LEARN_MOVES, &r->surprise));
    return SYN_OK;
}

/* Whether a unit would be added if nothing were common to units. Only then is what others
   have in common found without it: among few, it would hide itself. */
static int has_excess(syn_refiner *r, const syn_assembly *g, syn_member *m)
{
    size_t places = SYN_REFINE_RUNGS * (2 * (size_t)r->pairs->ladder.lags + 1);
    memset(r->common, 0, places * sizeof *r->common);
    memset(r->spread, 0, places * sizeof *r->spread);
    return best_place(r, g, all_lags(r), m) >= ADD;
}

/* Whether a unit may be added to a group. */
static int may_add(const syn_refiner *r, const syn_assembly *g, uint32_t unit)
{
    return !syn_assembly_member(g, unit) &&
           (!r->among || syn_assembly_member(r->among, unit));
}

static int may_add_any(const syn_refiner *r, const syn_assembly *g)
{
    for (uint32_t u = 0; u < r->pairs->units; u++)
        if (may_add(r, g, u))
            return 1;
    return 0;
}

static syn_status add_members(syn_refiner *r, syn_assembly *g, int *added)
{
    *added = 0;
    if (!may_add_any(r, g))
        return SYN_OK;
    syn_status status = syn_refiner_learn(r, g);
    SYN_NEXT(status, look_around(r, g, g->size, all_lags(r)));
    syn_assembly before = *g;
    /* Few may be added, or what others have in common is found without each of them. */
    int one_by_one = r->among || r->pairs->units <= FEW_UNITS;
    if (status == SYN_OK && !one_by_one)
        fit_others(r, &before, UINT32_MAX, all_lags(r));
    for (uint32_t u = 0; status == SYN_OK && u < r->pairs->units; u++) {
        syn_member m = {.unit = u};
        if (!may_add(r, &before, u) || g->size == SYN_ASSEMBLY_MOST)
            continue;
        if (one_by_one) {
            if (!has_excess(r, &before, &m))
                continue;
            fit_others(r, &before, u, all_lags(r));
        }
        if (best_place(r, &before, all_lags(r), &m) < ADD)
            continue;
        g->member[g->size++] = m;
        *added = 1;
    }
    return status;
}

/* Places each member anew by the activations of the others, and takes out the one that
   they say least of, if that is below `stay`. Where units fire a lot, few of the
   activations that the others show are real; there the pairs of a member may say enough,
   where it is one of few. */
static syn_status check_members(syn_refiner *r, syn_assembly *g, double stay,
                                int *dropped)
{
    uint32_t worst = g->size;
    double least = stay;
    *dropped = 0;
    SYN_TRY(syn_refiner_learn(r, g));
    for (uint32_t m = 0; m < g->size; m++) {
        syn_member place = g->member[m];
        const syn_ladder *l = &r->pairs->ladder;
        int32_t width = (int32_t)syn_ladder_width(l, place.rung);
        lag_range near = {.low = place.lag - width, .high = place.lag + width};
        SYN_TRY(look_around(r, g, m, near));
        fit_others(r, g, UINT32_MAX, near);
        double z = best_place(r, g, near, &place);
        if (z >= stay)
            g->member[m] = place;
        else if (stay == STAY && syn_assembly_support(r->pairs, g, m) >=
                                     (g->size > 3 ? STAY_BY_PAIRS : STAY_BY_TWO))
            continue;
        if (z < least) {
            least = z;
            worst = m;
        }
    }
    if (worst == g->size)
        return SYN_OK;
    memmove(g->member + worst, g->member + worst + 1,
            (g->size - worst - 1) * sizeof *g->member);
    g->size--;
    *dropped = 1;
    return SYN_OK;
}

syn_status syn_assembly_refine(syn_refiner *refiner, syn_assembly *group,
                               const syn_watch *watch)
{
    syn_status status = SYN_OK;
    int added = 1, dropped = 1;
    /* What many pairs say together was tested: of a sequence that comes back twenty
       times, each member says little by itself. */
    double stay = group->size < MANY ? STAY : STAY_OF_MANY;
    for (int round = 0; added && round < MOST_ROUNDS; round++) {
        SYN_TRY(add_members(refiner, group, &added));
        dropped = 1;
        while (dropped && group->size > 2) {
            if ((status = syn_poll(watch, "groups", round, MOST_ROUNDS)) != SYN_OK ||
                (status = check_members(refiner, group, stay, &dropped)) != SYN_OK)
                return status;
        }
    }
    syn_assembly_tidy(group);
    return status;
}
