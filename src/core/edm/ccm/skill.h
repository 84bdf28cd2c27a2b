/* From sums over rows to the skill of a library: what all ways to cross-map share, on
   any device. */
#ifndef SYN_EDM_CCM_SKILL_H
#define SYN_EDM_CCM_SKILL_H

#include "core/edm/ccm/ccm.h"

/* Sums over rows that are kept for each library and target. Targets and predictions are
   taken from those of the library's first pair: predictions may differ by very little,
   and sums of their squares would lose that. */
enum {
    SYN_CCM_N,             /* pairs of prediction and target */
    SYN_CCM_FIRST_TARGET,
    SYN_CCM_FIRST_PREDICTION,
    SYN_CCM_TARGET,
    SYN_CCM_TARGET_SQUARE,
    SYN_CCM_PREDICTION,
    SYN_CCM_PREDICTION_SQUARE,
    SYN_CCM_PRODUCT,
    SYN_CCM_ERROR,         /* absolute */
    SYN_CCM_ERROR_SQUARE,
    SYN_CCM_SUMS
};

/* A value amid those of the target at `rows`, exactly theirs if they are all the same.
   Targets are taken from it before they are predicted. */
double syn_ccm_middle(const double *target, const syn_rows *rows);

/* Room for `n` libraries; also after an error to be freed with syn_ccm_free(). */
syn_status syn_ccm_skill_make(size_t n, uint32_t targets, syn_ccm_skill *out);

/* The skill that follows from sum[SYN_CCM_SUMS], into element `at` of each array. */
void syn_ccm_skill_put(const double *sum, syn_ccm_skill *out, size_t at);

#endif
