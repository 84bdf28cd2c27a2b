/* Reduces the weighted least squares problem of a prediction (fit.h) and solves the
   small one that is left by a singular value decomposition, which gives the shortest
   solution. Problems that rounding may have spoilt are solved again in a slower, exact
   way. */
#include "core/edm/smap/model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Up to which singular values count as 0. */
static double cutoff_of(const double *singular, uint32_t n, uint32_t neighbours)
{
    return DBL_EPSILON * (neighbours > n ? neighbours : n) * largest_of(singular, n);
}

/* The shortest of the solutions, from rows that are orthogonal. */
static void solve(const double *triangle, const double *singular, uint32_t n,
                  uint32_t neighbours, double *fit)
{
    double cutoff = cutoff_of(singular, n, neighbours);
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
    /* Makes the rows of a triangle orthogonal (one-sided Jacobi): R | c, `length`
       long, becomes S V' | U' c, with the singular values S. */
    uint32_t length = n + more;
    int turned = 1;
    for (int sweep = 0; turned && sweep < MOST_SWEEPS; sweep++) {
        turned = 0;
        for (uint32_t p = 0; p + 1 < n; p++)
            for (uint32_t q = p + 1; q < n; q++)
                turned |= separate(triangle + p * length, triangle + q * length, n,
                                   length);
    }
    find_singular(triangle, n, n + more, singular);
}

/* ---- the exact way ----

   Where weights reach from 1 to 1e-10 and the nearest neighbours contradict each other,
   an error of one rounding in the heaviest rows is more than all that light rows say.
   Points that are the same become one, with the mean of their targets, so that they do
   not contradict each other; and weighted rows that are sorted keep errors within each
   of them. What light rows determine alone then comes out as precisely as what heavy
   rows do. */

/* A row before it is sorted. */
typedef struct heavy {
    double size;       /* its largest element */
    double weight, target;
    double n;          /* rows that it was made of */
    const syn_smap_near *near;  /* NULL for a row of the ridge */
    uint32_t at;       /* the point; of a ridge, the number of the slope */
} heavy;

/* Columns of the least squares problem, the target last. */
typedef struct columns {
    uint32_t unknowns;
    size_t rows, stride;
    heavy *row;          /* [stride] */
    double *value;       /* [unknowns + 1][stride] */
    double **column;     /* [unknowns + 1] into `value`, in the order they are taken; from
                            row k on, column k becomes the vector of its reflection */
    double *diagonal;    /* [unknowns] what the reflections leave there */
    uint32_t taken;      /* columns that are reflected */
    uint32_t *number;    /* [unknowns + 1] which coefficient that is */
    uint32_t *row_of;    /* [stride] the row that a point is in */
} columns;

size_t syn_smap_exact_room(size_t stride, uint32_t dims)
{
    size_t rows = stride + dims + 1, all = (size_t)dims + 2;
    return rows * (sizeof(heavy) + all * sizeof(double) + sizeof(uint32_t)) +
           all * (sizeof(double) + sizeof(double *) + sizeof(uint32_t));
}

static columns cut_room(const syn_smap_near *near, void *room)
{
    columns c = {.unknowns = near->dims + 1,
                 .stride = near->stride + near->dims + 1};
    size_t all = (size_t)c.unknowns + 1;
    c.value = room;
    c.diagonal = c.value + all * c.stride;
    c.row = (heavy *)(c.diagonal + all);
    c.column = (double **)(c.row + c.stride);
    c.number = (uint32_t *)(c.column + all);
    c.row_of = c.number + all;
    for (uint32_t j = 0; j < all; j++) {
        c.column[j] = c.value + j * c.stride;
        c.number[j] = j;
    }
    return c;
}

static void add_row(columns *c, heavy row)
{
    if (row.size > 0)
        c->row[c->rows++] = row;
}

/* The order of two points by their coordinates, 0 if these are the same. */
static int by_place(const heavy *x, const heavy *y)
{
    for (uint32_t k = 0; k < x->near->dims; k++) {
        const double *coordinate = x->near->coordinate + k * x->near->stride;
        if (coordinate[x->at] != coordinate[y->at])
            return coordinate[x->at] < coordinate[y->at] ? -1 : 1;
    }
    return 0;
}

static int heavier(const void *a, const void *b)
{
    const heavy *x = a, *y = b;
    int order = x->size > y->size ? -1 : x->size < y->size;
    if (order == 0)
        order = (x->near == NULL) - (y->near == NULL);
    if (order == 0 && x->near)
        order = by_place(x, y);
    return order != 0 ? order : x->at < y->at ? -1 : x->at > y->at;
}

static int same_point(const heavy *x, const heavy *y)
{
    return x->near && y->near && x->weight == y->weight && by_place(x, y) == 0;
}

