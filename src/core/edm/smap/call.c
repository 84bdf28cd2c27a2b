/* What the ways to make S-maps share: neighbours, results, and points that are the same.

   Counts of spikes, and other data of few values, have few delay vectors that differ.
   Their models are those that fall back to the slow, exact ways, since near points that
   are the same outweigh all others; with a point for each that differs, these ways have
   little to do. */
#include "core/edm/smap/call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rank.h"

/* ---- neighbours ---- */

/* Takes the farthest neighbour out of the parts; of several, that which comes last after
   the prediction's row in the order of ties. The first part ends before that row and the
   second begins after it. */
static void drop_farthest(const syn_smap_call *s, uint32_t row, syn_smap_near *near)
{
    uint32_t at = 0, rank = 0, own = syn_row_rank(row);
    double distance = -1;
    for (int part = 0; part < 2; part++)
        for (uint32_t i = near->begin[part]; i < near->end[part]; i++) {
            uint32_t here = syn_rank_after(s->library->row[i], own);
            if (near->distance[i] > distance ||
                (near->distance[i] == distance && here >= rank)) {
                at = i;
                rank = here;
                distance = near->distance[i];
            }
        }
    int part = at >= near->begin[1];
    if (part == 0) {
        near->begin[2] = near->begin[1];
        near->end[2] = near->end[1];
        near->end[1] = near->end[0];
    } else {
        near->end[2] = near->end[1];
    }
    near->end[part] = at;
    near->begin[part + 1] = at + 1;
}

void syn_smap_put_target(double *target, size_t stride, size_t i, double value)
{
    target[i] = isnan(value) ? 0 : value;
    target[stride + i] = !isnan(value);
}

syn_status syn_smap_gather(syn_smap_call *s)
{
    uint32_t n = s->library->n, dims = s->points->dims;
    SYN_ARRAY(&s->memory, s->side_by_side, ((size_t)dims + 2) * s->stride);
    for (uint32_t k = 0; k < dims; k++) {
        const double *from = s->points->coordinate + (size_t)k * s->points->rows;
        for (uint32_t i = 0; i < n; i++)
            s->side_by_side[k * s->stride + i] = from[s->library->row[i]];
    }
    for (uint32_t i = 0; i < n; i++)
        syn_smap_put_target(s->side_by_side + dims * s->stride, s->stride, i,
                            s->target[s->library->row[i]]);
    return SYN_OK;
}

syn_smap_near syn_smap_among(const syn_smap_call *s, const double *points,
                             double *distance)
{
    const double *target = points + s->points->dims * s->stride;
    return (syn_smap_near){.dims = s->points->dims, .stride = s->stride,
                           .coordinate = points, .target = target,
                           .known = s->missing ? target + s->stride : NULL,
                           .distance = distance};
}

/* Sets the parts of `near`, which has the distances of the whole library: all of it are
   neighbours of `row` but the rows within the exclusion and, if one too many is left, the
   farthest. Then surveys them. */
static void leave_out(const syn_smap_call *s, uint32_t row, syn_smap_near *near)
{
    uint32_t exclusion = s->options->exclusion, n = s->library->n;
    const syn_rows *l = s->library;
    near->end[0] = syn_first_row_from(l->row, l->n,
                                      row > exclusion ? row - exclusion : 0);
    near->begin[1] = syn_first_row_from(l->row, l->n, (uint64_t)row + exclusion + 1);
    near->end[1] = n;
    if (near->end[0] + (n - near->begin[1]) > s->options->k)
        drop_farthest(s, row, near);
    s->kind->survey(near);
}

/* Distances are found a piece of the library after the other, for all rows. */
void syn_smap_measure(const syn_smap_call *s, const uint32_t *row, uint32_t n,
                      size_t stride, double *distance, double *to, syn_smap_near *near)
{
    const syn_points *p = s->points;
    for (uint32_t r = 0; r < n; r++) {
        near[r] = syn_smap_among(s, s->side_by_side, distance + r * stride);
        for (size_t k = 0; k < p->dims; k++)
            to[k * n + r] = p->coordinate[k * p->rows + row[r]];
    }
    for (size_t from = 0; from < s->library->n; from += SYN_SMAP_POINTS) {
        size_t left = s->library->n - from;
        s->kind->measure(near, n, to, from,
                         left < SYN_SMAP_POINTS ? left : SYN_SMAP_POINTS);
    }
    for (uint32_t r = 0; r < n; r++)
        leave_out(s, row[r], &near[r]);
}

