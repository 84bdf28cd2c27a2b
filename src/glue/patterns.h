/* Reads the options of a search for patterns. */
#ifndef SYN_GLUE_PATTERNS_H
#define SYN_GLUE_PATTERNS_H

#include "glue/glue.h"

#include "core/patterns/mine.h"

/* `options`: window, min_spikes, max_spikes, min_units, min_occ, max_occ, the numbers of
   engine and target, threads, max_memory, and vector_bits, 0 but in tests; infinite where
   there is no limit. `shares`: NULL for all, or the first and the one after the last;
   r_pattern_shares() has them. R's error when they are not what they must be. */
syn_pattern_options glue_pattern_options(SEXP options, SEXP shares);

#endif
