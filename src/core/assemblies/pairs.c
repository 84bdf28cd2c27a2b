/* Counts lag histograms, and measures the excess of coincidences in them.

   The count in a window of lags is compared with the counts in the windows beside it
   (Stark and Abeles 2009 smooth with a hollow kernel for the same purpose). Slow
   changes, such as a common change of two units' rates, affect both counts alike and
   cancel.

   The remaining excess is compared with the excess of all pairs of the recording at
   the same lag and width. A population burst or an oscillation raises the counts of
   all pairs by about the same share of the expected count (`common`). Differences
   between pairs in this share (`spread`) are no evidence of an assembly either. Both
   numbers are estimated for each lag and width from at most FITTED pairs.
   The estimate repeats a mean and a variance a few times and limits each pair to two
   standard deviations, so that the pairs of an assembly do not hide themselves. Where
   these pairs give no sign of anything common, at any lag and width, nothing is
   estimated: surrogates, whose units are independent, have no such estimate either, and
   the noise of one would set the recording apart from them. With fewer than FEWEST
   pairs, most of them may belong to one assembly. In both cases only one effect is taken
   as common: trials end, and so long lags have fewer places than short ones.

   Finally, bursts of single units make counts vary more than the counts of Poisson
   processes do, by about the product of the two units' own excess variances
   (`clumps`). */
#include "core/assemblies/pairs.h"

#include <math.h>
#include <string.h>

#include "core/assemblies/excess.h"
#include "core/assemblies/peaks.h"
#include "core/base/parallel.h"

/* ---- the lags of one pair ----

   Time is cut into pieces. For each spike of the first unit, all spikes of the second
   unit in the pieces within reach are counted; lags beyond the reach go to an extra
   bin, so that no spike needs a test. A bin is found without a division: each tick is
   written as 2 * tick = q * 2 * bin + phase, and the bin of a lag is the difference of
   the two values of q, or one less if the later spike has the smaller phase (see
   correlation/lags.c). */

enum {
    PIECES = 8,       /* of time in the reach of a lag */
    A_SPIKE = 2,      /* pieces for each spike, at most, */
    A_UNIT = 16,      /* and for each unit */
    LONGEST = 1 << 30 /* bins of a piece: fewer than half of 2^32 */
};

/* Chooses how long pieces are, and finds where they begin. */
static syn_status cut(syn_timed *t, int64_t length, syn_budget *budget)
{
    int64_t reach = syn_lag_reach(&t->options);
    double most = (double)A_SPIKE * t->first[t->units] + (double)A_UNIT * t->units;
    while (((int64_t)PIECES << t->shift < reach ||
            (double)(length >> t->shift) * t->units > most) &&
           (int64_t)1 << t->shift < t->options.bin * LONGEST)
        t->shift++;
    t->pieces = (uint32_t)(length >> t->shift) + 1;
    size_t row = (size_t)t->pieces + 1;
    SYN_TAKE(budget, t->from, t->units * row);
    for (uint32_t u = 0; u < t->units; u++) {
        uint32_t i = t->first[u], *from = t->from + u * row;
        for (uint32_t k = 0; k < t->pieces; k++) {
            while (i < t->first[u + 1] && (t->tick[i] - t->start) >> t->shift < k)
                i++;
            from[k] = i;
        }
        from[t->pieces] = t->first[u + 1];
    }
    return SYN_OK;
}

static syn_status timed_make(syn_timed *out, const syn_recording *recording,
                             const syn_lag_options *options, syn_budget *budget)
{
    size_t n = (size_t)recording->events + 1, units = recording->units;
    *out = (syn_timed){.options = *options, .units = recording->units};
    SYN_TAKE(budget, out->first, units + 1);
    SYN_TAKE(budget, out->tick, n);
    SYN_TAKE(budget, out->place, n);
    SYN_TAKE(budget, out->phase, n);
    memcpy(out->first, recording->first, (units + 1) * sizeof *out->first);
    int64_t width = 2 * options->bin, last = INT64_MIN;
    out->start = INT64_MAX;
    for (uint32_t i = 0; i < recording->events; i++) {
        int64_t tick = out->tick[i] = recording->tick[recording->by_unit[i]];
        out->start = tick < out->start ? tick : out->start;
        last = tick > last ? tick : last;
        int64_t place = 2 * tick / width, phase = 2 * tick % width;
        place -= phase < 0;
        out->place[i] = (uint32_t)(uint64_t)place;
        out->phase[i] = (int32_t)(phase < 0 ? phase + width : phase);
    }
    return cut(out, recording->events > 0 ? last - out->start : 0, budget);
}

