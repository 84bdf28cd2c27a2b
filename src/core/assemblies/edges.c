/* Counts the places that lags have in trials: one less a bin of lag in each trial that is
   longer. */
#include "core/assemblies/edges.h"

#include <math.h>

#include "core/assemblies/excess.h"

/* Places of the lags from `low` to `high`. */
static double places(const double *place, int32_t low, int32_t high)
{
    double sum = 0;
    for (int32_t k = low; k <= high; k++)
        sum += place[k < 0 ? -k : k];
    return sum;
}

/* What syn_sides_look() gives, of places in the stead of coincidences. */
static double share(const double *place, int32_t half, int32_t lag)
{
    int32_t far = SYN_LADDER_BESIDE * (2 * half + 1), from = 2 * half + 2;
    double in = places(place, lag - half, lag + half);
    double beside = places(place, lag - from - far + 1, lag - from) +
                    places(place, lag + from, lag + from + far - 1);
    return beside > 0 ? in / (beside / SYN_BESIDE) - 1 : 0;
}

syn_status syn_edges_share(const syn_ladder *l, int64_t bin, const syn_spikes *trials,
                           double *common, syn_budget *budget)
{
    double *place = syn_budget_alloc(budget, (size_t)l->margin + 1, sizeof *place);
    double *ends = syn_budget_alloc(budget, (size_t)l->margin + 2, sizeof *ends);
    syn_status status = place && ends ? SYN_OK : syn_budget_refusal(budget);
    if (status == SYN_OK) {
        /* place[k] is how many places there are for lags of k bins. */
        double longer = trials->trials;
        place[0] = 0;
        for (uint32_t k = 0; k <= l->margin + 1; k++)
            ends[k] = 0;
        for (uint32_t t = 0; t < trials->trials; t++) {
            double n =
                floor((trials->stop[t] - trials->start[t] + 1) / (double)bin + 0.5);
            n = n > 1 ? n : 1;
            place[0] += n;
            ends[n <= l->margin ? (uint32_t)n : l->margin + 1]++;
        }
        for (uint32_t k = 1; k <= l->margin; k++) {
            place[k] = place[k - 1] - longer;
            longer -= ends[k];
        }
    }
    for (uint32_t r = 0; status == SYN_OK && r < l->rungs; r++)
        for (uint32_t k = 0; k <= 2 * l->reach[r]; k++) {
            int32_t lag = ((int32_t)k - (int32_t)l->reach[r]) * (int32_t)l->step[r];
            common[l->first[r] + k] = share(place, (int32_t)l->half[r], lag);
        }
    SYN_GIVE(budget, place, ends);
    return status;
}
