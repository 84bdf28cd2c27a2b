/* The inner loops of conditional forecasts: what is multiplied by the weights, the models
   of several candidates from their sums, and what is tested. */
#ifndef SYN_EDM_FORECAST_KIND_H
#define SYN_EDM_FORECAST_KIND_H

#include "core/edm/forecast/forecast.h"
#include "core/edm/smap/fit.h"

enum {
    SYN_FORECAST_SIDE = 8,  /* candidates side by side, an octet */
    SYN_FORECAST_UNKNOWNS = SYN_FORECAST_MOST + 1
};

/* Sums of a candidate x: of x times 1, each coordinate and the target; of x^2 times the
   same; of x^3; of x^4. */
static inline size_t syn_forecast_sums(uint32_t dims)
{
    return 2 * ((size_t)dims + 2) + 2;
}

/* The sums of an octet: [sums of a candidate][side], where `side` is SYN_FORECAST_SIDE
   or, of the last octet, how many candidates are left; and perhaps some more. */
static inline size_t syn_forecast_columns(uint32_t dims, uint32_t side)
{
    size_t sums = syn_forecast_sums(dims) * side;
    return (sums + SYN_SMAP_PRODUCTS - 1) / SYN_SMAP_PRODUCTS * SYN_SMAP_PRODUCTS;
}

/* The equations A a = b of one forecast without a candidate, and A = L L'. */
typedef struct syn_forecast_model {
    uint32_t n;           /* unknowns: 1 and the coordinates */
    double ridge;         /* of a coefficient */
    double lower[SYN_FORECAST_UNKNOWNS * SYN_FORECAST_UNKNOWNS];
                          /* [n][n] L, with the reciprocals of its diagonal there */
    double effect[SYN_FORECAST_UNKNOWNS];  /* L^-1 b, */
    double from[SYN_FORECAST_UNKNOWNS];    /* and L^-1 f of the point f forecast from */
    double error;         /* what is observed, less the forecast */
} syn_forecast_model;

/* Compiled once for each kind of processor. */
typedef struct syn_forecast_kind {
    /* Panels for syn_smap_product.add, of SYN_SMAP_POINTS points from `from` on. The last
       of the terms is the target. `octet`: [points][SYN_FORECAST_SIDE] of which the
       first `side` count. */
    void (*fill)(const syn_smap_terms *terms, const double *octet, uint32_t side,
                 size_t from, double *panel);

    /* Puts into `fall` by how much the squared error falls with each of the first `side`
       candidates of an octet, whose values at the point are `x`; into the rest,
       anything. `sum`: of syn_forecast_columns(), and SYN_SMAP_PADDING more. */
    void (*try_octet)(const syn_forecast_model *model, const double *sum, uint32_t side,
                      const double *x, double *fall);

    /* Puts mean and long-run variance of each of an octet's `fall`, [rows]
       [SYN_FORECAST_SIDE], into arrays of SYN_FORECAST_SIDE; takes the mean out of
       `fall`. */
    void (*assess)(double *fall, uint32_t rows, uint32_t lags, double *mean,
                   double *variance);
} syn_forecast_kind;

SYN_KIND_TABLES(syn_forecast_kind, syn_forecast_kind);

#endif
