/* Many series of the same steps. */
#ifndef SYN_EDM_MODEL_SERIES_H
#define SYN_EDM_MODEL_SERIES_H

#include <stdint.h>

typedef struct syn_series {
    uint32_t n, steps;
    const double *value;  /* [n][steps], NaN where missing */
} syn_series;

#endif
