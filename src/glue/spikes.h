/* Spike trains as R holds them, made into what the core takes. */
#ifndef SYN_GLUE_SPIKES_H
#define SYN_GLUE_SPIKES_H

#include "glue/glue.h"

#include "core/spikes/raster.h"
#include "core/spikes/recording.h"

/* Reads and checks a list from trains_of() in R: tick (whole doubles), unit (integer
   codes from 1), trial (integer from 1, NA outside all trials; NULL without any), units
   (how many there are), then the first and the last tick of each trial, or of the
   recording (doubles). R's error when they are not what core/spikes/spikes.h says;
   SYN_INTERRUPTED by the watch. The arrays are R's. */
syn_status glue_spikes(syn_spikes *out, SEXP spikes, int threads, const syn_watch *watch);

/* How many units such a list has. */
uint32_t glue_units(SEXP spikes);

/* What syn_recording_make() makes of such a list. */
syn_status glue_recording(syn_recording *out, SEXP spikes, uint32_t min_count,
                          int64_t reach, int threads, const syn_watch *watch);

/* What syn_raster_bin() makes of such a list with the ticks of a bin after the rest. */
syn_status glue_raster(syn_raster *out, SEXP events, uint32_t window, syn_budget *budget,
                       const syn_watch *watch);

#endif
