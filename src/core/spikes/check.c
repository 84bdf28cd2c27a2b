#include "core/spikes/check.h"

#include <float.h>
#include <math.h>

#define MOST_TICK 9007199254740992.0  /* 2^53 */
#define NEAR 1125899906842624.0       /* 2^50 */
#define WHOLE 6755399441055744.0      /* 1.5 * 2^52, from where on all are whole */

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
    double tick = tick_of(time, clock);
    if (!(fabs(tick) < MOST_TICK))
        return SYN_SPIKES_FAR;
    return seconds_of(tick, clock) == time ? SYN_SPIKES_SOUND : SYN_SPIKES_OFF_CLOCK;
}

syn_spikes_fault syn_spikes_check(size_t n, const double *time, const int *unit,
                                  double units, const syn_clock *clock, size_t *at)
{
    size_t twice = n;
    for (size_t i = 0; i < n; i++) {
        *at = i;
        syn_spikes_fault fault = time_fault(time[i], clock);
        if (fault != SYN_SPIKES_SOUND)
            return fault;
        if (unit[i] < 1 || unit[i] > units)
            return SYN_SPIKES_UNKNOWN;
        if (i == 0 || time[i] > time[i - 1])
            continue;
        if (time[i] < time[i - 1] || unit[i] < unit[i - 1])
            return SYN_SPIKES_UNSORTED;
        if (unit[i] == unit[i - 1] && twice == n)
            twice = i;
    }
    *at = twice;
    return twice < n ? SYN_SPIKES_TWICE : SYN_SPIKES_SOUND;
}
