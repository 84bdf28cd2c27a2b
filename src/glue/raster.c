/* Bins the events that R passes. */
#include "glue/raster.h"

#include "glue/recording.h"
#include "glue/require.h"

syn_status glue_raster(syn_raster *out, SEXP events, uint32_t window,
                       syn_budget *budget)
{
    require(TYPEOF(events) == VECSXP && Rf_xlength(events) >= 6, "events");
    glue_spikes x = glue_read_spikes(events);
    double width = within(Rf_asReal(VECTOR_ELT(events, 5)), 1, GLUE_MOST_TICK, "bins");
    for (R_xlen_t t = 0; t < x.trials; t++)
        within(x.start[t], -GLUE_MOST_TICK, GLUE_MOST_TICK, "starts");
    glue_check_spikes(&x, NULL);
    /* R counts from 1, and its NA is below that. */
    return syn_raster_bin(out, (size_t)x.n, x.tick, x.unit, x.trial, 1, (uint32_t)x.units,
                          x.start, (int64_t)width, window, budget);
}
