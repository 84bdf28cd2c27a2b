/* Reads what surrogates are made from. */
#ifndef SYN_GLUE_SURROGATES_H
#define SYN_GLUE_SURROGATES_H

#include "glue/glue.h"

#include "core/surrogates/surrogates.h"

/* Spikes as glue_spikes() reads them; R's error also when they are not what they must be
   for surrogates with these options. */
syn_status glue_surrogate_spikes(syn_spikes *out, SEXP spikes,
                                 const syn_surrogate_options *options,
                                 const syn_watch *watch);

/* What syn_trains_make() makes of a list as glue_spikes() reads it. The caller frees,
   also after an error; R's error when they are not what they must be for surrogates with
   these options, before anything is allocated. Their bytes are taken from the budget for
   good: SYN_OVER_BUDGET where they do not fit. */
syn_status glue_trains(syn_trains *out, SEXP spikes, const syn_surrogate_options *options,
                       syn_budget *budget, const syn_watch *watch);

/* `options`, from surrogate_options() in R. R's error as above. */
syn_surrogate_options glue_surrogate_options(SEXP options);

#endif
