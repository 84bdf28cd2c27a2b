/* One surrogate as a line of events in time order, in memory that is used again. */
#ifndef SYN_EPISODES_NULL_LINE_H
#define SYN_EPISODES_NULL_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/surrogates/surrogates.h"

/* How ticks and units share one number: key = tick << unit_bits | unit, trials one after
   the other and so far apart that no lag reaches from one into the next. */
typedef struct syn_line_layout {
    const syn_surrogate_plan *plan;
    uint32_t events, units;
    unsigned unit_bits, tick_bits;
    int64_t *shift;      /* [trials] what brings a trial's ticks to their place */
    uint32_t bounds;
    const int64_t *bound;  /* [bounds] ticks */
    double span;         /* ticks of all trials together, at least 1 */
} syn_line_layout;

/* Events are numbered in time order; one unit has at most one event per tick. */
typedef struct syn_line {
    uint32_t events;
    uint64_t *key;       /* [events + 1] increasing, the last one beyond all */
    uint32_t *unit;      /* [events] */
    uint32_t *by_unit;   /* [layout's events] event numbers by unit, increasing */
    uint32_t *first;     /* [units] where a unit's begin in `by_unit` */
    uint32_t *last;      /* [units] and end */
    uint32_t **beyond;   /* [bounds][events] the first event more than the bound later */
    uint64_t *spare;     /* [layout's events] keys being sorted */
    int64_t *tick;       /* [layout's events] as they are made */
    uint32_t *scratch;   /* what making them needs */
} syn_line;

/* Lags reach up to `bound[bounds - 1]`. Plan and bounds are the caller's, to be kept for
   as long. SYN_TOO_LARGE where ticks and units together do not fit into 63 bits. */
syn_status syn_line_layout_make(const syn_surrogate_plan *plan, const int64_t *bound,
                                uint32_t bounds, syn_line_layout *out);
void syn_line_layout_free(syn_line_layout *layout);

/* Bytes of a line. */
size_t syn_line_bytes(const syn_line_layout *layout);

/* Room for any surrogate; free it with syn_line_free(), also after an error. */
syn_status syn_line_make(const syn_line_layout *layout, syn_line *out);
void syn_line_free(syn_line *line);

/* Fills the line with surrogate `index`, in several steps, as it may take long: call it
   with step 0, 1, ... until it returns 1. */
int syn_line_fill(const syn_line_layout *layout, uint64_t index, uint32_t step,
                  syn_line *line);

/* The first event on the tick of `event`. */
static inline uint32_t syn_line_group(const syn_line_layout *layout, const syn_line *line,
                                      uint32_t event)
{
    uint64_t tick = line->key[event] >> layout->unit_bits;
    while (event > 0 && line->key[event - 1] >> layout->unit_bits == tick)
        event--;
    return event;
}

#endif
