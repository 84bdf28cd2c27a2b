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

/* ---- turned equations ---- */

/* The Cholesky triangle of a matrix, row by row in its lower half; 0 where the square of
   an element of its diagonal is not near 1. */
static int cholesky(double *matrix, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *other = matrix + j * n;
            double *row = matrix + i * n, rest = row[j];
            for (size_t k = 0; k < j; k++)
                rest -= row[k] * other[k];
            if (j < i)
                row[j] = rest / other[j];
            else if (rest > 0.5 && rest < 2)
                row[i] = sqrt(rest);
            else
                return 0;
        }
    return 1;
}

/* The solution for the right side in `to`, in its place; `room`: [n]. Returns the square
   of its scaled length. */
static double solve_turned(const syn_smap_turned *t, size_t n, double *room, double *to)
{
    double square = 0;
    for (size_t i = 0; i < n; i++) {
        room[i] = 0;
        for (size_t j = 0; j <= i; j++)
            room[i] += t->inverse[i * n + j] * to[j];
        for (size_t k = 0; k < i; k++)
            room[i] -= t->gram[i * n + k] * room[k];
        room[i] /= t->gram[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            room[i] -= t->gram[k * n + i] * room[k];
        room[i] /= t->gram[i * n + i];
    }
    for (size_t j = 0; j < n; j++) {
        to[j] = 0;
        for (size_t i = j; i < n; i++)
            to[j] += t->inverse[i * n + j] * room[i];
        square += to[j] / t->scale[j] * (to[j] / t->scale[j]);
    }
    return square;
}

int syn_smap_refine(const syn_smap_equations *e, const syn_smap_turned *t,
                    const syn_smap_hat *hat)
{
    size_t n = e->unknowns;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            for (size_t k = 1; k <= j; k++)
                t->gram[i * n + j] += e->ridge * e->sum[0] * t->inverse[i * n + k] *
                                      t->inverse[j * n + k];
    if (!cholesky(t->gram, n))
        return 0;
    memset(hat->slope, 0, n * sizeof *hat->slope);
    hat->slope[1] = hat->size;
    hat->value[0] = 1;
    memcpy(hat->value + 1, hat->from[0], (n - 1) * sizeof *hat->value);
    double length = solve_turned(t, n, e->room, hat->slope);
    length = fmax(length, solve_turned(t, n, e->room, hat->value));
    for (size_t j = 0; j < n; j++)
        hat->slope[j] /= hat->size;
    return DBL_EPSILON * n * sqrt(t->norm * length * e->sum[0]) < SYN_SMAP_MOST_HAT_ERROR;
}
