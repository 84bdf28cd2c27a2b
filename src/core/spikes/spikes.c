/* Checks spikes. Whether there is any fault is asked of several spikes at a time; only
   where there may be one are they taken one by one. */
#include "core/spikes/spikes.h"

#include <stdlib.h>

#include "core/base/kinds.h"
#include "core/base/parallel.h"

typedef struct conversion {
    size_t n;
    const double *time;
    syn_scale scale;
    double *tick;
} conversion;

static syn_status convert(void *context, size_t span, int worker)
{
    (void)worker;
    const conversion *c = context;
    size_t end = syn_spikes_end(c->n, span);
    for (size_t i = span * SYN_SPIKES_A_SPAN; i < end; i++)
        c->tick[i] = syn_scaled(c->time[i], &c->scale);
    return SYN_OK;
}

void syn_ticks(size_t n, const double *time, const syn_scale *scale, int threads,
               double *tick)
{
    conversion all = {n, time, *scale, tick};
    syn_parallel_for(syn_spikes_spans(n), syn_spikes_threads(n, threads), NULL, "spikes",
                     convert, &all);
}

static syn_spikes_fault time_fault(double time, const syn_clock *clock)
{
    if (!isfinite(time))
        return SYN_SPIKES_NOT_FINITE;
    double tick = syn_tick_of(time, clock);
    if (!(fabs(tick) < SYN_MOST_TICK))
        return SYN_SPIKES_FAR;
    return syn_seconds_of(tick, clock) == time ? SYN_SPIKES_SOUND : SYN_SPIKES_OFF_CLOCK;
}

/* ---- one by one ---- */

/* `*at` is the first trial with a fault. */
static syn_spikes_fault bounds_fault(const syn_spikes *s, const syn_clock *clock,
                                     size_t *at)
{
    for (size_t t = 0; t < s->trials; t++) {
        *at = t;
        if (time_fault(s->start[t], clock) != SYN_SPIKES_SOUND ||
            time_fault(s->stop[t], clock) != SYN_SPIKES_SOUND ||
            s->start[t] > s->stop[t] || (t > 0 && s->start[t] <= s->stop[t - 1]))
            return SYN_SPIKES_BOUNDS;
    }
    return SYN_SPIKES_SOUND;
}

/* What is wrong with spike `i`. */
static syn_spikes_fault spike_fault(const syn_spikes *s, const syn_clock *clock, size_t i)
{
    double time = s->tick[i];
    syn_spikes_fault fault = time_fault(time, clock);
    if (fault != SYN_SPIKES_SOUND)
        return fault;
    if (s->unit[i] < 1 || (uint32_t)s->unit[i] > s->units)
        return SYN_SPIKES_UNIT;
    if (s->trial && s->trial[i] >= 1 && (uint32_t)s->trial[i] > s->trials)
        return SYN_SPIKES_TRIAL;
    if (i > 0 && time <= s->tick[i - 1]) {
        if (time < s->tick[i - 1] || s->unit[i] < s->unit[i - 1])
            return SYN_SPIKES_UNSORTED;
        if (s->unit[i] == s->unit[i - 1])
            return SYN_SPIKES_TWICE;
    }
    int trial = s->trial ? s->trial[i] : 1;
    if (trial >= 1 && !(time >= s->start[trial - 1] && time <= s->stop[trial - 1]))
        return SYN_SPIKES_OUTSIDE;
    return SYN_SPIKES_SOUND;
}

/* ---- several at a time ---- */

/* Whether all times are ticks, none of them far; nothing that is not finite is. */
static int are_ticks(size_t n, const double *time, const syn_clock *clock)
{
    double rate = clock->rate;
    int bad = isnan(rate) || FLT_EVAL_METHOD != 0;
    SYN_SIMD(reduction(| : bad))
    for (size_t i = 0; i < n; i++) {
        double raw = time[i] * rate;
        double tick = (raw + SYN_WHOLE) - SYN_WHOLE;
        bad |= !((tick / rate == time[i]) & (fabs(raw) < SYN_NEAR));
    }
    return !bad;
}

/* Whether units are known, and each spike comes after the one in front of it. To ask one
   by one takes a surprise for each of those on one tick, many in a burst. */
