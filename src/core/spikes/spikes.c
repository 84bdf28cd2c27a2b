#include "core/spikes/spikes.h"

#include <math.h>

static double tick_of(double time, const syn_clock *clock)
{
    return nearbyint(isnan(clock->rate) ? time / clock->resolution : time * clock->rate);
}

static double seconds_of(double tick, const syn_clock *clock)
{
    return isnan(clock->rate) ? tick * clock->resolution : tick / clock->rate;
}

static syn_spikes_fault time_fault(double time, const syn_clock *clock)
{
    if (!isfinite(time))
        return SYN_SPIKES_NOT_FINITE;
    double tick = clock ? tick_of(time, clock) : time;
    if (!(fabs(tick) < SYN_MOST_TICK))
        return SYN_SPIKES_FAR;
    /* Below 2^53 this is faster than rounding. */
    double back = clock ? seconds_of(tick, clock) : (double)(int64_t)tick;
    return back == time ? SYN_SPIKES_SOUND : SYN_SPIKES_OFF_CLOCK;
}

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

syn_status syn_spikes_check(const syn_spikes *spikes, const syn_clock *clock,
                            const syn_watch *watch, syn_spikes_verdict *out)
{
    out->fault = bounds_fault(spikes, clock, &out->at);
    if (out->fault != SYN_SPIKES_SOUND)
        return SYN_OK;
    for (size_t i = 0; i < spikes->n; i++) {
        if (syn_spikes_poll(watch, i, spikes->n) != SYN_OK)
            return SYN_INTERRUPTED;
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
    return SYN_OK;
}
