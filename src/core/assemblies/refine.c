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
       OTHERS = 128,   /* units that say what others have in common, about, at most */
       FITTED = 64,    /* lags that a thread fits at a time, at most */
       LARGE = 16,     /* groups of so many members, of which */
       TOGETHER = 4 }; /* one in so many may leave at a time */

static const double ADD = 5.5;   /* z of a unit that becomes a member */
static const double STAY = 4.5;  /* z of one that stays */
static const double STAY_OF_MANY = 3;
static const double STAY_BY_PAIRS = 5;  /* support by pairs of one that stays anyway, */
static const double STAY_BY_TWO = 5.5;  /* and where it has two alone: any third unit may
                                           have them by chance with a strong pair */
static const double SHARE = 0.1; /* of the activations that a member takes part in, above
                                    chance, at least */

/* ---- memory ---- */

static syn_status around_make(syn_around *out, const syn_lagged *pairs,
                              syn_budget *budget)
{
    size_t lags = 2 * (size_t)pairs->ladder.lags + 1, places = SYN_REFINE_RUNGS * lags;
    SYN_TAKE(budget, out->place, pairs->units);
    SYN_TAKE(budget, out->row, 2 * (size_t)pairs->units);
    SYN_TAKE(budget, out->clumps, pairs->units);
    SYN_TAKE(budget, out->common, places);
    SYN_TAKE(budget, out->spread, places);
    SYN_TAKE(budget, out->moments, lags);
    return SYN_OK;
}

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
    SYN_TAKE_ZEROS(budget, out->around, (size_t)pairs->threads);
    SYN_TAKE_ZEROS(budget, out->none, 2 * (size_t)pairs->ladder.lags + 1);
    SYN_TAKE(budget, out->place, pairs->units);
    SYN_TAKE(budget, out->z, pairs->units);
    for (int t = 0; t < pairs->threads; t++)
        SYN_TRY(around_make(out->around + t, pairs, budget));
    return SYN_OK;
}

/* ---- widths and lags ---- */

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

/* Lags near that of a member. */
static lag_range near(const syn_refiner *r, const syn_member *m)
{
    int32_t width = (int32_t)syn_ladder_width(&r->pairs->ladder, m->rung);
    return (lag_range){.low = m->lag - width, .high = m->lag + width};
}

/* Bins that windows with lags in a range and all beside them reach, within the margin,
   and lag 0. */
static lag_range reach_of(const syn_refiner *r, const syn_assembly *g, lag_range range)
{
    const syn_ladder *l = &r->pairs->ladder;
    int32_t half = (int32_t)l->half[lowest_rung(r, g) + rungs_of(r) - 1];
    int32_t beyond = 2 * half + 2 + SYN_LADDER_BESIDE * (2 * half + 1);
    int32_t margin = (int32_t)l->margin, low = range.low - beyond;
    int32_t high = range.high + beyond;
    low = low < 0 ? low : 0;
    high = high > 0 ? high : 0;
    return (lag_range){.low = low > -margin ? low : -margin,
                       .high = high < margin ? high : margin};
}

/* ---- histograms around activations ---- */

static size_t bins_of(const syn_around *a) { return (size_t)(a->high - a->low) + 1; }

/* Of many others, evenly spread ones say what all have in common. `*k` counts those that
   were asked about before. */
static int is_asked(const syn_refiner *r, const syn_assembly *g, uint32_t unit,
                    uint32_t *k)
{
    uint32_t others = r->pairs->units - g->size;
    return !syn_assembly_member(g, unit) && (*k)++ % (others / OTHERS + 1) == 0;
}

/* Gives units rows: all of them, or members and those that are asked. */
static void give_rows(const syn_refiner *r, const syn_assembly *g, int all, syn_around *a)
{
    uint32_t k = 0;
    a->rows = 0;
    for (uint32_t u = 0; u < r->pairs->units; u++) {
        int has = is_asked(r, g, u, &k) || all || syn_assembly_member(g, u);
        a->place[u] = has ? a->rows++ : SYN_NO_ROW;
    }
}

