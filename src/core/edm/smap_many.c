/* The normal equations of many models are one product of matrices: their squared weights,
   a row for each prediction, times products of the library's coordinates
   (smap_product.h). Those that rounding may have spoilt are made again, one at a time.

   Workers take blocks of predictions. Of each block, distances are found first, and for
   each theta the sums and then the models. */
#include "core/edm/smap_many.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/edm/smap_normal.h"
#include "core/edm/smap_product.h"

enum {
    BLOCK_BYTES = 6 << 20,     /* of distances and weights, if rows are few enough */
    MOST_ROWS = 16 * SYN_SMAP_ROWS,
    MOST_DIMS = 100,            /* with more, sums would take too much memory */
    LEAST_PREDICTIONS = 8       /* with fewer, most of SYN_SMAP_ROWS would be idle */
};

typedef struct many {
    const syn_smap_call *call;
    const syn_smap_product *product;
    syn_smap_terms terms;
    double *value;              /* of the terms */
    double *centre;             /* [terms] their means, which are taken out */
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
    double *weight;             /* [rows][stride] */
    double *square;             /* [rows][SYN_SMAP_PITCH] squared weights */
    double *sum;                /* [rows][products] */
    double *panel;              /* of smap_product.h */
    double *solving;            /* for syn_smap_normal() */
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
    b->distance = m->memory + (size_t)worker * m->room;
    b->weight = b->distance + m->rows * m->stride;
    b->square = b->weight + m->rows * m->stride;
    b->sum = b->square + m->rows * (size_t)SYN_SMAP_PITCH;
    b->panel = b->sum + m->rows * m->terms.products;
    b->solving = b->panel + (SYN_SMAP_POINTS + 1) * m->terms.products + SYN_SMAP_PADDING;
}

static syn_status make_blocks(many *m, int threads)
{
    size_t rows = m->rows, products = m->terms.products;
    m->room = rows * (2 * m->stride + SYN_SMAP_PITCH + products) +
              (SYN_SMAP_POINTS + 1) * products + SYN_SMAP_PADDING +
              syn_smap_normal_room(m->terms.n - 1);
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
    size_t most = bytes / (2 * sizeof(double) * m->stride);
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
    t->products = padded((size_t)t->n * (t->n + 1) / 2, SYN_SMAP_COLUMNS);
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
    for (uint32_t r = 0; r < b->n; r++)
        b->near[r] = syn_smap_whole(s, b->distance + r * m->stride);
    for (size_t from = 0; from < s->library->n; from += SYN_SMAP_POINTS) {
        size_t left = s->library->n - from;
        for (uint32_t r = 0; r < b->n; r++) {
            syn_smap_near piece = b->near[r];
            piece.coordinate += from;
            piece.distance += from;
            syn_smap_point(s, s->prediction->row[b->first + r], bench->from);
            s->kind->measure(&piece, bench->from,
                             (uint32_t)(left < SYN_SMAP_POINTS ? left : SYN_SMAP_POINTS));
        }
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
    if (b->point == 0)
        memset(b->sum, 0, m->rows * m->terms.products * sizeof *b->sum);
    for (uint32_t r = 0; r < b->n; r++)
        m->product->weigh(&b->near[r], syn_smap_rate(s, &b->near[r], b->theta), b->point,
                          n, b->weight + r * m->stride + b->point,
                          b->square + r * (size_t)SYN_SMAP_PITCH);
    m->product->multiply(&m->terms, b->point, n, b->square,
                         (uint32_t)padded(b->n, SYN_SMAP_ROWS), b->panel, b->sum);
    b->point += n;
}

static void put_model(const many *m, block *b, syn_smap_bench *bench)
{
    const syn_smap_call *s = m->call;
    uint32_t r = b->done++, at = b->first + r;
    syn_smap_point(s, s->prediction->row[at], bench->from);
    if (b->near[r].n > 0 &&
        syn_smap_normal(m->terms.n - 1, b->sum + r * m->terms.products, m->centre,
                        s->options->ridge, b->solving, bench->fit,
                        s->out->singular ? bench->singular : NULL))
        syn_smap_put(s, bench, &b->near[r], b->weight + r * m->stride, b->theta, at);
    else
        syn_smap_predict(s, bench, &b->near[r], b->theta, at);
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
        put_model(m, b, bench);
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
    many m = {.call = s, .product = syn_smap_product_fastest(s->options->vector_bits)};
    int threads = s->options->threads > 1 ? s->options->threads : 1;
    m.stride = padded(s->stride, SYN_SMAP_POINTS);
    syn_status status = gather_terms(&m);
    m.rows = rows_of_block(&m, threads);
    if (status == SYN_OK)
        status = make_blocks(&m, threads);
    if (status == SYN_OK)
        status = syn_parallel_for(padded(s->prediction->n, m.rows) / m.rows, threads,
                                  watch, "predictions", predict_block, &m);
    free(m.value);
    free(m.centre);
    free(m.memory);
    free(m.block);
    free(m.near);
    return status;
}
