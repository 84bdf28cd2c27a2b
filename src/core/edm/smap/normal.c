/* Normal equations, scaled so that their diagonal is 1, are solved through the inverse of
   their Cholesky triangle. The sum of its squares times the number of unknowns is at
   least the condition of the equations, so that the error is known for certain. Singular
   values are those of the triangle. */
#include "core/edm/smap/normal.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/edm/smap/model.h"

static const double most_hat_error = 1e-8;  /* of what any targets make of a model */
static const double least_pivot = DBL_EPSILON / SYN_SMAP_MOST_ERROR;
static const double least_turned = 1e-14;   /* that turned equations make good */

typedef struct normal {
    uint32_t n;             /* unknowns */
    uint32_t terms;         /* and the target, if there is one */
    const double *sum, *centre;
    double hold;            /* what the ridge adds to the squares of slopes */
    double *scale;          /* [n] */
    double *lower;          /* [n][n] the triangle of the scaled equations */
    double *inverse;        /* [n][n] and its inverse */
    double *equations;      /* [n][n + 1] those of coordinates as they are */
    double *vector, *other; /* [n] */
    double trace;           /* of `equations` */
} normal;

size_t syn_smap_normal_room(uint32_t unknowns)
{
    return (size_t)unknowns * (3 * (size_t)unknowns + 4);
}

static normal cut_room(const syn_smap_equations *e, uint32_t terms)
{
    size_t n = e->unknowns;
    normal a = {.n = e->unknowns, .terms = terms, .sum = e->sum, .centre = e->centre,
                .hold = e->ridge * e->sum[0], .scale = e->room};
    a.lower = a.scale + n;
    a.inverse = a.lower + n * n;
    a.equations = a.inverse + n * n;
    a.vector = a.equations + n * (n + 1);
    a.other = a.vector + n;
    return a;
}

/* The sum of products of terms j and k, j <= k. */
static double sum_of(const normal *a, uint32_t j, uint32_t k)
{
    size_t terms = a->terms;
    return a->sum[j * terms - (size_t)j * (j + 1) / 2 + k] +
           (j == k && j > 0 && j < a->n ? a->hold : 0);
}

/* ---- the model ---- */

static int scale_terms(const normal *a)
{
    for (uint32_t j = 0; j < a->n; j++) {
        double square = sum_of(a, j, j);
        if (!(square > 1e-290 && square < 1e290))
            return 0;
        a->scale[j] = 1 / sqrt(square);
    }
    return 1;
}

/* The Cholesky triangle of a matrix, row by row in its lower half; 0 where the square of
   an element of its diagonal is not between `least` and `most`. */
static int factorise(double *matrix, size_t n, double least, double most)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *other = matrix + j * n;
            double *row = matrix + i * n, rest = row[j];
            for (size_t k = 0; k < j; k++)
                rest -= row[k] * other[k];
            if (j < i)
                row[j] = rest / other[j];
            else if (rest > least && rest < most)
                row[i] = sqrt(rest);
            else
                return 0;
        }
    return 1;
}

static void invert(const normal *a)
{
    size_t n = a->n;
    for (uint32_t i = 0; i < n; i++) {
        const double *row = a->lower + i * n;
        double *to = a->inverse + i * n;
        memset(to, 0, n * sizeof *to);
        for (uint32_t k = 0; k < i; k++)
            for (uint32_t j = 0; j <= k; j++)
                to[j] -= row[k] * a->inverse[k * n + j];
        for (uint32_t j = 0; j < i; j++)
            to[j] /= row[i];
        to[i] = 1 / row[i];
    }
}

/* Scales the equations and inverts their triangle; 0 where they nearly depend on each
   other. */
static int prepare(const normal *a, double least)
{
    size_t n = a->n;
    if (!scale_terms(a))
        return 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++)
            a->lower[i * n + j] = sum_of(a, j, i) * a->scale[j] * a->scale[i];
    if (!factorise(a->lower, n, least, INFINITY))
        return 0;
    invert(a);
    return 1;
}

