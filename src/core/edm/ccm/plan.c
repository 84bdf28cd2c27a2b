/* Chooses between ways to find neighbours in random libraries, by the time that each is
   expected to take: going down the order of the nearest rows of the whole library, or
   searching each library by itself; and computing all distances, or passing over blocks
   of rows that are too far away. */
#include "core/edm/ccm/plan.h"

#include <math.h>

/* Nanoseconds, measured on a processor of 2022. */
#define TO_ORDER 12.0   /* one more neighbour of a row */
#define TO_LOOK 2.5     /* at one neighbour, for 64 libraries at once */
#define TO_SEARCH 1.2   /* one row of a library */
#define TO_GATHER 1.0   /* one row of the data, into the library of a lane */
#define TO_MEASURE 0.12 /* one term of a squared distance */
#define TO_COLLECT 0.8  /* one distance, among those that may be near */
#define TO_BOX 0.2      /* one coordinate of a box */
#define TO_VISIT 20.0   /* a block, beside its distances */
#define TO_KEEP 60.0    /* one more neighbour in order, from blocks */

/* The ways that are compared. */
typedef struct way {
    const syn_ccm_options *options;
    uint32_t n, dims;
    int blocks;
} way;

/* Searching the blocks of `n` rows for the nearest k. With points that fill their space
   evenly, a cube with the volume of 64 points stands for a block, and those that a ball
   with k points meets are searched. */
static double search(const way *w, double n, double k)
{
    enum { BLOCK = 64 };
    double dims = w->dims, blocks = n / BLOCK + 1, ball = w->dims % 2 ? 2 : 1;
    for (uint32_t d = w->dims % 2 + 2; d <= w->dims; d += 2)
        ball *= 6.283185307179586 / d;
    double visits = pow(1 + 2 * pow(k / (BLOCK * ball), 1 / dims), dims);
    visits = visits < blocks ? visits : blocks;
    return TO_BOX * dims * blocks + visits * (TO_VISIT + TO_MEASURE * dims * BLOCK) +
           TO_KEEP * k;
}

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
static double down(const way *w, uint32_t size, uint32_t most)
{
    double n = w->n, f = size / n, k = w->options->k;
    double depth = (k + 3 * sqrt(k) + 3) / f;  /* where the last of 64 is likely done */
    double missed = most < w->n ? short_of(w->options->k, most, f) : 0;
    double looks = TO_LOOK * (depth < most ? depth : most) / 64;
    double measure = w->blocks ? n * w->dims * TO_MEASURE : 0;
    return looks + missed * (measure + n * TO_GATHER + size * TO_SEARCH);
}

/* The same if the library is searched by itself. */
static double alone(const way *w, uint32_t size)
{
    return w->blocks ? search(w, size, w->options->k) : TO_SEARCH * size;
}

/* What one row takes in all libraries, if `most` are put in order. */
static double cost(const way *w, uint32_t most, unsigned char *direct)
{
    const syn_ccm_options *o = w->options;
    double sum = 0;
    if (!w->blocks)
        sum = TO_ORDER * most + w->n * (w->dims * TO_MEASURE + TO_COLLECT);
    else if (most > 0)
        sum = search(w, w->n, most);
    for (uint32_t s = 0; s < o->sizes; s++) {
        double one = down(w, o->size[s], most), other = alone(w, o->size[s]);
        direct[s] = most == 0 || other < one;
        sum += (o->size[s] < w->n ? o->samples : 1) * (direct[s] ? other : one);
    }
    return sum;
}

/* How many to put in order, by one way. */
static uint32_t best_most(const way *w, unsigned char *direct)
{
    uint32_t best = w->options->k < w->n ? w->options->k : w->n;
    double least = cost(w, best, direct);
    if (w->blocks && cost(w, 0, direct) < least) {
        best = 0;
        least = cost(w, 0, direct);
    }
    for (uint32_t most = w->options->k; most < w->n;) {
        most = most < w->n / 2 ? most * 2 : w->n;
        double now = cost(w, most, direct);
        if (now < least) {
            least = now;
            best = most;
        }
    }
    return best;
}

/* Whether all libraries have all rows. */
static int all_rows(const syn_ccm_options *o, uint32_t n)
{
    for (uint32_t s = 0; s < o->sizes; s++)
        if (o->size[s] < n)
            return 0;
    return 1;
}

syn_ccm_choice syn_ccm_plan(const syn_ccm_options *options, uint32_t n, uint32_t dims,
                            unsigned char *direct)
{
    way all = {options, n, dims, 0}, blocks = {options, n, dims, 1};
    if (all_rows(options, n))
        return (syn_ccm_choice){1, options->k};
    uint32_t most_all = best_most(&all, direct), most = best_most(&blocks, direct);
    double with_all = cost(&all, most_all, direct), with = cost(&blocks, most, direct);
    if (with < with_all)
        return (syn_ccm_choice){1, most};
    cost(&all, most_all, direct);
    return (syn_ccm_choice){0, most_all};
}
