/* Reads the options of a search for patterns. */
#ifndef SYN_GLUE_PATTERNS_H
#define SYN_GLUE_PATTERNS_H

#include "glue/glue.h"

#include "core/patterns/mine.h"

/* `options`, from miner_options() in R; all shares. R's error when they are not what they
   must be. */
syn_pattern_options glue_pattern_options(SEXP options);

#endif