/* Counts spikes in the rows of their units, or all in one row. */
static void count_train(const syn_refiner *r, const syn_around *a,
                        const syn_detected *at, syn_train own, const uint32_t *unit,
                        int32_t *sum)
{
    size_t bins = bins_of(a);
    int64_t bin = r->pairs->bin, ticks = (int64_t)bins * bin;
    for (size_t i = 0; i < at->n; i++) {
        int64_t from = at->found[i].tick + a->low * bin - (bin - 1) / 2;
        size_t e = 0;
        SYN_SEEK(size_t, k, e, own.n, own.tick[k] < from);
        for (; e < own.n && own.tick[e] < from + ticks; e++) {
            uint32_t row = unit ? a->place[unit[e]] : 0;
            if (row != SYN_NO_ROW)
                sum[row * bins + (size_t)((own.tick[e] - from) / bin)]++;
        }
    }
}

static void add_up(const syn_around *a, int32_t *sum)
{
    for (size_t k = 0; k < a->rows; k++, sum += bins_of(a))
        for (size_t i = 1; i < bins_of(a); i++)
            sum[i] += sum[i - 1];
}

/* Running sums of the spikes of each unit with a row around the activations, in a->sum,
   and of its predictor, in a->moved: what it does there by its responses alone. */
static syn_status sum_around(const syn_refiner *r, const syn_detected *at,
                             lag_range range, syn_around *a)
{
    const syn_recording *x = &r->detector.segments->recording;
    a->activations = at->n;
    a->low = range.low;
    a->high = range.high;
    size_t bins = bins_of(a), n = a->rows * bins;
    SYN_RENEW(r->budget, a->sum, a->sum_room, n);
    memset(a->sum, 0, n * sizeof *a->sum);
    count_train(r, a, at, (syn_train){.tick = x->tick, .n = x->events}, x->unit, a->sum);
    add_up(a, a->sum);
    if (!r->pairs->locked)
        return SYN_OK;
    SYN_RENEW(r->budget, a->moved, a->moved_room, n);
    memset(a->moved, 0, n * sizeof *a->moved);
    for (uint32_t u = 0; u < r->pairs->units; u++)
        if (a->place[u] != SYN_NO_ROW)
            count_train(r, a, at, syn_locked_train(r->pairs->locked, u), NULL,
                        a->moved + a->place[u] * bins);
    add_up(a, a->moved);
    return SYN_OK;
}

/* Lag 0 of a unit. */
static const int32_t *lag_0(const syn_around *a, const int32_t *sum, uint32_t unit)
{
    return sum ? sum + a->place[unit] * bins_of(a) + (size_t)-a->low : NULL;
}

/* ---- what others have in common ---- */

/* On a rung; threads find it for some lags each. */
typedef struct others {
    const syn_refiner *refiner;
    uint32_t rung;
    syn_excess_many many;
    int32_t each;             /* lags of an item */
    double *common, *spread;  /* at lag 0 */
    syn_excess_moments *moments;
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
                   o->moments);
    return SYN_OK;
}

static void fit_rung(others *o, int threads)
{
    int32_t lags = o->many.to - o->many.from + 1;
    if (lags <= 0)
        return;
    o->each = (lags + threads - 1) / threads;
    o->each = o->each < FITTED ? o->each : FITTED;
    (void)syn_parallel_for((size_t)((lags + o->each - 1) / o->each), threads, NULL,
                           "groups", fit_some, o);
}

/* What units that are neither members nor `but` have in common at the lags of a range. */
static void fit_others(const syn_refiner *r, const syn_assembly *g, uint32_t but,
                       lag_range range, syn_around *a, int threads)
{
    const syn_ladder *l = &r->pairs->ladder;
    size_t lags = 2 * (size_t)l->lags + 1;
    memset(a->common, 0, SYN_REFINE_RUNGS * lags * sizeof *a->common);
    memset(a->spread, 0, SYN_REFINE_RUNGS * lags * sizeof *a->spread);
    for (uint32_t k = 0; k < rungs_of(r); k++) {
        uint32_t rung = lowest_rung(r, g) + k;
        others o = {.refiner = r, .rung = rung, .moments = a->moments,
                    .many = {.sum = a->row, .clumps = a->clumps,
                             .predicted = a->moved ? a->row + r->pairs->units : NULL},
                    .common = a->common + k * lags + l->reach[rung],
                    .spread = a->spread + k * lags + l->reach[rung]};
        /* The grid of a rung within a range, as syn_excess_many has it. */
        int32_t reach = (int32_t)l->reach[rung], step = (int32_t)l->step[rung];
        o.many.from = -reach;
        o.many.to = reach;
        while (o.many.from <= reach && o.many.from * step < range.low)
            o.many.from++;
        while (o.many.to >= -reach && o.many.to * step > range.high)
            o.many.to--;
        for (uint32_t u = 0, asked = 0; u < r->pairs->units; u++) {
            if (!is_asked(r, g, u, &asked) || u == but)
                continue;
            a->row[o.many.n] = lag_0(a, a->sum, u);
            a->row[r->pairs->units + o.many.n] = lag_0(a, a->moved, u);
            a->clumps[o.many.n++] = r->pairs->clumps[(size_t)rung * r->pairs->units + u];
        }
        if (o.many.n < FEWEST)
            return;
        fit_rung(&o, threads);
    }
}

