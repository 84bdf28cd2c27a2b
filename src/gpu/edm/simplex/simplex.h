/* Neighbours and simplex projection on GPUs, see core/edm/neighbours/neighbours.h and
   core/edm/simplex/simplex.h. */
#ifndef SYN_GPU_EDM_SIMPLEX_H
#define SYN_GPU_EDM_SIMPLEX_H

#include "core/edm/simplex/simplex.h"
#include "gpu/base/devices.h"

/* All functions do what those of the core with the same names do, on devices. Neighbours
   and distances are the same, predictions to within 1e-12 of their size. Of the options,
   `threads` and `vector_bits` mean nothing here. */

/* Free `out` with syn_neighbours_free(), also after an error. */
SYN_GPU_MAKER(syn_gpu_find_neighbours, memset(out, 0, sizeof *out),
              const syn_points *points, const syn_rows *library,
              const syn_rows *prediction, const syn_neighbour_options *options,
              syn_gpu_call *call, syn_neighbours *out)

SYN_GPU_FUNCTION(syn_gpu_simplex, const syn_points *points, const syn_rows *library,
                 const syn_rows *predicted, const syn_neighbour_options *options,
                 const syn_targets *targets, syn_gpu_call *call, double *prediction,
                 double *variance)

SYN_GPU_FUNCTION(syn_gpu_simplex_sweep, const syn_points *points,
                 const syn_reach *library, const syn_reach *predicted,
                 const syn_sweep_options *options, const double *target,
                 syn_gpu_call *call, double *prediction)

SYN_GPU_FUNCTION(syn_gpu_simplex_views, const syn_points *points, const syn_rows *library,
                 const syn_rows *predicted, const syn_views *views,
                 const syn_neighbour_options *options, const double *target,
                 syn_gpu_call *call, double *prediction)

#endif
