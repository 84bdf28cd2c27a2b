/* Checksums, by which a damaged or changed file is noticed. */
#ifndef SYN_BASE_CHECKSUM_H
#define SYN_BASE_CHECKSUM_H

#include <stddef.h>

/* Computes sum[rows], the checksum of each row of a matrix of doubles that is stored
   column after column. Numbers are taken in single precision, unless they are to be taken
   `whole`, and all NaN count as the same. When one or several numbers of a row change, its
   checksum changes, except in one case in 2^53. Checksums are whole numbers from 1 to 2^53. They also depend on
   place[rows] and `kind`, so that a row in the wrong place is noticed. */
void syn_row_sums(const double *value, size_t rows, size_t columns, const double *place,
                  unsigned kind, int whole, double *sum);

#endif