/* Counts the lags from a spike to all of a run. A lag half way between two bins is in the
   upper one; where it is below 0 it belongs to the lower one, which is farther from 0. */
static void count_run(const syn_timed *t, uint32_t spike, uint32_t from, uint32_t to,
                      int32_t *count)
{
    const uint32_t *place = t->place;
    const int32_t *later = t->phase;
    uint32_t lags = t->options.lags, beyond = 2 * lags + 1;
    /* Bin 0 begins half a bin before the spike. */
    int32_t bin = (int32_t)t->options.bin, phase = t->phase[spike] - bin;
    uint32_t zero = t->place[spike] - (phase < 0) - lags;
    phase += phase < 0 ? 2 * bin : 0;
    for (uint32_t j = from; j < to; j++) {
        uint32_t at = place[j] - zero - (later[j] < phase);
        at -= (later[j] == phase) & (at <= lags);
        count[at < beyond ? at : beyond]++;
    }
}

syn_status syn_timed_sums(const syn_timed *t, uint32_t a, uint32_t b, int32_t *sum)
{
    int64_t reach = syn_lag_reach(&t->options), total = 0;
    size_t beyond = 2 * (size_t)t->options.lags + 1;
    const uint32_t *from = t->from + b * ((size_t)t->pieces + 1);
    memset(sum, 0, (beyond + 1) * sizeof *sum);
    for (uint32_t i = t->first[a]; i < t->first[a + 1]; i++) {
        int64_t at = t->tick[i] - t->start, low = (at - reach) >> t->shift;
        int64_t high = ((at + reach) >> t->shift) + 1;
        uint32_t first = from[low > 0 ? low : 0];
        uint32_t last = from[high < t->pieces ? high : t->pieces];
        total += last - first;
        if (total > INT32_MAX)
            return SYN_TOO_LARGE;
        count_run(t, i, first, last, sum);
    }
    for (size_t k = 1; k < beyond; k++)
        sum[k] += sum[k - 1];
    return SYN_OK;
}

/* ---- how a histogram falls off towards long lags, as trials end ----

   Counts the places that lags have in trials: one less a bin of lag in each trial that is
   longer. */

/* Places of the lags from `low` to `high`. */
static double places(const double *place, int32_t low, int32_t high)
{
    double sum = 0;
    for (int32_t k = low; k <= high; k++)
        sum += place[k < 0 ? -k : k];
    return sum;
}

/* By which share a window has more places than the lags beside it. syn_sides_look() looks
   at coincidences in the same way. */
static double share(const double *place, int32_t half, int32_t lag)
{
    int32_t far = SYN_LADDER_BESIDE * (2 * half + 1), from = 2 * half + 2;
    double in = places(place, lag - half, lag + half);
    double beside = places(place, lag - from - far + 1, lag - from) +
                    places(place, lag + from, lag + from + far - 1);
    return beside > 0 ? in / (beside / SYN_BESIDE) - 1 : 0;
}

/* Fills common[places]: by which share windows of independent units with constant rates
   hold more than the lags beside them. In a trial of n bins there are n - |lag| places
   for a lag: around lag 0 there are most. 0 where there is no place beside a window.
   SYN_OVER_BUDGET or SYN_NO_MEMORY. */
static syn_status edges_share(const syn_ladder *l, int64_t bin, const syn_spikes *trials,
                              double *common, syn_budget *budget)
{
    /* place[k] is how many places there are for lags of k bins. */
    double *place, *ends, longer = trials->trials;
    SYN_TAKE_ZEROS(budget, place, (size_t)l->margin + 1);
    SYN_TAKE_ZEROS(budget, ends, (size_t)l->margin + 2);
    for (uint32_t t = 0; t < trials->trials; t++) {
        double n = floor((trials->stop[t] - trials->start[t] + 1) / (double)bin + 0.5);
        n = n > 1 ? n : 1;
        place[0] += n;
        ends[n <= l->margin ? (uint32_t)n : l->margin + 1]++;
    }
    for (uint32_t k = 1; k <= l->margin; k++) {
        place[k] = place[k - 1] - longer;
        longer -= ends[k];
    }
    for (uint32_t r = 0; r < l->rungs; r++)
        for (uint32_t k = 0; k <= 2 * l->reach[r]; k++) {
            int32_t lag = ((int32_t)k - (int32_t)l->reach[r]) * (int32_t)l->step[r];
            common[l->first[r] + k] = share(place, (int32_t)l->half[r], lag);
        }
    SYN_GIVE(budget, place, ends);
    return SYN_OK;
}

