/* S-maps. For each prediction the weighted least squares problem of the library is
   made small (smap_fit.h) and then solved by a singular value decomposition, which
   gives the shortest solution. Problems that rounding may have spoilt are solved again
   in a slower, exact way (smap_exact.h). */
#include "core/edm/smap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/edm/smap_exact.h"
#include "core/edm/smap_fit.h"
#include "core/base/parallel.h"

enum {
    LIST_BYTES = 1 << 23,  /* of neighbours that are held at a time */
    MOST_SWEEPS = 60
};

/* One call. Neighbours are lists where few of the library are wanted; otherwise all of it
   but the rows left out, a range of them, and, if one too many remains, the farthest. */
typedef struct smap {
    const syn_points *points;
    const syn_rows *library, *prediction;
    const double *target;
    const syn_smap_options *options;
    const syn_smap_result *out;
    const syn_smap_kind *kind;
    size_t stride;                /* of the points a fit can have */
    int missing;                  /* whether a library row has no target */
    double *side_by_side;         /* [dims + 2][stride] the library, its targets and
                                     whether they are known; or NULL for lists */
    syn_neighbours lists;
    uint32_t first;               /* prediction that the first list is of */
    double *memory;               /* [threads][room] */
    size_t room;
    char *exact;                  /* [threads][exact_room] for syn_smap_exact() */
    size_t exact_room;
} smap;

/* A worker's share of the memory. */
typedef struct bench {
    double *from;                 /* [dims] the point of the prediction */
    double *distance;             /* [stride] */
    double *listed;               /* [dims + 2][stride] for lists */
    double *fit;                  /* [dims + 1] coefficients */
    double *singular;             /* [dims + 1] */
    syn_smap_space space;
    void *exact;
} bench;

