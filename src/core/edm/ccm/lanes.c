/* The inner loops of cross mapping, with up to 64 libraries or 8 targets side by side. A
   row's nearest library rows come in order, and a bit for each library says whether it
   contains the row. Compiled once for each kind of processor. */
#include "core/edm/ccm/lanes.h"

#include <math.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/masks.h"
#include "core/base/simd.h"

/* ---- the nearest library rows of a row ---- */

static void square_distances(const syn_ccm_problem *p, const double *point, size_t stride,
                             double *square)
{
    uint32_t n = p->n, i = 0;
    for (; i + 4 * SYN_F64_LANES <= n; i += 4 * SYN_F64_LANES) {
        syn_f64 sum[4] = {{0}};
        for (uint32_t e = 0; e < p->dims; e++) {
            const double *from = p->coordinate + (size_t)e * n + i;
            syn_f64 here = syn_f64_all(point[e * stride]);
            for (int v = 0; v < 4; v++) {
                syn_f64 apart = syn_f64_load(from + v * SYN_F64_LANES) - here;
                sum[v] += apart * apart;
            }
        }
        for (int v = 0; v < 4; v++)
            syn_f64_store(square + i + v * SYN_F64_LANES, sum[v]);
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

static inline int too_near(const syn_ccm_problem *p, uint32_t at, uint32_t row)
{
    return syn_rows_apart(p->row[at], row) <= p->exclusion;
}

/* How many library rows are near enough in time to be left out; `from` is the first. */
static uint32_t left_out(const syn_ccm_problem *p, uint32_t row, uint32_t *from)
{
    uint32_t first = row > p->exclusion ? row - p->exclusion : 0;
    uint32_t i = *from = syn_first_row_from(p->row, p->n, first);
    while (i < p->n && (p->row[i] <= row || too_near(p, i, row)))
        i++;
    return i - *from;
}

/* A square within which `wanted` library rows are, those that follow the list before. */
static double bound(const syn_ccm_problem *p, const double *square, uint32_t row,
                    const syn_ccm_space *space, uint32_t wanted)
{
    double most = 0;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < space->lasts && seen < wanted; i++) {
        uint32_t at = space->last[i] + 1;
        if (at >= p->n || too_near(p, at, row))
            continue;
        most = square[at] > most ? square[at] : most;
        seen++;
    }
    return seen == wanted && most < INFINITY ? most : 1.7976931348623157e308;
}

/* The library rows within the bound; returns how many. */
static uint32_t collect(const syn_ccm_problem *p, const double *square, double most,
                        uint32_t from, syn_near *near)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        /* Written in any case: a branch would often be guessed wrong. */
        near[n] = (syn_near){square[i], p->order.rank[i] - from, i};
        n += square[i] <= most;
    }
    return n;
}

/* Puts `one` among the `n` nearest so far, which are in order, if it is one of the
   nearest `wanted`; returns how many there are now. */
static uint32_t insert_near(syn_near *near, uint32_t n, uint32_t wanted,
                            syn_near one)
{
    if (n == wanted && !syn_near_before(&one, &near[n - 1]))
        return n;
    uint32_t j = n < wanted ? n : n - 1, now = j + 1;
    for (; j > 0 && syn_near_before(&one, &near[j - 1]); j--)
        near[j] = near[j - 1];
    near[j] = one;
    return now;
}

enum { FEW_NEAR = 40 };  /* neighbours that are not sorted into buckets */

static inline uint32_t bucket_of(double square)
{
    return (uint32_t)(syn_double_bits(square) >> 48);
}

/* Whether all are equally far away. */
static int all_tied(const syn_near *near, uint32_t n)
{
    uint32_t i = 1;
    while (i < n && near[i].squared == near[0].squared)
        i++;
    return i == n;
}

/* Entries that are equally far away, on their way into the order of ties. */
typedef struct tied_entries {
    const syn_ccm_problem *problem;
    uint64_t *bits;        /* one for each place in the order that an entry has */
    uint32_t from;         /* the first place after the prediction row */
    double distance;
    uint32_t n, wanted;    /* how many are in order, and shall be */
    syn_near *near;    /* [wanted] */
} tied_entries;