/* ---- all pairs ---- */

enum {
    SHARE = 8,         /* histograms kept take at most so small a part of the budget, */
    FEWEST_KEPT = 16,  /* but as many are kept */
    NONE = UINT32_MAX
};

/* Histograms that were counted, and which. */
typedef struct syn_lagged_store {
    int32_t *sum;     /* [slots * (2 * margin + 2)] running sums */
    uint32_t *slot;   /* [pairs] where that of a pair is, or NONE */
    size_t *pair;     /* [slots] whose it is */
    uint32_t slots, used;
    uint32_t next;    /* the one that was counted longest ago, once all are used */
} syn_lagged_store;

int64_t syn_lagged_reach(const syn_ladder *ladder, int64_t bin)
{
    syn_lag_options o = {.bin = bin, .lags = ladder->margin};
    return syn_lag_reach(&o);
}

/* ---- memory ---- */

syn_status syn_lagged_make(syn_lagged *out, const syn_ladder *ladder, int64_t bin,
                           uint32_t units, syn_locked *locked, int threads, size_t most,
                           syn_budget *budget)
{
    *out = (syn_lagged){.ladder = *ladder, .bin = bin, .units = units, .locked = locked,
                        .threads = threads, .budget = budget};
    size_t places = ladder->first[ladder->rungs], pairs = syn_pair_count(units);
    SYN_TAKE(budget, out->clumps, (size_t)units * ladder->rungs + 1);
    SYN_TAKE_ZEROS(budget, out->common, places);
    SYN_TAKE_ZEROS(budget, out->spread, places);
    size_t slots = budget->limit / SHARE / (syn_lagged_length(out) * sizeof(int32_t));
    slots = slots > FEWEST_KEPT ? slots : FEWEST_KEPT;
    slots = slots < most ? slots : most;
    SYN_TAKE_ZEROS(budget, out->store, 1);
    syn_lagged_store *s = out->store;
    s->slots = (uint32_t)(slots < NONE ? slots : NONE - 1);
    SYN_TAKE(budget, s->sum, s->slots * syn_lagged_length(out) + 1);
    SYN_TAKE(budget, s->slot, pairs + 1);
    SYN_TAKE(budget, s->pair, (size_t)s->slots + 1);
    for (size_t i = 0; i < pairs; i++)
        s->slot[i] = NONE;
    for (uint32_t i = 0; i < s->slots; i++)
        s->pair[i] = SIZE_MAX;
    return SYN_OK;
}

/* ---- one window ---- */

syn_status syn_lagged_sums(const syn_lagged *p, uint32_t a, uint32_t b, int32_t *sum)
{
    SYN_TRY(syn_timed_sums(&p->timed, a, b, sum));
    return p->locked ? syn_timed_sums(&p->moved, a, p->units + b,
                                      sum + syn_lagged_length(p) / 2)
                     : SYN_OK;
}

/* Gives a pair the slot of the one that was counted longest ago. */
static void take_slot(syn_lagged_store *s, size_t pair)
{
    uint32_t slot = s->used < s->slots ? s->used++ : s->next;
    s->next = slot + 1 < s->slots ? slot + 1 : 0;
    if (s->pair[slot] != SIZE_MAX)
        s->slot[s->pair[slot]] = NONE;
    s->pair[slot] = pair;
    s->slot[pair] = slot;
}

static void count_pair(const syn_lagged *p, size_t pair)
{
    uint32_t a, b;
    syn_pair_units(pair, &a, &b);
    /* That no sum is too large was seen when all pairs were looked at. */
    (void)syn_lagged_sums(p, a, b,
                          p->store->sum + p->store->slot[pair] * syn_lagged_length(p));
}

/* Running sums of the histogram of a < b, at lag 0; they stay until others were asked
   for. */
static const int32_t *sums_of(const syn_lagged *p, uint32_t a, uint32_t b)
{
    syn_lagged_store *s = p->store;
    size_t pair = syn_pair_number(a, b);
    if (s->slot[pair] == NONE) {
        take_slot(s, pair);
        count_pair(p, pair);
    }
    return s->sum + s->slot[pair] * syn_lagged_length(p) + p->ladder.margin;
}

