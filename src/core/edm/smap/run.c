/* S-maps: a model for each prediction, one at a time (model.h) or, from a library that is
   worth it, many. The normal equations of many models are one product of matrices: their
   squared weights, a row for each prediction, times products of the library's coordinates
   (fit.h). Those that rounding may have spoilt are made again, one at a time.

   Workers take blocks of predictions. Of each block, distances are found first, and for
   each theta the sums and then the models. */
#include "core/edm/smap/smap.h"

#include <math.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/edm/smap/call.h"

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
    double *centre;             /* [terms] their means, which are taken out */
    syn_smap_same same;
    uint32_t rows;              /* of a block: a multiple of SYN_SMAP_ROWS */
    size_t stride;              /* the library, made a multiple of SYN_SMAP_POINTS */
    struct block *block;        /* [threads] */
    syn_arrays memory;
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
    double *spread;             /* [rows][SPREAD] sums of fit.h */
    double *square;             /* [rows][SYN_SMAP_PITCH] squared weights */
    double *sum;                /* [rows][products] */
    double *panel;              /* of fit.h */
    double *solving;            /* for lanes, */
    double *fit, *singular;     /* [SYN_SMAP_LANES][unknowns] and what they found */
    double *to;                 /* [dims][rows] the points of the predictions */
    double *same;               /* for syn_smap_same_near() */
} block;

/* ---- memory ---- */

static syn_status make_blocks(many *m, int threads)
{
    syn_arrays *memory = &m->memory;
    size_t rows = m->rows, products = m->terms.products, unknowns = m->terms.n - 1;
    SYN_ARRAY(memory, m->block, (size_t)threads);
    for (int i = 0; i < threads; i++) {
        block *b = m->block + i;
        SYN_ARRAY(memory, b->near, rows);
        SYN_ARRAY(memory, b->distance, rows * m->stride);
        SYN_ARRAY(memory, b->weight, SYN_SMAP_POINTS);
        SYN_ARRAY(memory, b->spread, rows * SPREAD);
        SYN_ARRAY(memory, b->square, rows * SYN_SMAP_PITCH);
        SYN_ARRAY(memory, b->sum, rows * products);
        SYN_ARRAY(memory, b->panel, (SYN_SMAP_POINTS + SYN_SMAP_SPARE) * products);
        SYN_ARRAY(memory, b->fit, SYN_SMAP_LANES * unknowns);
        SYN_ARRAY(memory, b->singular, SYN_SMAP_LANES * unknowns);
        SYN_ARRAY(memory, b->to, rows * (unknowns - 1));
        SYN_ARRAY(memory, b->same, 3 * m->same.stride);
        SYN_ARRAY(memory, b->solving, syn_smap_lanes_room((uint32_t)unknowns));
    }
    return SYN_OK;
}

static syn_status gather_terms(many *m)
{
    const syn_smap_call *s = m->call;
    const syn_points *p = s->points;
    const syn_rows *of = s->library;
    double *value;
    SYN_TRY(syn_smap_terms_make(&m->terms, p->dims + 2, of->n, &m->memory, &value));
    SYN_ARRAY(&m->memory, m->centre, m->terms.n);
    for (uint32_t j = 1; j < m->terms.n; j++) {
        const double *x = p->coordinate + (size_t)(j - 1) * p->rows;
        m->centre[j] = syn_smap_terms_put(&m->terms, j, j <= p->dims ? x : s->target,
                                          of->row, of->n, 0, value);
    }
    return SYN_OK;
}

/* ---- steps ---- */

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
                         (uint32_t)syn_smap_padded(b->n, SYN_SMAP_ROWS), b->panel,
                         b->sum);
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