/* Puts entries with the places from `first` to `last` - 1, whose bits it takes out, in
   order, until there are as many as wanted. */
static void put_tied(tied_entries *t, uint32_t first, uint32_t last)
{
    for (uint32_t place = first; place < last; place = (place / 64 + 1) * 64) {
        uint64_t bits = t->bits[place / 64] >> place % 64 << place % 64;
        if (last - place / 64 * 64 < 64)
            bits &= ((uint64_t)1 << last % 64) - 1;
        t->bits[place / 64] &= ~bits;
        for (; bits && t->n < t->wanted; bits &= bits - 1) {
            uint32_t at = place / 64 * 64 + syn_low_bit(bits);
            t->near[t->n++] =
                (syn_near){t->distance, at - t->from, t->problem->order.ranked[at]};
        }
    }
}

/* Sorts `n` entries that are equally far away, or the first `wanted` of them. */
static void sort_tied(const syn_ccm_problem *p, uint32_t from, syn_near *near,
                      uint32_t n, uint32_t wanted, uint64_t *tied)
{
    tied_entries t = {.problem = p, .bits = tied, .from = from,
                      .distance = near[0].squared, .wanted = wanted < n ? wanted : n,
                      .near = near};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = near[i].rank + from;
        tied[place / 64] |= (uint64_t)1 << place % 64;
    }
    put_tied(&t, from, p->n);
    put_tied(&t, 0, from);
}

/* Sorts the first of `n` entries, as many as `wanted` and perhaps some more: by the upper
   bits of the squares into buckets, then each bucket. Returns the sorted. */
static syn_near *sort_nearest(const syn_ccm_problem *p, uint32_t from_place,
                                  syn_ccm_space *space, uint32_t n, uint32_t wanted)
{
    if (n <= FEW_NEAR) {
        syn_near_sort(space->near, n);
        return space->near;
    }
    uint32_t *bucket = space->bucket, low = SYN_CCM_BUCKETS, high = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t b = bucket_of(space->near[i].squared);
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
        uint32_t b = bucket_of(space->near[i].squared);
        if (b < end)
            space->sorted[bucket[b]++] = space->near[i];
    }
    for (uint32_t b = low, from = 0; b < end; from = bucket[b++]) {
        syn_near *near = space->sorted + from;
        uint32_t inside = bucket[b] - from;
        if (inside > FEW_NEAR && all_tied(near, inside))
            sort_tied(p, from_place, near, inside, wanted - from, space->tied);
        else
            syn_near_sort(near, inside);
    }
    memset(bucket + low, 0, (high - low + 1) * sizeof *bucket);
    return space->sorted;
}

/* Squared distances to all library rows; returns how many of these may be neighbours. */
static uint32_t all_squares(const syn_ccm_problem *p, const syn_ccm_list *list,
                            double *square)
{
    uint32_t from, without = left_out(p, list->row, &from);
    square_distances(p, list->point, p->stride, square);
    for (uint32_t i = 0; i < without; i++)
        square[from + i] = INFINITY;
    return p->n - without;
}

static void nearest_rows(const syn_ccm_problem *p, uint32_t most, double *square,
                         syn_ccm_space *space, syn_ccm_list *list)
{
    uint32_t there = all_squares(p, list, square);
    uint32_t wanted = most < there ? most : there;
    double within = bound(p, square, list->row, space, wanted);
    uint32_t n = collect(p, square, within, list->from, space->near);
    wanted = wanted < n ? wanted : n;
    const syn_near *sorted = sort_nearest(p, list->from, space, n, wanted);
    for (uint32_t i = 0; i < wanted; i++) {
        list->near[i] = sorted[i];
        list->near[i].squared = sqrt(sorted[i].squared);
        space->last[i] = sorted[i].row;
    }
    list->n = space->lasts = wanted;
    list->whole = most >= there;
    list->square = square;
}

/* ---- neighbours in each library ---- */

/* Goes down the list and gives each library the first k that it has. Returns the
   libraries that have fewer. */
