/* Finds the measure of series: the grid that their values lie on, if there is one, or how
   far they lie from their means. */
#include "core/base/measure.h"

#include <float.h>

enum {
    MOST_STEPS = 1 << 20,
    FEW_STEPS = 1 << 12,
    SAMPLE = 1 << 9  /* values of a series that are looked at first */
};

/* Some of the values of each series: every `apart`-th of n. */
typedef struct sample {
    const double *const *value;
    uint32_t series;
    size_t n, apart;
} sample;

typedef struct bounds {
    double low, high;
} bounds;

static bounds bounds_of(const sample *of, const double *value)
{
    bounds b = {INFINITY, -INFINITY};
    for (size_t i = 0; i < of->n; i += of->apart)
        if (isfinite(value[i])) {
            b.low = value[i] < b.low ? value[i] : b.low;
            b.high = value[i] > b.high ? value[i] : b.high;
        }
    return b;
}

/* ---- grids ---- */

/* A grid that all series have in common. */
typedef struct grid {
    double step;   /* 0 where there is none */
    double range;  /* of the series with the widest one */
    double error;  /* by which rounding may have moved a value */
} grid;

/* The largest number that two are multiples of, to within `rest`. */
static double common_step(double a, double b, double rest)
{
    while (b > rest) {
        double left = fmod(a, b);
        a = b;
        b = b - left < rest ? 0 : left;
    }
    return a;
}

/* The step of a grid that may hold the values from `low` on; 0 if it would be too small.
   `step` is that of the series before, 0 before the first. */
static double step_of(const sample *of, const double *value, double low, double range,
                      double step)
{
    double least = range / MOST_STEPS, rest = least / 16;
    for (size_t i = 0; i < of->n; i += of->apart) {
        double above = value[i] - low;
        if (!isfinite(value[i]) || above <= rest)
            continue;
        if (step > 0 && fabs(above - nearbyint(above / step) * step) < rest)
            continue;
        step = step > 0 ? common_step(above, step, rest) : above;
        if (step < least)
            return 0;
    }
    return step;
}

static int lie_on(const sample *of, const grid *g, const double *value, double low)
{
    for (size_t i = 0; i < of->n; i += of->apart) {
        double above = value[i] - low;
        double off = above - nearbyint(above / g->step) * g->step;
        if (isfinite(value[i]) && fabs(off) > g->error)
            return 0;
    }
    return 1;
}

/* `origin` gets the least value of each series. */
static grid grid_of(const sample *of, double *origin)
{
    grid g = {0, 0, 0};
    double most = 0;
    for (uint32_t s = 0; s < of->series; s++) {
        bounds b = bounds_of(of, of->value[s]);
        origin[s] = b.low <= b.high ? b.low : 0;
        g.range = b.high - b.low > g.range ? b.high - b.low : g.range;
        if (b.low <= b.high)
            most = fmax(most, fmax(fabs(b.low), fabs(b.high)));
    }
    g.error = 16 * DBL_EPSILON * most;
    if (!(g.range > g.error && g.range <= DBL_MAX))
        return g;
    for (uint32_t s = 0; s < of->series; s++) {
        int varies = bounds_of(of, of->value[s]).high > origin[s];
        if (varies)
            g.step = step_of(of, of->value[s], origin[s], g.range, g.step);
        if (varies && g.step == 0)
            return g;
    }
    /* The widest range says most exactly how long a step is. */
    g.step = g.range / nearbyint(g.range / g.step);
    for (uint32_t s = 0; s < of->series && g.step > 0; s++)
        if (!lie_on(of, &g, of->value[s], origin[s]))
            g.step = 0;
    return g;
}

/* ---- distances from the mean ---- */

/* What each value of a series adds to a mean over it; no sum of values overflows. */
static double share_of(const sample *of, const double *value)
{
    size_t known = 0;
    for (size_t i = 0; i < of->n; i += of->apart)
        known += isfinite(value[i]) != 0;
    return known > 0 ? 1.0 / (double)known : 0;
}

/* The mean distance of values from the means of their series, which `mean` gets. */
static double spread_of(const sample *of, double *mean)
{
    double spread = 0;
    for (uint32_t s = 0; s < of->series; s++) {
        const double *value = of->value[s];
        double share = share_of(of, value), middle = 0, off = 0;
        for (size_t i = 0; i < of->n; i += of->apart)
            middle += isfinite(value[i]) ? value[i] * share : 0;
        for (size_t i = 0; i < of->n; i += of->apart)
            off += isfinite(value[i]) ? fabs(value[i] - middle) * share : 0;
        mean[s] = middle;
        spread += off / of->series;
    }
    return spread;
}

/* ---- both ---- */

/* The power of two that brings a number to between 0.5 and 1. */
static double scale_for(double x)
{
    int exponent = 0;
    if (x > 0 && x <= DBL_MAX)
        frexp(x, &exponent);
    return ldexp(1, -exponent);
}

syn_measure syn_measure_of(const double *const *value, uint32_t series, size_t n,
                           double *origin)
{
    sample all = {value, series, n, 1}, some = {value, series, n, n / SAMPLE + 1};
    grid g = grid_of(&some, origin);
    /* Where some values tell that there is no grid, all need not be looked at. */
    if (some.apart > 1 && (g.step > 0 || g.range <= g.error))
        g = grid_of(&all, origin);
    if (g.step > 0) {
        double steps = g.range / g.step;
        return (syn_measure){g.step, steps > FEW_STEPS ? scale_for(steps) : 1};
    }
    double spread = spread_of(&some, origin);
    if (!(spread > 0))
        spread = spread_of(&all, origin);
    return (syn_measure){0, scale_for(spread)};
}
