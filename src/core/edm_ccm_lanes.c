#include "core/edm_ccm_lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/masks.h"

/* The file that includes this one names its own kind. */
#ifndef SYN_CCM_KIND
#define SYN_CCM_KIND syn_ccm_kind_any
#endif

/* ---- several numbers at a time, as many as a register has ---- */

#ifndef SYN_CCM_WIDE
#define SYN_CCM_WIDE 2
#endif
enum { WIDE = SYN_CCM_WIDE };
typedef double wide __attribute__((vector_size(8 * SYN_CCM_WIDE)));
typedef int64_t wide_bits __attribute__((vector_size(8 * SYN_CCM_WIDE)));

static inline wide load(const double *from)
{
    wide out;
    memcpy(&out, from, sizeof out);
    return out;
}

static inline void store(double *to, wide value)
{
    memcpy(to, &value, sizeof value);
}

static inline wide all(double x)
{
    return x - (wide){0};
}

static inline wide_bits all_bits(int64_t bits)
{
    return bits - (wide_bits){0};
}

/* `value` where the mask is set, 0 elsewhere. */
static inline wide where(wide_bits mask, wide value)
{
    return (wide)((wide_bits)value & mask);
}

/* exp(x) for x <= 0, to about one unit in the last place; 0 below -700. */
static inline wide exp_of(wide x)
{
    const double to_whole = 6755399441055744.0; /* 1.5 * 2^52: leaves whole numbers */
    wide_bits large = x < -700.0;
    x = (wide)(((wide_bits)x & ~large) | ((wide_bits)all(-700.0) & large));
    wide shifted = x * 1.4426950408889634 + to_whole;
    wide whole = shifted - to_whole;
    wide r = x - whole * 6.93147180369123816490e-01;
    r = r - whole * 1.90821492927058770002e-10;
    wide e = all(1.0 / 6227020800.0);
    e = e * r + 1.0 / 479001600.0;
    e = e * r + 1.0 / 39916800.0;
    e = e * r + 1.0 / 3628800.0;
    e = e * r + 1.0 / 362880.0;
    e = e * r + 1.0 / 40320.0;
    e = e * r + 1.0 / 5040.0;
    e = e * r + 1.0 / 720.0;
    e = e * r + 1.0 / 120.0;
    e = e * r + 1.0 / 24.0;
    e = e * r + 1.0 / 6.0;
    e = e * r + 0.5;
    e = e * r + 1.0;
    e = e * r + 1.0;
    /* The whole power of two goes straight into the exponent. */
    e = (wide)((wide_bits)e + ((wide_bits)shifted << 52));
    return where(~large, e);
}

/* ---- the nearest library rows of a row ---- */

static void square_distances(const syn_ccm_problem *p, const double *point, size_t stride,
                             double *square)
{
    uint32_t n = p->n, i = 0;
    for (; i + 4 * WIDE <= n; i += 4 * WIDE) {
        wide sum[4] = {all(0), all(0), all(0), all(0)};
        for (uint32_t e = 0; e < p->dims; e++) {
            const double *from = p->coordinate + (size_t)e * n + i;
            wide here = all(point[e * stride]);
            for (int v = 0; v < 4; v++) {
                wide apart = load(from + v * WIDE) - here;
                sum[v] += apart * apart;
            }
        }
        for (int v = 0; v < 4; v++)
            store(square + i + v * WIDE, sum[v]);
    }
    for (; i < n; i++) {
        double sum = 0;
        for (uint32_t e = 0; e < p->dims; e++) {
            double apart = p->coordinate[(size_t)e * n + i] - point[e * stride];
            sum += apart * apart;
        }
        square[i] = sum;
    }
}

static inline uint32_t rows_apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* The first library row that is not before row `row` of the data. */
static uint32_t first_from(const syn_ccm_problem *p, uint32_t row)
{
    uint32_t low = 0, high = p->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Leaves out what is too near in time; returns how many library rows that are. */
static uint32_t leave_out(const syn_ccm_problem *p, uint32_t row, double *square)
{
    uint32_t from = first_from(p, row > p->exclusion ? row - p->exclusion : 0), i = from;
    for (; i < p->n && (p->row[i] <= row || p->row[i] - row <= p->exclusion); i++)
        square[i] = INFINITY;
    return i - from;
}

/* A square within which at least `wanted` library rows are: those that follow the ones in
   the list before are near as well when this row follows the one before. */
static double bound(const syn_ccm_problem *p, const syn_ccm_space *space,
                    const double *square, uint32_t wanted)
{
    if (space->lasts < wanted)
        return INFINITY;
    double most = 0;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < space->lasts && seen < wanted; i++) {
        uint32_t at = space->last[i] + 1;
        if (at < p->n && square[at] < INFINITY) {
            most = square[at] > most ? square[at] : most;
            seen++;
        }
    }
    return seen == wanted ? most : INFINITY;
}

