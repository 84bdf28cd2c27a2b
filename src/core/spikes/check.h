/* Spikes in seconds: their ticks, and whether they are what every analysis relies on. */
#ifndef SYN_SPIKES_CHECK_H
#define SYN_SPIKES_CHECK_H

#include <stddef.h>

typedef enum syn_spikes_fault {
    SYN_SPIKES_SOUND,
    SYN_SPIKES_NOT_FINITE,
    SYN_SPIKES_OFF_CLOCK,  /* a time that is not exactly that of a tick */
    SYN_SPIKES_FAR,        /* 2^53 ticks from zero or more */
    SYN_SPIKES_UNKNOWN,    /* a unit that is not from 1 to `units` */
    SYN_SPIKES_UNSORTED,   /* earlier than the spike before it, by time, then by unit */
    SYN_SPIKES_TWICE       /* same unit and tick as the spike before it: reported only
                              where there is no other fault */
} syn_spikes_fault;

/* The clock: tick k is k / rate seconds, or k * resolution seconds where rate is NaN. */
typedef struct syn_clock {
    double rate, resolution;
} syn_clock;

/* The tick next to each time, of two the even one. */
void syn_ticks(size_t n, const double *time, const syn_clock *clock, double *tick);

/* Whether units are from 1 to `units`, and spikes are sorted by time, or tick, and by
   unit; no unit is on one tick twice, unless `twice`. It looks at several spikes at a
   time: branches for those on one tick, of which bursts have many, would take long. */
int syn_spikes_in_order(size_t n, const double *time, const int *unit, int units,
                        int twice);

/* Looks at `n` times and units in turn. `*at` is the first one with a fault; `n` where
   there is none. */
syn_spikes_fault syn_spikes_check(size_t n, const double *time, const int *unit,
                                  double units, const syn_clock *clock, size_t *at);

#endif
