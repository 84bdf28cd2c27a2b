/* Makes the ladder of widths: 1, 3, 5, 9, 17, 33, ... bins. Odd ones have a bin in the
   middle, so that a lag and its opposite are treated alike. */
#include "core/assemblies/ladder.h"

#include <string.h>

void syn_ladder_make(syn_ladder *out, uint32_t lags, uint32_t widest)
{
    memset(out, 0, sizeof *out);
    out->lags = lags;
    uint32_t half = 0;
    while (out->rungs < SYN_LADDER_RUNGS && 2 * half + 1 <= widest) {
        uint32_t r = out->rungs++;
        out->half[r] = half;
        out->step[r] = half < 2 ? 1 : half / 2;
        out->reach[r] = lags / out->step[r];
        out->first[r + 1] = out->first[r] + 2 * out->reach[r] + 1;
        half = half == 0 ? 1 : 2 * half;
    }
    uint32_t last = out->half[out->rungs - 1];
    out->margin = lags + last + (last + 1) + SYN_LADDER_BESIDE * (2 * last + 1) + 1;
}
