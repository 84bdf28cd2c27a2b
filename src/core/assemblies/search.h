/* The whole search: peaks of surrogates and of the recording, then groups. */
#ifndef SYN_ASSEMBLIES_SEARCH_H
#define SYN_ASSEMBLIES_SEARCH_H

#include "core/assemblies/calm.h"
#include "core/assemblies/candidates.h"
#include "core/assemblies/moments.h"
#include "core/assemblies/refine.h"
#include "core/assemblies/source.h"

/* The largest evidence of a surrogate in each place, and what it is over surrogates: a
   place is a rung and a class of sizes, and the last one that of chains; and the score of
   a surrogate: by how many standard deviations its evidence is above the mean of all
   others, in the place where that is most. */
typedef struct syn_scores {
    uint32_t surrogates;
    size_t places;      /* rungs * SYN_SIZES + 1 */
    double *maximum;    /* [surrogates * places] */
    double *mean;       /* [places] */
    double *deviation;  /* [places] */
    double *score;      /* [surrogates] */
    double bar;         /* what is reported has a score above */
} syn_scores;

typedef struct syn_assembly_search_options {
    syn_ground_options ground;  /* `least` is set by the search */
    int64_t step;        /* ticks of the steps of time that are left out in bursts */
    uint32_t first;      /* number of the first surrogate: 0, or that of a part */
    uint32_t surrogates;
    const double *known; /* [surrogates * places] their evidence, as a search of maxima
                            found it; NULL: it is found */
    uint32_t exceeded;   /* how many of them may have evidence as large as a group's */
    uint32_t resamples;  /* in which groups are looked for again */
} syn_assembly_search_options;

typedef struct syn_assembly_search {
    syn_assembly_search_options options;
    syn_calm calm;
    syn_ground ground;       /* of the recording */
    syn_peaks peaks;         /* of the recording; what groups explain has z of 0 */
    syn_searcher *searcher;  /* [threads] */
    syn_moments *moments;    /* [threads]; NULL where there are none */
    syn_scores scores;
    syn_refiner refiner;
    double best;             /* the largest score of the recording, reported or not */
    uint32_t listed;         /* candidates above the bar at first, */
    uint32_t looked_at;      /* and how many of them are not above it any more */
    syn_assembly *group;     /* [groups] in the order in which they were found */
    uint32_t groups;
    const syn_assembly *among;  /* [amongs] groups of whose members alone groups are; */
    uint32_t amongs;            /* NULL where they may be of any units */
    uint32_t *named;  /* [groups * SYN_ASSEMBLY_MOST] resamples that have each member */
    syn_budget *budget;
} syn_assembly_search;

/* The caller keeps the budget for as long; it ends with syn_assembly_search_free(), also
   after an error. */
syn_status syn_assembly_search_run(syn_assembly_search *out, const syn_spikes *spikes,
                                   const syn_assembly_search_options *options,
                                   syn_budget *budget, const syn_watch *watch);

/* Finds the evidence of surrogates alone, out->scores.maximum, so that parts of them can
   be looked at by themselves. The caller frees as above. */
syn_status syn_assembly_search_maxima(syn_assembly_search *out, const syn_spikes *spikes,
                                      const syn_assembly_search_options *options,
                                      syn_budget *budget, const syn_watch *watch);

/* Looks for groups in search->peaks. */
syn_status syn_assembly_search_groups(syn_assembly_search *search,
                                      const syn_watch *watch);

/* Learns what spikes of a group's members speak for, and lists its activations, until the
   refiner is used again. */
syn_status syn_activations_of(syn_refiner *refiner, const syn_assembly *group,
                              syn_detected *out);

void syn_assembly_search_free(syn_assembly_search *search);

/* ---- the search again, in parts of the recording ---- */

/* Looks for the groups of a search in search->options.resamples parts of the recording,
   and counts in search->named, which is made here, how many of them have each member in a
   group that is the same. SYN_OVER_BUDGET, SYN_NO_MEMORY,
   SYN_TOO_LARGE, SYN_INTERRUPTED. */
syn_status syn_assembly_search_again(syn_assembly_search *search,
                                     const syn_watch *watch);

/* ---- activations of groups of one recording in another one ---- */

/* A recording without its population bursts, in which activations are looked for. */
typedef struct syn_scene {
    syn_calm calm;
    syn_segments segments;
    syn_refiner refiner;  /* without pairs: members stay as they are */
} syn_scene;

/* Widths are those of `ladder`, in bins of `bin` ticks; bursts are looked for in steps of
   `step` ticks. The caller keeps the ladder and the budget for as long, and frees
   out->segments.trains, also after an error; errors are those of syn_calm_make() and
   syn_segments_make(). */
syn_status syn_scene_make(syn_scene *out, const syn_spikes *spikes,
                          const syn_ladder *ladder, int64_t bin, int64_t step,
                          syn_budget *budget, const syn_watch *watch);

/* Learns in `from` what spikes of the members of `group` speak for, and from which score
   on a moment is an activation; and lists the activations in `to`, where the group is
   `same`. `moved` and `out` as syn_detect_at() has them. */
syn_status syn_activations_again(syn_scene *from, const syn_assembly *group,
                                 syn_scene *to, const syn_assembly *same, uint32_t moves,
                                 uint32_t *moved, syn_detected *out,
                                 const syn_watch *watch);

#endif
