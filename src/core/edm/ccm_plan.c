/* Chooses between two ways to find neighbours in random libraries, by the time that
   each is expected to take: going down the order of the nearest rows of the whole
   library, or searching each library by itself. */
#include "core/edm/ccm_plan.h"

#include <math.h>

/* Nanoseconds, measured on a processor of 2022. */
#define TO_ORDER 12.0   /* one more neighbour of a row */
#define TO_LOOK 2.5     /* at one neighbour, for 64 libraries at once */
#define TO_SEARCH 1.2   /* one row of a library */
#define TO_GATHER 1.0   /* one row of the data, into the library of a lane */

/* The probability that fewer than k of the `most` nearest are in a library that has the
   share `f` of all rows. */
static double short_of(uint32_t k, uint32_t most, double f)
{
    if (f >= 1)
        return most < k;
    double term = most * log1p(-f), ratio = log(f) - log1p(-f), sum = 0;
    for (uint32_t i = 0; i < k && i <= most; i++) {
        sum += exp(term);
        term += log((double)(most - i) / (i + 1.0)) + ratio;
    }
    return sum < 1 ? sum : 1;
}

/* What one row takes in one library of `size` rows, going down an order of `most`. */
static double down(const syn_ccm_options *o, uint32_t n, uint32_t size, uint32_t most)
{
    double f = (double)size / n, k = o->k;
    double depth = (k + 3 * sqrt(k) + 3) / f;  /* where the last of 64 is likely done */
    double missed = most < n ? short_of(o->k, most, f) : 0;
    double looks = TO_LOOK * (depth < most ? depth : most) / 64;
    return looks + missed * (n * TO_GATHER + size * TO_SEARCH);
}

static double cost(const syn_ccm_options *o, uint32_t n, uint32_t most,
                   unsigned char *direct)
{
    double sum = TO_ORDER * most;
    for (uint32_t s = 0; s < o->sizes; s++) {
        double one = down(o, n, o->size[s], most), other = TO_SEARCH * o->size[s];
        direct[s] = other < one;
        sum += (o->size[s] < n ? o->samples : 1) * (direct[s] ? other : one);
    }
    return sum;
}

uint32_t syn_ccm_plan(const syn_ccm_options *options, uint32_t n, unsigned char *direct)
{
    uint32_t best = options->k < n ? options->k : n;
    double least = cost(options, n, best, direct);
    for (uint32_t most = best; most < n;) {
        most = most < n / 2 ? most * 2 : n;
        double now = cost(options, n, most, direct);
        if (now < least) {
            least = now;
            best = most;
        }
    }
    cost(options, n, best, direct);
    return best;
}
