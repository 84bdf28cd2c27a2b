/* The whole search: pairs in surrogates and in the recording, then groups. */
#ifndef SYN_ASSEMBLIES_SEARCH_H
#define SYN_ASSEMBLIES_SEARCH_H

#include "core/assemblies/groups.h"
#include "core/assemblies/pairs.h"
#include "core/assemblies/segments.h"

typedef struct syn_assembly_search_options {
    int64_t bin;         /* ticks */
    uint32_t lags;       /* bins */
    uint32_t widest;     /* bins, at least 1 */
    int64_t segment;     /* ticks within which surrogates shift a unit */
    uint32_t surrogates;
    uint32_t exceeded;   /* how many of them may have an excess as large as a pair's */
    uint64_t key;
    int threads;
} syn_assembly_search_options;

typedef struct syn_assembly_search {
    syn_assembly_search_options options;
    syn_segments segments;
    syn_lagged pairs;
    syn_lagged_peak *peak;   /* [units * units] b * units + a for a < b */
    syn_lagged_peak *best;   /* [pairs_found] those above the bar, the largest first */
    uint32_t pairs_found;
    double *maximum;       /* [surrogates] the largest z of each */
    double bar;            /* z of a pair must be above */
    syn_assembly *group;      /* [groups] */
    uint32_t groups;
    syn_budget *budget;
} syn_assembly_search;

/* The caller keeps the budget for as long, and frees, also after an error. */
syn_status syn_assembly_search_run(syn_assembly_search *out, const syn_spikes *spikes,
                          const syn_assembly_search_options *options, syn_budget *budget,
                          const syn_watch *watch);
void syn_assembly_search_free(syn_assembly_search *search);

#endif
