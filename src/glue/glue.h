/* The entries R calls through .Call, one line each, grouped by file. */
#ifndef SYN_GLUE_H
#define SYN_GLUE_H

#ifndef R_NO_REMAP
#define R_NO_REMAP
#endif
#ifndef STRICT_R_HEADERS
#define STRICT_R_HEADERS
#endif
#include <R.h>
#include <Rinternals.h>

/* What an entry holds outside R's heap; see glue/owner.h. R does not give it. */
typedef struct glue_owner glue_owner;

/* sitrep.c */
SEXP r_sitrep(SEXP test);
SEXP r_release_gpu(void);

/* checksum.c */
SEXP r_row_sums(SEXP values, SEXP places, SEXP kind, SEXP width, SEXP whole);

/* division.c */
SEXP r_guard_division(SEXP on);

/* process.c */
SEXP r_process_lives(SEXP pid);

/* random.c */
SEXP r_random_key(void);
SEXP r_random_uniform(SEXP n, SEXP key, SEXP stream, SEXP skip);
SEXP r_random_below(SEXP n, SEXP bound, SEXP key, SEXP stream);
SEXP r_philox(SEXP counter, SEXP key);

/* csv.c */
SEXP r_csv_rows(SEXP bytes, SEXP first, SEXP last, SEXP options);
SEXP r_csv_fields(SEXP lines, SEXP sep);
SEXP r_crc32(SEXP crc, SEXP bytes);

/* listen.c */
SEXP r_listen(SEXP address, SEXP port);
SEXP r_accept(SEXP server);
SEXP r_receive(SEXP from, SEXP most);
SEXP r_await(SEXP sockets, SEXP seconds);
SEXP r_shut(SEXP socket);

/* spikes.c, arrange.c */
SEXP r_ticks(SEXP time, SEXP scale);
SEXP r_distinct(glue_owner *own, SEXP x);
SEXP r_arrange(glue_owner *own, SEXP time, SEXP code, SEXP unit, SEXP scale, SEXP clock,
               SEXP threads);
SEXP r_check_spikes(glue_owner *own, SEXP time, SEXP unit, SEXP units, SEXP clock,
                    SEXP interval);

/* correlation.c */
SEXP r_lag_histograms(glue_owner *own, SEXP trains, SEXP options);
SEXP r_tiling_near(glue_owner *own, SEXP trains, SEXP options);

/* assemblies.c */
SEXP r_find_assemblies(glue_owner *own, SEXP trains, SEXP options);

/* assembly_peaks.c */
SEXP r_assembly_peaks(glue_owner *own, SEXP trains, SEXP options);

/* networks.c */
SEXP r_coupled_maps(glue_owner *own, SEXP links, SEXP state, SEXP options);
SEXP r_wired_pairs(glue_owner *own, SEXP links, SEXP options);

/* whole_map.c */
SEXP r_whole_sums(glue_owner *own, SEXP map, SEXP self, SEXP options);
SEXP r_whole_above(glue_owner *own, SEXP map, SEXP self, SEXP bound, SEXP options);

/* threads.c */
SEXP r_threads_report(void);
SEXP r_cgroup_processors(SEXP membership, SEXP mount);
SEXP r_parallel_probe(glue_owner *own, SEXP items, SEXP seconds, SEXP threads,
                      SEXP fail_at, SEXP status);

/* episodes.c */
SEXP r_mine_episodes(glue_owner *own, SEXP events, SEXP bounds, SEXP spelling,
                     SEXP options, SEXP gpu);
SEXP r_count_episodes(glue_owner *own, SEXP events, SEXP units, SEXP low, SEXP high,
                      SEXP threads);
SEXP r_episode_occurrences(glue_owner *own, SEXP events, SEXP units, SEXP low,
                           SEXP high, SEXP all, SEXP most);
SEXP r_count_rows_check(SEXP bits, SEXP distance, SEXP event, SEXP row, SEXP start);

/* episodes_stream.c */
SEXP r_stream_open(SEXP bounds, SEXP options, SEXP gpu);
SEXP r_stream_about(SEXP pointer);
SEXP r_stream_update(glue_owner *own, SEXP pointer, SEXP block, SEXP cut, SEXP spelling,
                     SEXP before, SEXP options);

/* stream_table.c */
SEXP r_stream_table(glue_owner *own, SEXP tree, SEXP count, SEXP min_count, SEXP spelling,
                    SEXP old, SEXP options);
SEXP r_stream_names(SEXP tree, SEXP spelling, SEXP id);

/* stream_block.c */
SEXP r_plain_block(SEXP x, SEXP clock, SEXP units);

/* window_vectors.c */
SEXP r_window_vector(SEXP buffer, SEXP begin, SEXP end, SEXP levels);
SEXP r_window_write(SEXP buffer, SEXP at, SEXP values);
SEXP r_window_until(SEXP times, SEXP time);

