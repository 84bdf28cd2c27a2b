/* The inner loops of surrogates with vector registers. */
#ifndef SYN_ASSEMBLIES_LANES_H
#define SYN_ASSEMBLIES_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/kinds.h"

enum { SYN_LANES_BLOCK = 256 };  /* rows of counts are as long as several of these */

/* Windows of one rung, in the order of lags: spikes inside, and those with the ones
   beside. Both have room for a register more. */
typedef struct syn_lanes_windows {
    uint32_t n;
    int32_t *in, *all;
    uint32_t *at;       /* which of them were picked, */
    int32_t *z;         /* and their z in parts of SYN_PEAK_SCALE */
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

    /* Fills windows->in and windows->all: window i is at lag (i - reach) * step of the
       running sums `sum`, its rung `half` bins on each side. */
    void (*fill)(const syn_lanes_windows *windows, const int32_t *sum, int32_t half,
                 int32_t step);

    /* Picks the windows with a z of `least` at least, where nothing is common. Returns
       how many. */
    uint32_t (*pick)(const syn_lanes_windows *windows, double clumps, int32_t least);
} syn_lanes;

/* Those for the widest registers of at most `vector_bits` bits; of any width with 0. */
const syn_lanes *syn_lanes_fastest(int vector_bits);

extern const syn_lanes syn_lanes_any, syn_lanes_256, syn_lanes_512;

#endif
