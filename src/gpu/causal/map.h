/* Causal maps on GPUs: the neighbours and correlations of core/causal/map.h. */
#ifndef SYN_GPU_CAUSAL_MAP_H
#define SYN_GPU_CAUSAL_MAP_H

#include "core/causal/map.h"
#include "gpu/base/devices.h"

/* What a block of libraries took. The parts are of the device that took longest, and
   overlap with each other. */
typedef struct syn_gpu_map_report {
    double neighbours;   /* kernels that find neighbours */
    double correlations; /* kernels that predict and correlate */
} syn_gpu_map_report;

/* Neighbours that a search for dimensions finds and a map of the same series uses. */
typedef struct syn_gpu_tables syn_gpu_tables;

/* Room for the neighbours of series that are libraries and targets of a map. `layout`,
   `options` and `half` are those of the map, where Tp is 0, tau -1, lib_size 0 and E_max
   at least the largest number of dimensions. Each device keeps `most` bytes of them, and
   no more than leaves it room for the map. `out` is NULL where such neighbours cannot be
   kept. Close it with syn_gpu_tables_close(). */
SYN_GPU_MAKER(syn_gpu_tables_open, *out = NULL, const syn_map_layout *layout,
              const syn_map_options *options, int half, double most, syn_gpu_call *call,
              syn_gpu_tables **out)

/* NULL is allowed. */
void syn_gpu_tables_close(syn_gpu_tables *tables);

/* syn_map_dimensions() on devices: of value[n][layout->steps], NaN where missing, which a
   thread for each device makes ready while that is at work.
   Series with too few points have none: see syn_map_drop_small(). Where there is room,
   neighbours are kept in `tables`, unless that is NULL, for the libraries `first` to
   first + n - 1 of the map; numbers rise from call to call. */
SYN_GPU_FUNCTION(syn_gpu_map_dimensions, uint32_t n, const double *value, uint32_t first,
                 const syn_map_layout *layout, const syn_map_options *options,
                 syn_gpu_tables *tables, syn_gpu_call *call, float *rho)

/* Targets on devices, for any number of blocks of libraries. */
typedef struct syn_gpu_map syn_gpu_map;

/* Copies the targets to every device; `half` keeps them in half precision. Neither
   targets nor layout are needed afterwards; `tables`, which may be NULL, are until the
   map is closed. Close it with syn_gpu_map_close(). */
SYN_GPU_MAKER(syn_gpu_map_open, *out = NULL, const syn_map_targets *targets,
              const syn_map_layout *layout, const syn_map_options *options, int half,
              syn_gpu_tables *tables, syn_gpu_call *call, syn_gpu_map **out)

/* Starts syn_map_cross() for a block of libraries, the first of which is number `first`
   of the map, and returns at once. The libraries, and rho[libraries->n][targets], belong
   to the work until syn_gpu_map_finish(). A block may be begun before those before it are
   finished: the devices then go on to it without a pause. */
SYN_GPU_FUNCTION(syn_gpu_map_begin, syn_gpu_map *map, const syn_map_libraries *libraries,
                 uint32_t first, float *rho, syn_gpu_call *call)

/* Waits for the block that was begun first, of those that are not finished. After an
   error, or if interrupted, all that was begun has ended, and nothing more can be
   begun. */
SYN_GPU_MAKER(syn_gpu_map_finish, memset(report, 0, sizeof *report), syn_gpu_map *map,
              syn_gpu_call *call, syn_gpu_map_report *report)

/* Ends what was begun and gives everything back; NULL is allowed. */
void syn_gpu_map_close(syn_gpu_map *map);

#endif