/* The library rows within the bound; returns how many. */
static uint32_t collect(const syn_ccm_problem *p, uint32_t row, const double *square,
                        double most, syn_ccm_near *near)
{
    uint32_t n = 0;
    most = most < INFINITY ? most : 1.7976931348623157e308;
    for (uint32_t i = 0; i < p->n; i++) {
        /* Written in any case: a branch would often be guessed wrong. */
        near[n] = (syn_ccm_near){square[i], rows_apart(p->row[i], row), i};
        n += square[i] <= most;
    }
    return n;
}

static inline int before(const syn_ccm_near *a, const syn_ccm_near *b)
{
    if (a->distance != b->distance)
        return a->distance < b->distance;
    return a->apart != b->apart ? a->apart < b->apart : a->at < b->at;
}

static int compare(const void *a, const void *b)
{
    return before(a, b) ? -1 : before(b, a);
}

static void sort_few(syn_ccm_near *near, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        syn_ccm_near moved = near[i];
        uint32_t j = i;
        for (; j > 0 && before(&moved, &near[j - 1]); j--)
            near[j] = near[j - 1];
        near[j] = moved;
    }
}

static inline uint32_t bucket_of(double square)
{
    uint64_t bits;
    memcpy(&bits, &square, sizeof bits);
    return (uint32_t)(bits >> 48);
}

/* Sorts the first of `n` entries, as many as `wanted` and perhaps some more: by the upper
   bits of the squares into buckets, then each bucket. Returns the sorted. */
static syn_ccm_near *sort_nearest(syn_ccm_space *space, uint32_t n, uint32_t wanted)
{
    enum { FEW = 40 };
    if (n <= FEW) {
        sort_few(space->near, n);
        return space->near;
    }
    uint32_t *bucket = space->bucket, low = SYN_CCM_BUCKETS, high = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t b = bucket_of(space->near[i].distance);
        bucket[b]++;
        low = b < low ? b : low;
        high = b > high ? b : high;
    }
    uint32_t end = low, total = 0;
    for (; total < wanted; end++) {
        uint32_t count = bucket[end];
        bucket[end] = total;
        total += count;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t b = bucket_of(space->near[i].distance);
        if (b < end)
            space->sorted[bucket[b]++] = space->near[i];
    }
    for (uint32_t b = low, from = 0; b < end; from = bucket[b++]) {
        uint32_t count = bucket[b] - from;
        if (count <= FEW)
            sort_few(space->sorted + from, count);
        else
            qsort(space->sorted + from, count, sizeof *space->sorted, compare);
    }
    memset(bucket + low, 0, (high - low + 1) * sizeof *bucket);
    return space->sorted;
}

static void nearest(const syn_ccm_problem *p, const double *point, size_t stride,
                    uint32_t most, double *square, syn_ccm_space *space,
                    syn_ccm_list *list)
{
    square_distances(p, point, stride, square);
    uint32_t there = p->n - leave_out(p, list->row, square);
    uint32_t wanted = most < there ? most : there;
    double within = bound(p, space, square, wanted);
    uint32_t n = collect(p, list->row, square, within, space->near);
    wanted = wanted < n ? wanted : n;
    const syn_ccm_near *sorted = sort_nearest(space, n, wanted);
    for (uint32_t i = 0; i < wanted; i++) {
        list->near[i] = sorted[i];
        list->near[i].distance = sqrt(sorted[i].distance);
        space->last[i] = sorted[i].at;
    }
    space->lasts = wanted;
    list->n = wanted;
    list->whole = most >= there;
    list->square = square;
}

/* ---- neighbours in each library ---- */

/* Goes down the list and gives each library the first k that it has. Returns the
   libraries that have fewer. */
static uint64_t look_down(const syn_ccm_list *list, const syn_ccm_group *g, uint32_t k,
                          syn_ccm_space *space, uint32_t *found)
{
    uint64_t open = g->n < 64 ? ((uint64_t)1 << g->n) - 1 : ~(uint64_t)0;
    for (uint32_t i = 0; i < list->n && open; i++) {
        const syn_ccm_near *near = &list->near[i];
        for (uint64_t has = g->member[near->at] & open; has; has &= has - 1) {
            uint32_t lane = syn_low_bit(has), place = found[lane]++;
            space->at[place * SYN_CCM_LANES + lane] = near->at;
            space->distance[place * SYN_CCM_LANES + lane] = near->distance;
            open ^= (uint64_t)(place + 1 == k) << lane;
        }
    }
    return open;
}

