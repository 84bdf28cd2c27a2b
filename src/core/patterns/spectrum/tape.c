/* Turns a raster into a tape: one row of bits for each bin, one bit for each unit. The
   items of a window are then a stretch of the tape. Memory is used again for the next
   surrogate. */
#include "core/patterns/spectrum/tape.h"

#include <string.h>

#include "core/base/masks.h"
#include "core/patterns/mine.h"

/* Bins from kept bin `b - 1` to kept bin `b` on the tape. */
static int64_t step_to(const syn_raster *raster, uint32_t b, uint32_t window)
{
    int64_t step = b > 0 ? raster->number[b] - raster->number[b - 1] : 0;
    return step < window ? step : window;
}

/* Ranks the units, and lists the tape's; returns how many units it leaves out. */
static uint32_t list_units(syn_tape *tape, const syn_raster *raster, uint32_t min_count)
{
    uint32_t out = 0;
    for (uint32_t u = 0; u < raster->units; u++)
        out += raster->unit_first[u + 1] - raster->unit_first[u] < min_count;
    tape->units = raster->units - out;
    tape->first[0] = 0;
    for (uint32_t u = 0; u < raster->units; u++)
        if (tape->rank[u] >= out)
            tape->first[tape->rank[u] - out + 1] =
                raster->unit_first[u + 1] - raster->unit_first[u];
    for (uint32_t u = 0; u < tape->units; u++)
        tape->first[u + 1] += tape->first[u];
    return out;
}

syn_status syn_tape_fill(syn_tape *tape, const syn_raster *raster, uint32_t window,
                         uint32_t min_count)
{
    syn_budget *budget = tape->budget;
    size_t units = raster->units;
    int64_t bins = window;
    for (uint32_t b = 0; b < raster->bins; b++)
        bins += step_to(raster, b, window);
    tape->window = window;
    SYN_RENEW(budget, tape->rank, tape->rooms[3], units + 1);
    SYN_RENEW(budget, tape->first, tape->rooms[1], units + 2);
    SYN_RENEW(budget, tape->at, tape->rooms[2], (size_t)raster->events + 1);
    if (syn_pattern_ranks(raster, tape->rank) != SYN_OK)
        return SYN_NO_MEMORY;
    uint32_t out = list_units(tape, raster, min_count);
    tape->words = tape->units > 0 ? (tape->units + 63) / 64 : 1;
    double words = (double)bins * (double)tape->words + SYN_ROW_WORDS;
    if (bins > INT32_MAX || words * sizeof(uint64_t) > (double)budget->limit)
        return SYN_OVER_BUDGET;
    SYN_RENEW(budget, tape->bits, tape->rooms[0], (size_t)words);
    memset(tape->bits, 0, (size_t)words * sizeof *tape->bits);
    /* Writes bit after bit, and moves the beginnings of units to their ends. */
    uint32_t at = 0;
    for (uint32_t b = 0; b < raster->bins; b++) {
        at += (uint32_t)step_to(raster, b, tape->window);
        uint64_t *bin = tape->bits + at * tape->words;
        for (uint32_t e = raster->first[b]; e < raster->first[b + 1]; e++) {
            uint32_t rank = tape->rank[raster->unit[e]];
            if (rank < out)
                continue;
            rank -= out;
            bin[rank / 64] |= (uint64_t)1 << rank % 64;
            tape->at[tape->first[rank]++] = at;
        }
    }
    for (uint32_t u = tape->units; u > 0; u--)
        tape->first[u] = tape->first[u - 1];
    tape->first[0] = 0;
    return SYN_OK;
}

void syn_tape_free(syn_tape *tape)
{
    syn_budget *budget = tape->budget;
    SYN_GIVE(budget, tape->bits, tape->first, tape->at, tape->rank);
    memset(tape, 0, sizeof *tape);
    tape->budget = budget;
}
