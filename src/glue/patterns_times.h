/* Reads patterns that R passes. */
#ifndef SYN_GLUE_PATTERNS_TIMES_H
#define SYN_GLUE_PATTERNS_TIMES_H

#include "glue/glue.h"

#include "core/base/budget.h"
#include "core/patterns/found/times.h"

/* `size` of each pattern; `unit`, from 0 and -1 for one that never fires, and `lag`, in
   bins below `window`, of each item. Borrows the vectors. */
syn_pattern_list glue_pattern_list(SEXP size, SEXP unit, SEXP lag, double units,
                                   double window);

/* Sets the limit of a budget to `max_memory`, and counts in it what R's side of such
   patterns takes; returns whether that fits. */
int glue_take_patterns(syn_budget *budget, const syn_pattern_list *list, R_xlen_t items,
                       double max_memory);

#endif
