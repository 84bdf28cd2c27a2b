/* The normal equations of many models are one product of matrices: their squared weights,
   a row for each prediction, times products of the library's coordinates
   (product.h). Those that rounding may have spoilt are made again, one at a time.

   Workers take blocks of predictions. Of each block, distances are found first, and for
   each theta the sums and then the models. */
#include "core/edm/smap/many.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/edm/smap/lanes.h"
#include "core/edm/smap/normal.h"
#include "core/edm/smap/product.h"
#include "core/edm/smap/same.h"

enum {
    BLOCK_BYTES = 6 << 20,     /* of distances and weights, if rows are few enough */
    MOST_ROWS = 16 * SYN_SMAP_ROWS,
    MOST_DIMS = 100,            /* with more, sums would take too much memory */
    LEAST_PREDICTIONS = 8,      /* with fewer, most of SYN_SMAP_ROWS would be idle */
    SPREAD = 3 * SYN_SMAP_PADDING
};

/* Variances that are a smaller share of the squares of the targets, less their centre,
   have lost too many digits. */
static const double least_spread = 1e-5;

typedef struct many {
    const syn_smap_call *call;
    const syn_smap_product *product;
    const syn_smap_lanes *lanes;
    syn_smap_terms terms;
    double *value;              /* of the terms */
    double *centre;             /* [terms] their means, which are taken out */
    syn_smap_same same;
    uint32_t rows;              /* of a block: a multiple of SYN_SMAP_ROWS */
    size_t stride;              /* the library, made a multiple of SYN_SMAP_POINTS */
    double *memory;             /* [threads][room] */
    size_t room;
    struct block *block;        /* [threads] */
    syn_smap_near *near;        /* [threads][rows] */
} many;

/* What a worker does with a block, a step at a time. */
typedef struct block {
    int begun;
    uint32_t first, n;          /* predictions */
    uint32_t theta;
    size_t point;               /* points before are in the sums, */
    uint32_t done;              /* predictions before have their models */
    syn_smap_near *near;        /* [rows] */
    double *distance;           /* [rows][stride] */
    double *weight;             /* [SYN_SMAP_POINTS] of one prediction */
    double *spread;             /* [rows][SPREAD] sums of product.h */
    double *square;             /* [rows][SYN_SMAP_PITCH] squared weights */
    double *sum;                /* [rows][products] */
    double *panel;              /* of product.h */
    double *solving;            /* for syn_smap_normal() and its like, */
    double *fit, *singular;     /* [SYN_SMAP_LANES][unknowns] and what they found */
    double *to;                 /* [dims][rows] the points of the predictions */
    double *same;               /* for syn_smap_same_near() */
} block;

/* ---- memory ---- */

