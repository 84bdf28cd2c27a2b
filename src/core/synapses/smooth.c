/* The slow part of a correlogram.

   The smoother is a matrix that stays the same when lags change their sign. So it takes
   the sum of the two sides to the sum, and their difference to the difference, with half
   as many rows and columns each. */
#include "core/synapses/smooth.h"

#include <string.h>

#include "core/base/kinds.h"
#include "core/synapses/scan.h"

void syn_smooth_coefficients(uint32_t lags, double deviation, int32_t at, double *q)
{
    syn_scan_sums sums = {{0}, {0}, {0}};
    int32_t most = (int32_t)lags;
    double c[3];
    for (int32_t l = -most; l <= most; l++) {
        double d = (l - at) / deviation;
        q[l] = exp(-0.5 * d * d);
        syn_scan_add(&sums, q[l], d, 0);
    }
    syn_scan_solve(&sums, 2, c);
    for (int32_t l = -most; l <= most; l++) {
        double d = (l - at) / deviation;
        q[l] *= c[0] + d * (c[1] + d * c[2]);
    }
}

syn_status syn_smoother_make(syn_smoother *out, uint32_t lags, double deviation,
                             syn_budget *budget)
{
    *out = (syn_smoother){.lags = lags, .stride = (lags + 8) / 8 * 8};
    size_t size = ((size_t)lags + 1) * out->stride;
    SYN_TAKE_ZEROS(budget, out->even, size);
    SYN_TAKE_ZEROS(budget, out->odd, size);
    double *q;
    SYN_TAKE(budget, q, 2 * (size_t)lags + 1);
    for (uint32_t at = 0; at <= lags; at++) {
        syn_smooth_coefficients(lags, deviation, (int32_t)at, q + lags);
        for (uint32_t l = 0; l <= lags; l++) {
            double after = q[lags + l] / 2, before = l > 0 ? q[lags - l] / 2 : 0;
            out->even[l * out->stride + at] = after + before;
            out->odd[l * out->stride + at] = l > 0 ? after - before : 0;
        }
    }
    syn_budget_free(budget, q);
    return SYN_OK;
}

void syn_smooth(const syn_smoother *s, const double *x, double *out, double *room)
{
    size_t n = s->stride;
    int32_t lags = (int32_t)s->lags;
    double *even = room, *odd = room + n;
    memset(room, 0, 2 * n * sizeof *room);
    for (int32_t l = 0; l <= lags; l++) {
        /* Lag 0 is on both sides. */
        double sum = x[l] + x[-l], difference = x[l] - x[-l];
        const double *to_even = s->even + (size_t)l * n, *to_odd = s->odd + (size_t)l * n;
        SYN_SIMD()
        for (size_t r = 0; r < n; r++) {
            even[r] += to_even[r] * sum;
            odd[r] += to_odd[r] * difference;
        }
    }
    for (int32_t r = 0; r <= lags; r++) {
        out[r] = even[r] + odd[r];
        out[-r] = even[r] - odd[r];
    }
    out[0] = even[0];
}