/* The next few models; those that the lanes refuse are made one by one. */
static void put_models(const many *m, block *b, syn_smap_bench *bench)
{
    const syn_smap_call *s = m->call;
    uint32_t left = b->n - b->done;
    syn_smap_equations e = {.unknowns = m->terms.n - 1,
                            .rows = left < SYN_SMAP_LANES ? left : SYN_SMAP_LANES,
                            .sum = b->sum + b->done * m->terms.products,
                            .stride = m->terms.products, .centre = m->centre,
                            .ridge = s->options->ridge, .room = b->solving};
    size_t bytes = e.unknowns * sizeof *b->fit;
    uint32_t made = m->lanes->solve(&e, b->fit, s->out->singular ? b->singular : NULL);
    for (uint32_t l = 0; l < e.rows; l++) {
        uint32_t r = b->done + l, at = b->first + r;
        syn_point_at(s->points, s->prediction->row[at], s->points->dims, bench->from);
        if (!(made >> l & 1)) {
            predict_again(m, b, r, bench);
            continue;
        }
        memcpy(bench->fit, b->fit + l * e.unknowns, bytes);
        memcpy(bench->singular, b->singular + l * e.unknowns, bytes);
        syn_smap_put(s, bench, &b->near[r], variance_of(m, b, r, bench), b->theta, at);
    }
    b->done += e.rows;
}

