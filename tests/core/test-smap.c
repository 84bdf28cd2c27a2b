/* S-maps: many models at a time against one at a time, for data that these are good for
   and for data of which they make many again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/edm/smap/smap.h"

enum { ROWS = 700, DIMS = 5, UNKNOWNS = DIMS + 1, THETAS = 3 };

typedef enum kind { NOISE, COUNTS, RARE, SAME, SMOOTH, KINDS } kind;

typedef struct series {
    double coordinate[DIMS * ROWS], target[ROWS];
    uint32_t row[ROWS], n;
    syn_points points;
} series;

static double value_of(kind kind, int t)
{
    double x = draw_share();
    switch (kind) {
    case COUNTS: return floor(3 * x * x);
    case RARE: return x < 0.05;
    case SAME: return 4;
    case SMOOTH: return sin(t * 0.05) + 1e-3 * x;
    default: return 100 + x;
    }
}

/* Delay vectors, and targets a row later; now and then one is missing. */
static void series_draw(series *s, kind kind, int gaps)
{
    double x[ROWS + DIMS];
    for (int t = 0; t < ROWS + DIMS; t++)
        x[t] = value_of(kind, t);
    s->n = 0;
    for (int t = 0; t < ROWS; t++) {
        for (int d = 0; d < DIMS; d++)
            s->coordinate[d * ROWS + t] = x[t + DIMS - 1 - d];
        s->target[t] = gaps && draw(20) == 0 ? NAN : x[t + DIMS];
        if (!gaps || t % 17 > 1)
            s->row[s->n++] = (uint32_t)t;
    }
    s->points = (syn_points){.rows = ROWS, .dims = DIMS, .coordinate = s->coordinate,
                             .least = 1e-6};
}

/* Predictions, variances, coefficients and singular values, one after the other. */
typedef struct result {
    double all[THETAS * ROWS * (2 + 2 * UNKNOWNS)];
} result;

static void run(const series *s, syn_smap_options options, result *to)
{
    static const double theta[THETAS] = {0, 2, 7};
    syn_rows rows = {s->n, s->row};
    size_t n = (size_t)THETAS * s->n;
    options.thetas = THETAS;
    options.theta = theta;
    options.k = s->n - 1;
    options.missing = NAN;
    syn_smap_result out = {to->all, to->all + n, to->all + 2 * n,
                           to->all + (2 + UNKNOWNS) * n};
    memset(to, 0, sizeof *to);
    CHECK(syn_smap(&s->points, &rows, &rows, s->target, &options, NULL, &out) == SYN_OK);
}

/* The largest difference of `n` numbers, as a share of the largest of them, unless these
   are all as good as 0. */
static double difference(const double *a, const double *b, size_t n)
{
    double most = 0, size = 1e-12;
    for (size_t i = 0; i < n; i++) {
        if (isnan(a[i]) || isnan(b[i])) {
            most = isnan(a[i]) && isnan(b[i]) ? most : INFINITY;
            continue;
        }
        most = fmax(most, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return most / size;
}

static void check_ways(kind kind, int gaps, uint32_t exclusion, double ridge)
{
    static series s;
    static result one, many, other;
    series_draw(&s, kind, gaps);
    size_t n = (size_t)THETAS * s.n;
    syn_smap_options options = {.exclusion = exclusion, .ridge = ridge, .threads = 1,
                                .way = SYN_SMAP_ONE};
    run(&s, options, &one);
    static const int bits[] = {0, 1, 256};
    for (int k = 0; k < 3; k++) {
        options.way = SYN_SMAP_MANY;
        options.vector_bits = bits[k];
        options.threads = 1;
        run(&s, options, &many);
        CHECK(difference(many.all, one.all, n) < 1e-7);
        CHECK(difference(many.all + n, one.all + n, n) < 1e-7);
        CHECK(difference(many.all + 2 * n, one.all + 2 * n, n * UNKNOWNS) < 1e-7);
        CHECK(difference(many.all + (2 + UNKNOWNS) * n, one.all + (2 + UNKNOWNS) * n,
                         n * UNKNOWNS) < 1e-7);
        options.threads = TEST_THREADS;
        run(&s, options, &other);
        CHECK(memcmp(&many, &other, sizeof many) == 0);
    }
}

void test_smap(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        check_ways((enum kind)kind, 0, 0, 0);
        check_ways((enum kind)kind, 1, 2, 0);
        check_ways((enum kind)kind, kind % 2, 40, 1e-3);
    }
}
