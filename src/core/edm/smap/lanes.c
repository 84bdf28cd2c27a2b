/* Normal equations, scaled so that their diagonal is 1, are solved through the inverse of
   their Cholesky triangle. The sum of its squares times the number of unknowns is at
   least the condition of the equations, so that the error is known for certain.

   As many predictions are solved as a register has lanes: each number here is one of each
   of them. Predictions that have no model, or not a precise one, lose their lane, and
   what is computed there no longer matters. */

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/edm/smap/model.h"

enum { STEPS_EACH = 8 };  /* for an eigenvalue, more than are ever needed */

#define MOST_ERROR 1e-9       /* of a model, */
#define MOST_FOR_VALUES 1e6   /* condition of equations whose eigenvalues will do */
#define LEAST_TURNED 1e-14    /* square of a pivot that turned equations make good */

typedef struct lanes {
    uint32_t n;              /* unknowns, */
    uint32_t terms;          /* and the target, if there is one */
    const double *centre;
    syn_f64 *sum;            /* [products] of all terms, ridge included */
    syn_f64 *scale;          /* [n] */
    syn_f64 *lower;          /* [n][n] the triangle of the scaled equations, */
    syn_f64 *inverse;        /* [n][n] its inverse, */
    syn_f64 *equations;      /* [n][n] and those of coordinates as they are */
    syn_f64 *vector, *other; /* [n] */
    syn_f64 *singular;       /* [n] */
    syn_f64 trace;           /* of `equations` */
    syn_i64 good;            /* lanes whose model is precise so far */
} lanes;

SYN_INLINE syn_f64 either(syn_i64 mask, syn_f64 where, syn_f64 elsewhere)
{
    return (syn_f64)(((syn_i64)where & mask) | ((syn_i64)elsewhere & ~mask));
}

#if SYN_WIDTH == 0
size_t syn_smap_lanes_room(uint32_t unknowns)
{
    size_t n = unknowns;
    return SYN_SMAP_LANES * ((n + 1) * (n + 2) / 2 + 3 * n * n + 4 * n + 1);
}
#endif

/* The place of the sum of products of terms j and k, j <= k. */
static inline size_t at(const lanes *a, uint32_t j, uint32_t k)
{
    return (size_t)j * a->terms - (size_t)j * (j + 1) / 2 + k;
}

/* Takes the sums of up to as many predictions as there are lanes, from `first` on; lanes
   beyond the last repeat the first. */
static lanes take_sums(const syn_smap_equations *e, uint32_t first, uint32_t terms)
{
    size_t n = e->unknowns, products = (size_t)terms * (terms + 1) / 2;
    uintptr_t aligned = ((uintptr_t)e->room + SYN_REGISTER - 1) / SYN_REGISTER;
    aligned *= SYN_REGISTER;
    lanes a = {.n = e->unknowns, .terms = terms, .centre = e->centre,
               .sum = (syn_f64 *)aligned, .good = ~(syn_i64){0}};
    a.scale = a.sum + products;
    a.lower = a.scale + n;
    a.inverse = a.lower + n * n;
    a.equations = a.inverse + n * n;
    a.vector = a.equations + n * n;
    a.other = a.vector + n;
    a.singular = a.other + n;
    for (size_t c = 0; c < products; c++) {
        double each[SYN_F64_LANES];
        for (uint32_t l = 0; l < SYN_F64_LANES; l++)
            each[l] = e->sum[(first + l < e->rows ? first + l : first) * e->stride + c];
        a.sum[c] = syn_f64_load(each);
    }
    for (uint32_t k = 1; k < n; k++)
        a.sum[at(&a, k, k)] += syn_f64_all(e->ridge) * a.sum[0];
    return a;
}

/* ---- models ---- */

static void scale_terms(lanes *a)
{
    for (uint32_t j = 0; j < a->n; j++) {
        syn_f64 square = a->sum[at(a, j, j)];
        a->good &= (square > 1e-290) & (square < 1e290);
        a->scale[j] = syn_f64_all(1) / syn_f64_sqrt(square);
    }
}

