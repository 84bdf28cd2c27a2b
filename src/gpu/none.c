/* The device room of a build without CUDA. Its functions look at none of their arguments
   but those that they fill in. */
#include "gpu/assemblies/peaks.h"
#include "gpu/base/devices.h"
#include "gpu/causal/map.h"
#include "gpu/correlation/lags.h"
#include "gpu/edm/ccm/ccm.h"
#include "gpu/edm/forecast/forecast.h"
#include "gpu/edm/pairs/smap_pairs.h"
#include "gpu/edm/simplex/simplex.h"
#include "gpu/edm/smap/smap.h"
#include "gpu/episodes/mine.h"
#include "gpu/null/counts.h"
#include "gpu/patterns/patterns.h"
#include "gpu/published/strategies.h"
#include "gpu/spectrum/spectrum.h"
#include "gpu/stream/stream.h"
#include "gpu/synapses/scan.h"

#include <stdio.h>
#include <string.h>

static const char reason[] = "synfire was built without CUDA";

#define EMPTY(what) memset(what, 0, sizeof *(what))

/* A function that says why there is no device. `empty` is done before. */
#define REFUSES(name, arguments, empty) \
    syn_status name arguments \
    { \
        empty; \
        snprintf(call->reason, SYN_GPU_TEXT, "%s", reason); \
        return SYN_NO_DEVICE; \
    }

void syn_gpu_init(void)
{
}

void syn_gpu_look(syn_gpu_survey *survey)
{
    EMPTY(survey);
    snprintf(survey->reason, sizeof survey->reason, "%s", reason);
}

void syn_gpu_examine(int index, int test, syn_gpu_device *device)
{
    EMPTY(device);
    snprintf(device->trouble, sizeof device->trouble, "%s", reason);
}

uint64_t syn_gpu_release(void)
{
    return 0;
}

REFUSES(syn_gpu_mine_episodes,
        (const syn_recording *recording, const syn_mine_options *options,
         syn_gpu_call *call, syn_episodes *out, syn_gpu_mining *report),
        (EMPTY(out), EMPTY(report)))

REFUSES(syn_gpu_stream_open,
        (const syn_stream_options *options, syn_gpu_call *call, syn_stream_device *out),
        EMPTY(out))

REFUSES(syn_gpu_null_counts,
        (const syn_line_layout *layout, const syn_trie *trie, size_t episodes,
         const syn_null_options *options, syn_gpu_call *call, uint32_t *count),
        (void) 0)

REFUSES(syn_gpu_lag_histograms,
        (const syn_recording *recording, const syn_lag_options *o, size_t max_memory,
         syn_gpu_call *call, int32_t *count),
        (void) 0)

REFUSES(syn_gpu_scan_pairs, (const syn_scan_work *work, syn_gpu_call *call), (void) 0)

REFUSES(syn_gpu_peaks_open,
        (const struct syn_pair_source *source, syn_gpu_call *call, syn_gpu_peaks **out,
         syn_peak_source *functions),
        *out = NULL)

void syn_gpu_peaks_close(syn_gpu_peaks *peaks)
{
}

syn_status syn_gpu_mine_patterns(void *self, struct syn_pattern_search *search)
{
    syn_gpu_patterns *patterns = self;
    snprintf(patterns->call.reason, SYN_GPU_TEXT, "%s", reason);
    return SYN_NO_DEVICE;
}

REFUSES(syn_gpu_counter_open,
        (const syn_recording *recording, const syn_interval *intervals,
         uint32_t n_intervals, const syn_gpu_strategy_options *options,
         syn_gpu_call *call, syn_counter *out),
        EMPTY(out))

void syn_gpu_counter_report(const syn_counter *counter, syn_gpu_strategy_report *report)
{
    EMPTY(report);
}

void syn_gpu_counter_close(syn_counter *counter)
{
    EMPTY(counter);
}

REFUSES(syn_gpu_tables_open,
        (const syn_map_layout *layout, const syn_map_options *options, int half,
         double most, syn_gpu_call *call, syn_gpu_tables **out),
        *out = NULL)

void syn_gpu_tables_close(syn_gpu_tables *tables)
{
}

REFUSES(syn_gpu_map_dimensions,
        (uint32_t n, const double *value, uint32_t first, const syn_map_layout *layout,
         const syn_map_options *options, syn_gpu_tables *tables, syn_gpu_call *call,
         float *rho),
        (void) 0)

REFUSES(syn_gpu_map_open,
        (const syn_map_targets *targets, const syn_map_layout *layout,
         const syn_map_options *options, int half, syn_gpu_tables *tables,
         syn_gpu_call *call, syn_gpu_map **out),
        *out = NULL)

REFUSES(syn_gpu_map_begin,
        (syn_gpu_map *map, const syn_map_libraries *libraries, uint32_t first,
         float *rho, syn_gpu_call *call),
        (void) 0)

REFUSES(syn_gpu_map_finish,
        (syn_gpu_map *map, syn_gpu_call *call, syn_gpu_map_report *report),
        EMPTY(report))

void syn_gpu_map_close(syn_gpu_map *map)
{
}

REFUSES(syn_gpu_spectrum,
        (const syn_spectrum_options *options, syn_gpu_call *call, syn_spectrum *out,
         uint8_t *left, uint32_t *n_left),
        (EMPTY(out), *n_left = 0))

REFUSES(syn_gpu_smap,
        (const syn_points *points, const syn_rows *library, const syn_rows *prediction,
         const double *target, const syn_smap_options *options, syn_gpu_call *call,
         const syn_smap_result *out),
        (void) 0)

REFUSES(syn_gpu_smap_pairs,
        (const syn_series *libraries, const syn_series *targets,
         const syn_smap_pairs_options *options, syn_gpu_call *call,
         const syn_smap_pairs *out),
        (void) 0)

REFUSES(syn_gpu_forecast,
        (const syn_series *series, const syn_forecast_jobs *jobs,
         const syn_forecast_options *options, syn_gpu_call *call,
         const syn_forecasts *out),
        (void) 0)

REFUSES(syn_gpu_find_neighbours,
        (const syn_points *points, const syn_rows *library, const syn_rows *prediction,
         const syn_neighbour_options *options, syn_gpu_call *call, syn_neighbours *out),
        EMPTY(out))

REFUSES(syn_gpu_simplex,
        (const syn_points *points, const syn_rows *library, const syn_rows *predicted,
         const syn_neighbour_options *options, const syn_targets *targets,
         syn_gpu_call *call, double *prediction, double *variance),
        (void) 0)

REFUSES(syn_gpu_simplex_sweep,
        (const syn_points *points, const syn_reach *library, const syn_reach *predicted,
         const syn_sweep_options *options, const double *target, syn_gpu_call *call,
         double *prediction),
        (void) 0)

REFUSES(syn_gpu_simplex_views,
        (const syn_points *points, const syn_rows *library, const syn_rows *predicted,
         const syn_views *views, const syn_neighbour_options *options,
         const double *target, syn_gpu_call *call, double *prediction),
        (void) 0)

REFUSES(syn_gpu_ccm,
        (const syn_points *points, const syn_ccm_view *view, uint32_t views,
         const syn_rows *prediction, uint32_t targets, const syn_ccm_options *options,
         syn_gpu_call *call, syn_ccm_skill *out),
        EMPTY(out))
