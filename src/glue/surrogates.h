/* Reads what surrogates are made from. */
#ifndef SYN_GLUE_SURROGATES_H
#define SYN_GLUE_SURROGATES_H

#include "glue/glue.h"

#include "core/surrogates/surrogates.h"

/* `trains`, from trains_of() in R: tick, unit, trial and units as glue_recording() takes
   them, then the first and the last tick of each trial (of the recording without any).
   The caller frees, also after an error; R's error when they are not what they must be
   for surrogates with these options, before anything is allocated. Their bytes are taken
   from the budget for good: SYN_OVER_BUDGET where they do not fit. */
syn_status glue_trains(syn_trains *out, SEXP trains, const syn_surrogate_options *options,
                       syn_budget *budget);

/* `options`, from surrogate_options() in R. R's error as above. */
syn_surrogate_options glue_surrogate_options(SEXP options);

#endif