/* ---- terms ---- */

syn_status syn_smap_terms_make(syn_smap_terms *t, uint32_t terms, size_t n,
                               syn_arrays *memory, double **value)
{
    t->n = terms;
    t->pitch = syn_smap_padded(terms, SYN_SMAP_PADDING);
    t->products = syn_smap_products(terms);
    SYN_ARRAY(memory, *value, n * t->pitch + SYN_SMAP_PADDING);
    t->value = *value;
    for (size_t i = 0; i < n; i++)
        (*value)[i * t->pitch] = 1;
    return SYN_OK;
}

double syn_smap_terms_put(const syn_smap_terms *t, uint32_t k, const double *x,
                          const uint32_t *row, uint32_t n, int64_t by, double *value)
{
    double first = NAN, sum = 0, known = 0;
    for (uint32_t i = 0; i < n; i++) {
        double here = x[row[i] + by];
        if (isnan(here))
            continue;
        first = known > 0 ? first : here;
        sum += here - first;
        known++;
    }
    double centre = known > 0 ? first + sum / known : 0;
    for (size_t i = 0; i < n; i++) {
        double apart = x[row[i] + by] - centre;
        value[i * t->pitch + k] = isnan(apart) ? 0 : apart;
    }
    return centre;
}

/* ---- predictions ---- */

static void put(double *array, uint32_t n, const double *value, double scale,
                size_t stride)
{
    for (uint32_t i = 0; i < n; i++)
        array[i * stride] = scale * value[i];
}

static void put_missing(const syn_smap_call *s, uint32_t theta, uint32_t at)
{
    const syn_smap_result *out = s->out;
    size_t n = s->prediction->n, unknowns = (size_t)s->points->dims + 1;
    double missing = s->options->missing;
    out->prediction[theta * n + at] = out->variance[theta * n + at] = missing;
    for (size_t i = 0; i < unknowns; i++) {
        size_t place = (theta * unknowns + i) * n + at;
        if (out->coefficient)
            out->coefficient[place] = missing;
        if (out->singular)
            out->singular[place] = missing;
    }
}

static void sort_decreasing(double *x, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        double value = x[i];
        uint32_t at = i;
        for (; at > 0 && x[at - 1] < value; at--)
            x[at] = x[at - 1];
        x[at] = value;
    }
}

double syn_smap_value(const syn_smap_call *s, const syn_smap_bench *b)
{
    double value = b->fit[0];
    for (uint32_t k = 0; k < s->points->dims; k++)
        value += b->fit[k + 1] * b->from[k];
    return value;
}

void syn_smap_put(const syn_smap_call *s, const syn_smap_bench *b,
                  const syn_smap_near *near, double variance, uint32_t theta,
                  uint32_t at)
{
    const syn_smap_result *out = s->out;
    uint32_t unknowns = s->points->dims + 1;
    size_t n = s->prediction->n, place = (size_t)theta * unknowns * n + at;
    out->prediction[theta * n + at] = syn_smap_value(s, b);
    out->variance[theta * n + at] = variance;
    if (out->coefficient)
        put(out->coefficient + place, unknowns, b->fit, 1, n);
    if (out->singular) {
        /* The largest weight was made 1: singular values are proportional to it. */
        double scale = exp(-syn_smap_rate(s, near, theta) * near->least);
        sort_decreasing(b->singular, unknowns);
        put(out->singular + place, unknowns, b->singular, scale, n);
    }
}

