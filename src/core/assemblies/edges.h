/* How a lag histogram falls off towards long lags, as trials end. */
#ifndef SYN_ASSEMBLIES_EDGES_H
#define SYN_ASSEMBLIES_EDGES_H

#include "core/assemblies/ladder.h"
#include "core/base/budget.h"
#include "core/spikes/spikes.h"

/* Fills common[places]: by which share windows of independent units with constant rates
   hold more than the lags beside them. In a trial of n bins there are n - |lag| places
   for a lag: around lag 0 there are most. 0 where there is no place beside a window.
   SYN_OVER_BUDGET or SYN_NO_MEMORY. */
syn_status syn_edges_share(const syn_ladder *ladder, int64_t bin,
                           const syn_spikes *trials, double *common, syn_budget *budget);

#endif
