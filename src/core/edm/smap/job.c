/* Makes the jobs, whose shares workers take (worker.c), and their results. */
#include "core/edm/smap/job.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHARES = 64 };

/* What rounding may leave of a sum of squares. */
#define MOST_ROUNDING 1e-13

/* ---- a job ---- */

/* Rows of a block, with that of the coefficients. */
static uint32_t rows_of(uint32_t points)
{
    size_t most = SYN_SMAP_BLOCK_BYTES / sizeof(double) / syn_smap_job_stride(points);
    size_t all = syn_smap_padded((size_t)points + 1, SYN_SMAP_ROWS);
    most = most / SYN_SMAP_ROWS * SYN_SMAP_ROWS;
    most = most < SYN_SMAP_MOST_ROWS ? most : SYN_SMAP_MOST_ROWS;
    most = most < all ? most : all;
    return (uint32_t)(most > SYN_SMAP_ROWS ? most : SYN_SMAP_ROWS);
}

/* Whether step t, `by` steps later, is in the series. */
static int inside(uint32_t steps, uint32_t t, int64_t by)
{
    int64_t at = (int64_t)t + by;
    return at >= 0 && at < steps;
}

/* Fills the coordinates at step t; whether all of them are known. */
static int fill_point(const syn_smap_job *j, const syn_smap_pairs_options *o,
                      const double *value, uint32_t t)
{
    uint32_t steps = j->points.rows;
    int known = inside(steps, t, o->Tp);
    for (uint32_t k = 0; k < j->dims; k++) {
        int64_t by = (int64_t)k * o->tau;
        double x = inside(steps, t, by) ? value ? value[(int64_t)t + by] : 0 : NAN;
        j->coordinate[(size_t)k * steps + t] = x;
        known = known && !isnan(x);
    }
    return known;
}

/* Whether all rows are the same point. */
static int all_alike(const syn_smap_job *j)
{
    for (uint32_t k = 0; k < j->dims; k++) {
        const double *x = j->coordinate + (size_t)k * j->points.rows;
        for (uint32_t i = 1; i < j->rows.n; i++)
            if (x[j->row[i]] != x[j->row[0]])
                return 0;
    }
    return 1;
}

static syn_status find_rows(syn_smap_job *j, const syn_smap_pairs_options *o,
                            const double *value)
{
    uint32_t steps = j->points.rows;
    j->row = malloc((size_t)steps * sizeof *j->row + 1);
    j->coordinate = malloc((size_t)j->dims * steps * sizeof *j->coordinate + 1);
    if (!j->row || !j->coordinate)
        return SYN_NO_MEMORY;
    for (uint32_t t = 0; t < steps; t++)
        if (fill_point(j, o, value, t))
            j->row[j->rows.n++] = t;
    j->points.coordinate = j->coordinate;
    j->rows.row = j->row;
    return SYN_OK;
}

/* The target of each row in panels of the product. */
static syn_status make_panels(syn_smap_job *j, int32_t Tp)
{
    const syn_smap_group *g = j->group;
    size_t wide = j->product->wide, steps = j->points.rows;
    j->panel = calloc(j->stride * j->columns, sizeof *j->panel);
    if (!j->panel)
        return SYN_NO_MEMORY;
    for (uint32_t c = 0; c < g->n; c++) {
        const double *y = g->value + (size_t)g->target[c] * steps;
        double *to = j->panel + c / wide * wide * SYN_SMAP_POINTS + c % wide;
        for (size_t i = 0; i < j->rows.n; i++) {
            double value = y[(int64_t)j->row[i] + Tp] - g->centre[c];
            size_t block = i / SYN_SMAP_POINTS * SYN_SMAP_POINTS * j->columns;
            to[block + i % SYN_SMAP_POINTS * wide] = isnan(value) ? 0 : value;
        }
    }
    return SYN_OK;
}

/* A number near the mean of the rows' coordinate k; of a constant, that. */
static double centre_of(const syn_smap_job *j, uint32_t k)
{
    const double *x = j->coordinate + (size_t)k * j->points.rows;
    double first = x[j->row[0]], sum = 0;
    for (uint32_t i = 0; i < j->rows.n; i++)
        sum += x[j->row[i]] - first;
    return first + sum / j->rows.n;
}

