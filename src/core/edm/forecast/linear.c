/* The regressors are 1, the clocks, and then step by step the effect and all causes. So
   those of a lower order come first, and one Cholesky factor has those of each order. */
#include "core/edm/forecast/linear.h"

#include <math.h>
#include <string.h>

#include "core/base/arrays.h"
#include "core/base/parallel.h"
#include "core/base/simd.h"

/* A regressor of which the others leave less than this share depends on them. */
#define LEAST_LEFT 1e-9

/* Rows whose products are added together, so that sums are loaded once for all. */
enum { LINEAR_TOGETHER = 4 };

typedef double linear_lanes __attribute__((vector_size(SYN_REGISTER), aligned(8),
                                           may_alias));

/* One job: its regressors, and what a thread needs for them. */
typedef struct linear_fit {
    uint32_t fixed, side;  /* 1 and the clocks; and the regressors of a step */
    uint32_t most;         /* the highest order that has rows enough */
    uint32_t all, n;       /* its regressors, and those of the order in use */
    uint32_t rows, order;
    uint32_t pitch;        /* of a row of `lower`, and of a row of `x`: whole registers */
    uint32_t *row;         /* [steps] */
    double *x;             /* [LINEAR_TOGETHER][pitch] regressors, and the effect */
    double *lower;         /* [all + 1][pitch] sums of products, then their factor */
    double *inverse;       /* [all][all] of the factor of the order in use */
    double *slope;         /* [all] coefficients */
    double left;           /* sum of the squared residuals */
} linear_fit;

typedef struct linear_call {
    const syn_series *series;
    const syn_linear_jobs *jobs;
    const syn_linear_options *options;
    const syn_linear_tests *out;
    linear_fit *fit;  /* [threads] */
} linear_call;

static uint32_t regressors_of(const linear_fit *fit, uint32_t order)
{
    return fit->fixed + order * fit->side;
}

/* Of rows that have this many regressors and the effect. */
static uint32_t pitch_of(size_t all)
{
    return (uint32_t)((all + SYN_F64_LANES) / SYN_F64_LANES * SYN_F64_LANES);
}

/* The highest order with three steps or more for each regressor; 0 for none. */
static uint32_t highest_order(const linear_call *c, size_t job)
{
    const syn_linear_jobs *j = c->jobs;
    size_t fixed = 1 + (j->clock_start[job + 1] - j->clock_start[job]);
    size_t side = 1 + (j->cause_start[job + 1] - j->cause_start[job]);
    uint32_t order = c->options->most;
    while (order >= c->options->least && 3 * (fixed + order * side) > c->series->steps)
        order--;
    return order < c->options->least ? 0 : order;
}

static double value_at(const linear_call *c, uint32_t series, uint32_t step)
{
    return c->series->value[(size_t)series * c->series->steps + step];
}

/* Regressors and effect of the row that is forecast from `step`. */
static void fill_row(const linear_call *c, size_t job, uint32_t most, uint32_t step,
                     double *x)
{
    const syn_linear_jobs *j = c->jobs;
    *x++ = 1;
    for (size_t k = j->clock_start[job]; k < j->clock_start[job + 1]; k++)
        *x++ = value_at(c, j->clock[k], step);
    for (uint32_t lag = 0; lag < most; lag++) {
        *x++ = value_at(c, j->effect[job], step - lag);
        for (size_t k = j->cause_start[job]; k < j->cause_start[job + 1]; k++)
            *x++ = value_at(c, j->cause[k], step - lag);
    }
    *x = value_at(c, j->effect[job], step + 1);
}

static int all_known(const double *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (isnan(x[i]))
            return 0;
    return 1;
}

/* Adds the products of the rows of `x` to the lower half of the sums, and to a few
   beside it. */
static void add_products(linear_fit *fit)
{
    const double *x = fit->x;
    uint32_t pitch = fit->pitch;
    for (uint32_t i = 0; i <= fit->all; i++) {
        double *to = fit->lower + (size_t)i * pitch;
        for (uint32_t k = 0; k <= i; k += SYN_F64_LANES) {
            linear_lanes sum = *(linear_lanes *)(to + k);
            for (uint32_t r = 0; r < LINEAR_TOGETHER; r++)
                sum += *(const linear_lanes *)(x + r * pitch + k) * x[r * pitch + i];
            *(linear_lanes *)(to + k) = sum;
        }
    }
}