void syn_smap_predict(const syn_smap_call *s, syn_smap_bench *b,
                      const syn_smap_near *near, uint32_t theta, uint32_t at)
{
    if (near->n == 0) {
        put_missing(s, theta, at);
        return;
    }
    double rate = syn_smap_rate(s, near, theta);
    syn_smap_fit(s->kind, near, rate, s->options->ridge, b);
    double variance = s->kind->spread(near, b->space.weight, syn_smap_value(s, b));
    syn_smap_put(s, b, near, variance, theta, at);
}

/* ---- points that are the same ---- */

/* A library point while they are sorted. */
typedef struct point {
    const double *coordinate;  /* of the first point, of all of them `stride` apart */
    size_t stride;
    uint32_t dims, at;
} point;

static int by_coordinates(const point *a, const point *b)
{
    for (uint32_t k = 0; k < a->dims; k++) {
        double x = a->coordinate[k * a->stride + a->at];
        double y = b->coordinate[k * b->stride + b->at];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    const point *x = a, *y = b;
    int order = by_coordinates(x, y);
    return order != 0 ? order : x->at < y->at ? -1 : x->at > y->at;
}

/* Adds library points from `from` to `to`, `times` 1 or -1, to the counts and sums. */
static void add_points(const syn_smap_call *s, const syn_smap_same *same, uint32_t from,
                       uint32_t to, double times, double *count, double *sum)
{
    const double *target = s->side_by_side + s->points->dims * s->stride;
    const double *known = target + s->stride;
    for (uint32_t i = from; i < to; i++) {
        count[same->of[i]] += times * known[i];
        sum[same->of[i]] += times * target[i];
    }
}

syn_status syn_smap_same_make(const syn_smap_call *s, syn_arrays *memory,
                              syn_smap_same *out)
{
    uint32_t n = s->library->n, dims = s->points->dims;
    *out = (syn_smap_same){0};
    SYN_ARRAY(memory, out->of, n);
    SYN_ARRAY(memory, out->first, n);
    point *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
    if (!sorted)
        return SYN_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = (point){s->side_by_side, s->stride, dims, i};
    qsort(sorted, n, sizeof *sorted, compare);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || by_coordinates(&sorted[i - 1], &sorted[i]) != 0)
            out->first[out->n++] = sorted[i].at;
        out->of[sorted[i].at] = out->n - 1;
    }
    free(sorted);
    if (out->n > n / 2)
        out->n = 0;
    if (out->n == 0)
        return SYN_OK;
    out->stride = syn_smap_stride(out->n);
    SYN_ARRAY(memory, out->coordinate, dims * out->stride);
    SYN_ARRAY(memory, out->count, out->n);
    SYN_ARRAY(memory, out->sum, out->n);
    for (uint32_t k = 0; k < dims; k++)
        for (uint32_t g = 0; g < out->n; g++)
            out->coordinate[k * out->stride + g] =
                s->side_by_side[k * s->stride + out->first[g]];
    add_points(s, out, 0, n, 1, out->count, out->sum);
    return SYN_OK;
}

syn_smap_near syn_smap_same_near(const syn_smap_same *same, const syn_smap_call *s,
                                 const syn_smap_near *near, double *room)
{
    double *distance = room, *target = room + same->stride;
    double *known = target + same->stride;
    uint32_t done = 0;
    memset(room, 0, 3 * same->stride * sizeof *room);
    memcpy(known, same->count, same->n * sizeof *known);
    memcpy(target, same->sum, same->n * sizeof *target);
    for (int part = 0; part < SYN_SMAP_PARTS; part++) {
        if (near->begin[part] >= near->end[part])
            continue;
        add_points(s, same, done, near->begin[part], -1, known, target);
        done = near->end[part];
    }
    add_points(s, same, done, s->library->n, -1, known, target);
    for (uint32_t g = 0; g < same->n; g++) {
        distance[g] = near->distance[same->first[g]];
        target[g] = known[g] > 0 ? target[g] / known[g] : 0;
        known[g] = known[g] > 0 ? sqrt(known[g]) : 0;
    }
    return (syn_smap_near){
        .dims = near->dims, .stride = same->stride, .coordinate = same->coordinate,
        .target = target, .known = known, .distance = distance, .end = {same->n},
        .n = near->n, .mean = near->mean, .least = near->least};
}