static size_t padded(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static void cut_block(const many *m, int worker)
{
    block *b = m->block + worker;
    b->begun = 0;
    b->near = m->near + (size_t)worker * m->rows;
    size_t rows = m->rows, unknowns = m->terms.n - 1;
    b->distance = m->memory + (size_t)worker * m->room;
    b->weight = b->distance + rows * m->stride;
    b->spread = b->weight + SYN_SMAP_POINTS;
    b->square = b->spread + rows * SPREAD;
    b->sum = b->square + rows * SYN_SMAP_PITCH;
    b->panel = b->sum + rows * m->terms.products;
    b->fit = b->panel + (SYN_SMAP_POINTS + SYN_SMAP_SPARE) * m->terms.products;
    b->singular = b->fit + SYN_SMAP_LANES * unknowns;
    b->to = b->singular + SYN_SMAP_LANES * unknowns;
    b->same = b->to + rows * unknowns;
    b->solving = b->same + syn_smap_same_room(&m->same);
}

static size_t solving_room(uint32_t unknowns)
{
    size_t one = syn_smap_normal_room(unknowns), many = syn_smap_lanes_room(unknowns);
    return one > many ? one : many;
}

static syn_status make_blocks(many *m, int threads)
{
    size_t rows = m->rows, products = m->terms.products, unknowns = m->terms.n - 1;
    m->room = rows * (m->stride + SPREAD + SYN_SMAP_PITCH + products + unknowns) +
              (SYN_SMAP_POINTS + SYN_SMAP_SPARE) * products + SYN_SMAP_POINTS +
              2 * SYN_SMAP_LANES * unknowns + syn_smap_same_room(&m->same) +
              solving_room((uint32_t)unknowns);
    m->memory = calloc((size_t)threads * m->room, sizeof *m->memory);
    m->block = calloc((size_t)threads, sizeof *m->block);
    m->near = calloc((size_t)threads * rows, sizeof *m->near);
    if (!m->memory || !m->block || !m->near)
        return SYN_NO_MEMORY;
    for (int worker = 0; worker < threads; worker++)
        cut_block(m, worker);
    return SYN_OK;
}

/* As many predictions as the memory is for, but some blocks for each thread. */
static uint32_t rows_of_block(const many *m, int threads)
{
    /* Many products are worth more predictions, fewer stay in a nearer cache. */
    size_t bytes = m->terms.products > 64 ? 2 * BLOCK_BYTES : BLOCK_BYTES;
    size_t most = bytes / (sizeof(double) * m->stride);
    size_t share = m->call->prediction->n / (4 * (size_t)threads) + 1;
    most = most < share ? most : share;
    most = most < MOST_ROWS ? most : MOST_ROWS;
    return (uint32_t)padded(most > 1 ? most : 1, SYN_SMAP_ROWS);
}

/* The mean of a term over the library; of the target, where it is known. */
static double mean_of(const syn_smap_call *s, uint32_t term)
{
    const double *x = s->side_by_side + (term - 1) * s->stride;
    const double *known = s->side_by_side + (s->points->dims + 1) * s->stride;
    int target = term == s->points->dims + 1;
    double sum = 0, n = 0;
    for (uint32_t i = 0; i < s->library->n; i++) {
        sum += x[i];
        n += target ? known[i] : 1;
    }
    return n > 0 ? sum / n : 0;
}

static syn_status gather_terms(many *m)
{
    const syn_smap_call *s = m->call;
    syn_smap_terms *t = &m->terms;
    t->n = s->points->dims + 2;
    t->pitch = padded(t->n, SYN_SMAP_PADDING);
    t->products = padded((size_t)t->n * (t->n + 1) / 2, SYN_SMAP_PRODUCTS);
    m->value = calloc(s->library->n * t->pitch + SYN_SMAP_PADDING, sizeof(double));
    m->centre = calloc(t->n, sizeof *m->centre);
    t->value = m->value;
    if (!m->value || !m->centre)
        return SYN_NO_MEMORY;
    for (uint32_t j = 1; j < t->n; j++)
        m->centre[j] = mean_of(s, j);
    for (size_t i = 0; i < s->library->n; i++) {
        double *value = m->value + i * t->pitch;
        value[0] = 1;
        for (uint32_t j = 1; j < t->n; j++)
            value[j] = s->side_by_side[(j - 1) * s->stride + i] - m->centre[j];
    }
    return SYN_OK;
}

/* ---- steps ---- */

/* Distances, a piece of the library for all predictions after the other. */
static void measure(const many *m, block *b, syn_smap_bench *bench)
{
    const syn_smap_call *s = m->call;
    uint32_t rows = (uint32_t)padded(b->n, SYN_SMAP_SIDE);
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t at = b->first + (r < b->n ? r : 0);
        b->near[r] = syn_smap_whole(s, b->distance + r * m->stride);
        syn_smap_point(s, s->prediction->row[at], bench->from);
        for (uint32_t k = 0; k < s->points->dims; k++)
            b->to[(size_t)k * rows + r] = bench->from[k];
    }
    for (size_t from = 0; from < s->library->n; from += SYN_SMAP_POINTS) {
        size_t left = s->library->n - from;
        s->kind->measure_many(b->near, rows, b->to, from,
                              left < SYN_SMAP_POINTS ? left : SYN_SMAP_POINTS);
    }
    for (uint32_t r = 0; r < b->n; r++)
        syn_smap_leave_out(s, s->prediction->row[b->first + r], &b->near[r]);
}