/* Sums of products of all regressors and the effect, their lower half. */
static void add_rows(const linear_call *c, size_t job, linear_fit *fit)
{
    uint32_t pending = 0;
    memset(fit->lower, 0, (size_t)(fit->all + 1) * fit->pitch * sizeof *fit->lower);
    memset(fit->x, 0, LINEAR_TOGETHER * (size_t)fit->pitch * sizeof *fit->x);
    fit->rows = 0;
    for (uint32_t t = c->options->most - 1; t + 1 < c->series->steps; t++) {
        double *x = fit->x + pending * fit->pitch;
        fill_row(c, job, fit->most, t, x);
        if (!all_known(x, fit->all + 1))
            continue;
        fit->row[fit->rows++] = t;
        pending = (pending + 1) % LINEAR_TOGETHER;
        if (pending == 0)
            add_products(fit);
    }
    for (uint32_t r = pending; r < LINEAR_TOGETHER; r++)
        memset(fit->x + r * fit->pitch, 0, fit->pitch * sizeof *fit->x);
    if (pending > 0)
        add_products(fit);
}

/* The factor of all sums, whose last row is that of the effect; how many regressors come
   before the first that depends on the others. */
static uint32_t factorise(linear_fit *fit)
{
    uint32_t n = fit->all + 1, pitch = fit->pitch;
    for (uint32_t i = 0; i < n; i++) {
        double *row = fit->lower + (size_t)i * pitch, own = row[i];
        for (uint32_t k = 0; k < i; k++) {
            const double *other = fit->lower + (size_t)k * pitch;
            double left = row[k];
            for (uint32_t l = 0; l < k; l++)
                left -= row[l] * other[l];
            row[k] = left / other[k];
            own -= row[k] * row[k];
        }
        if (i + 1 < n && !(own > LEAST_LEFT * row[i]))
            return i;
        row[i] = sqrt(fmax(own, 0));
    }
    return fit->all;
}

/* The order with the lowest BIC; 0 for none. */
static uint32_t best_order(const linear_call *c, linear_fit *fit, uint32_t sound)
{
    const double *effect = fit->lower + (size_t)fit->all * fit->pitch;
    uint32_t order = 0, n = fit->all;
    /* The squares of the last row are what each regressor takes away. */
    double left = effect[n] * effect[n], best = INFINITY;
    for (uint32_t p = fit->most; p >= c->options->least; p--) {
        uint32_t k = regressors_of(fit, p);
        for (; n > k; n--)
            left += effect[n - 1] * effect[n - 1];
        if (k > sound || fit->rows < 3 * k || !(left > 0))
            continue;
        double bic = fit->rows * log(left / fit->rows) + log(fit->rows) * k;
        if (bic < best) {
            best = bic;
            order = p;
            fit->left = left;
        }
    }
    fit->n = regressors_of(fit, order);
    return order;
}

/* The inverse of the factor, and the coefficients. */
static void solve(linear_fit *fit)
{
    uint32_t n = fit->n, pitch = fit->pitch;
    const double *effect = fit->lower + (size_t)fit->all * pitch;
    for (uint32_t col = 0; col < n; col++)
        for (uint32_t i = 0; i < n; i++) {
            const double *row = fit->lower + (size_t)i * pitch;
            double left = i == col;
            for (uint32_t k = col; k < i; k++)
                left -= row[k] * fit->inverse[(size_t)k * n + col];
            fit->inverse[(size_t)i * n + col] = i < col ? 0 : left / row[i];
        }
    for (uint32_t col = 0; col < n; col++) {
        double sum = 0;
        for (uint32_t i = col; i < n; i++)
            sum += fit->inverse[(size_t)i * n + col] * effect[i];
        fit->slope[col] = sum;
    }
}

/* Element of the inverse of the sums of products. */
static double spread_at(const linear_fit *fit, uint32_t a, uint32_t b)
{
    double sum = 0;
    for (uint32_t i = a > b ? a : b; i < fit->n; i++)
        sum += fit->inverse[(size_t)i * fit->n + a] *
               fit->inverse[(size_t)i * fit->n + b];
    return sum;
}

/* The mean squared error where each row is left out of its own fit (Allen 1974). */
static double error_left_out(const linear_call *c, size_t job, linear_fit *fit)
{
    double sum = 0;
    double *missed = c->out->missed ? c->out->missed + job * c->series->steps : NULL;
    for (uint32_t r = 0; r < fit->rows; r++) {
        fill_row(c, job, fit->most, fit->row[r], fit->x);
        double hat = 0, error = fit->x[fit->all];
        for (uint32_t i = 0; i < fit->n; i++) {
            const double *row = fit->inverse + (size_t)i * fit->n;
            double z = 0;
            for (uint32_t k = 0; k <= i; k++)
                z += row[k] * fit->x[k];
            hat += z * z;
            error -= fit->slope[i] * fit->x[i];
        }
        error /= 1 - hat;
        sum += error * error;
        if (missed)
            missed[fit->row[r] + 1] = error;
    }
    return sum / fit->rows;
}

