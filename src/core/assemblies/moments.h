/* Groups that are together rarely: of few activations, pairs of members say little, and
   three of them a lot. */
#ifndef SYN_ASSEMBLIES_MOMENTS_H
#define SYN_ASSEMBLIES_MOMENTS_H

#include "core/assemblies/binned.h"
#include "core/assemblies/groups.h"
#include "core/assemblies/peaks.h"
#include "core/assemblies/segments.h"

enum {
    SYN_CHAIN_FEWEST = 3,
    SYN_CHAIN_MOST = 6,  /* members of a chain */
    SYN_CHAINS = 12      /* chains of a list of peaks that are kept, at most */
};

/* A spike: its bin, from the beginning of the recording, and unit. */
typedef struct syn_moment_spike {
    int32_t bin;
    uint32_t unit;
} syn_moment_spike;

/* Memory of one worker. */
typedef struct syn_moments {
    const syn_lagged *pairs;
    const syn_binned *binned;
    uint64_t key;      /* of shifts */
    int32_t *start;    /* [segments] first bin of each */
    int32_t bins;      /* of the recording */
    uint32_t *first;   /* [units + 1] where spikes of a unit begin */
    int32_t *train;    /* [events] bins of the spikes of a unit, increasing */
    int32_t reach;     /* bins that members are apart from the first, at most */
    int32_t block;     /* bins of a block */
    uint32_t *opens;   /* [blocks + 1] where the spikes of a block begin */
    syn_moment_spike *spike;  /* [events] block after block */
    uint16_t *count;   /* [units * cells] */
    uint32_t cells;    /* of a rung, at most */
} syn_moments;

/* Whether chains are looked for: they do not know of responses to events, and bins are
   counted up to 2^30, that is twelve days of milliseconds. */
int syn_moments_may(const syn_lagged *pairs, const syn_segments *segments);

/* The caller keeps what is pointed to for as long. SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_moments_make(syn_moments *out, const syn_lagged *pairs,
                            const syn_segments *segments, const syn_binned *binned,
                            uint64_t key, syn_budget *budget);

/* Lays out the spikes of a surrogate, or of the recording, whose segments are not
   shifted: NULL. */
void syn_moments_lay(syn_moments *moments, const uint64_t *surrogate);

/* The chains with most evidence in the spikes that were laid out, whose peaks are given:
   `*n` of them in `out`, which has room for SYN_CHAINS, the best one first. The score of
   a chain is its evidence. Members are in the order in which they were found; the first
   two have a peak. */
void syn_chains_find(syn_moments *moments, const syn_peaks *peaks, syn_assembly *out,
                     uint32_t *n);

#endif