/* Pairs that are to be counted. */
typedef struct keeping {
    const syn_lagged *pairs;
    size_t *pair;  /* [n] */
    size_t n;
} keeping;

static syn_status count_kept(void *context, size_t item, int worker)
{
    const keeping *k = context;
    (void)worker;
    count_pair(k->pairs, k->pair[item]);
    return SYN_OK;
}

/* Gives slots to those pairs that have none; says whether there were any. */
static int take_slots(keeping *k, const uint32_t *unit, uint32_t n)
{
    syn_lagged_store *s = k->pairs->store;
    size_t before = k->n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t u = 0; u < k->pairs->units; u++) {
            size_t pair = u < unit[i] ? syn_pair_number(u, unit[i])
                                      : syn_pair_number(unit[i], u);
            if (u == unit[i] || s->slot[pair] != NONE)
                continue;
            take_slot(s, pair);
            k->pair[k->n++] = pair;
        }
    return k->n > before;
}

syn_status syn_lagged_keep(const syn_lagged *p, const uint32_t *unit, uint32_t n,
                           int *kept, const syn_watch *watch)
{
    size_t most = (size_t)n * p->units;
    keeping k = {.pairs = p};
    *kept = most <= p->store->slots;
    if (!*kept)
        return SYN_OK;
    SYN_TAKE(p->budget, k.pair, most + 1);
    /* A slot that is taken may be that of another of these pairs, counted before; but
       those that got one here keep it, as they are no more than there are slots. */
    while (take_slots(&k, unit, n))
        continue;
    SYN_TRY(syn_parallel_for(k.n, p->threads, watch, "pairs", count_kept, &k));
    syn_budget_free(p->budget, k.pair);
    return SYN_OK;
}

static double clumps_of(const syn_lagged *p, uint32_t a, uint32_t b, uint32_t rung)
{
    const double *c = p->clumps + (size_t)rung * p->units;
    return c[a] * c[b] * syn_lagged_unsure(p);
}

syn_lagged_window syn_lagged_look(const syn_lagged *pairs, uint32_t a, uint32_t b,
                                  uint32_t rung, int32_t lag)
{
    if (a > b) {
        uint32_t swap = a;
        a = b;
        b = swap;
        lag = -lag;
    }
    uint32_t place = syn_ladder_place(&pairs->ladder, rung, lag);
    const int32_t *sum = sums_of(pairs, a, b), half = (int32_t)pairs->ladder.half[rung];
    syn_sides s = syn_sides_look(sum, half, lag);
    syn_excess_scale e = {.clumps = clumps_of(pairs, a, b, rung),
                          .common = syn_excess_common(pairs->common[place],
                                                      syn_lagged_predicted(pairs, sum),
                                                      half, lag),
                          .spread = pairs->spread[place]};
    return (syn_lagged_window){.count = s.in, .expected = syn_excess_expected(s, e),
                               .z = syn_excess_z(s, e)};
}

/* Where nothing was counted beside a window, any count in it may be enough. */
void syn_lagged_may_pass(const syn_lagged *p, uint32_t a, uint32_t b, uint32_t rung,
                         int32_t from, int32_t step, int32_t n, double z,
                         uint8_t *passing)
{
    const int32_t *sum = a < b ? sums_of(p, a, b) : sums_of(p, b, a);
    const int32_t *predicted = syn_lagged_predicted(p, sum);
    int32_t half = (int32_t)p->ladder.half[rung], way = a < b ? 1 : -1;
    syn_excess_scale e = {.clumps = clumps_of(p, a, b, rung)};
    for (int32_t k = 0; k < n; k++) {
        int32_t lag = way * (from + k * step);
        uint32_t place = syn_ladder_place(&p->ladder, rung, lag);
        e.common = syn_excess_common(p->common[place], predicted, half, lag);
        e.spread = p->spread[place];
        syn_sides s = syn_sides_look(sum, half, lag);
        passing[k] += (s.beside <= 0 && s.in > 0) || syn_excess_may_pass(s, e, z * z);
    }
}

/* ---- clumps ---- */

/* Allan factor of the counts of a unit in windows of `width` ticks: half the mean square
   of what successive counts differ by, over their mean. It is 1 for a Poisson process,
   and slow changes of the rate do not raise it. */
