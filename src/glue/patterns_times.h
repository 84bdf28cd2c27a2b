/* Reads patterns that R passes, and finds the windows that hold them. */
#ifndef SYN_GLUE_PATTERNS_TIMES_H
#define SYN_GLUE_PATTERNS_TIMES_H

#include "glue/owner.h"

#include "core/base/budget.h"
#include "core/patterns/found/times.h"

typedef struct glue_found {
    syn_budget budget;        /* of all that is held */
    uint32_t window;          /* its length in bins */
    syn_pattern_list list;    /* borrows R's vectors */
    size_t items;
    syn_raster raster;
    syn_pattern_windows windows;
} glue_found;

/* `patterns`, from patterns_to_find() in R: window, size of each pattern, and unit and
   lag of each item; units from 0, and `least_unit` -1 where some may never fire. R's
   error when they are not that, or `events` not what glue_raster() takes. */
glue_found *glue_patterns(glue_owner *own, SEXP events, SEXP patterns, int least_unit);

/* Finds the windows, at most `most` of all patterns together; sets the budget to
   `max_memory`, of which R's vectors are a part. */
syn_status glue_find_windows(glue_found *f, SEXP events, size_t most, size_t max_memory,
                             const syn_watch *watch);

#endif
