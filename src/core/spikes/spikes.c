/* Checks spikes. A quick test passes over those that nothing is wrong with, nearly all;
   what may be wrong with another is then looked at in turn. */
#include "core/spikes/spikes.h"

#include <float.h>
#include <math.h>

#define NEAR 1125899906842624.0   /* 2^50 */
#define WHOLE 6755399441055744.0  /* 1.5 * 2^52, from where on all are whole */

/* The nearest whole number, of halves the even one. For most a sum rounds as well, in a
   fraction of the time. */
static double nearest(double x)
{
    if (FLT_EVAL_METHOD == 0 && fabs(x) < NEAR)
        return (x + WHOLE) - WHOLE;
    return nearbyint(x);
}

static double tick_of(double time, const syn_clock *clock)
{
    return nearest(isnan(clock->rate) ? time / clock->resolution : time * clock->rate);
}

void syn_ticks(size_t n, const double *time, const syn_clock *clock, double *tick)
{
    for (size_t i = 0; i < n; i++)
        tick[i] = tick_of(time[i], clock);
}

static double seconds_of(double tick, const syn_clock *clock)
{
    return isnan(clock->rate) ? tick * clock->resolution : tick / clock->rate;
}

static syn_spikes_fault time_fault(double time, const syn_clock *clock)
{
    if (!isfinite(time))
        return SYN_SPIKES_NOT_FINITE;
    double tick = clock ? tick_of(time, clock) : nearest(time);
    if (!(fabs(tick) < SYN_MOST_TICK))
        return SYN_SPIKES_FAR;
    double back = clock ? seconds_of(tick, clock) : tick;
    return back == time ? SYN_SPIKES_SOUND : SYN_SPIKES_OFF_CLOCK;
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

/* ---- many at once ---- */

static inline int is_tick(double time, const syn_clock *clock)
{
    double raw = clock ? time * clock->rate : time;
    double tick = (raw + WHOLE) - WHOLE;
    return (fabs(raw) < NEAR) & ((clock ? tick / clock->rate : tick) == time);
}

/* Whether nothing is wrong with spike `i`, not the first one. That it comes after the one
   in front of it is no branch: those on one tick are many in a burst, and a surprise. */
static inline int is_sound(const syn_spikes *s, const syn_clock *clock, size_t i)
{
    double time = s->tick[i], before = s->tick[i - 1];
    uint32_t unit = (uint32_t)s->unit[i], trial = s->trial ? (uint32_t)s->trial[i] : 1;
    int later = (time > before) | ((time == before) & (s->unit[i] > s->unit[i - 1]));
    if (unit - 1 >= s->units || trial - 1 >= s->trials)
        return 0;
    return later & (time >= s->start[trial - 1]) & (time <= s->stop[trial - 1]) &
           is_tick(time, clock);
}

/* The first spike of those from `i` to below `to` that may have a fault, or `to`. */
static size_t pass_sound(const syn_spikes *s, const syn_clock *clock, size_t i, size_t to)
{
    const syn_spikes here = *s;
    if (i == 0 || FLT_EVAL_METHOD != 0 || (clock && isnan(clock->rate)))
        return i;
    while (i < to && is_sound(&here, clock, i))
        i++;
    return i;
}

/* ---- all of them ---- */

syn_status syn_spikes_check(const syn_spikes *spikes, const syn_clock *clock,
                            const syn_watch *watch, syn_spikes_verdict *out)
{
    size_t n = spikes->n;
    out->fault = bounds_fault(spikes, clock, &out->at);
    if (out->fault != SYN_SPIKES_SOUND)
        return SYN_OK;
    for (size_t from = 0, to; from < n; from = to) {
        to = n - from > SYN_SPIKES_A_POLL ? from + SYN_SPIKES_A_POLL : n;
        if (syn_spikes_poll(watch, from, n) != SYN_OK)
            return SYN_INTERRUPTED;
        for (size_t i = from; (i = pass_sound(spikes, clock, i, to)) < to; i++) {
            syn_spikes_fault fault = spike_fault(spikes, clock, i);
            if (fault == SYN_SPIKES_SOUND)
                continue;
            if (out->fault == SYN_SPIKES_SOUND || fault < out->fault) {
                out->fault = fault;
                out->at = i;
            }
            if (fault < SYN_SPIKES_OUTSIDE)
                return SYN_OK;
        }
    }
    return SYN_OK;
}