/* Adds the next points of the library to the sums of all predictions. */
static void add_points(const many *m, block *b)
{
    const syn_smap_call *s = m->call;
    size_t left = s->library->n - b->point;
    size_t n = left < SYN_SMAP_POINTS ? left : SYN_SMAP_POINTS;
    if (b->point == 0) {
        memset(b->sum, 0, m->rows * m->terms.products * sizeof *b->sum);
        memset(b->spread, 0, (size_t)m->rows * SPREAD * sizeof *b->spread);
    }
    for (uint32_t r = 0; r < b->n; r++) {
        const syn_smap_near *near = &b->near[r];
        m->product->weigh(near, syn_smap_rate(s, near, b->theta), b->point, n, b->weight,
                          b->square + r * (size_t)SYN_SMAP_PITCH);
        m->product->spread(b->weight, near->target + b->point, n,
                           m->centre[m->terms.n - 1], b->spread + (size_t)r * SPREAD);
    }
    m->product->multiply(&m->terms, b->point, n, b->square,
                         (uint32_t)padded(b->n, SYN_SMAP_ROWS), b->panel, b->sum);
    b->point += n;
}

/* ---- models ---- */

/* Fills the weights of the bench, for a prediction that is made again. */
static void weigh_again(const many *m, const block *b, uint32_t r, syn_smap_bench *bench)
{
    const syn_smap_near *near = &b->near[r];
    size_t all = m->call->library->n;
    double weight[SYN_SMAP_POINTS], square[SYN_SMAP_POINTS];
    for (size_t from = 0; from < all; from += SYN_SMAP_POINTS) {
        size_t left = all - from, n = left < SYN_SMAP_POINTS ? left : SYN_SMAP_POINTS;
        m->product->weigh(near, syn_smap_rate(m->call, near, b->theta), from, n, weight,
                          square);
        memcpy(bench->space.weight + from, weight, n * sizeof *weight);
    }
}

/* The weighted variance about the prediction, from sums about the targets' centre. */
static double variance_of(const many *m, const block *b, uint32_t r,
                          syn_smap_bench *bench)
{
    double sum[3] = {0}, value = syn_smap_value(m->call, bench);
    double apart = value - m->centre[m->terms.n - 1];
    for (int k = 0; k < SPREAD; k++)
        sum[k / SYN_SMAP_PADDING] += b->spread[(size_t)r * SPREAD + k];
    double squares = sum[2] + apart * apart * sum[0];
    double out = squares - 2 * apart * sum[1];
    if (out > least_spread * squares)
        return out / sum[0];
    weigh_again(m, b, r, bench);
    return m->call->kind->spread(&b->near[r], bench->space.weight, value);
}

static void copy_model(const many *m, const block *b, uint32_t lane,
                       syn_smap_bench *bench)
{
    size_t unknowns = m->terms.n - 1, bytes = unknowns * sizeof(double);
    memcpy(bench->fit, b->fit + lane * unknowns, bytes);
    memcpy(bench->singular, b->singular + lane * unknowns, bytes);
}

/* Makes a model in the slower ways, from points that differ if these are few. */
static void predict_again(const many *m, const block *b, uint32_t r,
                          syn_smap_bench *bench)
{
    const syn_smap_call *s = m->call;
    const syn_smap_near *near = &b->near[r];
    if (m->same.n == 0 || near->n == 0) {
        syn_smap_predict(s, bench, near, b->theta, b->first + r);
        return;
    }
    syn_smap_near few = syn_smap_same_near(&m->same, s, near, b->same);
    double rate = syn_smap_rate(s, near, b->theta);
    syn_smap_fit(s->kind, &few, rate, s->options->ridge, bench);
    syn_smap_put(s, bench, near, variance_of(m, b, r, bench), b->theta, b->first + r);
}

/* Puts the model of prediction `r`: that of a lane, or if it has none, one made by
   itself. */
