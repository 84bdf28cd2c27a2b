/* Neighbours, simplex projection, S-maps and cross mapping: threads and registers of any
   width give the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/edm/ccm/ccm.h"
#include "core/edm/simplex/simplex.h"
#include "core/edm/smap/smap.h"

enum { ROWS = 400, DIMS = 3 };

typedef struct series {
    double coordinate[DIMS * ROWS], target[2 * ROWS];
    uint32_t row[ROWS];
    syn_points points;
    syn_rows rows;
} series;

/* Delay vectors of a logistic map, half of it rounded so that distances are tied. */
static void series_draw(series *s)
{
    double x[ROWS + DIMS];
    x[0] = 0.4;
    for (int t = 1; t < ROWS + DIMS; t++)
        x[t] = 3.8 * x[t - 1] * (1 - x[t - 1]);
    for (int t = ROWS / 2; t < ROWS + DIMS; t++)
        x[t] = floor(32 * x[t]) / 32;
    for (int t = 0; t < ROWS; t++) {
        for (int d = 0; d < DIMS; d++)
            s->coordinate[d * ROWS + t] = x[t + DIMS - 1 - d];
        s->target[t] = x[t + DIMS];
        s->target[ROWS + t] = draw_share();
        s->row[t] = (uint32_t)t;
    }
    s->points = (syn_points){.rows = ROWS, .dims = DIMS, .coordinate = s->coordinate,
                             .least = 1e-6};
    s->rows = (syn_rows){ROWS, s->row};
}

static void check_simplex(const series *s)
{
    static double out[2][2][2 * ROWS];
    for (int k = 0; k < 2; k++) {
        syn_neighbour_options options = {.k = DIMS + 1, .exclusion = 2,
                                         .threads = k ? TEST_THREADS : 1,
                                         .vector_bits = k ? 0 : 1};
        syn_targets targets = {2, s->target};
        CHECK(syn_simplex(&s->points, &s->rows, &s->rows, &options, &targets, NULL,
                          out[k][0], out[k][1]) == SYN_OK);
    }
    CHECK(memcmp(out[0], out[1], sizeof out[0]) == 0);
}

static void check_sweep(const series *s)
{
    static double out[2][DIMS * ROWS];
    uint32_t steps[ROWS];
    for (int t = 0; t < ROWS; t++)
        steps[t] = DIMS;
    syn_reach all = {s->rows, steps};
    for (int k = 0; k < 2; k++) {
        syn_sweep_options options = {.step = 1, .exclusion = 1,
                                     .threads = k ? TEST_THREADS : 1};
        CHECK(syn_simplex_sweep(&s->points, &all, &all, &options, s->target, NULL,
                                out[k]) == SYN_OK);
    }
    CHECK(memcmp(out[0], out[1], sizeof out[0]) == 0);
}

static void check_smap(const series *s)
{
    enum { THETAS = 3 };
    static const double theta[THETAS] = {0, 1, 5};
    static double prediction[2][THETAS * ROWS], variance[2][THETAS * ROWS];
    for (int k = 0; k < 2; k++) {
        syn_smap_options options = {.thetas = THETAS, .theta = theta, .k = ROWS - 1,
                                    .missing = NAN, .threads = k ? TEST_THREADS : 1};
        syn_smap_result result = {prediction[k], variance[k], NULL, NULL};
        CHECK(syn_smap(&s->points, &s->rows, &s->rows, s->target, &options, NULL,
                       &result) == SYN_OK);
    }
    CHECK(memcmp(prediction[0], prediction[1], sizeof prediction[0]) == 0);
    CHECK(memcmp(variance[0], variance[1], sizeof variance[0]) == 0);
}

static void check_ccm(const series *s)
{
    enum { SIZES = 3 };
    static const uint32_t size[SIZES] = {20, 100, 300};
    syn_ccm_skill skill[2];
    for (int k = 0; k < 2; k++) {
        syn_ccm_options options = {.k = DIMS + 1, .sizes = SIZES, .size = size,
                                   .samples = 20, .key = 5,
                                   .threads = k ? TEST_THREADS : 1,
                                   .vector_bits = k ? 0 : 1};
        CHECK(syn_ccm(&s->points, &s->rows, &s->rows, s->target, 2, &options, NULL,
                      &skill[k]) == SYN_OK);
    }
    CHECK(skill[0].n == SIZES * 20 && skill[1].n == skill[0].n);
    CHECK(memcmp(skill[0].rho, skill[1].rho, 2 * skill[0].n * sizeof(double)) == 0);
    syn_ccm_free(&skill[0]);
    syn_ccm_free(&skill[1]);
}

void test_edm(void)
{
    static series s;
    series_draw(&s);
    check_simplex(&s);
    check_sweep(&s);
    check_smap(&s);
    check_ccm(&s);
}
