/* Sums by which a changed number is found. */
#ifndef SYN_BASE_CHECKSUM_H
#define SYN_BASE_CHECKSUM_H

#include <stddef.h>

/* sum[rows], of each row of a matrix of doubles, column after column, as single precision
   has them; all that are no numbers count as one. Where one number of a row is another,
   so is its sum, but for one case in 2^53; and likewise where several are. Sums are whole
   numbers from 1 to 2^53. place[rows] and `kind` are part of them, so that a row is known
   that has come to stand in another's place. */
void syn_row_sums(const double *value, size_t rows, size_t columns, const double *place,
                  unsigned kind, double *sum);

#endif
