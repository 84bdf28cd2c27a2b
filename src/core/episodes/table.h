/* Where the windows after each event lie, and what occurs first in them. */
#ifndef SYN_EPISODES_TABLE_H
#define SYN_EPISODES_TABLE_H

#include "core/base/arrays.h"
#include "core/episodes/mine.h"

/* beyond[b][r] is the first event more than bound b after the event of row r (see
   recording->by_unit). An interval is two bounds, so that the windows of interval k are
   the events beyond[2 * k][r] <= j < beyond[2 * k + 1][r]. */
typedef struct syn_windows {
    uint32_t bounds;
    uint32_t **beyond;        /* [bounds][rows] */
    uint32_t reach;           /* farthest event of any window, counted from its event */
    double occupancy;         /* events of a window on average, the widest interval's */
    syn_arrays memory;
} syn_windows;

/* The bounds of intervals, or of a tree of episodes, which are not in pairs. An error
   leaves nothing allocated. */
syn_status syn_windows_make(syn_windows *out, const syn_recording *recording,
                            const int64_t *bound, uint32_t bounds, int threads,
                            const syn_watch *watch);

void syn_windows_free(syn_windows *windows);

#define SYN_NO_LANE UINT32_MAX

/* The next-occurrence table: for the event of a row, interval k and lane l the distance
   to the first event of that lane's unit inside the window, 0 when there is none. */
typedef struct syn_next_table {
    uint16_t *distance;  /* [rows][intervals][lanes] */
    size_t lanes;        /* units rounded up to whole blocks */
    size_t stride;       /* intervals * lanes */
} syn_next_table;

/* Bytes the table of so many events, intervals and units takes. */
size_t syn_next_table_bytes(size_t events, size_t n_intervals, size_t units);

/* Fills the table; `lane` maps units to lanes, those without one to SYN_NO_LANE.
   windows->reach must fit in 16 bits. */
syn_status syn_next_table_make(syn_next_table *out, const syn_recording *recording,
                               const syn_windows *windows, const uint32_t *lane,
                               size_t units, int threads, const syn_watch *watch);

void syn_next_table_free(syn_next_table *table);

#endif