/* The lower triangle, with the inverse of its diagonal in place of that. */
static void factorise(lanes *a, syn_f64 least)
{
    size_t n = a->n;
    for (uint32_t i = 0; i < n; i++) {
        syn_f64 *row = a->lower + i * n;
        for (uint32_t j = 0; j <= i; j++) {
            const syn_f64 *other = a->lower + j * n;
            syn_f64 rest = a->sum[at(a, j, i)] * a->scale[j] * a->scale[i];
            for (uint32_t k = 0; k < j; k++)
                rest = syn_f64_fused(-row[k], other[k], rest);
            if (j < i)
                row[j] = rest * other[j];
            else {
                a->good &= rest > least;
                row[i] = syn_f64_all(1) / syn_f64_sqrt(syn_f64_max(rest, least));
            }
        }
    }
}

static void invert(lanes *a)
{
    size_t n = a->n;
    for (uint32_t i = 0; i < n; i++) {
        const syn_f64 *row = a->lower + i * n;
        for (uint32_t j = 0; j < i; j++) {
            syn_f64 sum = syn_f64_all(0);
            for (uint32_t k = j; k < i; k++)
                sum = syn_f64_fused(row[k], a->inverse[k * n + j], sum);
            a->inverse[i * n + j] = -sum * row[i];
        }
        a->inverse[i * n + i] = row[i];
    }
}

/* Scales the equations and inverts their triangle, where they do not nearly depend on
   each other. */
static void prepare(lanes *a, double least)
{
    scale_terms(a);
    factorise(a, syn_f64_all(least));
    invert(a);
}

/* The scaled solution of the equations with this right side; returns the square of its
   length. */
static syn_f64 solve(const lanes *a, const syn_f64 *right, syn_f64 *model)
{
    size_t n = a->n;
    syn_f64 square = syn_f64_all(0);
    for (uint32_t j = 0; j < n; j++)
        model[j] = syn_f64_all(0);
    for (uint32_t i = 0; i < n; i++) {
        const syn_f64 *row = a->inverse + i * n;
        syn_f64 along = syn_f64_all(0);
        for (uint32_t j = 0; j <= i; j++)
            along = syn_f64_fused(row[j] * a->scale[j], right[j], along);
        for (uint32_t j = 0; j <= i; j++)
            model[j] = syn_f64_fused(along, row[j], model[j]);
    }
    for (uint32_t j = 0; j < n; j++)
        square = syn_f64_fused(model[j], model[j], square);
    return square;
}

/* The sum of squares of the inverse triangle. */
static syn_f64 norm_of(const lanes *a)
{
    syn_f64 norm = syn_f64_all(0);
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            syn_f64 one = a->inverse[(size_t)i * a->n + j];
            norm = syn_f64_fused(one, one, norm);
        }
    return norm;
}

/* The scaled model, in `vector`, as long as it is precise: by the error of the equations,
   and that of their right side, which is as large as the targets are. */
static void solve_target(lanes *a)
{
    for (uint32_t j = 0; j < a->n; j++)
        a->other[j] = a->sum[at(a, j, a->n)];
    syn_f64 square = solve(a, a->other, a->vector), targets = a->sum[at(a, a->n, a->n)];
    syn_f64 share = syn_f64_where(targets > 0, syn_f64_sqrt(targets / square));
    syn_f64 error = DBL_EPSILON * (double)a->n * norm_of(a) * (1.0 + share);
    a->good &= error < MOST_ERROR;
}

/* Coefficients of coordinates as they are, in `vector`. */
static void put_back(lanes *a)
{
    syn_f64 first = syn_f64_all(a->centre[a->n]) + a->vector[0] * a->scale[0];
    for (uint32_t k = 1; k < a->n; k++) {
        a->vector[k] *= a->scale[k];
        first = syn_f64_fused(-a->vector[k], syn_f64_all(a->centre[k]), first);
    }
    a->vector[0] = first;
}

/* ---- the equations of coordinates as they are ---- */

static void make_equations(lanes *a)
{
    size_t n = a->n;
    const double *c = a->centre;
    syn_f64 all = a->sum[0];
    a->trace = syn_f64_all(0);
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t k = j; k < n; k++) {
            syn_f64 value = a->sum[at(a, j, k)];
            if (j > 0)
                value += c[j] * a->sum[at(a, 0, k)] + c[k] * a->sum[at(a, 0, j)] +
                         c[j] * c[k] * all;
            else if (k > 0)
                value += c[k] * all;
            a->equations[j * n + k] = a->equations[k * n + j] = value;
        }
        a->trace += a->equations[j * n + j];
    }
}

