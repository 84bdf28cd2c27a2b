/* Patterns as R's side gives them. */
#ifndef SYN_GLUE_PATTERNS_TIMES_H
#define SYN_GLUE_PATTERNS_TIMES_H

#include "glue/glue.h"

#include "core/patterns/found/times.h"

/* `size` of each pattern; `unit`, from 0 and -1 for one that never fires, and `lag`, in
   bins below `window`, of each item. Borrows the vectors. */
syn_pattern_list glue_pattern_list(SEXP size, SEXP unit, SEXP lag, double units,
                                   double window);

#endif