/* F of all steps of the cause whose first regressor is `at`.
   `room`: [order + 1][order + 1]. */
static double f_of(const linear_fit *fit, uint32_t at, double *room)
{
    uint32_t n = fit->order;
    double free = (double)fit->rows - fit->n, sum = 0;
    for (uint32_t i = 0; i <= n; i++)
        for (uint32_t k = 0; k <= i && k < n; k++) {
            double left = i < n ? spread_at(fit, at + i * fit->side, at + k * fit->side)
                                : fit->slope[at + k * fit->side];
            for (uint32_t l = 0; l < k; l++)
                left -= room[i * n + l] * room[k * n + l];
            room[i * n + k] = i == k ? sqrt(left) : left / room[k * n + k];
        }
    for (uint32_t k = 0; k < n; k++)
        sum += room[n * n + k] * room[n * n + k];
    return sum / n / (fit->left / free);
}

static uint32_t delay_of(const linear_fit *fit, uint32_t at)
{
    uint32_t delay = 1;
    double most = -1;
    for (uint32_t k = 0; k < fit->order; k++) {
        uint32_t i = at + k * fit->side;
        double far = fit->slope[i] * fit->slope[i] / spread_at(fit, i, i);
        if (far > most) {
            most = far;
            delay = k + 1;
        }
    }
    return delay;
}

static syn_status test_effect(void *context, size_t job, int worker)
{
    const linear_call *c = context;
    linear_fit *fit = &c->fit[worker];
    const syn_linear_jobs *j = c->jobs;
    size_t first = j->cause_start[job], causes = j->cause_start[job + 1] - first;
    fit->fixed = 1 + (uint32_t)(j->clock_start[job + 1] - j->clock_start[job]);
    fit->side = 1 + (uint32_t)causes;
    fit->most = highest_order(c, job);
    c->out->error[job] = c->out->order[job] = c->out->free[job] = NAN;
    for (size_t k = 0; k < causes; k++)
        c->out->f[first + k] = c->out->delay[first + k] = NAN;
    for (size_t t = 0; c->out->missed && t < c->series->steps; t++)
        c->out->missed[job * c->series->steps + t] = NAN;
    if (fit->most == 0)
        return SYN_OK;
    fit->all = regressors_of(fit, fit->most);
    fit->pitch = pitch_of(fit->all);
    add_rows(c, job, fit);
    fit->order = best_order(c, fit, factorise(fit));
    if (fit->order == 0 || (j->enough && fit->left / fit->rows >= j->enough[job]))
        return SYN_OK;
    solve(fit);
    c->out->error[job] = error_left_out(c, job, fit);
    c->out->order[job] = fit->order;
    c->out->free[job] = (double)fit->rows - fit->n;
    for (size_t k = 0; k < causes; k++) {
        uint32_t at = fit->fixed + 1 + (uint32_t)k;
        c->out->f[first + k] = f_of(fit, at, fit->lower);
        c->out->delay[first + k] = delay_of(fit, at);
    }
    return SYN_OK;
}

static syn_status take_memory(linear_call *c, int threads, syn_arrays *memory)
{
    size_t all = 1;
    for (size_t i = 0; i < c->jobs->n; i++) {
        size_t fixed = 1 + (c->jobs->clock_start[i + 1] - c->jobs->clock_start[i]);
        size_t side = 1 + (c->jobs->cause_start[i + 1] - c->jobs->cause_start[i]);
        size_t regressors = fixed + side * highest_order(c, i);
        all = regressors > all ? regressors : all;
    }
    SYN_ARRAY(memory, c->fit, (size_t)threads);
    for (int i = 0; i < threads; i++) {
        linear_fit *fit = &c->fit[i];
        SYN_ARRAY(memory, fit->row, c->series->steps);
        SYN_ARRAY(memory, fit->x, LINEAR_TOGETHER * (size_t)pitch_of(all));
        SYN_ARRAY(memory, fit->lower, (all + 1) * pitch_of(all));
        SYN_ARRAY(memory, fit->inverse, all * all);
        SYN_ARRAY(memory, fit->slope, all);
    }
    return SYN_OK;
}

syn_status syn_linear(const syn_series *series, const syn_linear_jobs *jobs,
                      const syn_linear_options *options, const syn_watch *watch,
                      const syn_linear_tests *out)
{
    int threads = options->threads > 1 ? options->threads : 1;
    linear_call call = {series, jobs, options, out, NULL};
    syn_arrays memory = {0};
    syn_status status = take_memory(&call, threads, &memory);
    SYN_NEXT(status, syn_parallel_for(jobs->n, threads, watch, "effects", test_effect,
                                      &call));
    syn_give_back(&memory);
    return status;
}