/* Their condition, or more: the sum of squares of the inverse triangle times that of the
   rows. */
static syn_f64 condition_of(const lanes *a)
{
    syn_f64 norm = syn_f64_all(0);
    for (uint32_t i = 0; i < a->n; i++) {
        const syn_f64 *row = a->inverse + (size_t)i * a->n;
        syn_f64 first = a->scale[0] * row[0];
        for (uint32_t k = 1; k <= i; k++) {
            syn_f64 slope = a->scale[k] * row[k];
            first = syn_f64_fused(syn_f64_all(-a->centre[k]), slope, first);
            norm = syn_f64_fused(slope, slope, norm);
        }
        norm = syn_f64_fused(first, first, norm);
    }
    return norm * a->trace;
}

/* ---- eigenvalues ---- */

/* Reflects the matrix from row and column `k` + 1 on, so that nothing is left of column
   `k` below them; the element that stays there. */
static syn_f64 reflect(lanes *a, uint32_t k)
{
    size_t n = a->n;
    syn_f64 *matrix = a->equations, *v = a->vector, *w = a->other;
    syn_f64 square = syn_f64_all(0), along = square;
    for (uint32_t i = k + 1; i < n; i++) {
        v[i] = matrix[k * n + i];
        square = syn_f64_fused(v[i], v[i], square);
    }
    syn_i64 some = square > DBL_MIN;
    syn_f64 size = syn_f64_sqrt(square);
    syn_f64 root = either(v[k + 1] > 0, -size, size);
    v[k + 1] -= root;
    /* Two over the square of v. */
    syn_f64 by = syn_f64_where(some, syn_f64_all(-1) / (root * v[k + 1]));
    for (uint32_t i = k + 1; i < n; i++)
        w[i] = syn_f64_all(0);
    for (uint32_t i = k + 1; i < n; i++) {
        syn_f64 scaled = by * v[i];
        for (uint32_t j = k + 1; j < n; j++)
            w[j] = syn_f64_fused(scaled, matrix[i * n + j], w[j]);
    }
    for (uint32_t i = k + 1; i < n; i++)
        along = syn_f64_fused(v[i], w[i], along);
    for (uint32_t i = k + 1; i < n; i++)
        w[i] = syn_f64_fused(-0.5 * by * along, v[i], w[i]);
    for (uint32_t i = k + 1; i < n; i++)
        for (uint32_t j = k + 1; j < n; j++)
            matrix[i * n + j] = syn_f64_fused(
                -v[i], w[j], syn_f64_fused(-w[i], v[j], matrix[i * n + j]));
    return syn_f64_where(some, root);
}

/* The rows on which a step works, of each lane, as numbers. */
typedef struct window {
    syn_f64 low, high;       /* high 0 where all eigenvalues are found */
    uint32_t first, last;    /* of all lanes */
} window;

/* The last rows that are not yet apart from each other. */
static window find_window(const syn_f64 *diagonal, const syn_f64 *beside, uint32_t n)
{
    const syn_i64 magnitude = (syn_i64){0} + INT64_MAX;
    syn_i64 begun = {0}, done = {0};
    window w = {{0}, {0}, n, 0};
    for (uint32_t k = n - 1; k-- > 0;) {
        syn_f64 size = syn_f64_where(magnitude, diagonal[k]) +
                       syn_f64_where(magnitude, diagonal[k + 1]);
        syn_i64 apart = syn_f64_where(magnitude, beside[k]) <= DBL_EPSILON * size;
        syn_i64 start = ~apart & ~begun, on = ~apart & ~done;
        w.high += syn_f64_where(start, syn_f64_all(k + 1.0));
        w.low = either(on, syn_f64_all(k), w.low);
        done |= apart & begun;
        begun |= start;
    }
    for (int l = 0; l < SYN_F64_LANES; l++) {
        w.first = w.high[l] > 0 && w.low[l] < w.first ? (uint32_t)w.low[l] : w.first;
        w.last = w.high[l] > w.last ? (uint32_t)w.high[l] : w.last;
    }
    return w;
}