/* ---- places ---- */

/* The best place of a unit with lags in a range; gives its z. Others have something in
   common, or nothing. */
static double best_place(const syn_refiner *r, const syn_assembly *g,
                         const syn_around *a, int anything_common, lag_range range,
                         syn_member *member)
{
    const syn_ladder *l = &r->pairs->ladder;
    size_t lags = 2 * (size_t)l->lags + 1;
    const int32_t *sum = lag_0(a, a->sum, member->unit);
    const int32_t *predicted = lag_0(a, a->moved, member->unit);
    double best = 0;
    for (uint32_t k = 0; k < rungs_of(r); k++) {
        uint32_t rung = lowest_rung(r, g) + k;
        int32_t step = (int32_t)l->step[rung], reach = (int32_t)l->reach[rung];
        const double *common = anything_common ? a->common + k * lags : r->none;
        const double *spread = anything_common ? a->spread + k * lags : r->none;
        int32_t half = (int32_t)l->half[rung];
        syn_excess_scale e = {
            .clumps = r->pairs->clumps[(size_t)rung * r->pairs->units + member->unit] *
                      syn_lagged_unsure(r->pairs)};
        for (int32_t i = -reach; i <= reach; i++) {
            if (i * step < range.low || i * step > range.high)
                continue;
            syn_sides s = syn_sides_look(sum, half, i * step);
            e.common = syn_excess_common(common[reach + i], predicted, half, i * step);
            e.spread = spread[reach + i];
            if (!syn_excess_may_pass(s, e, best * best) ||
                s.in - syn_excess_expected(s, e) < SHARE * (double)a->activations)
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

syn_status syn_refiner_learn(syn_refiner *r, const syn_assembly *g, uint32_t moves)
{
    SYN_TRY(syn_detector_lay(&r->detector, g, moves));
    syn_surprise_before(&r->detector, &r->surprise);
    for (int round = 0; round < LEARN; round++)
        SYN_TRY(syn_surprise_learn(&r->detector, LEARN_MOVES, &r->surprise));
    return SYN_OK;
}

typedef struct refining {
    syn_refiner *refiner;
    const syn_assembly *group;
    int anything_common;
} refining;

/* Whether a unit may be added to a group. */
static int may_add(const syn_refiner *r, const syn_assembly *g, uint32_t unit)
{
    return !syn_assembly_member(g, unit) &&
           (!r->among || syn_assembly_member(r->among, unit));
}

static int may_add_any(const syn_refiner *r, const syn_assembly *g)
{
    int any = 0;
    for (uint32_t u = 0; u < r->pairs->units && !any; u++)
        any = may_add(r, g, u);
    return any;
}

/* Where a unit that may be added fires most around the activations in around[0]. */
static syn_status look_at_unit(void *context, size_t item, int thread)
{
    const refining *c = context;
    syn_refiner *r = c->refiner;
    (void)thread;
    r->place[item] = (syn_member){.unit = (uint32_t)item};
    r->z[item] = 0;
    if (may_add(r, c->group, (uint32_t)item))
        r->z[item] = best_place(r, c->group, r->around, c->anything_common, all_lags(r),
                                r->place + item);
    return SYN_OK;
}

/* Among few units one that becomes a member would hide itself in what all have in common:
   that is found without it, if it would be added were nothing common; and so where few
   may be added. `*learnt` is whether the refiner has learnt the group that comes out. */
static syn_status add_members(syn_refiner *r, syn_assembly *g, int *added, int *learnt,
                              const syn_watch *watch)
{
    const syn_lagged *p = r->pairs;
    int one_by_one = r->among || p->units <= FEW_UNITS;
    syn_detected detected;
    syn_assembly before = *g;
    *added = *learnt = 0;
    if (!may_add_any(r, g))
        return SYN_OK;
    SYN_TRY(syn_refiner_learn(r, g, MOVES));
    SYN_TRY(syn_detect(&r->detector, 0, g->size, &r->surprise, MOVES, 0, &detected));
    give_rows(r, g, 1, r->around);
    SYN_TRY(sum_around(r, &detected, reach_of(r, g, all_lags(r)), r->around));
    if (!one_by_one)
        fit_others(r, g, UINT32_MAX, all_lags(r), r->around, p->threads);
    refining c = {r, &before, !one_by_one};
    SYN_TRY(syn_parallel_for(p->units, p->threads, watch, "groups", look_at_unit, &c));
    for (uint32_t u = 0; u < p->units && g->size < SYN_ASSEMBLY_MOST; u++) {
        if (r->z[u] < ADD)
            continue;
        if (one_by_one) {
            fit_others(r, &before, u, all_lags(r), r->around, p->threads);
            r->z[u] = best_place(r, &before, r->around, 1, all_lags(r), r->place + u);
        }
        if (r->z[u] < ADD)
            continue;
        g->member[g->size++] = r->place[u];
        *added = 1;
    }
    *learnt = !*added;
    return SYN_OK;
}

/* Where a member fires most around the activations of the others, near its place. */
static syn_status look_at_member(void *context, size_t item, int thread)
{
    const refining *c = context;
    syn_refiner *r = c->refiner;
    syn_around *a = r->around + thread;
    syn_detected detected;
    uint32_t m = (uint32_t)item;
    lag_range range = near(r, c->group->member + m);
    r->place[m] = c->group->member[m];
    SYN_TRY(syn_detect(&r->detector, thread, m, &r->surprise, MOVES, 0, &detected));
    give_rows(r, c->group, 0, a);
    SYN_TRY(sum_around(r, &detected, reach_of(r, c->group, range), a));
    fit_others(r, c->group, UINT32_MAX, range, a, 1);
    r->z[m] = best_place(r, c->group, a, 1, range, r->place + m);
    return SYN_OK;
}

/* Of members that may leave, takes out the one that the others say least of, and of a
   large group one in TOGETHER. */
static int take_out(const syn_refiner *r, syn_assembly *g, double stay)
{
    uint32_t most = g->size < LARGE ? 1 : g->size / TOGETHER, n = 0;
    for (; n < most && g->size > 2; n++) {
        uint32_t worst = g->size;
        for (uint32_t m = 0; m < g->size; m++)
            if (r->z[m] < (worst < g->size ? r->z[worst] : stay))
                worst = m;
        if (worst == g->size)
            break;
        g->size--;
        memmove(g->member + worst, g->member + worst + 1,
                (g->size - worst) * sizeof *g->member);
        memmove(r->z + worst, r->z + worst + 1, (g->size - worst) * sizeof *r->z);
    }
    return n > 0;
}

/* Places each member anew by the activations of the others, and takes out the one that
   they say least of, if that is below `stay`. Where units fire a lot, few of the
   activations that the others show are real; there the pairs of a member may say enough,
   where it is one of few. `learnt` says whether the refiner has learnt this group. */
static syn_status check_members(syn_refiner *r, syn_assembly *g, double stay, int learnt,
                                int *dropped, const syn_watch *watch)
{
    syn_assembly before = *g;
    refining c = {r, &before, 1};
    if (!learnt)
        SYN_TRY(syn_refiner_learn(r, g, MOVES));
    SYN_TRY(syn_parallel_for(g->size, r->pairs->threads, watch, "groups", look_at_member,
                             &c));
    for (uint32_t m = 0; m < g->size; m++)
        if (r->z[m] >= stay)
            g->member[m] = r->place[m];
        else if (stay == STAY && syn_assembly_support(r->pairs, &before, m) >=
                                     (g->size > 3 ? STAY_BY_PAIRS : STAY_BY_TWO))
            r->z[m] = stay;
    *dropped = take_out(r, g, stay);
    return SYN_OK;
}

syn_status syn_assembly_refine(syn_refiner *refiner, syn_assembly *group,
                               const syn_watch *watch)
{
    int added = 1, dropped, learnt;
    /* What many pairs say together was tested: of a sequence that comes back twenty
       times, each member says little by itself. */
    double stay = group->size < MANY ? STAY : STAY_OF_MANY;
    for (int round = 0; added && round < MOST_ROUNDS; round++) {
        SYN_TRY(add_members(refiner, group, &added, &learnt, watch));
        for (dropped = 1; dropped && group->size > 2; learnt = 0)
            SYN_TRY(check_members(refiner, group, stay, learnt, &dropped, watch));
    }
    syn_assembly_tidy(group);
    return SYN_OK;
}
