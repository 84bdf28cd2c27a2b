/* The counts of a stream's window on a GPU, for core/episodes/stream.h. */
#ifndef SYN_GPU_STREAM_STREAM_H
#define SYN_GPU_STREAM_STREAM_H

#include "core/episodes/stream.h"
#include "gpu/base/devices.h"

/* Fills `out` with what counts on the first device of `call` for a stream that is then
   opened with it; nothing is looked at of `options` but the numbers of units and
   intervals. What it holds counts within the stream's own limit: SYN_OVER_BUDGET where
   that is too little, or where a window of an interval has 2^16 events or more, which the
   tables here do not number. */
SYN_GPU_MAKER(syn_gpu_stream_open, memset(out, 0, sizeof *out),
              const syn_stream_options *options, syn_gpu_call *call,
              syn_stream_device *out)

#endif