/* Makes one row of sorted rows of the same point: the sum of
   w^2 (x b - y)^2 over n of them is, up to a constant, that of one row with weight
   w sqrt(n) and the mean y. */
static void merge_rows(columns *c)
{
    size_t kept = 0;
    for (size_t r = 0; r < c->rows;) {
        heavy row = c->row[r];
        double sum = 0;
        for (row.n = 0; r < c->rows && (row.n == 0 || same_point(&row, &c->row[r]));
             r++, row.n++) {
            sum += c->row[r].target;
            if (row.near)
                c->row_of[c->row[r].at] = (uint32_t)kept;
        }
        row.weight *= sqrt(row.n);
        row.target = sum / row.n;
        c->row[kept++] = row;
    }
    c->rows = kept;
}

static void fill_rows(columns *c)
{
    for (size_t r = 0; r < c->rows; r++) {
        const heavy *h = &c->row[r];
        const syn_smap_near *near = h->near;
        c->column[0][r] = near ? h->weight : 0;
        for (uint32_t k = 1; k < c->unknowns; k++) {
            double x = near ? near->coordinate[(k - 1) * near->stride + h->at]
                            : h->at == k;
            c->column[k][r] = h->weight * x;
        }
        c->column[c->unknowns][r] = h->weight * h->target;
    }
}

static double product(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Brings the column with the most from row `k` on to place `k`; the sum of squares that
   it has there. */
static double take_largest(columns *c, uint32_t k)
{
    uint32_t best = k;
    double most = -1;
    for (uint32_t j = k; j < c->unknowns; j++) {
        const double *x = c->column[j] + k;
        double square = product(x, x, c->rows - k);
        if (square > most) {
            most = square;
            best = j;
        }
    }
    double *column = c->column[best];
    uint32_t number = c->number[best];
    c->column[best] = c->column[k];
    c->number[best] = c->number[k];
    c->column[k] = column;
    c->number[k] = number;
    return most;
}

/* x + along v, with the length of v such that this reflects x. */
static void reflect_one(const double *v, double half, double *x, size_t n)
{
    double along = product(v, x, n) / half;
    for (size_t i = 0; i < n; i++)
        x[i] += along * v[i];
}

/* Minus half the square of the vector of reflection `k`. */
static double half_of(const columns *c, uint32_t k)
{
    return c->diagonal[k] * c->column[k][k];
}

/* Reflects all columns after `k` as takes column `k` to nothing below row `k`; 0 where
   nothing was there. */
static int reflect(columns *c, uint32_t k)
{
    double square = take_largest(c, k), *v = c->column[k] + k;
    if (!(square > 0))
        return 0;
    c->diagonal[k] = v[0] > 0 ? -sqrt(square) : sqrt(square);
    v[0] -= c->diagonal[k];
    for (uint32_t j = k + 1; j <= c->unknowns; j++)
        reflect_one(v, half_of(c, k), c->column[j] + k, c->rows - k);
    return 1;
}

static columns factorise(const syn_smap_near *near, const double *weight, double ridge,
                         void *room)
{
    columns c = cut_room(near, room);
    double square = 0;
    for (int part = 0; part < SYN_SMAP_PARTS; part++)
        for (uint32_t i = near->begin[part]; i < near->end[part]; i++) {
            double most = 1;
            for (uint32_t k = 0; k < near->dims; k++)
                most = fmax(most, fabs(near->coordinate[k * near->stride + i]));
            add_row(&c,
                    (heavy){weight[i] * most, weight[i], near->target[i], 1, near, i});
            square += weight[i] * weight[i];
        }
    double hold = sqrt(ridge) * sqrt(square);
    for (uint32_t k = 1; k < c.unknowns; k++)
        add_row(&c, (heavy){hold, hold, 0, 1, NULL, k});
    qsort(c.row, c.rows, sizeof *c.row, heavier);
    merge_rows(&c);
    fill_rows(&c);
    while (c.taken < c.unknowns && c.taken < c.rows && reflect(&c, c.taken))
        c.taken++;
    return c;
}

/* The triangle in rows of `length`, with the target as column `unknowns` if there is
   room. */
static void write_triangle(const columns *c, uint32_t length, double *triangle)
{
    memset(triangle, 0, (size_t)c->unknowns * length * sizeof *triangle);
    for (uint32_t k = 0; k < c->taken; k++) {
        double *row = triangle + (size_t)k * length;
        row[c->number[k]] = c->diagonal[k];
        for (uint32_t j = k + 1; j <= c->unknowns; j++)
            row[c->number[j]] = c->column[j][k];
    }
}

/* ---- the model ---- */

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
    double cutoff = cutoff_of(b->singular, n, near->n);
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
    /* Does what `reduce` of syn_smap_kind does, from `weight`, to the last digits of
       each row however little it weighs: some times more slowly, by Householder
       reflections with the heaviest rows first and columns exchanged (Cox and Higham
       1998). The rows of `triangle` are in order, but its columns not those of a
       triangle. */
    columns c = factorise(near, b->space.weight, ridge, b->exact);
    write_triangle(&c, c.unknowns + 1, b->space.triangle);
    solve_triangle(near, b);
}

