/* The inner loops of causal maps, in one file that is compiled once for each kind of
   processor. */
#include "core/causal/search.h"

#include "core/causal/neighbours.h"
#include "core/causal/predict.h"

const syn_map_kind SYN_KIND_NAME(syn_map) = {find_neighbours, predict_tile};

#if SYN_WIDTH == 0
const syn_map_kind *syn_map_fastest(int vector_bits)
{
    const syn_map_kind *kinds[] =
        SYN_KINDS(&syn_map_any, &syn_map_256, &syn_map_512, &syn_map_512);
    return kinds[syn_kind_here(vector_bits)];
}
#endif
