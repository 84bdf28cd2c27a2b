/* Neighbours and simplex projection on GPUs, see core/edm/neighbours/neighbours.h and
   core/edm/simplex/simplex.h. */
#ifndef SYN_GPU_EDM_SIMPLEX_H
#define SYN_GPU_EDM_SIMPLEX_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/edm/simplex/simplex.h"
#include "gpu/base/devices.h"

/* All functions do what those of the core with the same names do, on devices[n_devices],
   numbers from 0. Neighbours and distances are the same, predictions to within 1e-12 of
   their size. Of the options, `threads` and `vector_bits` mean nothing here.

   They return SYN_NO_DEVICE when there is no such device or it failed, SYN_NO_MEMORY when
   the host or a device has none left. `reason`, SYN_GPU_TEXT bytes, then holds one plain
   clause; it is empty after SYN_OK and SYN_INTERRUPTED. */

/* Free `out` with syn_neighbours_free(), also after an error. */
syn_status syn_gpu_find_neighbours(const syn_points *points, const syn_rows *library,
                                   const syn_rows *prediction,
                                   const syn_neighbour_options *options,
                                   const int *devices, int n_devices,
                                   const syn_watch *watch, syn_neighbours *out,
                                   char *reason);

syn_status syn_gpu_simplex(const syn_points *points, const syn_rows *library,
                           const syn_rows *predicted,
                           const syn_neighbour_options *options,
                           const syn_targets *targets, const int *devices, int n_devices,
                           const syn_watch *watch, double *prediction, double *variance,
                           char *reason);

syn_status syn_gpu_simplex_sweep(const syn_points *points, const syn_reach *library,
                                 const syn_reach *predicted,
                                 const syn_sweep_options *options, const double *target,
                                 const int *devices, int n_devices,
                                 const syn_watch *watch, double *prediction,
                                 char *reason);

syn_status syn_gpu_simplex_views(const syn_points *points, const syn_rows *library,
                                 const syn_rows *predicted, const syn_views *views,
                                 const syn_neighbour_options *options,
                                 const double *target, const int *devices,
                                 int n_devices, const syn_watch *watch,
                                 double *prediction, char *reason);

#ifdef __cplusplus
}
#endif

#endif
