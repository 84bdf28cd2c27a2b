/* The regressors are 1, the clocks, and then step by step the effect and all causes. So
   those of a lower order come first, and one Cholesky factor has those of each order. */
#include "core/edm/forecast/linear.h"

#include <math.h>
#include <string.h>

#include "core/base/arrays.h"
#include "core/base/parallel.h"
#include "core/edm/forecast/squares.h"

/* A regressor of which the others leave less than this share depends on them. */
#define LEAST_LEFT 1e-9

/* One job: its regressors, and what a thread needs for them. */
typedef struct linear_fit {
    uint32_t fixed, side;  /* 1 and the clocks; and the regressors of a step */
    uint32_t most;         /* the highest order that has rows enough */
    uint32_t all, n;       /* its regressors, and those of the order in use */
    uint32_t rows, order;
    uint32_t pitch;        /* of the rows of matrices */
    uint32_t *row;         /* [steps] */
    double *x;             /* [SYN_SQUARES_TOGETHER][pitch] regressors, and the effect */
    double *tile;          /* [all + 1][SYN_SQUARES_TILE] the same of more rows */
    double *upper;         /* [all + 1][pitch] sums of products, then their factor */
    double *inverse;       /* [all][pitch] of the transpose of the factor */
    double *slope;         /* [all] coefficients */
    double *square;        /* [all + 1] */
    double left;           /* sum of the squared residuals */
} linear_fit;

typedef struct linear_call {
    const syn_series *series;
    const syn_linear_jobs *jobs;
    const syn_linear_options *options;
    const syn_linear_tests *out;
    const syn_squares_kind *kind;
    linear_fit *fit;  /* [threads] */
} linear_call;