static int are_in_order(size_t n, const double *time, const int *unit, int units)
{
    int bad = 0;
    SYN_SIMD(reduction(| : bad))
    for (size_t i = 0; i < n; i++)
        bad |= (unit[i] < 1) | (unit[i] > units);
    SYN_SIMD(reduction(| : bad))
    for (size_t i = 1; i < n; i++) {
        int after = unit[i] > unit[i - 1];
        bad |= !((time[i] > time[i - 1]) | ((time[i] == time[i - 1]) & after));
    }
    return !bad;
}

/* Whether spikes that are in order lie within their trials; those outside of all may. */
static int are_inside(const syn_spikes *s, size_t from, size_t to)
{
    int bad = 0;
    if (!s->trial)
        return s->tick[from] >= s->start[0] && s->tick[to - 1] <= s->stop[0];
    for (size_t i = from; i < to; i++) {
        int now = s->trial[i], known = (now >= 1) & (now <= (int)s->trials);
        uint32_t at = known ? (uint32_t)now - 1 : 0;
        int inside = (s->tick[i] >= s->start[at]) & (s->tick[i] <= s->stop[at]);
        bad |= known ? !inside : now >= 1;
    }
    return !bad;
}

/* Whether nothing is wrong with the spikes from `from` to below `to`, one or more. Where
   this gives 0 there may be nothing wrong either. */
static int are_sound(const syn_spikes *s, const syn_clock *clock, size_t from, size_t to)
{
    size_t first = from > 0 ? from - 1 : 0, n = to - from;
    const double *time = s->tick + from;
    return are_ticks(n, time, clock) &&
           are_in_order(to - first, s->tick + first, s->unit + first, (int)s->units) &&
           are_inside(s, from, to);
}

/* ---- all of them ---- */

enum { PART = 1 << 12 };  /* spikes that fit the nearest caches */

typedef struct inspection {
    const syn_spikes *spikes;
    const syn_clock *clock;
    syn_spikes_verdict *found;  /* [spans] */
} inspection;

/* Takes over a fault of later spikes: one that matters more, or the first. Whether it is
   one before which no other counts. */
static int note_fault(syn_spikes_verdict *out, syn_spikes_fault fault, size_t at)
{
    if (fault == SYN_SPIKES_SOUND)
        return 0;
    if (out->fault == SYN_SPIKES_SOUND || fault < out->fault) {
        out->fault = fault;
        out->at = at;
    }
    return fault < SYN_SPIKES_OUTSIDE;
}

static syn_status inspect(void *context, size_t span, int worker)
{
    (void)worker;
    const inspection *job = context;
    const syn_spikes *s = job->spikes;
    size_t end = syn_spikes_end(s->n, span);
    syn_spikes_verdict *out = &job->found[span];
    out->fault = SYN_SPIKES_SOUND;
    for (size_t from = span * SYN_SPIKES_A_SPAN, to; from < end; from = to) {
        to = end - from > PART ? from + PART : end;
        for (size_t i = are_sound(s, job->clock, from, to) ? to : from; i < to; i++)
            if (note_fault(out, spike_fault(s, job->clock, i), i))
                return SYN_OK;
    }
    return SYN_OK;
}

syn_status syn_spikes_check(const syn_spikes *spikes, const syn_clock *clock, int threads,
                            const syn_watch *watch, syn_spikes_verdict *out)
{
    static const syn_clock ticks = {.rate = 1};
    size_t spans = syn_spikes_spans(spikes->n);
    inspection job = {spikes, clock ? clock : &ticks, NULL};
    out->fault = bounds_fault(spikes, job.clock, &out->at);
    if (out->fault != SYN_SPIKES_SOUND)
        return SYN_OK;
    job.found = malloc((spans + 1) * sizeof *job.found);
    syn_status status = SYN_NO_MEMORY;
    if (job.found)
        status = syn_parallel_for(spans, syn_spikes_threads(spikes->n, threads), watch,
                                  "spikes", inspect, &job);
    for (size_t i = 0; status == SYN_OK && i < spans; i++)
        if (note_fault(out, job.found[i].fault, job.found[i].at))
            break;
    free(job.found);
    return status;
}
