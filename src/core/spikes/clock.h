/* Seconds and ticks: which tick is next to a time, and which time a tick has. */
#ifndef SYN_SPIKES_CLOCK_H
#define SYN_SPIKES_CLOCK_H

#include <float.h>
#include <math.h>

#define SYN_MOST_TICK 9007199254740992.0  /* 2^53, which all ticks are below */

#define SYN_NEAR 1125899906842624.0   /* 2^50 */
#define SYN_WHOLE 6755399441055744.0  /* 1.5 * 2^52, from where on all are whole */

/* The clock: tick k is k / rate seconds, or k * resolution seconds where rate is NaN. */
typedef struct syn_clock {
    double rate, resolution;
} syn_clock;

/* How times become ticks: by `times` and then divided by `over`. */
typedef struct syn_scale {
    double times, over;
} syn_scale;

/* The nearest whole number, of halves the even one. For most a sum rounds as well, in a
   fraction of the time. */
static inline double syn_whole_tick(double x)
{
    if (FLT_EVAL_METHOD == 0 && fabs(x) < SYN_NEAR)
        return (x + SYN_WHOLE) - SYN_WHOLE;
    return nearbyint(x);
}

static inline double syn_scaled(double time, const syn_scale *scale)
{
    double raw = time * scale->times;
    return syn_whole_tick(scale->over == 1 ? raw : raw / scale->over);
}

static inline double syn_seconds_of(double tick, const syn_clock *clock)
{
    return isnan(clock->rate) ? tick * clock->resolution : tick / clock->rate;
}

/* The tick next to a time in seconds. */
static inline double syn_tick_of(double time, const syn_clock *clock)
{
    return syn_whole_tick(isnan(clock->rate) ? time / clock->resolution
                                          : time * clock->rate);
}

#endif
