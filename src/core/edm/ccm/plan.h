/* Chooses how cross mapping finds neighbours, by the time that each way is expected to
   take. */
#ifndef SYN_EDM_CCM_PLAN_H
#define SYN_EDM_CCM_PLAN_H

#include "core/edm/ccm/ccm.h"

typedef struct syn_ccm_choice {
    int blocks;     /* whether to search blocks of rows that lie near each other, see
                       neighbours.h, and not to compute the distances to all rows */
    uint32_t most;  /* how many of the nearest rows of the data to put in order for each
                       row; 0 if no library takes its neighbours from that order */
} syn_ccm_choice;

/* Chooses for libraries of `n` rows in `dims` dimensions; direct[s] becomes 1 where
   libraries of size s are better searched one by one than by going down that order. */
syn_ccm_choice syn_ccm_plan(const syn_ccm_options *options, uint32_t n, uint32_t dims,
                            unsigned char *direct);

#endif
