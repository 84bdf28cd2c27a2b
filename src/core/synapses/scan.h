/* What speaks for a connection from one unit to another: counts in short windows of
   their correlogram, above or below two baselines at once. Host and device run these
   lines.

   Lags are in bins; those of a pair of units (a, b) are positive where b fires after
   a. A side is a direction: on side 0 a fires first, on side 1 b does. The counts of a
   pair are given as two arrays, x[side][t], of t bins from 0 to `lags` on that side.
   Lag 0 is in both, and no evidence for either direction: only the slow part of long
   lags reads it. So swapping a and b swaps the sides, and nothing else.

   A window W of `width` bins begins at bin `lo` from 1 on. Its middle is m = lo +
   (width - 1) / 2. The two baselines are weighted least squares fits without W and
   `guard` bins either side of it, read at the middle of W:

   hollow: a parabola in lag. Weights are a Gaussian in lag - m of deviation `hollow`, of
           bins on both sides. It holds what changes slowly with the lag.
   folded: a line in |lag|. Weights are a Gaussian in |lag| - m of deviation `folded`, of
           bins on both sides. The bins of the other side hold everything that is
           symmetric, as rates are that rise and fall together, however fast.

   Each is a linear form of counts. With coefficients q, `expected` is width * sum(q
   x), and `noise` is width * sum(q^2): by it and by `expected` the variance of
   `expected` is their product, as if it were the mean of 1 / noise windows.

   Counts of some pairs vary more than those of Poisson trains do, as they keep a
   rhythm or their spikes come in clumps. The windows of lags from `rest` on, where no
   synapse acts, show how much: the mean of (count - slow part)^2 / slow part, each
   over what it is on average for Poisson counts, is the `spread` of a pair.

   The strongest window of a pair is masked while the other direction is tested, and
   the other sign: a peak would be a part of their baselines, and make a dip. */
#ifndef SYN_SYNAPSES_SCAN_H
#define SYN_SYNAPSES_SCAN_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifndef SYN_EVERYWHERE
#define SYN_EVERYWHERE static inline
#endif

#define SYN_SCAN_MOST_LAGS 400

typedef struct syn_scan_options {
    uint32_t lags;    /* bins on a side, up to SYN_SCAN_MOST_LAGS */
    uint32_t reach;   /* last bin of the last window, from `width` to `lags` - `guard` */
    uint32_t width;   /* of a window, at least 1 */
    uint32_t guard;   /* bins either side of a window that its baselines leave out */
    uint32_t pad;     /* bins either side of a window that are masked with it */
    double hollow;    /* standard deviations of the weights */
    double folded;    /* 0 for the hollow baseline alone */
    double mask;      /* |z| from which a window is masked; 0 for no masks */
    uint32_t rest;    /* first bin of the windows that show the spread; 0 for none */
} syn_scan_options;

/* What all pairs have in common; syn_scan_tables_make() fills it. Window w begins at bin
   w + 1. The arrays may lie in the memory of a device. */
typedef struct syn_scan_tables {
    uint32_t lags, windows, width, guard, pad;
    double mask;
    /* Of the hollow and the folded baseline: weights by distance from the middle of a
       window, in half bins, [halves], which is 0 where there is no such baseline. */
    uint32_t halves[2];
    double *weight[2];
    /* Coefficients q of the bin t of the window's side (own) and of the other side:
       [t * stride + w], t from 0 to `lags`; and the noise, [windows]. */
    uint32_t stride;  /* at least `windows` */
    double *own[2], *other[2], *noise[2];
    /* Windows at long lags: window k begins at bin rest + k * width. What differs from
       the slow part is a linear form, too, of coefficients [t * rest_stride + k];
       `rest_norm` is the variance of that for Poisson counts of mean 1 / width. */
    uint32_t rest, rests, rest_stride;
    double *own_rest, *other_rest, *rest_norm;
} syn_scan_tables;

/* Bins of each side that baselines leave out: from <= t < to. */
typedef struct syn_scan_mask {
    uint32_t from[2], to[2];
} syn_scan_mask;

/* The best window of a side and a sign, 0 for more (up) and 1 for fewer (down) spikes:
   the larger z is, the more it says for this sign. */
