/* Delay vectors of series, and how well predictions fit observations. Sums are taken in
   extended precision, as R does it. */
#include "core/edm/model/embed.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/measure.h"
#include "core/base/pages.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"

/* Of the rows of a stretch those whose lag stays in it, and those whose lag does not. */
typedef struct run {
    uint32_t from, beyond, n, gap;
} run;

static run run_at(const syn_delays *d, uint32_t row, double lag)
{
    uint32_t rows = (uint32_t)(d->last[row] - d->first[row] + 1);
    uint32_t gap = (uint32_t)fmin(fabs(lag), rows);
    return lag < 0 ? (run){row + gap, row, rows - gap, gap}
                   : (run){row, row + rows - gap, rows - gap, gap};
}

static void delay_series(const syn_delays *d, const double *value, double lag,
                         double missing, double *out)
{
    for (uint32_t row = 0; row < d->rows;) {
        run r = run_at(d, row, lag);
        for (uint32_t i = 0; i < r.gap; i++)
            out[r.beyond + i] = missing;
        /* Where the lag leads back, the values of the stretch begin with its first. */
        memcpy(out + r.from, value + (lag < 0 ? row : row + r.gap), r.n * sizeof *out);
        row += r.n + r.gap;
    }
}

void syn_delay_points(const syn_delays *d, double missing, double *coordinate)
{
    for (uint32_t c = 0; c < d->series * d->lags; c++)
        delay_series(d, d->value[c / d->lags], d->lag[c % d->lags], missing,
                     coordinate + (size_t)c * d->rows);
}

static int has_nan(const double *x, uint32_t n)
{
    int found = 0;
    for (uint32_t i = 0; i < n; i++)
        found |= isnan(x[i]);
    return found;
}

/* Rows whose lag leaves their stretch, or where `gaps` says that the series has some also
   those where it leads to one, miss coordinate `c`. */
static void reach_to(const syn_delays *d, const double *value, double lag, int gaps,
                     int c, int *reach)
{
    for (uint32_t row = 0; row < d->rows;) {
        run r = run_at(d, row, lag);
        const double *later = value + (lag < 0 ? row : row + r.gap);
        for (uint32_t i = 0; i < r.gap; i++)
            reach[r.beyond + i] = c;
        for (uint32_t i = 0; gaps && i < r.n; i++)
            reach[r.from + i] = isnan(later[i]) ? c : reach[r.from + i];
        row += r.n + r.gap;
    }
}

void syn_delay_reach(const syn_delays *d, int *reach)
{
    int c = (int)(d->series * d->lags);
    for (uint32_t i = 0; i < d->rows; i++)
        reach[i] = c;
    /* From the last coordinate back, so that the first one missing is what stays. */
    for (uint32_t s = d->series; s-- > 0;) {
        int gaps = has_nan(d->value[s], d->rows);
        for (uint32_t l = d->lags; l-- > 0;)
            reach_to(d, d->value[s], d->lag[l], gaps, --c, reach);
    }
}

syn_status syn_locate_points(syn_points *points, double **made)
{
    *made = NULL;
    if (points->coordinate)
        return SYN_OK;
    *made = syn_large_malloc(((size_t)points->rows * points->dims + 1) * sizeof **made);
    if (!*made)
        return SYN_NO_MEMORY;
    syn_delay_points(points->delays, NAN, *made);
    points->coordinate = *made;
    return SYN_OK;
}

/* ---- measure ---- */

/* Whether points may stay as they are: their squared distances are far from the least and
   the greatest number of single precision. */
static int is_near_one(double scale) { return scale >= 0x1p-16 && scale <= 0x1p16; }

/* Delay vectors of measured series, in one piece of memory with these. */
typedef struct measured_delays {
    syn_delays delays;
    const double *value[];
} measured_delays;

/* `columns` are coordinates, or the series of delay vectors: value[columns] of [rows]. */
static syn_status copy_measured(const syn_measure *measure, const double *const *value,
                                const double *origin, size_t columns, syn_points *points,
                                void **copy)
{
    size_t rows = points->rows;
    size_t head = points->delays ? sizeof(measured_delays) + columns * sizeof *value : 0;
    head = (head + sizeof(double) - 1) / sizeof(double) * sizeof(double);
    *copy = syn_large_malloc(head + (columns * rows + 1) * sizeof(double));
    if (!*copy)
        return SYN_NO_MEMORY;
    double *to = (double *)((char *)*copy + head);
    for (size_t c = 0; c < columns; c++)
        for (size_t i = 0; i < rows; i++)
            to[c * rows + i] = syn_measured(measure, origin[c], value[c][i]);
    if (points->delays) {
        measured_delays *made = *copy;
        made->delays = *points->delays;
        made->delays.value = made->value;
        for (size_t c = 0; c < columns; c++)
            made->value[c] = to + c * rows;
        points->delays = &made->delays;
    }
    points->coordinate = points->delays ? NULL : to;
    return SYN_OK;
}

