/* The list of entries that R may call, and what is done when the library is loaded and
   unloaded. */
#include "glue/glue.h"

#include "core/base/parallel.h"
#include "glue/episode_names.h"
#include "glue/pattern_store.h"
#include "glue/watch.h"
#include "gpu/base/devices.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define ENTRY(name, arguments) {#name, (DL_FUNC) &name, arguments}

static const R_CallMethodDef entries[] = {
    ENTRY(r_sitrep, 1),
    ENTRY(r_guard_division, 1),
    ENTRY(r_release_gpu, 0),
    ENTRY(r_process_lives, 1),
    ENTRY(r_row_sums, 4),
    ENTRY(r_random_key, 0),
    ENTRY(r_random_uniform, 3),
    ENTRY(r_random_below, 4),
    ENTRY(r_philox, 2),
    ENTRY(r_csv_rows, 2),
    ENTRY(r_csv_fields, 2),
    ENTRY(r_crc32, 2),
    ENTRY(r_check_spikes, 4),
    ENTRY(r_ticks, 2),
    ENTRY(r_threads_report, 0),
    ENTRY(r_cgroup_processors, 2),
    ENTRY(r_parallel_probe, 5),
    ENTRY(r_mine_episodes, 5),
    ENTRY(r_count_episodes, 5),
    ENTRY(r_episode_occurrences, 6),
    ENTRY(r_count_rows_check, 5),
    ENTRY(r_count_episodes_gpu, 6),
    ENTRY(r_episode_null, 5),
    ENTRY(r_null_summary, 5),
    ENTRY(r_batch_check, 3),
    ENTRY(r_pattern_windows, 6),
    ENTRY(r_reduce_patterns, 7),
    ENTRY(r_pattern_stability, 8),
    ENTRY(r_mine_patterns, 3),
    ENTRY(r_pattern_shares, 3),
    ENTRY(r_mine_itemsets, 4),
    ENTRY(r_drop_shifted, 6),
    ENTRY(r_release_patterns, 0),
    ENTRY(r_spectrum, 8),
    ENTRY(r_surrogate_trains, 5),
    ENTRY(r_surrogate_rasters, 5),
    ENTRY(r_edm_neighbours, 4),
    ENTRY(r_edm_simplex, 5),
    ENTRY(r_edm_sweep, 7),
    ENTRY(r_edm_smap, 7),
    ENTRY(r_ccm, 7),
    ENTRY(r_ccm_library, 5),
    ENTRY(r_map_dimensions, 4),
    ENTRY(r_map_open, 5),
    ENTRY(r_map_fill, 3),
    ENTRY(r_map_prepare, 4),
    ENTRY(r_map_begin, 2),
    ENTRY(r_map_finish, 2),
    ENTRY(r_map_blank, 3),
    ENTRY(r_map_values, 4),
    ENTRY(r_map_best, 7),
    ENTRY(r_map_convergence, 5),
    ENTRY(r_map_count, 6),
    ENTRY(r_map_p_values, 3),
    ENTRY(r_map_store, 4),
    ENTRY(r_map_links, 5),
    ENTRY(r_map_dress, 2),
    ENTRY(r_map_close, 1),
    {NULL, NULL, 0}
};

void attribute_visible R_init_synfire(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
    glue_watch_init();
    glue_episode_names_init(dll);
    glue_pattern_store_init(dll);
    syn_parallel_init();
    syn_gpu_init();
}
