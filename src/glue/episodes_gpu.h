/* Mines and counts episodes on GPUs for R. */
#ifndef SYN_GLUE_EPISODES_GPU_H
#define SYN_GLUE_EPISODES_GPU_H

#include "glue/glue.h"

#include "core/episodes/mine.h"
#include "gpu/episodes/mine.h"
#include "gpu/published/strategies.h"

/* What glue_gpu_mine() has to say besides the episodes. */
typedef struct glue_gpu_report {
    double seconds;       /* from the recording being there to the episodes being back */
    int strategies;       /* 1 when `by_size` was filled, 0 when `window` was */
    int devices;
    syn_gpu_strategy_report by_size;
    syn_gpu_mining window;
    char reason[SYN_GPU_TEXT];
} glue_gpu_report;

/* Whether the mining that `gpu` asks for takes a recording as syn_recording_read() makes
   it; R's NULL is the CPU. */
int glue_gpu_arranges(SEXP gpu);

/* Mines as `gpu` says, from gpu_request() in R: gpus, engine (0 for the window, else
   1 + syn_gpu_strategy), and what syn_gpu_strategy_options has. */
syn_status glue_gpu_mine(SEXP gpu, const syn_recording *recording,
                         const syn_mine_options *options, const syn_watch *watch,
                         syn_episodes *out, glue_gpu_report *report);

/* A list of vectors by size, from size `from` to size `to`: seconds of kernels, of
   copying and of the published merge; episodes that merge has no answer for, and another
   count for; candidates counted in segments, and threads of PTPE that fill a device; and,
   by device, the candidates that each counted. Of the window engine: seconds by size, and
   the candidates by device. R's NULL when no device took part. */
SEXP glue_gpu_by_size(const glue_gpu_report *report, size_t from, size_t to);

#endif
