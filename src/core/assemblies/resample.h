/* How surely members belong to groups: the search again, in parts of the recording. */
#ifndef SYN_ASSEMBLIES_RESAMPLE_H
#define SYN_ASSEMBLIES_RESAMPLE_H

#include "core/assemblies/search.h"

/* Looks for the groups of a search in search->options.resamples parts of the recording,
   and counts in search->named, which is made here, how many of them have each member in a
   group that is the same. SYN_OVER_BUDGET, SYN_NO_MEMORY,
   SYN_TOO_LARGE, SYN_INTERRUPTED. */
syn_status syn_assembly_search_again(syn_assembly_search *search,
                                     const syn_watch *watch);

#endif
