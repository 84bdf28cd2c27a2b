/* What a whole map says of all its pairs: means, extremes and a histogram, and the pairs
   above a bound. */
#ifndef SYN_NETWORKS_WHOLE_MAP_H
#define SYN_NETWORKS_WHOLE_MAP_H

#include "core/base/watch.h"

/* value[column][row], NaN where there is none. The rows are libraries, the columns are
   targets. Row i and column self[i] are the same series, and the pair of these two counts
   nowhere; self[i] is -1 where that series is no target. */
typedef struct syn_whole_map {
    const double *value;
    size_t rows, columns;
    const int *self;  /* [rows] */
} syn_whole_map;

enum { SYN_WHOLE_CELLS = 4000 };  /* of a histogram from -1 to 1 */

/* The caller owns the arrays. */
typedef struct syn_whole_sums {
    double *row_sum, *row_known;        /* [rows] sums, and of how many values */
    double *column_sum, *column_known;  /* [columns] the same */
    double *cell;                       /* [SYN_WHOLE_CELLS] numbers of values; those
                                           beyond -1 or 1 are in the first or last */
    double least, most;                 /* NaN without any value */
} syn_whole_sums;

/* Results do not depend on threads. */
syn_status syn_whole_sums_make(const syn_whole_map *map, int threads,
                               const syn_watch *watch, syn_whole_sums *out);

/* Adds to n[i] how many values of row i are above `bound`; with `column`, lists their
   columns there in increasing order, from column[n[i]] on. */
syn_status syn_whole_above(const syn_whole_map *map, double bound, int threads,
                           const syn_watch *watch, size_t *n, int *column);

#endif