typedef struct syn_scan_best {
    double z, count, expected, noise;
    uint32_t lo;
} syn_scan_best;

typedef struct syn_scan_pair {
    syn_scan_best best[2][2];  /* [side][sign] */
    double spread;
} syn_scan_pair;

/* Results by direction: at 2 * p + side for pair p. Arrays of the caller's; those that
   are NULL are not filled. */
typedef struct syn_scan_columns {
    double *z[2], *count[2], *expected[2], *noise[2];  /* up, down */
    int32_t *lo[2];
    double *spread;  /* by pair */
} syn_scan_columns;

/* Stores what was found of a side; z is below 0 where there are fewer spikes. */
SYN_EVERYWHERE void syn_scan_store(const syn_scan_pair *pair, int side, size_t p,
                                   const syn_scan_columns *to)
{
    size_t at = 2 * p + (size_t)side;
    for (int sign = 0; sign < 2; sign++) {
        const syn_scan_best *best = &pair->best[side][sign];
        if (to->z[sign])
            to->z[sign][at] = sign ? -best->z : best->z;
        if (to->count[sign])
            to->count[sign][at] = best->count;
        if (to->expected[sign])
            to->expected[sign][at] = best->expected;
        if (to->noise[sign])
            to->noise[sign][at] = best->noise;
        if (to->lo[sign])
            to->lo[sign][at] = (int32_t)best->lo;
    }
    if (to->spread)
        to->spread[p] = pair->spread;
}

/* ---- one count beside its baseline ---- */

/* The signed root of the deviance of two Poisson counts, `count` in a window and expected
   / noise in 1 / noise of them, against one rate. Half a count goes towards it. */
SYN_EVERYWHERE double syn_scan_root(double count, double expected, double noise)
{
    double beside = expected > 0 ? expected / noise : 0, sum = count + beside;
    double mean = sum * noise / (1 + noise);
    if (count > mean + 0.5)
        count -= 0.5;
    else if (count < mean - 0.5)
        count += 0.5;
    else
        return 0;
    beside = sum - count > 0 ? sum - count : 0;
    double half = (count > 0 ? count * log(count / mean) : 0) +
                  (beside > 0 ? beside * log(beside / (sum - mean)) : 0);
    double root = half > 0 ? sqrt(2 * half) : 0;
    return count > mean ? root : -root;
}

/* ---- weighted least squares ---- */

/* Sums over bins of weight * d^i, weight^2 * d^i and weight * d^i * x, where d is the
   distance from the middle of a window. */
typedef struct syn_scan_sums {
    double weight[5], square[5], value[3];
} syn_scan_sums;

SYN_EVERYWHERE void syn_scan_add(syn_scan_sums *s, double weight, double d, double x)
{
    double first = weight, second = weight * weight;
    for (int i = 0; i < 5; i++) {
        s->weight[i] += first;
        s->square[i] += second;
        if (i < 3)
            s->value[i] += first * x;
        first *= d;
        second *= d;
    }
}

/* Coefficients of `value` that give the fit at d = 0: a polynomial of this order, 1 or 2,
   or the mean where bins do not determine it. 0 where there are no bins at all. */
SYN_EVERYWHERE int syn_scan_solve(const syn_scan_sums *s, int order, double c[3])
{
    const double *m = s->weight;
    c[0] = c[1] = c[2] = 0;
    if (m[0] < 1e-9)
        return 0;
    double minor[3] = {m[2], -m[1], 0}, least = 1e-6 * m[0] * m[2];
    if (order == 2) {
        minor[0] = m[2] * m[4] - m[3] * m[3];
        minor[1] = m[2] * m[3] - m[1] * m[4];
        minor[2] = m[1] * m[3] - m[2] * m[2];
        least = 1e-9 * m[0] * m[2] * m[4];
    }
    double determinant = m[0] * minor[0] + m[1] * minor[1] + m[2] * minor[2];
    if (determinant <= least) {
        c[0] = 1 / m[0];
        return 1;
    }
    for (int i = 0; i < 3; i++)
        c[i] = minor[i] / determinant;
    return 1;
}