/* The k nearest of `n` library rows, for one lane; returns how many there are. */
static uint32_t search(const syn_ccm_problem *p, const syn_ccm_list *list,
                       const uint32_t *rows, uint32_t n, syn_ccm_space *space,
                       uint32_t lane)
{
    syn_ccm_near *best = space->near;
    uint32_t found = 0, k = p->k;
    double worst = INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        double square = list->square[rows[i]];
        if (square > worst || square == INFINITY)
            continue;
        syn_ccm_near one = {square, rows_apart(p->row[rows[i]], list->row), rows[i]};
        if (found == k && !before(&one, &best[k - 1]))
            continue;
        uint32_t j = found < k ? found++ : k - 1;
        for (; j > 0 && before(&one, &best[j - 1]); j--)
            best[j] = best[j - 1];
        best[j] = one;
        worst = found == k ? best[k - 1].distance : INFINITY;
    }
    for (uint32_t j = 0; j < found; j++) {
        space->at[j * SYN_CCM_LANES + lane] = best[j].at;
        space->distance[j * SYN_CCM_LANES + lane] = sqrt(best[j].distance);
    }
    return found;
}

/* The same for a library that only has its bit. */
static uint32_t search_members(const syn_ccm_problem *p, const syn_ccm_list *list,
                               const syn_ccm_group *g, syn_ccm_space *space,
                               uint32_t lane)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        space->rows[n] = i;
        n += g->member[i] >> lane & 1;
    }
    return search(p, list, space->rows, n, space, lane);
}

static void find(const syn_ccm_problem *p, const syn_ccm_list *list,
                 const syn_ccm_group *g, syn_ccm_space *space)
{
    uint32_t found[SYN_CCM_LANES] = {0};
    if (g->rows) {
        for (uint32_t lane = 0; lane < g->n; lane++)
            found[lane] =
                search(p, list, g->rows + (size_t)lane * g->size, g->size, space, lane);
    } else {
        uint64_t open = look_down(list, g, p->k, space, found);
        for (; open && !list->whole; open &= open - 1) {
            uint32_t lane = syn_low_bit(open);
            found[lane] = search_members(p, list, g, space, lane);
        }
    }
    /* Who has fewer than k gets neighbours without weight. */
    for (uint32_t lane = 0; lane < (g->n + WIDE - 1) / WIDE * WIDE; lane++)
        for (uint32_t j = found[lane]; j < p->k; j++) {
            space->at[j * SYN_CCM_LANES + lane] = j > 0 ? space->at[lane] : 0;
            space->distance[j * SYN_CCM_LANES + lane] = INFINITY;
        }
}

/* ---- predictions ---- */

/* Distances become weights that add up to 1; NaN in a library without neighbours. */
static void weigh(uint32_t k, uint32_t lanes, double *distance)
{
    for (uint32_t lane = 0; lane < lanes; lane += WIDE) {
        double *d = distance + lane;
        wide least = load(d), sum = all(0);
        wide_bits small = least < 1e-6;
        least = (wide)(((wide_bits)least & ~small) | ((wide_bits)all(1e-6) & small));
        for (uint32_t j = 0; j < k; j++) {
            wide weight = exp_of(-load(d + j * SYN_CCM_LANES) / least);
            store(d + j * SYN_CCM_LANES, weight);
            sum += weight;
        }
        for (uint32_t j = 0; j < k; j++)
            store(d + j * SYN_CCM_LANES, load(d + j * SYN_CCM_LANES) / sum);
    }
}

static void add_target(const syn_ccm_problem *p, const double *value, double observed,
                       uint32_t lanes, const syn_ccm_space *space, double *sum)
{
    const wide y = all(observed), one = all(1);
    for (uint32_t lane = 0; lane < lanes; lane += WIDE) {
        wide guess = all(0);
        for (uint32_t j = 0; j < p->k; j++) {
            const uint32_t *at = space->at + j * SYN_CCM_LANES + lane;
            wide there = {0};
            for (int v = 0; v < WIDE; v++)
                there[v] = value[at[v]];
            guess += load(space->distance + j * SYN_CCM_LANES + lane) * there;
        }
        wide_bits known = guess == guess;
        guess = where(known, guess);
        wide error = guess - where(known, y);
        wide size = where(all_bits(INT64_MAX), error);
        const wide term[SYN_CCM_SUMS] = {
            where(known, one), where(known, y), where(known, y * y), guess, guess * guess,
            guess * y, size, error * error};
        for (int s = 0; s < SYN_CCM_SUMS; s++) {
            double *to = sum + s * SYN_CCM_LANES + lane;
            store(to, load(to) + term[s]);
        }
    }
}

static void add_row(const syn_ccm_problem *p, const syn_ccm_list *list,
                    const syn_ccm_group *g, syn_ccm_space *space)
{
    find(p, list, g, space);
    weigh(p->k, g->n, space->distance);
    for (uint32_t t = 0; t < p->targets; t++)
        if (list->observed[t] == list->observed[t])
            add_target(p, p->value + (size_t)t * p->n, list->observed[t], g->n,
                       space, g->sum + (size_t)t * SYN_CCM_SUMS * SYN_CCM_LANES);
}

const syn_ccm_kind SYN_CCM_KIND = {nearest, add_row};