/* ---- whatever the targets are ---- */

/* Puts what the rows' weighted targets add where their points are. */
static void put_points(const columns *c, const syn_smap_near *near, const double *weight,
                       const double *x, double *to)
{
    for (int part = 0; part < SYN_SMAP_PARTS; part++)
        for (uint32_t i = near->begin[part]; i < near->end[part]; i++) {
            const heavy *row = weight[i] > 0 ? &c->row[c->row_of[i]] : NULL;
            to[i] = row ? x[c->row_of[i]] * row->weight / row->n : 0;
        }
}

void syn_smap_exact_hat(const syn_smap_near *near, const double *weight, double ridge,
                        const double *from, void *room, double *small, double *value,
                        double *slope)
{
    columns c = factorise(near, weight, ridge, room);
    uint32_t n = c.unknowns, length = 2 * n + 1;
    double *triangle = small, *singular = triangle + (size_t)n * length;
    double *x = c.value + (size_t)n * c.stride;  /* the targets, which are not wanted */
    write_triangle(&c, length, triangle);
    for (uint32_t k = 0; k < n; k++)
        triangle[(size_t)k * length + n + 1 + k] = 1;
    syn_smap_singular(triangle, n, n + 1, singular);
    double cutoff = cutoff_of(singular, n, near->n);
    /* With the triangle U S V', the columns of U add up, each times what column of V has
       of the wanted vector, over s; the sum is reflected back. */
    for (int wanted = 0; wanted < 2; wanted++) {
        memset(x, 0, c.rows * sizeof *x);
        for (uint32_t k = 0; k < n; k++) {
            const double *row = triangle + (size_t)k * length;
            double along = wanted ? row[1] : row[0] + product(row + 1, from, n - 1);
            double square = singular[k] * singular[k];
            for (uint32_t j = 0; singular[k] > cutoff && j < n; j++)
                x[j] += along / square * row[n + 1 + j];
        }
        for (uint32_t k = c.taken; k-- > 0;)
            reflect_one(c.column[k] + k, half_of(&c, k), x + k, c.rows - k);
        put_points(&c, near, weight, x, wanted ? slope : value);
    }
}

/* ---- normal equations ----

   Normal equations, scaled so that their diagonal is 1, are solved through the inverse of
   their Cholesky triangle. The sum of its squares times the number of unknowns is at
   least the condition of the equations, so that the error is known for certain. Singular
   values are those of the triangle. */

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

static normal cut_equations(const syn_smap_equations *e, uint32_t terms)
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
static int cholesky(double *matrix, size_t n, double least, double most)
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
    if (!cholesky(a->lower, n, least, INFINITY))
        return 0;
    invert(a);
    return 1;
}

/* The scaled solution of the equations with this right side; returns the square of its
   length. */
static double solve_scaled(const normal *a, const double *right, double *model)
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
    normal a = cut_equations(e, e->unknowns + 1);
    if (!prepare(&a, least_pivot))
        return 0;
    for (uint32_t j = 0; j < a.n; j++)
        a.other[j] = sum_of(&a, j, a.n);
    if (!precise(&a, solve_scaled(&a, a.other, a.vector)))
        return 0;
    /* Coefficients of coordinates as they are from those of scaled ones less their
       centre. */
    fit[0] = a.centre[a.n] + a.vector[0] * a.scale[0];
    for (uint32_t k = 1; k < a.n; k++) {
        fit[k] = a.vector[k] * a.scale[k];
        fit[0] -= fit[k] * a.centre[k];
    }
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
    normal a = cut_equations(e, e->unknowns);
    if (!prepare(&a, least_pivot))
        return 0;
    double error = solve_scaled(&a, right_side(&a, hat, 0), hat->slope);
    error = fmax(error, solve_scaled(&a, right_side(&a, hat, 1), hat->value));
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
    normal a = cut_equations(e, e->unknowns);
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
    normal a = cut_equations(e, e->unknowns);
    size_t n = a.n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            for (size_t k = 1; k <= j; k++)
                gram[i * n + j] += a.hold * inverse[i * n + k] * inverse[j * n + k];
    /* It is to be near the identity. */
    if (!cholesky(gram, n, 0.5, 2))
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