syn_status syn_measure_points(syn_points *points, void **copy)
{
    const syn_delays *delays = points->delays;
    size_t columns = delays ? delays->series : points->dims, rows = points->rows;
    const double **value = malloc((columns + 1) * sizeof *value);
    double *origin = malloc((columns + 1) * sizeof *origin);
    syn_status status = value && origin ? SYN_OK : SYN_NO_MEMORY;
    *copy = NULL;
    if (status == SYN_OK) {
        for (size_t c = 0; c < columns; c++)
            value[c] = delays ? delays->value[c] : points->coordinate + c * rows;
        syn_measure m = syn_measure_of(value, (uint32_t)columns, rows, origin);
        points->least = SYN_LEAST_DISTANCE;
        if (m.step == 0 && is_near_one(m.scale))
            points->least /= m.scale;
        else
            status = copy_measured(&m, value, origin, columns, points, copy);
    }
    SYN_FREE(value, origin);
    return status;
}

/* ---- fit ----

   A sum in extended precision waits for the addition before, so all sums of a pass are
   taken side by side. */

static int both_finite(double a, double b)
{
    return isfinite(a) && isfinite(b);
}

typedef struct side {
    double low, high, mean;
    long double sum, rest;  /* of the values, and of their distances from sum / pairs */
} side;

static void look_at(side *of, double x)
{
    of->low = x < of->low ? x : of->low;
    of->high = x > of->high ? x : of->high;
    of->sum += x;
}

static int is_constant(const side *x)
{
    double most = fmax(fabs(x->low), fabs(x->high));
    return x->high - x->low <= 8 * DBL_EPSILON * most;
}

static double correlate(const double *x, const double *y, size_t n, size_t pairs,
                        const side *of_x, const side *of_y)
{
    long double xx = 0, xy = 0, yy = 0;
    if (pairs < 3 || is_constant(of_x) || is_constant(of_y))
        return NAN;
    for (size_t i = 0; i < n; i++) {
        if (!both_finite(x[i], y[i]))
            continue;
        long double a = x[i] - of_x->mean, b = y[i] - of_y->mean;
        xx += a * a;
        xy += a * b;
        yy += b * b;
    }
    long double less = (long double)(pairs - 1);
    double sizes = (double)sqrtl(xx / less) * (double)sqrtl(yy / less);
    return fmax(-1, fmin(1, (double)(xy / less) / sizes));
}

static syn_fit fit_of(const double *observed, const double *predicted, size_t n)
{
    syn_fit out = {NAN, NAN, NAN, NAN, 0};
    side of_x = {.low = DBL_MAX, .high = -DBL_MAX}, of_y = of_x;
    long double sum = 0, squares = 0;
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        if (!both_finite(observed[i], predicted[i]))
            continue;
        double off = fabs(observed[i] - predicted[i]);
        most = off > most ? off : most;
        sum += off;
        look_at(&of_x, observed[i]);
        look_at(&of_y, predicted[i]);
        out.pairs++;
    }
    if (out.pairs == 0)
        return out;
    long double mean_x = of_x.sum / out.pairs, mean_y = of_y.sum / out.pairs;
    /* By a power of two division is exact; squares may be beyond what a double holds. */
    double scale = most > 0 ? exp2(floor(log2(most))) : 1;
    for (size_t i = 0; i < n; i++)
        if (both_finite(observed[i], predicted[i])) {
            double off = (observed[i] - predicted[i]) / scale;
            squares += off * off;
            of_x.rest += observed[i] - mean_x;
            of_y.rest += predicted[i] - mean_y;
        }
    of_x.mean = (double)(mean_x + of_x.rest / out.pairs);
    of_y.mean = (double)(mean_y + of_y.rest / out.pairs);
    out.mae = (double)(sum / out.pairs);
    out.cae = (double)sum;
    out.rmse = scale * sqrt((double)(squares / out.pairs));
    out.rho = correlate(observed, predicted, n, out.pairs, &of_x, &of_y);
    return out;
}

typedef struct fitting {
    const double *observed, *predicted;
    size_t n;
    syn_fit *fit;
} fitting;

static syn_status fit_column(void *context, size_t item, int worker)
{
    const fitting *f = context;
    (void)worker;
    f->fit[item] = fit_of(f->observed, f->predicted + item * f->n, f->n);
    return SYN_OK;
}

void syn_fit_columns(const double *observed, const double *predicted, size_t n,
                     size_t columns, int threads, syn_fit *fit)
{
    fitting f = {observed, predicted, n, fit};
    syn_parallel_for(columns, threads, NULL, "", fit_column, &f);
}