static void put_model(const many *m, block *b, uint32_t r, uint32_t lane, int made,
                      syn_smap_bench *bench)
{
    const syn_smap_call *s = m->call;
    uint32_t at = b->first + r;
    syn_smap_point(s, s->prediction->row[at], bench->from);
    if (made)
        copy_model(m, b, lane, bench);
    else
        made = b->near[r].n > 0 &&
               syn_smap_normal(m->terms.n - 1, b->sum + r * m->terms.products, m->centre,
                               s->options->ridge, b->solving, bench->fit,
                               s->out->singular ? bench->singular : NULL);
    if (made)
        syn_smap_put(s, bench, &b->near[r], variance_of(m, b, r, bench), b->theta, at);
    else
        predict_again(m, b, r, bench);
}

/* The next few models. */
static void put_models(const many *m, block *b, syn_smap_bench *bench)
{
    uint32_t left = b->n - b->done, n = left < SYN_SMAP_LANES ? left : SYN_SMAP_LANES;
    uint32_t made = m->lanes->solve(m->terms.n - 1, b->sum + b->done * m->terms.products,
                                    m->terms.products, n, m->centre,
                                    m->call->options->ridge, b->solving, b->fit,
                                    m->call->out->singular ? b->singular : NULL);
    for (uint32_t l = 0; l < n; l++) {
        int good = (made >> l & 1) && b->near[b->done + l].n > 0;
        put_model(m, b, b->done + l, l, good, bench);
    }
    b->done += n;
}

/* Begins with predictions `first` and those after it. */
static void begin(const many *m, block *b, size_t first, syn_smap_bench *bench)
{
    size_t left = m->call->prediction->n - first;
    b->begun = 1;
    b->first = (uint32_t)first;
    b->n = (uint32_t)(left < m->rows ? left : m->rows);
    b->theta = b->done = 0;
    b->point = 0;
    measure(m, b, bench);
}

/* The next step of a block; whether it was the last. */
static int advance(const many *m, block *b, syn_smap_bench *bench)
{
    if (b->point < m->call->library->n)
        add_points(m, b);
    else
        put_models(m, b, bench);
    if (b->done == b->n) {
        b->theta++;
        b->point = b->done = 0;
    }
    return b->theta == m->call->options->thetas;
}

static syn_status predict_block(void *context, size_t item, int worker)
{
    const many *m = context;
    block *b = m->block + worker;
    syn_smap_bench bench = syn_smap_take_bench(m->call, worker);
    double started = syn_seconds();
    if (!b->begun)
        begin(m, b, item * m->rows, &bench);
    while (!advance(m, b, &bench))
        if (syn_seconds() - started > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
    b->begun = 0;
    return SYN_OK;
}

int syn_smap_worth(const syn_smap_call *s)
{
    uint32_t dims = s->points->dims;
    if (!s->side_by_side || s->options->way == SYN_SMAP_ONE || dims > MOST_DIMS)
        return 0;
    return s->options->way == SYN_SMAP_MANY ||
           (s->library->n >= 2 * (dims + 1) && s->prediction->n >= LEAST_PREDICTIONS);
}

syn_status syn_smap_many(const syn_smap_call *s, const syn_watch *watch)
{
    int bits = s->options->vector_bits;
    many m = {.call = s, .product = syn_smap_product_fastest(bits),
              .lanes = syn_smap_lanes_fastest(bits)};
    int threads = s->options->threads > 1 ? s->options->threads : 1;
    m.stride = padded(s->stride, SYN_SMAP_POINTS);
    syn_status status = gather_terms(&m);
    if (status == SYN_OK)
        status = syn_smap_same_make(s, &m.same);
    m.rows = rows_of_block(&m, threads);
    if (status == SYN_OK)
        status = make_blocks(&m, threads);
    if (status == SYN_OK)
        status = syn_parallel_for(padded(s->prediction->n, m.rows) / m.rows, threads,
                                  watch, "predictions", predict_block, &m);
    syn_smap_same_free(&m.same);
    free(m.value);
    free(m.centre);
    free(m.memory);
    free(m.block);
    free(m.near);
    return status;
}
