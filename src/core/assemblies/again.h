/* Activations of groups of one recording in another one. */
#ifndef SYN_ASSEMBLIES_AGAIN_H
#define SYN_ASSEMBLIES_AGAIN_H

#include "core/assemblies/search.h"

/* A recording without its population bursts, in which activations are looked for. */
typedef struct syn_scene {
    syn_calm calm;
    syn_segments segments;
    syn_refiner refiner;  /* without pairs: members stay as they are */
} syn_scene;

/* Widths are those of `ladder`, in bins of `bin` ticks; bursts are looked for in steps of
   `step` ticks. The caller keeps the ladder and the budget for as long. Memory and errors
   are those of syn_calm_make() and syn_segments_make(). */
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
