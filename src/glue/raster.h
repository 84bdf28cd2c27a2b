/* Bins spike trains that R passes. */
#ifndef SYN_GLUE_RASTER_H
#define SYN_GLUE_RASTER_H

#include "glue/glue.h"

#include "core/spikes/raster.h"

/* `events`: tick, unit, trial and units as glue_recording() takes them, then the first
   tick of each trial (of the recording without any) and the ticks of a bin. R's error
   when they are not what they must be. `budget` as in core/spikes/raster.h. */
syn_status glue_raster(syn_raster *out, SEXP events, uint32_t window,
                       syn_budget *budget);

#endif