static double allan_factor(const syn_recording *r, const uint32_t *event, uint32_t n,
                           int64_t width)
{
    double squares = 0, before = 0, here = 0;
    int64_t at = INT64_MIN / 4;
    for (uint32_t i = 0; i <= n; i++) {
        int64_t window = i < n ? r->tick[event[i]] / width : at + 3;
        if (window == at) {
            here++;
            continue;
        }
        squares += (here - before) * (here - before);
        if (window > at + 1) {
            squares += here * here;
            here = 0;
        }
        before = here;
        here = 1;
        at = window;
    }
    return n > 0 ? squares / (2.0 * n) : 1;
}

/* What is found from the recording, and what that takes. What is common to pairs is
   found from some of them, evenly spread, at most FITTED. Where there are few pairs
   nothing that they do is taken for common, as an assembly may be all there is; of fewer
   than FEW it may be a good part. */
enum { FITTED = 150, FEWEST = 28, FEW = 100 };

typedef struct fitting {
    syn_lagged *pairs;
    const syn_recording *recording;
    size_t n, every;              /* pairs, and their distance among all */
    int32_t *sums;                /* [n * syn_lagged_length()] */
    const int32_t **sum;          /* [n] lag 0 of each, */
    const int32_t **predicted;    /* [n] and of what predicts them, or NULL */
    double *clumps;               /* [threads * n] */
    int shared[SYN_LADDER_RUNGS]; /* whether they have something in common */
    syn_excess_moments *moments;  /* [threads * (2 * lags + 1)] */
} fitting;

static syn_status clumps_of_unit(void *context, size_t item, int worker)
{
    const fitting *f = context;
    const syn_recording *r = f->recording;
    syn_lagged *p = f->pairs;
    const uint32_t *event = r->by_unit + r->first[item];
    uint32_t n = r->first[item + 1] - r->first[item];
    (void)worker;
    for (uint32_t rung = 0; rung < p->ladder.rungs; rung++) {
        int64_t width = p->bin * syn_ladder_width(&p->ladder, rung);
        double factor = allan_factor(r, event, n, width);
        p->clumps[(size_t)rung * p->units + item] = factor > 1 ? factor : 1;
    }
    return SYN_OK;
}

/* ---- what is common to pairs ---- */

static syn_status count_sample(void *context, size_t item, int worker)
{
    const fitting *f = context;
    const syn_lagged *p = f->pairs;
    int32_t *sum = f->sums + item * syn_lagged_length(p);
    uint32_t a, b;
    (void)worker;
    syn_pair_units(item * f->every, &a, &b);
    f->sum[item] = sum + p->ladder.margin;
    f->predicted[item] = syn_lagged_predicted(p, f->sum[item]);
    return syn_lagged_sums(p, a, b, sum);
}

/* The sampled pairs on a rung; a worker has room for their clumps. */
static syn_excess_many sampled(const fitting *f, uint32_t rung, int worker)
{
    const syn_lagged *p = f->pairs;
    double *clumps = f->clumps + (size_t)worker * f->n;
    int32_t reach = (int32_t)p->ladder.reach[rung];
    for (size_t i = 0; i < f->n; i++) {
        uint32_t a, b;
        syn_pair_units(i * f->every, &a, &b);
        clumps[i] = clumps_of(p, a, b, rung);
    }
    return (syn_excess_many){.sum = f->sum, .predicted = p->locked ? f->predicted : NULL,
                             .clumps = clumps, .n = f->n, .mirrored = 1,
                             .few = f->n < FEW, .from = -reach, .to = reach};
}

static syn_status look_for_shared(void *context, size_t item, int worker)
{
    fitting *f = context;
    const syn_ladder *l = &f->pairs->ladder;
    syn_excess_many many = sampled(f, (uint32_t)item, worker);
    f->shared[item] = syn_excess_shared(l, (uint32_t)item, &many, f->pairs->common +
                                        l->first[item] + l->reach[item]);
    return SYN_OK;
}

static syn_status fit_rung(void *context, size_t item, int worker)
{
    const fitting *f = context;
    syn_lagged *p = f->pairs;
    const syn_ladder *l = &p->ladder;
    syn_excess_many many = sampled(f, (uint32_t)item, worker);
    uint32_t middle = l->first[item] + l->reach[item];
    syn_excess_fit(l, (uint32_t)item, &many, p->common + middle, p->spread + middle,
                   f->moments + (size_t)worker * (2 * l->lags + 1));
    return SYN_OK;
}