/* The scaled solution of the equations with this right side; returns the square of its
   length. */
static double solve(const normal *a, const double *right, double *model)
{
    size_t n = a->n;
    memset(model, 0, n * sizeof *model);
    for (uint32_t i = 0; i < n; i++) {
        const double *row = a->inverse + i * n;
        double along = 0;
        for (uint32_t j = 0; j <= i; j++)
            along += row[j] * a->scale[j] * right[j];
        for (uint32_t j = 0; j <= i; j++)
            model[j] += along * row[j];
    }
    double square = 0;
    for (uint32_t j = 0; j < n; j++)
        square += model[j] * model[j];
    return square;
}

/* The sum of squares of the inverse triangle. */
static double norm_of(const normal *a)
{
    double norm = 0;
    for (size_t i = 0; i < (size_t)a->n * a->n; i++)
        norm += a->inverse[i] * a->inverse[i];
    return norm;
}

/* The error of a scaled solution, as a share of it: a bound. */
static double error_of(const normal *a)
{
    return DBL_EPSILON * a->n * norm_of(a);
}

/* Whether the error of the scaled model is small enough: that of the equations, and that
   of their right side, which is as large as the targets are. */
static int precise(const normal *a, double square)
{
    double targets = sum_of(a, a->n, a->n);
    double share = targets > 0 ? sqrt(targets / square) : 0;
    return error_of(a) * (1 + share) < SYN_SMAP_MOST_ERROR;
}

/* Coefficients of coordinates as they are from those of scaled ones less their centre. */
static void put_back(const normal *a, const double *model, double *fit)
{
    fit[0] = a->centre[a->n] + model[0] * a->scale[0];
    for (uint32_t k = 1; k < a->n; k++) {
        fit[k] = model[k] * a->scale[k];
        fit[0] -= fit[k] * a->centre[k];
    }
}

/* ---- the equations of coordinates as they are ---- */

/* Their condition, or more: the sum of squares of the inverse triangle times that of the
   rows. */
static double condition_of(const normal *a)
{
    double norm = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        const double *row = a->inverse + (size_t)i * a->n;
        double first = a->scale[0] * row[0];
        for (uint32_t k = 1; k < a->n; k++) {
            double slope = a->scale[k] * row[k];
            first -= a->centre[k] * slope;
            norm += slope * slope;
        }
        norm += first * first;
    }
    return norm * a->trace;
}

static void make_equations(normal *a)
{
    size_t n = a->n;
    const double *c = a->centre;
    double all = sum_of(a, 0, 0);
    a->trace = 0;
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t k = j; k < n; k++) {
            double value = sum_of(a, j, k);
            if (j > 0)
                value += c[j] * sum_of(a, 0, k) + c[k] * sum_of(a, 0, j) +
                         c[j] * c[k] * all;
            else if (k > 0)
                value += c[k] * all;
            a->equations[j * n + k] = a->equations[k * n + j] = value;
        }
        a->trace += a->equations[j * n + j];
    }
}

/* ---- singular values ---- */

/* Singular values of the weighted rows, with coordinates as they are. */
static void by_triangle(const normal *a, double *singular)
{
    size_t n = a->n;
    double *row = a->equations, first = a->lower[0] / a->scale[0];
    for (uint32_t i = 0; i < n; i++, row += n + 1) {
        memset(row, 0, (n + 1) * sizeof *row);
        for (uint32_t k = i; k < n; k++)
            row[k] = a->lower[k * n + i] / a->scale[k] +
                     (i == 0 ? a->centre[k] * first : 0);
    }
    syn_smap_singular(a->equations, a->n, 1, singular);
}

int syn_smap_normal(const syn_smap_equations *e, double *fit, double *singular)
{
    normal a = cut_room(e, e->unknowns + 1);
    if (!prepare(&a, least_pivot))
        return 0;
    for (uint32_t j = 0; j < a.n; j++)
        a.other[j] = sum_of(&a, j, a.n);
    if (!precise(&a, solve(&a, a.other, a.vector)))
        return 0;
    put_back(&a, a.vector, fit);
    make_equations(&a);
    if (!(condition_of(&a) < SYN_SMAP_MOST_CONDITION))
        return 0;
    if (singular)
        by_triangle(&a, singular);
    return 1;
}

