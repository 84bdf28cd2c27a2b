/* How much the evidence for a group exceeds what surrogates have. */
#ifndef SYN_ASSEMBLIES_SCORES_H
#define SYN_ASSEMBLIES_SCORES_H

#include <stdint.h>

#include "core/assemblies/candidates.h"
#include "core/assemblies/ladder.h"
#include "core/base/budget.h"

/* The largest evidence of a surrogate on each rung in each class of sizes, and what it is
   over surrogates; and the score of a surrogate: by how many standard deviations its
   evidence is above the mean of all others, at the rung and size where that is most. */
typedef struct syn_scores {
    uint32_t surrogates, rungs;
    double *maximum;    /* [surrogates * rungs * SYN_SIZES] */
    double *mean;       /* [rungs * SYN_SIZES] */
    double *deviation;  /* [rungs * SYN_SIZES] */
    double *score;      /* [surrogates] */
    double bar;         /* what is reported has a score above */
    syn_budget *budget;
} syn_scores;

/* The caller frees, also after an error. */
syn_status syn_scores_make(syn_scores *out, uint32_t surrogates, uint32_t rungs,
                           syn_budget *budget);
void syn_scores_free(syn_scores *scores);

/* Keeps the evidence of `n` candidates on a rung of a surrogate. */
void syn_scores_keep(syn_scores *scores, uint32_t surrogate, uint32_t rung,
                     const syn_candidate *candidate, uint32_t n);

/* Once all are kept: standardises, and sets the bar, which `exceeded` surrogates pass. */
syn_status syn_scores_settle(syn_scores *scores, uint32_t exceeded);

/* The score of a candidate, and how many members it has in the class of sizes in which
   that is reached. Above the bar it is that of the first class with a higher score than
   the next: members that come after that may be those of another group. */
double syn_scores_of(const syn_scores *scores, const syn_candidate *candidate,
                     uint32_t *size);

#endif