/* Finds what is common, if anything is. */
static syn_status fit_common(fitting *f, const syn_watch *watch)
{
    const syn_lagged *p = f->pairs;
    uint32_t rungs = f->n > 0 ? p->ladder.rungs : 0;
    int shared = p->locked != NULL;
    if (!shared)
        SYN_TRY(syn_parallel_for(rungs, p->threads, watch, "widths", look_for_shared, f));
    for (uint32_t r = 0; r < rungs; r++)
        shared |= f->shared[r];
    return shared ? syn_parallel_for(rungs, p->threads, watch, "widths", fit_rung, f)
                  : SYN_OK;
}

/* ---- counting ---- */

/* Takes the spikes; no histogram is counted yet. */
static syn_status take_spikes(syn_lagged *pairs, const syn_recording *recording)
{
    syn_lag_options o = {.bin = pairs->bin, .lags = pairs->ladder.margin};
    SYN_TRY(timed_make(&pairs->timed, recording, &o, pairs->budget));
    return pairs->locked
               ? timed_make(&pairs->moved, &pairs->locked->both, &o, pairs->budget)
               : SYN_OK;
}

/* As other trials end elsewhere, short lags have more places there, or fewer. */
static syn_status other_edges(syn_lagged *p, const syn_spikes *from, const syn_spikes *to)
{
    size_t places = p->ladder.first[p->ladder.rungs];
    double *share;
    SYN_TAKE(p->budget, share, 2 * places);
    SYN_TRY(edges_share(&p->ladder, p->bin, from, share, p->budget));
    SYN_TRY(edges_share(&p->ladder, p->bin, to, share + places, p->budget));
    for (size_t i = 0; i < places; i++)
        if (share[i] > -1)
            p->common[i] =
                (1 + p->common[i]) * (1 + share[places + i]) / (1 + share[i]) - 1;
    syn_budget_free(p->budget, share);
    return SYN_OK;
}

syn_status syn_lagged_again(syn_lagged *out, const syn_lagged *pairs, size_t most,
                            const syn_recording *recording, syn_locked *locked,
                            const syn_spikes *from, const syn_spikes *to,
                            syn_budget *budget)
{
    size_t places = pairs->ladder.first[pairs->ladder.rungs];
    SYN_TRY(syn_lagged_make(out, &pairs->ladder, pairs->bin, pairs->units, locked,
                            pairs->threads, most, budget));
    SYN_TRY(take_spikes(out, recording));
    memcpy(out->clumps, pairs->clumps,
           (size_t)pairs->units * pairs->ladder.rungs * sizeof *out->clumps);
    memcpy(out->common, pairs->common, places * sizeof *out->common);
    memcpy(out->spread, pairs->spread, places * sizeof *out->spread);
    return locked ? SYN_OK : other_edges(out, from, to);
}

syn_status syn_lagged_count(syn_lagged *pairs, const syn_recording *recording,
                           const syn_spikes *trials, const syn_watch *watch)
{
    size_t all = syn_pair_count(pairs->units), threads = (size_t)pairs->threads;
    fitting f = {.pairs = pairs, .recording = recording, .every = all / FITTED + 1};
    f.n = all < FEWEST ? 0 : all / f.every;
    SYN_TRY(take_spikes(pairs, recording));
    SYN_TRY(syn_parallel_for(pairs->units, pairs->threads, watch, "units", clumps_of_unit,
                             &f));
    /* Spikes that are moved to other events stay in trials: the predictor falls off. */
    if (!pairs->locked)
        SYN_TRY(edges_share(&pairs->ladder, pairs->bin, trials, pairs->common,
                            pairs->budget));
    /* Counts the pairs that say what is common, and finds it. */
    SYN_TAKE(pairs->budget, f.sum, f.n + 1);
    SYN_TAKE(pairs->budget, f.predicted, f.n + 1);
    SYN_TAKE(pairs->budget, f.sums, f.n * syn_lagged_length(pairs) + 1);
    SYN_TAKE(pairs->budget, f.clumps, threads * f.n + 1);
    SYN_TAKE(pairs->budget, f.moments, threads * (2 * (size_t)pairs->ladder.lags + 1));
    SYN_TRY(syn_parallel_for(f.n, pairs->threads, watch, "pairs", count_sample, &f));
    SYN_TRY(fit_common(&f, watch));
    SYN_GIVE(pairs->budget, f.sum, f.predicted, f.sums, f.clumps, f.moments);
    return SYN_OK;
}
