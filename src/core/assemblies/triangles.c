/* Closes triangles. Two pairs of a unit with others, each at the lag of its largest
   excess, say at which lag the third pair must have one, too: that is looked at within a
   width. The three z values are cut, so that no single pair decides, and their sum is
   divided by the root of three. */
#include "core/assemblies/triangles.h"

#include <math.h>
#include <string.h>

#include "core/base/parallel.h"

enum { MOST_UNITS = 64 };  /* that a unit is looked at with, on a rung */

static const double CAP = 6;
static const float LEAST = 3;       /* z of the pairs of the first unit */
static const double LEAST_THIRD = 1.5;

typedef struct job {
    const syn_lagged *pairs;
    const syn_lagged_peak *peak;
    syn_triangle *best;
} job;

static double cut(double z)
{
    return z < CAP ? z : CAP;
}

/* The best lag of c after b, within half a width of what the others say. */
static double third(const syn_lagged *p, uint32_t b, uint32_t c, uint32_t rung,
                    int32_t lag)
{
    const syn_ladder *l = &p->ladder;
    int32_t step = (int32_t)l->step[rung], half = (int32_t)l->half[rung];
    int32_t lags = (int32_t)l->lags;
    double best = 0;
    for (int32_t d = -(half / step) * step; d <= half; d += step) {
        if (lag + d > lags || lag + d < -lags)
            continue;
        double z = syn_lagged_look(p, b, c, rung, lag + d).z;
        best = z > best ? z : best;
    }
    return best;
}

/* Units with the largest excess with `a`, in no order. */
static uint32_t nearest(const syn_lagged_peak *row, uint32_t units, uint32_t a,
                        uint32_t *out)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < units; b++) {
        if (b == a || row[b].z < LEAST)
            continue;
        if (n < MOST_UNITS) {
            out[n++] = b;
            continue;
        }
        uint32_t least = 0;
        for (uint32_t k = 1; k < n; k++)
            if (row[out[k]].z < row[out[least]].z)
                least = k;
        if (row[b].z > row[out[least]].z)
            out[least] = b;
    }
    return n;
}

static syn_status close_unit(void *context, size_t item, int worker)
{
    const job *j = context;
    size_t units = j->pairs->units;
    uint32_t a = (uint32_t)item, near[MOST_UNITS];
    (void)worker;
    for (uint32_t rung = 0; rung < j->pairs->ladder.rungs; rung++) {
        const syn_lagged_peak *row = j->peak + (rung * units + a) * units;
        syn_triangle *best = j->best + (rung * units + a) * units;
        memset(best, 0, units * sizeof *best);
        uint32_t n = nearest(row, (uint32_t)units, a, near);
        for (uint32_t x = 0; x < n; x++)
            for (uint32_t y = x + 1; y < n; y++) {
                uint32_t b = near[x], c = near[y];
                double two = cut(row[b].z) + cut(row[c].z);
                if ((two + CAP) / sqrt(3.0) <= best[b].z)
                    continue;
                double z = third(j->pairs, b, c, rung, row[c].lag - row[b].lag);
                double all = (two + cut(z)) / sqrt(3.0);
                if (z < LEAST_THIRD || all <= best[b].z)
                    continue;
                best[b] = (syn_triangle){.a = a, .b = b, .c = c, .rung = rung,
                                         .lag_b = row[b].lag, .lag_c = row[c].lag,
                                         .z = (float)all,
                                         .whole = (float)((row[b].z + row[c].z + z) /
                                                          sqrt(3.0))};
            }
    }
    return SYN_OK;
}

syn_status syn_triangles_best(const syn_lagged *pairs, const syn_lagged_peak *peak,
                              syn_triangle *best, const syn_watch *watch)
{
    job j = {.pairs = pairs, .peak = peak, .best = best};
    return syn_parallel_for(pairs->units, 1, watch, "units", close_unit, &j);
}
