/* Bins surrogates. Bin and unit of each spike are packed into one number; sorted, these
   numbers are the raster, once repeats are dropped. All arrays are used again for the
   next surrogate. */
#include "core/surrogates/raster.h"

#include <string.h>

#include "core/base/radix.h"

enum { MOST_BITS = 62 };  /* of bin numbers */

syn_status syn_surrogate_binner_make(syn_surrogate_binner *out, const syn_trains *trains,
                                     int64_t width, int64_t window, syn_budget *budget)
{
    memset(out, 0, sizeof *out);
    size_t n = trains->events;
    syn_raster *r = &out->raster;
    out->trains = trains;
    out->width = width;
    out->window = window;
    out->budget = budget;
    SYN_TAKE(budget, out->base, (size_t)trains->trials + 1);
    SYN_TAKE(budget, out->key, n + 1);
    SYN_TAKE(budget, out->other, n + 1);
    SYN_TRY(syn_raster_allocate(r, n, trains->units, 1, budget));
    const syn_trains *t = out->trains;
    const int64_t limit = (int64_t)1 << MOST_BITS;
    int64_t number = 0;
    out->base[0] = 0;
    for (uint32_t k = 0; k < t->trials; k++) {
        int64_t bins = (t->stop[k] - t->start[k]) / out->width + 1;
        if (bins > limit - out->window || bins + out->window > limit - number)
            return SYN_TOO_LARGE;
        number += bins + out->window;
        out->base[k + 1] = out->base[k] + (uint64_t)bins;
    }
    out->unit_bits = syn_radix_bits(t->units);
    out->bin_bits = syn_radix_bits(out->base[t->trials]);
    return out->unit_bits + out->bin_bits < 64 ? SYN_OK : SYN_TOO_LARGE;
}

void syn_surrogate_binner_free(syn_surrogate_binner *b)
{
    syn_raster_free(&b->raster);
    if (b->budget) {
        SYN_GIVE(b->budget, b->base, b->key, b->other);
    }
    memset(b, 0, sizeof *b);
}

/* Keys in order of their bins, and so of their units within a bin, become bins. */
static void fill_bins(syn_surrogate_binner *b, const uint64_t *key)
{
    const syn_trains *t = b->trains;
    syn_raster *r = &b->raster;
    uint64_t units = ((uint64_t)1 << b->unit_bits) - 1;
    uint64_t before = UINT64_MAX, last = UINT64_MAX;
    uint32_t trial = 0;
    int64_t shift = 0;  /* from a trial's bins to their numbers */
    r->bins = r->events = 0;
    for (uint32_t i = 0; i < t->events; i++) {
        uint64_t bin = key[i] >> b->unit_bits;
        if (key[i] == last)
            continue;
        last = key[i];
        if (bin != before) {
            if (r->bins > 0 && bin >= b->base[trial + 1])
                shift = r->number[r->bins - 1] + b->window;
            while (bin >= b->base[trial + 1])
                trial++;
            int64_t within = (int64_t)(bin - b->base[trial]);
            r->number[r->bins] = within + shift;
            r->opens[r->bins] = t->start[trial] + within * b->width;
            r->first[r->bins++] = r->events;
            before = bin;
        }
        r->unit[r->events++] = (uint32_t)(key[i] & units);
    }
}

void syn_surrogate_raster(syn_surrogate_binner *b, const int64_t *tick)
{
    const syn_trains *t = b->trains;
    double reciprocal = 1.0 / (double)b->width;
    for (uint32_t u = 0; u < t->units; u++)
        for (uint32_t e = t->first[u]; e < t->first[u + 1]; e++) {
            uint32_t trial = t->trial[e];
            /* x / width for 0 <= x < 2^53, which a reciprocal gives to within one. */
            int64_t x = tick[e] - t->start[trial];
            int64_t quotient = (int64_t)((double)x * reciprocal),
                    rest = x - quotient * b->width;
            int64_t bin = quotient + (rest >= b->width) - (rest < 0);
            b->key[e] = (b->base[trial] + (uint64_t)bin) << b->unit_bits | u;
        }
    fill_bins(b, syn_radix_sort(b->key, b->other, b->trains->events, b->unit_bits,
                                b->bin_bits));
    syn_raster_index(&b->raster);
}
