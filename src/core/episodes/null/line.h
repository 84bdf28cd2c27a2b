/* Makes a surrogate into a line of events in time order, in memory that is used again for
   the next surrogate. */
#ifndef SYN_EPISODES_NULL_LINE_H
#define SYN_EPISODES_NULL_LINE_H

#include "core/episodes/given.h"
#include "core/surrogates/surrogates.h"

/* How tick and unit of an event are packed into one number: key = tick << unit_bits |
   unit. Trials come one after the other, so far apart that no lag reaches from one into
   the next. */
typedef struct syn_line_layout {
    const syn_surrogate_plan *plan;
    uint32_t events, units;
    unsigned unit_bits, tick_bits;
    int64_t *shift;      /* [trials] what is added to the ticks of a trial */
    uint32_t bounds;
    const int64_t *bound;  /* [bounds] ticks */
    double span;         /* ticks of all trials together, at least 1 */
} syn_line_layout;

/* A line, and what making it needs. */
typedef struct syn_line_room {
    syn_line line;
    uint32_t bounds;   /* those to be found: all of the layout, or none */
    uint64_t *key;     /* [layout's events] */
    uint64_t *spare;   /* [layout's events] keys being sorted */
    uint32_t *scratch;
    syn_arrays memory;
} syn_line_room;

/* Lags reach up to `bound[bounds - 1]`. Plan and bounds are the caller's, to be kept for
   as long. SYN_TOO_LARGE where ticks and units together do not fit into 63 bits. */
syn_status syn_line_layout_make(const syn_surrogate_plan *plan, const int64_t *bound,
                                uint32_t bounds, syn_line_layout *out);
void syn_line_layout_free(syn_line_layout *layout);

/* Bytes of a line. */
size_t syn_line_bytes(const syn_line_layout *layout);

/* Room for any surrogate; free it with syn_line_free(), also after an error. */
syn_status syn_line_make(const syn_line_layout *layout, syn_line_room *out);
void syn_line_free(syn_line_room *room);

/* Fills the line with surrogate `index`, in several steps, as it may take long: call it
   with step 0, 1, ... until it returns 1. */
int syn_line_fill(const syn_line_layout *layout, uint64_t index, uint32_t step,
                  syn_line_room *room);

#endif
