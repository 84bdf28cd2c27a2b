/* The nearest rows of a library that is so small that all its distances are computed. */
#ifndef SYN_EDM_SIFT_H
#define SYN_EDM_SIFT_H

#include "core/base/status.h"
#include "core/edm/blocks.h"
#include "core/edm/nearest.h"
#include "core/edm/scan.h"

/* What a worker uses over and over. */
typedef struct syn_sift {
    double *squared;   /* [blocks][64] distances */
    uint32_t *place;   /* [room of the list] places of rows that are near */
    void *memory;
} syn_sift;

/* Whether distances to all of `n` points in `dims` dimensions take less time than a search
   among boxes around blocks of them. */
int syn_sift_worth(uint32_t n, uint32_t dims);

/* Room for lists of the nearest `k`. Free with syn_sift_free(), also after an error. */
syn_status syn_sift_make(const syn_blocks *blocks, uint32_t k, syn_sift *out);

void syn_sift_free(syn_sift *sift);

/* Fills the list, which has been started, with the nearest rows and perhaps a few more.
   `blocks` are those of syn_blocks_list(), of data with so many `rows`; rows at most
   `exclusion` from `row` are left out. */
void syn_sift_row(const syn_scan_kind *kind, const syn_blocks *blocks,
                  const double *point, uint32_t row, uint32_t rows, uint32_t exclusion,
                  syn_sift *sift, syn_nearest *list);

#endif
