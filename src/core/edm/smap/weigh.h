/* Weights of an S-map, and panels of what they multiply, a register at a time. */
#ifndef SYN_EDM_SMAP_WEIGH_H
#define SYN_EDM_SMAP_WEIGH_H

#include "core/base/simd.h"
#include "core/edm/smap/near.h"

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

enum { SYN_SMAP_PANEL_WIDE = 2 * SYN_F64_LANES };  /* columns of a panel */

/* Copies the columns of point i, of n, to where its panels are; the last one may have
   half the width. */
SYN_INLINE void syn_smap_put_panels(const double *row, size_t columns, size_t n, size_t i,
                                    double *panel)
{
    size_t c = 0;
    for (; c + SYN_SMAP_PANEL_WIDE <= columns; c += SYN_SMAP_PANEL_WIDE) {
        double *to = panel + c * n + i * SYN_SMAP_PANEL_WIDE;
        syn_f64_store(to, syn_f64_load(row + c));
        syn_f64_store(to + SYN_F64_LANES, syn_f64_load(row + c + SYN_F64_LANES));
    }
    if (c < columns)
        syn_f64_store(panel + c * n + i * SYN_F64_LANES, syn_f64_load(row + c));
}

#endif
