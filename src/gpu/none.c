/* The device room of a build without CUDA. Its functions look at none of their arguments
   but those that they fill in. */
#include <stdio.h>
#include <string.h>

static const char reason[] = "synfire was built without CUDA";

/* The headers define most functions: see gpu/base/devices.h. */
#define SYN_GPU_MAKER(name, empty, ...) \
    syn_status name(__VA_ARGS__) \
    { \
        empty; \
        snprintf(call->reason, SYN_GPU_TEXT, "%s", reason); \
        return SYN_NO_DEVICE; \
    }
#define SYN_GPU_FUNCTION(name, ...) SYN_GPU_MAKER(name, (void) 0, __VA_ARGS__)

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

#define EMPTY(what) memset(what, 0, sizeof *(what))

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

void syn_gpu_peaks_close(syn_gpu_peaks *peaks)
{
}

syn_status syn_gpu_mine_patterns(void *self, struct syn_pattern_search *search)
{
    syn_gpu_call *call = self;
    snprintf(call->reason, SYN_GPU_TEXT, "%s", reason);
    return SYN_NO_DEVICE;
}

void syn_gpu_counter_report(const syn_counter *counter, syn_gpu_strategy_report *report)
{
    EMPTY(report);
}

void syn_gpu_counter_close(syn_counter *counter)
{
    EMPTY(counter);
}

void syn_gpu_tables_close(syn_gpu_tables *tables)
{
}

void syn_gpu_map_close(syn_gpu_map *map)
{
}
