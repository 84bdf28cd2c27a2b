/* Counts of spikes, and other data of few values, have few delay vectors that differ.
   Their models are those that fall back to the slow, exact ways, since near points that
   are the same outweigh all others; with a point for each that differs, these ways have
   little to do. */
#include "core/edm/smap/same.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Numbers the points that differ. */
static void number_points(const point *sorted, uint32_t n, syn_smap_same *out)
{
    out->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || by_coordinates(&sorted[i - 1], &sorted[i]) != 0)
            out->first[out->n++] = sorted[i].at;
        out->of[sorted[i].at] = out->n - 1;
    }
}

static void gather(const syn_smap_call *s, syn_smap_same *out)
{
    uint32_t n = s->library->n, dims = s->points->dims;
    const double *target = s->side_by_side + dims * s->stride;
    const double *known = target + s->stride;
    for (uint32_t k = 0; k < dims; k++)
        for (uint32_t g = 0; g < out->n; g++)
            out->coordinate[k * out->stride + g] =
                s->side_by_side[k * s->stride + out->first[g]];
    for (uint32_t i = 0; i < n; i++) {
        out->count[out->of[i]] += known[i];
        out->sum[out->of[i]] += target[i];
    }
}

syn_status syn_smap_same_make(const syn_smap_call *s, syn_smap_same *out)
{
    uint32_t n = s->library->n, dims = s->points->dims;
    memset(out, 0, sizeof *out);
    point *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
    out->of = malloc(((size_t)n + 1) * sizeof *out->of);
    out->first = malloc(((size_t)n + 1) * sizeof *out->first);
    int there = sorted && out->of && out->first;
    if (there) {
        for (uint32_t i = 0; i < n; i++)
            sorted[i] = (point){s->side_by_side, s->stride, dims, i};
        qsort(sorted, n, sizeof *sorted, compare);
        number_points(sorted, n, out);
    }
    free(sorted);
    if (there && out->n > n / 2)
        out->n = 0;
    if (there && out->n > 0) {
        out->stride = syn_smap_stride(out->n);
        out->coordinate = calloc(dims * out->stride, sizeof *out->coordinate);
        out->count = calloc(out->n, sizeof *out->count);
        out->sum = calloc(out->n, sizeof *out->sum);
        there = out->coordinate && out->count && out->sum;
    }
    if (there && out->n > 0)
        gather(s, out);
    return there ? SYN_OK : SYN_NO_MEMORY;
}

void syn_smap_same_free(syn_smap_same *same)
{
    free(same->of);
    free(same->first);
    free(same->coordinate);
    free(same->count);
    free(same->sum);
}

size_t syn_smap_same_room(const syn_smap_same *same)
{
    return 3 * same->stride;
}

/* Takes library points from `from` to `to` out of the counts and sums. */
static void leave_out(const syn_smap_same *same, const syn_smap_call *s, uint32_t from,
                      uint32_t to, double *count, double *sum)
{
    const double *target = s->side_by_side + s->points->dims * s->stride;
    const double *known = target + s->stride;
    for (uint32_t i = from; i < to; i++) {
        count[same->of[i]] -= known[i];
        sum[same->of[i]] -= target[i];
    }
}

syn_smap_near syn_smap_same_near(const syn_smap_same *same, const syn_smap_call *s,
                                 const syn_smap_near *near, double *room)
{
    double *distance = room, *target = room + same->stride;
    double *known = target + same->stride;
    uint32_t done = 0;
    memset(room, 0, syn_smap_same_room(same) * sizeof *room);
    memcpy(known, same->count, same->n * sizeof *known);
    memcpy(target, same->sum, same->n * sizeof *target);
    for (int part = 0; part < SYN_SMAP_PARTS; part++) {
        if (near->begin[part] >= near->end[part])
            continue;
        leave_out(same, s, done, near->begin[part], known, target);
        done = near->end[part];
    }
    leave_out(same, s, done, s->library->n, known, target);
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
