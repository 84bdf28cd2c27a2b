/* S-maps: a model for each prediction, one at a time (model.h) or, from a library
   that is worth it, many (many.h). */
#include "core/edm/smap/smap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/edm/smap/call.h"
#include "core/edm/smap/exact.h"
#include "core/edm/smap/many.h"
#include "core/base/parallel.h"
#include "core/base/rank.h"

enum { LIST_BYTES = 1 << 23 };  /* of neighbours that are held at a time */

syn_smap_bench syn_smap_take_bench(const syn_smap_call *s, int worker)
{
    size_t unknowns = (size_t)s->points->dims + 1;
    syn_smap_bench b;
    b.from = s->memory + (size_t)worker * s->room;
    b.fit = b.from + unknowns;
    b.singular = b.fit + unknowns;
    b.distance = b.singular + unknowns;
    b.listed = b.distance + s->stride;
    double *rest = b.listed + (s->side_by_side ? 0 : (unknowns + 1) * s->stride);
    syn_smap_space_make(&b.space, rest, s->stride, s->points->dims);
    b.exact = s->exact + (size_t)worker * s->exact_room;
    return b;
}

static syn_status make_benches(syn_smap_call *s, int threads)
{
    size_t unknowns = (size_t)s->points->dims + 1;
    size_t arrays = s->side_by_side ? 1 : 2 + unknowns;
    s->room = 3 * unknowns + arrays * s->stride +
              syn_smap_space_size(s->stride, s->points->dims) + SYN_SMAP_PADDING;
    s->memory = calloc((size_t)threads * s->room, sizeof *s->memory);
    s->exact_room = syn_smap_exact_room(s->stride, s->points->dims);
    s->exact_room += sizeof(double) - s->exact_room % sizeof(double);
    s->exact = malloc((size_t)threads * s->exact_room);
    return s->memory && s->exact ? SYN_OK : SYN_NO_MEMORY;
}

/* ---- neighbours ---- */

/* Takes the farthest neighbour out of the parts; of several, that with the last place in
   the order of ties. The first part ends before the prediction's row and the second
   begins after it. */