static syn_status make_terms(syn_smap_job *j)
{
    syn_smap_terms *t = &j->terms;
    double square = 0;
    t->n = j->dims + 1;
    t->pitch = syn_smap_padded(t->n, SYN_SMAP_PADDING);
    t->products = syn_smap_products(t->n);
    j->value = calloc(j->rows.n * t->pitch + SYN_SMAP_PADDING, sizeof *j->value);
    j->centre = calloc(t->n, sizeof *j->centre);
    j->centred = calloc(j->dims * j->stride, sizeof *j->centred);
    t->value = j->value;
    if (!j->value || !j->centre || !j->centred)
        return SYN_NO_MEMORY;
    for (uint32_t k = 0; k < t->n; k++) {
        j->centre[k] = k > 0 ? centre_of(j, k - 1) : 0;
        for (size_t i = 0; i < j->rows.n; i++) {
            double x = 1;
            if (k > 0) {
                const double *of = j->coordinate + (size_t)(k - 1) * j->points.rows;
                x = of[j->row[i]] - j->centre[k];
                j->centred[(k - 1) * j->stride + i] = x;
            }
            j->value[i * t->pitch + k] = x;
            square += k == 1 ? x * x : 0;
        }
    }
    j->size = square > 0 ? sqrt(square / j->rows.n) : 1;
    return SYN_OK;
}

/* Cuts so many predictions into shares. */
static void share_out(syn_smap_job *j, uint32_t predictions)
{
    j->predictions = predictions;
    j->blocks = (predictions + j->block - 1) / j->block;
    uint32_t each = (j->blocks + MOST_SHARES - 1) / MOST_SHARES;
    j->shares = (j->blocks + each - 1) / each;
}

static syn_status make_sums(syn_smap_job *j)
{
    j->block = rows_of(j->rows.n) - 1;
    share_out(j, j->rows.n);
    j->sum = calloc((size_t)j->shares * SYN_SMAP_SUMS * j->columns, sizeof *j->sum);
    j->known = calloc(j->shares, sizeof *j->known);
    j->made = calloc(j->shares, sizeof *j->made);
    return j->sum && j->known && j->made ? SYN_OK : SYN_NO_MEMORY;
}

/* Whether the targets are known at each step. */
static const double *any_target(const syn_smap_group *g, uint32_t steps)
{
    return g->value + (size_t)g->target[0] * steps;
}

/* `call` for this library. Its target, at each row, is only known or not. */
static syn_status make_call(syn_smap_job *j, const syn_smap_common *common)
{
    uint32_t steps = j->points.rows;
    const double *y = any_target(j->group, steps);
    double *later = malloc((size_t)steps * sizeof *later);
    if (!later)
        return SYN_NO_MEMORY;
    j->call = (syn_smap_call){.points = &j->points, .library = &j->rows,
                              .prediction = &j->rows, .target = later,
                              .options = common->smap, .kind = common->kind,
                              .stride = syn_smap_stride(j->rows.n)};
    for (uint32_t i = 0; i < j->rows.n; i++) {
        double value = y[(int64_t)j->row[i] + common->options->Tp];
        later[j->row[i]] = isnan(value) ? NAN : 0;
        j->call.missing |= isnan(value);
    }
    syn_status status = syn_smap_gather(&j->call);
    j->call.target = NULL;
    free(later);
    return status;
}

