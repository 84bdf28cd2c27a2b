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

/* Of times below SYN_MOST_TICK in ticks. */
static inline int is_tick(double time, const syn_clock *clock)
{
    return clock ? seconds_of(tick_of(time, clock), clock) == time
                 : (double)(int64_t)time == time;
}

static syn_spikes_fault time_fault(double time, const syn_clock *clock)
{
    if (!isfinite(time))
        return SYN_SPIKES_NOT_FINITE;
    if (!(fabs(clock ? tick_of(time, clock) : time) < SYN_MOST_TICK))
        return SYN_SPIKES_FAR;
    return is_tick(time, clock) ? SYN_SPIKES_SOUND : SYN_SPIKES_OFF_CLOCK;
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

/* Whether nothing is wrong with spike `i`, which is in a trial: so it is with most, and
   this is quick to find out. The bounds of trials are sound. */
static inline int is_sound(const syn_spikes *s, const syn_clock *clock, size_t i)
{
    double time = s->tick[i];
    uint32_t unit = (uint32_t)s->unit[i], trial = s->trial ? (uint32_t)s->trial[i] : 1;
    if (unit - 1 >= s->units || trial - 1 >= s->trials)
        return 0;
    if (i > 0 && !(time > s->tick[i - 1]) &&
        (time < s->tick[i - 1] || s->unit[i] <= s->unit[i - 1]))
        return 0;
    return time >= s->start[trial - 1] && time <= s->stop[trial - 1] &&
           is_tick(time, clock);
}

/* The first spike of those from `i` to below `to` that is not plainly sound, or `to`. */
static size_t pass_sound(const syn_spikes *s, const syn_clock *clock, size_t i, size_t to)
{
    while (i < to && is_sound(s, clock, i))
        i++;
    return i;
}

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
