/* Which pairs of successive intervals a unit fires, smoothed: what joint-ISI dithering
   draws from (Gerstein 2004; Louis et al. 2010). */
#ifndef SYN_SURROGATE_ISI_H
#define SYN_SURROGATE_ISI_H

#include "core/surrogates.h"

/* Words of the table of a unit with `bins` bins. */
uint32_t syn_isi_table_length(uint32_t bins);

/* Fills the table of `unit` as syn_surrogate_plan has it, from its intervals within
   trials that are shorter than isi_bins * isi_bin, with no weight below the bin of
   `refractory`. With SYN_SURROGATE_ISI_DITHER a pair has the product of the weights of
   its intervals. */
syn_status syn_isi_table(const syn_trains *trains, const syn_surrogate_options *options,
                         uint32_t unit, int64_t refractory, uint32_t *table);

#endif
