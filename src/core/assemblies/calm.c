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
   than that leaves no step out. Where responses to events are known, as many raised units
   are expected as there are on the mean so long after an event: else, responses of many
   units would be left out after some events, of all units at once. */
#include "core/assemblies/calm.h"

#include <math.h>
#include <string.h>

#include "core/base/seek.h"

enum {
    FEWEST_UNITS = 12,  /* of which an assembly is no population yet */
    MOST_COUNT = 255    /* spikes of a unit in three steps: more are as many */
};

static const double RAISED = 0.25;    /* share of steps in which a unit is, at most */
static const double RESPOND = 0.4;    /* share of units that respond in a burst */
static const double DEVIATIONS = 4;

/* Steps of all trials one after the other, and working memory. */
typedef struct steps {
    const syn_spikes *spikes;
    int64_t length;
    size_t *first;      /* [trials + 1] first step of each trial */
    uint32_t *at;       /* [spikes] step of each that is in a trial */
    size_t *own;        /* [units + 1] where a unit's spikes begin in `by_unit` */
    uint32_t *by_unit;  /* [spikes] their steps, unit after unit */
    uint8_t *count;     /* [steps] of one unit */
    uint32_t *raised;   /* [steps] units */
    double *usual;      /* [steps] how many are, after events; or NULL */
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

/* Whether a step is one of a burst. */
static int is_burst(const steps *s, size_t k)
{
    double mean = s->usual && s->usual[k] > s->mean ? s->usual[k] : s->mean;
    double respond = mean + RESPOND * (s->units - mean);
    double stands_out = mean + DEVIATIONS * sqrt(s->variance);
    double from = respond > stands_out ? respond : stands_out;
    return s->units >= FEWEST_UNITS && s->raised[k] >= from;
}

/* The steps from an event to the next one, or to the end of the trial. */
typedef struct epoch {
    size_t from, to;
} epoch;

static epoch epoch_of(const steps *s, const syn_events *events, uint32_t e)
{
    const syn_spikes *x = s->spikes;
    uint32_t after = 1;
    SYN_SEEK(uint32_t, t, after, x->trials, x->start[t] <= events->tick[e]);
    double start = x->start[after - 1], length = (double)s->length;
    size_t first = s->first[after - 1], end = s->first[after];
    epoch out = {.from = first + (size_t)((events->tick[e] - start) / length), .to = end};
    if (e + 1 < events->n && events->tick[e + 1] <= x->stop[after - 1])
        out.to = first + (size_t)((events->tick[e + 1] - start) / length);
    return out;
}

/* Fills `usual`: means over the events of a kind. */
static syn_status find_usual(steps *s, const syn_events *events)
{
    size_t n = s->first[s->spikes->trials];
    double *sum, *of;
    SYN_TAKE_ZEROS(s->budget, s->usual, n);
    SYN_TAKE(s->budget, sum, n);
    SYN_TAKE(s->budget, of, n);
    for (int kind = 1; kind <= (int)events->kinds; kind++) {
        memset(sum, 0, n * sizeof *sum);
        memset(of, 0, n * sizeof *of);
        for (int again = 0; again < 2; again++)
            for (uint32_t e = 0; e < events->n; e++) {
                if (events->kind[e] != kind)
                    continue;
                epoch steps = epoch_of(s, events, e);
                for (size_t k = steps.from; k < steps.to; k++) {
                    size_t after = k - steps.from;
                    if (again)
                        s->usual[k] = sum[after] / of[after];
                    else {
                        sum[after] += s->raised[k];
                        of[after]++;
                    }
                }
            }
    }
    SYN_GIVE(s->budget, sum, of);
    return SYN_OK;
}

/* Notes stretches of steps of bursts. */
static syn_status note_bursts(syn_calm *out, const steps *s)
{
    const syn_spikes *x = s->spikes;
    size_t room = 0;
    out->steps = (double)s->first[x->trials];
    for (uint32_t t = 0; t < x->trials; t++)
        for (size_t k = s->first[t]; k < s->first[t + 1]; k++) {
            if (!is_burst(s, k))
                continue;
            double begin = x->start[t] + (double)(k - s->first[t]) * (double)s->length;
            double end = begin + (double)s->length, last = x->stop[t] + 1;
            if (k == s->first[t] || !is_burst(s, k - 1)) {
                SYN_GROW(s->budget, out->burst, room, 2 * out->bursts + 2);
                out->burst[2 * out->bursts++] = begin;
            }
            out->burst[2 * out->bursts - 1] = end < last ? end : last;
            out->left_out++;
        }
    return SYN_OK;
}

syn_status syn_calm_make(syn_calm *out, const syn_spikes *spikes,
                         const syn_events *events, int64_t step, syn_budget *budget,
                         const syn_watch *watch)
{
    *out = (syn_calm){.spikes = *spikes};
    steps s = {.spikes = spikes, .length = step, .budget = budget};
    SYN_TAKE(budget, out->trial, spikes->n + 1);
    out->spikes.trial = out->trial;
    SYN_TRY(lay_steps(&s));
    size_t n = s.first[spikes->trials];
    for (size_t i = 0; i < spikes->n; i++) {
        int trial = out->trial[i] = spikes->trial ? spikes->trial[i] : 1;
        if (trial < 1)
            continue;
        double into = spikes->tick[i] - spikes->start[trial - 1];
        s.at[i] = (uint32_t)(s.first[trial - 1] + (size_t)(into / (double)s.length));
        s.own[spikes->unit[i] + 1]++;
    }
    for (uint32_t u = 1; u < spikes->units + 2; u++)
        s.own[u] += s.own[u - 1];
    for (size_t i = 0; i < spikes->n; i++)
        if (out->trial[i] >= 1)
            s.by_unit[s.own[spikes->unit[i]]++] = s.at[i];
    for (uint32_t u = 0; u < spikes->units; u++) {
        SYN_TRY(syn_poll(watch, "bursts", u, spikes->units));
        if (s.own[u + 1] == s.own[u])
            continue;
        size_t histogram[3 * MOST_COUNT + 1] = {0};
        memset(s.count, 0, n);
        for (size_t i = s.own[u]; i < s.own[u + 1]; i++)
            s.count[s.by_unit[i]] += s.count[s.by_unit[i]] < MOST_COUNT;
        for (uint32_t t = 0; t < spikes->trials; t++)
            for (size_t k = s.first[t]; k < s.first[t + 1]; k++)
                histogram[around(&s, s.first[t], s.first[t + 1], k)]++;
        uint32_t least = 3 * MOST_COUNT + 1;
        size_t raised = 0;
        while (least > 1 &&
               (double)(raised + histogram[least - 1]) <= RAISED * (double)n)
            raised += histogram[--least];
        for (uint32_t t = 0; t < spikes->trials; t++)
            for (size_t k = s.first[t]; k < s.first[t + 1]; k++)
                s.raised[k] += around(&s, s.first[t], s.first[t + 1], k) >= least;
        double share = (double)raised / (double)n;
        s.units++;
        s.mean += share;
        s.variance += share * (1 - share);
    }
    if (events->n > 0)
        SYN_TRY(find_usual(&s, events));
    SYN_TRY(note_bursts(out, &s));
    for (size_t i = 0; i < spikes->n; i++)
        if (out->trial[i] >= 1 && is_burst(&s, s.at[i]))
            out->trial[i] = 0;
    SYN_GIVE(budget, s.first, s.at, s.own, s.by_unit, s.count, s.raised, s.usual);
    return SYN_OK;
}
