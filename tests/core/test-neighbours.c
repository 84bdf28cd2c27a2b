/* Neighbours, those of small libraries and those among boxes, against all pairs of rows;
   and cross mapping of long series, whose libraries are searched in both ways. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/base/rank.h"
#include "core/edm/ccm/ccm.h"
#include "core/edm/neighbours/neighbours.h"
#include "core/edm/neighbours/nearest.h"

enum { MOST_ROWS = 3000, MOST_DIMS = 9, MOST_K = 70, PREDICTED = 24 };

/* What data look like. */
typedef enum kind { NOISE, COUNTS, SAME, OFFSET, OUTLIER, MIXED, KINDS } kind;

typedef struct cloud {
    double coordinate[MOST_DIMS * MOST_ROWS];
    uint32_t library[MOST_ROWS], predicted[PREDICTED];
    syn_points points;
    syn_rows from, to;
} cloud;

static double value_of(kind kind, uint32_t row)
{
    double x = draw_share();
    switch (kind) {
    case COUNTS: return floor(1.4 * x * x * 2);
    case SAME: return 7;
    case OFFSET: return 1e9 + x;
    case OUTLIER: return row % 997 == 5 ? 1e12 : x;
    case MIXED: return row % 2 ? floor(4 * x) : 1e-3 * x;
    default: return x;
    }
}

/* Points, of which a share is the library. */
static void cloud_draw(cloud *c, kind kind, uint32_t rows, uint32_t dims, double share)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < dims; d++)
        for (uint32_t r = 0; r < rows; r++)
            c->coordinate[d * rows + r] = value_of(kind, r);
    for (uint32_t r = 0; r < rows; r++) {
        c->library[n] = r;
        n += draw_share() < share;
    }
    for (uint32_t i = 0; i < PREDICTED; i++)
        c->predicted[i] = i * (rows / PREDICTED);
    c->points = (syn_points){.rows = rows, .dims = dims, .coordinate = c->coordinate,
                             .least = 1e-6};
    c->from = (syn_rows){n, c->library};
    c->to = (syn_rows){PREDICTED, c->predicted};
}

static int nearer(const void *a, const void *b)
{
    return syn_near_before(a, b) ? -1 : syn_near_before(b, a);
}

/* All library rows of a prediction, in order; returns how many. */
static uint32_t sort_all(const cloud *c, uint32_t row, uint32_t exclusion, syn_near *out)
{
    uint32_t n = 0, rows = c->points.rows;
    for (uint32_t i = 0; i < c->from.n; i++) {
        uint32_t other = c->library[i], apart = other > row ? other - row : row - other;
        double sum = 0;
        for (uint32_t d = 0; d < c->points.dims; d++) {
            double x = c->coordinate[d * rows + other] - c->coordinate[d * rows + row];
            volatile double square = x * x;
            sum += square;
        }
        if (apart > exclusion)
            out[n++] = (syn_near){sum, syn_rank_after(other, syn_row_rank(row)), other};
    }
    qsort(out, n, sizeof *out, nearer);
    return n;
}

static void check_search(const cloud *c, uint32_t k, uint32_t exclusion, int threads,
                         int bits)
{
    static syn_near all[MOST_ROWS];
    syn_neighbours found;
    syn_neighbour_options options = {.k = k, .exclusion = exclusion, .threads = threads,
                                     .vector_bits = bits};
    syn_status status = syn_find_neighbours(&c->points, &c->from, &c->to, &options, NULL,
                                            &found);
    int same = status == SYN_OK;
    for (uint32_t i = 0; same && i < PREDICTED; i++) {
        uint32_t n = sort_all(c, c->predicted[i], exclusion, all);
        n = n < k ? n : k;
        same = found.found[i] == n;
        for (uint32_t j = 0; same && j < n; j++)
            same = found.row[i * k + j] == all[j].row &&
                   found.distance[i * k + j] == sqrt(all[j].squared);
    }
    CHECK(same);
    syn_neighbours_free(&found);
}

/* Libraries of as many rows as are searched in one and in the other way. */
static void check_searches(void)
{
    static const uint32_t rows[] = {40, 700, 2048, MOST_ROWS}, dims[] = {1, 3, MOST_DIMS};
    static const uint32_t ks[] = {1, 5, 32, 33, MOST_K}, exclusions[] = {0, 3, 500};
    static cloud c;
    for (int kind = 0; kind < KINDS; kind++)
        for (int r = 0; r < 4; r++)
            for (int d = 0; d < 3; d++) {
                double share = draw_share() < 0.5 ? 1 : 0.6;
                int turn = kind + r + d;
                cloud_draw(&c, (enum kind)kind, rows[r], dims[d], share);
                check_search(&c, ks[turn % 5], exclusions[turn % 3], 1, turn % 2);
                check_search(&c, ks[(turn + 2) % 5], 0, TEST_THREADS, 0);
                check_search(&c, ks[(turn + 4) % 5], 1, 1, 256);
            }
}

/* ---- cross mapping ---- */

/* Skill by the neighbours of each row in a library: mean absolute error. */
static double error_of(const cloud *c, const syn_rows *rows, const double *target,
                       const unsigned char *chosen, uint32_t k)
{
    static syn_near all[MOST_ROWS];
    double sum = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        uint32_t row = rows->row[i], n = sort_all(c, row, 0, all), used = 0;
        double above = 0, below = 0, least = 0;
        for (uint32_t j = 0; j < n && used < k; j++) {
            if (!chosen[all[j].row])
                continue;
            double apart = sqrt(all[j].squared);
            least = used++ == 0 ? fmax(apart, 1e-6) : least;
            above += exp(-apart / least) * target[all[j].row];
            below += exp(-apart / least);
        }
        sum += fabs(above / below - target[row]);
    }
    return sum / rows->n;
}

/* All rows are the library, but only some are predicted. */
static void check_long(kind kind, int threads, int bits)
{
    enum { K = 4, SAMPLES = 9, SIZES = 3 };
    static const uint32_t size[SIZES] = {60, 2300, MOST_ROWS};
    static cloud c;
    static double target[MOST_ROWS];
    static unsigned char chosen[MOST_ROWS];
    cloud_draw(&c, kind, MOST_ROWS, 3, 2);
    for (int r = 0; r < MOST_ROWS; r++)
        target[r] = c.coordinate[(r + 1) % MOST_ROWS] + 0.1 * draw_share();
    syn_ccm_options options = {.k = K, .sizes = SIZES, .size = size, .samples = SAMPLES,
                               .key = 3, .threads = threads, .vector_bits = bits};
    syn_ccm_skill skill;
    CHECK(syn_ccm(&c.points, &c.from, &c.to, target, 1, &options, NULL, &skill) ==
          SYN_OK);
    CHECK(skill.n == 2 * SAMPLES + 1);
    for (uint32_t s = 0; s < SIZES; s++) {
        uint32_t sample = s == 2 ? 0 : SAMPLES - 1;
        memset(chosen, s == 2, sizeof chosen);
        if (s < 2)
            syn_ccm_draw(MOST_ROWS, size[s], sample, &options, chosen);
        double error = error_of(&c, &c.to, target, chosen, K);
        CHECK(fabs(skill.mae[s * SAMPLES + sample] - error) <= 1e-12 * error);
    }
    syn_ccm_free(&skill);
}

void test_neighbours(void)
{
    check_searches();
    check_long(NOISE, 1, 0);
    check_long(COUNTS, TEST_THREADS, 1);
    check_long(SAME, TEST_THREADS, 0);
    check_long(MIXED, 1, 256);
}