syn_status syn_smap_job_make(const syn_smap_common *common, uint32_t i, syn_smap_job *out)
{
    const syn_series *from = common->libraries;
    int none = i >= from->n;
    *out = (syn_smap_job){.group = common->group, .product = common->product,
                          .dims = common->options->E};
    out->points = (syn_points){from->steps, out->dims, NULL, 0};
    out->columns = syn_smap_padded(out->group->n, SYN_SMAP_COLUMNS);
    syn_status status = find_rows(out, common->options,
                                  none ? NULL : from->value + (size_t)i * from->steps);
    out->stride = syn_smap_job_stride(out->rows.n);
    if (status != SYN_OK || (!none && (out->rows.n < 2 || all_alike(out))))
        return status;
    if (!none && common->whole->rows.n == out->rows.n)
        out->panels = common->whole->panels;
    else
        status = make_panels(out, common->options->Tp);
    if (out->panel)
        out->panels = out->panel;
    if (none || status != SYN_OK)
        return status;
    status = make_call(out, common);
    if (status == SYN_OK)
        status = make_terms(out);
    if (status == SYN_OK)
        status = syn_smap_same_make(&out->call, &out->same);
    if (status == SYN_OK)
        status = make_sums(out);
    return status;
}

syn_status syn_smap_job_rest(syn_smap_job *job, const syn_smap_rest *rest)
{
    if (!job->sum)
        return SYN_OK;
    job->only = malloc((size_t)rest->n * sizeof *job->only + 1);
    if (!job->only)
        return SYN_NO_MEMORY;
    for (uint32_t i = 0; i < rest->n; i++)
        job->only[i] = syn_first_row_from(job->row, job->rows.n, rest->step[i]);
    share_out(job, rest->n);
    for (size_t k = 0; k < SYN_SMAP_SUMS; k++)
        for (size_t c = 0; c < job->group->n; c++)
            job->sum[k * job->columns + c] = rest->sum[k * rest->columns + c];
    job->known[0] = rest->known;
    job->made[0] = rest->made;
    return SYN_OK;
}

void syn_smap_job_free(syn_smap_job *job)
{
    free(job->only);
    free(job->row);
    free(job->coordinate);
    free(job->call.side_by_side);
    free(job->value);
    free(job->centre);
    free(job->centred);
    syn_smap_same_free(&job->same);
    free(job->panel);
    free(job->sum);
    free(job->known);
    free(job->made);
}

/* ---- results ---- */

/* NaN below three predictions, and where they or the target vary by no more than
   rounding. */
static double correlation(const double *sum, double n, double centre)
{
    double p = sum[SYN_SMAP_PP] - sum[SYN_SMAP_P] * sum[SYN_SMAP_P] / n;
    double y = sum[SYN_SMAP_YY] - sum[SYN_SMAP_Y] * sum[SYN_SMAP_Y] / n;
    double rounding = 8 * DBL_EPSILON * centre, least = n * rounding * rounding;
    if (!(n >= 3 && y > least && y > MOST_ROUNDING * sum[SYN_SMAP_YY] && p > least &&
          p > MOST_ROUNDING * sum[SYN_SMAP_PP] && p > MOST_ROUNDING * MOST_ROUNDING * y))
        return NAN;
    double rho = (sum[SYN_SMAP_PY] - sum[SYN_SMAP_P] * sum[SYN_SMAP_Y] / n) /
                 (sqrt(p) * sqrt(y));
    return rho > 1 ? 1 : rho < -1 ? -1 : rho;
}

void syn_smap_sums_finish(const syn_smap_group *group, const double *sum, size_t columns,
                          double known, double made, double *rho, double *strength)
{
    for (uint32_t c = 0; c < group->n; c++) {
        double of[SYN_SMAP_SUMS];
        uint32_t target = group->target[c];
        for (size_t k = 0; k < SYN_SMAP_SUMS; k++)
            of[k] = sum[k * columns + c];
        rho[target] = correlation(of, known, group->centre[c]);
        strength[target] = made > 0 ? of[SYN_SMAP_STRENGTH] / made : NAN;
    }
}

void syn_smap_job_finish(syn_smap_job *j, double *rho, double *strength)
{
    double known = 0, made = 0;
    size_t all = SYN_SMAP_SUMS * j->columns;
    for (uint32_t s = 0; s < j->shares; s++) {
        known += j->known[s];
        made += j->made[s];
        for (size_t k = 0; s > 0 && k < all; k++)
            j->sum[k] += j->sum[s * all + k];
    }
    if (j->shares > 0)
        syn_smap_sums_finish(j->group, j->sum, j->columns, known, made, rho, strength);
}