static uint64_t look_down(const syn_ccm_list *list, const syn_ccm_group *g, uint32_t k,
                          const syn_ccm_lanes *lanes, uint32_t *found)
{
    uint64_t open = g->n < 64 ? ((uint64_t)1 << g->n) - 1 : ~(uint64_t)0;
    for (uint32_t i = 0; i < list->n && open; i++) {
        const syn_near *near = &list->near[i];
        for (uint64_t has = g->member[near->row] & open; has; has &= has - 1) {
            uint32_t lane = syn_low_bit(has), place = found[lane]++;
            lanes->at[place * SYN_CCM_LANES + lane] = near->row;
            lanes->distance[place * SYN_CCM_LANES + lane] = near->squared;
            open ^= (uint64_t)(place + 1 == k) << lane;
        }
    }
    return open;
}

/* The k nearest of `n` library rows, for one lane; returns how many there are. */
static uint32_t search_rows(const syn_ccm_problem *p, const double *squares,
                            uint32_t from, const uint32_t *rows, uint32_t n,
                            syn_near *best,
                            const syn_ccm_lanes *lanes, uint32_t lane)
{
    uint32_t found = 0, k = p->k;
    double worst = INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        double square = squares[rows[i]];
        if (square > worst || square == INFINITY)
            continue;
        syn_near one = {square, p->order.rank[rows[i]] - from, rows[i]};
        found = insert_near(best, found, k, one);
        worst = found == k ? best[k - 1].squared : INFINITY;
    }
    for (uint32_t j = 0; j < found; j++) {
        lanes->at[j * SYN_CCM_LANES + lane] = best[j].row;
        lanes->distance[j * SYN_CCM_LANES + lane] = sqrt(best[j].squared);
    }
    return found;
}

/* Libraries in `open` have rows beyond the end of the list. */
static void search_open(const syn_ccm_problem *p, const syn_ccm_list *list,
                        const syn_ccm_group *g, uint64_t open, syn_ccm_space *space,
                        const syn_ccm_lanes *lanes, uint32_t *found)
{
    const double *squares = list->square;
    if (!squares) {
        all_squares(p, list, space->square);
        squares = space->square;
    }
    for (; open; open &= open - 1) {
        uint32_t lane = syn_low_bit(open);
        /* The same for a library that only has its bit. */
        uint32_t n = 0;
        for (uint32_t i = 0; i < p->n; i++) {
            space->rows[n] = i;
            n += g->member[i] >> lane & 1;
        }
        found[lane] =
            search_rows(p, squares, list->from, space->rows, n, space->near, lanes, lane);
    }
}

/* Takes neighbours that have been found in each library by itself. */
static void take_found(const syn_ccm_list *list, uint32_t n, uint32_t k,
                       const syn_ccm_lanes *lanes, uint32_t *found)
{
    const syn_near *near = list->near;
    for (uint32_t lane = 0; lane < n; lane++, near += k) {
        found[lane] = list->found[lane];
        for (uint32_t j = 0; j < found[lane]; j++) {
            lanes->at[j * SYN_CCM_LANES + lane] = near[j].row;
            lanes->distance[j * SYN_CCM_LANES + lane] = near[j].squared;
        }
    }
}

/* The neighbours of a row in each library of a group. As many lanes as a multiple of
   `register_lanes` get some. */
static void find(const syn_ccm_problem *p, const syn_ccm_list *list,
                 const syn_ccm_group *g, syn_ccm_space *space,
                 const syn_ccm_lanes *lanes, uint32_t register_lanes)
{
    uint32_t found[SYN_CCM_LANES] = {0};
    if (list->found) {
        take_found(list, g->n, p->k, lanes, found);
    } else if (g->rows) {
        for (uint32_t lane = 0; lane < g->n; lane++)
            found[lane] = search_rows(p, list->square, list->from,
                                      g->rows + (size_t)lane * g->size, g->size,
                                      space->near, lanes, lane);
    } else {
        uint64_t open = look_down(list, g, p->k, lanes, found);
        if (open && !list->whole)
            search_open(p, list, g, open, space, lanes, found);
    }
    /* Who has fewer than k gets neighbours without weight. */
    uint32_t lanes_in_use = (g->n + register_lanes - 1) / register_lanes * register_lanes;
    for (uint32_t lane = 0; lane < lanes_in_use; lane++)
        for (uint32_t j = found[lane]; j < p->k; j++) {
            lanes->at[j * SYN_CCM_LANES + lane] = j > 0 ? lanes->at[lane] : 0;
            lanes->distance[j * SYN_CCM_LANES + lane] = INFINITY;
        }
}

