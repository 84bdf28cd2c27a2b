/* Weights of an S-map, a register of them at a time. */
#ifndef SYN_EDM_SMAP_WEIGH_H
#define SYN_EDM_SMAP_WEIGH_H

#include "core/base/simd.h"
#include "core/edm/smap/fit.h"

/* Of points `i` and those after it: 0 where the target is missing. */
SYN_INLINE syn_f64 syn_smap_weights(const syn_smap_near *near, double rate, size_t i)
{
    syn_f64 apart = syn_f64_all(near->least) - syn_f64_load(near->distance + i);
    /* Points that are no neighbours, or whose target is missing, may be nearer than the
       nearest. */
    syn_f64 x = syn_f64_min(syn_f64_all(rate) * apart, syn_f64_all(0));
    syn_f64 w = syn_f64_exp(x, 1);
    return near->known ? w * syn_f64_load(near->known + i) : w;
}

#endif