/* Wilkinson's shift. */
static syn_f64 find_shift(const syn_f64 *diagonal, const syn_f64 *beside,
                          const window *window)
{
    double before[SYN_F64_LANES], end[SYN_F64_LANES], amid[SYN_F64_LANES];
    for (int l = 0; l < SYN_F64_LANES; l++) {
        uint32_t high = window->high[l] > 0 ? (uint32_t)window->high[l] : 1;
        before[l] = diagonal[high - 1][l];
        end[l] = diagonal[high][l];
        amid[l] = beside[high - 1][l];
    }
    syn_f64 a = syn_f64_load(before), b = syn_f64_load(end), last = syn_f64_load(amid);
    syn_f64 half = 0.5 * (a - b), root = syn_f64_sqrt(half * half + last * last);
    syn_f64 below = half + either(half < 0, -root, root);
    return b - syn_f64_where(below != 0, last * last / below);
}

/* One step of the QR method in the window of each lane. */
static void turn_window(syn_f64 *diagonal, syn_f64 *beside, const window *window)
{
    syn_f64 shift = find_shift(diagonal, beside, window), x = {0}, z = {0};
    for (uint32_t k = window->first; k < window->last; k++) {
        syn_i64 first = window->low == k, in = (window->low <= k) & (window->high > k);
        x = either(first, diagonal[k] - shift, x);
        z = either(first, beside[k], z);
        syn_f64 r = syn_f64_sqrt(x * x + z * z), per = syn_f64_all(1) / r;
        syn_i64 turned = in & (r > 0);
        syn_f64 s = syn_f64_where(turned, z * per);
        syn_f64 c = either(turned, x * per, syn_f64_all(1));
        syn_f64 a = diagonal[k], b = diagonal[k + 1], t = beside[k];
        syn_f64 both = 2 * c * s * t, cc = c * c, ss = s * s;
        syn_i64 after = in & ~first, before = in & (window->high > k + 1.0);
        if (k > 0)
            beside[k - 1] = either(after, r, beside[k - 1]);
        diagonal[k] = cc * a + both + ss * b;
        diagonal[k + 1] = ss * a - both + cc * b;
        beside[k] = c * s * (b - a) + (cc - ss) * t;
        x = beside[k];
        z = s * beside[k + 1];
        beside[k + 1] = either(before, c * beside[k + 1], beside[k + 1]);
    }
}

/* Singular values of the rows. */
static void find_singular(lanes *a)
{
    size_t n = a->n;
    syn_f64 *diagonal = a->singular, *beside = a->inverse;
    syn_f64 per = syn_f64_all(1) / a->trace;
    for (size_t i = 0; i < n * n; i++)
        a->equations[i] *= per;
    for (uint32_t k = 0; k < n; k++) {
        beside[k] = syn_f64_all(0);
        if (k + 2 < n)
            beside[k] = reflect(a, k);
        else if (k + 1 < n)
            beside[k] = a->equations[k * n + k + 1];
        /* A lane that is lost must not keep the others waiting. */
        beside[k] = syn_f64_where(a->good, beside[k]);
        diagonal[k] = syn_f64_where(a->good, a->equations[k * n + k]);
    }
    window w = find_window(diagonal, beside, a->n);
    for (uint32_t step = 0; w.last > 0 && step < STEPS_EACH * n; step++) {
        turn_window(diagonal, beside, &w);
        w = find_window(diagonal, beside, a->n);
    }
    a->good &= w.high == 0;
    for (uint32_t k = 0; k < n; k++)
        diagonal[k] = syn_f64_sqrt(diagonal[k] * a->trace);
}

/* The same of one lane, more slowly but whatever the condition, from the triangle of the
   rows with coordinates as they are. */
static void by_triangle(const lanes *a, uint32_t lane, double *singular)
{
    size_t n = a->n;
    double *row = (double *)a->equations, first = 0;
    for (uint32_t i = 0; i < n; i++, row += n + 1) {
        memset(row, 0, (n + 1) * sizeof *row);
        for (uint32_t k = i; k < n; k++) {
            double lower = a->lower[k * n + i][lane];
            row[k] = (k == i ? 1 / lower : lower) / a->scale[k][lane];
            first = i + k == 0 ? row[0] : first;
            row[k] += i == 0 ? a->centre[k] * first : 0;
        }
    }
    syn_smap_singular((double *)a->equations, a->n, 1, singular);
}

/* ---- all of it ---- */

static void put_lanes(const syn_f64 *from, uint32_t n, uint32_t rows, double *to)
{
    for (uint32_t l = 0; l < rows; l++)
        for (uint32_t k = 0; k < n; k++)
            to[(size_t)l * n + k] = from[k][l];
}

