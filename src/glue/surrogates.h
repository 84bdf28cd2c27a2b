/* What surrogates are made from, as R holds it. */
#ifndef SYN_GLUE_SURROGATES_H
#define SYN_GLUE_SURROGATES_H

#include "glue/glue.h"

#include "core/surrogates/surrogates.h"
#include "glue/watch.h"

/* What syn_trains_make() makes of a list as glue_spikes() reads it. The caller frees,
   also after an error; R's error, with the bar of the watch removed, when they are not
   what they must be for surrogates with these options, before anything is allocated.
   Their bytes are taken from the budget for good: SYN_OVER_BUDGET where they do not fit. */
syn_status glue_trains(syn_trains *out, SEXP spikes, const syn_surrogate_options *options,
                       syn_budget *budget, glue_watch *watch);

/* `options`, from surrogate_options() in R. R's error as above. */
syn_surrogate_options glue_surrogate_options(SEXP options);

#endif