static void drop_farthest(const syn_smap_call *s, syn_smap_near *near)
{
    uint32_t at = 0, rank = 0;
    double distance = -1;
    for (int part = 0; part < 2; part++)
        for (uint32_t i = near->begin[part]; i < near->end[part]; i++) {
            uint32_t here = syn_row_rank(s->library->row[i]);
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

/* Puts a target, and whether it is known, at place i of their two arrays. */
static void put_target(double *target, size_t stride, size_t i, double value)
{
    target[i] = isnan(value) ? 0 : value;
    target[stride + i] = !isnan(value);
}

/* Where the parts of `near` are found: arrays [dims + 2][stride]. */
static void point_at(const syn_smap_call *s, const double *arrays, syn_smap_near *near)
{
    near->coordinate = arrays;
    near->target = arrays + s->points->dims * s->stride;
    near->known = s->missing ? near->target + s->stride : NULL;
}

void syn_smap_leave_out(const syn_smap_call *s, uint32_t row, syn_smap_near *near)
{
    uint32_t exclusion = s->options->exclusion, n = s->library->n;
    const syn_rows *l = s->library;
    near->end[0] = syn_first_row_from(l->row, l->n,
                                      row > exclusion ? row - exclusion : 0);
    near->begin[1] = syn_first_row_from(l->row, l->n, (uint64_t)row + exclusion + 1);
    near->end[1] = n;
    if (near->end[0] + (n - near->begin[1]) > s->options->k)
        drop_farthest(s, near);
    s->kind->survey(near);
}

syn_smap_near syn_smap_whole(const syn_smap_call *s, double *distance)
{
    syn_smap_near near = {.dims = s->points->dims, .stride = s->stride,
                          .distance = distance};
    point_at(s, s->side_by_side, &near);
    return near;
}

void syn_smap_point(const syn_smap_call *s, uint32_t row, double *point)
{
    for (uint32_t k = 0; k < s->points->dims; k++)
        point[k] = s->points->coordinate[(size_t)k * s->points->rows + row];
}

/* The neighbours listed for prediction `item`, side by side. */
static void from_list(const syn_smap_call *s, const syn_smap_bench *b, size_t item,
                      syn_smap_near *near)
{
    const syn_neighbours *lists = &s->lists;
    const uint32_t *row = lists->row + item * lists->k;
    uint32_t found = lists->found[item], dims = s->points->dims;
    for (uint32_t k = 0; k < dims; k++)
        for (uint32_t i = 0; i < found; i++)
            b->listed[k * s->stride + i] =
                s->points->coordinate[(size_t)k * s->points->rows + row[i]];
    for (uint32_t i = 0; i < found; i++)
        put_target(b->listed + dims * s->stride, s->stride, i, s->target[row[i]]);
    if (found > 0)
        memcpy(b->distance, lists->distance + item * lists->k, found * sizeof(double));
    point_at(s, b->listed, near);
    near->end[0] = found;
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

static syn_status predict(void *context, size_t item, int worker)
{
    const syn_smap_call *s = context;
    syn_smap_bench b = syn_smap_take_bench(s, worker);
    uint32_t at = s->first + (uint32_t)item, row = s->prediction->row[at];
    syn_smap_point(s, row, b.from);
    syn_smap_near near = syn_smap_whole(s, b.distance);
    if (s->side_by_side) {
        s->kind->measure(&near, b.from, s->library->n);
        syn_smap_leave_out(s, row, &near);
    } else {
        from_list(s, &b, item, &near);
        s->kind->survey(&near);
    }
    for (uint32_t theta = 0; theta < s->options->thetas; theta++)
        syn_smap_predict(s, &b, &near, theta, at);
    return SYN_OK;
}

/* ---- the call ---- */

syn_status syn_smap_gather(syn_smap_call *s)
{
    uint32_t n = s->library->n, dims = s->points->dims;
    s->side_by_side = calloc(((size_t)dims + 2) * s->stride, sizeof *s->side_by_side);
    if (!s->side_by_side)
        return SYN_NO_MEMORY;
    for (uint32_t k = 0; k < dims; k++) {
        const double *from = s->points->coordinate + (size_t)k * s->points->rows;
        for (uint32_t i = 0; i < n; i++)
            s->side_by_side[k * s->stride + i] = from[s->library->row[i]];
    }
    for (uint32_t i = 0; i < n; i++)
        put_target(s->side_by_side + dims * s->stride, s->stride, i,
                   s->target[s->library->row[i]]);
    return SYN_OK;
}

static int any_missing(const double *target, const syn_rows *rows)
{
    for (uint32_t i = 0; i < rows->n; i++)
        if (isnan(target[rows->row[i]]))
            return 1;
    return 0;
}

/* What the watch hears of work done in parts: predictions out of all of them. */
typedef struct progress {
    const syn_watch *watch;
    double before, share, all;
} progress;

static int pass_on(void *data, const char *stage, double done, double total)
{
    const progress *p = data;
    (void)stage;
    double part = total > 0 ? p->share * done / total : 0;
    return syn_poll(p->watch, "predictions", p->before + part, p->all) != SYN_OK;
}

/* Predicts from lists of neighbours, for as many predictions at a time as there is room
   for lists. */
static syn_status predict_from_lists(syn_smap_call *s, const syn_watch *watch)
{
    uint32_t n = s->prediction->n, k = s->options->k;
    int threads = s->options->threads;
    uint32_t most = LIST_BYTES / (k * (sizeof(double) + sizeof(uint32_t))) + 1;
    syn_neighbour_options options = {.k = k, .exclusion = s->options->exclusion,
                                     .threads = threads,
                                     .vector_bits = s->options->vector_bits};
    syn_points space = *s->points;
    if (s->options->space)
        space.coordinate = s->options->space;
    syn_status status = SYN_OK;
    for (s->first = 0; s->first < n && status == SYN_OK; s->first += most) {
        uint32_t here = n - s->first < most ? n - s->first : most;
        syn_rows some = {here, s->prediction->row + s->first};
        progress p = {watch, s->first, 0, n};
        syn_watch part = {pass_on, &p};
        status = syn_find_neighbours(&space, s->library, &some, &options, &part,
                                     &s->lists);
        p.share = here;
        if (status == SYN_OK)
            status = syn_parallel_for(here, threads, &part, "predictions", predict, s);
        syn_neighbours_free(&s->lists);
    }
    return status;
}

syn_status syn_smap(const syn_points *points, const syn_rows *library,
                    const syn_rows *prediction, const double *target,
                    const syn_smap_options *options, const syn_watch *watch,
                    const syn_smap_result *out)
{
    syn_smap_call s = {.points = points, .library = library, .prediction = prediction,
              .target = target, .options = options, .out = out,
              .missing = any_missing(target, library),
              .kind = syn_smap_fastest(options->vector_bits)};
    /* With one neighbour less than the library there is at most one to drop. */
    int whole = (uint64_t)options->k + 1 >= library->n;
    s.stride = syn_smap_stride(whole ? library->n : options->k);
    int threads = options->threads > 1 ? options->threads : 1;
    syn_status status = whole ? syn_smap_gather(&s) : SYN_OK;
    if (status == SYN_OK)
        status = make_benches(&s, threads);
    if (status == SYN_OK && syn_smap_worth(&s))
        status = syn_smap_many(&s, watch);
    else if (status == SYN_OK && whole)
        status = syn_parallel_for(prediction->n, threads, watch, "predictions", predict,
                                  &s);
    else if (status == SYN_OK)
        status = predict_from_lists(&s, watch);
    free(s.side_by_side);
    free(s.memory);
    free(s.exact);
    return status;
}
