/* Leaves out population bursts. Two units whose rates are five times as high together for
   a twentieth of the time have more coincidences in that time than in all the rest, at
   all lags of a burst's length: nearly all that they say of the units is how counts vary
   within bursts. An assembly is not told from that, but from what units do at all other
   times.

   Time is cut into steps, and a unit is looked at in each step and the two beside it. It
   is raised where it has as many spikes as it has in a quarter of all steps at most. So
   many raised units are expected in every step; what is above that says which share of
   the units responds to something. A burst is a step in which that is four in ten units,
   and more than units that are independent would make up. An assembly of fewer members
   than that leaves no step out. */
#include "core/assemblies/calm.h"

#include <math.h>
#include <string.h>

enum {
    FEWEST_UNITS = 12,  /* of which an assembly is no population yet */
    MOST_COUNT = 255    /* spikes of a unit in three steps: more are as many */
};

static const double RAISED = 0.25;    /* share of steps in which a unit is, at most */
static const double RESPOND = 0.4;    /* share of units that respond in a burst */
static const double DEVIATIONS = 4;

void syn_calm_free(syn_calm *c)
{
    SYN_GIVE(c->budget, c->tick, c->unit, c->trial, c->burst);
    memset(c, 0, sizeof *c);
}

/* Steps of all trials one after the other, and working memory. */
typedef struct steps {
    const syn_spikes *spikes;
    int64_t length;
    size_t *first;      /* [trials + 1] first step of each trial */
    uint32_t *at;       /* [spikes] step of each, UINT32_MAX outside of trials */
    size_t *own;        /* [units + 1] where a unit's spikes begin in `by_unit` */
    uint32_t *by_unit;  /* [spikes] their steps, unit after unit */
    uint8_t *count;     /* [steps] of one unit */
    uint32_t *raised;   /* [steps] units */
    double units, mean, variance;  /* units with spikes; of how many are raised */
    syn_budget *budget;
} steps;

static syn_status lay_steps(steps *s)
{
    const syn_spikes *x = s->spikes;
    if (x->n >= INT32_MAX)
        return SYN_TOO_LARGE;
    SYN_TAKE(s->budget, s->first, (size_t)x->trials + 1);
    s->first[0] = 0;
    for (uint32_t k = 0; k < x->trials; k++) {
        double n = floor((x->stop[k] - x->start[k]) / (double)s->length) + 1;
        if (n + (double)s->first[k] >= UINT32_MAX)
            return SYN_TOO_LARGE;
        s->first[k + 1] = s->first[k] + (size_t)n;
    }
    size_t n = s->first[x->trials];
    SYN_TAKE(s->budget, s->at, x->n + 1);
    SYN_TAKE_ZEROS(s->budget, s->own, (size_t)x->units + 2);
    SYN_TAKE(s->budget, s->by_unit, x->n + 1);
    SYN_TAKE(s->budget, s->count, n);
    SYN_TAKE_ZEROS(s->budget, s->raised, n);
    return SYN_OK;
}

/* Spikes of a unit in a step and those beside it, within the trial. */
static uint32_t around(const steps *s, size_t from, size_t to, size_t k)
{
    return s->count[k] + (uint32_t)(k > from ? s->count[k - 1] : 0) +
           (k + 1 < to ? s->count[k + 1] : 0u);
}

/* Raised units from which on a step is one of a burst. */
static double burst_from(const steps *s)
{
    double respond = s->mean + RESPOND * (s->units - s->mean);
    double stands_out = s->mean + DEVIATIONS * sqrt(s->variance);
    double from = respond > stands_out ? respond : stands_out;
    return s->units >= FEWEST_UNITS ? from : INFINITY;
}

/* Counts stretches of steps with `from` raised units and more, and notes their ticks in
   `out` unless it is NULL. */
static size_t stretches(const steps *s, double from, double *out)
{
    const syn_spikes *x = s->spikes;
    size_t n = 0;
    for (uint32_t t = 0; t < x->trials; t++)
        for (size_t k = s->first[t]; k < s->first[t + 1]; k++) {
            if (s->raised[k] < from)
                continue;
            double begin = x->start[t] + (double)(k - s->first[t]) * (double)s->length;
            double end = begin + (double)s->length, last = x->stop[t] + 1;
            int goes_on = k > s->first[t] && s->raised[k - 1] >= from;
            n += !goes_on;
            if (!out)
                continue;
            if (!goes_on)
                out[2 * n - 2] = begin;
            out[2 * n - 1] = end < last ? end : last;
        }
    return n;
}

