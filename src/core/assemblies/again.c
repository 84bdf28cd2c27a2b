/* An activation in another recording is what it was in the first one: spikes have the
   weights that were learnt there, and the threshold is the same, so that nothing is
   chosen by what the other recording has. */
#include "core/assemblies/search.h"

#include <math.h>

syn_status syn_scene_make(syn_scene *out, const syn_spikes *spikes,
                          const syn_ladder *ladder, int64_t bin, int64_t step,
                          syn_budget *budget, const syn_watch *watch)
{
    const syn_events none = {0};
    *out = (syn_scene){0};
    SYN_TRY(syn_calm_make(&out->calm, spikes, &none, step, budget, watch));
    SYN_TRY(syn_segments_make(&out->segments, &out->calm.spikes, step,
                              syn_lagged_reach(ladder, bin), budget, watch));
    out->refiner.detector = (syn_detector){.segments = &out->segments,
                                           .ladder = ladder,
                                           .bin = bin,
                                           .step = step,
                                           .threads = 1,
                                           .budget = budget};
    return syn_detector_make(&out->refiner.detector);
}

syn_status syn_activations_again(syn_scene *from, const syn_assembly *group,
                                 syn_scene *to, const syn_assembly *same, uint32_t moves,
                                 uint32_t *moved, syn_detected *out,
                                 const syn_watch *watch)
{
    syn_detected learnt;
    SYN_TRY(syn_activations_of(&from->refiner, group, &learnt));
    double threshold = learnt.n > 0 ? learnt.threshold : INFINITY;
    return syn_detect_at(&to->refiner.detector, same, &from->refiner.surprise, threshold,
                         moves, moved, out, watch);
}
