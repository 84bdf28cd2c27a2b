/* The maxima of surrogates on GPUs: what core/patterns/spectrum/spectrum.h makes. */
#ifndef SYN_GPU_SPECTRUM_SPECTRUM_H
#define SYN_GPU_SPECTRUM_SPECTRUM_H

#include "core/patterns/spectrum/spectrum.h"
#include "gpu/base/devices.h"

/* syn_spectrum_make() on devices; `only` of the options, their threads and memory mean
   nothing. A surrogate whose search took more room than a device has for it is left to
   the caller: left[k], of options->n, is 1 and its row empty; else left[k] is 0. `n_left`
   of them are. The caller frees `out`, also after an error. */
SYN_GPU_MAKER(syn_gpu_spectrum, (memset(out, 0, sizeof *out), *n_left = 0),
              const syn_spectrum_options *options, syn_gpu_call *call, syn_spectrum *out,
              uint8_t *left, uint32_t *n_left)

#endif