/* ---- predictions ---- */

/* Distances become weights that add up to 1; NaN in a library without neighbours. */
static void weigh_lanes(uint32_t k, double closest, uint32_t n, double *distance)
{
    for (uint32_t lane = 0; lane < n; lane += SYN_F64_LANES) {
        double *d = distance + lane;
        syn_f64 least = syn_f64_max(syn_f64_all(closest), syn_f64_load(d));
        syn_f64 sum = syn_f64_all(0);
        for (uint32_t j = 0; j < k; j++) {
            syn_f64 x = -syn_f64_load(d + j * SYN_CCM_LANES) / least;
            syn_f64 weight = syn_f64_where(~(x < -700), syn_f64_exp(x, 0));
            syn_f64_store(d + j * SYN_CCM_LANES, weight);
            sum += weight;
        }
        for (uint32_t j = 0; j < k; j++, d += SYN_CCM_LANES)
            syn_f64_store(d, syn_f64_load(d) / sum);
    }
}

static inline syn_f64 predict(uint32_t k, const double *value, const syn_ccm_lanes *lanes,
                           uint32_t lane)
{
    syn_f64 guess = syn_f64_all(0);
    for (uint32_t j = 0; j < k; j++) {
        size_t from = j * SYN_CCM_LANES + lane;
        guess += syn_f64_load(lanes->distance + from) *
                 syn_f64_gather(value, lanes->at + from);
    }
    return guess;
}

/* Adds a pair of prediction and target to the sums of each lane. */
SYN_INLINE void add_pair(syn_f64 guess, syn_f64 y, syn_f64 *total)
{
    const syn_i64 magnitude = (syn_i64){0} + INT64_MAX;
    syn_i64 known = (guess == guess) & (y == y);
    syn_i64 begin = known & (total[SYN_CCM_N] == 0);
    total[SYN_CCM_FIRST_TARGET] += syn_f64_where(begin, y);
    total[SYN_CCM_FIRST_PREDICTION] += syn_f64_where(begin, guess);
    syn_f64 error = syn_f64_where(known, guess - y);
    syn_f64 seen = syn_f64_where(known, y - total[SYN_CCM_FIRST_TARGET]);
    guess = syn_f64_where(known, guess - total[SYN_CCM_FIRST_PREDICTION]);
    total[SYN_CCM_N] += syn_f64_where(known, syn_f64_all(1));
    total[SYN_CCM_TARGET] += seen;
    total[SYN_CCM_TARGET_SQUARE] += seen * seen;
    total[SYN_CCM_PREDICTION] += guess;
    total[SYN_CCM_PREDICTION_SQUARE] += guess * guess;
    total[SYN_CCM_PRODUCT] += guess * seen;
    total[SYN_CCM_ERROR] += syn_f64_where(magnitude, error);
    total[SYN_CCM_ERROR_SQUARE] += error * error;
}

/* Adds the rows to the sums of one target, all rows of some lanes after each other: their
   sums stay in registers. */
static void add_target(const syn_ccm_problem *p, uint32_t target,
                       const syn_ccm_list *list, uint32_t rows, uint32_t n,
                       const syn_ccm_lanes *lanes, double *sum)
{
    const double *value = p->value + (size_t)target * p->n;
    for (uint32_t lane = 0; lane < n; lane += SYN_F64_LANES) {
        syn_f64 total[SYN_CCM_SUMS];
        for (int s = 0; s < SYN_CCM_SUMS; s++)
            total[s] = syn_f64_load(sum + s * SYN_CCM_LANES + lane);
        for (uint32_t r = 0; r < rows; r++)
            add_pair(predict(p->k, value, &lanes[r], lane),
                     syn_f64_all(list[r].observed[target]), total);
        for (int s = 0; s < SYN_CCM_SUMS; s++)
            syn_f64_store(sum + s * SYN_CCM_LANES + lane, total[s]);
    }
}

