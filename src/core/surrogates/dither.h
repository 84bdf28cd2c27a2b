/* Uniform dithering on a processor: what syn_surrogate_unit() does, many blocks of random
   numbers at a time. Compiled once for each kind of processor. */
#ifndef SYN_SURROGATES_DITHER_H
#define SYN_SURROGATES_DITHER_H

#include "core/base/kinds.h"
#include "core/surrogates/unit.h"

/* Dithers all spikes of a unit. */
typedef void syn_dither_kind(const syn_surrogate_train *s, int64_t *out);

syn_dither_kind syn_dither_any, syn_dither_256, syn_dither_512;

/* The fastest kind with at most so many bits that this processor has, or with 0 that it
   has at all. */
syn_dither_kind *syn_dither_fastest(int vector_bits);

#endif
