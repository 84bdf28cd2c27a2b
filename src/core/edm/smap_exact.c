/* Where weights reach from 1 to 1e-10 and the nearest neighbours contradict each other,
   an error of one rounding in the heaviest rows is more than all that light rows say.
   Points that are the same become one, with the mean of their targets, so that they do
   not contradict each other; and weighted rows that are sorted keep errors within each
   of them. What light rows determine alone then comes out as precisely as what heavy
   rows do. */
#include "core/edm/smap_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row before it is sorted. */
typedef struct heavy {
    double size;       /* its largest element */
    double weight, target;
    const syn_smap_near *near;  /* NULL for a row of the ridge */
    uint32_t at;       /* the point; of a ridge, the number of the slope */
} heavy;

/* Columns of the least squares problem, the target last. */
typedef struct columns {
    uint32_t unknowns;
    size_t rows, stride;
    heavy *row;          /* [stride] */
    double *value;       /* [unknowns + 1][stride] */
    double *reflector;   /* [stride] */
    double **column;     /* [unknowns + 1] into `value`, in the order they are taken */
    uint32_t *number;    /* [unknowns + 1] which coefficient that is */
} columns;

static size_t most_rows(size_t stride, uint32_t dims)
{
    return stride + dims + 1;
}

size_t syn_smap_exact_room(size_t stride, uint32_t dims)
{
    size_t rows = most_rows(stride, dims), all = (size_t)dims + 2;
    return rows * (sizeof(heavy) + (all + 1) * sizeof(double)) +
           all * (sizeof(double *) + sizeof(uint32_t));
}

static columns cut_room(const syn_smap_near *near, void *room)
{
    columns c = {.unknowns = near->dims + 1,
                 .stride = most_rows(near->stride, near->dims)};
    size_t all = (size_t)c.unknowns + 1;
    c.value = room;
    c.reflector = c.value + all * c.stride;
    c.row = (heavy *)(c.reflector + c.stride);
    c.column = (double **)(c.row + c.stride);
    c.number = (uint32_t *)(c.column + all);
    for (uint32_t j = 0; j < all; j++) {
        c.column[j] = c.value + j * c.stride;
        c.number[j] = j;
    }
    return c;
}

/* ---- rows ---- */

static void add_row(columns *c, heavy row)
{
    if (row.size > 0)
        c->row[c->rows++] = row;
}

static void list_rows(const syn_smap_near *near, const double *weight, double ridge,
                      columns *c)
{
    double square = 0;
    for (int part = 0; part < SYN_SMAP_PARTS; part++)
        for (uint32_t i = near->begin[part]; i < near->end[part]; i++) {
            double most = 1;
            for (uint32_t k = 0; k < near->dims; k++)
                most = fmax(most, fabs(near->coordinate[k * near->stride + i]));
            add_row(c, (heavy){weight[i] * most, weight[i], near->target[i], near, i});
            square += weight[i] * weight[i];
        }
    double hold = sqrt(ridge) * sqrt(square);
    for (uint32_t k = 1; k < c->unknowns; k++)
        add_row(c, (heavy){hold, hold, 0, NULL, k});
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

/* Makes one row of sorted rows of the same point: the sum of
   w^2 (x b - y)^2 over n of them is, up to a constant, that of one row with weight
   w sqrt(n) and the mean y. */
static void merge_rows(columns *c)
{
    size_t kept = 0;
    for (size_t r = 0; r < c->rows;) {
        heavy row = c->row[r];
        double n = 1, sum = row.target;
        for (r++; r < c->rows && row.near && c->row[r].near &&
                  c->row[r].weight == row.weight && by_place(&row, &c->row[r]) == 0;
             r++, n++)
            sum += c->row[r].target;
        row.weight *= sqrt(n);
        row.target = sum / n;
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

/* ---- reflections ---- */

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

/* Reflects all columns from place `k` on so that nothing is left of column `k` below row
   `k`; 0 where nothing was there. */
static int reflect(columns *c, uint32_t k)
{
    double square = take_largest(c, k), *pivot = c->column[k] + k, *v = c->reflector;
    size_t n = c->rows - k;
    if (!(square > 0))
        return 0;
    double root = pivot[0] > 0 ? -sqrt(square) : sqrt(square);
    memcpy(v, pivot, n * sizeof *v);
    v[0] -= root;
    double half = root * v[0];  /* minus half the square of v */
    memset(pivot, 0, n * sizeof *pivot);
    pivot[0] = root;
    for (uint32_t j = k + 1; j <= c->unknowns; j++) {
        double *x = c->column[j] + k, along = product(v, x, n) / half;
        for (size_t i = 0; i < n; i++)
            x[i] += along * v[i];
    }
    return 1;
}

void syn_smap_exact(const syn_smap_near *near, const double *weight, double ridge,
                    void *room, double *triangle)
{
    columns c = cut_room(near, room);
    uint32_t all = c.unknowns + 1;
    list_rows(near, weight, ridge, &c);
    qsort(c.row, c.rows, sizeof *c.row, heavier);
    merge_rows(&c);
    fill_rows(&c);
    memset(triangle, 0, (size_t)c.unknowns * all * sizeof *triangle);
    for (uint32_t k = 0; k < c.unknowns && k < c.rows && reflect(&c, k); k++) {
        double *row = triangle + (size_t)k * all;
        for (uint32_t j = k; j < all; j++)
            row[c.number[j]] = c.column[j][k];
    }
}