/* Adds the rows to the sums of `n` targets from `first` on, at most 8: lane r of `lanes`
   is row r. A register may reach beyond the targets; what comes of that is not used. */
static void add_beside(const syn_ccm_problem *p, uint32_t first, uint32_t n,
                       const syn_ccm_list *list, uint32_t rows,
                       const syn_ccm_lanes *lanes, double *sum)
{
    const double *value = p->beside + (size_t)first * p->n;
    for (uint32_t from = 0; from < n; from += SYN_F64_LANES) {
        syn_f64 total[SYN_CCM_SUMS];
        for (int s = 0; s < SYN_CCM_SUMS; s++)
            total[s] = syn_f64_load(sum + s * SYN_CCM_BESIDE + from);
        for (uint32_t r = 0; r < rows; r++) {
            syn_f64 guess = syn_f64_all(0);
            for (uint32_t j = 0; j < p->k; j++) {
                size_t at = (size_t)lanes->at[j * SYN_CCM_LANES + r] * n + from;
                guess += syn_f64_all(lanes->distance[j * SYN_CCM_LANES + r]) *
                         syn_f64_load(value + at);
            }
            add_pair(guess, syn_f64_load(list[r].observed + first + from), total);
        }
        for (int s = 0; s < SYN_CCM_SUMS; s++)
            syn_f64_store(sum + s * SYN_CCM_BESIDE + from, total[s]);
    }
}

/* The same for a group of one library, whose neighbours have a lane for each row. */
static void add_rows_of_one(const syn_ccm_problem *p, const syn_ccm_list *list,
                            uint32_t rows, const syn_ccm_group *g, syn_ccm_space *space)
{
    const syn_ccm_lanes *all = &space->lanes[0];
    for (uint32_t from = 0; from < rows; from += SYN_CCM_LANES, list += SYN_CCM_LANES) {
        uint32_t n = rows - from < SYN_CCM_LANES ? rows - from : SYN_CCM_LANES;
        for (uint32_t r = 0; r < SYN_CCM_LANES; r++) {
            /* Lanes without a row have that of the first. */
            syn_ccm_lanes lane = {all->at + r, all->distance + r};
            find(p, &list[r < n ? r : 0], g, space, &lane, 1);
        }
        weigh_lanes(p->k, p->least, SYN_CCM_LANES, all->distance);
        for (uint32_t t = 0; t < p->targets; t += SYN_CCM_BESIDE) {
            uint32_t left = p->targets - t;
            add_beside(p, t, left < SYN_CCM_BESIDE ? left : SYN_CCM_BESIDE, list, n, all,
                       g->sum + syn_ccm_sum_at(g, 0, t, 0));
        }
    }
}

static void add_rows(const syn_ccm_problem *p, const syn_ccm_list *list, uint32_t rows,
                     const syn_ccm_group *g, syn_ccm_space *space)
{
    if (g->n == 1) {
        add_rows_of_one(p, list, rows, g, space);
        return;
    }
    for (uint32_t from = 0; from < rows; from += space->lanes_rows) {
        uint32_t left = rows - from;
        uint32_t n = left < space->lanes_rows ? left : space->lanes_rows;
        for (uint32_t r = 0; r < n; r++) {
            find(p, &list[from + r], g, space, &space->lanes[r], SYN_F64_LANES);
            weigh_lanes(p->k, p->least, g->n, space->lanes[r].distance);
        }
        for (uint32_t t = 0; t < p->targets; t++)
            add_target(p, t, list + from, n, g->n, space->lanes,
                       g->sum + (size_t)t * SYN_CCM_SUMS * SYN_CCM_LANES);
    }
}

SYN_KIND_TABLE(syn_ccm_kind, syn_ccm_kind) = {nearest_rows, add_rows};
