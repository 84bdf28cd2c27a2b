/* Conditional forecasts on GPUs: core/edm/forecast/forecast.h. */
#ifndef SYN_GPU_EDM_FORECAST_H
#define SYN_GPU_EDM_FORECAST_H

#include "core/edm/forecast/forecast.h"
#include "gpu/base/devices.h"

/* syn_forecast() on devices, which share the jobs. Results do not depend on the number of
   devices. */
SYN_GPU_FUNCTION(syn_gpu_forecast, const syn_series *series,
                 const syn_forecast_jobs *jobs, const syn_forecast_options *options,
                 syn_gpu_call *call, const syn_forecasts *out)

#endif