/* How many of the predictions from `first` on have a lane. */
static uint32_t lanes_of(const syn_smap_equations *e, uint32_t first)
{
    return e->rows - first < SYN_F64_LANES ? e->rows - first : SYN_F64_LANES;
}

/* The bits of the predictions whose lanes are good. */
static uint32_t bits_of(const lanes *a, uint32_t first, uint32_t n)
{
    uint32_t bits = 0;
    for (uint32_t l = 0; l < n; l++)
        bits |= (uint32_t)(a->good[l] & 1) << (first + l);
    return bits;
}

static uint32_t solve_models(const syn_smap_equations *e, double *fit, double *singular)
{
    uint32_t bits = 0, unknowns = e->unknowns;
    for (uint32_t r = 0; r < e->rows; r += SYN_F64_LANES) {
        uint32_t n = lanes_of(e, r);
        double *to = singular + (size_t)r * unknowns;
        lanes a = take_sums(e, r, unknowns + 1);
        prepare(&a, DBL_EPSILON / MOST_ERROR);
        solve_target(&a);
        put_back(&a);
        put_lanes(a.vector, unknowns, n, fit + (size_t)r * unknowns);
        make_equations(&a);
        syn_f64 condition = condition_of(&a);
        a.good &= condition < SYN_SMAP_MOST_CONDITION;
        bits |= bits_of(&a, r, n);
        if (!singular)
            continue;
        a.good &= condition < MOST_FOR_VALUES;
        find_singular(&a);
        put_lanes(a.singular, unknowns, n, to);
        for (uint32_t l = 0; l < n; l++)
            if ((bits >> (r + l) & 1) && !a.good[l])
                by_triangle(&a, l, to + (size_t)l * unknowns);
    }
    return bits;
}

static uint32_t solve_hats(const syn_smap_equations *e, const syn_smap_hat *hat)
{
    uint32_t bits = 0, unknowns = e->unknowns;
    for (uint32_t r = 0; r < e->rows; r += SYN_F64_LANES) {
        uint32_t n = lanes_of(e, r);
        lanes a = take_sums(e, r, unknowns);
        prepare(&a, DBL_EPSILON / MOST_ERROR);
        syn_f64 *slope = a.equations, *value = slope + unknowns, size = {0};
        for (uint32_t j = 0; j < unknowns; j++)
            a.other[j] = syn_f64_all(j == 1 ? hat->size : 0);
        size = solve(&a, a.other, slope);
        for (uint32_t l = 0; l < SYN_F64_LANES; l++)
            for (uint32_t j = 0; j < unknowns; j++)
                a.other[j][l] = j == 0 ? 1 : hat->from[r + (l < n ? l : 0)][j - 1];
        size = syn_f64_max(size, solve(&a, a.other, value));
        syn_f64 error = DBL_EPSILON * (double)unknowns * norm_of(&a);
        a.good &= error * syn_f64_sqrt(size * a.sum[0]) < SYN_SMAP_MOST_HAT_ERROR;
        for (uint32_t j = 0; j < unknowns; j++) {
            value[j] *= a.scale[j];
            slope[j] *= a.scale[j] / syn_f64_all(hat->size);
        }
        put_lanes(value, unknowns, n, hat->value + (size_t)r * unknowns);
        put_lanes(slope, unknowns, n, hat->slope + (size_t)r * unknowns);
        make_equations(&a);
        a.good &= condition_of(&a) < SYN_SMAP_MOST_CONDITION;
        bits |= bits_of(&a, r, n);
    }
    return bits;
}

static int turn_one(const syn_smap_equations *e, syn_smap_turned *to)
{
    lanes a = take_sums(e, 0, e->unknowns);
    size_t n = a.n;
    prepare(&a, LEAST_TURNED);
    make_equations(&a);
    a.good &= condition_of(&a) < SYN_SMAP_MOST_CONDITION;
    to->norm = norm_of(&a)[0];
    for (size_t i = 0; i < n; i++) {
        to->scale[i] = a.scale[i][0];
        for (size_t j = 0; j < n; j++)
            to->inverse[i * n + j] = j > i ? 0 : a.inverse[i * n + j][0] * a.scale[j][0];
    }
    return a.good[0] != 0;
}

SYN_KIND_TABLE(syn_smap_lanes, syn_smap_lanes) = {solve_models, solve_hats, turn_one};
