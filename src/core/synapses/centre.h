/* Spikes of two units around lag 0: common input, and one cell that is seen twice. */
#ifndef SYN_SYNAPSES_CENTRE_H
#define SYN_SYNAPSES_CENTRE_H

#include "core/synapses/pairs.h"

/* In bins. Counts at lags of up to `near` are compared with a line in |lag| that is
   fitted to the lags from `from` to `to`, both sides together; those of up to `same`
   are summed. */
typedef struct syn_centre_options {
    uint32_t near, from, to, same;
} syn_centre_options;

/* By pair. `expected` is at least half of the mean of the lags that the line is fitted
   to. `z` is the signed root of the Poisson deviance, for a baseline that has noise.
   `same` are the spikes at lags of up to `same` beyond the line, and `around` what the
   mean of lags beyond `to` expects at lags of up to `near`. */
typedef struct syn_centre_columns {
    double *z, *count, *expected, *same, *around;
} syn_centre_columns;

/* `to` is below the lags of the counts, and `from` is before it. SYN_INTERRUPTED. */
syn_status syn_centre_pairs(const syn_scan_work *work, const syn_centre_options *o,
                            const syn_centre_columns *out);

#endif
