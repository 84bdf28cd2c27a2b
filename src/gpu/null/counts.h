/* Counts of episodes in surrogates on GPUs: those of core/episodes/null/counts.h. */
#ifndef SYN_GPU_NULL_COUNTS_H
#define SYN_GPU_NULL_COUNTS_H

#include "core/episodes/null/line.h"
#include "core/episodes/null/counts.h"
#include "gpu/base/devices.h"

/* syn_null_counts() on devices: surrogates are made, sorted and counted there, many at a
   time. options->max_memory limits what a device holds; options->threads is not looked
   at. SYN_OVER_BUDGET: not even one surrogate fits. */
SYN_GPU_FUNCTION(syn_gpu_null_counts, const syn_line_layout *layout, const syn_trie *trie,
                 size_t episodes, const syn_null_options *options, syn_gpu_call *call,
                 uint32_t *count)

#endif
