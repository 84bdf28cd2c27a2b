/* The whole search: pairs in surrogates and in the recording, then groups. */
#ifndef SYN_ASSEMBLIES_SEARCH_H
#define SYN_ASSEMBLIES_SEARCH_H

#include "core/assemblies/groups.h"
#include "core/assemblies/pairs.h"
#include "core/assemblies/refine.h"
#include "core/assemblies/segments.h"
#include "core/assemblies/triangles.h"

typedef struct syn_assembly_search_options {
    int64_t bin;         /* ticks */
    uint32_t lags;       /* bins */
    uint32_t widest;     /* bins, at least 1 */
    int64_t segment;     /* ticks within which surrogates shift a unit */
    uint32_t surrogates;
    uint32_t exceeded;   /* how many of them may have an excess as large as a
                            triangle's */
    uint64_t key;
    int threads;
} syn_assembly_search_options;

typedef struct syn_assembly_search {
    syn_assembly_search_options options;
    syn_segments segments;
    syn_lagged pairs;
    syn_refiner refiner;
    syn_lagged_peak *peak;   /* [rungs * units * units] */
    syn_triangle *best;      /* [rungs * units * units] */
    syn_triangle *seed;      /* [seeds] triangles above the bar, the largest z first */
    double *seed_score;
    uint32_t seeds;
    double *maximum;         /* [surrogates * rungs] the largest z of each */
    double mean[SYN_LADDER_RUNGS], deviation[SYN_LADDER_RUNGS];  /* of these */
    double *score;           /* [surrogates] the largest of their scores */
    double bar;              /* the score of a triangle must be above */
    syn_assembly *group;      /* [groups] */
    uint32_t groups;
    syn_budget *budget;
} syn_assembly_search;

/* The caller keeps the budget for as long, and frees, also after an error. */
syn_status syn_assembly_search_run(syn_assembly_search *out, const syn_spikes *spikes,
                          const syn_assembly_search_options *options, syn_budget *budget,
                          const syn_watch *watch);

/* Lists the activations of group `g` in search->refiner.detector.found. */
syn_status syn_assembly_activations(syn_assembly_search *search, uint32_t g,
                                    syn_detected *out);
void syn_assembly_search_free(syn_assembly_search *search);

#endif
