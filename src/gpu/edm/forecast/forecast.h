/* Conditional forecasts on GPUs: core/edm/forecast/forecast.h. */
#ifndef SYN_GPU_EDM_FORECAST_H
#define SYN_GPU_EDM_FORECAST_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/edm/forecast/forecast.h"
#include "gpu/base/devices.h"

/* syn_forecast() on devices[n_devices], numbers from 0, which share the jobs. Results do
   not depend on the number of devices. Returns SYN_NO_DEVICE when there is no such device
   or it failed, SYN_NO_MEMORY when the host or a device has none left, SYN_TOO_LARGE
   beyond a limit. `reason`, SYN_GPU_TEXT bytes, then holds one plain clause; it is empty
   after SYN_OK and SYN_INTERRUPTED. */
syn_status syn_gpu_forecast(const syn_series *series, const syn_forecast_jobs *jobs,
                            const syn_forecast_options *options, const int *devices,
                            int n_devices, const syn_watch *watch,
                            const syn_forecasts *out, char *reason);

#ifdef __cplusplus
}
#endif

#endif