/* Begins with predictions `first` and those after it. */
static void begin(const many *m, block *b, size_t first)
{
    size_t left = m->call->prediction->n - first;
    b->begun = 1;
    b->first = (uint32_t)first;
    b->n = (uint32_t)(left < m->rows ? left : m->rows);
    b->theta = b->done = 0;
    b->point = 0;
    syn_smap_measure(m->call, m->call->prediction->row + first, b->n, m->stride,
                     b->distance, b->to, b->near);
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
    syn_smap_bench *bench = &m->call->bench[worker];
    double started = syn_seconds();
    if (!b->begun)
        begin(m, b, item * m->rows);
    while (!advance(m, b, bench))
        if (syn_seconds() - started > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
    b->begun = 0;
    return SYN_OK;
}

/* Whether many models at a time are worth it: with the whole library, at least twice as
   many points as there are coefficients, and 8 predictions or more. It then takes two
   thirds to a fifth of the time (two and twenty coordinates); where all models have to be
   made again, a tenth more. */
static int is_worth_it(const syn_smap_call *s)
{
    uint32_t dims = s->points->dims;
    if (!s->side_by_side || s->options->way == SYN_SMAP_ONE || dims > MOST_DIMS)
        return 0;
    return s->options->way == SYN_SMAP_MANY ||
           (s->library->n >= 2 * (dims + 1) && s->prediction->n >= LEAST_PREDICTIONS);
}

/* Makes all predictions of a call whose benches are made. */
static syn_status predict_many(const syn_smap_call *s, int threads,
                               const syn_watch *watch)
{
    int bits = s->options->vector_bits;
    many m = {.call = s, .product = syn_smap_product_fastest(bits),
              .lanes = syn_smap_lanes_fastest(bits)};
    m.stride = syn_smap_padded(s->stride, SYN_SMAP_POINTS);
    syn_status status = gather_terms(&m);
    SYN_NEXT(status, syn_smap_same_make(s, &m.memory, &m.same));
    /* As many predictions as the memory is for, but some blocks for each thread. Many
       products are worth more predictions, fewer stay in a nearer cache. */
    size_t bytes = m.terms.products > 64 ? 2 * BLOCK_BYTES : BLOCK_BYTES;
    size_t most = bytes / (sizeof(double) * m.stride);
    size_t share = m.call->prediction->n / (4 * (size_t)threads) + 1;
    most = most < share ? most : share;
    most = most < MOST_ROWS ? most : MOST_ROWS;
    m.rows = (uint32_t)syn_smap_padded(most > 1 ? most : 1, SYN_SMAP_ROWS);
    SYN_NEXT(status, make_blocks(&m, threads));
    SYN_NEXT(status, syn_parallel_for((s->prediction->n + m.rows - 1) / m.rows, threads,
                                      watch, "predictions", predict_block, &m));
    syn_give_back(&m.memory);
    return status;
}

/* ---- one at a time ---- */

/* The models of prediction `at`, whose point the bench has, from its neighbours. */
static void predict_thetas(const syn_smap_call *s, syn_smap_bench *b,
                           const syn_smap_near *near, uint32_t at)
{
    for (uint32_t theta = 0; theta < s->options->thetas; theta++)
        syn_smap_predict(s, b, near, theta, at);
}

static syn_status predict_one(void *context, size_t item, int worker)
{
    const syn_smap_call *s = context;
    syn_smap_bench *b = &s->bench[worker];
    uint32_t row = s->prediction->row[item];
    syn_smap_near near;
    syn_smap_measure(s, &row, 1, s->stride, b->distance, b->from, &near);
    predict_thetas(s, b, &near, (uint32_t)item);
    return SYN_OK;
}

/* The same from a list of neighbours, which it puts side by side. */
static void predict_from_list(void *context, int worker, uint32_t at, uint32_t e,
                              syn_near *listed, uint32_t found)
{
    const syn_smap_call *s = context;
    const syn_points *p = s->points;
    syn_smap_bench *b = &s->bench[worker];
    (void)e;
    for (uint32_t k = 0; k < p->dims; k++)
        for (uint32_t i = 0; i < found; i++)
            b->listed[k * s->stride + i] =
                p->coordinate[(size_t)k * p->rows + listed[i].row];
    for (uint32_t i = 0; i < found; i++) {
        syn_smap_put_target(b->listed + p->dims * s->stride, s->stride, i,
                            s->target[listed[i].row]);
        b->distance[i] = sqrt(listed[i].squared);
    }
    syn_smap_near near = syn_smap_among(s, b->listed, b->distance);
    near.end[0] = found;
    s->kind->survey(&near);
    syn_point_at(p, s->prediction->row[at], p->dims, b->from);
    predict_thetas(s, b, &near, at);
}

static syn_status predict_from_lists(syn_smap_call *s, int threads,
                                     const syn_watch *watch)
{
    const syn_points *space = s->options->space ? s->options->space : s->points;
    syn_neighbour_options options = {s->options->k, s->options->exclusion, threads,
                                     s->options->vector_bits};
    syn_reach from = {*s->library, NULL}, of = {*s->prediction, NULL};
    return syn_each_neighbourhood(space, &from, &of, space->dims, &options, watch,
                                  predict_from_list, s);
}

static int any_missing(const double *target, const syn_rows *rows)
{
    for (uint32_t i = 0; i < rows->n; i++)
        if (isnan(target[rows->row[i]]))
            return 1;
    return 0;
}

static syn_status make_benches(syn_smap_call *s, int threads)
{
    syn_arrays *memory = &s->memory;
    size_t dims = s->points->dims, unknowns = dims + 1;
    SYN_ARRAY(memory, s->bench, (size_t)threads);
    for (int i = 0; i < threads; i++) {
        syn_smap_bench *b = &s->bench[i];
        SYN_ARRAY(memory, b->from, dims);
        SYN_ARRAY(memory, b->fit, unknowns);
        SYN_ARRAY(memory, b->singular, unknowns);
        SYN_ARRAY(memory, b->distance, s->stride);
        if (!s->side_by_side)
            SYN_ARRAY(memory, b->listed, (dims + 2) * s->stride);
        SYN_TRY(syn_smap_space_make(&b->space, s->stride, (uint32_t)dims, memory));
        SYN_ARRAY(memory, b->exact, syn_smap_exact_room(s->stride, (uint32_t)dims));
    }
    return SYN_OK;
}

syn_status syn_smap(const syn_points *points, const syn_rows *library,
                    const syn_rows *prediction, const double *target,
                    const syn_smap_options *options, const syn_watch *watch,
                    const syn_smap_result *out)
{
    syn_smap_call s = {.points = points, .library = library, .prediction = prediction,
                       .target = target, .options = options, .out = out,
                       .missing = any_missing(target, library),
                       .kind = syn_smap_kind_fastest(options->vector_bits)};
    /* With one neighbour less than the library there is at most one to drop. */
    int whole = (uint64_t)options->k + 1 >= library->n;
    s.stride = syn_smap_stride(whole ? library->n : options->k);
    int threads = options->threads > 1 ? options->threads : 1;
    syn_status status = whole ? syn_smap_gather(&s) : SYN_OK;
    SYN_NEXT(status, make_benches(&s, threads));
    if (status == SYN_OK && is_worth_it(&s))
        status = predict_many(&s, threads, watch);
    else if (status == SYN_OK && whole)
        status = syn_parallel_for(prediction->n, threads, watch, "predictions",
                                  predict_one, &s);
    else if (status == SYN_OK)
        status = predict_from_lists(&s, threads, watch);
    syn_give_back(&s.memory);
    return status;
}
