/* Candidates of an octet are side by side in registers. A candidate borders the equations
   of its forecast with two more unknowns: what its columns leave when the others have
   been taken out of them, L^-1 of them subtracted, is two equations with two unknowns. */
#include "core/edm/forecast/kind.h"

#include <string.h>

/* ---- panels ---- */

/* An octet of powers of candidates times a number; what is beyond `side` is written over
   by the next. */
static double *put_some(const double *power, double by, uint32_t side, double *to)
{
    SYN_UNROLL(4)
    for (int part = 0; part < SYN_FORECAST_SIDE; part += SYN_F64_LANES)
        syn_f64_store(to + part, syn_f64_load(power + part) * syn_f64_all(by));
    return to + side;
}

/* The columns of one point, one after the other; 0 after them. */
static void make_row(const syn_smap_terms *terms, const double *value, const double *x,
                     uint32_t side, double *to)
{
    double power[2][SYN_FORECAST_SIDE];
    for (int c = 0; c < SYN_FORECAST_SIDE; c++) {
        power[0][c] = x[c];
        power[1][c] = x[c] * x[c];
    }
    for (int p = 0; p < 2; p++)
        for (uint32_t k = 0; k < terms->n; k++)
            to = put_some(power[p], value[k], side, to);
    for (int c = 0; c < SYN_FORECAST_SIDE; c++) {
        power[0][c] *= power[1][c];
        power[1][c] *= power[1][c];
    }
    for (int p = 0; p < 2; p++)
        to = put_some(power[p], 1, side, to);
    memset(to, 0, SYN_FORECAST_SIDE * sizeof *to);
}

/* As in smap/fit.c, one row is copied while the next is made. */
static void fill_panels(const syn_smap_terms *terms, const double *octet, uint32_t side,
                        size_t from, double *panel)
{
    double row[2][2 * SYN_FORECAST_SIDE * (SYN_FORECAST_MOST + 4)];
    size_t columns = syn_forecast_columns(terms->n - 2, side), n = SYN_SMAP_POINTS;
    for (size_t i = 0; i <= n; i++) {
        if (i < n)
            make_row(terms, terms->value + (from + i) * terms->pitch,
                     octet + (from + i) * SYN_FORECAST_SIDE, side, row[i % 2]);
        if (i > 0)
            syn_smap_put_panels(row[(i - 1) % 2], columns, n, i - 1, panel);
    }
}

/* ---- candidates ---- */

/* Of one of the two columns z = L^-1 s: its products with itself and with the model. */
typedef struct bordered {
    syn_f64 square, effect, from;
} bordered;

/* Sums of some candidates side by side: numbers of the next sum are `side` later. */
typedef struct sums {
    const double *at;
    size_t side;
} sums;

static syn_f64 sum_at(sums s, size_t k) { return syn_f64_load(s.at + k * s.side); }

static sums sums_from(sums s, size_t k) { return (sums){s.at + k * s.side, s.side}; }

/* Solves L z = s. */
static bordered border(const syn_forecast_model *m, sums s, syn_f64 *z)
{
    bordered b = {syn_f64_all(0), syn_f64_all(0), syn_f64_all(0)};
    for (uint32_t k = 0; k < m->n; k++) {
        const double *l = m->lower + k * m->n;
        syn_f64 left = sum_at(s, k);
        for (uint32_t j = 0; j < k; j++)
            left = syn_f64_fused(syn_f64_all(-l[j]), z[j], left);
        left *= syn_f64_all(l[k]);
        z[k] = left;
        b.square = syn_f64_fused(left, left, b.square);
        b.effect = syn_f64_fused(left, syn_f64_all(m->effect[k]), b.effect);
        b.from = syn_f64_fused(left, syn_f64_all(m->from[k]), b.from);
    }
    return b;
}

/* By how much a forecast changes with each candidate of a register. */
static syn_f64 change_of(const syn_forecast_model *m, sums lines, syn_f64 x)
{
    syn_f64 z[SYN_FORECAST_UNKNOWNS], zz[SYN_FORECAST_UNKNOWNS];
    syn_f64 ridge = syn_f64_all(m->ridge), both = syn_f64_all(0);
    sums squares = sums_from(lines, m->n + 1), high = sums_from(squares, m->n + 1);
    bordered a = border(m, lines, z), b = border(m, squares, zz);
    for (uint32_t k = 0; k < m->n; k++)
        both = syn_f64_fused(z[k], zz[k], both);
    syn_f64 aa = sum_at(squares, 0) - a.square + ridge;
    syn_f64 ab = sum_at(high, 0) - both;
    syn_f64 bb = sum_at(high, 1) - b.square + ridge;
    syn_f64 ay = sum_at(lines, m->n) - a.effect, by = sum_at(squares, m->n) - b.effect;
    syn_f64 at = x - a.from, bt = x * x - b.from;
    /* x taken out of x^2 */
    syn_f64 share = ab / aa;
    bb -= share * ab;
    by -= share * ay;
    bt -= share * at;
    return at * ay / aa + bt * by / bb;
}

static void try_octet(const syn_forecast_model *m, const double *sum, uint32_t side,
                      const double *x, double *fall)
{
    syn_f64 error = syn_f64_all(m->error);
    for (uint32_t c = 0; c < side; c += SYN_F64_LANES) {
        syn_f64 change = change_of(m, (sums){sum + c, side}, syn_f64_load(x + c));
        syn_f64_store(fall + c, change * error);
    }
}

/* ---- tests ---- */

/* The sum of products of rows `lag` apart, by the number of all rows. */
static syn_f64 covariance(const double *fall, uint32_t rows, uint32_t lag)
{
    const double *before = fall;
    syn_f64 sum = syn_f64_all(0);
    fall += (size_t)lag * SYN_FORECAST_SIDE;
    for (uint32_t i = lag; i < rows; i++) {
        sum = syn_f64_fused(syn_f64_load(fall), syn_f64_load(before), sum);
        fall += SYN_FORECAST_SIDE;
        before += SYN_FORECAST_SIDE;
    }
    return sum / syn_f64_all(rows);
}

static syn_f64 take_mean(double *fall, uint32_t rows)
{
    syn_f64 sum = syn_f64_all(0);
    for (size_t i = 0; i < rows; i++)
        sum += syn_f64_load(fall + i * SYN_FORECAST_SIDE);
    syn_f64 mean = sum / syn_f64_all(rows);
    for (size_t i = 0; i < rows; i++) {
        double *at = fall + i * SYN_FORECAST_SIDE;
        syn_f64_store(at, syn_f64_load(at) - mean);
    }
    return mean;
}

static void assess(double *fall, uint32_t rows, uint32_t lags, double *mean,
                   double *variance)
{
    for (int part = 0; part < (SYN_FORECAST_SIDE / SYN_F64_LANES); part++) {
        double *here = fall + part * SYN_F64_LANES;
        syn_f64_store(mean + part * SYN_F64_LANES, take_mean(here, rows));
        syn_f64 sum = covariance(here, rows, 0);
        for (uint32_t lag = 1; lag <= lags && lag < rows; lag++) {
            double weight = 2 * (1 - lag / (lags + 1.0));
            sum += syn_f64_all(weight) * covariance(here, rows, lag);
        }
        syn_f64_store(variance + part * SYN_F64_LANES, sum);
    }
}

SYN_KIND_TABLE(syn_forecast_kind, syn_forecast_kind) = {fill_panels, try_octet, assess};
