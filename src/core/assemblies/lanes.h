/* The inner loops of surrogates with vector registers. */
#ifndef SYN_ASSEMBLIES_LANES_H
#define SYN_ASSEMBLIES_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/kinds.h"

enum { SYN_LANES_BLOCK = 256 };  /* rows of counts are as long as several of these */

/* Windows of one rung, by lag, and those of them that were picked. */
typedef struct syn_lanes_windows {
    uint32_t n;         /* windows; numbered from the lowest lag on */
    /* of those that were picked, each with room for all n */
    uint32_t *at;       /* their numbers, */
    int32_t *in, *all;  /* the spikes inside, and those with the ones beside, */
    int32_t *z;         /* and z in parts of SYN_PEAK_SCALE */
} syn_lanes_windows;

typedef struct syn_lanes {
    /* word[w * n + i] is what syn_binned_shift() takes for segment 4 * block + w, before
       it is scaled to the bins of the segment, of surrogate `from` + i. */
    void (*draw)(uint64_t key, uint64_t from, uint32_t n, uint32_t unit, uint32_t block,
                 uint32_t *word);

    /* cell[t] = twice[t] + twice[n + t] for t below n; returns the largest. */
    uint32_t (*fold)(const uint8_t *twice, size_t n, uint8_t *cell);

    /* Adds rows of `length` counts, a multiple of SYN_LANES_BLOCK, that are 255 at most
       together: those at even places to sum[0], sum[1] and so on, those at odd ones to
       sum[length / 2] and so on. */
    void (*add)(const uint8_t *const *row, uint32_t rows, size_t length, uint16_t *sum);

    /* Picks the windows with a z of `least` at least, where nothing is common, and
       returns how many. Windows are `step` lags apart, around lag 0 of the running sums
       `sum`, after whose margin there is room for a register more; `half` bins on each
       side, and none has a z of `least` with fewer than `fewest` spikes inside. */
    uint32_t (*pick)(const syn_lanes_windows *windows, const int32_t *sum, int32_t half,
                     int32_t step, double clumps, int32_t fewest, int32_t least);
} syn_lanes;

SYN_KIND_TABLES(syn_lanes, syn_lanes);

#endif
