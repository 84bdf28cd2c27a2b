/* Reduces the weighted least squares problem of a prediction (fit.h) and solves the
   small one that is left by a singular value decomposition, which gives the shortest
   solution. Problems that rounding may have spoilt are solved again in a slower, exact
   way (exact.h). */
#include "core/edm/smap/model.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/edm/smap/exact.h"

enum { MOST_SWEEPS = 60 };

/* Turns row b of `length` against row a by one angle. */
static void rotate(double *a, double *b, uint32_t length, double c, double s)
{
    for (uint32_t i = 0; i < length; i++) {
        double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

/* Rotates rows a and b, `length` long, until the first `n` numbers of them are
   orthogonal; whether they were not. */
static int separate(double *a, double *b, uint32_t n, uint32_t length)
{
    double aa = 0, bb = 0, ab = 0;
    for (uint32_t i = 0; i < n; i++) {
        aa += a[i] * a[i];
        bb += b[i] * b[i];
        ab += a[i] * b[i];
    }
    if (fabs(ab) <= n * DBL_EPSILON * sqrt(aa) * sqrt(bb))
        return 0;
    double zeta = (bb - aa) / (2 * ab);
    double t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    double c = 1 / sqrt(1 + t * t);
    rotate(a, b, length, c, c * t);
    return 1;
}

/* Makes the rows of a triangle orthogonal (one-sided Jacobi): R | c, `length` long,
   becomes S V' | U' c, with the singular values S. */
static void diagonalise(double *triangle, uint32_t n, uint32_t length)
{
    int turned = 1;
    for (int sweep = 0; turned && sweep < MOST_SWEEPS; sweep++) {
        turned = 0;
        for (uint32_t p = 0; p + 1 < n; p++)
            for (uint32_t q = p + 1; q < n; q++)
                turned |= separate(triangle + p * length, triangle + q * length, n,
                                   length);
    }
}

/* The singular values, not sorted. */
static void find_singular(const double *triangle, uint32_t n, uint32_t length,
                          double *singular)
{
    for (uint32_t i = 0; i < n; i++) {
        double square = 0;
        for (uint32_t j = 0; j < n; j++)
            square += triangle[i * length + j] * triangle[i * length + j];
        singular[i] = sqrt(square);
    }
}

static double largest_of(const double *x, uint32_t n)
{
    double largest = 0;
    for (uint32_t i = 0; i < n; i++)
        largest = x[i] > largest ? x[i] : largest;
    return largest;
}

double syn_smap_cutoff(const double *singular, uint32_t n, uint32_t neighbours)
{
    return DBL_EPSILON * (neighbours > n ? neighbours : n) * largest_of(singular, n);
}

/* The shortest of the solutions, from rows that are orthogonal. */
static void solve(const double *triangle, const double *singular, uint32_t n,
                  uint32_t neighbours, double *fit)
{
    double cutoff = syn_smap_cutoff(singular, n, neighbours);
    memset(fit, 0, n * sizeof *fit);
    for (uint32_t i = 0; i < n; i++) {
        const double *row = triangle + i * (n + 1);
        if (singular[i] <= cutoff)
            continue;
        double along = row[n] / singular[i] / singular[i];
        for (uint32_t j = 0; j < n; j++)
            fit[j] += along * row[j];
    }
}

void syn_smap_singular(double *triangle, uint32_t n, uint32_t more, double *singular)
{
    diagonalise(triangle, n, n + more);
    find_singular(triangle, n, n + more, singular);
}

/* The square root of the weighted sum of squares that the model leaves. */
static double left_over(const syn_smap_near *near, const syn_smap_bench *b)
{
    double sum = 0;
    for (int part = 0; part < SYN_SMAP_PARTS; part++)
        for (uint32_t i = near->begin[part]; i < near->end[part]; i++) {
            double rest = near->target[i] - b->fit[0];
            for (uint32_t k = 0; k < near->dims; k++)
                rest -= b->fit[k + 1] * near->coordinate[k * near->stride + i];
            sum += b->space.weight[i] * rest * b->space.weight[i] * rest;
        }
    return sqrt(sum);
}

/* Whether rounding may have changed the model by more than 1e-8 of it: by the bound for
   least squares, DBL_EPSILON condition (1 + condition |left over| / (s1 |model|)); or
   which singular values count as 0. */
static int doubtful(const syn_smap_near *near, const syn_smap_bench *b)
{
    uint32_t n = near->dims + 1;
    double largest = largest_of(b->singular, n), least = largest, length = 0;
    double cutoff = syn_smap_cutoff(b->singular, n, near->n);
    for (uint32_t i = 0; i < n; i++) {
        double one = b->singular[i];
        if (one <= cutoff && one > cutoff / 16)
            return 1;
        least = one > cutoff && one < least ? one : least;
        length += b->fit[i] * b->fit[i];
    }
    if (least > 1e-4 * largest)
        return 0;
    double condition = largest / least;
    double rest = left_over(near, b) / (largest * sqrt(length));
    return !(DBL_EPSILON * condition * (1 + condition * rest) < 1e-8);
}

static void solve_triangle(const syn_smap_near *near, const syn_smap_bench *b)
{
    uint32_t n = near->dims + 1;
    syn_smap_singular(b->space.triangle, n, 1, b->singular);
    solve(b->space.triangle, b->singular, n, near->n, b->fit);
}

void syn_smap_fit(const syn_smap_kind *kind, const syn_smap_near *near, double rate,
                  double ridge, syn_smap_bench *b)
{
    kind->reduce(near, rate, ridge, &b->space);
    solve_triangle(near, b);
    if (!doubtful(near, b))
        return;
    syn_smap_exact(near, b->space.weight, ridge, b->exact, b->space.triangle);
    solve_triangle(near, b);
}