static uint32_t regressors_of(const linear_fit *fit, uint32_t order)
{
    return fit->fixed + order * fit->side;
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

/* Regressors and effect of the row that is forecast from `step`, so far apart in `x`. */
static void fill_row(const linear_call *c, size_t job, uint32_t most, uint32_t step,
                     double *x, uint32_t apart)
{
    const syn_linear_jobs *j = c->jobs;
    *x = 1;
    for (size_t k = j->clock_start[job]; k < j->clock_start[job + 1]; k++)
        *(x += apart) = value_at(c, j->clock[k], step);
    for (uint32_t lag = 0; lag < most; lag++) {
        *(x += apart) = value_at(c, j->effect[job], step - lag);
        for (size_t k = j->cause_start[job]; k < j->cause_start[job + 1]; k++)
            *(x += apart) = value_at(c, j->cause[k], step - lag);
    }
    x[apart] = value_at(c, j->effect[job], step + 1);
}

static int all_known(const double *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (isnan(x[i]))
            return 0;
    return 1;
}

/* Sums of products of all regressors and the effect. */
static void add_rows(const linear_call *c, size_t job, linear_fit *fit)
{
    uint32_t columns = fit->all + 1, pitch = fit->pitch, pending = 0;
    memset(fit->upper, 0, (size_t)columns * pitch * sizeof *fit->upper);
    memset(fit->x, 0, SYN_SQUARES_TOGETHER * (size_t)pitch * sizeof *fit->x);
    fit->rows = 0;
    for (uint32_t t = c->options->most - 1; t + 1 < c->series->steps; t++) {
        double *x = fit->x + pending * pitch;
        fill_row(c, job, fit->most, t, x, 1);
        if (!all_known(x, columns))
            continue;
        fit->row[fit->rows++] = t;
        pending = (pending + 1) % SYN_SQUARES_TOGETHER;
        if (pending == 0)
            c->kind->add(fit->x, columns, pitch, fit->upper);
    }
    for (uint32_t r = pending; r < SYN_SQUARES_TOGETHER; r++)
        memset(fit->x + r * pitch, 0, pitch * sizeof *fit->x);
    if (pending > 0)
        c->kind->add(fit->x, columns, pitch, fit->upper);
}

/* What the factor has in the column of the effect. */
static double effect_at(const linear_fit *fit, uint32_t regressor)
{
    return fit->upper[(size_t)regressor * fit->pitch + fit->all];
}

/* The order with the lowest BIC; 0 for none. */
static uint32_t best_order(const linear_call *c, linear_fit *fit, uint32_t sound)
{
    uint32_t order = 0, n = fit->all;
    /* The squares of this column are what each regressor takes away. */
    double left = effect_at(fit, n) * effect_at(fit, n), best = INFINITY;
    for (uint32_t p = fit->most; p >= c->options->least; p--) {
        uint32_t k = regressors_of(fit, p);
        for (; n > k; n--)
            left += effect_at(fit, n - 1) * effect_at(fit, n - 1);
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
static void solve(const linear_call *c, linear_fit *fit)
{
    c->kind->invert(fit->upper, fit->n, fit->pitch, fit->inverse);
    for (uint32_t col = 0; col < fit->n; col++) {
        double sum = 0;
        for (uint32_t i = col; i < fit->n; i++)
            sum += fit->inverse[(size_t)i * fit->pitch + col] * effect_at(fit, i);
        fit->slope[col] = sum;
    }
}

/* Element of the inverse of the sums of products. */
static double spread_at(const linear_fit *fit, uint32_t a, uint32_t b)
{
    double sum = 0;
    for (uint32_t i = a > b ? a : b; i < fit->n; i++)
        sum += fit->inverse[(size_t)i * fit->pitch + a] *
               fit->inverse[(size_t)i * fit->pitch + b];
    return sum;
}

/* The mean squared error where each row is left out of its own fit (Allen 1974). */
static double error_left_out(const linear_call *c, size_t job, linear_fit *fit)
{
    double sum = 0;
    double *missed = c->out->missed ? c->out->missed + job * c->series->steps : NULL;
    for (uint32_t from = 0; from < fit->rows; from += SYN_SQUARES_TILE) {
        uint32_t n = fit->rows - from;
        n = n < SYN_SQUARES_TILE ? n : SYN_SQUARES_TILE;
        for (uint32_t r = 0; r < n; r++)
            fill_row(c, job, fit->most, fit->row[from + r], fit->tile + r,
                     SYN_SQUARES_TILE);
        double hat[SYN_SQUARES_TILE];
        c->kind->lengths(fit->inverse, fit->n, fit->pitch, fit->tile, hat);
        for (uint32_t r = 0; r < n; r++) {
            const double *x = fit->tile + r;
            double error = x[fit->all * SYN_SQUARES_TILE];
            for (uint32_t i = 0; i < fit->n; i++)
                error -= fit->slope[i] * x[i * SYN_SQUARES_TILE];
            error /= 1 - hat[r];
            sum += error * error;
            if (missed)
                missed[fit->row[from + r] + 1] = error;
        }
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
    fit->pitch = syn_squares_pitch(fit->all + 1);
    add_rows(c, job, fit);
    uint32_t sound = c->kind->factorise(fit->upper, fit->all + 1, fit->pitch, LEAST_LEFT,
                                        fit->square);
    fit->order = best_order(c, fit, sound);
    if (fit->order == 0 || (j->enough && fit->left / fit->rows >= j->enough[job]))
        return SYN_OK;
    solve(c, fit);
    c->out->error[job] = error_left_out(c, job, fit);
    c->out->order[job] = fit->order;
    c->out->free[job] = (double)fit->rows - fit->n;
    for (size_t k = 0; k < causes; k++) {
        uint32_t at = fit->fixed + 1 + (uint32_t)k;
        c->out->f[first + k] = f_of(fit, at, fit->upper);
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
    size_t pitch = syn_squares_pitch((uint32_t)all + 1);
    SYN_ARRAY(memory, c->fit, (size_t)threads);
    for (int i = 0; i < threads; i++) {
        linear_fit *fit = &c->fit[i];
        SYN_ARRAY(memory, fit->row, c->series->steps);
        SYN_ARRAY(memory, fit->x, SYN_SQUARES_TOGETHER * pitch);
        SYN_ARRAY(memory, fit->tile, (all + 1) * SYN_SQUARES_TILE);
        SYN_ARRAY(memory, fit->upper, (all + 1) * pitch);
        SYN_ARRAY(memory, fit->inverse, all * pitch);
        SYN_ARRAY(memory, fit->slope, all);
        SYN_ARRAY(memory, fit->square, all + 1);
    }
    return SYN_OK;
}

syn_status syn_linear(const syn_series *series, const syn_linear_jobs *jobs,
                      const syn_linear_options *options, const syn_watch *watch,
                      const syn_linear_tests *out)
{
    int threads = options->threads > 1 ? options->threads : 1;
    linear_call call = {series, jobs, options, out,
                        syn_squares_kind_fastest(options->vector_bits), NULL};
    syn_arrays memory = {0};
    syn_status status = take_memory(&call, threads, &memory);
    SYN_NEXT(status, syn_parallel_for(jobs->n, threads, watch, "effects", test_effect,
                                      &call));
    syn_give_back(&memory);
    return status;
}
