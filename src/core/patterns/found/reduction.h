/* Pattern set reduction: of patterns that overlap, keeps those that the others do not
   explain. */
#ifndef SYN_PATTERNS_FOUND_REDUCTION_H
#define SYN_PATTERNS_FOUND_REDUCTION_H

#include "core/patterns/found/times.h"

typedef enum syn_reduction_method {
    SYN_REDUCTION_COMBINED,
    SYN_REDUCTION_SUBSET,
    SYN_REDUCTION_SUPERSET,
    SYN_REDUCTION_COVERED_SPIKES
} syn_reduction_method;

/* A signature that is not significant: of that duration, or of any if it is negative. */
typedef struct syn_signature {
    int32_t size, occurrences, duration;
} syn_signature;

typedef struct syn_reduction_options {
    syn_reduction_method method;
    int64_t h, k, l;               /* at least 0, below 2^31 */
    int64_t min_spikes, min_count;   /* at least 1 */
    size_t listed;
    const syn_signature *signature;  /* [listed] either all with a duration or none */
} syn_reduction_options;

/* Patterns and where they occur in a raster. */
typedef struct syn_candidates {
    syn_pattern_list list;         /* units below raster->units */
    const syn_raster *raster;
    const syn_pattern_windows *windows;  /* of the list */
} syn_candidates;

/* Sets keep[p] to 1 for each pattern p that no other one rejects, to 0 for the rest.

   Patterns come in an order: larger ones first, then more frequent ones, then by their
   items (lag, then unit). Patterns P and Q, P before Q, overlap at shift d when P's
   items, d bins earlier, share one with Q, and at least `min_count` windows of Q open d
   bins after one of P. Each such (P, Q, d) may reject P, Q or both, whatever else rejects
   them. With z spikes, c occurrences, and s shared items, "listed" being among the
   signatures, with the duration of the pattern that is tested:

     Q has little of its own   c_Q - c_P + h < min_count or (z_Q, c_Q - c_P + h) is listed
     P has little beyond       z_P - s + k < min_spikes or (z_P - s + k, c_P) is listed
     P covers Q                (z_P - l) c_P >= (z_Q - l) c_Q

   If P contains Q (s = z_Q), SUBSET rejects a Q that has little of its own, SUPERSET a P
   that has little beyond, COVERED_SPIKES the one that the other covers, and COMBINED does
   the first two, or the third where both would go. Otherwise COMBINED rejects either that
   has little beyond what they share, or the one that the other covers where both have.
   Identical patterns count as containing each other; the first is P.

   SYN_TOO_LARGE from 2^31 patterns, SYN_OVER_BUDGET, SYN_NO_MEMORY, or SYN_INTERRUPTED by
   the watch; then keep[] is as it was. */
syn_status syn_reduce_patterns(const syn_candidates *patterns,
                               const syn_reduction_options *options, syn_budget *budget,
                               const syn_watch *watch, uint8_t *keep);

#endif
