/* The list of entries that R may call, and what is done when the library is loaded and
   unloaded. */
#include "glue/glue.h"

#include "core/base/parallel.h"
#include "glue/episode_names.h"
#include "glue/owner.h"
#include "glue/pattern_store.h"
#include "glue/watch.h"
#include "glue/window_vectors.h"
#include "gpu/base/devices.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

/* Entries with the number of things R gives them. */
#define PLAIN_ENTRIES(ENTRY)                                                             \
    ENTRY(r_sitrep, 1)                                                                   \
    ENTRY(r_release_gpu, 0)                                                              \
    ENTRY(r_guard_division, 1)                                                           \
    ENTRY(r_process_lives, 1)                                                            \
    ENTRY(r_row_sums, 5)                                                                 \
    ENTRY(r_random_key, 0)                                                               \
    ENTRY(r_random_uniform, 4)                                                           \
    ENTRY(r_random_below, 4)                                                             \
    ENTRY(r_philox, 2)                                                                   \
    ENTRY(r_csv_rows, 4)                                                                 \
    ENTRY(r_csv_fields, 2)                                                               \
    ENTRY(r_crc32, 2)                                                                    \
    ENTRY(r_listen, 2)                                                                   \
    ENTRY(r_accept, 1)                                                                   \
    ENTRY(r_receive, 2)                                                                  \
    ENTRY(r_await, 2)                                                                    \
    ENTRY(r_shut, 1)                                                                     \
    ENTRY(r_ticks, 2)                                                                    \
    ENTRY(r_threads_report, 0)                                                           \
    ENTRY(r_cgroup_processors, 2)                                                        \
    ENTRY(r_stream_open, 3)                                                              \
    ENTRY(r_stream_about, 1)                                                             \
    ENTRY(r_stream_names, 3)                                                             \
    ENTRY(r_plain_block, 3)                                                              \
    ENTRY(r_window_vector, 4)                                                            \
    ENTRY(r_window_write, 3)                                                             \
    ENTRY(r_window_until, 2)                                                             \
    ENTRY(r_count_rows_check, 5)                                                         \
    ENTRY(r_ccm_library, 5)                                                              \
    ENTRY(r_map_tables, 2)                                                               \
    ENTRY(r_map_links, 5)                                                                \
    ENTRY(r_map_dress, 2)                                                                \
    ENTRY(r_map_close, 1)                                                                \
    ENTRY(r_let_go_all, 0)

/* The same of those that take an owner before these. */
#define OWNING_ENTRIES(ENTRY)                                                            \
    ENTRY(r_check_spikes, 5)                                                             \
    ENTRY(r_distinct, 1)                                                                 \
    ENTRY(r_arrange, 6)                                                                  \
    ENTRY(r_parallel_probe, 5)                                                           \
    ENTRY(r_lag_histograms, 2)                                                           \
    ENTRY(r_tiling_near, 2)                                                              \
    ENTRY(r_find_assemblies, 2)                                                          \
    ENTRY(r_assembly_peaks, 2)                                                           \
    ENTRY(r_coupled_maps, 3)                                                             \
    ENTRY(r_wired_pairs, 2)                                                              \
    ENTRY(r_whole_sums, 3)                                                               \
    ENTRY(r_whole_above, 4)                                                              \
    ENTRY(r_mine_episodes, 5)                                                            \
    ENTRY(r_stream_update, 6)                                                            \
    ENTRY(r_stream_table, 6)                                                             \
    ENTRY(r_count_episodes, 5)                                                           \
    ENTRY(r_episode_occurrences, 6)                                                      \
    ENTRY(r_count_episodes_gpu, 6)                                                       \
    ENTRY(r_episode_null, 4)                                                             \
    ENTRY(r_null_summary, 5)                                                             \
    ENTRY(r_largest_start, 4)                                                            \
    ENTRY(r_largest_wait, 3)                                                             \
    ENTRY(r_batch_check, 3)                                                              \
    ENTRY(r_pattern_windows, 3)                                                          \
    ENTRY(r_reduce_patterns, 4)                                                          \
    ENTRY(r_pattern_stability, 3)                                                        \
    ENTRY(r_mine_patterns, 3)                                                            \
    ENTRY(r_pattern_shares, 3)                                                           \
    ENTRY(r_mine_itemsets, 4)                                                            \
    ENTRY(r_drop_shifted, 6)                                                             \
    ENTRY(r_spectrum, 4)                                                                 \
    ENTRY(r_surrogate_trains, 3)                                                         \
    ENTRY(r_surrogate_rasters, 5)                                                        \
    ENTRY(r_edm_points, 4)                                                               \
    ENTRY(r_edm_fit, 2)                                                                  \
    ENTRY(r_edm_neighbours, 4)                                                           \
    ENTRY(r_edm_simplex, 5)                                                              \
    ENTRY(r_edm_sweep, 7)                                                                \
    ENTRY(r_edm_views, 6)                                                                \
    ENTRY(r_edm_smap, 6)                                                                 \
    ENTRY(r_smap_pairs, 3)                                                               \
    ENTRY(r_forecast, 3)                                                                 \
    ENTRY(r_series_activity, 2)                                                          \
    ENTRY(r_series_traits, 3)                                                            \
    ENTRY(r_standard_units, 2)                                                           \
    ENTRY(r_season_means, 4)                                                             \
    ENTRY(r_ccm, 6)                                                                      \
    ENTRY(r_map_dimensions, 5)                                                           \
    ENTRY(r_map, 3)

#define GIVEN_1 SEXP a
#define GIVEN_2 GIVEN_1, SEXP b
#define GIVEN_3 GIVEN_2, SEXP c
#define GIVEN_4 GIVEN_3, SEXP d
#define GIVEN_5 GIVEN_4, SEXP e
#define GIVEN_6 GIVEN_5, SEXP f
#define GIVEN_7 GIVEN_6, SEXP g
#define NAMES_1 a
#define NAMES_2 NAMES_1, b
#define NAMES_3 NAMES_2, c
#define NAMES_4 NAMES_3, d
#define NAMES_5 NAMES_4, e
#define NAMES_6 NAMES_5, f
#define NAMES_7 NAMES_6, g
#define PLACES_1 x[0]
#define PLACES_2 PLACES_1, x[1]
#define PLACES_3 PLACES_2, x[2]
#define PLACES_4 PLACES_3, x[3]
#define PLACES_5 PLACES_4, x[4]
#define PLACES_6 PLACES_5, x[5]
#define PLACES_7 PLACES_6, x[6]

/* What R calls runs the entry with its owner. */
#define RUN(name, n) \
    static SEXP name##_owning(glue_owner *own, SEXP *x) \
    { \
        return name(own, PLACES_##n); \
    } \
    static SEXP name##_run(GIVEN_##n) \
    { \
        return glue_run(name##_owning, (SEXP[]){NAMES_##n}); \
    }
OWNING_ENTRIES(RUN)

#define PLAIN(name, n) {#name, (DL_FUNC) &name, n},
#define OWNING(name, n) {#name, (DL_FUNC) &name##_run, n},

static const R_CallMethodDef entries[] = {
    PLAIN_ENTRIES(PLAIN) OWNING_ENTRIES(OWNING) {NULL, NULL, 0}
};

void attribute_visible R_init_synfire(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
    glue_watch_init();
    glue_episode_names_init(dll);
    glue_window_vectors_init(dll);
    glue_pattern_store_init(dll);
    syn_parallel_init();
    syn_gpu_init();
}