/* Sum of the squares of the coefficients q = weight * (c0 + c1 d + c2 d^2). */
SYN_EVERYWHERE double syn_scan_squares(const syn_scan_sums *s, const double c[3])
{
    const double *m = s->square;
    return c[0] * c[0] * m[0] + 2 * c[0] * c[1] * m[1] +
           (2 * c[0] * c[2] + c[1] * c[1]) * m[2] + 2 * c[1] * c[2] * m[3] +
           c[2] * c[2] * m[4];
}

/* ---- windows ---- */

/* Baselines of one window, hollow and folded: whether they are there, `expected` and
   `noise`. */
typedef struct syn_scan_window {
    int there[2];
    double expected[2], noise[2];
} syn_scan_window;

SYN_EVERYWHERE int syn_scan_masked(const syn_scan_mask *mask, int side, uint32_t t)
{
    return t >= mask->from[side] && t < mask->to[side];
}

/* Fits the hollow (0) or the folded (1) baseline of window `w` of a side to bins that are
   not masked. */
SYN_EVERYWHERE void syn_scan_fit_kind(const syn_scan_tables *s, const double *const x[2],
                                      const syn_scan_mask *mask, int side, uint32_t w,
                                      int kind, syn_scan_window *out)
{
    syn_scan_sums sums = {{0}, {0}, {0}};
    int32_t lo = (int32_t)w + 1, end = lo + (int32_t)s->width, guard = (int32_t)s->guard;
    int32_t middle = lo + end - 1;  /* in half bins */
    const double *own = x[side], *other = x[1 - side], *weight = s->weight[kind];
    /* The bins that have a weight; on the other side they are no nearer. */
    int32_t halves = (int32_t)s->halves[kind], first = (middle - halves) / 2 + 1;
    int32_t last = (middle + halves - 1) / 2;
    last = last < (int32_t)s->lags ? last : (int32_t)s->lags;
    for (int32_t t = first > 1 ? first : 1; t <= last; t++) {
        int32_t here = 2 * t - middle, there = kind == 0 ? -2 * t - middle : here;
        int32_t near = here < 0 ? -here : here, far = there < 0 ? -there : there;
        int near_it = t >= lo - guard && t < end + guard;
        if (!near_it && !syn_scan_masked(mask, side, (uint32_t)t))
            syn_scan_add(&sums, weight[near], 0.5 * here, own[t]);
        if (far < halves && !syn_scan_masked(mask, 1 - side, (uint32_t)t))
            syn_scan_add(&sums, weight[far], 0.5 * there, other[t]);
    }
    double width = s->width, c[3];
    out->there[kind] = syn_scan_solve(&sums, 2 - kind, c);
    out->noise[kind] = width * syn_scan_squares(&sums, c);
    out->expected[kind] = 0;
    for (int i = 0; i < 3; i++)
        out->expected[kind] += width * c[i] * sums.value[i];
}

SYN_EVERYWHERE syn_scan_window syn_scan_fit(const syn_scan_tables *s,
                                            const double *const x[2],
                                            const syn_scan_mask *mask, int side,
                                            uint32_t w)
{
    syn_scan_window out;
    syn_scan_fit_kind(s, x, mask, side, w, 0, &out);
    syn_scan_fit_kind(s, x, mask, side, w, 1, &out);
    return out;
}

/* The same without masks, from the tables and the sums of coefficients times counts. */
SYN_EVERYWHERE syn_scan_window syn_scan_read(const syn_scan_tables *s, double hollow,
                                             double folded, uint32_t w)
{
    syn_scan_window out = {{s->noise[0][w] > 0, s->noise[1][w] > 0},
                           {s->width * hollow, s->width * folded},
                           {s->noise[0][w], s->noise[1][w]}};
    return out;
}

/* Of two windows of a side and sign the better one; of two equal ones the first. */
SYN_EVERYWHERE void syn_scan_keep(syn_scan_best *best, const syn_scan_best *one)
{
    if (one->z > best->z || (one->z == best->z && one->lo < best->lo))
        *best = *one;
}