/* ---- whatever the targets are ---- */

/* The right side of the equations for the coefficient of the first coordinate, and for
   the prediction. */
static const double *right_side(const normal *a, const syn_smap_hat *hat, int prediction)
{
    memset(a->other, 0, a->n * sizeof *a->other);
    a->other[prediction ? 0 : 1] = prediction ? 1 : hat->size;
    if (prediction)
        memcpy(a->other + 1, hat->from, (a->n - 1) * sizeof *a->other);
    return a->other;
}

int syn_smap_normal_hat(const syn_smap_equations *e, const syn_smap_hat *hat)
{
    normal a = cut_room(e, e->unknowns);
    if (!prepare(&a, least_pivot))
        return 0;
    double error = solve(&a, right_side(&a, hat, 0), hat->slope);
    error = fmax(error, solve(&a, right_side(&a, hat, 1), hat->value));
    if (!(error_of(&a) * sqrt(error * e->sum[0]) < most_hat_error))
        return 0;
    make_equations(&a);
    for (uint32_t j = 0; j < a.n; j++) {
        hat->value[j] *= a.scale[j];
        hat->slope[j] *= a.scale[j] / hat->size;
    }
    return condition_of(&a) < SYN_SMAP_MOST_CONDITION;
}

/* ---- equations turned so that they are nearly those of the identity ---- */

int syn_smap_normal_turn(const syn_smap_equations *e, double *inverse)
{
    normal a = cut_room(e, e->unknowns);
    size_t n = a.n;
    if (!prepare(&a, least_turned))
        return 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            inverse[i * n + j] = a.inverse[i * n + j] * a.scale[j];
    return 1;
}

/* The solution for a right side, through the turned coordinates; returns the square of
   its scaled length. */
static double solve_turned(const normal *a, const double *inverse, const double *gram,
                           const double *right, double *to)
{
    size_t n = a->n;
    double *turned = a->vector, square = 0;
    for (size_t i = 0; i < n; i++) {
        turned[i] = 0;
        for (size_t j = 0; j <= i; j++)
            turned[i] += inverse[i * n + j] * right[j];
        for (size_t k = 0; k < i; k++)
            turned[i] -= gram[i * n + k] * turned[k];
        turned[i] /= gram[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            turned[i] -= gram[k * n + i] * turned[k];
        turned[i] /= gram[i * n + i];
    }
    for (size_t j = 0; j < n; j++) {
        to[j] = 0;
        for (size_t i = j; i < n; i++)
            to[j] += inverse[i * n + j] * turned[i];
        square += to[j] / a->scale[j] * (to[j] / a->scale[j]);
    }
    return square;
}

int syn_smap_normal_refine(const syn_smap_equations *e, const double *inverse,
                           double *gram, const syn_smap_hat *hat)
{
    normal a = cut_room(e, e->unknowns);
    size_t n = a.n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            for (size_t k = 1; k <= j; k++)
                gram[i * n + j] += a.hold * inverse[i * n + k] * inverse[j * n + k];
    /* It is to be near the identity. */
    if (!factorise(gram, n, 0.5, 2))
        return 0;
    double length = solve_turned(&a, inverse, gram, right_side(&a, hat, 0), hat->slope);
    length = fmax(length, solve_turned(&a, inverse, gram, right_side(&a, hat, 1),
                                       hat->value));
    double error = DBL_EPSILON * a.n * sqrt(norm_of(&a) * length * e->sum[0]);
    if (!(error < most_hat_error))
        return 0;
    make_equations(&a);
    for (size_t j = 0; j < n; j++)
        hat->slope[j] /= hat->size;
    return condition_of(&a) < SYN_SMAP_MOST_CONDITION;
}
