/* Spikes as the callers of the core hold them, and the one check of what everything that
   is made from them relies on. */
#ifndef SYN_SPIKES_SPIKES_H
#define SYN_SPIKES_SPIKES_H

#include <stdint.h>

#include "core/base/watch.h"
#include "core/spikes/clock.h"

/* Spikes by tick, then by unit. Whatever takes this struct relies on syn_spikes_check().
   The arrays are the caller's. */
typedef struct syn_spikes {
    size_t n;
    const double *tick;   /* [n] whole numbers */
    const int *unit;      /* [n] from 1 to `units`, none twice on a tick */
    const int *trial;     /* [n] from 1 to `trials`; below 1 for a spike outside of all,
                             which is left out; NULL when all are in the first */
    uint32_t units;
    uint32_t trials;      /* at least 1 */
    const double *start;  /* [trials] first ticks */
    const double *stop;   /* [trials] last ticks, each before the next trial's first */
} syn_spikes;

typedef enum syn_spikes_fault {
    SYN_SPIKES_SOUND,
    SYN_SPIKES_NOT_FINITE,  /* a time that is no number */
    SYN_SPIKES_OFF_CLOCK,   /* a time that is no tick */
    SYN_SPIKES_FAR,         /* SYN_MOST_TICK or more from zero */
    SYN_SPIKES_UNIT,        /* a unit that is not from 1 to `units` */
    SYN_SPIKES_UNSORTED,    /* before the one in front of it */
    SYN_SPIKES_TRIAL,       /* a trial beyond `trials` */
    SYN_SPIKES_BOUNDS,      /* of a trial: no ticks, reversed, or over the one before */
    SYN_SPIKES_OUTSIDE,     /* not within the bounds of its trial */
    SYN_SPIKES_TWICE        /* the unit of the one in front of it, on its tick */
} syn_spikes_fault;

/* The tick next to each time, of two the even one. */
void syn_ticks(size_t n, const double *time, const syn_scale *scale, int threads,
               double *tick);

/* What is wrong with spikes, and where: the first spike with a fault, a trial for
   SYN_SPIKES_BOUNDS. The last two faults are given only when there is no other. */
typedef struct syn_spikes_verdict {
    syn_spikes_fault fault;
    size_t at;
} syn_spikes_verdict;

/* Checks spikes. With a clock their times and bounds are in seconds on it; without one,
   NULL, they are ticks. SYN_INTERRUPTED by the watch; no fault is an error. */
syn_status syn_spikes_check(const syn_spikes *spikes, const syn_clock *clock, int threads,
                            const syn_watch *watch, syn_spikes_verdict *out);

/* Threads share spikes in spans of so many, which take a tenth of a millisecond. */
enum { SYN_SPIKES_A_SPAN = 1 << 16 };

/* Spans of `n` spikes, and where one ends. */
static inline size_t syn_spikes_spans(size_t n)
{
    return (n + SYN_SPIKES_A_SPAN - 1) / SYN_SPIKES_A_SPAN;
}

static inline size_t syn_spikes_end(size_t n, size_t span)
{
    return n / SYN_SPIKES_A_SPAN > span ? (span + 1) * SYN_SPIKES_A_SPAN : n;
}

/* Threads for work on `n` spikes: to wake others takes as long as one needs for few. */
static inline int syn_spikes_threads(size_t n, int threads)
{
    return n < 8 * SYN_SPIKES_A_SPAN ? 1 : threads;
}

/* For loops over spikes: polls the watch before spike 0 of `n`, and every
   SYN_SPIKES_A_POLL of them on. */
enum { SYN_SPIKES_A_POLL = 1 << 22 };  /* some 30 ms of work */

static inline syn_status syn_spikes_poll(const syn_watch *watch, size_t i, size_t n)
{
    return i % SYN_SPIKES_A_POLL == 0 ? syn_poll(watch, "spikes", (double)i, (double)n)
                                      : SYN_OK;
}

#endif