/* episodes_gpu.c */
SEXP r_count_episodes_gpu(glue_owner *own, SEXP events, SEXP bounds, SEXP units,
                          SEXP intervals, SEXP gpu, SEXP times);

/* episodes_null.c */
SEXP r_episode_null(glue_owner *own, SEXP trains, SEXP surrogates, SEXP episodes,
                    SEXP options);
SEXP r_null_summary(glue_owner *own, SEXP counts, SEXP observed, SEXP size, SEXP probs,
                    SEXP threads);

/* episodes_largest.c */
SEXP r_largest_start(glue_owner *own, SEXP trains, SEXP surrogates, SEXP bounds,
                    SEXP options);
SEXP r_largest_wait(glue_owner *own, SEXP pointer, SEXP n, SEXP max_memory);

/* episodes_check.c */
SEXP r_batch_check(glue_owner *own, SEXP events, SEXP bounds, SEXP options);

/* patterns_times.c */
SEXP r_pattern_windows(glue_owner *own, SEXP events, SEXP patterns, SEXP most);

/* pattern_reduction.c */
SEXP r_reduce_patterns(glue_owner *own, SEXP events, SEXP patterns, SEXP listed,
                       SEXP options);

/* pattern_stability.c */
SEXP r_pattern_stability(glue_owner *own, SEXP events, SEXP patterns, SEXP options);

/* patterns.c */
SEXP r_mine_patterns(glue_owner *own, SEXP events, SEXP options, SEXP shares);
SEXP r_pattern_shares(glue_owner *own, SEXP events, SEXP window, SEXP min_count);
SEXP r_mine_itemsets(glue_owner *own, SEXP first, SEXP item, SEXP items, SEXP options);
SEXP r_drop_shifted(glue_owner *own, SEXP items, SEXP size, SEXP n, SEXP occurrences,
                    SEXP units, SEXP max_memory);

/* spectrum.c */
SEXP r_spectrum(glue_owner *own, SEXP trains, SEXP surrogates, SEXP patterns,
                SEXP options);

/* owner.c: the last call before the library is unloaded */
SEXP r_let_go_all(void);

/* surrogates.c */
SEXP r_surrogate_trains(glue_owner *own, SEXP trains, SEXP surrogates, SEXP options);

/* surrogates_check.c */
SEXP r_surrogate_rasters(glue_owner *own, SEXP trains, SEXP options, SEXP index,
                         SEXP events, SEXP window);

/* edm_data.c */
SEXP r_edm_points(glue_owner *own, SEXP values, SEXP lags, SEXP first, SEXP last);
SEXP r_edm_fit(glue_owner *own, SEXP observed, SEXP predicted);

/* edm.c */
SEXP r_edm_neighbours(glue_owner *own, SEXP points, SEXP lib, SEXP pred, SEXP options);
SEXP r_edm_simplex(glue_owner *own, SEXP points, SEXP lib, SEXP pred, SEXP targets,
                   SEXP options);
SEXP r_edm_sweep(glue_owner *own, SEXP points, SEXP lib, SEXP lib_E, SEXP pred,
                 SEXP pred_E, SEXP target, SEXP options);
SEXP r_edm_views(glue_owner *own, SEXP points, SEXP lib, SEXP pred, SEXP views,
                 SEXP target, SEXP options);

/* edm_smap.c */
SEXP r_edm_smap(glue_owner *own, SEXP points, SEXP library, SEXP prediction,
                SEXP target, SEXP theta, SEXP options);

/* edm_smap_pairs.c */
SEXP r_smap_pairs(glue_owner *own, SEXP libraries, SEXP targets, SEXP options);

/* edm_forecast.c */
SEXP r_forecast(glue_owner *own, SEXP series, SEXP jobs, SEXP options);

/* edm_traits.c */
SEXP r_series_traits(glue_owner *own, SEXP series, SEXP first, SEXP threads);
SEXP r_series_activity(glue_owner *own, SEXP series, SEXP threads);
SEXP r_standard_units(glue_owner *own, SEXP series, SEXP threads);
SEXP r_season_means(glue_owner *own, SEXP series, SEXP first, SEXP period, SEXP threads);

/* edm_ccm.c */
SEXP r_ccm(glue_owner *own, SEXP points, SEXP lib, SEXP pred, SEXP targets, SEXP sizes,
           SEXP options);
SEXP r_ccm_library(SEXP n, SEXP size, SEXP sample, SEXP direction, SEXP key);

/* causal_map.c */
SEXP r_map_tables(SEXP steps, SEXP options);
SEXP r_map_dimensions(glue_owner *own, SEXP x, SEXP options, SEXP split, SEXP tables,
                      SEXP first);
SEXP r_map(glue_owner *own, SEXP job, SEXP options, SEXP tables);
SEXP r_map_links(SEXP rho, SEXP least, SEXP floors, SEXP own, SEXP top);
SEXP r_map_dress(SEXP x, SEXP attributes);
SEXP r_map_close(SEXP pointer);

#endif