static syn_status note_bursts(syn_calm *out, const steps *s, double from)
{
    out->bursts = stretches(s, from, NULL);
    SYN_TAKE(out->budget, out->burst, 2 * out->bursts + 1);
    stretches(s, from, out->burst);
    return SYN_OK;
}

static syn_status copy_calm(syn_calm *out, const steps *s, double from)
{
    const syn_spikes *x = s->spikes;
    size_t n = 0, all = s->first[x->trials];
    SYN_TAKE(out->budget, out->tick, x->n + 1);
    SYN_TAKE(out->budget, out->unit, x->n + 1);
    SYN_TAKE(out->budget, out->trial, x->n + 1);
    for (size_t i = 0; i < x->n; i++) {
        if (s->at[i] == UINT32_MAX || s->raised[s->at[i]] >= from)
            continue;
        out->tick[n] = x->tick[i];
        out->unit[n] = x->unit[i];
        out->trial[n++] = x->trial ? x->trial[i] : 1;
    }
    out->steps = (double)all;
    for (size_t k = 0; k < all; k++)
        out->left_out += s->raised[k] >= from;
    out->spikes = *x;
    out->spikes.n = n;
    out->spikes.tick = out->tick;
    out->spikes.unit = out->unit;
    out->spikes.trial = out->trial;
    return SYN_OK;
}

syn_status syn_calm_make(syn_calm *out, const syn_spikes *spikes, int64_t step,
                         syn_budget *budget, const syn_watch *watch)
{
    memset(out, 0, sizeof *out);
    out->budget = budget;
    steps s = {.spikes = spikes, .length = step, .budget = budget};
    syn_status status = lay_steps(&s);
    if (status == SYN_OK) {
        const syn_spikes *x = s.spikes;
        for (size_t i = 0; i < x->n; i++) {
            int trial = x->trial ? x->trial[i] : 1;
            s.at[i] = UINT32_MAX;
            if (trial < 1)
                continue;
            double into = x->tick[i] - x->start[trial - 1];
            s.at[i] = (uint32_t)(s.first[trial - 1] + (size_t)(into / (double)s.length));
            s.own[x->unit[i] + 1]++;
        }
        for (uint32_t u = 1; u < x->units + 2; u++)
            s.own[u] += s.own[u - 1];
        for (size_t i = 0; i < x->n; i++)
            if (s.at[i] != UINT32_MAX)
                s.by_unit[s.own[x->unit[i]]++] = s.at[i];
    }
    for (uint32_t u = 0; status == SYN_OK && u < spikes->units; u++) {
        status = syn_poll(watch, "bursts", u, spikes->units);
        if (status == SYN_OK && s.own[u + 1] > s.own[u]) {
            size_t n = s.first[s.spikes->trials];
            size_t histogram[3 * MOST_COUNT + 1] = {0};
            memset(s.count, 0, n);
            for (size_t i = s.own[u]; i < s.own[u + 1]; i++)
                s.count[s.by_unit[i]] += s.count[s.by_unit[i]] < MOST_COUNT;
            for (uint32_t t = 0; t < s.spikes->trials; t++)
                for (size_t k = s.first[t]; k < s.first[t + 1]; k++)
                    histogram[around(&s, s.first[t], s.first[t + 1], k)]++;
            uint32_t least = 3 * MOST_COUNT + 1;
            size_t raised = 0;
            while (least > 1 &&
                   (double)(raised + histogram[least - 1]) <= RAISED * (double)n)
                raised += histogram[--least];
            for (uint32_t t = 0; t < s.spikes->trials; t++)
                for (size_t k = s.first[t]; k < s.first[t + 1]; k++)
                    s.raised[k] += around(&s, s.first[t], s.first[t + 1], k) >= least;
            double share = (double)raised / (double)n;
            s.units++;
            s.mean += share;
            s.variance += share * (1 - share);
        }
    }
    SYN_NEXT(status, copy_calm(out, &s, burst_from(&s)));
    SYN_NEXT(status, note_bursts(out, &s, burst_from(&s)));
    SYN_GIVE(s.budget, s.first, s.at, s.own, s.by_unit, s.count, s.raised);
    return status;
}