/* No window yet. */
SYN_EVERYWHERE void syn_scan_none(syn_scan_best best[2])
{
    const syn_scan_best none = {-INFINITY, 0, 0, 0, UINT32_MAX};
    best[0] = best[1] = none;
}

/* Keeps a window with these baselines where it says more: of each sign the baseline that
   says less decides, of equal ones the hollow. */
SYN_EVERYWHERE void syn_scan_judge(const syn_scan_window *fit, double count, uint32_t w,
                                   syn_scan_best best[2])
{
    double z[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        if (fit->there[i])
            z[i] = syn_scan_root(count, fit->expected[i], fit->noise[i]);
    int more = fit->there[1] && z[1] < z[0], fewer = fit->there[1] && z[1] > z[0];
    for (int sign = 0; sign < 2; sign++) {
        int i = sign ? fewer : more;
        double says = sign ? -z[i] : z[i];
        if (says < best[sign].z)
            continue;
        syn_scan_best one = {says, count, fit->expected[i], fit->noise[i], w + 1};
        syn_scan_keep(best + sign, &one);
    }
}

/* How much `beside`, the difference of a window at long lags from its slow part, is
   beyond that of Poisson counts: 1 on average of these. */
SYN_EVERYWHERE double syn_scan_beside(const syn_scan_tables *s, uint32_t k, double count,
                                      double beside)
{
    double slow = count - beside, least = 1e-3 * s->width;
    return beside * beside / ((slow > least ? slow : least) * s->rest_norm[k]);
}

SYN_EVERYWHERE double syn_scan_count(const syn_scan_tables *s, const double *x,
                                     uint32_t w)
{
    double count = 0;
    for (uint32_t k = 1; k <= s->width; k++)
        count += x[w + k];
    return count;
}

/* ---- pairs ---- */

/* Finds the best windows of a side, by sign; `mask` is NULL where nothing is masked. A
   device shares the windows of a side among lanes, each of which gets the best ones. */
typedef void syn_scan_side(const void *context, const syn_scan_mask *mask, int side,
                           syn_scan_best best[2]);

/* The stronger sign of a side. */
SYN_EVERYWHERE const syn_scan_best *syn_scan_stronger(const syn_scan_pair *p, int side)
{
    return p->best[side] + !(p->best[side][0].z > p->best[side][1].z);
}

/* Masks the strongest window of a side, and tests the other sign of this side again. */
SYN_EVERYWHERE void syn_scan_hide(const syn_scan_tables *s, syn_scan_side *scan,
                                  const void *context, int side, syn_scan_mask *mask,
                                  syn_scan_pair *p)
{
    const syn_scan_best *strong = syn_scan_stronger(p, side);
    int other = strong == p->best[side];
    mask->from[side] = strong->lo > s->pad ? strong->lo - s->pad : 1;
    mask->to[side] = strong->lo + s->width + s->pad;
    syn_scan_best best[2];
    scan(context, mask, side, best);
    p->best[side][other] = best[other];
}

/* What follows from the best windows without masks: masks those that are strong, and
   tests again what they may have disturbed. Where both sides are equally strong, neither
   is first: each is masked for the tests of the other. */
SYN_EVERYWHERE void syn_scan_hide_strong(const syn_scan_tables *s, syn_scan_side *scan,
                                         const void *context, syn_scan_pair *p)
{
    double strength[2] = {syn_scan_stronger(p, 0)->z, syn_scan_stronger(p, 1)->z};
    int side = strength[0] >= strength[1] ? 0 : 1;
    if (!(s->mask > 0) || strength[side] < s->mask)
        return;
    syn_scan_pair before = *p;
    syn_scan_mask mask = {{0, 0}, {0, 0}};
    syn_scan_hide(s, scan, context, side, &mask, p);
    scan(context, &mask, 1 - side, p->best[1 - side]);
    if (strength[0] == strength[1]) {
        syn_scan_mask other = {{0, 0}, {0, 0}};
        syn_scan_hide(s, scan, context, 1 - side, &other, &before);
        scan(context, &other, side, p->best[side]);
    } else if (syn_scan_stronger(p, 1 - side)->z >= s->mask) {
        syn_scan_hide(s, scan, context, 1 - side, &mask, p);
    }
}

#endif
