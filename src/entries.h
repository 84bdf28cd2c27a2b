/* The entries that R calls through .Call, each with the number of things that R gives it.
   Their prototypes (glue/glue.h) and what R is told of them (init.c) are made of this
   list. An entry is described where it is defined, in glue/. */
#ifndef SYN_ENTRIES_H
#define SYN_ENTRIES_H

#define PLAIN_ENTRIES(ENTRY)                                                             \
    ENTRY(r_sitrep, 1)                                                                   \
    ENTRY(r_release_gpu, 0)                                                              \
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
    ENTRY(r_threads_end, 0)                                                              \
    ENTRY(r_cgroup_processors, 2)                                                        \
    ENTRY(r_stream_open, 3)                                                              \
    ENTRY(r_stream_about, 1)                                                             \
    ENTRY(r_stream_names, 3)                                                             \
    ENTRY(r_plain_block, 3)                                                              \
    ENTRY(r_window_vector, 4)                                                            \
    ENTRY(r_window_write, 3)                                                             \
    ENTRY(r_window_until, 2)                                                             \
    ENTRY(r_count_rows_check, 5)                                                         \
    ENTRY(r_edm_points, 1)                                                               \
    ENTRY(r_edm_reach, 1)                                                                \
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
    ENTRY(r_linear, 3)                                                                   \
    ENTRY(r_tiling_near, 2)                                                              \
    ENTRY(r_synapse_scan, 4)                                                             \
    ENTRY(r_synapse_null, 4)                                                             \
    ENTRY(r_synapse_explain, 6)                                                          \
    ENTRY(r_synapse_centre, 4)                                                           \
    ENTRY(r_synapse_slow, 2)                                                             \
    ENTRY(r_find_assemblies, 2)                                                          \
    ENTRY(r_assembly_maxima, 2)                                                          \
    ENTRY(r_assembly_peaks, 2)                                                           \
    ENTRY(r_assembly_activations, 3)                                                     \
    ENTRY(r_coupled_maps, 3)                                                             \
    ENTRY(r_spiking_network, 4)                                                          \
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
    ENTRY(r_pattern_windows, 3)                                                          \
    ENTRY(r_reduce_patterns, 4)                                                          \
    ENTRY(r_pattern_stability, 3)                                                        \
    ENTRY(r_mine_patterns, 3)                                                            \
    ENTRY(r_pattern_shares, 3)                                                           \
    ENTRY(r_mine_itemsets, 4)                                                            \
    ENTRY(r_drop_shifted, 6)                                                             \
    ENTRY(r_spectrum, 4)                                                                 \
    ENTRY(r_surrogate_trains, 3)                                                         \
    ENTRY(r_edm_fit, 3)                                                                  \
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

/* What R gives an entry. */
#define GIVEN_0 void
#define GIVEN_1 SEXP a
#define GIVEN_2 GIVEN_1, SEXP b
#define GIVEN_3 GIVEN_2, SEXP c
#define GIVEN_4 GIVEN_3, SEXP d
#define GIVEN_5 GIVEN_4, SEXP e
#define GIVEN_6 GIVEN_5, SEXP f
#define GIVEN_7 GIVEN_6, SEXP g

#endif
