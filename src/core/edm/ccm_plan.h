/* Chooses how cross mapping finds neighbours, by the time that each way is expected to
   take. */
#ifndef SYN_EDM_CCM_PLAN_H
#define SYN_EDM_CCM_PLAN_H

#include "core/edm/ccm.h"

/* How many of the nearest of `n` library rows to put in order for each row; direct[s]
   becomes 1 where libraries of size s are better searched one by one than by going down
   that order. */
uint32_t syn_ccm_plan(const syn_ccm_options *options, uint32_t n, unsigned char *direct);

#endif
