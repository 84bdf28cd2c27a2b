/* Checks the spikes that R hands over: each time must be finite and on the clock, each
   unit known, and the spikes in order. Whether there is any fault is asked of several
   spikes at a time; where there is, one pass finds the first. */
#include "core/spikes/check.h"

#include <float.h>
#include <math.h>

#include "core/base/kinds.h"

/* Tells the compiler that the steps of a loop may be taken several at a time. */
#ifdef _OPENMP
#define SYN_SIMD(how) SYN_PRAGMA(omp simd how)
#else
#define SYN_SIMD(how)
#endif

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

static inline int in_order(size_t n, const double *time, const int *unit, int twice)
{
    int bad = 0;
    SYN_SIMD(reduction(| : bad))
    for (size_t i = 1; i < n; i++) {
        int after = twice ? unit[i] >= unit[i - 1] : unit[i] > unit[i - 1];
        bad |= !((time[i] > time[i - 1]) | ((time[i] == time[i - 1]) & after));
    }
    return !bad;
}

int syn_spikes_in_order(size_t n, const double *time, const int *unit, int units,
                        int twice)
{
    int bad = 0;
    SYN_SIMD(reduction(| : bad))
    for (size_t i = 0; i < n; i++)
        bad |= (unit[i] < 1) | (unit[i] > units);
    return !bad && (twice ? in_order(n, time, unit, 1) : in_order(n, time, unit, 0));
}

/* Whether all times are ticks, none of them far; nothing that is not finite is. */
static int are_ticks(size_t n, const double *time, const syn_clock *clock)
{
    double rate = clock->rate, off = 0, far = 0;
    if (isnan(rate) || FLT_EVAL_METHOD != 0)
        return 0;
    SYN_SIMD(reduction(+ : off) reduction(max : far))
    for (size_t i = 0; i < n; i++) {
        double raw = time[i] * rate, size = fabs(raw);
        off += fabs(((raw + WHOLE) - WHOLE) / rate - time[i]);
        far = size > far ? size : far;
    }
    return off == 0 && far < NEAR;
}

syn_spikes_fault syn_spikes_check(size_t n, const double *time, const int *unit,
                                  double units, const syn_clock *clock, size_t *at)
{
    size_t twice = n;
    *at = n;
    if (are_ticks(n, time, clock) &&
        syn_spikes_in_order(n, time, unit, (int)units, 0))
        return SYN_SPIKES_SOUND;
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