static bench take_bench(const smap *s, int worker)
{
    size_t unknowns = (size_t)s->points->dims + 1;
    bench b;
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

static syn_status make_benches(smap *s, int threads)
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

/* ---- the least squares problem that is left ---- */

/* Turns row b of `length` against row a by one angle. */
static void rotate(double *a, double *b, uint32_t length, double c, double s)
{
    for (uint32_t i = 0; i < length; i++) {
        double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

/* Rotates rows a and b, `n` long with the target after them, until they are orthogonal;
   whether they were not. */
static int separate(double *a, double *b, uint32_t n)
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
    rotate(a, b, n + 1, c, c * t);
    return 1;
}

/* Makes the rows of a triangle orthogonal (one-sided Jacobi): R | c becomes S V' | U' c,
   with the singular values S. */
static void diagonalise(double *triangle, uint32_t n)
{
    int turned = 1;
    for (int sweep = 0; turned && sweep < MOST_SWEEPS; sweep++) {
        turned = 0;
        for (uint32_t p = 0; p + 1 < n; p++)
            for (uint32_t q = p + 1; q < n; q++)
                turned |= separate(triangle + p * (n + 1), triangle + q * (n + 1), n);
    }
}

/* The singular values, not sorted. */
static void find_singular(const double *triangle, uint32_t n, double *singular)
{
    for (uint32_t i = 0; i < n; i++) {
        double square = 0;
        for (uint32_t j = 0; j < n; j++)
            square += triangle[i * (n + 1) + j] * triangle[i * (n + 1) + j];
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

/* ---- neighbours ---- */

/* Takes the last neighbour of all, in the order of syn_neighbours, out of the parts. The
   first part ends before the prediction's row and the second begins after it. */
static void drop_farthest(const smap *s, syn_smap_near *near, uint32_t row)
{
    uint32_t at = 0, apart = 0;
    double distance = -1;
    for (int part = 0; part < 2; part++)
        for (uint32_t i = near->begin[part]; i < near->end[part]; i++) {
            uint32_t other = s->library->row[i];
            uint32_t rows = other > row ? other - row : row - other;
            if (near->distance[i] > distance ||
                (near->distance[i] == distance && rows >= apart)) {
                at = i;
                apart = rows;
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
static void point_at(const smap *s, const double *arrays, syn_smap_near *near)
{
    near->coordinate = arrays;
    near->target = arrays + s->points->dims * s->stride;
    near->known = s->missing ? near->target + s->stride : NULL;
}

/* All of the library but what is left out and, if that is needed, the farthest. */
static void whole_library(const smap *s, const bench *b, uint32_t row,
                          syn_smap_near *near)
{
    uint32_t exclusion = s->options->exclusion, n = s->library->n;
    point_at(s, s->side_by_side, near);
    s->kind->measure(near, b->from, n);
    const syn_rows *l = s->library;
    near->end[0] = syn_first_row_from(l->row, l->n,
                                      row > exclusion ? row - exclusion : 0);
    near->begin[1] = syn_first_row_from(l->row, l->n, (uint64_t)row + exclusion + 1);
    near->end[1] = n;
    if (near->end[0] + (n - near->begin[1]) > s->options->k)
        drop_farthest(s, near, row);
}

/* The neighbours listed for prediction `item`, side by side. */
static void from_list(const smap *s, const bench *b, size_t item, syn_smap_near *near)
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

static void put_missing(const smap *s, uint32_t theta, uint32_t at)
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

/* The square root of the weighted sum of squares that the model leaves. */
static double left_over(const syn_smap_near *near, const bench *b)
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
static int doubtful(const syn_smap_near *near, const bench *b)
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

static void solve_triangle(const syn_smap_near *near, const bench *b)
{
    uint32_t n = near->dims + 1;
    diagonalise(b->space.triangle, n);
    find_singular(b->space.triangle, n, b->singular);
    solve(b->space.triangle, b->singular, n, near->n, b->fit);
}

static void fit_model(const smap *s, const bench *b, const syn_smap_near *near,
                      double rate)
{
    double ridge = s->options->ridge;
    s->kind->reduce(near, rate, ridge, (syn_smap_space *)&b->space);
    solve_triangle(near, b);
    if (!doubtful(near, b))
        return;
    syn_smap_exact(near, b->space.weight, ridge, b->exact, b->space.triangle);
    solve_triangle(near, b);
}

static void put_fit(const smap *s, const bench *b, const syn_smap_near *near,
                    uint32_t theta, uint32_t at)
{
    const syn_smap_result *out = s->out;
    uint32_t unknowns = s->points->dims + 1;
    size_t n = s->prediction->n, place = (size_t)theta * unknowns * n + at;
    /* Where all distances are 0, all neighbours weigh the same. */
    double rate = near->mean > 0 ? s->options->theta[theta] / near->mean : 0;
    fit_model(s, b, near, rate);
    double value = b->fit[0];
    for (uint32_t k = 0; k < s->points->dims; k++)
        value += b->fit[k + 1] * b->from[k];
    out->prediction[theta * n + at] = value;
    out->variance[theta * n + at] = s->kind->spread(near, b->space.weight, value);
    if (out->coefficient)
        put(out->coefficient + place, unknowns, b->fit, 1, n);
    if (out->singular) {
        /* The largest weight was made 1: singular values are proportional to it. */
        sort_decreasing(b->singular, unknowns);
        put(out->singular + place, unknowns, b->singular, exp(-rate * near->least), n);
    }
}

static syn_status predict(void *context, size_t item, int worker)
{
    const smap *s = context;
    bench b = take_bench(s, worker);
    uint32_t at = s->first + (uint32_t)item, row = s->prediction->row[at];
    syn_smap_near near = {.dims = s->points->dims, .stride = s->stride,
                          .distance = b.distance};
    for (uint32_t k = 0; k < s->points->dims; k++)
        b.from[k] = s->points->coordinate[(size_t)k * s->points->rows + row];
    if (s->side_by_side)
        whole_library(s, &b, row, &near);
    else
        from_list(s, &b, item, &near);
    s->kind->survey(&near);
    for (uint32_t theta = 0; theta < s->options->thetas; theta++) {
        if (near.n > 0)
            put_fit(s, &b, &near, theta, at);
        else
            put_missing(s, theta, at);
    }
    return SYN_OK;
}

/* ---- the call ---- */

static syn_status gather_library(smap *s)
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
static syn_status predict_from_lists(smap *s, const syn_watch *watch)
{
    uint32_t n = s->prediction->n, k = s->options->k;
    int threads = s->options->threads;
    uint32_t most = LIST_BYTES / (k * (sizeof(double) + sizeof(uint32_t))) + 1;
    syn_neighbour_options options = {.k = k, .exclusion = s->options->exclusion,
                                     .threads = threads,
                                     .vector_bits = s->options->vector_bits};
    syn_status status = SYN_OK;
    for (s->first = 0; s->first < n && status == SYN_OK; s->first += most) {
        uint32_t here = n - s->first < most ? n - s->first : most;
        syn_rows some = {here, s->prediction->row + s->first};
        progress p = {watch, s->first, 0, n};
        syn_watch part = {pass_on, &p};
        status = syn_find_neighbours(s->points, s->library, &some, &options, &part,
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
    smap s = {.points = points, .library = library, .prediction = prediction,
              .target = target, .options = options, .out = out,
              .missing = any_missing(target, library),
              .kind = syn_smap_fastest(options->vector_bits)};
    /* With one neighbour less than the library there is at most one to drop. */
    int whole = (uint64_t)options->k + 1 >= library->n;
    size_t most = whole ? library->n : options->k;
    s.stride = (most + 2 * SYN_SMAP_PADDING - 1) / SYN_SMAP_PADDING * SYN_SMAP_PADDING;
    int threads = options->threads > 1 ? options->threads : 1;
    syn_status status = whole ? gather_library(&s) : SYN_OK;
    if (status == SYN_OK)
        status = make_benches(&s, threads);
    if (status == SYN_OK && whole)
        status = syn_parallel_for(prediction->n, threads, watch, "predictions", predict,
                                  &s);
    else if (status == SYN_OK)
        status = predict_from_lists(&s, watch);
    free(s.side_by_side);
    free(s.memory);
    free(s.exact);
    return status;
}
